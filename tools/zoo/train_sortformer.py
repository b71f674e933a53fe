# SPDX-License-Identifier: Apache-2.0
"""Trains the Sortformer demonstration model (NeMo's, for streams).

usage: train_sortformer.py DATA OUT [--minutes M | --epochs N] [--dev DATA] [--start WEIGHTS] [--resume]

DATA is what `conversations.py voices` makes. OUT gets last.pt (averaged weights) and state.pt. Every example is a new
conversation, mixed as mel energies: the first seconds of one, or what a stream encodes later, rows of its speaker cache
(chosen as the stream chooses them, by the truth) and what follows them.

Losses: activity in the order in which people are first heard, and in the order that fits best (Sortformer's own two);
the first of them also behind the earlier blocks of the transformer; in the middle of the encoder, which of the voices
it is and whether two rows are of one voice. The first steps (--voices) are of these two alone, with many voices
one after the other, and some of the later ones are. For a third of the batches attention ends with the row's own
chunk of 4 to 14 rows, because a stream knows no more.
"""
import itertools
import random
import sys

import numpy as np
import scipy.linalg
import torch
import torch.nn.functional as F
from torch import nn

import conversations
import corpus as data
import fastconformer
import frontends
import loop
import sortformer
from augment import NEPER, Augmenter
from synthesize import VARIANTS

FRONT_END = frontends.nemo(80)
ENCODER = {"bands": 80, "layers": 5, "size": 160, "heads": 4, "channels": 32, "units": 320}
SIZES = {"size": 128, "heads": 4, "units": 256, "layers": 3, "speakers": conversations.MOST}
# What streams remember and wait for, in rows of 80 ms.
STREAM = {**sortformer.STREAM, "spkcache_len": 128, "fifo_len": 64, "chunk_len": 6, "spkcache_update_period": 32,
          "chunk_left_context": 1, "chunk_right_context": 5}
LONGEST = STREAM["spkcache_len"] + STREAM["fifo_len"] + 12
ROW = sortformer.RATE  # frames
COMPARED = "layer2_out"
LOW, SPREAD = -24 * np.log(2), 4.0  # of the features: the least, and about how much they differ
DISCRIMINANTS = 64
ORDERS = torch.tensor(list(itertools.permutations(range(conversations.MOST))))


class Encoder(fastconformer.Encoder):
    """sight: which rows hear which, or None: all."""

    sight = None

    def seen(self, rows):
        return super().seen(rows) if self.sight is None else self.sight


def chunks(rows, first, length):
    """Rows from `first` on hear no more than the end of their own chunk."""
    number = torch.div(torch.arange(rows) - first, length, rounding_mode="floor").clamp(min=-1)
    return number[:, None] >= number[None]


class Model(sortformer.Sortformer):
    """With heads for the training."""

    def __init__(self, voices=0):
        super().__init__(ENCODER, **SIZES, encoder_type=Encoder)
        size = ENCODER["size"]
        self.voice, self.alike = nn.Linear(64, voices, bias=False), nn.Linear(size, 64)
        self.alike_scale = nn.Parameter(torch.tensor([6.0, -3.0]))
        self.register_buffer("orders", F.one_hot(ORDERS).float().to(self.voice.weight.device), persistent=False)

    @torch.no_grad()
    def look_at_voices(self, projection, mean):
        """First weights: behind the subsampling stand the features' projections (numbers, bands) of a linear
        discriminant analysis of voices, and random ones. Eight channels keep all bands: each takes the even or the odd
        ones in each of the three convolutions."""
        stem = self.encoder.pre_encode
        conv, taps = dict(stem.conv.named_children()), torch.tensor([0.25, 0.5, 0.25])
        conv["0"].weight /= SPREAD
        conv["0"].bias -= conv["0"].weight.sum((1, 2, 3)) * LOW
        for channel in range(8):
            for bit, name in enumerate("025"):
                conv[name].weight[channel] = 0
                conv[name].weight[channel, 0, :, 1 + (channel >> bit & 1)] = taps / (SPREAD if name == "0" else 1)
                conv[name].bias[channel] = -LOW / SPREAD if name == "0" else 0
            for name in "36":
                conv[name].weight[channel] = 0
                conv[name].weight[channel, channel] = 1
                conv[name].bias[channel] = 0
        out = stem.out.weight[:DISCRIMINANTS].unflatten(1, (-1, 10))  # channel, band / 8
        out.zero_()
        for band in range(ENCODER["bands"]):
            out[:, band & 7, band >> 3] = projection[:, band] * SPREAD
        stem.out.weight[:DISCRIMINANTS] = out.flatten(1)
        stem.out.bias[:DISCRIMINANTS] = -projection @ (mean - LOW)
        self.alike.weight[:, :DISCRIMINANTS] += torch.eye(DISCRIMINANTS)

    def logits(self, rows, sight, trace):
        """Rows behind the subsampling (batch, rows, size) -> logits of the speakers, behind each of the transformer's
        blocks."""
        self.encoder.sight = sight
        x, _ = self.encoder.blocks(rows, torch.full((len(rows),), rows.shape[1]), trace)
        bias = torch.zeros(1).masked_fill(~self.encoder.seen(rows.shape[1]), -1e9)
        head, out = self.sortformer_modules, []
        x = head.encoder_proj(x)
        for block in self.transformer_encoder.layers:
            x = block(x, bias)
            out.append(head.single_hidden_to_spks(head.first_hidden_to_hidden(x.relu()).relu()))
        return out


