#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts NeMo golden cases down to what tests/golden/parakeet holds: the weights of the small streaming model with
made-up pieces, features, stages and steps up to its <EOU>, TDT's joint scores with their steps, and CTC's
log-probabilities.

Usage: compact_parakeet.py NEMO_CASES_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import subprocess
import tarfile
import tempfile

import numpy
import yaml

from sentencepiece_file import sentencepiece_model

FRAMES, ROWS = 896, 112  # features and encoder rows that are kept: <EOU> is said at row 105
ROW_STAGES = ("subsampling_out layer0_feed_forward1 layer0_self_attn layer0_conv layer0_feed_forward2 layer0_out "
              "encoder_out joint_enc_proj stream_encoder_out").split()
STEP_STAGES = "joint_logits pred_out lstm_h lstm_c".split()


def stage(case, name):
    return numpy.load(next((case / "stages").glob(f"[0-9][0-9]_{name}.npy")))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cases", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)

    case = o.cases / "parakeet-eou"
    expected = json.loads((case / "expected.json").read_text())
    numpy.save(o.out / "logmel.npy", stage(case, "logmel")[:, :FRAMES].T.copy())
    for name in ROW_STAGES:
        numpy.save(o.out / f"{name}.npy", stage(case, name)[:ROWS])
    steps = [s for s in expected["steps"] if s[0] < ROWS]
    said = sum(1 for s in steps if s[1] != expected["blank_id"])
    for name in STEP_STAGES:
        numpy.save(o.out / f"{name}.npy", stage(case, name)[:len(steps) if name == "joint_logits" else said + 1])
    chunks = [c for c in expected["streaming"]["chunks"] if 2 * (c["step"] + 1) <= ROWS]
    kept = {"steps": steps, "max_symbols": expected["max_symbols"], "token_ids": expected["token_ids"][:said],
            "token_frames": expected["token_frames"][:said],
            "stream": [[c["cache_len"], len(c["tokens_so_far"])] for c in chunks],
            "stream_ids": chunks[-1]["tokens_so_far"]}

    tdt = json.loads((o.cases / "parakeet-tdt" / "expected.json").read_text())
    numpy.save(o.out / "tdt_joint_logits.npy", stage(o.cases / "parakeet-tdt", "joint_logits"))
    kept["tdt"] = {k: tdt[k] for k in ("blank_id", "max_symbols", "steps", "enc_valid")}
    ctc = json.loads((o.cases / "parakeet-ctc" / "expected.json").read_text())
    numpy.save(o.out / "ctc_log_probs.npy", stage(o.cases / "parakeet-ctc", "log_probs"))
    kept["ctc"] = {"token_ids": ctc["token_ids"]}
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with tarfile.open(case / "checkpoint" / "model.nemo") as tar:
            for member in tar.getmembers():
                if member.name.endswith((".ckpt", ".yaml")):
                    (folder / pathlib.Path(member.name).name).write_bytes(tar.extractfile(member).read())
        config = yaml.safe_load((folder / "model_config.yaml").read_text())
        for key in ("labels",):
            config.pop(key, None)
        config["tokenizer"] = {"model_path": "nemo:tokenizer.model", "type": "bpe"}
        (folder / "model_config.yaml").write_text(yaml.safe_dump(config))
        (folder / "tokenizer.model").write_bytes(sentencepiece_model(expected["blank_id"], ["<EOU>", "<EOB>"]))
        archive = folder / "model.nemo"
        with tarfile.open(archive, "w") as tar:
            for name in "model_config.yaml", "model_weights.ckpt", "tokenizer.model":
                tar.add(folder / name, name)
        subprocess.run([o.convert, archive, "-o", o.out / "model.gguf"], check=True)


if __name__ == "__main__":
    main()
