# SPDX-License-Identifier: Apache-2.0
"""Writes a trained CT-Transformer as a checkpoint folder in the layout FunASR models are published in.

usage: export_ct_punc.py RUN OUT  (RUN is the output folder of train_ct_punc.py)
"""
import json
import shutil
import sys
from pathlib import Path

import torch

import ct_punc

CONFIG = """\
model: CTTransformer
model_conf: {{ignore_id: 0, embed_unit: {size}, att_unit: {size}, dropout_rate: 0.0, punc_list: [{marks}],
  punc_weight: [{weights}], sentence_end_id: {end}}}
encoder: SANMEncoder
encoder_conf: {{input_size: {size}, output_size: {size}, attention_heads: {heads}, linear_units: {units},
  num_blocks: {blocks}, dropout_rate: 0.0, positional_dropout_rate: 0.0, attention_dropout_rate: 0.0, input_layer: pe,
  pos_enc_class: SinusoidalPositionEncoder, normalize_before: true, kernel_size: {kernel}, sanm_shfit: 0,
  selfattention_layer_type: sanm, padding_idx: 0}}
tokenizer: CharTokenizer
tokenizer_conf: {{unk_symbol: <unk>}}
"""

CONFIGURATION = {
    "framework": "pytorch", "task": "punctuation", "model": {"type": "funasr"},
    "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
    "file_path_metas": {"init_param": "model.pt", "config": "config.yaml",
                        "tokenizer_conf": {"token_list": "tokens.json"}}}


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    state = {k: v.detach().float().contiguous().clone() for k, v in torch.load(run / "last.pt").items()}
    encoder = ct_punc.from_checkpoint(state).encoder  # also checks the names and shapes
    first = encoder.encoders0[0]
    torch.save(state, out / "model.pt")
    (out / "config.yaml").write_text(CONFIG.format(
        size=encoder.size, heads=first.self_attn.heads, units=first.feed_forward.w_1.out_features,
        blocks=1 + len(encoder.encoders), kernel=first.self_attn.kernel, marks=", ".join(ct_punc.MARKS),
        weights=", ".join(["1.0"] * len(ct_punc.MARKS)), end=ct_punc.MARKS.index(ct_punc.ENDS[0])))
    (out / "configuration.json").write_text(json.dumps(CONFIGURATION, indent=1) + "\n")
    shutil.copyfile(run / "tokens.json", out / "tokens.json")
    print(f"{sum(v.numel() for v in state.values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
