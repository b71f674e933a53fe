# SPDX-License-Identifier: Apache-2.0
"""A reference SenseVoice model in PyTorch with the tensor names of a FunASR checkpoint."""
import math

import torch
import torch.nn.functional as F
from torch import nn

# Rows of embed.weight.
LANGUAGE_AUTO, LANGUAGE_EN = 0, 4
EVENT, EMOTION = 1, 2
WITH_ITN, WITHOUT_ITN = 14, 15
QUERIES = 4


def positions(frames, depth, first=0):
    """Sinusoids for `frames` positions behind `first`: sines in the first half of the depth, cosines in the second."""
    step = math.log(10000.0) / (depth / 2 - 1)
    rates = torch.exp(-step * torch.arange(depth // 2, dtype=torch.float32))
    angle = torch.arange(first + 1, first + frames + 1, dtype=torch.float32)[:, None] * rates[None]
    return torch.cat([angle.sin(), angle.cos()], 1)


class Attention(nn.Module):
    """Self-attention plus a depthwise-convolution memory over its values."""

    def __init__(self, inner, size, heads, kernel):
        super().__init__()
        self.heads = heads
        self.kernel = kernel
        self.linear_out = nn.Linear(size, size)
        self.linear_q_k_v = nn.Linear(inner, size * 3)
        self.fsmn_block = nn.Conv1d(size, size, kernel, groups=size, bias=False)

    def memory(self, v, keep):
        v = v * keep
        left = (self.kernel - 1) // 2
        padded = F.pad(v.transpose(1, 2).unsqueeze(2), (left, self.kernel - 1 - left))
        # The same sums as a one-dimensional convolution, but several times quicker on a CPU.
        out = F.conv2d(padded, self.fsmn_block.weight.unsqueeze(2), groups=v.shape[2])
        return out.squeeze(2).transpose(1, 2) + v

    def forward(self, x, keep, bias):
        batch, frames, _ = x.shape
        q, k, v = self.linear_q_k_v(x).chunk(3, -1)
        memory = self.memory(v, keep)

        def split(t):
            return t.view(batch, frames, self.heads, -1).transpose(1, 2)

        q, k, v = split(q), split(k), split(v)
        scores = (q * (q.shape[-1] ** -0.5)) @ k.transpose(-1, -2) + bias
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, frames, -1)
        return self.linear_out(mixed) + memory


class FeedForward(nn.Module):
    def __init__(self, size, units):
        super().__init__()
        self.w_1 = nn.Linear(size, units)
        self.w_2 = nn.Linear(units, size)

    def forward(self, x):
        return self.w_2(F.relu(self.w_1(x)))


class Layer(nn.Module):
    def __init__(self, inner, size, heads, units, kernel, dropout=0.0):
        super().__init__()
        self.residual = inner == size
        self.dropout = dropout
        self.self_attn = Attention(inner, size, heads, kernel)
        self.feed_forward = FeedForward(size, units)
        self.norm1 = nn.LayerNorm(inner, eps=1e-5)
        self.norm2 = nn.LayerNorm(size, eps=1e-5)

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training) if self.dropout else x

    def forward(self, x, keep, bias):
        y = self.drop(self.self_attn(self.norm1(x), keep, bias))
        x = x + y if self.residual else y
        return x + self.drop(self.feed_forward(self.norm2(x)))


class Encoder(nn.Module):
    def __init__(self, inner, size, heads, units, blocks, tp_blocks, kernel, dropout=0.0):
        super().__init__()
        self.size = size
        args = (size, heads, units, kernel, dropout)
        self.encoders0 = nn.ModuleList([Layer(inner, *args)])
        self.encoders = nn.ModuleList([Layer(size, *args) for _ in range(blocks - 1)])
        self.tp_encoders = nn.ModuleList([Layer(size, *args) for _ in range(tp_blocks)])
        self.after_norm = nn.LayerNorm(size, eps=1e-5)
        self.tp_norm = nn.LayerNorm(size, eps=1e-5) if tp_blocks else None

    def forward(self, x, lengths, trace=None):
        frames = x.shape[1]
        x = x * math.sqrt(self.size) + positions(frames, x.shape[2])
        valid = torch.arange(frames)[None] < lengths[:, None]
        keep = valid[:, :, None].to(x.dtype)
        bias = torch.zeros(len(x), 1, 1, frames).masked_fill(~valid[:, None, None], -1e9)

        def note(name):
            if trace is not None:
                trace[name] = x

        note("posenc")
        for i, layer in enumerate([*self.encoders0, *self.encoders]):
            x = layer(x, keep, bias)
            note("enc0" if i == 0 else f"encoders_{i - 1}")
        x = self.after_norm(x)
        note("after_norm")
        for i, layer in enumerate(self.tp_encoders):
            x = layer(x, keep, bias)
            note(f"tp_encoders_{i}")
        if self.tp_norm is not None:
            x = self.tp_norm(x)
            note("tp_norm")
        return x


class Ctc(nn.Module):
    def __init__(self, size, vocab):
        super().__init__()
        self.ctc_lo = nn.Linear(size, vocab)


class SenseVoice(nn.Module):
    def __init__(self, vocab, size=128, heads=4, units=512, blocks=5, tp_blocks=1, kernel=11,
                 inner=560, dropout=0.0):
        super().__init__()
        self.encoder = Encoder(inner, size, heads, units, blocks, tp_blocks, kernel, dropout)
        self.ctc = Ctc(size, vocab)
        self.embed = nn.Embedding(16, inner)

    def forward(self, features, lengths, queries, trace=None):
        """features: (batch, frames, 560) normalised; queries: (batch, 4) rows of embed.
        Returns logits of 4 + frames rows."""
        x = torch.cat([self.embed(queries), features], 1)
        return self.ctc.ctc_lo(self.encoder(x, lengths + QUERIES, trace))


def queries(language=LANGUAGE_AUTO, itn=WITHOUT_ITN):
    return [language, EVENT, EMOTION, itn]


def from_checkpoint(state, heads=4):
    """Builds the model that fits a state dict."""
    size = state["encoder.after_norm.weight"].shape[0]
    count = lambda stem: len({k.split(".")[2] for k in state if k.startswith(f"encoder.{stem}.")})
    model = SenseVoice(
        state["ctc.ctc_lo.weight"].shape[0], size, heads,
        state["encoder.encoders0.0.feed_forward.w_1.weight"].shape[0],
        1 + count("encoders"), count("tp_encoders"),
        state["encoder.encoders0.0.self_attn.fsmn_block.weight"].shape[2],
        state["embed.weight"].shape[1])
    model.load_state_dict(state, strict=True)
    return model.eval()
