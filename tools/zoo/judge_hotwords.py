# SPDX-License-Identifier: Apache-2.0
"""Judges hotwords and language models of the demonstration models through the program that users run.

usage: judge_hotwords.py GRAMMAR [--program build/bin/steno] [--models NAME ...] [--count N] [--seed N] [--json FILE]
                         [--only hotwords streams scale lm] [--score X] [--lm-weight X] [--lm FILE]

hotwords  sentences with one of five words in white noise, at the first of a few levels at which less than 30 % of these
          words are found: how many are found with a list, and the errors of all other words
streams   the same of the families that stream, through `steno stream`
scale     the time of a list of 5000 phrases against that of one phrase: a long recording through the program
lm        word errors in noise with a bigram of the grammar and without

Prints a row of a Markdown table for each; --json stores them; the exit status is 1 when a row misses its limit.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import evaluate
import synthesize
from judge import Judge, text_of
from program import Program, Table, write_wav

WORDS = ("madrid", "sophie", "basement", "vienna", "umbrella")
MODELS = ("demo", "paraformer", "paraformer-online", "parakeet-ctc", "parakeet-tdt", "parakeet-eou", "u2", "whisper",
          "qwen3-asr", "fun-asr-nano")
GREEDY = ("qwen3-asr", "fun-asr-nano")  # without a beam
STREAMS = ("paraformer-online", "parakeet-ctc", "parakeet-tdt", "parakeet-eou", "u2", "qwen3-asr")
STREAM_WAYS = {"qwen3-asr": {"hotwords of its own stream": ["--own-stream"], "hotwords, live by segments": []}}
LEVELS = (-3, -4.5, -6, -8, -10, -12)


def bigram(grammar, sentences=20000, seed=5):
    """A bigram of the grammar with absolute discounting, as an ARPA file's text."""
    rng, ones, twos, follows = random.Random(seed), Counter(), Counter(), Counter()
    for _ in range(sentences):
        words = ["<s>", *grammar.draw(rng).split(), "</s>"]
        ones.update(words[1:])
        twos.update(zip(words, words[1:]))
    for word in grammar.words:  # each word of the grammar is known
        ones[word] += 1
    total, before = sum(ones.values()), Counter()
    for (a, b), n in twos.items():
        before[a] += n
        follows[a] += 1
    off = 0.5
    lines = ["\\data\\", f"ngram 1={len(ones) + 2}", f"ngram 2={len(twos)}", "", "\\1-grams:", "-7\t<unk>"]

    def backoff(word):
        rest = 1 - sum(ones[b] / total for (a, b) in by_first.get(word, ()))
        return math.log10(max(off * follows[word] / before[word] / max(rest, 1e-9), 1e-9)) if before[word] else 0

    by_first = {}
    for pair in twos:
        by_first.setdefault(pair[0], []).append(pair)
    lines.append(f"-99\t<s>\t{backoff('<s>'):.5f}")
    lines += [f"{math.log10(n / total):.5f}\t{word}\t{backoff(word):.5f}" for word, n in sorted(ones.items())]
    lines += ["", "\\2-grams:"]
    lines += [f"{math.log10((n - off) / before[a]):.5f}\t{a} {b}" for (a, b), n in sorted(twos.items())]
    return "\n".join([*lines, "", "\\end\\", ""])


def phrases(count, vocabulary=None, seed=7):
    """So many phrases of one to three words that nobody says, or of three words of a vocabulary."""
    rng = random.Random(seed)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]

    def phrase():
        if vocabulary:
            return " ".join(rng.choice(vocabulary) for _ in range(3))
        words = ["".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))) for _ in range(rng.randint(1, 3))]
        return " ".join(words)

    return sorted({phrase() for _ in range(2 * count)})[:count]


def word_errors(texts, results):
    wrong = sum(evaluate.edits(want.split(), text_of(got).split()) for want, got in zip(texts, results))
    return 100 * wrong / sum(len(t.split()) for t in texts)


def recall(texts, results):
    found = total = 0
    for want, got in zip(texts, results):
        for w in WORDS:
            total += want.split().count(w)
            found += min(want.split().count(w), text_of(got).split().count(w))
    return 100 * found / total


def other_errors(texts, results):
    pairs = [([w for w in want.split() if w not in WORDS], [w for w in text_of(got).split() if w not in WORDS])
             for want, got in zip(texts, results)]
    return 100 * sum(evaluate.edits(*p) for p in pairs) / sum(len(p[0]) for p in pairs)


class Streamed:
    """Many recordings through `steno stream`, one run each, as results of Program.transcribe."""

    def __init__(self, program, options):
        self.program, self.options = program, options

    def transcribe(self, recordings, *options):
        results = []
        for pcm in recordings:
            events = self.program.stream(pcm, *self.options, *options)
            results.append({"text": " ".join(e["text"] for e in events if e["type"] == "final")})
        return results


