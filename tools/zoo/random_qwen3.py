#!/usr/bin/env python3
"""Makes a Hugging Face folder of Qwen3-ASR of full size with random weights from a manifest, to measure loading, speed
and memory.

Usage: random_qwen3.py MANIFEST.tsv FOLDER OUT [--seed N] [--shard-bytes N]

The manifest holds one tensor a line: name, dtype, shape (1024x7680). FOLDER is a checkpoint of the same kind (a small
one will do): its tokenizer and its settings are taken, the sizes in config.json become the manifest's. Norm weights are
near 1, biases near 0, matrices have the variance 1/inputs; lm_head is the embedding. Weights are written as BF16, in
files of at most N bytes.
"""
import argparse
import json
import math
import pathlib
import re
import shutil

import torch


def value(name, dims):
    if "norm" in name and name.endswith("weight") or name.endswith("ln_post.weight"):
        return 1 + 0.1 * torch.randn(dims)
    if len(dims) == 1:
        return 0.1 * torch.randn(dims)
    return torch.randn(dims) / math.sqrt(math.prod(dims[1:]))


def sizes(config, shapes):
    """Puts the manifest's sizes into config.json; heads of the audio tower are 64 wide."""
    audio, text = config["thinker_config"]["audio_config"], config["thinker_config"]["text_config"]

    def layers(prefix):
        return 1 + max(int(m[1]) for m in (re.match(re.escape(prefix) + r"layers\.(\d+)\.", n) for n in shapes) if m)

    tower, model = "thinker.audio_tower.", "thinker.model."
    d = shapes[tower + "ln_post.weight"][0]
    audio.update(d_model=d, encoder_attention_heads=d // 64, encoder_layers=layers(tower), num_hidden_layers=layers(tower),
                 encoder_ffn_dim=shapes[tower + "layers.0.fc1.weight"][0],
                 downsample_hidden_size=shapes[tower + "conv2d1.weight"][0],
                 output_dim=shapes[tower + "proj2.weight"][0])
    at = model + "layers.0."
    head = shapes[at + "self_attn.q_norm.weight"][0]
    text.update(hidden_size=shapes[model + "norm.weight"][0], num_hidden_layers=layers(model), head_dim=head,
                num_attention_heads=shapes[at + "self_attn.q_proj.weight"][0] // head,
                num_key_value_heads=shapes[at + "self_attn.k_proj.weight"][0] // head,
                intermediate_size=shapes[at + "mlp.gate_proj.weight"][0],
                vocab_size=shapes[model + "embed_tokens.weight"][0])


def write(path, names, shapes):
    header, at = {}, 0
    for name in names:
        size = 2 * math.prod(shapes[name])
        header[name] = {"dtype": "BF16", "shape": shapes[name], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            if name.endswith(("embed_tokens.weight", "lm_head.weight")):
                torch.manual_seed(1)  # both are the same
            f.write(value(name, shapes[name]).to(torch.bfloat16).view(torch.int16).numpy().tobytes())


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("manifest", type=pathlib.Path)
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("--seed", type=int, default=2)
    args.add_argument("--shard-bytes", type=int, default=4_000_000_000)
    o = args.parse_args()

    torch.manual_seed(o.seed)
    shapes = {}
    for line in o.manifest.read_text().splitlines():
        if not line.startswith("#"):
            name, _, shape = line.split("\t")
            shapes[name] = [int(n) for n in shape.split("x")]
    o.out.mkdir(parents=True, exist_ok=True)
    for name in "vocab.json", "merges.txt", "tokenizer_config.json", "generation_config.json":
        shutil.copyfile(o.folder / name, o.out / name)
    config = json.loads((o.folder / "config.json").read_text())
    sizes(config, shapes)
    (o.out / "config.json").write_text(json.dumps(config))
    shards, held = [[]], 0
    for name in shapes:
        size = 2 * math.prod(shapes[name])
        if held + size > o.shard_bytes and shards[-1]:
            shards.append([])
            held = 0
        shards[-1].append(name)
        held += size
    files = ["model.safetensors"]
    if len(shards) > 1:
        files = [f"model-{i + 1:05}-of-{len(shards):05}.safetensors" for i in range(len(shards))]
        where = {name: file for file, names in zip(files, shards) for name in names}
        (o.out / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    for file, names in zip(files, shards):
        write(o.out / file, names, shapes)
    print(f"{o.out}: {sum(math.prod(s) for s in shapes.values()):,} numbers")


if __name__ == "__main__":
    main()
