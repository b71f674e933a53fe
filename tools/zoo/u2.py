# SPDX-License-Identifier: Apache-2.0
"""A reference U2++ model in PyTorch with the tensor names of a WeNet checkpoint: conformer encoder with causal
convolutions, trained with chunk masks; CTC; two decoders, one of them reads backwards."""
import math

import torch
import torch.nn.functional as F
from torch import nn

RATE = 4  # frames of 10 ms in an encoder row
RIGHT_CONTEXT = 6


def positions(rows, depth):
    """Sines and cosines side by side, for positions from 0."""
    rates = torch.exp(torch.arange(0, depth, 2, dtype=torch.float32) * -(math.log(10000.0) / depth))
    angle = torch.arange(rows, dtype=torch.float32)[:, None] * rates
    return torch.stack([angle.sin(), angle.cos()], 2).reshape(rows, depth)


def encoder_rows(frames):
    return (frames - RIGHT_CONTEXT - 1) // RATE + 1


def chunk_mask(rows, chunk, left=-1):
    """What each row may hear: (rows, rows), true where it may. chunk 0: everything; left: chunks before its own."""
    at = torch.arange(rows) // max(chunk, 1)
    heard = at[None] <= at[:, None]
    if left >= 0:
        heard &= at[None] >= at[:, None] - left
    return torch.ones(rows, rows, dtype=torch.bool) if chunk == 0 else heard


