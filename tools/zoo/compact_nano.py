#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/golden/fun_asr_nano holds: the weights of the golden case of Fun-ASR-Nano (whose tokens are bytes),
the features of its recording, and what the original computed from them.

Usage: compact_nano.py CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import subprocess

import numpy as np

STAGES = {"01_lfr": "lfr", "09_encoder_out_tp_norm": "encoder_out", "22_audio_embeds_used": "audio_embeds_used",
          "23_inputs_embeds": "inputs_embeds", "26_ctc_log_probs": "ctc_log_probs"}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    for stage, name in STAGES.items():
        np.save(o.out / f"{name}.npy", np.load(o.case / "stages" / f"{stage}.npy"))
    expected = json.loads((o.case / "expected.json").read_text())
    names = ("source_ids", "fake_token_len", "fbank_beg", "ctc_blank_id", "ctc_token_ids",
             "samples_lfrframes_faketokenlen")
    kept = {name: expected[name] for name in names}
    kept["prompts"] = [{name: p[name] for name in ("args", "prompt", "prefix_token_ids", "suffix_token_ids")}
                       for p in expected["prompts_1s_of_zeros"].values()]
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    subprocess.run([o.convert, o.case / "checkpoint", "-o", o.out / "model.gguf"], check=True)


if __name__ == "__main__":
    main()
