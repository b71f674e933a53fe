#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/golden/qwen3_aligner holds: the weights of the golden case of Qwen3-ForcedAligner with tokens that
are bytes or made up, and what the original computed: rows of all audio, scores at the timestamps, classes and times.

Usage: compact_aligner.py CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    np.save(o.out / "encoder_out.npy", np.load(o.case / "stages/07_encoder_out.npy"))
    np.save(o.out / "logits.npy", np.load(o.case / "stages/11_logits_at_timestamps.npy"))
    expected = json.loads((o.case / "expected.json").read_text())
    run = expected["runs"][0]
    kept = {"audio_token_id": expected["audio_token_id"], "timestamp_token_id": expected["timestamp_token_id"],
            "input_ids": run["input_ids"], "classes": run["classes"], "raw_ms": run["raw_ms"],
            "fixed_ms": run["fixed_ms"]}
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder) / "checkpoint"
        shutil.copytree(o.case / "checkpoint", folder)
        folder.chmod(0o755)
        for f in folder.iterdir():
            f.chmod(0o644)
        vocabulary = json.loads((folder / "vocab.json").read_text())
        made_up = {(token if i < 256 else f"t{i}"): i for token, i in vocabulary.items()}
        (folder / "vocab.json").write_text(json.dumps(made_up))
        (folder / "merges.txt").write_text("#version: 0.2\n")
        (folder / "korean_dict_jieba.dict").write_text("\uac00\ub098 10 x\n\uac00\ub098\ub2e4 10 x\n")
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf"], check=True)


if __name__ == "__main__":
    main()
