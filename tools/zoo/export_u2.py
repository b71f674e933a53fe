# SPDX-License-Identifier: Apache-2.0
"""Writes a trained U2++ model as a folder in the layout WeNet models are published in.

usage: export_u2.py RUN OUT  (RUN is the output folder of train_u2.py)
"""
import shutil
import sys
from pathlib import Path

import torch

import tokenizer
import u2
from train_u2 import REVERSE, SMOOTHING, unit_names

CONFIG = """\
cmvn: global_cmvn
cmvn_conf: {{cmvn_file: data/train/global_cmvn, is_json_cmvn: true}}
ctc: ctc
ctc_conf: {{ctc_blank_id: 0}}
dataset: asr
dataset_conf:
  fbank_conf: {{dither: 0.0, frame_length: 25, frame_shift: 10, num_mel_bins: {bins}}}
  resample_conf: {{resample_rate: 16000}}
decoder: bitransformer
decoder_conf: {{attention_heads: {decoder_heads}, dropout_rate: 0.0, linear_units: {decoder_units},
  num_blocks: {decoder_blocks}, positional_dropout_rate: 0.0, r_num_blocks: {reverse_blocks},
  self_attention_dropout_rate: 0.0, src_attention_dropout_rate: 0.0}}
dtype: fp32
encoder: conformer
encoder_conf: {{activation_type: swish, attention_dropout_rate: 0.0, attention_heads: {heads}, causal: true,
  cnn_module_kernel: {kernel}, cnn_module_norm: layer_norm, dropout_rate: 0.0, input_layer: conv2d,
  linear_units: {units}, normalize_before: true, num_blocks: {blocks}, output_size: {size},
  pos_enc_layer_type: rel_pos, positional_dropout_rate: 0.0, selfattention_layer_type: rel_selfattn,
  use_cnn_module: true, use_dynamic_chunk: true, use_dynamic_left_chunk: true}}
input_dim: {bins}
model: asr_model
model_conf: {{ctc_weight: 0.5, length_normalized_loss: false, lsm_weight: {smoothing}, reverse_weight: {reverse}}}
output_dim: {vocab}
tokenizer: bpe
tokenizer_conf:
  bpe_path: data/dict/train_bpe.model
  is_multilingual: false
  non_lang_syms_path: null
  num_languages: 1
  special_tokens: {{<blank>: 0, <unk>: 1, <sos>: 2, <eos>: 2}}
  split_with_space: false
  symbol_table_path: data/dict/units.txt
vocab_size: {vocab}
"""


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    state = {k.removeprefix("net."): v.detach().float().contiguous().clone()
             for k, v in torch.load(run / "last.pt").items() if k.startswith("net.")}
    model = u2.from_checkpoint(state)  # also checks the names and shapes
    torch.save(state, out / "final.pt")
    block, left, right = model.encoder.encoders[0], model.decoder.left_decoder, model.decoder.right_decoder
    (out / "train.yaml").write_text(CONFIG.format(
        bins=len(model.encoder.global_cmvn.mean), size=model.encoder.embed.size, heads=block.self_attn.heads,
        units=block.feed_forward.w_1.out_features, kernel=block.conv_module.kernel, blocks=len(model.encoder.encoders),
        decoder_heads=left.decoders[0].self_attn.heads, decoder_units=left.decoders[0].feed_forward.w_1.out_features,
        decoder_blocks=len(left.decoders), reverse_blocks=len(right.decoders), smoothing=SMOOTHING, reverse=REVERSE,
        vocab=model.ctc.ctc_lo.out_features))
    names = unit_names(tokenizer.Tokenizer(run / "bpe.model"))
    (out / "units.txt").write_text("".join(f"{name} {i}\n" for i, name in enumerate(names)), encoding="utf-8")
    shutil.copyfile(run / "bpe.model", out / "train_bpe.model")
    shutil.copyfile(run / "global_cmvn", out / "global_cmvn")
    print(f"{sum(v.numel() for v in state.values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
