# SPDX-License-Identifier: Apache-2.0
"""Draws sentences from a grammar, has espeak-ng speak them and stores the sound.

usage: synthesize.py GRAMMAR OUT [--hours H] [--seed N] [--word-share S] [--other] [--numbers] [--jobs N]

OUT gets samples.i16 (16 kHz, 16-bit, all utterances one after another) and meta.jsonl (one utterance
per line: first sample, number of samples, words, start of each word and of all speech and its end in
ms, speech level). N jobs make as many parts at once, each with a seed of its own.
"""
import argparse
import ctypes as C
import json
import multiprocessing
import random
import re
import shutil
import time
from pathlib import Path

import numpy as np
import scipy.signal

VOICES = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp"]
VARIANTS = ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "f1", "f2", "f3", "f4"]
HELD_OUT_VARIANTS = ["m8", "f5"]
# Further throats (and machines), for a detector that has to know speech of anybody: all but those that whisper.
OTHER_VARIANTS = """adam Alex Alicia Andrea Andy anika Annie announcer antonio AnxiousAndy aunty belinda benjamin boris
caleb croak david Demonic Denis Diogo ed edward edward2 Gene Gene2 grandma grandpa gustave Henrique Hugo iven iven2
iven3 iven4 Jacky john kaukovalta klatt klatt2 klatt3 klatt4 klatt5 klatt6 Lee linda marcelo Marco Mario max Michael
michel miguel Mike norbert pablo paul pedro quincy RicishayMax RicishayMax2 RicishayMax3 rob robert robosoft robosoft2
robosoft3 sandro shelby steph steph2 steph3 Storm travis Tweaky victor zac""".split()
ESPEAK_RATE = 22050
HOUR = 3600 * 16000


class Grammar:
    def __init__(self, path):
        data = json.loads(Path(path).read_text())
        self.sentences, self.slots = data["sentences"], data["slots"]
        text = " ".join(self.sentences) + " " + " ".join(e for s in self.slots.values() for e in s)
        self.words = sorted(set(re.sub(r"\{[^}]*\}", " ", text).split()))

    def draw(self, rng):
        return self.expand(rng, rng.choice(self.sentences))

    def draw_number(self, rng):
        """A sentence with a number, or digits of a few kinds: where they repeat, one is easily taken for another."""
        kind = "{digit" if rng.random() < 0.5 else "{number"
        text, digits = rng.choice([s for s in self.sentences if kind in s]), self.slots["digit"]
        some = rng.sample(digits, rng.choice([2, 3, 4, len(digits)]))
        return self.expand(rng, text, {**self.slots, "digit": some})

    def expand(self, rng, text, slots=None):
        slots = slots or self.slots

        def slot(match):
            name, low, high = match.groups()
            times = rng.randint(int(low), int(high)) if low else 1
            return " ".join(self.expand(rng, rng.choice(slots[name]), slots) for _ in range(times))

        return re.sub(r"\{(\w+)(?:\*(\d+)-(\d+))?\}", slot, text)


class _Id(C.Union):
    _fields_ = [("number", C.c_int), ("name", C.c_char_p), ("string", C.c_char * 8)]


class _Event(C.Structure):
    _fields_ = [("type", C.c_int), ("uid", C.c_uint), ("text_position", C.c_int), ("length", C.c_int),
                ("audio_position", C.c_int), ("sample", C.c_int), ("user_data", C.c_void_p), ("id", _Id)]


