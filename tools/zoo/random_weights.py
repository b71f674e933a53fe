# SPDX-License-Identifier: Apache-2.0
"""Lists of a checkpoint's tensors (shared/manifests/*.tsv), and random values for them, one tensor at a time.

A line is a name, a format and a shape (512x1x11), behind comments and a header; those of Whisper have openai's and
Hugging Face's name and format. Weights of norms are near 1, biases near 0, matrices have the variance 1/inputs, so that
activations keep their size through any number of layers. Mel filters, windows, sines and means that a checkpoint stores
are plausible ones.
"""
import math
from typing import NamedTuple

import numpy
import torch

FORMATS = {"float32": torch.float32, "F32": torch.float32, "bfloat16": torch.bfloat16, "BF16": torch.bfloat16,
           "float16": torch.float16, "F16": torch.float16, "int64": torch.int64}


class Entry(NamedTuple):
    name: str
    format: torch.dtype
    shape: list
    published: str  # Hugging Face's name, where the list has two

    def count(self):
        return math.prod(self.shape)

    def bytes(self):
        return self.count() * torch.empty(0, dtype=self.format).element_size()


def extents(text):
    return [] if text == "scalar" else [int(n) for n in text.split("x")]


def read_list(path, huggingface=False):
    """The tensors of a list in its order; of Whisper's, those of one of the two layouts."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    if rows[0][0] == "openai_name":
        at = 5 if huggingface else 4
        return [Entry(r[0], FORMATS[r[at]], extents(r[2]), r[1]) for r in rows[1:]]
    return [Entry(r[0], FORMATS[r[1]], extents(r[2]), r[0]) for r in rows if r[0] != "name"]


def mel_filters(bands, bins, rate):
    """Slaney's scale and areas, as librosa makes them."""
    def hz(mel):
        return numpy.where(mel < 15, mel * 200 / 3, 1000 * numpy.exp((mel - 15) * math.log(6.4) / 27))

    top = 15 + 27 * math.log(rate / 2 / 1000) / math.log(6.4)
    edges = hz(numpy.linspace(0, top, bands + 2))
    at = numpy.linspace(0, rate / 2, bins)
    up = (at[None, :] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - at[None, :]) / (edges[2:] - edges[1:-1])[:, None]
    area = (2 / (edges[2:] - edges[:-2]))[:, None]
    return numpy.maximum(0, numpy.minimum(up, down)) * area


def sinusoids(length, channels):
    scales = numpy.exp(-numpy.log(10000) / (channels // 2 - 1) * numpy.arange(channels // 2))
    angles = numpy.arange(length)[:, None] * scales[None, :]
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=1)


def value(entry, chance):
    """Values of one tensor in its own format, from a numpy.random.Generator."""
    name, shape = entry.name, entry.shape
    if entry.format == torch.int64:
        return torch.ones(shape, dtype=torch.int64)
    if name.endswith("featurizer.window"):
        return torch.hann_window(shape[0], periodic=False)
    if name.endswith("featurizer.fb"):
        return torch.tensor(mel_filters(shape[1], shape[2], 16000)[None], dtype=entry.format)
    if name == "encoder.positional_embedding":
        return torch.tensor(sinusoids(*shape), dtype=entry.format)
    x = chance.standard_normal(shape, dtype=numpy.float32)
    if name.endswith("running_var"):
        x = numpy.square(x) + 0.5
    elif name.endswith("global_cmvn.mean"):
        x = 12 + x
    elif name.endswith("global_cmvn.istd"):
        x = 0.25 + 0.01 * x
    elif len(shape) == 1:
        x = (1 if name.endswith("weight") else 0) + 0.1 * x
    else:
        x *= 0.1 if "pos_bias" in name else 1 / math.sqrt(math.prod(shape[1:]))
    return torch.from_numpy(x).to(entry.format)
