# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Qwen3 forced aligner as a folder in the layout the published one has.

usage: export_qwen3_aligner.py GRAMMAR RUN OUT  (RUN is the output folder of train_qwen3_aligner.py)
"""
import json
import sys
from pathlib import Path

import torch

import export_qwen3_asr
import qwen3_aligner
import qwen3_asr
import safetensors_file
from synthesize import Grammar
from train_qwen3_aligner import CLASSES, EACH, tokenizer


def main():
    tokens = tokenizer(Grammar(sys.argv[1]))
    run, out = Path(sys.argv[2]), Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    state = {k.removeprefix("net."): v.detach().float().contiguous().clone()
             for k, v in torch.load(run / "last.pt").items() if k.startswith("net.")}
    settings = export_qwen3_asr.config(tokens)
    del settings["longest_clip"]  # of recognisers
    settings["thinker_config"].update(model_type="qwen3_forced_aligner", classify_num=CLASSES)
    settings["thinker_config"]["text_config"]["tie_word_embeddings"] = False
    settings.update(timestamp_token_id=tokens.token(qwen3_aligner.TIMESTAMP), timestamp_segment_time=EACH)
    qwen3_asr.from_checkpoint(settings, state)  # checks the names and shapes
    safetensors_file.write(out / "model.safetensors", state)
    (out / "config.json").write_text(json.dumps(settings, indent=1))
    tokens.write(out)
    print(f"{sum(v.numel() for v in state.values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
