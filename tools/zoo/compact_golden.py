#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts a SenseVoice golden case down to what tests/golden/sensevoice holds: features, stages, ids, and weights with a
made-up vocabulary.

Usage: compact_golden.py CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

from sentencepiece_file import sentencepiece_model

STAGES = ("cmvn enc0_qkv enc0_fsmn_conv enc0_attn_linear_out enc0_self_attn enc0_norm2 enc0_ffn enc0_out "
          "encoders_0_out encoders_1_out after_norm tp_encoders_0_out tp_encoders_1_out tp_norm ctc_logits "
          "ctc_log_probs").split()


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    for stage in (o.case / "stages").glob("*.npy"):
        name = stage.name[3:]
        if name[:-4] in STAGES:
            shutil.copy(stage, o.out / name)
    expected = json.loads((o.case / "expected.json").read_text())
    (o.out / "ids.txt").write_text(" ".join(map(str, expected["token_ids"])) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("model.pt", "config.yaml"):
            shutil.copy(o.case / "checkpoint" / name, folder / name)
        (folder / "made-up.bpe.model").write_bytes(sentencepiece_model(expected["vocab_size"]))
        (folder / "configuration.json").write_text(json.dumps({"file_path_metas": {
            "init_param": "model.pt", "config": "config.yaml", "tokenizer_conf": {"bpemodel": "made-up.bpe.model"}}}))
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf"], check=True)


if __name__ == "__main__":
    main()