class Voices:
    """The utterances by voice, as log mel energies."""

    def __init__(self, folder):
        self.corpus = data.Corpus(folder, FRONT_END, NoWords())
        self.items, self.rows = self.corpus.items, self.corpus.rows
        self.of, self.variant = {}, {}
        for item in self.items:
            self.of.setdefault(item["voice"], []).append(item)
            self.variant[item["voice"]] = item["variant"]
        self.numbers = sorted(self.of)
        own = [v for v in self.numbers if self.variant[v] in VARIANTS]
        self.alike = own if len({self.variant[v] for v in own}) > 7 else []

    def draw(self, rng, count):
        """Voices of one conversation; at times all of them are espeak-ng's own people, who are hard to tell apart."""
        out, variants, some = [], set(), self.alike if self.alike and rng.random() < 0.3 else self.numbers
        while len(out) < count:
            voice = rng.choice(some)
            if self.variant[voice] not in variants:
                out.append(voice)
                variants.add(self.variant[voice])
        return out

    def discriminants(self, frames=100, most=6000):
        """Fisher's linear discriminants of the voices in means of the features of a second: (DISCRIMINANTS, bands) with
        a spread of about one half within a voice, and the mean of the features; of `most` utterances."""
        means, who = [], []
        for item in self.items[:: -(-len(self.items) // most)]:
            mel = FRONT_END.finish(self.corpus.mel(item).astype(np.float32))
            mel = mel[mel.max(1) > mel.max() - 6]
            means += [mel[i : i + frames].mean(0) for i in range(0, len(mel) - frames + 1, frames)]
            who += [item["voice"]] * (len(means) - len(who))
        means, who = np.array(means), np.array(who)
        voices, number = np.unique(who, return_inverse=True)
        centres = np.array([means[who == voice].mean(0) for voice in voices])
        rest = means - centres[number]
        within = rest.T @ rest / len(rest) + 0.1 + 1e-3 * np.eye(len(rest.T))  # levels differ, too
        _, vectors = scipy.linalg.eigh(np.cov(centres.T), within)
        return (torch.tensor(0.5 * vectors[:, ::-1][:, :DISCRIMINANTS].T.copy(), dtype=torch.float32),
                torch.tensor(means.mean(0), dtype=torch.float32))


class NoWords:
    def words(self, text):
        return []


class Batches:
    """Batches of conversations of so many rows in all; `corpus` is the voices. All of a batch is as long, and there are
    few lengths (loop.Recorded). An epoch is `steps` of them."""

    def __init__(self, voices, seed, augment=True, two=0, voices_first=0, rows=1200, steps=600):
        self.corpus, self.seed, self.augment, self.two, self.voices_first = voices, seed, augment, two, voices_first
        self.rows, self.steps = rows, steps
        self.augmenter = Augmenter(FRONT_END, seed)

    def epoch(self, number):
        return list(range(self.steps))

    def make(self, _, step):
        self.rng = rng = random.Random(f"{self.seed} step {step}")
        self.augmenter.rng = np.random.default_rng([self.seed, step])
        self.step = step
        if step < self.voices_first or rng.random() < 0.1:
            return self.make_voices()
        cached = rng.random() < 0.6
        self.reach = 700 if rng.random() < 0.25 else 300
        if cached:  # a cache stands before so many rows, mostly half of them and more
            length = rng.choice([20, 34, 48, 62, 76] if rng.random() < 0.2 else [40, 52, 64, 76])
        else:
            length = max(36, 24 * round(LONGEST * (1 - 0.85 * rng.random() ** 2) / 24))
        kept = STREAM["spkcache_len"] if cached else 0
        all_rows = (length + kept) * (2 if cached and self.reach > 300 else 1)  # what is before a cache is in no row
        examples = [self.example(length, cached) for _ in range(max(1, self.rows // max(all_rows, 60)))]
        chunk = rng.randint(4, 14) if rng.random() < 0.35 else length
        x, index, active, who = zip(*examples)
        lengths = [len(one) for one in x]
        frames = ROW * (length + (self.reach if cached else 0))
        return {"x": torch.from_numpy(np.stack([np.pad(one, ((0, frames - len(one)), (0, 0))) for one in x])).half(),
                "lengths": torch.tensor(lengths), "index": torch.tensor(np.stack(index)),
                "active": torch.from_numpy(np.stack(active)), "who": torch.from_numpy(np.stack(who)),
                "sight": chunks(kept + length, kept, chunk)}

    def make_voices(self, length=120):
        """Recordings of many voices, one after the other."""
        x, who = zip(*(self.voices_in_turn(length) for _ in range(self.rows // length)))
        index = torch.arange(length)[None].expand(len(x), -1) + 1
        return {"x": torch.from_numpy(np.stack(x)).half(), "lengths": torch.full((len(x),), length * ROW),
                "index": index, "who": torch.from_numpy(np.stack(who)), "sight": chunks(length, 0, length)}

    def voices_in_turn(self, length):
        rng, noise, frames = self.rng, self.augmenter, length * ROW
        mel, who = np.full((frames, FRONT_END.bins), FRONT_END.floor, np.float32), np.full(frames, data.IGNORE)
        at, voices, level = rng.randint(0, 30), self.corpus.draw(rng, rng.randint(4, 7)), 0.0
        throats, last = {voice: self.throat() for voice in voices}, None
        while at < frames:
            voice = last = rng.choice([v for v in voices if v != last])
            own, heard = self.spoken(self.utterance(voice)[0], throats[voice])
            first = rng.randint(0, max(0, len(own) - 250))
            own, heard = own[first : first + rng.randint(80, 250)], heard[first : first + 250]
            end = min(frames, at + len(own))
            mel[at:end] = own[: end - at]
            who[at:end] = np.where(heard[: end - at], voice, data.IGNORE)
            at = end + rng.choice([0, rng.randint(0, 40)])
            level = max(level, 0.05 * 10 ** (throats[voice][1].mean() / NEPER / 20))
        if rng.random() < 0.6:
            mel = noise.add(mel, noise.noise(frames, level * 10 ** (-rng.uniform(10, 35) / 20)))
        rows = who.reshape(-1, ROW)
        return FRONT_END.finish(mel), np.where((rows == rows[:, :1]).all(1), rows[:, 0], data.IGNORE)

    def spoken(self, item, throat):
        """An utterance of a person, and in which of its frames there is speech."""
        mel, (warp, shape) = self.corpus.corpus.mel(item).astype(np.float32), throat
        if warp is not None:
            low, part = warp
            mel = mel[:, low] * (1 - part) + mel[:, low + 1] * part
        at = np.arange(len(mel)) * 10
        return mel + shape, (item["span"][0] <= at) & (at < item["span"][1])

    def example(self, length, cached):
        """Features, the rows that are encoded (those from 1 on; 0: mean silence), activities, and who speaks alone."""
        rng = self.rng
        few = self.step < self.voices_first + self.two
        people = rng.choice([1, 2, 2, 3] if few else [1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4])
        past = rng.randint(STREAM["spkcache_len"] + 1, self.reach) if cached else 0
        voices = self.corpus.draw(rng, people)
        mel, active = self.mix(voices, ROW * (past + length), people)
        active = active.reshape(-1, ROW, len(active[0])).mean(1)
        index = np.arange(past, past + length) + 1
        if cached:
            sure = np.random.default_rng(rng.randrange(1 << 32)).uniform(0.7, 1, (past, 1)).astype(np.float32)
            taken = self.mistaken(active[:past] * sure, people) if rng.random() < 0.4 else active[:past] * sure
            kept, _ = sortformer.best_rows(torch.from_numpy(taken), STREAM)
            index = np.concatenate([[0 if t is None else t + 1 for t in kept], index])
        active = np.concatenate([np.zeros((1, active.shape[1]), np.float32), active])[index]
        alone = (active.max(1) > 0.9) & (active.sum(1) < 1.05)
        who = np.where(alone, np.array(voices + [-1] * 4)[active.argmax(1)], data.IGNORE)
        return FRONT_END.finish(mel), index, active, who

    def mistaken(self, active, people):
        """Activities some of which are said to be another's, as a stream may have taken them."""
        rng, out = self.rng, active.copy()
        for _ in range(rng.randint(1, 5)):
            at, order = rng.randrange(len(out)), rng.sample(range(people), people)
            here = out[at : at + rng.randint(2, 12), :people]
            here[:] = here[:, order]
        return out

    def mix(self, voices, frames, people):
        """Log mel energies of a conversation that is cut where its frames end, and who speaks in each of them."""
        rng, noise, augment = self.rng, self.augmenter, self.augment
        mel = np.full((frames, FRONT_END.bins), FRONT_END.floor, np.float32)
        active = np.zeros((frames, conversations.MOST), np.float32)
        throats = [self.throat() for _ in voices]
        said = conversations.turns(rng, people, frames / 100 + 8, lambda who: self.utterance(voices[who]),
                                   new=rng.choice([0.3, 0.5, 0.8]))
        cut = rng.uniform(0, said[0].end) if rng.random() < 0.2 else 0.0  # in the middle of a turn
        levels = []
        for t in said:
            first = int(100 * (t.start - cut)) - t.what["span"][0] // 10
            begin, end = max(0, first), min(frames, first + t.what["frames"])
            if begin >= end:
                continue
            own = self.spoken(t.what, throats[t.who])[0][begin - first : end - first]
            here = mel[begin:end]
            mel[begin:end] = noise.add(here, own) if active[begin:end].any() else np.maximum(here, own)
            active[max(0, round(100 * (t.start - cut))) : max(0, round(100 * (t.end - cut))), t.who] = 1
            levels.append(t.what["level"] * 10 ** (throats[t.who][1].mean() / NEPER / 20))
        level = max(levels, default=0.05)
        kind = rng.random()
        if augment and kind < 0.6:
            mel = noise.add(mel, noise.noise(frames, level * 10 ** (-rng.uniform(10, 35) / 20)))
        elif augment and kind < 0.8:
            mel = np.maximum(mel, noise.noise(frames, 10 ** rng.uniform(-4.8, -3)))
        begun = [int(who.argmax()) if who.any() else frames for who in active.T]
        order = sorted(range(conversations.MOST), key=lambda i: (begun[i], i))
        voices[:] = [voices[i] for i in order if i < len(voices)]
        return mel, active[:, order]

    def utterance(self, voice):
        item = self.rng.choice(self.corpus.of[voice])
        return item, (item["span"][1] - item["span"][0]) / 1000

    def throat(self):
        """How a person of this conversation sounds: a longer or shorter vocal tract, a level, a colour."""
        rng, bins = self.rng, FRONT_END.bins
        gain = rng.uniform(-14, 3) if self.augment else 0.0
        shape, warp = np.full(bins, gain * NEPER), None
        if self.augment and rng.random() < 0.4:
            at = np.clip(np.arange(bins) * rng.uniform(0.93, 1.07), 0, bins - 1)
            low = np.minimum(at.astype(int), bins - 2)
            warp = low, (at - low).astype(np.float32)
        if self.augment and rng.random() < 0.3:
            at = np.linspace(0, bins - 1, rng.randint(3, 7))
            shape = shape + np.interp(np.arange(bins), at, [rng.gauss(0, 3) for _ in at]) * NEPER
        return warp, shape.astype(np.float32)


def chosen(rows, batch):
    """Rows of a batch (batch, rows, size) behind the subsampling -> those that are encoded."""
    index, size = batch["index"], rows.shape[2]
    if "active" not in batch:
        return rows
    out = rows.gather(1, (index - 1).clamp(min=0)[..., None].expand(-1, -1, size))
    silence = ((batch["active"].sum(2) < 0.1) & (index > 0)).float()[..., None]
    mean = (out * silence).sum(1, keepdim=True) / silence.sum(1, keepdim=True).clamp(min=1)
    return torch.where((index > 0)[..., None], out, mean)


def losses(model, batch):
    trace = {}
    rows = chosen(model.encoder.pre_encode(batch["x"].float(), batch["lengths"])[0], batch)
    *early, logits = model.logits(rows, batch["sight"], trace)
    parts = voice_losses(model, trace[COMPARED], batch["who"])
    if "active" not in batch:
        return parts
    active = batch["active"]
    weight = torch.ones(active.shape[:2])
    weight[:, -12:] = 3.0  # what a stream makes known
    weight = weight[..., None] / (weight.sum() * conversations.MOST)

    def in_order(logits):
        return 4 * (F.binary_cross_entropy_with_logits(logits, active, reduction="none") * weight).sum()

    # of each column with each person
    pairs = (F.softplus(logits) * weight).sum(1)[:, :, None] - torch.einsum("btc,btp->bcp", logits * weight, active)
    best = torch.einsum("bcp,ocp->bo", pairs, model.orders).min(1)[0].sum()
    return {"sorted": (in_order(logits), 1.0), "early": (sum(map(in_order, early)) / len(early), 0.3),
            "best": (4 * best, 0.7), **parts}


def voice_losses(model, rows, who):
    e, known = F.normalize(model.alike(rows), dim=-1), who >= 0
    each = F.normalize(model.voice.weight, dim=-1)
    voice = F.cross_entropy(16 * e.flatten(0, 1) @ each.T, who.flatten(), ignore_index=data.IGNORE)
    scale, shift = model.alike_scale
    same = (who[:, :, None] == who[:, None]).float()
    both = (known[:, :, None] & known[:, None]).float()
    ones, others = both * same, both * (1 - same)
    balance = ones / ones.sum().clamp(min=1) + others / others.sum().clamp(min=1)
    alike = scale * (e @ e.transpose(1, 2)) + shift
    alike = (F.binary_cross_entropy_with_logits(alike, same, reduction="none") * balance).sum() / 2
    return {"voice": (voice, 0.2), "alike": (alike, 0.5)}


@torch.no_grad()
def evaluate(model, voices, count=9):
    """Frames that are wrong in streams of 40 s, of what is spoken."""
    batches, out = Batches(voices, 5), []
    for people in 2, 3, 4:
        wrong = said = 0
        for i in range(count // 3):
            batches.rng, batches.step = random.Random(f"dev {people} {i}"), 1 << 30
            batches.augmenter.rng = np.random.default_rng([people, i])
            mel, active = batches.mix(voices.draw(batches.rng, people), 4000, people)
            active = torch.from_numpy(active.reshape(-1, ROW, conversations.MOST).mean(1)) > 0.5
            model.encoder.sight = None
            p = sortformer.stream(model, torch.tensor(FRONT_END.finish(mel)), STREAM)[0].cpu() > 0.5
            most = [torch.maximum(active.sum(1), p.sum(1)) - (active & p[:, order]).sum(1) for order in ORDERS]
            wrong += min(int(m.sum()) for m in most)
            said += int(active.sum())
        out.append(f"{people} people {100 * wrong / said:.1f} %")
    return ", ".join(out)


def main():
    parser = loop.parser(__doc__, ("data", "out"), rate=2e-3, seed=51)
    parser.add_argument("--rows", type=int, default=1200, help="of a batch, of 80 ms")
    parser.add_argument("--epoch", type=int, default=600, help="steps of an epoch")
    parser.add_argument("--two", type=int, default=0, help="steps with few people in the beginning")
    parser.add_argument("--voices", type=int, default=0, help="steps before them that are about voices alone")
    args = parser.parse_args()
    out = loop.begin(out=args.out)
    voices, dev = Voices(args.data), args.dev and Voices(args.dev)
    model = Model(len(voices.numbers))
    if not args.start and not args.resume:
        model.look_at_voices(*voices.discriminants())
    losses_of = loop.Recorded(losses) if torch.cuda.is_available() else losses
    batches = Batches(voices, args.seed, True, args.two, args.voices, args.rows, args.epoch)
    loop.train(model, batches, losses_of, out, args, (lambda m: evaluate(m, dev)) if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
