# SPDX-License-Identifier: Apache-2.0
"""Trains the FSMN-VAD demonstration model.

usage: train_fsmn_vad.py DATA OUT [--dev DATA] [--epochs N | --minutes M] [--resume] ...

OUT gets what export_fsmn_vad.py needs. An example is a few utterances with pauses between them, with noise or music
over all of it, or noise or music alone. A frame is speech between the ends of the clean sound, where it rises above and
falls below a hundredth of its peak; holes of 200 ms and more are not. The labels lie where a segment's ends come out
right once the window of 20 frames has decided: see LATE_START and LATE_END.
"""
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import features
import frontends
import fsmn_vad
import loop
import packaged
from augment import NEPER, Augmenter, tune_library

HOLE = 20  # frames
# Frames between the ends of speech and those of its labels. The window gives WINDOW_BACK of the first ones back, and
# lookback_time_start_point the rest, for which the network hears more of the speech. An end is told 3 frames late.
LATE_START, LATE_END, WINDOW_BACK = 6, -3, 4
# A word's last sound often fades for 100 ms just above a hundredth of the peak, which nobody hears in noise: the end is
# there or 100 ms earlier, and a network that knows the odds of both and has to choose misses one of them. So ends are
# taught as a ramp over as many frames before and behind: its middle lies between the two.
RAMP = 10
# Frames behind an end that count twice, as those of the ramp do: there are many more holes in speech than ends, so in
# noise, where both sound alike, ends would be waited for.
BEHIND = 20
LIBRARY = 150  # pieces of tones, twice as many of music: with fewer a network knows them by heart
DEPTH = 4.6 * np.log(10)  # a frame is silent when its energy is 46 dB below the loudest


class NoWords:
    def words(self, text):
        return [[] for _ in text.split()]


def speech_frames(mel, span):
    """Which frames of a clean recording are speech; span: where it starts and ends, in ms."""
    energy = np.log(np.exp(mel.astype(np.float64)).sum(1))
    at = np.flatnonzero(energy > max(energy.max() - DEPTH, np.log(features.BINS) + features.LOG_FLOOR + 5))
    active = np.zeros(len(mel), bool)
    if len(at) == 0:
        return active
    breaks = np.flatnonzero(np.diff(at) > HOLE)
    # A frame hears 25 ms, so its sound begins before the span and a hole ends two frames after it seems to.
    starts, ends = [round(span[0] / 10), *(at[breaks + 1] + 2)], [*at[breaks], round(span[1] / 10)]
    for first, last in zip(starts, ends):
        active[first + LATE_START : max(first + LATE_START, last + LATE_END)] = True
    return active


