#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts a SeACo-Paraformer golden case down to what tests/golden/seaco_paraformer holds: features, stages, results, and
weights with made-up tokens.

Usage: compact_seaco.py CASE_DIR STENO_CONVERT OUT_DIR

Token i is "w" and its number, so a hotword is a list of such words: the folder has no seg_dict, and FunASR then looks
words up as they are.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

STAGES = ("cmvn encoder_out alphas_with_tail cif_peaks acoustic_embeds decoder_after_norm log_probs upsample_cnn "
          "upsample_blstm us_alphas us_peaks hotwords_short_selected hotwords_short_cif_attended "
          "hotwords_short_dec_attended hotwords_short_log_probs hotwords_file_asf_attention hotwords_file_asf_scores "
          "hotwords_file_merged hotwords_file_log_probs").split()


def run_of(r):
    return {"ids": r["token_ids_after_filter"],
            "hotwords": [" ".join(f"w{i}" for i in ids) for ids in r.get("hotword_ids", [[1]])[:-1]]}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    for stage in (o.case / "stages").glob("*.npy"):
        if stage.name[3:-4] in STAGES:
            shutil.copyfile(stage, o.out / stage.name[3:])
    expected = json.loads((o.case / "expected.json").read_text())
    runs = {name: run_of(expected["hotword_runs"][name]) for name in ("hotwords_short", "hotwords_file")}
    runs["no_hotwords"] = run_of(expected["no_hotwords"])
    runs["times_ms"] = expected["no_hotwords"]["timestamp_per_token"]  # of every run: hotwords move no peak
    (o.out / "expected.json").write_text(json.dumps(runs) + "\n")
    tokens = ["<blank>", "<s>", "</s>"] + [f"w{i}" for i in range(3, expected["vocab_size"] - 1)] + ["<unk>"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("model.pt", "config.yaml"):
            shutil.copy(o.case / "checkpoint" / name, folder / name)
        (folder / "tokens.json").write_text(json.dumps(tokens))
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf", "--type", "f32"], check=True)


if __name__ == "__main__":
    main()
