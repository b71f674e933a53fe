# SPDX-License-Identifier: Apache-2.0
"""Reads and writes .safetensors files: the length of a JSON header, the header, tensors."""
import json
import math
from pathlib import Path

import torch

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def read(path):
    """{name: float tensor}"""
    data = bytearray(Path(path).read_bytes())
    begin = 8 + int.from_bytes(data[:8], "little")
    out = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            count = math.prod(entry["shape"])
            kind = TYPES[entry["dtype"]]
            out[name] = torch.frombuffer(data, dtype=kind, count=count, offset=begin + entry["data_offsets"][0]).view(
                entry["shape"]).float()
    return out


def write(path, tensors):
    """Tensors as F32."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + 4 * tensor.numel()]}
        at += 4 * tensor.numel()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            f.write(tensor.detach().float().contiguous().numpy().tobytes())


def write_entries(path, entries, value):
    """(name, entry of random_weights) each in its own format, one tensor in memory at a time: value(entry) makes it."""
    formats = {kind: name for name, kind in TYPES.items()}
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, e in entries:
        header[name] = {"dtype": formats[e.format], "shape": e.shape, "data_offsets": [at, at + e.bytes()]}
        at += e.bytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for _, e in entries:
            tensor = value(e)
            f.write((tensor.view(torch.int16) if e.format == torch.bfloat16 else tensor).numpy().tobytes())
