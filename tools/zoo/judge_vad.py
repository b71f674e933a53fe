# SPDX-License-Identifier: Apache-2.0
"""Judges a packaged FSMN-VAD through `steno vad`: ends of segments in a quarter of an hour of turns with pauses for
each noise, ten minutes of each sound without speech.

usage: judge_vad.py GRAMMAR [--program build/bin/steno] [--model examples/models/fsmn-vad.gguf] [--minutes M]

Prints one row of a Markdown table per line; the exit status is 1 when a line misses its limit.
"""
import json
import random
import subprocess
import sys

import numpy as np

import evaluate
import synthesize
from augment import music, shaped_noise, tones
from judge import RATE, Table, arguments

NEAR = 0.1  # seconds


def segments(command, pcm):
    out = subprocess.run(command, input=np.asarray(pcm, "<i2").tobytes(), stdout=subprocess.PIPE, check=True).stdout
    return [(s["start"], s["end"]) for s in json.loads(out)["segments"]]


def turns(espeak, grammar, rng, variants, minutes):
    """(samples, [(start, end) in seconds])."""
    parts, truth, length = [], [], 0
    while length < minutes * 60 * RATE:
        pause = int(RATE * rng.uniform(1, 4))
        audio = synthesize.resample(espeak.speak(grammar.draw(rng), *synthesize.random_voice(rng, variants))[0])
        audio = audio * 10 ** (rng.uniform(-12, 0) / 20)
        loud = np.flatnonzero(np.abs(audio) > 0.01 * np.abs(audio).max())
        truth.append(((length + pause + loud[0]) / RATE, (length + pause + loud[-1]) / RATE))
        parts += [np.zeros(pause), audio]
        length += pause + len(audio)
    return np.concatenate([*parts, np.zeros(2 * RATE)]), truth


def main():
    parser = arguments(__doc__, "fsmn-vad")
    parser.add_argument("--minutes", type=float, default=10)
    args = parser.parse_args()
    command = [args.program, "vad", "-q", "-m", args.model, "--format", "json", "--min-silence", "600",
               "--pcm-format", "s16le", "--pcm-rate", "16000", "-"]
    grammar, espeak, table = synthesize.Grammar(args.grammar), synthesize.Espeak(), Table()
    noises = {"digital silence between them": lambda r, n: np.zeros(n),
              "white noise, 20 dB": lambda r, n: r.standard_normal(n),
              "pink noise, 20 dB": lambda r, n: shaped_noise(r, n, 1.0),
              "music, 20 dB": music}
    for number, (name, noise) in enumerate(noises.items()):
        for title, variants in (("training voices", synthesize.VARIANTS), ("m8 and f5", synthesize.HELD_OUT_VARIANTS)):
            rng, hiss = random.Random(f"{number} {title}"), np.random.default_rng(number)
            audio, truth = turns(espeak, grammar, rng, variants, 1.5 * args.minutes)
            around = noise(hiss, len(audio))
            level = synthesize.level(audio) / max(1e-9, np.sqrt((around ** 2).mean())) * 10 ** (-20 / 20)
            found = segments(command, synthesize.to_pcm16(evaluate.limit(audio + level * around)))
            near = [min(((abs(f[0] - t[0]), abs(f[1] - t[1])) for f in found), key=max, default=(9, 9)) for t in truth]
            good = 100 * np.mean([max(n) <= NEAR for n in near])
            off = [(f[0] - t[0], f[1] - t[1]) for t in truth for f in found
                   if max(abs(f[0] - t[0]), abs(f[1] - t[1])) < 0.5]
            middle = 1000 * np.median(off, axis=0) if off else (0, 0)
            table.row(f"turns, {title}, {name}", f"{good:.1f} % of {len(truth)} turns within 100 ms at both ends "
                      f"(median {middle[0]:+.0f} and {middle[1]:+.0f} ms), {len(found)} segments", "95 %", good >= 95)
    quiet = {"digital silence": lambda r, n: np.zeros(n),
             "white noise": lambda r, n: 10 ** r.uniform(-3.5, -0.8) * r.standard_normal(n),
             "pink noise": lambda r, n: 10 ** r.uniform(-3.5, -0.8) * shaped_noise(r, n, 1.0),
             "brown noise": lambda r, n: 10 ** r.uniform(-3.5, -0.8) * shaped_noise(r, n, 2.0),
             "tones": lambda r, n: 10 ** r.uniform(-3, -0.8) * tones(r, n),
             "music": lambda r, n: 10 ** r.uniform(-2.5, -0.8) * music(r, n)}
    for name, make in quiet.items():
        rng = np.random.default_rng(len(name))
        parts = [make(rng, 30 * RATE) for _ in range(int(args.minutes * 2))]
        found = segments(command, synthesize.to_pcm16(evaluate.limit(np.concatenate(parts))))
        table.row(f"{args.minutes:g} minutes of {name}", f"{len(found)} segments, {sum(e - s for s, e in found):.1f} s",
                  "0", not found)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
