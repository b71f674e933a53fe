#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/golden/fun_asr_nano_ctc and ct_punc_realtime hold: weights of golden cases (whose tokens are bytes,
characters or made up) and what the original computed from them. Copies alone; no numpy.

Usage: compact_pieces.py FUNASR_CASES STENO_CONVERT GOLDEN_DIR
"""
import argparse
import json
import pathlib
import shutil
import subprocess


def write(folder, convert, case, stages, expected):
    folder.mkdir(parents=True, exist_ok=True)
    for stage, name in stages.items():
        shutil.copyfile(case / "stages" / f"{stage}.npy", folder / f"{name}.npy")
    text = json.dumps(expected, separators=(",", ":"), ensure_ascii=False)
    (folder / "expected.json").write_text(text + "\n")
    subprocess.run([convert, case / "checkpoint", "-o", folder / "model.gguf", "--no-progress"], check=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cases", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    read = lambda case: json.loads((o.cases / case / "expected.json").read_text())
    ctc = read("nano-ctc")
    kept = ("text", "ctc_text", "text_ids", "timestamps", "ctc_timestamps")
    write(o.out / "fun_asr_nano_ctc", o.convert, o.cases / "nano-ctc",
          {"02_encoder_out_tp_norm": "encoder_out", "09_ctc_log_probs": "ctc_log_probs"},
          {"ctc_blank_id": ctc["ctc_blank_id"], "ctc_frame_ids": ctc["ctc_frame_ids"],
           "runs": [{name: run[name] for name in kept} for run in ctc["runs"]],
           "prompts": read("nano-mlt")["prompts_language_itn"]})
    punc = read("punc-realtime")
    write(o.out / "ct_punc_realtime", o.convert, o.cases / "punc-realtime",
          {"62_piece5_mini1_logits": "logits"},
          {name: punc[name] for name in ("pieces", "pieces_without_cache", "joined")})


if __name__ == "__main__":
    main()