class Espeak:
    """espeak-ng called as a library, because that tells where each word starts."""

    SYNCHRONOUS, PHONEME_EVENTS = 2, 1
    END, WORD, PHONEME = 0, 1, 7
    RATE, PITCH = 1, 3
    POS_CHARACTER, UTF8, END_PAUSE = 1, 1, 0x1000

    def __init__(self):
        self.lib = C.CDLL("libespeak-ng.so.1")
        if self.lib.espeak_Initialize(self.SYNCHRONOUS, 200, None, self.PHONEME_EVENTS) != ESPEAK_RATE:
            raise RuntimeError("espeak-ng: unexpected sample rate")
        callback = C.CFUNCTYPE(C.c_int, C.POINTER(C.c_short), C.c_int, C.POINTER(_Event))
        self.audio, self.events = [], []

        def receive(samples, count, events):
            if samples and count > 0:
                self.audio.append(np.ctypeslib.as_array(samples, (count,)).copy())
            i = 0
            while events[i].type != self.END:
                e = events[i]
                name = e.id.string.decode("utf-8", "replace") if e.type == self.PHONEME else ""
                self.events.append((e.type, e.text_position, e.sample, name))
                i += 1
            return 0

        self.callback = callback(receive)
        self.lib.espeak_SetSynthCallback(self.callback)

    def speak(self, text, voice, variant, speed, pitch):
        """Returns (samples at 22.05 kHz as float, start of each word in samples).

        `variant` may be empty. The British voice's file is named "en"; addressed as "en-gb+variant"
        (as on a command line) espeak-ng 1.51 drops the variant, so both ways are in the data."""
        name = "gmw/en" if voice == "en-gb" else voice
        if self.lib.espeak_SetVoiceByName((f"{name}+{variant}" if variant else name).encode()) != 0:
            raise RuntimeError(f"espeak-ng: no voice {name}+{variant}")
        self.lib.espeak_SetParameter(self.RATE, speed, 0)
        self.lib.espeak_SetParameter(self.PITCH, pitch, 0)
        self.audio.clear()
        self.events.clear()
        raw = text.encode()
        flags = self.UTF8 | self.END_PAUSE
        if self.lib.espeak_Synth(raw, len(raw) + 1, 0, self.POS_CHARACTER, 0, flags, None, None) != 0:
            raise RuntimeError("espeak-ng: synthesis failed")
        audio = np.concatenate(self.audio).astype(np.float32) / 32768.0
        return audio, self._starts(text, len(audio))

    def _starts(self, text, total):
        # setdefault: the first event at a text position is the word itself
        known = {}
        for kind, position, sample, _ in self.events:
            if kind == self.WORD:
                known.setdefault(position, sample)
        starts, position = [], 1
        for word in text.split():
            starts.append(known.get(position))
            position += len(word) + 1
        if starts[0] is None:
            starts[0] = 0
        # Pairs such as "in the" are spoken as one word: "the" starts at its own consonant.
        for i, start in enumerate(starts):
            if start is None:
                after = next((s for s in starts[i + 1 :] if s is not None), total)
                inside = [s for kind, _, s, name in self.events
                          if kind == self.PHONEME and name.startswith("D") and starts[i - 1] < s < after]
                starts[i] = inside[-1] if inside else (starts[i - 1] + after) // 2
        return starts


def resample(audio, up=320, down=441):
    return scipy.signal.resample_poly(audio, up, down).astype(np.float32)


def speech_span(audio, threshold=0.01):
    """First and one-past-last sample of the part that is louder than silence."""
    loud = np.flatnonzero(np.abs(audio) > threshold * np.abs(audio).max())
    return int(loud[0]), int(loud[-1]) + 1


def random_voice(rng, variants=VARIANTS, plain_british=0.25):
    voice = rng.choice(VOICES)
    variant = "" if voice == "en-gb" and rng.random() < plain_british else rng.choice(variants)
    return voice, variant, rng.randint(120, 200), rng.randint(25, 75)


def sentence(espeak, rng, text, voice):
    """One spoken sentence with random silence around it: (samples at 16 kHz, word starts in ms)."""
    audio, starts = espeak.speak(text, *voice)
    end = speech_span(audio)[1]
    audio = audio[: end + int(ESPEAK_RATE * 0.02)]
    lead = int(16000 * rng.choice([0.0, rng.uniform(0, 0.6)]))
    tail = int(16000 * rng.uniform(0, 0.6))
    audio = np.concatenate([np.zeros(lead, np.float32), resample(audio), np.zeros(tail, np.float32)])
    return audio, [lead / 16 + s / ESPEAK_RATE * 1000 for s in starts]


def joined_words(espeak, rng, words, voice, trim=None):
    """Words spoken one by one and joined: (samples at 16 kHz, exact word starts in ms)."""
    trim = rng.random() < 0.6 if trim is None else trim
    longest = rng.choice([0.02, 0.1, 0.3, 0.6])
    parts, starts, total = [], [], 0

    def add(piece):
        nonlocal total
        parts.append(piece)
        total += len(piece)

    add(np.zeros(int(16000 * rng.uniform(0, 0.4)), np.float32))
    for word in words:
        audio, _ = espeak.speak(word, *voice)
        if trim:
            first, last = speech_span(audio)
            audio = audio[max(0, first - 50) : last + 200]
        starts.append(total / 16)
        add(resample(audio))
        add(np.zeros(int(16000 * rng.uniform(0, longest)), np.float32))
    return np.concatenate(parts), starts


