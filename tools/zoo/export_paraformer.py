# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Paraformer as a checkpoint folder in the layout FunASR models are published in.

usage: export_paraformer.py RUN OUT  (RUN is the output folder of train_paraformer.py)
"""
import json
import shutil
import sys
from pathlib import Path

import torch

import paraformer
from train_paraformer import SHARP, SHARPNESS

CONFIG = """\
model: Paraformer
model_conf: {{ctc_weight: 0.0, lsm_weight: 0.0, length_normalized_loss: true, predictor_weight: 1.0, predictor_bias: 0,
  sampling_ratio: 0.0}}
encoder: SANMEncoder
encoder_conf: {{output_size: {size}, attention_heads: {heads}, linear_units: {units}, num_blocks: {blocks},
  dropout_rate: 0.0, positional_dropout_rate: 0.0, attention_dropout_rate: 0.0, input_layer: pe,
  pos_enc_class: SinusoidalPositionEncoder, normalize_before: true, kernel_size: {kernel}, sanm_shfit: 0,
  selfattention_layer_type: sanm}}
decoder: ParaformerSANMDecoder
decoder_conf: {{attention_heads: {decoder_heads}, linear_units: {decoder_units}, num_blocks: {decoder_blocks},
  dropout_rate: 0.0, positional_dropout_rate: 0.0, self_attention_dropout_rate: 0.0, src_attention_dropout_rate: 0.0,
  att_layer_num: {decoder_blocks}, kernel_size: {decoder_kernel}, sanm_shfit: 0}}
predictor: CifPredictorV2
predictor_conf: {{idim: {size}, threshold: 1.0, l_order: 1, r_order: 1, tail_threshold: {tail}}}
frontend: WavFrontend
frontend_conf: {{fs: 16000, window: hamming, n_mels: 80, frame_length: 25, frame_shift: 10, lfr_m: 7, lfr_n: 6}}
tokenizer: CharTokenizer
tokenizer_conf: {{unk_symbol: <unk>, split_with_space: true}}
ctc_conf: {{dropout_rate: 0.0, ctc_type: builtin, reduce: true, ignore_nan_grad: true}}
normalize: null
"""

CONFIGURATION = {
    "framework": "pytorch", "task": "auto-speech-recognition", "model": {"type": "funasr"},
    "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
    "file_path_metas": {"init_param": "model.pt", "config": "config.yaml",
                        "tokenizer_conf": {"token_list": "tokens.json", "seg_dict_file": "seg_dict"},
                        "frontend_conf": {"cmvn_file": "am.mvn"}}}


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    state = {k.removeprefix("net."): v.detach().float().contiguous().clone()
             for k, v in torch.load(run / "last.pt").items() if k.startswith("net.")}
    for name in SHARP:
        state[name] *= SHARPNESS
    model = paraformer.from_checkpoint(state)  # also checks the names and shapes
    torch.save(state, out / "model.pt")
    first, layer = model.encoder.encoders0[0], model.decoder.decoders[0]
    (out / "config.yaml").write_text(CONFIG.format(
        size=model.encoder.size, heads=first.self_attn.heads, units=first.feed_forward.w_1.out_features,
        blocks=1 + len(model.encoder.encoders), kernel=first.self_attn.kernel, decoder_heads=layer.src_attn.heads,
        decoder_units=layer.feed_forward.w_1.out_features, decoder_blocks=len(model.decoder.decoders),
        decoder_kernel=layer.self_attn.kernel, tail=model.tail))
    (out / "configuration.json").write_text(json.dumps(CONFIGURATION, indent=1) + "\n")
    (out / "seg_dict").write_text("")  # no word has another spelling in pieces than the tokens themselves
    for name in ("am.mvn", "tokens.json"):
        shutil.copyfile(run / name, out / name)
    print(f"{sum(v.numel() for v in state.values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