class HotwordJudge(Judge):
    def noisy(self, decibels, count=None, fits=None):
        return self.sentences("hotwords", change=self.white(decibels), count=count, fits=fits)

    def found(self, name, runner, beam, score, count=None):
        """Recall with and without a list, at the first level of noise that leaves less than 30 % without."""
        fits = (lambda t: any(w in t.split() for w in WORDS))
        base = ["--beam", "8"] if beam else []
        for decibels in LEVELS:
            texts, sounds = self.noisy(decibels, count, fits)
            plain = runner.transcribe(sounds, *base)
            if recall(texts, plain) < 30:
                break
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder, "words.txt")
            listed.write_text("\n".join(WORDS) + "\n")
            options = ["--hotwords", str(listed)] + (["--hotword-score", str(score)] if score else [])
            told = runner.transcribe(sounds, *base, *options)
        before, after = recall(texts, plain), recall(texts, told)
        lost = other_errors(texts, told) - other_errors(texts, plain)
        self.table.row(name, f"recall {before:.1f} % without, {after:.1f} % with a list; errors of other words "
                       f"{lost:+.2f} points (white noise, {decibels:g} dB)", "twice; 0.3 points",
                       after >= 2 * before and lost <= 0.3, before=before, after=after, lost=lost, decibels=decibels)

    def scale(self, name, beam, vocabulary=None, sentences=300, count=5000, rounds=15):
        """A list of `count` phrases against one of a single phrase, in one long recording, alternately."""
        _, sounds = self.sentences("scale", count=sentences)
        with tempfile.TemporaryDirectory() as folder:
            recording, lists, took = Path(folder, "long.wav"), {}, {1: [], count: []}
            write_wav(recording, np.concatenate(sounds))
            for n in took:
                lists[n] = Path(folder, f"{n}.txt")
                lists[n].write_text("\n".join(phrases(n, vocabulary)) + "\n")
            for _ in range(rounds):
                for n, times in took.items():
                    command = [self.program.program, "transcribe", "-m", self.program.model, "--threads", "1", "-q",
                               *beam, "--hotwords", str(lists[n]), "--format", "json", str(recording)]
                    before = os.times()
                    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    after = os.times()
                    if done.returncode != 0:
                        raise RuntimeError(done.stderr.decode())
                    times.append(sum(after[2:4]) - sum(before[2:4]))  # of children
        one, many = min(took[1]), min(took[count])
        more = 100 * (many / one - 1)
        self.table.row(name, f"{one:.2f} s of the processor with 1 phrase, {many:.2f} s with {count} ({more:+.1f} %)",
                       "10 % more", more <= 10, one=one, many=many)

    def language_model(self, name, runner, arpa, decibels, weight, beam):
        texts, sounds = self.sentences("language model", change=self.pink(decibels))
        plain = runner.transcribe(sounds, *beam)
        weights = ["--lm-weight", str(weight)] if weight is not None else []
        told = runner.transcribe(sounds, *beam, "--lm", arpa, *weights)
        none = runner.transcribe(sounds, *beam, "--lm", arpa, "--lm-weight", "0")
        same = [text_of(r) for r in none] == [text_of(r) for r in plain]
        before, after = word_errors(texts, plain), word_errors(texts, told)
        better = 100 * (1 - after / before) if before else 0
        self.table.row(name, f"{before:.2f} % word errors without, {after:.2f} % with a bigram ({better:.0f} % fewer; "
                       f"pink noise, {decibels:g} dB); weight 0: {'the same' if same else 'OTHER'} texts", "10 % fewer",
                       better >= 10 and same, before=before, after=after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("--program", default="build/bin/steno")
    parser.add_argument("--folder", default="examples/models")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--only", nargs="*", default=("hotwords", "streams", "scale", "lm"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--score", type=float)
    parser.add_argument("--lm")
    parser.add_argument("--lm-weight", type=float)
    parser.add_argument("--decibels", type=float, default=0)
    parser.add_argument("--json")
    args = parser.parse_args()
    table, grammar = Table(), synthesize.Grammar(args.grammar)
    binary = str(Path(args.program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        arpa = args.lm or str(Path(folder, "bigram.arpa"))
        if not args.lm:
            Path(arpa).write_text(bigram(grammar))
        for model in args.models:
            program = Program(binary, str(Path(args.folder, f"{model}.gguf")))
            judge = HotwordJudge(grammar, program, None, args.seed, args.count, table)
            beam = model not in GREEDY
            try:
                if "hotwords" in args.only:
                    judge.found(f"{model}: hotwords", program, beam, args.score)
                if "streams" in args.only and model in STREAMS:
                    for way, options in STREAM_WAYS.get(model, {"hotwords of a stream": []}).items():
                        judge.found(f"{model}: {way}", Streamed(program, options), beam, args.score, args.count)
                if "scale" in args.only:
                    judge.scale(f"{model}: 5000 phrases", ["--beam", "8"] if beam else [],
                                grammar.words,
                                20 if model == "whisper" else 300)
                if "lm" in args.only and model in ("demo", "parakeet-ctc", "parakeet-tdt", "parakeet-eou", "u2"):
                    judge.language_model(f"{model}: language model", program, arpa, args.decibels, args.lm_weight,
                                         ["--beam", "8"])
            except RuntimeError as e:
                print(f"    {model}: {e}", file=sys.stderr)
    if args.json:
        Path(args.json).write_text(json.dumps(table.rows, indent=1) + "\n")
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
