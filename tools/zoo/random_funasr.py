#!/usr/bin/env python3
"""Makes a FunASR folder of full size with random weights from a manifest, to measure loading, speed and memory.

Usage: random_funasr.py MANIFEST.tsv CONFIG.yaml OUT_DIR [--seed N]

The manifest holds one tensor a line: name, dtype, shape (512x1x11). Norm weights are near 1, biases near 0, matrices have
the variance 1/inputs, so that activations keep their size through any number of layers. The SentencePiece model (or, for
Paraformer, tokens.json) has as many made-up pieces as the output layer has rows; the CMVN statistics are plausible for
log-mel features.
"""
import argparse
import json
import math
import pathlib
import shutil
import struct

import torch


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, kind, payload):
    return varint(number << 3 | kind) + (varint(len(payload)) + payload if kind == 2 else payload)


def sentencepiece_model(size, last=()):
    """Pieces of letters behind the tags of SenseVoice; `last` are the names of the last ones."""
    tags = "zh en yue ja ko nospeech HAPPY SAD ANGRY NEUTRAL EMO_UNKNOWN BGM Speech withitn woitn".split()
    pieces = [("<unk>", 2), ("<s>", 3), ("</s>", 3)] + [(f"<|{t}|>", 4) for t in tags]
    letters = "abcdefghijklmnopqrstuvwxyz"
    for i in range(len(pieces), size):
        text, n = "", i
        while n:
            text += letters[n % 26]
            n //= 26
        pieces.append((("\u2581" if i % 2 else "") + text, 1))
    if last:
        pieces[size - len(last):] = [(text, 4) for text in last]
    model = b""
    for i, (text, kind) in enumerate(pieces[:size]):
        body = field(1, 2, text.encode()) + field(2, 5, struct.pack("<f", -float(i)))
        model += field(1, 2, body + (b"" if kind == 1 else field(3, 0, varint(kind))))
    return model


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("manifest", type=pathlib.Path)
    args.add_argument("config", type=pathlib.Path)
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("--seed", type=int, default=1)
    o = args.parse_args()

    torch.manual_seed(o.seed)
    state = {}
    for line in o.manifest.read_text().splitlines():
        name, _, shape = line.split("\t")
        dims = [int(n) for n in shape.split("x")]
        if "norm" in name and name.endswith("weight"):
            state[name] = 1 + 0.1 * torch.randn(dims)
        elif name.endswith("bias"):
            state[name] = 0.1 * torch.randn(dims)
        else:
            state[name] = torch.randn(dims) / math.sqrt(math.prod(dims[1:]))
    o.out.mkdir(parents=True, exist_ok=True)
    torch.save(state, o.out / "model.pt")
    shutil.copy(o.config, o.out / "config.yaml")
    if "ctc.ctc_lo.weight" in state:
        tokenizer = {"bpemodel": "random.bpe.model"}
        (o.out / "random.bpe.model").write_bytes(sentencepiece_model(state["ctc.ctc_lo.weight"].shape[0]))
    else:
        tokenizer = {"token_list": "tokens.json"}
        count = state["decoder.output_layer.weight"].shape[0]
        tokens = ["<blank>", "<s>", "</s>"] + [chr(0x4E00 + i) for i in range(count - 4)] + ["<unk>"]
        (o.out / "tokens.json").write_text(json.dumps(tokens, ensure_ascii=False))
    (o.out / "configuration.json").write_text(json.dumps({"file_path_metas": {
        "init_param": "model.pt", "config": "config.yaml", "tokenizer_conf": tokenizer,
        "frontend_conf": {"cmvn_file": "am.mvn"}}}, indent=1))
    width = state["encoder.encoders0.0.norm1.weight"].shape[0]

    def block(tag, value):
        return f"<{tag}> {width} {width}\n<LearnRateCoef> 0 [ " + " ".join([str(value)] * width) + " ]\n"

    (o.out / "am.mvn").write_text("<Nnet>\n<Splice> %d %d\n[ 0 ]\n" % (width, width) + block("AddShift", -14.0) +
                                  block("Rescale", 0.2) + "</Nnet>\n")
    print(f"{o.out}: {sum(t.numel() for t in state.values()):,} parameters")


if __name__ == "__main__":
    main()
