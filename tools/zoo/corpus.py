# SPDX-License-Identifier: Apache-2.0
"""A data set as one front end hears it, and its utterances as batches of examples, the same for every family.

An example is an utterance (or several joined to one recording, or noise alone) with fresh augmentation; a family makes
its own tensors of a list of examples (`Batches.collate`).
"""
import json
import math
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import frontends
from augment import Augmenter

IGNORE = -100


class Corpus:
    def __init__(self, folder, front_end, bpe):
        """bpe.words(text) gives the pieces of each word."""
        with open(Path(folder) / "meta.jsonl") as f:
            self.items = [json.loads(line) for line in f]
        self.front_end = front_end
        self.rows, first = frontends.stored(folder, self.items, front_end)
        for i, item in enumerate(self.items):
            item["rows"] = slice(int(first[i]), int(first[i + 1]))
            item["frames"] = int(first[i + 1] - first[i])
            item["pieces"] = bpe.words(item["words"])

    def mel(self, item):
        return self.rows[item["rows"]]

    def any(self, rng):
        item = self.items[rng.integers(len(self.items))]
        return self.mel(item).astype(np.float32), item["level"]


@dataclass
class Example:
    """mel: log mel energies (frames, bins), one frame every 10 ms; pieces: those of each word; starts: of each word in
    ms; turns: (number of words, start and end of the speech in ms) of each utterance that was joined; gaps: some words
    were spoken one by one; lasting: how long each word is heard in ms, where a family wants to know."""

    mel: np.ndarray
    pieces: list
    starts: list
    turns: list
    speech: bool = True
    gaps: bool = False
    lasting: list = None

    @property
    def ids(self):
        return [p for word in self.pieces for p in word]


