# SPDX-License-Identifier: Apache-2.0
"""A reference Paraformer network in PyTorch with the tensor names of a FunASR checkpoint."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from sense_voice import Encoder

EPSILON = 1e-12  # of every norm


class InnerNormFeedForward(nn.Module):
    """w_2(norm(relu(w_1(x)))), w_2 without a bias."""

    def __init__(self, size, units):
        super().__init__()
        self.w_1 = nn.Linear(size, units)
        self.norm = nn.LayerNorm(units, eps=EPSILON)
        self.w_2 = nn.Linear(units, size, bias=False)

    def forward(self, x):
        return self.w_2(self.norm(F.relu(self.w_1(x))))


class Memory(nn.Module):
    """A depthwise convolution over the tokens, and the tokens themselves."""

    def __init__(self, size, kernel):
        super().__init__()
        self.kernel = kernel
        self.fsmn_block = nn.Conv1d(size, size, kernel, groups=size, bias=False)

    def forward(self, x, keep):
        x = x * keep
        left = (self.kernel - 1) // 2
        padded = F.pad(x.transpose(1, 2).unsqueeze(2), (left, self.kernel - 1 - left))
        out = F.conv2d(padded, self.fsmn_block.weight.unsqueeze(2), groups=x.shape[2])
        return (out.squeeze(2).transpose(1, 2) + x) * keep


class CrossAttention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.linear_q = nn.Linear(size, size)
        self.linear_k_v = nn.Linear(size, size * 2)
        self.linear_out = nn.Linear(size, size)

    def forward(self, x, heard, bias):
        batch, tokens, size = x.shape

        def split(t):
            return t.view(batch, -1, self.heads, size // self.heads).transpose(1, 2)

        q = split(self.linear_q(x))
        k, v = map(split, self.linear_k_v(heard).chunk(2, -1))
        scores = (q * (q.shape[-1] ** -0.5)) @ k.transpose(-1, -2) + bias
        return self.linear_out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, tokens, size))


class DecoderLayer(nn.Module):
    def __init__(self, size, heads, units, kernel):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(size, eps=EPSILON) for _ in range(3))
        self.feed_forward = InnerNormFeedForward(size, units)
        self.self_attn = Memory(size, kernel)
        self.src_attn = CrossAttention(size, heads)

    def forward(self, x, keep, heard, bias):
        x = x + self.self_attn(self.norm2(self.feed_forward(self.norm1(x))), keep)
        return x + self.src_attn(self.norm3(x), heard, bias)


class LastLayer(nn.Module):
    def __init__(self, size, units):
        super().__init__()
        self.norm1 = nn.LayerNorm(size, eps=EPSILON)
        self.feed_forward = InnerNormFeedForward(size, units)

    def forward(self, x):
        return self.feed_forward(self.norm1(x))


class Decoder(nn.Module):
    def __init__(self, vocab, size, heads, units, blocks, kernel):
        super().__init__()
        self.embed = nn.Sequential(nn.Embedding(vocab, size))  # FunASR's sampler reads it, recognition does not
        self.decoders = nn.ModuleList([DecoderLayer(size, heads, units, kernel) for _ in range(blocks)])
        self.decoders3 = nn.ModuleList([LastLayer(size, units)])
        self.after_norm = nn.LayerNorm(size, eps=EPSILON)
        self.output_layer = nn.Linear(size, vocab)

    def forward(self, x, counts, heard, lengths, trace=None):
        keep = (torch.arange(x.shape[1])[None] < counts[:, None])[:, :, None].to(x.dtype)
        deaf = torch.arange(heard.shape[1])[None] >= lengths[:, None]
        bias = torch.zeros(len(x), 1, 1, heard.shape[1]).masked_fill(deaf[:, None, None], -1e9)

        def note(name):
            if trace is not None:
                trace[name] = x

        for i, layer in enumerate(self.decoders):
            x = layer(x, keep, heard, bias)
            note(f"decoders_{i}_out")
        for layer in self.decoders3:
            x = layer(x)
        note("decoders3_out")
        x = self.after_norm(x)
        note("decoder_after_norm")
        return self.output_layer(x)


class Predictor(nn.Module):
    """The share of a token that each frame holds (continuous integrate-and-fire)."""

    def __init__(self, size):
        super().__init__()
        self.cif_conv1d = nn.Conv1d(size, size, 3, padding=1)
        self.cif_output = nn.Linear(size, 1)

    def forward(self, x):
        """Logits of the shares; x must be zero behind its end."""
        return self.cif_output(F.relu(self.cif_conv1d(x.transpose(1, 2))).transpose(1, 2)).squeeze(2)


def integrate(shares, heard, tokens):
    """(batch, frames) shares and (batch, frames, size) rows: each token's row is the sum of the frames between two
    whole numbers of the running sum, weighted with their shares."""
    after = shares.cumsum(1)[:, None]
    before = F.pad(after, (1, 0))[:, :, :-1]
    number = torch.arange(tokens, dtype=shares.dtype)[None, :, None]
    return (torch.minimum(after, number + 1) - torch.maximum(before, number)).clamp(min=0) @ heard


class Paraformer(nn.Module):
    def __init__(self, vocab, size=128, heads=4, units=512, blocks=6, kernel=11, decoder_heads=4, decoder_units=512,
                 decoder_blocks=2, decoder_kernel=11, inner=560, tail=0.45, dropout=0.0):
        super().__init__()
        self.tail = tail
        self.encoder = Encoder(inner, size, heads, units, blocks, 0, kernel, dropout)
        for module in self.encoder.modules():
            if isinstance(module, nn.LayerNorm):
                module.eps = EPSILON
        self.decoder = Decoder(vocab, size, decoder_heads, decoder_units, decoder_blocks, decoder_kernel)
        self.predictor = Predictor(size)

    def encode(self, features, lengths, trace=None):
        """Normalised features (batch, frames, 560) to the encoder's rows, zero behind each end."""
        x = self.encoder(features, lengths, trace)
        return x * (torch.arange(x.shape[1])[None] < lengths[:, None])[:, :, None].to(x.dtype)

    def forward(self, features, lengths, trace=None):
        """Recognition of a single utterance: logits of its tokens and the shares with the tail."""
        heard = self.encode(features, lengths, trace)
        shares = F.pad(self.predictor(heard).sigmoid(), (0, 1), value=self.tail)
        tokens = int(shares.double().cumsum(1).float()[0, -1].floor())
        rows = integrate(shares.double(), F.pad(heard, (0, 0, 0, 1)).double(), tokens).float()
        if trace is not None:
            trace.update(encoder_out=heard, alphas_with_tail=shares, acoustic_embeds=rows)
        return self.decoder(rows, torch.tensor([tokens]), heard, lengths, trace), shares


