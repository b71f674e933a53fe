# SPDX-License-Identifier: Apache-2.0
"""Judges a model on hours of speech, silence, noise and tones through `steno transcribe`: does its memory grow, do
times ever go back, does every window end, and what became of the windows.

usage: judge_windows.py GRAMMAR [--program build/bin/steno] [--model examples/models/whisper.gguf] [--hours 2]
                        [--only NAME ...] [--json FILE] [-- OPTIONS of steno]
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

import numpy as np

import synthesize
from augment import music, shaped_noise, tones
from corpus import edits
from judge import RATE, arguments, rounds

SHORT = 600  # seconds, whose memory is compared with that of all


def turns(grammar, seed):
    """Pieces of sound and what is said in them: turns with pauses of up to 3 s in faint noise."""
    rng, noise, espeak = random.Random(seed), np.random.default_rng(seed), synthesize.Espeak()
    while True:
        text = grammar.draw(rng)
        audio = synthesize.resample(espeak.speak(text, *synthesize.random_voice(rng))[0])
        audio = np.concatenate([np.zeros(int(RATE * rng.uniform(0.2, 3))), audio])
        yield synthesize.to_pcm16(audio + 1e-4 * noise.standard_normal(len(audio))), text


def sounds(kind, grammar, seed=4000):
    if kind == "turns":
        yield from turns(grammar, seed)
    rng = np.random.default_rng(seed)
    while True:
        n = int(RATE * rng.uniform(2, 40))
        if kind == "silence":
            yield np.zeros(n, np.int16), ""
        elif kind == "noise":
            yield synthesize.to_pcm16(shaped_noise(rng, n, rng.uniform(0, 2)) * 10 ** rng.uniform(-3.5, -0.8)), ""
        else:
            make = tones if rng.random() < 0.5 else music
            yield synthesize.to_pcm16(make(rng, n) * 10 ** rng.uniform(-3, -0.8)), ""


def make(path, kind, grammar, seconds):
    """Writes the sound; what is said in it, with the time at which each turn is over."""
    said, left = [], int(seconds * RATE)
    with wave.open(str(path), "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(RATE)
        for pcm, text in sounds(kind, grammar):
            if len(pcm) > left:
                if kind != "turns":
                    w.writeframes(pcm[:left].tobytes())
                break
            w.writeframes(pcm.tobytes())
            left -= len(pcm)
            said.append(text)
    return said


def run(command):
    """(most resident memory in MiB, seconds) of a program that ends well."""
    began = time.time()
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(message.decode())
    return usage.ru_maxrss / 1024, time.time() - began


def main():
    parser = arguments(__doc__, "whisper")
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--only", nargs="*", default=["turns", "silence", "noise", "tones"])
    parser.add_argument("--json")
    args, options = parser.parse_known_args()
    grammar, figures, failed = synthesize.Grammar(args.grammar), {}, False
    for kind in args.only:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            peaks = []
            for name, seconds in (("short", SHORT), ("all", 3600 * args.hours)):
                said = make(folder / "sound.wav", kind, grammar, seconds)
                peak, spent = run([args.program, "transcribe", "-m", args.model, "-q", "--threads", "1", "--format",
                                   "json", "-o", str(folder / "out.json"), *[o for o in options if o != "--"],
                                   str(folder / "sound.wav")])
                peaks.append(peak)
            result = json.loads((folder / "out.json").read_text())
            with wave.open(str(folder / "sound.wav")) as w:
                duration = w.getnframes() / RATE
        starts = [t for s in result["segments"] for t in [s["start"], *(w["start"] for w in s["words"])]]
        windows = result["extra"].get("windows", [])
        moves = [b["start"] - a["start"] for a, b in zip(windows, windows[1:])]
        want, got = " ".join(said).split(), result["text"].split()
        row = {"hours": duration / 3600, "seconds": spent, "memory of 10 minutes": peaks[0], "memory": peaks[1],
               "times go back": sum(b < a - 1e-9 for a, b in zip(starts, starts[1:])),
               "windows": len(windows), "shortest move": min(moves, default=0.0),
               "not heard": duration - windows[-1]["end"] if windows else 0.0,
               "outcomes": dict(collections.Counter(w["outcome"] for w in windows)),
               "stops": dict(collections.Counter(w["stop"] for w in windows)),
               "windows decoded again": sum(w["fallbacks"] > 0 for w in windows),
               "decodes too many": sum(w["fallbacks"] for w in windows),
               "no_speech_prob above 0.6": sum(w["no_speech_prob"] > 0.6 for w in windows),
               "words": len(got), "most repeated": rounds(got)}
        if want:
            row["word errors"] = 100 * edits(want, got) / len(want)
        good = row["times go back"] == 0 and peaks[1] < peaks[0] + 16 and row["not heard"] < 0.1
        failed |= not good
        figures[kind] = row
        print(f"{kind}: {json.dumps(row)}{'' if good else '  MISSED'}", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
