#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts the golden case of streaming Sortformer down to what tests/golden/sortformer holds: the weights, the features of
the first chunks, states around the first compression of the speaker cache, probabilities, and the segments of each
setting.

Usage: compact_sortformer.py CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import subprocess

import numpy

CHUNKS = 17  # of 48 frames, and the 8 that the last of them looks ahead
STATES = {13: "spkcache", 14: "model_probs spkcache_preds",
          15: "model_probs spkcache spkcache_preds fifo fifo_preds mean_sil_emb"}


def stage(case, name):
    return numpy.load(next((case / "stages").glob(f"[0-9][0-9]_{name}.npy")))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    expected = json.loads((o.case / "expected.json").read_text())
    chunks = expected["streaming"]["chunks"][:CHUNKS]
    step = 8 * expected["streaming"]["params"]["chunk_len"]
    numpy.save(o.out / "logmel.npy", stage(o.case, "logmel")[:, :CHUNKS * step + chunks[-1]["right_offset"]].T.copy())
    for chunk, names in STATES.items():
        for name in names.split():
            numpy.save(o.out / f"chunk{chunk}_{name}.npy", stage(o.case, f"chunk{chunk}_{name}"))
    numpy.save(o.out / "chunk0_pre_encode.npy", stage(o.case, "chunk0_pre_encode"))
    for name in ("speaker_probs", "speaker_probs_async"):
        numpy.save(o.out / f"{name}.npy", stage(o.case, name))
    kept = {"chunks": chunks, "segments": expected["segments"]}
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    subprocess.run([o.convert, o.case / "checkpoint" / "model.nemo", "-o", o.out / "model.gguf"], check=True)


if __name__ == "__main__":
    main()
