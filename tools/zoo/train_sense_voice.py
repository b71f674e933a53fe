# SPDX-License-Identifier: Apache-2.0
"""Trains the SenseVoice demonstration model: CTC, labels of frames, the four tags.

usage: train_sense_voice.py GRAMMAR DATA OUT [--epochs N | --minutes M] [--dev DATA] [--start WEIGHTS] [--resume]

DATA is a folder made by synthesize.py. OUT gets bpe.model, am.mvn, last.pt (averaged weights) and state.pt.
"""
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import features
import frontends
import loop
import packaged
import sense_voice
import tokenizer
from augment import Augmenter
from synthesize import Grammar


class Batches(data.Batches):
    def __init__(self, corpus, bpe, shift, scale, seed, batch, **more):
        super().__init__(corpus, seed, batch, **more)
        self.shift, self.scale = shift, scale
        t = bpe.tag
        self.speech_tags = [t("<|en|>"), t("<|NEUTRAL|>"), t("<|Speech|>")]
        self.other_tags = [t("<|nospeech|>"), t("<|EMO_UNKNOWN|>"), t("<|BGM|>")]
        self.itn_tags = {sense_voice.WITH_ITN: t("<|withitn|>"), sense_voice.WITHOUT_ITN: t("<|woitn|>")}

    def collate(self, examples):
        xs, queries, tags, frames = [], [], [], []
        for e in examples:
            language = self.rng.choice([sense_voice.LANGUAGE_AUTO, sense_voice.LANGUAGE_EN])
            itn = self.rng.choice([sense_voice.WITHOUT_ITN, sense_voice.WITHOUT_ITN, sense_voice.WITH_ITN])
            queries.append(sense_voice.queries(language, itn))
            tags.append((self.speech_tags if e.speech else self.other_tags) + [self.itn_tags[itn]])
            xs.append((features.lfr(e.mel) + self.shift) * self.scale)
            wanted = data.place(e.pieces, e.starts, len(xs[-1]), milliseconds=60, lead=30)
            frames.append(data.frame_targets(wanted, len(xs[-1]), tokenizer.BLANK))
        x, lengths = data.padded(xs)
        return {"x": torch.from_numpy(x), "lengths": torch.from_numpy(lengths), "query": torch.tensor(queries),
                "tags": torch.tensor(tags), "frame": torch.from_numpy(data.padded(frames, data.IGNORE)[0]),
                "ids": torch.tensor([i for e in examples for i in e.ids], dtype=torch.long),
                "counts": torch.tensor([len(e.ids) for e in examples])}


def losses(model, batch):
    logits = model(batch["x"], batch["lengths"], batch["query"])
    log_probs = logits.log_softmax(-1)
    tags = F.nll_loss(log_probs[:, : sense_voice.QUERIES].reshape(-1, logits.shape[-1]), batch["tags"].reshape(-1))
    text = log_probs[:, sense_voice.QUERIES :]
    pieces = batch["counts"].sum().clamp(min=1)
    ctc = F.ctc_loss(text.transpose(0, 1), batch["ids"], batch["lengths"], batch["counts"], blank=tokenizer.BLANK,
                     reduction="sum", zero_infinity=True) / pieces
    frame = F.nll_loss(text.reshape(-1, logits.shape[-1]), batch["frame"].reshape(-1), ignore_index=data.IGNORE,
                       reduction="sum") / pieces
    return {"ctc": (ctc, 1.0), "frame": (frame, 0.5), "tags": (tags, 0.2)}


def statistics(corpus, seed=3, count=600):
    """Mean and spread of augmented features, as the shift and scale of am.mvn."""
    augmenter, rng = Augmenter(corpus.front_end, seed, corpus.any), random.Random(seed)
    rows = np.concatenate([features.lfr(augmenter.speech(corpus.mel(i), i["level"])[0])
                           for i in rng.sample(corpus.items, min(count, len(corpus.items)))]).astype(np.float64)
    return (-rows.mean(0)).astype(np.float32), (1 / rows.std(0)).astype(np.float32)


def main():
    args = loop.parser(__doc__).parse_args()
    out = loop.begin(out=args.out)
    if not (out / "bpe.model").exists():
        tokenizer.train(Grammar(args.grammar), out / "bpe")
    bpe = tokenizer.Tokenizer(out / "bpe.model")
    corpus = data.Corpus(args.data, frontends.KALDI, bpe)
    if args.start and args.start.endswith(".gguf"):
        features.write_mvn(out / "am.mvn", *packaged.statistics(args.start, bpe.pieces()))
    if not (out / "am.mvn").exists():
        features.write_mvn(out / "am.mvn", *statistics(corpus))
    more = (bpe, *features.read_mvn(out / "am.mvn"))
    dev = args.dev and Batches(data.Corpus(args.dev, frontends.KALDI, bpe), *more, 12, args.batch, augment=False)

    def evaluate(model):
        def transcribe(batch):
            logits = model(batch["x"], batch["lengths"], batch["query"])[:, sense_voice.QUERIES :]
            return [bpe.text(data.greedy(rows[:n], tokenizer.BLANK)) for rows, n in zip(logits, batch["lengths"])]

        return f"word error rate on clean new sentences {data.word_errors(dev, transcribe):.2f} %"

    loop.train(sense_voice.SenseVoice(bpe.size), Batches(corpus, *more, args.seed, args.batch, nospeech=args.nospeech),
               losses, out, args, evaluate if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