class Batches(data.Batches):
    def __init__(self, corpus, shift, scale, seed, batch, **more):
        super().__init__(corpus, seed, batch, **more)
        self.shift, self.scale = shift[: corpus.front_end.bins], scale[: corpus.front_end.bins]
        if self.augmenter:
            tunes = tune_library(corpus.front_end, seed + 1, LIBRARY)
            self.augmenter.library = self.augmenter.library * (len(tunes) // len(self.augmenter.library)) + tunes
            # Below 0 dB an end is not to be heard, and the network learns to wait for it; utterances differ by 12 dB.
            self.augmenter.noisy, self.augmenter.snr = 0.55, (13, 36)
            self.augmenter.corpus = None  # voices behind the voice are speech, too

    def group(self, indices):
        return [indices[i : i + 3] for i in range(0, len(indices), 3)] if self.augmenter else [[i] for i in indices]

    def join(self, items):
        example, level = super().join(items)
        draw = lambda longest: np.full((int(10 ** self.rng.uniform(1, np.log10(longest))), self.corpus.front_end.bins),
                                       self.corpus.front_end.floor, np.float32)
        mels, active = [], []
        for item in items:
            clean = self.corpus.mel(item).astype(np.float32)
            loud = np.float32(self.rng.uniform(-12, 0) * NEPER) if self.augmenter else 0
            parts = [np.maximum(clean + loud, self.corpus.front_end.floor), *([draw(400)] if self.augmenter else [])]
            mels += parts
            active += [speech_frames(clean, item["span"]), *(np.zeros(len(p), bool) for p in parts[1:])]
        example.mel, example.active = np.concatenate(mels), np.concatenate(active)
        return example, level

    def example(self, group):
        example = super().example(group)
        if not example.speech:
            example.active = np.zeros(len(example.mel), bool)
        lead = len(example.mel) - len(example.active)
        example.active = np.concatenate([np.zeros(lead, bool), example.active])
        return example

    def collate(self, examples):
        x, _ = data.padded([fsmn_vad.surrounded((e.mel.astype(np.float32) + self.shift) * self.scale)
                            for e in examples])
        targets, _ = data.padded([self.ramps(e.active) for e in examples])
        weights, _ = data.padded([self.weights(e.active) for e in examples])
        return {"x": torch.from_numpy(x), "targets": torch.from_numpy(targets), "weights": torch.from_numpy(weights)}

    @staticmethod
    def weights(active):
        """Of each frame; those behind the examples (padding) get none."""
        out = np.ones(len(active), np.float32)
        for end in np.flatnonzero(active[:-1] & ~active[1:]):
            out[end + 1 : end + 1 + BEHIND][~active[end + 1 : end + 1 + BEHIND]] = 2
            out[max(0, end + 1 - RAMP) : end + 1] = 2
        return out

    @staticmethod
    def ramps(active):
        """How much of speech each frame is."""
        out = active.astype(np.float32)
        for end in np.flatnonzero(active[:-1] & ~active[1:]):
            first, last = max(0, end + 1 - RAMP), min(len(out), end + 1 + RAMP)
            ramp = (end + 1 + RAMP - np.arange(first, last) - 0.5) / (2 * RAMP)
            before = end + 1 - first
            out[first : end + 1] = np.minimum(out[first : end + 1], ramp[:before])
            out[end + 1 : last] = np.maximum(out[end + 1 : last], ramp[before:])
        return out


def losses(model, batch):
    logits = model(batch["x"])
    each = F.binary_cross_entropy_with_logits(logits[:, :, 1] - logits[:, :, 0], batch["targets"], reduction="none")
    return {"frames": ((each * batch["weights"]).sum() / batch["weights"].sum(), 1.0)}


def evaluate(model, batches):
    wrong = total = 0
    for indices in batches.epoch(1):
        batch = batches.make(indices)
        known = batch["weights"] > 0
        wrong += int(((model(batch["x"]).argmax(-1) != (batch["targets"] > 0.5)) & known).sum())
        total += int(known.sum())
    return f"{100 * wrong / total:.2f} % of {total} clean frames wrong"


def statistics(corpus, seed=3, count=600):
    """Mean and spread of augmented features, as the shift and scale of am.mvn."""
    augmenter, rng = Augmenter(corpus.front_end, seed, corpus.any), random.Random(seed)
    rows = np.concatenate([augmenter.speech(corpus.mel(i), i["level"])[0]
                           for i in rng.sample(corpus.items, min(count, len(corpus.items)))]).astype(np.float64)
    repeated = lambda v: np.tile(v, fsmn_vad.STACKED).astype(np.float32)
    return repeated(-rows.mean(0)), repeated(1 / rows.std(0))


def main():
    args = loop.parser(__doc__, ("data", "out"), batch=18, seed=41).parse_args()
    out = loop.begin(out=args.out)
    corpus = data.Corpus(args.data, frontends.KALDI, NoWords())
    if args.start and args.start.endswith(".gguf"):
        features.write_mvn(out / "am.mvn", *packaged.statistics(args.start))
    if not (out / "am.mvn").exists():
        features.write_mvn(out / "am.mvn", *statistics(corpus))
    more = features.read_mvn(out / "am.mvn")
    dev = args.dev and Batches(data.Corpus(args.dev, frontends.KALDI, NoWords()), *more, 12, args.batch, augment=False)
    loop.train(fsmn_vad.FsmnVad(), Batches(corpus, *more, args.seed, args.batch, nospeech=args.nospeech), losses, out,
               args, (lambda m: evaluate(m, dev)) if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
