# SPDX-License-Identifier: Apache-2.0
"""Judges a packaged forced aligner through `steno align`: how far the starts of words are from the truth.

usage: judge_aligner.py GRAMMAR [--program build/bin/steno] [--model examples/models/qwen3-aligner.gguf] [--count N]

Sentences, whose starts are espeak-ng's word marks; the same in noise and with voices that were in no training; two or
three sentences with pauses; and single words joined with gaps, whose starts are exact. Prints one row of a Markdown
table per line; the exit status is 1 when a line misses its limit.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import synthesize
from program import RATE, Table, arguments, write_wav


def starts_of(args, pcm, words):
    """When each word begins, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        wav, text = Path(folder, "a.wav"), Path(folder, "a.txt")
        write_wav(wav, pcm)
        text.write_text(" ".join(words))
        command = [args.program, "align", "-q", "-m", args.model, "--format", "json", "--threads", "1"]
        done = subprocess.run([*command, "--text", str(text), str(wav)], stdout=subprocess.PIPE, check=True)
    return [1000 * w["start"] for s in json.loads(done.stdout)["segments"] for w in s["words"]]


def sentences(espeak, grammar, rng, variants, many):
    """(samples, words, starts in ms) of so many sentences with pauses."""
    voice, parts, words, starts, at = synthesize.random_voice(rng, variants), [], [], [], 0
    for _ in range(many):
        text = grammar.draw(rng)
        audio, begin = synthesize.sentence(espeak, rng, text, voice)
        parts.append(audio)
        words += text.split()
        starts += [at / RATE * 1000 + b for b in begin]
        at += len(audio)
    return np.concatenate(parts), words, starts


def main():
    parser = arguments(__doc__, "qwen3-aligner")
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    grammar, espeak, table = synthesize.Grammar(args.grammar), synthesize.Espeak(), Table()

    def judge(name, make, mean, often):
        rng, off = random.Random(name), []
        for _ in range(args.count):
            audio, words, starts = make(rng)
            found = starts_of(args, synthesize.to_pcm16(audio / max(1.0, np.abs(audio).max())), words)
            assert len(found) == len(starts), (words, found)
            off += [abs(a - b) for a, b in zip(found, starts)]
        near = 100 * np.mean(np.array(off) <= 120)
        table.row(name, f"starts are off by {np.mean(off):.0f} ms in the mean, {np.quantile(off, 0.95):.0f} ms in 95 "
                  f"of 100; {near:.1f} % of {len(off)} words within 120 ms", f"{mean} ms in the mean, {often} %",
                  np.mean(off) <= mean and near >= often)

    def noisy(rng):
        audio, words, starts = sentences(espeak, grammar, rng, synthesize.VARIANTS, 1)
        hiss = np.random.default_rng(rng.randrange(1 << 30)).standard_normal(len(audio))
        return audio + synthesize.level(audio) * 10 ** (-15 / 20) * hiss, words, starts

    def joined(rng):
        words = [rng.choice(grammar.words) for _ in range(rng.randint(2, 8))]
        audio, starts = synthesize.joined_words(espeak, rng, words, synthesize.random_voice(rng))
        return audio, words, starts

    judge("sentences, training voices", lambda r: sentences(espeak, grammar, r, synthesize.VARIANTS, 1), 60, 90)
    judge("sentences, m8 and f5", lambda r: sentences(espeak, grammar, r, synthesize.HELD_OUT_VARIANTS, 1), 100, 85)
    judge("sentences, white noise, 15 dB", noisy, 80, 85)
    judge("two or three sentences", lambda r: sentences(espeak, grammar, r, synthesize.VARIANTS, r.randint(2, 3)), 100,
          75)
    judge("joined words", joined, 100, 75)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
