# SPDX-License-Identifier: Apache-2.0
"""Trains the Parakeet demonstration models (FastConformer of NeMo).

usage: train_parakeet.py {ctc,tdt,eou} GRAMMAR DATA OUT [--epochs N | --minutes M] [--dev DATA] [--start WEIGHTS] [--resume]

DATA is a folder made by synthesize.py. OUT gets bpe.model, last.pt (averaged weights) and state.pt.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import fastconformer
import frontends
import loop
import tokenizer
from synthesize import Grammar

FRONT_END = frontends.nemo(80)
FRAME = 80  # ms from one row to the next
SIZES = {"bands": 80, "layers": 5, "size": 128, "heads": 4, "channels": 32}


def ends(example):
    """The time in ms at which each word is over: where the next one starts, or where the speech of its turn ends."""
    times, at = list(example.starts[1:]) + [0], 0
    for count, _, end in example.turns:
        at += count
        times[at - 1] = max(end, example.starts[at - 1] + FRAME)
    return times


def place_at_ends(example, rows):
    """The row that each piece is wanted on for NeMo's CTC times: a token lies between the row of the token before and its
    own, so a word's last piece is wanted where the next word starts. The first token lies within one row; a first word
    of one piece is wanted halfway."""
    wanted, last, previous = [], -1, None
    for i, (ids, start, end) in enumerate(zip(example.pieces, example.starts, ends(example))):
        if i == 0:
            start += FRAME
            times = [start + (end - start) * k / (len(ids) - 1) for k in range(len(ids))] if len(ids) > 1 else [
                max(start, (start + end) / 2)]
        else:
            times = [start + (end - start) * (k + 1) / len(ids) for k in range(len(ids))]
        for piece, time in zip(ids, times):
            at = max(int(time / FRAME + 0.5), last + (2 if piece == previous else 1))
            if at >= rows:
                return None
            wanted.append((at, piece))
            last, previous = at, piece
    return wanted


class CtcBatches(data.Batches):
    def __init__(self, corpus, blank, seed, batch, **more):
        super().__init__(corpus, seed, batch, **more)
        self.blank = blank

    def features(self, mel):
        return frontends.per_feature(self.corpus.front_end.finish(mel))

    def rows(self, frames):
        for _ in range(3):
            frames = (frames - 1) // 2 + 1
        return frames

    def collate(self, examples):
        x, lengths = data.padded([self.features(e.mel) for e in examples])
        frames = []
        for e in examples:
            rows = self.rows(len(e.mel))
            frames.append(data.frame_targets(place_at_ends(e, rows), rows, self.blank, before=0))
        return {"x": torch.from_numpy(x), "lengths": torch.from_numpy(lengths),
                "frame": torch.from_numpy(data.padded(frames, data.IGNORE)[0]),
                "ids": torch.tensor([i for e in examples for i in e.ids], dtype=torch.long),
                "counts": torch.tensor([len(e.ids) for e in examples])}


def ctc_losses(model, batch):
    logits, lengths = model(batch["x"], batch["lengths"])
    log_probs = logits.log_softmax(-1)
    pieces = batch["counts"].sum().clamp(min=1)
    ctc = F.ctc_loss(log_probs.transpose(0, 1), batch["ids"], lengths, batch["counts"], blank=model.blank,
                     reduction="sum", zero_infinity=True) / pieces
    frame = F.nll_loss(log_probs.flatten(0, 1), batch["frame"].flatten(), ignore_index=data.IGNORE,
                       reduction="sum") / pieces
    return {"ctc": (ctc, 1.0), "frame": (frame, 0.5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=["ctc"])
    parser.add_argument("grammar")
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--dev")
    loop.add_arguments(parser)
    args = parser.parse_args()
    loop.begin()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "bpe.model").exists():
        tokenizer.train(Grammar(args.grammar), out / "bpe", tags=[])
    bpe = tokenizer.Tokenizer(out / "bpe.model")
    batches = CtcBatches(data.Corpus(args.data, FRONT_END, bpe), bpe.size, args.seed, args.batch, nospeech=args.nospeech)
    dev = args.dev and CtcBatches(data.Corpus(args.dev, FRONT_END, bpe), bpe.size, 12, args.batch, augment=False)

    def evaluate(model):
        def transcribe(batch):
            logits, lengths = model(batch["x"], batch["lengths"])
            return [bpe.text(data.greedy(rows[:n], model.blank)) for rows, n in zip(logits, lengths)]

        return f"word error rate on clean new sentences {data.word_errors(dev, transcribe):.2f} %"

    loop.train(fastconformer.ParakeetCtc(bpe.size, **SIZES), batches, ctc_losses, out, args, evaluate if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