def to_pcm16(audio):
    return np.clip(np.round(audio * 32767.0), -32768, 32767).astype(np.int16)


def level(audio):
    """RMS of the louder half of 20 ms blocks: the speech level without its pauses."""
    blocks = audio[: len(audio) // 320 * 320].reshape(-1, 320)
    power = np.sort((blocks.astype(np.float64) ** 2).mean(1))
    return float(np.sqrt(power[len(power) // 2 :].mean()))


def join(out, parts):
    """One data set of several, which are removed: their sound one after another, their voices numbered on."""
    total = voices = 0
    with open(out / "samples.i16", "wb") as sound, open(out / "meta.jsonl", "w", encoding="utf-8") as meta:
        for part in parts:
            items = [json.loads(line) for line in (part / "meta.jsonl").read_text(encoding="utf-8").splitlines()]
            for item in items:
                more = {"voice": voices + item["voice"]} if isinstance(item["voice"], int) else {}
                meta.write(json.dumps({**item, **more, "first": total + item["first"]}) + "\n")
            total += sum(item["samples"] for item in items)
            voices += 1 + max((item["voice"] for item in items if isinstance(item["voice"], int)), default=0)
            with open(part / "samples.i16", "rb") as own:
                shutil.copyfileobj(own, sound)
            shutil.rmtree(part)


def in_jobs(store, out, hours, seed, jobs, *more):
    """store(OUT, hours, seed, *more), or so many of them at once."""
    out.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        store(out, hours, seed, *more)
        return
    parts = [out / f"part{i}" for i in range(jobs)]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        pool.starmap(store, [(part, hours / jobs, f"{seed} {i}", *more) for i, part in enumerate(parts)])
    join(out, parts)


def store(out, hours, seed, args):
    grammar, rng, espeak = Grammar(args.grammar), random.Random(seed), Espeak()
    draw = grammar.draw_number if args.numbers else grammar.draw
    out.mkdir(parents=True, exist_ok=True)
    began, total, count = time.time(), 0, 0
    with open(out / "samples.i16", "wb") as sound, open(out / "meta.jsonl", "w") as meta:
        while total < hours * HOUR:
            voice = random_voice(rng, OTHER_VARIANTS if args.other else VARIANTS)
            isolated = rng.random() < args.word_share
            if isolated:
                words = draw(rng).split()
                if not args.numbers and rng.random() < 0.4:
                    words = [rng.choice(grammar.words) for _ in range(rng.randint(1, 8))]
                words = words[:10]
                audio, starts = joined_words(espeak, rng, words, voice)
            else:
                text = draw(rng)
                words = text.split()
                audio, starts = sentence(espeak, rng, text, voice)
            pcm = to_pcm16(audio)
            span = speech_span(pcm.astype(np.float32))
            sound.write(pcm.tobytes())
            meta.write(json.dumps({
                "first": total, "samples": len(pcm), "words": " ".join(words),
                "starts": [round(s, 1) for s in starts], "span": [s // 16 for s in span],
                "level": round(level(pcm / np.float32(32768.0)), 5), "isolated": isolated,
                "voice": "+".join(filter(None, voice[:2])), "speed": voice[2], "pitch": voice[3]}) + "\n")
            total += len(pcm)
            count += 1
            if count % 2000 == 0:
                print(f"{count} utterances, {total / HOUR:.2f} h, {time.time() - began:.0f} s", flush=True)
    print(f"done: {count} utterances, {total / HOUR:.2f} h, {time.time() - began:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("out", type=Path)
    parser.add_argument("--hours", type=float, default=16.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--word-share", type=float, default=0.2)
    parser.add_argument("--other", action="store_true", help="speak as OTHER_VARIANTS do")
    parser.add_argument("--numbers", action="store_true", help="only sentences with numbers, and many repeated digits")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    in_jobs(store, args.out, args.hours, args.seed, args.jobs, args)


if __name__ == "__main__":
    main()
