# SPDX-License-Identifier: Apache-2.0
"""Silero VAD with weights that a formula gives, and samples for it: the same numbers, bit by bit, as
tests/support/silero_case.hpp makes, so that nothing but results has to be kept. Every number is one that f16 holds."""
import struct

import numpy

MASK = (1 << 64) - 1


def numbers(seed, count):
    """Whole numbers from -1024 to 1023: the top 11 bits of splitmix64."""
    out, state = numpy.empty(count, numpy.int64), seed
    for i in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out[i] = (z ^ (z >> 31)) >> 53
    return out - 1024


def shapes(rate):
    """The archive's tensors in the order of whisper.cpp's files: (name, shape, largest value)."""
    frame = rate * 16 // 1000
    widths = [frame // 2 + 1, 128, 64, 64, 128]
    out = []
    for i in range(4):
        out.append((f"encoder.{i}.reparam_conv.weight", [widths[i + 1], widths[i], 3], 2.0 ** -3))
        out.append((f"encoder.{i}.reparam_conv.bias", [widths[i + 1]], 2.0 ** -3))
    for name in ("weight_ih", "weight_hh"):
        out.append((f"decoder.rnn.{name}", [512, 128], 2.0 ** -2))
    for name in ("bias_ih", "bias_hh"):
        out.append((f"decoder.rnn.{name}", [512], 2.0 ** -2))
    out.append(("decoder.decoder.2.weight", [1, 128, 1], 1.0))
    out.append(("decoder.decoder.2.bias", [1], 2.0 ** -2))
    out.append(("stft.forward_basis_buffer", [2 * widths[0], 1, frame], 2.0 ** -2))
    return out


def tensors(rate, seed):
    """{name: f32 array}"""
    return {name: (numbers(seed + 1000 * i, int(numpy.prod(shape))) / 1024 * most).astype(numpy.float32).reshape(shape)
            for i, (name, shape, most) in enumerate(shapes(rate))}


def samples(count, seed):
    """Noise, louder and softer in turn, the first 3000 samples silent."""
    levels = (0, 64, 8, 32, 1, 16, 48, 4)
    noise = numbers(seed, count)
    return numpy.array([noise[i] * levels[i // 3000 % 8] / 65536 for i in range(count)], numpy.float32)


def ggml(values, version=(6, 2, 0)):
    """whisper.cpp's file of the model for 16 kHz."""
    kind = b"silero-16k"
    out = [b"lmgg", struct.pack("<i", len(kind)), kind, struct.pack("<3i", *version), struct.pack("<3i", 512, 64, 4)]
    for i in range(4):
        w = values[f"encoder.{i}.reparam_conv.weight"].shape
        out.append(struct.pack("<3i", w[1], w[0], w[2]))
    out.append(struct.pack("<4i", 128, 128, 128, 1))
    for name, value in values.items():
        half = name.endswith("2.weight") or "conv.weight" in name or name.startswith("stft")
        shape = list(value.shape) if name.startswith("stft") else [n for n in value.shape if n != 1]
        full = b"_model." + name.encode()
        out.append(struct.pack("<3i", len(shape), len(full), int(half)))
        out.append(struct.pack(f"<{len(shape)}i", *reversed(shape)) + full)
        out.append(value.astype(numpy.float16 if half else numpy.float32).tobytes())
    return b"".join(out)
