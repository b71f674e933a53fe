# SPDX-License-Identifier: Apache-2.0
"""Reads packaged models (GGUF with f32, f16 and q8_0 tensors), so that a training can go on from one."""
import math
import re
import struct
from pathlib import Path

import numpy as np
import torch

FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
BLOCK = 32  # numbers of q8_0 that share a scale
TYPES = {0: np.dtype("<f4"), 1: np.dtype("<f2"), 8: np.dtype([("scale", "<f2"), ("value", "i1", BLOCK)])}


def entries(path):
    """(raw, keys, {name: (stored numbers, shape, first byte)}); raises ValueError where the file has other types of
    tensors or is none."""
    raw, at = Path(path).read_bytes(), 4

    def number(form):
        nonlocal at
        value, = struct.unpack_from(f"<{form}", raw, at)
        at += struct.calcsize(f"<{form}")
        return value

    def text():
        nonlocal at
        size = number("Q")
        at += size
        return raw[at - size : at].decode()

    def value(kind):
        if kind == STRING:
            return text()
        if kind == ARRAY:
            element, count = number("I"), number("Q")
            return [value(element) for _ in range(count)]
        return number(FORMATS[kind])

    if raw[:4] != b"GGUF" or number("I") not in (2, 3):
        raise ValueError(f"{path}: no GGUF file of version 2 or 3")
    tensors, count = number("Q"), number("Q")
    keys = {text(): value(number("I")) for _ in range(count)}
    found = [(text(), [number("Q") for _ in range(number("I"))][::-1], number("I"), number("Q"))
             for _ in range(tensors)]
    alignment = keys.get("general.alignment", 32)
    first, out = -(-at // alignment) * alignment, {}
    for name, shape, kind, offset in found:
        if kind not in TYPES:
            raise ValueError(f"{path}: {name} is of type {kind}")
        stored = TYPES[kind]
        size = int(np.prod(shape)) // (BLOCK if stored.names else 1)
        out[name] = np.frombuffer(raw, stored, size, first + offset), shape, first + offset
    return raw, keys, out


def read(path):
    """(keys, tensors as torch.float32); raises as `entries` does."""
    _, keys, stored = entries(path)
    out = {}
    for name, (data, shape, _) in stored.items():
        if data.dtype.names:
            data = data["scale"].astype(np.float32)[:, None] * data["value"]
        out[name] = torch.from_numpy(data.astype(np.float32).reshape(shape))
    return keys, out


def unpacked(tensor, like):
    """A packaged tensor with the shape of `like`, in which a checkpoint has it: kernels of convolutions, whose order
    differs. Those of other sizes are left as they are."""
    if tensor.shape == like.shape or tensor.numel() != like.numel():
        return tensor
    if like.dim() < 3:
        return tensor.reshape(like.shape)
    outputs, inputs, *taps = like.shape
    if inputs == 1 and tensor.shape == (math.prod(taps), outputs):
        return tensor.T.reshape(like.shape).contiguous()
    return tensor.view(outputs, *taps, inputs).movedim(-1, 1).contiguous()


def as_in_checkpoints(tensors):
    """Tensors with NeMo's names of a norm and of a transformer's layers, and with the columns behind convolutions of
    two dimensions numbered (channel, band), which packages have as (band, channel)."""
    def name_of(name):
        name = name.replace(".conv.norm.", ".conv.batch_norm.")
        return re.sub(r"^(transformer_encoder)\.(\d)", r"\1.layers.\2", name)

    out = {name_of(name): tensor for name, tensor in tensors.items()}
    for stem, last in (("encoder.pre_encode", "out"), ("encoder.embed", "out.0")):
        if f"{stem}.{last}.weight" in out:
            columns = out[f"{stem}.{last}.weight"].unflatten(1, (-1, len(out[f"{stem}.conv.0.weight"])))
            out[f"{stem}.{last}.weight"] = columns.transpose(1, 2).flatten(1)
    return out


def weights(path, own, prefix=""):
    """The tensors of a packaged model that `own`, a state dict, knows by the same names behind `prefix`."""
    return {f"{prefix}{name}": unpacked(tensor, own[f"{prefix}{name}"])
            for name, tensor in as_in_checkpoints(read(path)[1]).items() if f"{prefix}{name}" in own}


def statistics(path, tokens=None):
    """(shift, scale) that a packaged model's features get. Raises ValueError where its tokens are others."""
    keys, tensors = read(path)
    if tokens is not None and keys["tokenizer.ggml.tokens"] != tokens:
        raise ValueError(f"{path} has other tokens")
    return tensors["cmvn.shift"].numpy(), tensors["cmvn.scale"].numpy()


def size(state):
    """How large a state dict is and will be when it is packaged."""
    whole = sum(v.numel() for v in state.values())
    quantised = sum(v.numel() for v in state.values() if v.dim() == 2 and v.shape[1] % BLOCK == 0)
    return f"{whole} parameters; {quantised * 34 // 32 + 4 * (whole - quantised)} bytes as q8_0 and f32"