def from_checkpoint(state, heads=4, decoder_heads=4, tail=0.45):
    """Builds the model that fits a state dict."""
    count = lambda stem: len({k.split(".")[2] for k in state if k.startswith(stem + ".")})
    first = state["encoder.encoders0.0.self_attn.linear_q_k_v.weight"]
    kernel = state["encoder.encoders0.0.self_attn.fsmn_block.weight"].shape[2]
    model = Paraformer(
        state["decoder.output_layer.weight"].shape[0], first.shape[0] // 3, heads,
        state["encoder.encoders0.0.feed_forward.w_1.weight"].shape[0], 1 + count("encoder.encoders"), kernel,
        decoder_heads, state["decoder.decoders.0.feed_forward.w_1.weight"].shape[0], count("decoder.decoders"),
        state["decoder.decoders.0.self_attn.fsmn_block.weight"].shape[2], first.shape[1], tail)
    model.load_state_dict(state, strict=True)
    return model.eval()


def token_times(shares, tokens):
    """Where each token starts, in frames, as FunASR reads it off the shares (tail included): the running sum of
    'fired, plus what is left' is scaled to one more than the tokens and integrated again, 1.5 frames early."""
    total = np.cumsum(shares.astype(np.float64)).astype(np.float32)
    whole = np.floor(total)
    curve = (np.diff(whole, prepend=np.float32(0)) > 0) + (total - whole)
    curve /= curve.sum(dtype=np.float32) / np.float32(tokens + 1)
    places, held = [], np.float32(0)
    for t, value in enumerate(curve.astype(np.float32)):
        held += value
        if held >= 1 - 1e-4:
            places.append(t - 1.5)
            held -= np.float32(1 - 1e-4)
    return places


def encoder_from_sense_voice(state, spread=10.0):
    """SenseVoice's encoder as Paraformer's: the block behind SenseVoice's inner norm becomes the last one. Rows are
    `spread` times as large without that norm, so what this block adds is enlarged by as much."""
    block, gain = "encoders.4.", spread / state["encoder.after_norm.weight"]
    own = {}
    for name, value in state.items():
        if not name.startswith("encoder.") or name.startswith("encoder.after_norm"):
            continue
        name = name.removeprefix("encoder.").replace("tp_encoders.0.", block).replace("tp_norm", "after_norm")
        own[name] = value.clone()
    size = len(gain)
    own[block + "self_attn.linear_q_k_v.weight"][2 * size :] *= gain[:, None]  # the values, which the memory adds up
    own[block + "self_attn.linear_q_k_v.bias"][2 * size :] *= gain
    own[block + "self_attn.linear_out.weight"] *= gain[:, None] / gain[None]
    own[block + "feed_forward.w_2.weight"] *= gain[:, None]
    for name in ("self_attn.linear_out.bias", "feed_forward.w_2.bias"):
        own[block + name] *= gain
    return own
