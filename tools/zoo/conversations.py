# SPDX-License-Identifier: Apache-2.0
"""Conversations of synthetic voices: who speaks when, and the sound.

usage: conversations.py voices GRAMMAR OUT [--hours H] [--seed N] [--voices training|unheard] [--sentences N]
                        [--jobs N]
       conversations.py sound GRAMMAR OUT [--seed N] [--count N] [--seconds S] [--voices training|unheard] [--people N]
       conversations.py samples GRAMMAR OUT [--seed N]

voices makes the utterances that train_sortformer.py makes its conversations of: samples.i16 and meta.jsonl as of
synthesize.py, speech alone, "voice" the number of a voice, which says so many sentences. A voice is a variant of
espeak-ng with a language, a pitch and a speed. sound writes conversations as NAME.wav, with all of their turns in
truth.rttm and truth.stm. samples writes those of examples/audio, without noise, as FLAC (through sox); everybody there
speaks for at least 2 s.
"""
import argparse
import json
import random
import subprocess
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment import shaped_noise
from synthesize import (ESPEAK_RATE, HOUR, OTHER_VARIANTS, VARIANTS, VOICES, Espeak, Grammar, in_jobs, level,
                        resample, speech_span, to_pcm16)

UNHEARD = ["m8", "f5", "Andy", "linda", "Mike", "steph2", "edward", "belinda", "pablo", "anika"]  # in no training
OTHERS = [v for v in OTHER_VARIANTS if v not in UNHEARD]
MOST = 4


@dataclass
class Turn:
    """Who speaks from `start` to `end` (s); `what` is the utterance."""

    who: int
    start: float
    end: float
    what: object


def draw_voice(rng, variants):
    return rng.choice(VOICES), rng.choice(variants), rng.randint(120, 200), rng.randint(25, 75)


def draw_voices(rng, variants, count):
    """Voices of one conversation: no two have the same variant."""
    return [draw_voice(rng, [v]) for v in rng.sample(variants, count)]


def turns(rng, people, seconds, utterance, overlap=None, new=0.5):
    """Turns of a conversation of `people`, numbered as they are first heard. utterance(who) gives (what, its seconds).
    overlap: how much of the speech is of two people at most; None: up to 15 %, sometimes nothing."""
    if overlap is None:
        overlap = rng.choice([0, rng.uniform(0, 0.15), rng.uniform(0.05, 0.15)])
    out, free, heard, spoken, both, end, second = [], [0.0] * people, 0, 0.0, 0.0, rng.uniform(0, 1), 0.0
    while True:
        last = out[-1].who if out else None
        if heard == 0 or (heard < people and rng.random() < new):
            who, heard = heard, heard + 1
        else:
            others = [i for i in range(heard) if i != last]
            who = rng.choice(others) if others and rng.random() < 0.85 else last
        what, length = utterance(who)
        start = end + rng.choice([rng.uniform(0.05, 0.6), rng.uniform(0.1, 0.5), rng.uniform(0.6, 2.5)])
        if last not in (None, who) and rng.random() < 0.45:
            common = rng.uniform(0.2, min(1.5, 0.5 * length, 0.5 * (out[-1].end - out[-1].start)))
            begin = max(end - common, second, free[who] + 0.1)
            if begin < end and both + end - begin <= overlap * (spoken + length):
                both += end - begin
                start = begin
        start = max(start, free[who] + 0.05)
        if start + length > seconds and out:
            return out
        out.append(Turn(who, start, start + length, what))
        spoken, free[who] = spoken + length, start + length
        second, end = sorted([end, start + length])


def store(out, hours, seed, grammar, unheard=False, sentences=24):
    rng, espeak, total, voice = random.Random(seed), Espeak(), 0, 0
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "samples.i16", "wb") as sound, open(out / "meta.jsonl", "w", encoding="utf-8") as meta:
        while total < hours * HOUR:
            own = draw_voice(rng, UNHEARD if unheard else VARIANTS if voice % 2 == 0 else OTHERS)
            for _ in range(sentences):
                text = grammar.draw(rng)
                pcm, span, _ = speak(espeak, text, own)
                sound.write(pcm.tobytes())
                meta.write(json.dumps({"first": total, "samples": len(pcm), "words": text, "span": span, "voice": voice,
                                       "variant": own[1], "level": round(level(pcm / np.float32(32768)), 5)}) + "\n")
                total += len(pcm)
            voice += 1
    print(f"{voice} voices, {total / HOUR:.2f} h")


