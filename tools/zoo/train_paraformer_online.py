# SPDX-License-Identifier: Apache-2.0
"""Trains the streaming Paraformer's demonstration model.

usage: train_paraformer_online.py GRAMMAR DATA OUT --start START [--dev DATA] [--minutes M] [--resume] ...

OUT gets what export_paraformer_online.py needs. It begins with START, the packaged Paraformer, the packaged streaming
one or last.pt of a run of this program, and has Paraformer's losses but the CTC head's (train_paraformer.py), computed
as a stream computes them: windows of 15 rows, of which the last 5 are those that the next window begins with, keys and
values of the four windows before, tokens that look at the window they fire in and at ten rows before it. All windows of
a recording are computed at once.
"""
import json
import math
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import features
import frontends
import loop
import packaged
import paraformer
import paraformer_online
from sense_voice import positions
from synthesize import Grammar
from train_paraformer import LEARNT_SHARPNESS, SHARP, SHARPNESS, Batches, WordUnits, one_of_three

SIZES, ENCODER_BACK, DECODER_BACK = (0, 10, 5), 4, 1
SIZE, AFTER = SIZES[1], SIZES[2]
ROWS = SIZE + AFTER  # of a window; it begins AFTER rows before its piece
# A stream never begins anew: what one share lacks of 1, by 8 bits' noise, every later token has of the word before.
STREAM_SHARPNESS = 100 * SHARPNESS
ONLINE = "paraformer_online.chunk.size"  # a key of the packaged streaming one


class Turns(Batches):
    """Half of the batches are of several utterances with pauses between them, and half are heard in the middle of a
    stream of up to an hour, whose positions go on. Before three examples of ten nobody speaks for up to three
    seconds."""

    long_share, longest, pause, lead_share = 0.5, 2600, 300, 0.3  # frames
    latest = 60000  # rows

    def collate(self, examples):
        first = self.rng.randrange(self.latest) // SIZE * SIZE if self.augmenter and self.rng.random() < 0.5 else 0
        return {**super().collate(examples), "first": first}

    def join(self, items):
        both, levels = data.Example(None, [], [], []), []
        frames = self.rng.randint(0, self.pause) if self.augmenter and self.rng.random() < self.lead_share else 0
        mels = [self.nothing(frames)]
        for item in items:
            one, level = super().join([item])
            time, gap = 10 * frames, self.rng.randint(0, self.pause) if item is not items[-1] else 0
            both.pieces += one.pieces
            both.starts += [time + start for start in one.starts]
            both.turns += [(n, time + start, time + end) for n, start, end in one.turns]
            both.gaps |= one.gaps
            mels += [one.mel, self.nothing(gap)]
            levels.append(level)
            frames += len(one.mel) + gap
        both.mel = np.concatenate(mels)
        return both, math.sqrt(sum(level ** 2 for level in levels) / len(levels))

    def nothing(self, frames):
        return np.full((frames, self.corpus.rows.shape[1]), self.corpus.front_end.floor, np.float32)


