# SPDX-License-Identifier: Apache-2.0
"""Writes GGUF files of version 3, one tensor in memory at a time."""
import struct

import numpy

FORMATS = {"f32": 0, "f16": 1, "q8_0": 8}


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def scalar(v):
    """(kind, bytes)"""
    if isinstance(v, bool):
        return 7, struct.pack("<B", v)
    if isinstance(v, int):
        return 4, struct.pack("<I", v)
    return (6, struct.pack("<f", v)) if isinstance(v, float) else (8, string(v))


def setting(v):
    if not isinstance(v, list):
        kind, raw = scalar(v)
        return struct.pack("<I", kind) + raw
    if v and isinstance(v[0], int):
        return struct.pack("<IIQ", 9, 5, len(v)) + struct.pack(f"<{len(v)}i", *v)
    return struct.pack("<IIQ", 9, 8, len(v)) + b"".join(string(s) for s in v)


def q8_0(x):
    """Blocks of 32: a scale as a half float and 32 whole numbers."""
    blocks = x.reshape(-1, 32)
    scale = (numpy.abs(blocks).max(axis=1) / 127).astype("<f2")
    inverse = numpy.divide(1, scale, out=numpy.zeros(len(scale), numpy.float32), where=scale != 0)
    out = numpy.empty((len(blocks), 34), numpy.uint8)
    out[:, :2] = scale[:, None].view(numpy.uint8)
    out[:, 2:] = numpy.clip(numpy.rint(blocks * inverse[:, None]), -127, 127).astype(numpy.int8).view(numpy.uint8)
    return out.tobytes()


def encoded(kind, x):
    if kind == "q8_0":
        return q8_0(x)
    return numpy.ascontiguousarray(x, dtype={"f32": "<f4", "f16": "<f2"}[kind]).tobytes()


def write_gguf(path, settings, tensors):
    """`tensors`: (name, function that gives the format's name and the values), called once each."""
    with open(str(path) + ".data", "w+b") as data:
        entries = b""
        for name, make in tensors:
            kind, x = make()
            entries += string(name) + struct.pack(f"<I{x.ndim}Q", x.ndim, *reversed(x.shape))
            entries += struct.pack("<IQ", FORMATS[kind], data.tell())
            data.write(encoded(kind, x))
            data.write(bytes(-data.tell() % 32))
        head = struct.pack("<IIQQ", 0x46554747, 3, len(tensors), len(settings))
        head += b"".join(string(k) + setting(v) for k, v in settings.items()) + entries
        data.seek(0)
        with open(path, "wb") as out:
            out.write(head + bytes(-len(head) % 32))
            while piece := data.read(1 << 24):
                out.write(piece)
    (path.parent / (path.name + ".data")).unlink()
