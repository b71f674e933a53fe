# SPDX-License-Identifier: Apache-2.0
"""Writes a trained model as a checkpoint folder in the layout FunASR models are published in.

usage: export.py RUN OUT  (RUN is the output folder of train_sense_voice.py)
"""
import json
import shutil
import sys
from pathlib import Path

import torch

import packaged
import sense_voice
import tokenizer

BPE_NAME = "demo.bpe.model"
# Rows of embed.weight for languages that are not in the training data.
OTHER_LANGUAGES = [3, 7, 11, 12, 13]

CONFIG = """\
encoder: SenseVoiceEncoderSmall
encoder_conf: {{output_size: {size}, attention_heads: {heads}, linear_units: {units}, num_blocks: {blocks},
  tp_blocks: {tp_blocks}, dropout_rate: 0.0, positional_dropout_rate: 0.0, attention_dropout_rate: 0.0,
  input_layer: pe, pos_enc_class: SinusoidalPositionEncoder, normalize_before: true,
  kernel_size: {kernel}, sanm_shfit: 0, selfattention_layer_type: sanm}}
model: SenseVoiceSmall
model_conf: {{length_normalized_loss: true, sos: 1, eos: 2, ignore_id: -1}}
tokenizer: SentencepiecesTokenizer
tokenizer_conf: {{bpemodel: null, unk_symbol: <unk>, split_with_space: true}}
frontend: WavFrontend
frontend_conf: {{fs: 16000, window: hamming, n_mels: 80, frame_length: 25, frame_shift: 10,
  lfr_m: 7, lfr_n: 6, cmvn_file: null}}
"""

CONFIGURATION = {
    "framework": "pytorch", "task": "auto-speech-recognition", "model": {"type": "funasr"},
    "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
    "file_path_metas": {"init_param": "model.pt", "config": "config.yaml",
                        "tokenizer_conf": {"bpemodel": BPE_NAME}, "frontend_conf": {"cmvn_file": "am.mvn"}}}


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    state = {k: v.detach().float().contiguous().clone() for k, v in torch.load(run / "last.pt").items()}
    embed = state["embed.weight"]
    embed[OTHER_LANGUAGES] = embed[sense_voice.LANGUAGE_AUTO].clone()
    model = sense_voice.from_checkpoint(state)  # also checks the names and shapes
    torch.save(state, out / "model.pt")
    encoder = model.encoder
    first = encoder.encoders0[0]
    (out / "config.yaml").write_text(CONFIG.format(
        size=encoder.size, heads=first.self_attn.heads, units=first.feed_forward.w_1.out_features,
        blocks=1 + len(encoder.encoders), tp_blocks=len(encoder.tp_encoders), kernel=first.self_attn.kernel))
    (out / "configuration.json").write_text(json.dumps(CONFIGURATION, indent=1) + "\n")
    shutil.copyfile(run / "am.mvn", out / "am.mvn")
    shutil.copyfile(run / "bpe.model", out / BPE_NAME)
    pieces = tokenizer.Tokenizer(out / BPE_NAME).pieces()
    (out / "tokens.json").write_text(json.dumps(pieces, indent=1, ensure_ascii=False) + "\n")
    print(packaged.size(state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