class Trained(torch.nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.net = paraformer.Paraformer(tokens)


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def attended(q, k, v, heads, bias):
    """Rows that look at rows, (..., rows, size); bias: (..., rows that are looked at)."""
    q, k, v = (heads_of(x, heads) for x in (q, k, v))
    shares = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + bias[..., None, None, :]
    return (shares.softmax(-1) @ v).transpose(-2, -3).flatten(-2)


def encoded(net, x, lengths, first=0):
    """(rows of all windows (batch, windows, ROWS, size), which of them there are, windows of each example); first: rows
    of the stream before these."""
    encoder = net.encoder
    x = x * math.sqrt(encoder.size) + positions(x.shape[1], x.shape[2], first)
    windows = -(-lengths // SIZE)
    count = int(windows.max())
    x = F.pad(x, (0, 0, AFTER, max(0, SIZE * count - x.shape[1])))[:, : SIZE * count + AFTER]
    at = SIZE * torch.arange(count)[:, None] + torch.arange(ROWS)
    there = at[None] < (lengths + AFTER)[:, None, None]
    x = x[:, at]
    # Windows before, one for each step back; the first ones have none.
    back = torch.arange(count)[:, None] - torch.arange(ENCODER_BACK, 0, -1)
    known = (back >= 0).repeat_interleave(SIZE, 1)[None].expand(len(x), -1, -1)
    bias = torch.zeros(len(x), count, ENCODER_BACK * SIZE + ROWS).masked_fill(~torch.cat([known, there], 2), -1e9)
    keep = there[..., None].to(x.dtype)
    for layer in [*encoder.encoders0, *encoder.encoders]:
        attention = layer.self_attn
        q, k, v = attention.linear_q_k_v(layer.norm1(x)).chunk(3, -1)
        memory = attention.memory(v.flatten(0, 1), keep.flatten(0, 1)).unflatten(0, v.shape[:2])
        before = torch.cat([k, v], -1)[:, :, :SIZE][:, back.clamp(min=0)].flatten(2, 3)
        k, v = torch.cat([before, torch.cat([k, v], -1)], 2).chunk(2, -1)
        y = attention.linear_out(attended(q, k, v, attention.heads, bias)) + memory
        x = x + y if layer.residual else y
        x = x + layer.feed_forward(layer.norm2(x))
    return encoder.after_norm(x) * keep, there, windows


def in_a_row(rows, windows):
    """Of all windows the rows that count, one after another, and the last rows of the last one."""
    at = torch.arange(SIZE * rows.shape[1] + AFTER)[None]
    window = torch.minimum(at // SIZE, windows[:, None] - 1)
    index = ROWS * window + (at - SIZE * window).clamp(max=ROWS - 1)
    rows = rows.flatten(1, 2)
    return rows.gather(1, index if rows.dim() == 2 else index[..., None].expand(-1, -1, rows.shape[2]))


def decoded(net, x, counts, heard, there, window):
    """Scores of tokens' rows (batch, tokens, size), each of which fires in a window."""
    decoder = net.decoder
    example = torch.arange(len(x))[:, None]
    keep = (torch.arange(x.shape[1])[None] < counts[:, None])[:, :, None].to(x.dtype)
    some = torch.cat([F.pad(there[:, :-1, ROWS - SIZE :], (0, 0, 1, 0)), there], 2)
    bias = torch.zeros(some.shape).masked_fill(~some, -1e9)[example, window]
    for layer in decoder.decoders:
        y = layer.norm2(layer.feed_forward(layer.norm1(x))) * keep
        taps = layer.self_attn.fsmn_block.weight
        x = x + y + F.conv1d(F.pad(y.transpose(1, 2), (taps.shape[2] - 1, 0)), taps, groups=y.shape[2]).transpose(1, 2)
        cross = layer.src_attn
        own = cross.linear_k_v(heard)
        both = torch.cat([F.pad(own[:, :-1, ROWS - SIZE :], (0, 0, 0, 0, 1, 0)), own], 2)[example, window]
        k, v = both.chunk(2, -1)
        q = cross.linear_q(layer.norm3(x))[:, :, None]
        x = x + cross.linear_out(attended(q, k, v, cross.heads, bias)[:, :, 0])
    for layer in decoder.decoders3:
        x = layer(x)
    return decoder.output_layer(decoder.after_norm(x))


def losses(model, batch):
    net, counts, tokens = model.net, batch["counts"], batch["tokens"]
    heard, there, windows = encoded(net, batch["x"], batch["lengths"], batch["first"])
    logits = in_a_row(net.predictor(heard.flatten(0, 1)).unflatten(0, heard.shape[:2]), windows)
    rows = in_a_row(heard, windows)
    lengths, frames = batch["lengths"] + AFTER, logits.shape[1]
    valid = torch.arange(frames)[None] < lengths[:, None]
    has = torch.arange(tokens.shape[1])[None] < counts[:, None]
    total = counts.sum().clamp(min=1)
    nobody = (counts == 0).float()
    learnt = logits * LEARNT_SHARPNESS
    none = one_of_three(learnt + 2.0 * nobody[:, None], batch["fires"] + AFTER, has, lengths)
    fire = (none * (1 + 2.0 * nobody) * batch["known"]).sum() / total
    shares = (logits.detach() * STREAM_SHARPNESS).sigmoid() * valid
    number = shares.sum(1)
    right = (number + net.tail).floor() == counts
    scale = torch.where(right | (counts == 0), torch.ones(len(number)), counts / number.clamp(min=1e-3))
    tail = torch.where(right, net.tail, 1e-3)[:, None]
    shares = F.pad(shares * scale[:, None], (0, 1)).scatter_add(1, lengths[:, None], tail)
    at = torch.searchsorted(shares.double().cumsum(1), torch.arange(1, tokens.shape[1] + 1).double()
                            .expand(len(shares), -1).contiguous() - 1e-3)
    window = torch.minimum(at // SIZE, windows[:, None] - 1).clamp(min=0)
    x = paraformer.integrate(shares, F.pad(rows, (0, 0, 0, 1)), tokens.shape[1])
    text = decoded(net, x, counts, heard, there, window)
    entropy = F.cross_entropy(text.flatten(0, 1), tokens.flatten(), ignore_index=data.IGNORE, reduction="sum")
    return {"text": (entropy / total, 1.0), "fire": (fire, 1.0), "miscounted": (1 - right.float().mean(), 0.0)}


@torch.no_grad()
def evaluate(model, batches, most=120):
    """Word errors of the reference stream."""
    net = paraformer.Paraformer(len(batches.units.tokens))
    net.load_state_dict(model.net.state_dict())
    for name in SHARP:
        net.get_parameter(name.removeprefix("net.")).mul_(STREAM_SHARPNESS)
    net.eval()
    wrong = total = 0
    for item in batches.corpus.items[:most]:
        x = batches.features(batches.corpus.mel(item).astype(np.float32))
        pieces = [x[i : i + SIZE] for i in range(0, len(x), SIZE)]
        ids = [i for name, y in paraformer_online.stream(net, pieces, SIZES, ENCODER_BACK, DECODER_BACK)
               if name.endswith("log_probs") for i in y.argmax(-1).tolist()]
        want = item["words"].split()
        wrong, total = wrong + data.edits(want, batches.units.text(ids).split()), total + len(want)
    return f"word error rate on clean new sentences, as a stream, {100 * wrong / total:.2f} %"


def beginning(path, model):
    """A packaged Paraformer's weights."""
    start, online = packaged.weights(path, model.state_dict(), "net."), ONLINE in packaged.read(path)[0]
    for name in SHARP:
        start[f"net.{name}"] /= STREAM_SHARPNESS if online else SHARPNESS
    for name, taps in start.items() if not online else ():
        if name.startswith("net.decoder.decoders.") and name.endswith("fsmn_block.weight"):  # the tokens before alone
            half = (taps.shape[2] - 1) // 2
            start[name] = F.pad(taps[:, :, : half + 1], (half, 0))
    return start


def main():
    args = loop.parser(__doc__, rate=8e-4, seed=98, batch=14).parse_args()
    out = loop.begin(out=args.out)
    run, packed = Path(args.start).parent, Path(args.start).suffix == ".gguf"
    tokens = packaged.read(args.start)[0]["tokenizer.ggml.tokens"] if packed else \
        json.loads((run / "tokens.json").read_text())
    units = WordUnits(Grammar(args.grammar).words, tokens)
    (out / "tokens.json").write_text(json.dumps(units.tokens, indent=1) + "\n")
    statistics = packaged.statistics(args.start) if packed else features.read_mvn(run / "am.mvn")
    features.write_mvn(out / "am.mvn", *statistics)
    more = (units, *features.read_mvn(out / "am.mvn"))
    batches = Turns(data.Corpus(args.data, frontends.KALDI, units), *more, args.seed, args.batch,
                    nospeech=args.nospeech, noise=args.noise)
    dev = args.dev and Batches(data.Corpus(args.dev, frontends.KALDI, units), *more, 12, args.batch, augment=False)
    model = Trained(len(units.tokens))
    if packed:
        start = beginning(args.start, model)
        args.start = str(out / "start.pt")
        loop.save(args.start, start)
    loop.train(model, batches, losses, out, args, (lambda m: evaluate(m, dev)) if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