def speak(espeak, text, voice):
    """(16 kHz samples, their speech in ms, starts of the words in ms): a sentence without silence around it."""
    audio, starts = espeak.speak(text, *voice)
    first, last = speech_span(audio)
    first = max(0, first - ESPEAK_RATE // 50)
    pcm = to_pcm16(resample(audio[first : last + ESPEAK_RATE // 50]))
    span = [s // 16 for s in speech_span(pcm.astype(np.float32))]
    return pcm, span, [max(0.0, (s - first) / ESPEAK_RATE * 1000) for s in starts]


@dataclass
class Conversation:
    """pcm: 16-bit samples at 16 kHz; turns: what is (words, their starts in s from the beginning of the recording)."""

    pcm: np.ndarray
    turns: list


def make(rng, espeak, grammar, voices, seconds, noisy=True, **how):
    """One conversation: people of different levels, most of them in noise of 15 dB and less."""
    def utterance(who):
        text = grammar.draw(rng)
        pcm, (first, last), starts = speak(espeak, text, voices[who])
        return (text.split(), pcm, first, starts), (last - first) / 1000

    planned = turns(rng, len(voices), seconds, utterance, **how)
    gains = [10 ** (rng.uniform(-9, 0) / 20) for _ in voices]
    sound, out = np.zeros(int(16000 * (max(t.end for t in planned) + rng.uniform(0.3, 1.0))) + 16000, np.float32), []
    for t in planned:
        words, pcm, first, starts = t.what
        own = pcm / np.float32(32768)
        at = max(0, round(16000 * t.start) - 16 * first)
        sound[at : at + len(own)] += gains[t.who] * own[: len(sound) - at]
        out.append(Turn(t.who, t.start, t.end, (words, [at / 16000 + s / 1000 for s in starts])))
    sound = sound[: -16000 + int(16000 * rng.uniform(0.3, 1.0))]
    if noisy and rng.random() < 0.7:
        noise = shaped_noise(np.random.default_rng(rng.randrange(1 << 32)), len(sound), rng.uniform(0, 2))
        sound += level(sound) * 10 ** (-rng.uniform(15, 35) / 20) * noise
    return Conversation(to_pcm16(sound / max(1.0, 1.01 * np.abs(sound).max())), out)


def write_wav(path, pcm):
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(pcm.tobytes())


def rttm(name, said):
    return [f"SPEAKER {name} 1 {t.start:.3f} {t.end - t.start:.3f} <NA> <NA> speaker{t.who} <NA> <NA>" for t in said]


def stm(name, said):
    return [f"{name} 1 speaker{t.who} {t.start:.3f} {t.end:.3f} {' '.join(t.what[0])}" for t in said]


def write(folder, conversations, truth="truth"):
    """{name: Conversation} as recordings, truth.rttm, truth.stm."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in conversations.items():
        write_wav(folder / f"{name}.wav", each.pcm)
    for kind in rttm, stm:
        lines = [line for name, each in conversations.items() for line in kind(name, each.turns)]
        (folder / f"{truth}.{kind.__name__}").write_text("\n".join(lines) + "\n")


def samples(grammar, seed, folder):
    rng, espeak, talks = random.Random(seed), Espeak(), {}
    for name, people, seconds in ("two", 2, 14), ("three", 3, 17), ("four", 4, 20):
        voices = draw_voices(rng, VARIANTS, people)
        while True:
            talk = make(rng, espeak, grammar, voices, seconds, noisy=False, overlap=0.15, new=0.7)
            order = sorted(talk.turns, key=lambda t: t.start)
            both = any(t.start < before.end for before, t in zip(order, order[1:]))
            spoken = [sum(t.end - t.start for t in order if t.who == who) for who in range(people)]
            if both and min(spoken) >= 2 and order[-1].who != people - 1:  # somebody comes back
                talks[f"{name}-speakers"] = talk
                break
    write(folder, talks, "speakers")
    for name in talks:
        subprocess.run(["sox", f"{folder}/{name}.wav", "-C", "8", f"{folder}/{name}.flac"], check=True)
        (folder / f"{name}.wav").unlink()


def some(grammar, seed, count, seconds, variants, people=None, **how):
    """{name: Conversation}: those of 2, 3 and 4 people take turns, or all of `people`."""
    rng, espeak, out = random.Random(seed), Espeak(), {}
    for i in range(count):
        own = people or 2 + i % 3
        out[f"c{i:03}-{own}"] = make(rng, espeak, grammar, draw_voices(rng, variants, own), seconds, **how)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["voices", "sound", "samples"])
    parser.add_argument("grammar", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--hours", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--voices", choices=["training", "unheard"], default="training")
    parser.add_argument("--people", type=int)
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=1)
    o = parser.parse_args()
    if o.what == "voices":
        in_jobs(store, o.out, o.hours, o.seed, o.jobs, Grammar(o.grammar), o.voices == "unheard",
                o.sentences)
    elif o.what == "samples":
        samples(Grammar(o.grammar), o.seed, o.out)
    else:
        write(o.out, some(Grammar(o.grammar), o.seed, o.count, o.seconds,
                          VARIANTS if o.voices == "training" else UNHEARD, o.people))


if __name__ == "__main__":
    main()
