# SPDX-License-Identifier: Apache-2.0
"""Trains the FSMN-VAD demonstration model.

usage: train_fsmn_vad.py DATA OUT [--dev DATA] [--epochs N | --minutes M] [--resume] ...

OUT gets what export_fsmn_vad.py needs. An example is a few utterances with pauses between them, with noise or music over
all of it, or noise or music alone. A frame is speech where the clean sound is loud; holes of less than 200 ms count as
speech. Both ends are drawn in by 40 ms: the window of 20 frames that decides later gives as much back.
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
from augment import Augmenter

HOLE, DRAWN_IN = 20, 4  # frames
DEPTH = 4.6 * np.log(10)  # a frame is silent when its energy is 46 dB below the loudest


class NoWords:
    def words(self, text):
        return [[] for _ in text.split()]


def speech_frames(mel):
    """Which frames of a clean recording are speech."""
    energy = np.log(np.exp(mel.astype(np.float64)).sum(1))
    at = np.flatnonzero(energy > max(energy.max() - DEPTH, np.log(features.BINS) + features.LOG_FLOOR + 5))
    active = np.zeros(len(mel), bool)
    if len(at) == 0:
        return active
    breaks = np.flatnonzero(np.diff(at) > HOLE)
    for first, last in zip(at[np.r_[0, breaks + 1]], at[np.r_[breaks, len(at) - 1]]):
        active[first + DRAWN_IN : max(first + DRAWN_IN, last + 1 - DRAWN_IN)] = True
    return active


class Batches(data.Batches):
    def __init__(self, corpus, shift, scale, seed, batch, **more):
        super().__init__(corpus, seed, batch, **more)
        self.shift, self.scale = shift, scale
        if self.augmenter:
            self.augmenter.library += self.augmenter.tunes

    def group(self, indices):
        return [indices[i : i + 3] for i in range(0, len(indices), 3)] if self.augmenter else [[i] for i in indices]

    def join(self, items):
        example, level = super().join(items)
        draw = lambda longest: np.full((int(10 ** self.rng.uniform(1, np.log10(longest))), self.corpus.front_end.bins),
                                       self.corpus.front_end.floor, np.float32)
        mels, active = [], []
        for item in items:
            clean = self.corpus.mel(item).astype(np.float32)
            parts = [clean, draw(400)] if self.augmenter else [clean]
            mels += parts
            active += [speech_frames(clean), *(np.zeros(len(p), bool) for p in parts[1:])]
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
        rows = [(fsmn_vad.stack(e.mel) + self.shift) * self.scale for e in examples]
        x, _ = data.padded([r.astype(np.float32) for r in rows])
        targets, _ = data.padded([e.active.astype(np.int64) for e in examples], data.IGNORE)
        return {"x": torch.from_numpy(x), "targets": torch.from_numpy(targets)}


def losses(model, batch):
    return {"frames": (F.cross_entropy(model(batch["x"]).flatten(0, 1), batch["targets"].flatten(),
                                       ignore_index=data.IGNORE), 1.0)}


def evaluate(model, batches):
    wrong = total = 0
    for indices in batches.epoch(1):
        batch = batches.make(indices)
        known = batch["targets"] != data.IGNORE
        wrong += int(((model(batch["x"]).argmax(-1) != batch["targets"]) & known).sum())
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
