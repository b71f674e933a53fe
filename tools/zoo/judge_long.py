# SPDX-License-Identifier: Apache-2.0
"""Judges a demonstration model of the language models on long recordings: does a stream slow down, does it take back
what it had settled, does it turn in circles, why does it stop?

usage: judge_long.py GRAMMAR [--model examples/models/qwen3-asr.gguf] [--program build/bin/steno] [--minutes M]

A stream of --minutes (10), 3 times as much speech through `steno transcribe --vad energy`, and --minutes of each sound
without speech both ways. Prints a table; the exit status is 1 when something is wrong.
"""
import random
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import evaluate
import synthesize
from augment import music, shaped_noise, tones
from judge import RATE, Judge, Program, Table, arguments, rounds, settled_that_changed, text_of


class Long:
    def __init__(self, judge, program, minutes, table):
        self.judge, self.program, self.minutes, self.table = judge, program, minutes, table

    def streamed(self, name, pcm):
        """(events, text) of a stream; rows of the table about its calm."""
        events = [e for e in self.program.stream(pcm) if e["type"] in ("partial", "final")]
        changed, told = settled_that_changed(events)
        self.table.row(f"{name}: settled text that changed", f"{changed} of {told}", "0", changed == 0)
        why = Counter(e["stop"] for e in events)
        text = " ".join(e["text"] for e in events if e["type"] == "final")
        text = re.sub(r"\s+", " ", text).strip()
        self.table.row(f"{name}: why writing stopped", ", ".join(f"{k} {v}" for k, v in why.items()), "end_of_text",
                       set(why) <= {"end_of_text"})
        return events, text

    def speech(self):
        talk = self.judge.talk("long stream", self.minutes)
        events, text = self.streamed("speech", talk.whole)
        took = [(e["heard"] + e.get("start", 0) if e["type"] == "partial" else e["end"], e["latency_ms"])
                for e in events if "latency_ms" in e]
        fifth = 60 * self.minutes / 5
        shares = [np.mean([ms for at, ms in took if n * fifth <= at < (n + 1) * fifth]) / 2000 for n in range(5)]
        self.table.row("speech: real-time factor, fifth by fifth", ", ".join(f"{s:.3f}" for s in shares),
                       "does not rise", shares[-1] <= 1.3 * np.median(shares))
        words = " ".join(talk.texts).split()
        wrong = evaluate.edits(words, text.split())
        self.table.row("speech: streamed", f"{100 * wrong / len(words):.2f} % word errors", "", True)
        talk = self.judge.talk("long recording", 3 * self.minutes)
        result = self.program.transcribe([talk.whole], "--vad", "energy")[0]
        words, got = " ".join(talk.texts).split(), text_of(result).split()
        wrong = evaluate.edits(words, got)
        pieces = Counter(s["extra"]["stop"] for s in result["segments"])
        self.table.row(f"speech of {3 * self.minutes} minutes", f"{100 * wrong / len(words):.2f} % word errors, "
                       f"{rounds(got)} rounds at most, stops " + ", ".join(f"{k} {v}" for k, v in pieces.items()),
                       "3 rounds, or as said", rounds(got) <= max(3, rounds(words)))

    def nothing(self, name, make):
        rng = np.random.default_rng(random.Random(name).randrange(1 << 30))
        pcm = synthesize.to_pcm16(make(rng, 60 * self.minutes * RATE))
        _, text = self.streamed(name, pcm)
        whole = self.program.transcribe([pcm])[0]
        said = text_of(whole).strip()
        self.table.row(f"{name}: text", f"stream {len(text.split())} words, whole {len(said.split())} words "
                       f"({whole['extra'].get('stop', '')})", "0", not text and not said)


def main():
    parser = arguments(__doc__, "qwen3-asr")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    table, program = Table(), Program(str(Path(args.program).resolve()), args.model)
    judge = Judge(synthesize.Grammar(args.grammar), program, None, 9000, 300, table)
    long = Long(judge, program, args.minutes, table)
    sounds = {"silence": lambda r, n: np.zeros(n), "white noise": lambda r, n: 0.01 * r.standard_normal(n),
              "brown noise": lambda r, n: 0.03 * shaped_noise(r, n, 2.0), "tones": lambda r, n: 0.05 * tones(r, n),
              "music": lambda r, n: 0.05 * music(r, n)}
    if not args.only or "speech" in args.only:
        long.speech()
    for name, make in sounds.items():
        if not args.only or name in args.only:
            long.nothing(name, make)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
