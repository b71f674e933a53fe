#!/usr/bin/env python3
"""Writes an openai Whisper checkpoint of a published size with random weights: for speed, memory and loading.

Usage: random_whisper.py tiny|base|small|medium|large-v3|large-v3-turbo OUT.pt   (".en" may follow the first four)

steno-convert then wants the tokenizer: --tokenizer multilingual.tiktoken (or gpt2.tiktoken for .en).
"""
import argparse
import pathlib

import numpy
import torch

SIZES = {"tiny": (384, 6, 4, 4), "base": (512, 8, 6, 6), "small": (768, 12, 12, 12), "medium": (1024, 16, 24, 24),
         "large-v3": (1280, 20, 32, 32), "large-v3-turbo": (1280, 20, 32, 4)}


def sinusoids(length, channels):
    scales = numpy.exp(-numpy.log(10000) / (channels // 2 - 1) * numpy.arange(channels // 2))
    angles = numpy.arange(length)[:, None] * scales[None, :]
    return torch.from_numpy(numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=1))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("size")
    args.add_argument("out", type=pathlib.Path)
    o = args.parse_args()
    english = o.size.endswith(".en")
    d, heads, audio_layers, text_layers = SIZES[o.size.removesuffix(".en")]
    large = o.size.startswith("large")
    mels, vocabulary = (128, 51866) if large else (80, 51864 if english else 51865)
    torch.manual_seed(1)
    state = {}

    def random(name, *shape):
        spread = 1 if len(shape) == 1 else numpy.prod(shape[1:]) ** -0.5
        state[name] = (torch.randn(*shape) * spread * 0.5).half()

    def norm(name):
        state[name + ".weight"] = (1 + 0.1 * torch.randn(d)).half()
        random(name + ".bias", d)

    def attention(name):
        for part in ("query", "key", "value", "out"):
            random(f"{name}.{part}.weight", d, d)
            if part != "key":
                random(f"{name}.{part}.bias", d)

    def block(name, cross):
        attention(name + ".attn")
        norm(name + ".attn_ln")
        if cross:
            attention(name + ".cross_attn")
            norm(name + ".cross_attn_ln")
        for part, (rows, cols) in {"0": (4 * d, d), "2": (d, 4 * d)}.items():
            random(f"{name}.mlp.{part}.weight", rows, cols)
            random(f"{name}.mlp.{part}.bias", rows)
        norm(name + ".mlp_ln")

    random("encoder.conv1.weight", d, mels, 3)
    random("encoder.conv1.bias", d)
    random("encoder.conv2.weight", d, d, 3)
    random("encoder.conv2.bias", d)
    state["encoder.positional_embedding"] = sinusoids(1500, d).half()
    for i in range(audio_layers):
        block(f"encoder.blocks.{i}", False)
    norm("encoder.ln_post")
    random("decoder.positional_embedding", 448, d)
    random("decoder.token_embedding.weight", vocabulary, d)
    for i in range(text_layers):
        block(f"decoder.blocks.{i}", True)
    norm("decoder.ln")
    dims = {"n_mels": mels, "n_audio_ctx": 1500, "n_audio_state": d, "n_audio_head": heads,
            "n_audio_layer": audio_layers, "n_vocab": vocabulary, "n_text_ctx": 448, "n_text_state": d,
            "n_text_head": heads, "n_text_layer": text_layers}
    torch.save({"dims": dims, "model_state_dict": state}, o.out)


if __name__ == "__main__":
    main()
