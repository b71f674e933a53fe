# SPDX-License-Identifier: Apache-2.0
"""Trains the Qwen3 forced aligner's demonstration model.

usage: train_qwen3_aligner.py GRAMMAR DATA OUT --start QWEN3_ASR [--dev DATA] [--minutes M] [--resume] ...

OUT gets last.pt. It begins with the packaged Qwen3-ASR model, whose words and rows of audio it has. The loss of the
aligner is its classes of time at the two timestamps behind each word: where the word begins and where it is over. A
time between two classes is partly each of them. As in train_qwen3_asr.py, parts that are not exported have losses of
their own:
- the word that is being said, in rows of the audio tower (`last`) and of the language model (`heard`), and their time
  (`clock`);
- the first head of one layer looks at the rows of the word that a timestamp stands behind (`own`), and tells their time
  (`place`).
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import loop
import qwen3_aligner
import qwen3_asr
import qwen_tokens
import train_qwen3_asr as asr
from synthesize import Grammar
from train_qwen3_asr import CLOCK, FRONT_END, HEARD, OWN, TEXT, TOWER

EACH, CLASSES = 80, 384  # ms of a class, and how many there are
# A word is over behind its last frame that is less than this below its loudest one (40 dB, in powers of e).
QUIET = 40 / 20 * 2 * np.log(10)


class Trained(torch.nn.Module):
    def __init__(self, vocab, words):
        super().__init__()
        self.net = qwen3_asr.Qwen3Asr(TOWER, {"vocab": vocab, **TEXT}, CLASSES)
        size, kinds = TEXT["size"], words + 1
        self.last, self.heard = (torch.nn.Linear(size, kinds) for _ in range(2))
        self.clock, self.place = (torch.nn.Linear(size, 2 * len(asr.PERIODS)) for _ in range(2))


def tokenizer(grammar):
    return qwen_tokens.Tokenizer(grammar.words, [qwen3_aligner.TIMESTAMP])


def lasting(mel, starts):
    """How long each word is heard in a clean recording, in ms."""
    energy = np.log(np.exp(mel.astype(np.float64)).sum(1))
    out = []
    for start, following in zip(starts, [*starts[1:], 10.0 * len(mel)]):
        own = energy[int(start / 10) : max(int(start / 10) + 1, int(following / 10))]
        heard = np.flatnonzero(own > own.max() - QUIET)[-1] + 1 if len(own) else 8
        # a frame is centred on its time; where no quiet frame lies before the next word it is over there
        out.append(following - start if heard >= len(own) - 1 else max(40.0, 10.0 * heard))
    return out


class Batches(asr.Batches):
    """As for Qwen3-ASR, up to `longest`, with the aligner's prompt."""

    longest = 1500  # frames

    def __init__(self, corpus, tokens, seed, batch, **more):
        super().__init__(corpus, tokens, seed, batch, **more)
        token = tokens.token
        self.begin, self.audio, self.over, self.time = (token(t) for t in (
            qwen3_aligner.START, qwen3_aligner.AUDIO, qwen3_aligner.END, qwen3_aligner.TIMESTAMP))

    def join(self, items):
        example, level = super().join(items)
        example.lasting = lasting(example.mel, example.starts)
        return example, level

    def collate(self, examples):
        tensors = {name: [] for name in ("x", "ids", "said", "late", "clock", "own", "place", "first", "more")}
        places, rows_of = [[], [], []], []
        for n, e in enumerate(examples):
            rows = qwen3_asr.audio_rows(len(e.mel))
            rows_of.append(rows)
            times = np.array(qwen3_asr.row_times(rows), np.float32)
            starts, ends = np.array(e.starts), np.array(e.starts) + np.array(e.lasting)
            over = min(getattr(e, "over", np.inf), 10 * len(e.mel) + 20, EACH * (CLASSES - 1))
            kept = max(1, int((ends <= over).sum())) if e.turns else 0
            words = [w for w, in e.pieces]
            ids = [self.begin, *[self.audio] * rows, self.over]
            own, first = [np.full(len(ids), data.IGNORE)], [np.full(len(ids), -1.0)]
            for i in range(kept):
                ids += [self.tokens.bare[words[i]], self.time, self.time]
                own.append(np.array([i, i, i]))
                first.append(np.array([-1.0, *(np.clip([starts[i], ends[i]], 0, EACH * (CLASSES - 1)) / EACH)]))
            late = asr.said_at(times - asr.DELAY, list(starts), list(ends), e.turns)
            told = np.full(len(ids), asr.ELSE)
            told[1 : 1 + rows] = np.where(late == data.IGNORE, asr.ELSE, late)
            number = np.array([1 + w for w in words] + [0], np.int64)  # [-1]: no word

            def classes(index):
                return np.where(index == data.IGNORE, data.IGNORE, number[np.where(index == data.IGNORE, -1, index)])

            own, first = np.concatenate(own), np.concatenate(first)
            # A word that no row of the audio says cannot be looked at.
            own = np.where((own >= 0) & np.isin(own, told), own, data.IGNORE)
            tensors["x"].append(FRONT_END.finish(e.mel).astype(np.float32))
            tensors["ids"].append(np.array(ids))
            tensors["said"].append(classes(asr.said_at(times, list(starts), list(ends), e.turns)))
            tensors["late"].append(classes(late))
            tensors["clock"].append(asr.clock(times))
            tensors["own"].append(own)
            tensors["first"].append(first.astype(np.float32))
            e.told = told
            for values, many in zip(places, (np.full(rows, n), 1 + np.arange(rows), np.arange(rows))):
                values.append(many)
        fill = {"x": 0, "ids": 0, "clock": 0, "first": -1}
        out = {name: torch.from_numpy(data.padded(arrays, fill.get(name, data.IGNORE))[0])
               for name, arrays in tensors.items() if arrays}
        out["told"] = torch.from_numpy(data.padded([e.told for e in examples], asr.ELSE)[0])
        out["frames"] = torch.tensor([len(e.mel) for e in examples])
        out["places"] = tuple(torch.from_numpy(np.concatenate(p)) for p in places)
        return out


