# SPDX-License-Identifier: Apache-2.0
"""A reference Paraformer on a stream, in PyTorch: the network of paraformer.py, piece by piece.

A layer of the encoder keeps keys and values of earlier windows, the decoder keeps rows of the encoder: its layers make
the same keys and values of them again.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

import paraformer
from sense_voice import positions


def last(rows, count):
    return rows[max(0, len(rows) - count) :]


def attend(query, keys, values, heads):
    """Rows (n, size) that look at rows (m, size), without what comes before and after."""
    q, k, v = (x.view(len(x), heads, -1).transpose(0, 1) for x in (query, keys, values))
    shares = (q @ k.transpose(1, 2) / math.sqrt(q.shape[2])).softmax(-1)
    return (shares @ v).transpose(0, 1).flatten(1)


def filtered(rows, taps, left, right):
    """A depthwise convolution over rows (n, size)."""
    return F.conv1d(F.pad(rows.T, (left, right))[None], taps, groups=rows.shape[1])[0].T


class Stream:
    """sizes: (before, size, after) in frames; the look backs of both are in pieces, and the encoder's -1 is all."""

    def __init__(self, model, sizes, encoder_back, decoder_back):
        self.model, self.sizes = model, sizes
        self.encoder_back, self.decoder_back = encoder_back, decoder_back
        first = model.encoder.encoders0[0].norm1.weight
        self.layers = [*model.encoder.encoders0, *model.encoder.encoders]
        self.rows = torch.zeros(sizes[0] + sizes[2], len(first))  # scaled and with positions
        self.count, self.pieces = 0, 0
        self.seen = [None] * len(self.layers)  # keys and values
        self.weight, self.mean = np.float32(0), torch.zeros(model.encoder.size)
        self.said = [None] * len(model.decoder.decoders)
        self.heard = None

    def keep(self, number, fresh):
        """What layer `number` sees of `fresh`, the window's keys and values, and of the windows before."""
        old = self.seen[number]
        if self.encoder_back == 0:
            return fresh
        usual = fresh[: len(fresh) - self.sizes[2]] if self.sizes[2] else fresh[:0]
        if old is None:  # the first window leaves all of it
            self.seen[number] = usual
            return fresh
        both = torch.cat([old, usual])
        self.seen[number] = both if self.encoder_back < 0 else last(both, self.encoder_back * self.sizes[1])
        return torch.cat([old, fresh])

    def encode(self, x):
        """Features (n, 560) of a piece to the rows of its window. Without any the kept rows are heard again."""
        overlap, scale = len(self.rows), math.sqrt(self.model.encoder.size)
        if len(x):
            place = positions(self.count + len(x), x.shape[1])[self.count :]
            x = torch.cat([self.rows, x * scale + place])
            self.count += len(x) - overlap
            self.rows = x[len(x) - overlap :]
        else:
            x = self.rows * scale
        yield "encoder_layer0_in", x
        for number, layer in enumerate(self.layers):
            attention = layer.self_attn
            q, k, v = attention.linear_q_k_v(layer.norm1(x)).chunk(3, -1)
            keys, values = self.keep(number, torch.cat([k, v], 1)).chunk(2, -1)
            left = (attention.kernel - 1) // 2
            memory = v + filtered(v, attention.fsmn_block.weight, left, attention.kernel - 1 - left)
            y = attention.linear_out(attend(q, keys, values, attention.heads)) + memory
            x = x + y if layer.residual else y
            x = x + layer.feed_forward(layer.norm2(x))
            yield ("encoders0_0_out" if number == 0 else f"encoders_{number - 1}_out"), x
        yield "encoder_out", self.model.encoder.after_norm(x)

    def integrate(self, rows, shares):
        """Rows of tokens. The sum starts again after each, in single precision."""
        tokens, total, held = [], np.float32(0), torch.zeros_like(self.mean)
        for share, row in zip([self.weight, *shares], [self.mean, *rows]):
            total += share
            if total < 1:
                held = held + float(share) * row
                continue
            total -= np.float32(1)
            tokens.append(held + float(share - total) * row)
            held = float(total) * row
        self.weight = total
        self.mean = held / float(total) if total > 0 else held
        return torch.stack(tokens) if tokens else None

    def decode(self, x, window):
        decoder = self.model.decoder
        heard = window if self.heard is None else torch.cat([self.heard, window])
        if self.decoder_back > 0:
            self.heard = last(heard, self.decoder_back * self.sizes[1])
        for number, layer in enumerate(decoder.decoders):
            y = layer.norm2(layer.feed_forward(layer.norm1(x)))
            kernel, old = layer.self_attn.kernel, self.said[number]
            joined = torch.cat([torch.zeros(kernel - 1, y.shape[1]) if old is None else old, y])
            self.said[number] = last(joined, kernel - 1)
            x = x + y + filtered(joined, layer.self_attn.fsmn_block.weight, 0, 0)
            cross = layer.src_attn
            keys, values = cross.linear_k_v(heard).chunk(2, -1)
            x = x + cross.linear_out(attend(cross.linear_q(layer.norm3(x)), keys, values, cross.heads))
            yield f"decoder_decoders_{number}_out", x
        x = decoder.decoders3[0](x)
        yield "decoder_decoders3", x
        x = decoder.after_norm(x)
        yield "decoder_after_norm", x
        yield "logits", decoder.output_layer(x)
        yield "log_probs", decoder.output_layer(x).log_softmax(-1)

    def piece(self, x, final):
        """Normalised features (n, 560) of the next piece, n = 0: a last one that is too short. Yields stages."""
        front = f"piece{self.pieces}_"
        self.pieces += 1
        for name, y in self.encode(x):
            yield front + name, y
        window = y
        shares = self.model.predictor(window[None]).sigmoid()[0]
        yield front + "alphas_raw", shares
        before, size, _ = self.sizes
        shares = shares.clone()
        shares[:before] = 0
        rows = window
        if final:  # a frame more, of zeros
            shares, rows = F.pad(shares, (0, 1), value=self.model.tail), F.pad(window, (0, 0, 0, 1))
        else:
            shares[before + size :] = 0
        tokens = self.integrate(rows, shares.numpy())
        if tokens is None:
            return
        yield front + "acoustic_embeds", tokens
        for name, y in self.decode(tokens, window):
            yield front + name, y


def stream(model, pieces, sizes, encoder_back, decoder_back):
    """Stages of all pieces, each of features; the last one may be empty."""
    s = Stream(model, sizes, encoder_back, decoder_back)
    for n, x in enumerate(pieces):
        yield from s.piece(torch.from_numpy(np.ascontiguousarray(x)), n + 1 == len(pieces))


from_checkpoint = paraformer.from_checkpoint
