#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/golden/qwen3_asr holds: the weights of a golden case of Qwen3-ASR with made-up text tokens, and
stages that the original computed: features and rows of the first block of the audio tower, rows of all audio, scores.

Usage: compact_qwen3.py CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

BLOCK_FRAMES, BLOCK_ROWS = 800, 104


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    stages = o.case / "stages"
    mel = np.load(stages / "01_logmel.npy")
    np.save(o.out / "features.npy", np.ascontiguousarray(mel[:, :BLOCK_FRAMES].T))
    rows = np.load(stages / "07_encoder_out.npy")
    np.save(o.out / "encoder_out.npy", rows)
    np.save(o.out / "logits_greedy_path.npy", np.load(stages / "12_logits_greedy_path.npy"))
    expected = json.loads((o.case / "expected.json").read_text())
    run = expected["runs"]["main"]
    kept = {"block_rows": BLOCK_ROWS, "prompt_ids": run["prompt_ids"], "new_ids": run["new_ids"],
            "audio_pad": expected["special_ids"]["<|audio_pad|>"], "ends": expected["eos_ids"]}
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder) / "checkpoint"
        shutil.copytree(o.case / "checkpoint", folder)
        vocabulary = json.loads((folder / "vocab.json").read_text())
        made_up = {f"t{i}": i for i in sorted(vocabulary.values())}
        (folder / "vocab.json").write_text(json.dumps(made_up))
        (folder / "merges.txt").write_text("#version: 0.2\n")
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf"], check=True)


if __name__ == "__main__":
    main()
