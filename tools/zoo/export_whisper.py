# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Whisper as a model folder in the layout of Hugging Face.

usage: export_whisper.py RUN OUT  (RUN is the output folder of train_whisper.py)
"""
import json
import struct
import sys
from pathlib import Path

import torch

import whisper
from train_whisper import ALIGNMENT_HEADS

PARTS = [("cross_attn_ln", "encoder_attn_layer_norm"), ("cross_attn.", "encoder_attn."),
         (".attn_ln", ".self_attn_layer_norm"), (".attn.", ".self_attn."), ("mlp_ln", "final_layer_norm"),
         ("mlp.0", "fc1"), ("mlp.2", "fc2"), ("blocks", "layers"), (".query", ".q_proj"), (".key", ".k_proj"),
         (".value", ".v_proj"), ("attn.out", "attn.out_proj"), ("encoder.ln_post", "encoder.layer_norm"),
         ("decoder.ln.", "decoder.layer_norm."), ("token_embedding", "embed_tokens"),
         ("positional_embedding", "embed_positions.weight")]


def huggingface_name(name):
    for ours, theirs in PARTS:
        name = name.replace(ours, theirs)
    return f"model.{name}"


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        raw = t.detach().float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write(out, net, tokens, alignment_heads, languages=("en",)):
    """The folder of a model."""
    d = net.dims
    write_safetensors(out / "model.safetensors", {huggingface_name(k): v for k, v in net.state_dict().items()})

    def dump(name, what):
        (out / name).write_text(json.dumps(what, indent=1, ensure_ascii=False) + "\n")

    sot, eot, task = tokens["<|startoftranscript|>"], tokens.eot, tokens["<|transcribe|>"]
    ids = {"bos_token_id": eot, "eos_token_id": eot, "pad_token_id": eot, "decoder_start_token_id": sot}
    begin = {"begin_suppress_tokens": [tokens.rank[b" "], eot], "max_length": d["n_text_ctx"], **ids}
    dump("config.json", {
        "architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "activation_function": "gelu",
        "d_model": d["n_audio_state"], "encoder_layers": d["n_audio_layer"], "decoder_layers": d["n_text_layer"],
        "encoder_attention_heads": d["n_audio_head"], "decoder_attention_heads": d["n_text_head"],
        "encoder_ffn_dim": 4 * d["n_audio_state"], "decoder_ffn_dim": 4 * d["n_text_state"],
        "max_source_positions": d["n_audio_ctx"], "max_target_positions": d["n_text_ctx"], "num_mel_bins": d["n_mels"],
        "vocab_size": tokens.size, "is_encoder_decoder": True, "scale_embedding": False, "torch_dtype": "float32",
        **begin})
    dump("generation_config.json", {
        "alignment_heads": [list(h) for h in alignment_heads], "is_multilingual": True,
        "lang_to_id": {f"<|{code}|>": tokens[f"<|{code}|>"] for code in languages},
        "task_to_id": {"transcribe": task, "translate": tokens["<|translate|>"]}, "max_initial_timestamp_index": 50,
        "no_timestamps_token_id": tokens["<|notimestamps|>"], "prev_sot_token_id": tokens["<|startofprev|>"], **begin})
    dump("preprocessor_config.json", {
        "chunk_length": 30, "feature_extractor_type": "WhisperFeatureExtractor", "feature_size": d["n_mels"],
        "hop_length": 160, "n_fft": 400, "n_samples": 480000, "nb_max_frames": 3000, "padding_side": "right",
        "padding_value": 0.0, "processor_class": "WhisperProcessor", "return_attention_mask": False,
        "sampling_rate": 16000})
    dump("tokenizer_config.json", {
        "add_prefix_space": False, "errors": "replace", "tokenizer_class": "WhisperTokenizer",
        "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"})
    dump("vocab.json", {tokens.letters(t): i for i, t in enumerate(tokens.texts)})
    dump("added_tokens.json", {name: tokens.eot + i for i, name in enumerate(tokens.special)})
    (out / "merges.txt").write_text("#version: 0.2\n" + "".join(
        f"{tokens.letters(a)} {tokens.letters(b)}\n" for a, b in tokens.merges))


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    tokens = whisper.Tokens([(bytes(a), bytes(b)) for a, b in json.loads((run / "merges.json").read_text())])
    net = whisper.Whisper(tokens.size)
    net.load_state_dict({k.removeprefix("net."): v for k, v in torch.load(run / "last.pt").items()
                         if k.startswith("net.")})
    write(out, net, tokens, ALIGNMENT_HEADS)
    print(f"{sum(v.numel() for v in net.state_dict().values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