class GlobalCmvn(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.register_buffer("mean", torch.zeros(bins))
        self.register_buffer("istd", torch.ones(bins))

    def forward(self, x):
        return (x - self.mean) * self.istd


class Subsampling(nn.Module):
    def __init__(self, bins, size):
        super().__init__()
        self.size = size
        self.conv = nn.Sequential(nn.Conv2d(1, size, 3, 2), nn.ReLU(), nn.Conv2d(size, size, 3, 2), nn.ReLU())
        self.conv.to(memory_format=torch.channels_last)  # three times as quick on a CPU
        self.out = nn.Sequential(nn.Linear(size * (((bins - 1) // 2 - 1) // 2), size))

    def forward(self, x):
        x = self.conv(x[:, None].contiguous(memory_format=torch.channels_last))
        return self.out(x.transpose(1, 2).flatten(2)) * math.sqrt(self.size)


class Attention(nn.Module):
    def __init__(self, size, heads, position=False):
        super().__init__()
        self.heads = heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(size, size) for _ in range(4))
        if position:
            self.linear_pos = nn.Linear(size, size, bias=False)
            self.pos_bias_u, self.pos_bias_v = (nn.Parameter(torch.empty(heads, size // heads)) for _ in range(2))
            nn.init.xavier_uniform_(self.pos_bias_u)
            nn.init.xavier_uniform_(self.pos_bias_v)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, heard, bias, table=None):
        """table: a row for the position of each row heard, wherever the listener is."""
        q, k, v = self.split(self.linear_q(x)), self.split(self.linear_k(heard)), self.split(self.linear_v(heard))
        scale = q.shape[-1] ** -0.5
        if table is None:
            scores = (q * scale) @ k.transpose(-1, -2)
        else:
            p = self.split(self.linear_pos(table)[None])
            scores = ((q + self.pos_bias_u[:, None]) * scale) @ k.transpose(-1, -2)
            scores = scores + ((q + self.pos_bias_v[:, None]) * scale) @ p.transpose(-1, -2)
        mixed = (scores + bias).softmax(-1) @ v
        return self.linear_out(mixed.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self, size, units, activation):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(size, units), nn.Linear(units, size)
        self.activation = activation

    def forward(self, x):
        return self.w_2(self.activation(self.w_1(x)))


class Convolution(nn.Module):
    """Zeros are put in front before the gate, so the depthwise convolution sees the gate's bias there."""

    def __init__(self, size, kernel):
        super().__init__()
        self.kernel = kernel
        self.pointwise_conv1 = nn.Conv1d(size, 2 * size, 1)
        self.depthwise_conv = nn.Conv1d(size, size, kernel, groups=size)
        self.norm = nn.LayerNorm(size)
        self.pointwise_conv2 = nn.Conv1d(size, size, 1)

    def forward(self, x):
        x = F.pad(x, (0, 0, self.kernel - 1, 0))
        x = F.glu(F.linear(x, self.pointwise_conv1.weight.squeeze(2), self.pointwise_conv1.bias), 2)
        depthwise = self.depthwise_conv  # as a two-dimensional convolution, which is several times quicker on a CPU
        x = F.conv2d(x.transpose(1, 2).unsqueeze(2), depthwise.weight.unsqueeze(2), depthwise.bias, groups=x.shape[2])
        x = F.silu(self.norm(x.squeeze(2).transpose(1, 2)))
        return F.linear(x, self.pointwise_conv2.weight.squeeze(2), self.pointwise_conv2.bias)


class Block(nn.Module):
    def __init__(self, size, heads, units, kernel):
        super().__init__()
        self.self_attn = Attention(size, heads, position=True)
        self.feed_forward = FeedForward(size, units, F.silu)
        self.feed_forward_macaron = FeedForward(size, units, F.silu)
        self.conv_module = Convolution(size, kernel)
        for name in ("ff", "mha", "ff_macaron", "conv", "final"):
            setattr(self, f"norm_{name}", nn.LayerNorm(size))

    def forward(self, x, bias, table):
        x = x + 0.5 * self.feed_forward_macaron(self.norm_ff_macaron(x))
        y = self.norm_mha(x)
        x = x + self.self_attn(y, y, bias, table)
        x = x + self.conv_module(self.norm_conv(x))
        return self.norm_final(x + 0.5 * self.feed_forward(self.norm_ff(x)))


class Encoder(nn.Module):
    def __init__(self, bins, size, heads, units, blocks, kernel):
        super().__init__()
        self.global_cmvn = GlobalCmvn(bins)
        self.embed = Subsampling(bins, size)
        self.encoders = nn.ModuleList([Block(size, heads, units, kernel) for _ in range(blocks)])
        self.after_norm = nn.LayerNorm(size)

    def forward(self, x, lengths, chunk=0, left=-1, trace=None):
        """x: (batch, frames, bins) fbank; lengths: frames of each. Returns (rows, number of rows of each)."""
        x = self.embed(self.global_cmvn(x))
        rows = x.shape[1]
        lengths = encoder_rows(lengths)
        heard = chunk_mask(rows, chunk, left)[None] & (torch.arange(rows)[None] < lengths[:, None])[:, None]
        bias = torch.zeros(heard.shape).masked_fill(~heard, -1e9)[:, None]
        table = positions(rows, x.shape[2])
        if trace is not None:
            trace.update(subsampled=x, pos_emb=table[None])
        for i, block in enumerate(self.encoders):
            x = block(x, bias, table)
            if trace is not None:
                trace[f"layer{i}_out"] = x
        return self.after_norm(x), lengths


class DecoderLayer(nn.Module):
    def __init__(self, size, heads, units):
        super().__init__()
        self.self_attn, self.src_attn = Attention(size, heads), Attention(size, heads)
        self.feed_forward = FeedForward(size, units, F.relu)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(size) for _ in range(3))

    def forward(self, x, bias, heard, heard_bias):
        y = self.norm1(x)
        x = x + self.self_attn(y, y, bias)
        x = x + self.src_attn(self.norm2(x), heard, heard_bias)
        return x + self.feed_forward(self.norm3(x))


class OneWayDecoder(nn.Module):
    def __init__(self, vocab, size, heads, units, blocks):
        super().__init__()
        self.embed = nn.Sequential(nn.Embedding(vocab, size))
        nn.init.normal_(self.embed[0].weight, std=size ** -0.5)
        self.decoders = nn.ModuleList([DecoderLayer(size, heads, units) for _ in range(blocks)])
        self.after_norm = nn.LayerNorm(size)
        self.output_layer = nn.Linear(size, vocab)

    def forward(self, ids, heard, lengths):
        size = heard.shape[2]
        x = self.embed(ids) * math.sqrt(size) + positions(ids.shape[1], size)
        later = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        deaf = torch.arange(heard.shape[1])[None] >= lengths[:, None]
        heard_bias = torch.zeros(deaf.shape).masked_fill(deaf, -1e9)[:, None, None]
        for layer in self.decoders:
            x = layer(x, torch.zeros(later.shape).masked_fill(later, -1e9), heard, heard_bias)
        return self.output_layer(self.after_norm(x))


class Decoder(nn.Module):
    def __init__(self, *sizes, blocks, reverse_blocks):
        super().__init__()
        self.left_decoder = OneWayDecoder(*sizes, blocks)
        self.right_decoder = OneWayDecoder(*sizes, reverse_blocks)


class Ctc(nn.Module):
    def __init__(self, size, vocab):
        super().__init__()
        self.ctc_lo = nn.Linear(size, vocab)


class U2(nn.Module):
    def __init__(self, vocab, bins=80, size=96, heads=4, units=384, blocks=5, kernel=8, decoder_heads=4,
                 decoder_units=384, decoder_blocks=1, reverse_blocks=1):
        super().__init__()
        self.encoder = Encoder(bins, size, heads, units, blocks, kernel)
        self.decoder = Decoder(vocab, size, decoder_heads, decoder_units, blocks=decoder_blocks,
                               reverse_blocks=reverse_blocks)
        self.ctc = Ctc(size, vocab)


def from_checkpoint(state, heads=4, decoder_heads=4):
    """Builds the model that fits a state dict."""
    count = lambda stem: len({k[len(stem) + 1 :].split(".")[0] for k in state if k.startswith(stem + ".")})
    rows = lambda name: state[name].shape[0]
    model = U2(rows("ctc.ctc_lo.weight"), rows("encoder.global_cmvn.mean"), rows("encoder.after_norm.weight"), heads,
               rows("encoder.encoders.0.feed_forward.w_1.weight"), count("encoder.encoders"),
               state["encoder.encoders.0.conv_module.depthwise_conv.weight"].shape[2], decoder_heads,
               rows("decoder.left_decoder.decoders.0.feed_forward.w_1.weight"), count("decoder.left_decoder.decoders"),
               count("decoder.right_decoder.decoders"))
    model.load_state_dict(state, strict=True)
    return model.eval()
