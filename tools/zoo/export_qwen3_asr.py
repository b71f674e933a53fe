# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Qwen3-ASR model as a folder in the layout the published ones have.

usage: export_qwen3_asr.py GRAMMAR RUN OUT  (RUN is the output folder of train_qwen3_asr.py)
"""
import json
import sys
from pathlib import Path

import torch

import qwen3_asr
import qwen_tokens
import safetensors_file
from synthesize import Grammar
from train_qwen3_asr import TEXT, TOWER

# Seconds up to which the model writes well (examples/models/qwen3-asr.md); steno's own field: what is longer is cut.
LONGEST_CLIP = 10


def config(tokens):
    audio = {"activation_function": "gelu", "d_model": TOWER["size"], "downsample_hidden_size": TOWER["channels"],
             "encoder_attention_heads": TOWER["heads"], "encoder_ffn_dim": TOWER["units"],
             "encoder_layers": TOWER["layers"], "model_type": "qwen3_asr_audio_encoder",
             "n_window": qwen3_asr.CHUNK // 2,
             "n_window_infer": qwen3_asr.BLOCK // qwen3_asr.CHUNK_ROWS * qwen3_asr.CHUNK,
             "num_hidden_layers": TOWER["layers"], "num_mel_bins": TOWER["bins"], "output_dim": TOWER["output"],
             "scale_embedding": False}
    axes = [TEXT["head"] // 2 - 2 * (TEXT["head"] // 6), TEXT["head"] // 6, TEXT["head"] // 6]
    text = {"attention_bias": False, "head_dim": TEXT["head"], "hidden_act": "silu", "hidden_size": TEXT["size"],
            "intermediate_size": TEXT["units"], "max_position_embeddings": 65536, "model_type": "qwen3",
            "num_attention_heads": TEXT["heads"], "num_hidden_layers": TEXT["layers"],
            "num_key_value_heads": TEXT["key_heads"], "rms_norm_eps": 1e-6,
            "rope_scaling": {"interleaved": True, "mrope_interleaved": True, "mrope_section": axes,
                             "rope_type": "default", "type": "default"},
            "rope_theta": 1000000, "tie_word_embeddings": True, "vocab_size": tokens.size}
    return {"architectures": ["Qwen3ASRForConditionalGeneration"], "model_type": "qwen3_asr",
            "support_languages": ["English"],
            "longest_clip": LONGEST_CLIP,
            "thinker_config": {"audio_config": audio, "text_config": text, "model_type": "qwen3_asr_thinker",
                               "audio_start_token_id": tokens.token("<|audio_start|>"),
                               "audio_end_token_id": tokens.token("<|audio_end|>"),
                               "audio_token_id": tokens.token("<|audio_pad|>"), "user_token_id": tokens.token("user")}}


def main():
    tokens = qwen_tokens.Tokenizer(Grammar(sys.argv[1]).words)
    run, out = Path(sys.argv[2]), Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    state = {k.removeprefix("net."): v.detach().float().contiguous().clone()
             for k, v in torch.load(run / "last.pt").items() if k.startswith("net.")}
    settings = config(tokens)
    qwen3_asr.from_checkpoint(settings, state)  # checks the names and shapes
    state["thinker.lm_head.weight"] = state["thinker.model.embed_tokens.weight"]
    safetensors_file.write(out / "model.safetensors", state)
    (out / "config.json").write_text(json.dumps(settings, indent=1))
    ends = [tokens.token("<|im_end|>"), tokens.token("<|endoftext|>")]
    (out / "generation_config.json").write_text(json.dumps(
        {"do_sample": False, "eos_token_id": ends, "pad_token_id": ends[1], "max_new_tokens": 4096}, indent=1))
    tokens.write(out)
    print(f"{sum(v.numel() for v in state.values()) - state['thinker.lm_head.weight'].numel()} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
