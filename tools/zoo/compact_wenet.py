#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts WeNet golden cases down to what tests/golden/wenet holds: the weights of one small causal model with made-up
units, features, stages, search results, and the endpoint table.

Usage: compact_wenet.py WENET_CASES_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

CASE = "u2_unified_conformer"
STAGES = ("fbank subsampled layer0_macaron layer0_attn layer0_conv layer0_ff layer0_out encoder_out ctc_logprobs "
          "decoder_logprobs stream_c16_l2_encoder_out stream_c16_l2_cnn_cache stream_c4_l3_encoder_out").split()


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cases", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    case = o.cases / CASE
    for stage in (case / "stages").glob("*.npy"):
        if stage.name[3:-4] in STAGES:
            shutil.copy(stage, o.out / stage.name[3:])
    expected = json.loads((case / "expected.json").read_text())
    kept = {
        "prefix_beam": [{k: h[k] for k in ("ids", "times", "score")} for h in expected["full"]["prefix_beam"]["nbest"]],
        "greedy": expected["full"]["greedy"]["ids"],
        "rescoring": [{k: r[k] for k in ("ctc_weight", "ids", "score")}
                      for r in expected["attention_rescoring"]["results"]],
        "attention": [{k: r[k] for k in ("beam", "length_penalty", "ids", "steps")} for r in expected["attention"]],
        "streaming": [{k: s[k] for k in ("chunk_size", "num_left_chunks", "chunk_frames_out", "att_cache_len")}
                      | {"partials": s["partials"]} for s in expected["streaming"]],
    }
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("final.pt", "train.yaml", "global_cmvn"):
            shutil.copy(case / "checkpoint" / name, folder / name)
        units = ["<blank>", "<unk>", "<sos/eos>"] + [f"u{i}" for i in range(3, expected["dims"]["vocab"])]
        (folder / "units.txt").write_text("".join(f"{u} {i}\n" for i, u in enumerate(units)))
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf"], check=True)
    shutil.copy(o.cases / "endpoint" / "logp.npy", o.out / "endpoint_logp.npy")
    runs = json.loads((o.cases / "endpoint" / "expected.json").read_text())
    units = [line.split()[0] for line in (o.cases / "endpoint" / "units.txt").read_text().splitlines()]
    for run in runs["runs"]:
        for event in run["events"]:
            for piece in event["best"].get("word_pieces", []):
                piece[0] = units.index(piece[0])
    (o.out / "endpoint.json").write_text(json.dumps(runs, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