class Batches:
    """Batches of similar lengths. Families derive from it and give `collate(examples)`; `self.rng` is theirs to use.

    Everything drawn at random depends on the seed, the epoch and the step alone, so that a training that was
    interrupted goes on with the very examples it would have had."""

    long_share, most_joined, longest = 0.1, 6, 2500
    # score(mels): how much a model makes of each of several sounds without speech. Where a family has one, half of
    # those examples are the worst of `tries`.
    score, tries = None, 4

    def __init__(self, corpus, seed, batch, augment=True, nospeech=0.0, noise=None):
        self.corpus, self.seed, self.batch, self.nospeech = corpus, seed, batch, nospeech
        self.augmenter = Augmenter(corpus.front_end, seed, corpus.any) if augment else None
        if augment and noise:
            self.augmenter.noisy, self.augmenter.snr = noise[0], (noise[1], self.augmenter.snr[1])
        self.rng = random.Random(seed)

    def epoch(self, number):
        """Lists of indices of utterances, in random order; about the same number of frames in each."""
        rng = random.Random(f"{self.seed} epoch {number}")
        items = self.corpus.items
        order = sorted(range(len(items)), key=lambda i: items[i]["frames"] * rng.uniform(0.95, 1.05))
        budget = self.batch * np.mean([i["frames"] for i in items])
        batches, current = [], []
        for i in order:
            if current and (len(current) + 1) * items[i]["frames"] > budget:
                batches.append(current)
                current = []
            current.append(i)
        batches.append(current)
        rng.shuffle(batches)
        return batches

    def make(self, indices, step=0):
        """The batch of these utterances at this step."""
        self.rng = random.Random(f"{self.seed} step {step}")
        if self.augmenter:
            self.augmenter.rng = np.random.default_rng([self.seed, step])
        return self.collate([self.example(group) for group in self.group(indices)])

    def group(self, indices):
        """Sometimes several utterances are joined to one, so that long recordings are learnt, too."""
        size = 1
        if self.augmenter and self.rng.random() < self.long_share:
            frames = max(self.corpus.items[i]["frames"] for i in indices)
            size = max(1, min(self.rng.randint(2, self.most_joined), self.longest // frames))
        return [indices[i : i + size] for i in range(0, len(indices), size)]

    def example(self, group):
        example, level = self.join([self.corpus.items[i] for i in group])
        if not self.augmenter:
            return example
        if self.rng.random() < self.nospeech:
            tries = self.tries if self.score and self.rng.random() < 0.5 else 1
            mels = [self.augmenter.nospeech()[: max(98, len(example.mel) + 60)] for _ in range(tries)]
            return Example(mels[int(np.argmax(self.score(mels))) if tries > 1 else 0], [], [], [], speech=False)
        example.mel, pad = self.augmenter.speech(example.mel, level)
        example.starts = [s + 10 * pad for s in example.starts]
        example.turns = [(n, start + 10 * pad, end + 10 * pad) for n, start, end in example.turns]
        return example

    def join(self, items):
        mels, pieces, starts, turns, time = [], [], [], [], 0
        for item in items:
            mels.append(self.corpus.mel(item))
            pieces += item["pieces"]
            starts += [time + s for s in item["starts"]]
            turns.append((len(item["pieces"]), *(time + t for t in item["span"])))
            time += 10 * len(mels[-1])
        level = math.sqrt(sum(i["level"] ** 2 for i in items) / len(items))
        gaps = any(item["isolated"] for item in items)
        return Example(np.concatenate(mels).astype(np.float32), pieces, starts, turns, gaps=gaps), level

    def collate(self, examples):
        raise NotImplementedError


def padded(arrays, filling=0):
    """(arrays one below the other, filled up to the longest; their lengths)."""
    lengths = np.array([len(a) for a in arrays])
    out = np.full((len(arrays), lengths.max(), *arrays[0].shape[1:]), filling, arrays[0].dtype)
    for row, a in zip(out, arrays):
        row[: len(a)] = a
    return out, lengths


def place(pieces, starts, frames, milliseconds, lead=0.0, spread=2.5):
    """The frame that each piece is wanted on: a word's first piece on the frame where the word starts (frame n stands
    for n * milliseconds - lead), the others spread over the word. None where they do not fit."""
    wanted, last, previous = [], -1, None
    for i, (ids, start) in enumerate(zip(pieces, starts)):
        first = (start + lead) / milliseconds
        room = ((starts[i + 1] - start) / milliseconds if i + 1 < len(starts) else 99) / len(ids)
        for k, piece in enumerate(ids):
            at = max(int(first + k * min(room, spread) + 0.5), last + (2 if piece == previous else 1))
            if at >= frames:
                return None
            wanted.append((at, piece))
            last, previous = at, piece
    return wanted


def frame_targets(wanted, frames, blank, before=1):
    """Per-frame classes; the frame behind a placed piece and `before` frames before it are left free. `wanted` may be
    None."""
    target = np.full(frames, IGNORE if wanted is None else blank, np.int64)
    for at, _ in wanted or []:
        target[max(0, at - before) : at + 2] = IGNORE
    for at, piece in wanted or []:
        target[at] = piece
    return target


def numbered(words, bpe):
    """Numbers from 1 of words, found by their pieces."""
    return {tuple(bpe.words(word)[0]): 1 + i for i, word in enumerate(words)}


def words_said(example, numbers, rows, milliseconds, late=0.0):
    """The number of the word that each row is in, or was in `late` ms before; 0 before and behind speech; rows that may
    be either are left out."""
    said = np.full(rows, IGNORE, np.int64)
    before, starts, turns = 0.0, example.starts, example.turns
    for _, start, end in turns:
        said[int(before / milliseconds) : max(0, int((start + late - 80) / milliseconds) - 1)] = 0
        before = end + 300
    said[int(before / milliseconds) :] = 0
    for pieces, start, following in zip(example.pieces, starts, [*starts[1:], turns[-1][2] if turns else 0]):
        # A row hears a little more than its own time.
        over = min(following, start + 700)
        said[int((start + late) / milliseconds) : int((over + late) / milliseconds)] = numbers[tuple(pieces)]
    return said


def greedy(logits, blank):
    """The best path's pieces."""
    ids, previous = [], blank
    for i in logits.argmax(-1).tolist():
        if i != previous and i != blank:
            ids.append(i)
        previous = i
    return ids


def edits(want, got):
    """Insertions, deletions and replacements between two lists of words, which may be those of hours."""
    number = {w: i for i, w in enumerate({*want, *got})}
    got = np.array([number[w] for w in got], int)
    at = np.arange(len(got) + 1)
    row = at.copy()
    for i, word in enumerate(want):
        new = np.minimum(row + 1, np.concatenate([[i + 1], row[:-1] + (got != number[word])]))
        row = np.minimum.accumulate(new - at) + at  # insertions
    return int(row[-1])


def word_errors(batches, transcribe):
    """Percentage of word errors on all utterances of `batches` (made without augmentation); transcribe(batch) gives
    texts."""
    wrong = total = 0
    for indices in batches.epoch(1):
        for i, text in zip(indices, transcribe(batches.make(indices))):
            want = batches.corpus.items[i]["words"].split()
            wrong += edits(want, text.split())
            total += len(want)
    return 100.0 * wrong / total
