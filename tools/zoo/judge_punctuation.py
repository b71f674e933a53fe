# SPDX-License-Identifier: Apache-2.0
"""Judges a packaged CT-Transformer (punctuation).

usage: judge_punctuation.py GRAMMAR [--program build/bin/steno] [--model examples/models/ct-punc.gguf] [--texts N]

New texts of 1 to 12 sentences through the reference network with the packaged weights, 8 bits and all; and newly spoken
recordings of 1 to 6 sentences in a row through `steno transcribe --punctuate` with the SenseVoice model, whose word
errors count, too. F1 in percent: marks behind the right words. Prints one row of a Markdown table per line; the exit
status is 1 when a line misses its limit.
"""
import difflib
import random
import re
import sys
from pathlib import Path

import numpy as np

import ct_punc
import packaged
import synthesize
import train_ct_punc
from program import Program, Table, arguments

SIGNS = {"": train_ct_punc.NONE, ",": train_ct_punc.COMMA, ".": train_ct_punc.STOP, "?": train_ct_punc.QUESTION}


def packaged_model(path):
    return ct_punc.from_checkpoint({name: packaged.unpacked(t, like) for name, t, like in matched(path)})


def matched(path):
    """The packaged tensors with those of a model of the same sizes."""
    _, tensors = packaged.read(path)
    model = ct_punc.CtPunc(len(tensors["embed.weight"]), len(tensors["decoder.weight"]), **train_ct_punc.SIZES)
    own = model.state_dict()
    return [(name, tensors[name], like) for name, like in own.items()]


def marks_of(text):
    """(words in small letters, mark behind each)."""
    parts = [re.fullmatch(r"(.*?)([,.?]?)", part).groups() for part in text.split()]
    return [word.lower() for word, _ in parts], [SIGNS[sign] for _, sign in parts]


def aligned(want, got):
    """(wanted, found) marks of two texts, (words, marks) each: words that only one has have none in the other."""
    wanted, found, none = [], [], train_ct_punc.NONE
    for kind, a, b, c, d in difflib.SequenceMatcher(None, want[0], got[0], autojunk=False).get_opcodes():
        if kind == "equal":
            wanted += want[1][a:b]
            found += got[1][c:d]
        else:
            wanted += [*want[1][a:b], *[none] * (d - c)]
            found += [*[none] * (b - a), *got[1][c:d]]
    return wanted, found


def row(table, name, pairs, limit):
    scores = train_ct_punc.f1(pairs)
    each = ", ".join(f"{kind} {value:.1f}" for kind, value in scores.items() if kind != "all")
    marks = sum(m != train_ct_punc.NONE for want, _ in pairs for m in want)
    table.row(name, f"F1 {scores['all']:.1f} % ({each}; {marks} marks)", f"{limit} %", scores["all"] >= limit)


def main():
    parser = arguments(__doc__, "ct-punc")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--recordings", type=int, default=200)
    args = parser.parse_args()
    grammar, table = synthesize.Grammar(args.grammar), Table()
    row(table, "texts", train_ct_punc.judged(packaged_model(args.model), grammar, args.texts, seed=1234), 99)
    rng, espeak = random.Random(4321), synthesize.Espeak()
    texts, sounds = [], []
    while len(texts) < args.recordings:
        voice, spoken, parts = synthesize.random_voice(rng), [], []
        words, marks = train_ct_punc.text_of(grammar, rng, rng.randint(1, 6))
        for word, mark in zip(words, marks):
            spoken.append(word)
            if mark in (train_ct_punc.STOP, train_ct_punc.QUESTION):
                parts.append(synthesize.resample(espeak.speak(" ".join(spoken), *voice)[0]))
                spoken = []
        texts.append((words, marks))
        sounds.append(synthesize.to_pcm16(np.concatenate(parts)))
    program = Program(args.program, str(Path(args.model).with_name("demo.gguf")))
    results = program.transcribe(sounds, "--punctuate", args.model, "--max-clip-seconds", "60")
    row(table, "recordings", [aligned(want, marks_of(got["text"])) for want, got in zip(texts, results)], 95)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