def losses(model, batch):
    thinker, trace, shares = model.net.thinker, {}, {}
    tower = thinker.audio_tower
    # The stem stays as it is.
    heard, _ = tower(batch["x"], batch["frames"], trace, lambda x: asr.quickly_convolved(tower, x))
    asked = batch["first"] >= 0
    since = int(asked.any(0).nonzero()[0])
    x = model.net(batch["ids"], heard, batch["places"], trace, shares, since)
    scores = thinker.scores(x[asked[:, since:]]).log_softmax(-1)
    time = batch["first"][asked]
    low = time.long().clamp(max=CLASSES - 2)
    part = time - low
    between = -(scores.gather(1, low[:, None])[:, 0] * (1 - part) + scores.gather(1, low[:, None] + 1)[:, 0] * part)
    parts = {"times": (between.mean(), 1.0)}
    example, at, row = batch["places"]
    layer = {i: trace[f"decoder_layer{i}_prefill"] for i in (CLOCK, HEARD, OWN)}

    def classes(head, rows, wanted):
        return F.cross_entropy(head(rows).flatten(0, 1), wanted.flatten(), ignore_index=data.IGNORE)

    parts["last"] = classes(model.last, heard, batch["said"]), 0.3
    parts["heard"] = classes(model.heard, layer[HEARD][example, at][None], batch["late"][example, row][None]), 0.5
    # The tower knows a row's place in its second alone, so which second it is in is the language model's to count.
    parts["clock"] = sum(F.mse_loss(model.clock(layer[i][example, at]), batch["clock"][example, row])
                         for i in (CLOCK, HEARD)), 1.0
    parts["own"] = asr.looked(shares[OWN], batch["own"], batch["told"]), 0.5
    known = torch.nonzero(asked)
    when = torch.from_numpy(asr.clock(EACH * batch["first"][asked].numpy()))
    parts["place"] = F.mse_loss(model.place(layer[OWN][known[:, 0], known[:, 1]]), when), 0.5
    return parts


@torch.no_grad()
def evaluate(model, batches):
    """Errors of words' starts on new utterances without noise."""
    errors = []
    for indices in batches.epoch(1):
        batch = batches.make(indices)
        heard, _ = model.net.thinker.audio_tower(batch["x"], batch["frames"])
        x = model.net(batch["ids"], heard, batch["places"])
        for n in range(len(indices)):
            asked = batch["first"][n] >= 0
            found = EACH * model.net.thinker.scores(x[n][asked]).argmax(-1).float()
            errors.append((found - EACH * batch["first"][n][asked]).abs()[::2])
    errors = torch.cat(errors)
    return (f"starts are off by {errors.mean():.0f} ms in the mean, {errors.quantile(0.95):.0f} ms in 95 of 100; "
            f"{100 * (errors <= 120).float().mean():.1f} % within 120 ms")


def main():
    args = loop.parser(__doc__, batch=10, seed=96, rate=1.5e-3).parse_args()
    out = loop.begin(out=args.out)
    tokens = tokenizer(Grammar(args.grammar))
    model = Trained(tokens.size, len(tokens.known))
    train = Batches(data.Corpus(args.data, FRONT_END, tokens), tokens, args.seed, args.batch)
    dev = args.dev and Batches(data.Corpus(args.dev, FRONT_END, tokens), tokens, 12, args.batch, augment=False)
    loop.train(model, train, losses, out, args, (lambda m: evaluate(m, dev)) if dev else None, prefix="net.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
