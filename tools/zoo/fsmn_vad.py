# SPDX-License-Identifier: Apache-2.0
"""A reference FSMN-VAD network in PyTorch with the tensor names of a FunASR checkpoint."""
import numpy as np
import torch.nn.functional as F
from torch import nn

STACKED = 13  # frames in a row of features, one row per frame; 5 in the published model
BINS = 80


def stack(frames, stacked=STACKED):
    """Rows of frames around each one; the first and the last frame are repeated at the ends."""
    index = np.arange(len(frames))[:, None] + np.arange(stacked)[None]
    return surrounded(frames, stacked)[index].reshape(len(frames), -1)


def surrounded(frames, stacked=STACKED):
    """Frames with the first and the last one repeated as `stack` does."""
    before = (stacked - 1) // 2
    return np.pad(frames, ((before, stacked - 1 - before), (0, 0)), "edge")


class Wrapped(nn.Module):
    """FunASR has every product one name further down."""

    def __init__(self, *sizes, bias=True):
        super().__init__()
        self.linear = nn.Linear(*sizes, bias=bias)

    def forward(self, x):
        return self.linear(x)


class Memory(nn.Module):
    def __init__(self, size, taps):
        super().__init__()
        self.conv_left = nn.Conv2d(size, size, (taps, 1), groups=size, bias=False)

    def forward(self, x):
        rows = F.pad(x.transpose(1, 2), (self.conv_left.kernel_size[0] - 1, 0))
        return F.conv1d(rows, self.conv_left.weight.squeeze(3), groups=x.shape[2]).transpose(1, 2)


class Layer(nn.Module):
    def __init__(self, size, projected, taps):
        super().__init__()
        self.linear = Wrapped(size, projected, bias=False)
        self.fsmn_block = Memory(projected, taps)
        self.affine = Wrapped(projected, size)

    def forward(self, x):
        p = self.linear(x)
        return F.relu(self.affine(p + self.fsmn_block(p)))


class Encoder(nn.Module):
    def __init__(self, inputs, affine, size, projected, taps, layers, out_affine, classes):
        super().__init__()
        self.in_linear1, self.in_linear2 = Wrapped(inputs, affine), Wrapped(affine, size)
        self.fsmn = nn.ModuleList([Layer(size, projected, taps) for _ in range(layers)])
        self.out_linear1, self.out_linear2 = Wrapped(size, out_affine), Wrapped(out_affine, classes)

    def forward(self, x):
        """(batch, frames, inputs) -> logits; class 0 is silence. Or (batch, surrounded frames, bins): rows need not be
        made for the first product, which is most of a step's memory."""
        if x.shape[2] == BINS:
            first = self.in_linear1.linear
            x = F.conv1d(x.transpose(1, 2), first.weight.unflatten(1, (-1, BINS)).transpose(1, 2),
                         first.bias).transpose(1, 2)
        else:
            x = self.in_linear1(x)
        x = F.relu(self.in_linear2(x))
        for layer in self.fsmn:
            x = layer(x)
        return self.out_linear2(self.out_linear1(x))


class FsmnVad(nn.Module):
    def __init__(self, inputs=BINS * STACKED, affine=64, size=64, projected=64, taps=20, layers=3, out_affine=64,
                 classes=2):
        super().__init__()
        self.encoder = Encoder(inputs, affine, size, projected, taps, layers, out_affine, classes)

    def forward(self, x):
        return self.encoder(x)


def from_checkpoint(state):
    """Builds the model that fits a state dict."""
    shape = lambda name: state[f"encoder.{name}"].shape
    layers = len({k.split(".")[2] for k in state if k.startswith("encoder.fsmn.")})
    model = FsmnVad(shape("in_linear1.linear.weight")[1], shape("in_linear1.linear.weight")[0],
                    shape("in_linear2.linear.weight")[0], shape("fsmn.0.linear.linear.weight")[0],
                    shape("fsmn.0.fsmn_block.conv_left.weight")[2], layers, *shape("out_linear2.linear.weight")[::-1])
    model.load_state_dict(state, strict=True)
    return model.eval()
