# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Fun-ASR-Nano model as a folder in the layout the published ones have.

usage: export_fun_asr_nano.py GRAMMAR RUN OUT  (RUN is the output folder of train_fun_asr_nano.py)
"""
import base64
import json
import sys
from pathlib import Path

import torch

import packaged
import qwen_tokens
import train_fun_asr_nano as trained
from synthesize import Grammar
from train_qwen3_asr import TEXT

LANGUAGE_MODEL, CTC_TOKENS = "Qwen3-0.6B", "multilingual.tiktoken"  # names that the published folders have

CONFIG = """\
model: FunASRNano
model_conf: {{lsm_weight: 0.1, length_normalized_loss: true}}
audio_encoder: SenseVoiceEncoderSmall
audio_encoder_conf: {{output_size: {size}, attention_heads: {heads}, linear_units: {units}, num_blocks: {blocks},
  tp_blocks: {tp_blocks}, dropout_rate: 0.0, positional_dropout_rate: 0.0, attention_dropout_rate: 0.0,
  input_layer: pe, pos_enc_class: SinusoidalPositionEncoder, normalize_before: true, kernel_size: {kernel},
  sanm_shfit: 0, selfattention_layer_type: sanm, feat_permute: true}}
llm: Qwen3-0.6b
llm_conf: {{hub: hf, llm_dtype: fp32, init_param_path: {model}, use_lora: false}}
audio_adaptor: Transformer
audio_adaptor_conf: {{downsample_rate: {adaptor[rate]}, use_low_frame_rate: true, ffn_dim: {adaptor[units]},
  llm_dim: {adaptor[size]}, encoder_dim: {size}, n_layer: {adaptor[layers]}}}
ctc_decoder: Transformer
detach_ctc_decoder: true
ctc_decoder_conf: {{downsample_rate: 1, ffn_dim: {decoder[units]}, llm_dim: {decoder[size]}, encoder_dim: {size},
  n_layer: {decoder[layers]}}}
ctc_weight: 1.0
ctc_vocab_size: {labels}
ctc_conf: {{dropout_rate: 0.0, ctc_type: builtin, reduce: true, ignore_nan_grad: true}}
frontend: WavFrontend
frontend_conf: {{fs: 16000, window: hamming, n_mels: 80, frame_length: 25, frame_shift: 10, lfr_m: 7, lfr_n: 6,
  cmvn_file: null}}
dataset_conf:
  ctc_tokenizer: SenseVoiceTokenizer
  ctc_tokenizer_conf: {{vocab_path: null, is_multilingual: true, num_languages: 8749}}
tokenizer: HuggingfaceTokenizer
tokenizer_conf: {{init_param_path: {model}}}
"""

CONFIGURATION = {
    "framework": "pytorch", "task": "auto-speech-recognition", "model": {"type": "funasr"},
    "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
    "file_path_metas": {"init_param": "model.pt", "config": "config.yaml",
                        "llm_conf": {"init_param_path": LANGUAGE_MODEL},
                        "tokenizer_conf": {"init_param_path": LANGUAGE_MODEL},
                        "dataset_conf": {"ctc_tokenizer_conf": {"vocab_path": CTC_TOKENS}}}}


def language_model(tokens):
    return {"architectures": ["Qwen3ForCausalLM"], "attention_bias": False, "head_dim": TEXT["head"],
            "hidden_act": "silu", "hidden_size": TEXT["size"], "intermediate_size": TEXT["units"],
            "max_position_embeddings": 40960,
            "model_type": "qwen3", "num_attention_heads": TEXT["heads"], "num_hidden_layers": TEXT["layers"],
            "num_key_value_heads": TEXT["key_heads"], "rms_norm_eps": 1e-6, "rope_scaling": None, "rope_theta": 1000000,
            "tie_word_embeddings": True, "vocab_size": tokens.size,
            "eos_token_id": [tokens.token(trained.ENDING), tokens.token("<|endoftext|>")],
            "pad_token_id": tokens.token("<|endoftext|>")}


def ctc_tokens(tokens):
    """A table of tiktoken."""
    bytes_of = {letter: byte for byte, letter in qwen_tokens.letters().items()}
    texts = [text for text, i in sorted(tokens.vocabulary.items(), key=lambda entry: entry[1])][: tokens.spoken]
    return "".join(f"{base64.b64encode(bytes(bytes_of[letter] for letter in text)).decode()} {i}\n"
                   for i, text in enumerate(texts))


def main():
    tokens = trained.tokenizer(Grammar(sys.argv[1]))
    run, out = Path(sys.argv[2]), Path(sys.argv[3])
    text = out / LANGUAGE_MODEL
    text.mkdir(parents=True, exist_ok=True)
    state = {k.removeprefix("net."): v.detach().float().contiguous().clone()
             for k, v in torch.load(run / "last.pt", map_location="cpu").items() if k.startswith("net.")}
    trained.network(tokens).load_state_dict(state)  # checks the names and shapes
    torch.save(state, out / "model.pt")
    (out / "config.yaml").write_text(CONFIG.format(
        adaptor=trained.ADAPTOR, decoder=trained.DECODER, labels=tokens.spoken + 1, model=LANGUAGE_MODEL,
        **trained.ENCODER))
    (out / "configuration.json").write_text(json.dumps(CONFIGURATION, indent=1) + "\n")
    (out / CTC_TOKENS).write_text(ctc_tokens(tokens))
    (text / "config.json").write_text(json.dumps(language_model(tokens), indent=1) + "\n")
    tokens.write(text)
    print(packaged.size(state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
