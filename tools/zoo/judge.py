# SPDX-License-Identifier: Apache-2.0
"""Judges a demonstration model through the program that users run, and says whether it is good enough.

usage: judge.py GRAMMAR [--model examples/models/demo.gguf] [--plain MODEL] [--program build/bin/steno] [--count N]
                [--seed N] [--json FILE] [--only NAME ...]

Works for every family. Recordings go through `steno transcribe` or `steno stream`, many in one call. --plain is the
same model with f32 weights, to be compared with. Prints a row of a Markdown table for each line; --json stores them;
the exit status is 1 when a line misses its limit. Lines that a family has no part in (beams of models that do not
search, turns of models that do not end them) are left out.
"""
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.signal

import evaluate
import synthesize
from augment import hum, music, shaped_noise, tones
from program import RATE, Program, Table, arguments, write_wav

WHOLE = ", windows of 30 s"
OWN = "--own-stream"


def rounds(words, longest=32):
    """The most times that a phrase of at most `longest` words is said in a row."""
    most = min(1, len(words))
    for n in range(1, longest + 1):
        equal = 0
        for a, b in zip(words, words[n:]):
            equal = equal + 1 if a == b else 0
            most = max(most, 1 + equal // n)
    return most


def text_of(result):
    return result["text"].replace("<EOU>", " ").replace("<EOB>", " ")


def words_of(result):
    """(word, start in ms) in order. <EOU> is no beginning of a word to NeMo and stands in the one before. Paraformer's
    stream has words without times."""
    words = [(w["word"].replace("<EOU>", "").replace("<EOB>", ""), 1000 * w["start"])
             for s in result["segments"] for w in s["words"] if "start" in w]
    return [(word, start) for word, start in words if word]


def mp3_file(bitrate):
    """Speech at 22.05 kHz as a 44.1 kHz stereo MP3."""
    def encode(audio22, folder, name):
        audio = synthesize.to_pcm16(evaluate.limit(scipy.signal.resample_poly(audio22, 2, 1)))
        write_wav(folder / f"{name}.wav", np.repeat(audio, 2), 44100, 2)
        subprocess.run(["lame", "--quiet", "-b", str(bitrate), folder / f"{name}.wav", folder / f"{name}.mp3"],
                       check=True)
        (folder / f"{name}.wav").unlink()

    return encode


@dataclass
class Talk:
    """Turns in one recording. spans: (start, end) in s; first_words: when the first word of each turn is over."""

    texts: list = field(default_factory=list)
    sounds: list = field(default_factory=list)
    spans: list = field(default_factory=list)
    first_words: list = field(default_factory=list)
    whole: np.ndarray = None

    def waits(self, events, begin=False):
        """For each turn the time in ms from the end of its first word, or its begin, to the first result with another
        text."""
        out, at, before = [], 0, ""
        told = [(e["heard"] if e["type"] == "partial" else e["end"], e["text"], e["type"] == "final")
                for e in events if e["type"] in ("partial", "final")]
        for (start, _), over in zip(self.spans, [s for s, _ in self.spans] if begin else self.first_words):
            while at < len(told) and (told[at][0] <= start or told[at][1] in ("", before)):
                before = "" if told[at][2] else told[at][1]
                at += 1
            out.append(1000 * (told[at][0] - over) if at < len(told) else np.inf)
        return out


def settled_that_changed(events):
    """How many results take back what an earlier one told as settled, of how many."""
    changed, told, settled = 0, 0, ""
    for e in events:
        if e["type"] not in ("partial", "final"):
            continue
        told += 1
        changed += not e["text"].startswith(settled)
        settled = e["stable"] if e["type"] == "partial" else ""
    return changed, told


class Judge(evaluate.Judge):
    def __init__(self, grammar, program, plain, seed, count, table):
        super().__init__(grammar, None, seed, count)
        self.program, self.plain, self.table = program, plain, table

    def sentences(self, name, variants=synthesize.VARIANTS, change=None, plain=0.25, count=None, raw=False, fits=None):
        """Newly drawn sentences and their sound: 16-bit samples, or floats at 22.05 kHz."""
        rng = random.Random(f"{self.seed} {name}")
        noise = np.random.default_rng(rng.randrange(1 << 30))
        texts, sounds = [], []
        while len(texts) < (count or self.count):
            text = self.grammar.draw(rng)
            if fits and not fits(text):
                continue
            audio = self.espeak.speak(text, *synthesize.random_voice(rng, variants, plain))[0]
            if not raw:
                audio = synthesize.to_pcm16(change(audio, rng, noise) if change else synthesize.resample(audio))
            texts.append(text)
            sounds.append(audio)
        return texts, sounds

    def count_errors(self, texts, results):
        misses = [(evaluate.edits(want.split(), text_of(got).split()), want, text_of(got))
                  for want, got in zip(texts, results)]
        for _, want, got in [m for m in misses if m[0]][:3]:
            print(f"    {want} -> {got}", file=sys.stderr)
        return sum(m[0] for m in misses), sum(len(t.split()) for t in texts)

    def errors(self, name, limit, encode=None, **how):
        texts, sounds = self.sentences(name, raw=encode is not None, **how)
        wrong, total = self.count_errors(texts, self.program.transcribe(sounds, encode=encode))
        rate = 100 * wrong / total
        self.table.row(name, f"{rate:.2f} % word errors ({wrong} of {total} words)", f"{limit} %", rate <= limit,
                       rate=rate)

    def rounding(self, name, limit):
        """8-bit weights against f32 ones."""
        if not self.plain:
            return
        texts, sounds = self.sentences("training voices")
        rates = [100 * wrong / total for wrong, total in
                 (self.count_errors(texts, p.transcribe(sounds)) for p in (self.program, self.plain))]
        self.table.row(name, f"{rates[0]:.2f} % word errors, {rates[1]:.2f} % with f32", f"{limit} points apart",
                       abs(rates[0] - rates[1]) <= limit, rate=rates[0], plain=rates[1])

    def times(self, name, limit, variants=synthesize.VARIANTS, trim=None, whole=False):
        """Single words joined with gaps. Whisper's rules begin a window's first word with the window, so its windows
        are those of an energy VAD, which begin with speech; `whole` ones, without a limit, are told, too."""
        rng = random.Random(f"{self.seed} {name.removesuffix(WHOLE)}")
        options = self.program.timed
        if options and not whole:
            options = [*options, "--vad", "energy"]
        want, sounds, off, total = [], [], [], 0
        for _ in range(self.count // 3):
            words = self.grammar.draw(rng).split()
            audio, starts = synthesize.joined_words(self.espeak, rng, words, synthesize.random_voice(rng, variants),
                                                    trim)
            want.append((words, starts))
            sounds.append(synthesize.to_pcm16(audio))
        ordered = True
        for (words, starts), result in zip(want, self.program.transcribe(sounds, *options)):
            got = words_of(result)
            ordered &= all(a[1] <= b[1] for a, b in zip(got, got[1:]))
            total += len(words)
            off += [got[j][1] - starts[i] for i, j in evaluate.match(words, [w for w, _ in got])]
        if not off:
            return
        near = 100 * (np.abs(off) <= 120).sum() / total  # a word that was not found has no right start
        self.table.row(name, f"{near:.1f} % of {total} words start within 120 ms (median {np.median(off):+.0f} ms, "
                       f"of {len(off)} found {100 * (np.abs(off) <= 120).mean():.1f} %)"
                       f"{'' if ordered else '; out of order'}", "none" if whole else f"{limit} %",
                       (whole or near >= limit) and ordered, near=near, found=100 * len(off) / total,
                       median=float(np.median(off)))

    def conversation(self, name, margin, minutes=20, milliseconds=150):
        """Turns in one recording, through --vad energy: word errors against those of each turn alone, and segments
        against where speech is."""
        talk = self.talk(name, minutes)
        alone, total = self.count_errors(talk.texts, self.program.transcribe(talk.sounds))
        result = self.program.transcribe([talk.whole], "--vad", "energy")[0]
        wrong = evaluate.edits(" ".join(talk.texts).split(), text_of(result).split())
        self.table.row(name, f"{100 * wrong / total:.2f} % word errors, {100 * alone / total:.2f} % sentence by "
                       "sentence", f"{margin} points more", 100 * (wrong - alone) / total <= margin,
                       rate=100 * wrong / total, alone=100 * alone / total)
        near = sum(any(abs(s["start"] - start) <= milliseconds / 1000 and abs(s["end"] - end) <= milliseconds / 1000
                       for s in result["segments"]) for start, end in talk.spans)
        self.table.row(f"{name}: segments", f"{near} of {len(talk.spans)} within {milliseconds} ms at both ends, "
                       f"{len(result['segments'])} segments", "95 %", near >= 0.95 * len(talk.spans))

    def windows(self, name, margin, minutes=20):
        """Turns in one recording, heard window by window: word errors against those of each turn alone."""
        talk = self.talk(name, minutes)
        alone, total = self.count_errors(talk.texts, self.program.transcribe(talk.sounds))
        result = self.program.transcribe([talk.whole])[0]
        wrong = evaluate.edits(" ".join(talk.texts).split(), text_of(result).split())
        again = sum(w["fallbacks"] > 0 for w in result["extra"]["windows"])
        self.table.row(name, f"{100 * wrong / total:.2f} % word errors, {100 * alone / total:.2f} % sentence by "
                       f"sentence; {again} of {len(result['extra']['windows'])} windows decoded again",
                       f"{margin} points more", 100 * (wrong - alone) / total <= margin, rate=100 * wrong / total,
                       alone=100 * alone / total)

    def numbers(self, name, limit):
        """The second task: numbers in digits."""
        from train_whisper import in_digits
        texts, sounds = self.sentences(name)
        texts = [" ".join(w for w, _, _ in in_digits([(w, 0, 0) for w in text.split()])) for text in texts]
        wrong, total = self.count_errors(texts, self.program.transcribe(sounds, "--translate"))
        rate = 100 * wrong / total
        self.table.row(name, f"{rate:.2f} % word errors ({wrong} of {total} words)", f"{limit} %", rate <= limit,
                       rate=rate)

    def nothing(self, name, make, minutes=10):
        """Ten minutes without speech in pieces of 1 to 10 s: no text."""
        rng = np.random.default_rng(abs(evaluate.hash_text(f"{self.seed} {name}")))
        sounds, length = [], 0
        while length < minutes * 60 * RATE:
            sounds.append(synthesize.to_pcm16(make(rng, int(RATE * rng.uniform(1, 10)))))
            length += len(sounds[-1])
        said = [text_of(r).strip() for r in self.program.transcribe(sounds)]
        said = [text for text in said if text]
        self.table.row(name, f"{len(said)} of {len(sounds)} pieces not empty", "0", not said,
                       share=100 * len(said) / len(sounds))
        for text in said[:5]:
            print(f"    {text}", file=sys.stderr)

    def beam(self, name, width=8):
        """A beam against greedy search, in noise that leaves something to search for; in three times as many sentences,
        since they differ in few."""
        how = {"change": self.pink(5), "count": 3 * self.count}
        texts, sounds = self.sentences(name, **how)
        try:
            wide = self.program.transcribe(sounds, "--beam", str(width))
        except RuntimeError as e:
            print(f"    {name}: {e}", file=sys.stderr)
            return
        narrow = self.program.transcribe(sounds, "--beam", "1")
        (beam, total), (greedy, _) = self.count_errors(texts, wide), self.count_errors(texts, narrow)
        self.table.row(name, f"{100 * beam / total:.2f} % word errors with a beam of {width}, "
                       f"{100 * greedy / total:.2f} % greedily", "not worse", beam <= greedy, rate=100 * beam / total,
                       greedy=100 * greedy / total)

    def hotwords(self, name, words=("madrid", "sophie", "basement", "vienna", "umbrella")):
        """Sentences with one of a few words in the first of a few levels of noise at which less than 30 % of these
        words are found: how many are found with a list."""
        known = [w for w in words if w in self.grammar.words]
        search = ["--beam", "8"]

        def recall(results):
            found = total = 0
            for want, got in zip(texts, results):
                for w in known:
                    total += want.split().count(w)
                    found += min(want.split().count(w), text_of(got).split().count(w))
            return 100 * found / total

        for decibels in (-3, -4.5, -6, -8, -10):
            texts, sounds = self.sentences(name, change=self.white(decibels),
                                           fits=lambda t: any(w in t.split() for w in known))
            try:
                plain = self.program.transcribe(sounds, *search)
            except RuntimeError as e:
                print(f"    {name}: {e}", file=sys.stderr)
                return
            if recall(plain) < 30:
                break
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as phrases:
            phrases.write("\n".join(known) + "\n")
            phrases.flush()
            try:
                told = self.program.transcribe(sounds, *search, "--hotwords", phrases.name)
            except RuntimeError as e:
                print(f"    {name}: {e}", file=sys.stderr)
                return

        def others(results):
            pairs = [([w for w in want.split() if w not in known], [w for w in text_of(got).split() if w not in known])
                     for want, got in zip(texts, results)]
            return 100 * sum(evaluate.edits(*p) for p in pairs) / sum(len(p[0]) for p in pairs)

        before, after, lost = recall(plain), recall(told), others(told) - others(plain)
        self.table.row(name, f"recall {before:.1f} % without, {after:.1f} % with a list; errors of other words "
                       f"{lost:+.2f} points (noise at {decibels:g} dB)", "twice; 0.3 points",
                       after >= 2 * before and lost <= 0.3, before=before, after=after, lost=lost)

    def talk(self, name, minutes):
        """Turns with pauses of 1 to 3 s in faint noise."""
        rng = random.Random(f"{self.seed} {name}")
        hiss = np.random.default_rng(rng.randrange(1 << 30))
        parts, talk, length = [], Talk(), 0
        while length < minutes * 60 * RATE:
            pause = np.zeros(int(RATE * rng.uniform(1, 3)))
            talk.texts.append(self.grammar.draw(rng))
            audio, starts = self.espeak.speak(talk.texts[-1], *synthesize.random_voice(rng))
            audio = synthesize.resample(audio)
            loud = np.flatnonzero(np.abs(audio) > 0.01 * np.abs(audio).max())
            length += len(pause)
            talk.spans.append(((length + loud[0]) / RATE, (length + loud[-1]) / RATE))
            talk.first_words.append(length / RATE + [*starts, starts[0]][1] / synthesize.ESPEAK_RATE)
            parts += [pause, audio]
            length += len(audio)
            talk.sounds.append(synthesize.to_pcm16(audio))
        whole = np.concatenate([*parts, np.zeros(RATE)])
        talk.whole = synthesize.to_pcm16(whole + 1e-4 * hiss.standard_normal(len(whole)))
        return talk

    def soon(self, name, talk, events, seconds, begin):
        """How soon something is told of each turn; `begin`: from the beginning of speech, else from the first word."""
        waits = talk.waits(events, begin=begin)
        soon = 100 * np.mean(np.array(waits) <= 1000 * seconds)
        within = f"{seconds:.1f} s of speech" if begin else f"{1000 * seconds:.0f} ms"
        self.table.row(f"{name}: first partial result within {within}", f"{soon:.1f} % of {len(waits)} (median "
                       f"{np.median(waits):.0f} ms)", "90 %", soon >= 90, soon=soon)

    def streamed(self, name, margin, *options, minutes=10, quick=False):
        """A stream of turns against each turn alone and whole; when something is told of a turn; whether what is told
        to be settled stays."""
        talk = self.talk(name, minutes)
        try:
            events = self.program.stream(talk.whole, *options)
        except RuntimeError as e:
            print(f"    {name}: {e}", file=sys.stderr)
            return
        said = " ".join(e["text"] for e in events if e["type"] == "final")
        alone, total = self.count_errors(talk.texts, self.program.transcribe(talk.sounds))
        wrong = evaluate.edits(" ".join(talk.texts).split(), said.split())
        self.table.row(name, f"{100 * wrong / total:.2f} % word errors, {100 * alone / total:.2f} % sentence by "
                       "sentence", f"{margin} points more", 100 * (wrong - alone) / total <= margin,
                       rate=100 * wrong / total, alone=100 * alone / total)
        if quick:
            self.soon(name, talk, events, 0.6, begin=False)
        if OWN not in options:
            self.soon(name, talk, events, 1.0, begin=True)
        changed, told = settled_that_changed(events)
        self.table.row(f"{name}: settled text that changed", f"{changed} of {told}", "0", changed == 0)

    def live(self, name, margin, minutes=10, seconds=1.0):
        """A stream of turns by segments of speech against the whole recording; when something is told of a turn;
        whether what is told to be settled stays."""
        talk = self.talk(name, minutes)
        events = self.program.stream(talk.whole, "--by-segments")
        said = " ".join(e["text"] for e in events if e["type"] == "final")
        want = " ".join(talk.texts).split()
        whole = evaluate.edits(want, text_of(self.program.transcribe([talk.whole])[0]).split())
        wrong, total = evaluate.edits(want, text_of({"text": said}).split()), len(want)
        self.table.row(name, f"{100 * wrong / total:.2f} % word errors, {100 * whole / total:.2f} % as a whole",
                       f"{margin} points more", 100 * (wrong - whole) / total <= margin, rate=100 * wrong / total,
                       whole=100 * whole / total)
        self.soon(name, talk, events, seconds, begin=True)
        changed, told = settled_that_changed(events)
        self.table.row(f"{name}: settled text that changed", f"{changed} of {told}", "0", changed == 0)

    def turns(self, name, minutes=10):
        """When the end of each turn is told, and how often falsely."""
        talk = self.talk(name, minutes)
        truth = talk.spans
        ends = [e["time"] for e in self.program.stream(talk.whole) if e["type"] == "end_of_turn"]
        delays, false = [], 0
        for i, (start, end) in enumerate(truth):
            following = truth[i + 1][0] if i + 1 < len(truth) else end + 5
            mine = [t for t in ends if end - 0.1 <= t < following]
            delays.append(1000 * (mine[0] - end) if mine else np.inf)
            false += any(start <= t < end - 0.1 for t in ends)
        soon = 100 * np.mean(np.array(delays) <= 400)
        some = [d for d in delays if np.isfinite(d)]
        self.table.row(f"{name}: end told within 400 ms", f"{soon:.1f} % of {len(truth)} (median "
                       f"{np.median(some) if some else np.nan:.0f} ms, {len(truth) - len(some)} never)", "95 %",
                       soon >= 95, soon=soon, delays=[round(float(d)) for d in some])
        calm = 100 * (1 - false / len(truth))
        self.table.row(f"{name}: no end told inside", f"{calm:.1f} %", "98 %", calm >= 98, calm=calm)


def main():
    parser = arguments(__doc__, "demo")
    parser.add_argument("--plain")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--json")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    table = Table()
    program = str(Path(args.program).resolve())
    judge = Judge(synthesize.Grammar(args.grammar), Program(program, args.model),
                  Program(program, args.plain) if args.plain else None, args.seed, args.count, table)
    m8, f5 = ([v] for v in synthesize.HELD_OUT_VARIANTS)

    def level(low, high):
        return lambda rng: 10 ** (rng.uniform(low, high) / 20)

    def noise(slope):
        return lambda r, k: shaped_noise(r, k, slope) * level(-70, -15)(r)

    tests = {
        "training voices": lambda n: judge.errors(n, 2),
        "voice m8, not in training": lambda n: judge.errors(n, 6, variants=m8, plain=0),
        "voice f5, not in training": lambda n: judge.errors(n, 6, variants=f5, plain=0),
        "white noise, 15 dB": lambda n: judge.errors(n, 6, change=judge.white(15)),
        "babble of five, 15 dB": lambda n: judge.errors(n, 6, change=judge.babble(15)),
        "44.1 kHz stereo MP3, 128 kbit/s": lambda n: judge.errors(n, 2, encode=mp3_file(128)),
        "20 dB quieter": lambda n: judge.errors(n, 2, change=judge.gain(-20)),
        "8-bit weights": lambda n: judge.rounding(n, 0.3),
        "joined words": lambda n: judge.times(n, 90),
        "joined words, voices m8 and f5": lambda n: judge.times(n, 90, m8 + f5),
        "twenty minutes of turns": lambda n: judge.conversation(n, 1),
        "beam": lambda n: judge.beam(n),
        "hotwords": lambda n: judge.hotwords(n),
        "digital silence": lambda n: judge.nothing(n, lambda r, k: np.zeros(k)),
        "very low noise": lambda n: judge.nothing(n, lambda r, k: r.standard_normal(k) * level(-96, -70)(r)),
        "white noise alone": lambda n: judge.nothing(n, lambda r, k: r.standard_normal(k) * level(-70, -15)(r)),
        "pink noise alone": lambda n: judge.nothing(n, noise(1.0)),
        "brown noise alone": lambda n: judge.nothing(n, noise(2.0)),
        "mains hum alone": lambda n: judge.nothing(n, lambda r, k: hum(r, k) * level(-70, -12)(r)),
        "tones alone": lambda n: judge.nothing(n, lambda r, k: tones(r, k) * level(-60, -12)(r)),
        "music alone": lambda n: judge.nothing(n, lambda r, k: music(r, k) * level(-60, -15)(r)),
        "stream of turns": lambda n: judge.streamed(n, 2),
        "segments of turns, live": lambda n: judge.live(n, 2),
    }
    if Path(args.model).stem.startswith("whisper"):
        for n, variants in (("joined words", synthesize.VARIANTS), ("joined words, voices m8 and f5", m8 + f5)):
            tests[f"{n}{WHOLE}"] = lambda n, v=variants: judge.times(n, 0, v, whole=True)
        tests[f"twenty minutes of turns{WHOLE}"] = lambda n: judge.windows(n, 1)
        tests["--translate: numbers in digits"] = lambda n: judge.numbers(n, 6)
    if Path(args.model).stem in ("parakeet-ctc", "parakeet-tdt", "qwen3-asr"):  # words are late there
        tests[f"stream of turns, {OWN}"] = lambda n: judge.streamed(n, 2, OWN)
    if Path(args.model).stem.endswith("eou"):
        tests["turns"] = lambda n: judge.turns(n)
    if Path(args.model).stem.endswith("u2"):
        del tests["stream of turns"]
        tests["stream of turns, chunk 16"] = lambda n: judge.streamed(n, 2, "--chunk-size", "16", quick=True)
        tests["stream of turns, chunk 4"] = lambda n: judge.streamed(n, 5, "--chunk-size", "4", quick=True)
    for name, test in tests.items():
        if not args.only or name in args.only:
            test(name)
    if args.json:
        Path(args.json).write_text(json.dumps(table.rows, indent=1) + "\n")
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
