# SPDX-License-Identifier: Apache-2.0
"""Judges a demonstration model through the program that users run, and says whether it is good enough.

usage: judge.py GRAMMAR [--program build/bin/steno] [--model examples/models/demo.gguf] [--count N] [--seed N]
                [--only NAME ...]

Every recording goes through `steno transcribe --format json`: raw PCM on its input, or a file where the file's format
is what is judged. Prints one row of a Markdown table per line; the exit status is 1 when a line misses its limit.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import numpy as np
import scipy.signal

import evaluate
import synthesize
from augment import hum, shaped_noise


class Program:
    """`steno transcribe` as a recogniser: (result, text, [(word, start in ms)])."""

    def __init__(self, program, model):
        self.command = [program, "transcribe", "-m", model, "--format", "json", "--threads", "1", "--no-progress"]

    def __call__(self, pcm):
        return self.run(["--pcm-format", "s16le", "--pcm-rate", "16000", "-"], np.asarray(pcm, "<i2").tobytes())

    def run(self, arguments, data=b""):
        out = subprocess.run(self.command + arguments, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        result = json.loads(out)
        words = [(w["word"], 1000 * w["start"]) for s in result["segments"] for w in s["words"]]
        return result, result["text"], words


def mp3_file(audio22, bitrate, folder):
    """The speech as a 44.1 kHz stereo MP3; returns its path."""
    source, coded = f"{folder}/a.wav", f"{folder}/b.mp3"
    with wave.open(source, "wb") as w:
        w.setnchannels(2)
        w.setsampwidth(2)
        w.setframerate(44100)
        audio = evaluate.limit(scipy.signal.resample_poly(audio22, 2, 1))
        w.writeframes(np.repeat(synthesize.to_pcm16(audio), 2).tobytes())
    subprocess.run(["lame", "--quiet", "-b", str(bitrate), source, coded], check=True)
    return coded


class Table:
    def __init__(self):
        self.failed = False
        print("| recordings | result | limit | |\n|---|---|---|---|", flush=True)

    def row(self, name, result, limit, good):
        self.failed |= not good
        print(f"| {name} | {result} | {limit} | {'ok' if good else 'MISSED'} |", flush=True)


class Judge(evaluate.Judge):
    def __init__(self, grammar, program, seed, count, table):
        super().__init__(grammar, program, seed, count)
        self.table = table

    def errors(self, name, limit, variants=synthesize.VARIANTS, change=None, file=None, plain=0.25):
        rng = random.Random(f"{self.seed} {name}")
        noise = np.random.default_rng(rng.randrange(1 << 30))
        wrong = total = 0
        misses = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(self.count):
                text = self.grammar.draw(rng)
                audio = self.espeak.speak(text, *synthesize.random_voice(rng, variants, plain))[0]
                if file:
                    got = self.recognise.run([file(audio, folder)])[1]
                else:
                    audio = change(audio, rng, noise) if change else synthesize.resample(audio)
                    got = self.recognise(synthesize.to_pcm16(audio))[1]
                e = evaluate.edits(text.split(), got.split())
                wrong, total = wrong + e, total + len(text.split())
                if e:
                    misses.append((text, got))
        rate = 100 * wrong / total
        self.table.row(name, f"{rate:.2f} % word errors ({wrong} of {total} words)", f"{limit} %", rate <= limit)
        for want, got in misses[:3]:
            print(f"    {want} -> {got}", file=sys.stderr)

    def times(self, name, limit, variants=synthesize.VARIANTS, trim=None):
        rng = random.Random(f"{self.seed} {name}")
        total, off = 0, []
        for _ in range(self.count // 3):
            words = self.grammar.draw(rng).split()
            voice = synthesize.random_voice(rng, variants)
            audio, starts = synthesize.joined_words(self.espeak, rng, words, voice, trim)
            got = self.recognise(synthesize.to_pcm16(audio))[2]
            total += len(words)
            off += [got[j][1] - starts[i] for i, j in evaluate.match(words, [w for w, _ in got])]
        near = 100 * (np.abs(off) <= 120).sum() / total  # a word that was not found has no right start
        self.table.row(name, f"{near:.1f} % of {total} words start within 120 ms (median {np.median(off):+.0f} ms)",
                       f"{limit} %", near >= limit)

    def joined_sentences(self, name, margin, minutes=10, milliseconds=150):
        """Sentences with pauses of 0.7 to 3 s and faint noise in one recording, through --vad energy: word errors
        against those of each sentence alone, and segments against where speech is."""
        rng = random.Random(f"{self.seed} {name}")
        hiss = np.random.default_rng(rng.randrange(1 << 30))
        parts, want, truth, alone, length = [], [], [], 0, 0

        def add(audio):
            nonlocal length
            parts.append(audio)
            length += len(audio)

        while length < minutes * 60 * 16000:
            add(np.zeros(int(16000 * rng.uniform(0.7, 3))))
            text = self.grammar.draw(rng)
            audio = synthesize.resample(self.espeak.speak(text, *synthesize.random_voice(rng, synthesize.VARIANTS))[0])
            loud = np.flatnonzero(np.abs(audio) > 0.01 * np.abs(audio).max())
            truth.append(((length + loud[0]) / 16, (length + loud[-1]) / 16))
            add(audio)
            want.append(text.split())
            alone += evaluate.edits(want[-1], self.recognise(synthesize.to_pcm16(audio))[1].split())
        pcm = synthesize.to_pcm16(np.concatenate(parts) + 1e-4 * hiss.standard_normal(length))
        result, text, _ = self.recognise.run(
            ["--vad", "energy", "--pcm-format", "s16le", "--pcm-rate", "16000", "-"], np.asarray(pcm, "<i2").tobytes())
        total = sum(map(len, want))
        wrong = evaluate.edits([w for words in want for w in words], text.split())
        self.table.row(name, f"{100 * wrong / total:.2f} % word errors, {100 * alone / total:.2f} % sentence by sentence",
                       f"{margin} points more", 100 * (wrong - alone) / total <= margin)
        near = sum(any(abs(1000 * s["start"] - start) <= milliseconds and abs(1000 * s["end"] - end) <= milliseconds
                       for s in result["segments"]) for start, end in truth)
        self.table.row(f"{name}: segments", f"{near} of {len(truth)} within {milliseconds} ms at both ends, "
                       f"{len(result['segments'])} segments", "all", near == len(truth) == len(result["segments"]))

    def silence(self, name, make, trials=40):
        rng = np.random.default_rng(abs(evaluate.hash_text(f"{self.seed} {name}")))
        shown = []
        for _ in range(trials):
            audio = make(rng, int(16000 * rng.uniform(1, 10)))
            result, text, _ = self.recognise(np.clip(np.round(audio * 32767), -32768, 32767).astype(np.int16))
            if text:
                shown.append((text, result.get("language"), result.get("extra")))
        self.table.row(name, f"{len(shown)} of {trials} not empty", "0", not shown)
        for s in shown:
            print(f"    {s}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("--program", default="build/bin/steno")
    parser.add_argument("--model", default="examples/models/demo.gguf")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    table = Table()
    judge = Judge(synthesize.Grammar(args.grammar), Program(str(Path(args.program).resolve()), args.model), args.seed,
                  args.count, table)
    m8, f5 = ([v] for v in synthesize.HELD_OUT_VARIANTS)

    def level(low, high):
        return lambda rng: 10 ** (rng.uniform(low, high) / 20)

    def noise(slope):
        return lambda r, k: shaped_noise(r, k, slope) * level(-70, -15)(r)

    tests = {
        "training voices": lambda n: judge.errors(n, 1.5),
        "voice m8, not in training": lambda n: judge.errors(n, 5, variants=m8, plain=0),
        "voice f5, not in training": lambda n: judge.errors(n, 5, variants=f5, plain=0),
        "white noise, 15 dB": lambda n: judge.errors(n, 5, change=judge.white(15)),
        "babble of five, 15 dB": lambda n: judge.errors(n, 5, change=judge.babble(15)),
        "44.1 kHz stereo MP3, 128 kbit/s": lambda n: judge.errors(n, 1.5, file=lambda a, d: mp3_file(a, 128, d)),
        "44.1 kHz stereo MP3, voices m8 and f5": lambda n: judge.errors(n, 5, variants=m8 + f5, plain=0,
                                                                        file=lambda a, d: mp3_file(a, 128, d)),
        "20 dB quieter": lambda n: judge.errors(n, 1.5, change=judge.gain(-20)),
        "joined words": lambda n: judge.times(n, 90),
        "joined words, voices m8 and f5": lambda n: judge.times(n, 90, m8 + f5),
        "ten minutes with pauses": lambda n: judge.joined_sentences(n, 1),
        "digital silence": lambda n: judge.silence(n, lambda r, k: np.zeros(k)),
        "very low noise": lambda n: judge.silence(n, lambda r, k: r.standard_normal(k) * level(-96, -70)(r)),
        "white noise alone": lambda n: judge.silence(n, lambda r, k: r.standard_normal(k) * level(-70, -15)(r)),
        "pink noise alone": lambda n: judge.silence(n, noise(1.0)),
        "brown noise alone": lambda n: judge.silence(n, noise(2.0)),
        "mains hum alone": lambda n: judge.silence(n, lambda r, k: hum(r, k) * level(-70, -12)(r)),
    }
    for name, test in tests.items():
        if not args.only or name in args.only:
            test(name)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
