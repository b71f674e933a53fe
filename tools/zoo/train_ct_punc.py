# SPDX-License-Identifier: Apache-2.0
"""Trains the CT-Transformer (punctuation) demonstration model on sentences of a grammar, with their marks.

usage: train_ct_punc.py GRAMMAR OUT [--dev N] [--minutes M] [--epochs N] [--resume] ...

OUT gets last.pt and tokens.json. No sound is needed. An example is what a pass of the model sees: a few sentences from
the beginning of one on, often cut in the middle of the last, whose last word then has no mark to learn.
"""
import json
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import ct_punc
import loop
from synthesize import Grammar

NONE, COMMA, STOP, QUESTION = (ct_punc.MARKS.index(mark) for mark in ("_", ct_punc.COMMA, *ct_punc.ENDS))
QUESTIONS = ("what", "how", "where")  # the first words of those
# A comma stands in front of these, where they begin a clause.
CLAUSES = (("and", "lock"), ("saying", "i"))
SIZES = {"size": 128, "heads": 4, "units": 384, "blocks": 3, "kernel": 11}
UNKNOWN = 0.02  # share of words that the model is not to know


def marked(sentence):
    """(words, mark behind each) of a sentence of the grammar."""
    words = sentence.split()
    marks = [NONE] * len(words)
    for i, pair in enumerate(zip(words[1:], words[2:])):
        if pair in CLAUSES:
            marks[i] = COMMA
    marks[-1] = QUESTION if words[0] in QUESTIONS else STOP
    return words, marks


def text_of(grammar, rng, sentences):
    """(words, marks) of so many sentences in a row. No sentence of digits stands behind another number: where one ends
    and the next one begins nobody could tell."""
    words, marks = [], []
    figures = {w for name in ("digit", "teen", "ten", "unit") for w in grammar.slots[name]} | {"hundred"}
    while sentences:
        more, behind = marked(grammar.draw(rng))
        if words and words[-1] in figures and more[0] in figures:
            continue
        words += more
        marks += behind
        sentences -= 1
    return words, marks


def tokens_of(grammar):
    return ["<unk>", "<s>", "</s>", *grammar.words]


class Batches:
    """As corpus.Batches, of texts; an epoch is of 200 steps."""

    class corpus:
        items, rows = range(1), range(0)

    def __init__(self, grammar, seed, batch):
        self.grammar, self.seed, self.batch = grammar, seed, batch
        self.number = {w: i for i, w in enumerate(tokens_of(grammar))}

    def epoch(self, number):
        return list(range(200))

    def make(self, _, step=0):
        rng = random.Random(f"{self.seed} step {step}")
        ids, marks = [], []
        for _ in range(self.batch):
            words, target = text_of(self.grammar, rng, rng.randint(1, rng.choice([3, 8])))
            if rng.random() < 0.7:
                length = rng.randint(1, len(words))
                if target[length - 1] == NONE or length < len(words):
                    target[length - 1] = data.IGNORE
                words, target = words[:length], target[:length]
            ids.append(np.array([0 if rng.random() < UNKNOWN else self.number[w] for w in words]))
            marks.append(np.array(target))
        ids, lengths = data.padded(ids)
        return {"ids": torch.from_numpy(ids), "lengths": torch.from_numpy(lengths),
                "marks": torch.from_numpy(data.padded(marks, data.IGNORE)[0])}


def losses(model, batch):
    x = model.decoder(model.encoder(model.embed(batch["ids"]), batch["lengths"]))
    return {"marks": (F.cross_entropy(x.flatten(0, 1), batch["marks"].flatten(), ignore_index=data.IGNORE), 1.0)}


def f1(pairs):
    """{mark: F1 in percent} of (wanted, found) marks, each a list; and of all of them together."""
    found = {}
    for name, kinds in (("comma", (COMMA,)), ("full stop", (STOP,)), ("question mark", (QUESTION,)),
                        ("all", (COMMA, STOP, QUESTION))):
        right = sum(w == g and w in kinds for want, got in pairs for w, g in zip(want, got))
        many = sum(w in kinds for want, _ in pairs for w in want) + sum(g in kinds for _, got in pairs for g in got)
        found[name] = 200.0 * right / max(1, many)
    return found


@torch.no_grad()
def judged(model, grammar, texts, seed=5):
    """(wanted, found) marks of new texts, which go through the model as it is used: twenty words more at a time."""
    rng, tokens, pairs = random.Random(seed), tokens_of(grammar), []
    for _ in range(texts):
        words, marks = text_of(grammar, rng, rng.randint(1, 12))
        said = [m for p in ct_punc.passes(model, tokens, " ".join(words)) for m in p["said"]]
        pairs.append((marks, said))
    return pairs


def main():
    parser = loop.parser(__doc__, places=("grammar", "out"), rate=2e-3, batch=32, seed=95)
    args = parser.parse_args()
    out, grammar = loop.begin(out=args.out), Grammar(args.grammar)
    tokens = tokens_of(grammar)
    (out / "tokens.json").write_text(json.dumps(tokens, indent=1) + "\n")
    model = ct_punc.CtPunc(len(tokens), **SIZES)
    torch.nn.init.normal_(model.embed.weight, std=SIZES["size"] ** -0.5)

    def evaluate(m):
        return ", ".join(f"{name} {value:.2f}" for name, value in f1(judged(m, grammar, int(args.dev))).items())

    loop.train(model, Batches(grammar, args.seed, args.batch), losses, out, args, evaluate if args.dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
