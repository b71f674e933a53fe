# SPDX-License-Identifier: Apache-2.0
"""Judges a checkpoint folder on newly drawn sentences: word error rates, word times, silence.

usage: evaluate.py GRAMMAR CHECKPOINT [--q8] [--count N] [--seed N] [--only NAME ...]

--q8 rounds the weights as an 8-bit conversion would (blocks of 32, matrices whose inner dimension
is a multiple of 32), and the vectors they are multiplied with in the same way.
"""
import argparse
import random
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import numpy as np
import scipy.signal
import torch

import features
import sense_voice
import synthesize
import tokenizer
from augment import hum, shaped_noise
from corpus import edits, greedy


def round_q8(x):
    """8-bit blocks of 32 with a half-precision scale."""
    blocks = x.reshape(-1, 32)
    scale = blocks.abs().amax(1, keepdim=True) / 127
    quantised = torch.where(scale > 0, blocks / scale, torch.zeros_like(blocks)).round()
    return (quantised * scale.half().float()).reshape(x.shape)


def quantise(model):
    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and module.in_features % 32 == 0:
            module.weight.data = round_q8(module.weight.data)
            module.register_forward_pre_hook(lambda module, inputs: (round_q8(inputs[0]),))


class Recogniser:
    def __init__(self, folder, q8=False):
        folder = Path(folder)
        self.model = sense_voice.from_checkpoint(torch.load(folder / "model.pt"))
        if q8:
            quantise(self.model)
        self.shift, self.scale = features.read_mvn(folder / "am.mvn")
        self.bpe = tokenizer.Tokenizer(next(folder.glob("*.bpe.model")))

    def log_probs(self, pcm, query):
        mel = features.fbank(np.asarray(pcm, np.float32) / 32768.0)
        x = ((features.lfr(mel) + self.shift) * self.scale)[None]
        with torch.no_grad():
            logits = self.model(torch.from_numpy(x), torch.tensor([x.shape[1]]), torch.tensor([query]))[0]
        return logits.log_softmax(-1).numpy()

    def __call__(self, pcm, language=sense_voice.LANGUAGE_AUTO, itn=sense_voice.WITHOUT_ITN):
        """Returns (tags, text, [(word, start in ms)])."""
        probs = self.log_probs(pcm, sense_voice.queries(language, itn))
        tags = [self.bpe.model.id_to_piece(int(i)) for i in probs[: sense_voice.QUERIES].argmax(-1)]
        probs = probs[sense_voice.QUERIES :]
        ids = greedy(probs, tokenizer.BLANK)
        words = []
        for piece, frame in zip(ids, align(probs, ids)):
            piece = self.bpe.model.id_to_piece(piece)
            if piece.startswith("\u2581") or not words:
                words.append([piece.lstrip("\u2581"), max(0, 60 * frame - 30)])
            else:
                words[-1][0] += piece
        return tags, self.bpe.text(ids), words


def align(log_probs, ids):
    """First frame of each piece on the best CTC path that spells `ids`."""
    if not ids:
        return []
    states = [tokenizer.BLANK]
    for i in ids:
        states += [i, tokenizer.BLANK]
    states = np.array(states)
    count = len(states)
    skip = np.zeros(count, bool)
    skip[3::2] = states[3::2] != states[1:-2:2]
    best = np.full(count, -np.inf)
    best[:2] = log_probs[0, states[:2]]
    back = np.zeros((len(log_probs), count), np.int8)
    for t in range(1, len(log_probs)):
        one = np.concatenate([[-np.inf], best[:-1]])
        two = np.where(skip, np.concatenate([[-np.inf, -np.inf], best[:-2]]), -np.inf)
        options = np.stack([best, one, two])
        back[t] = options.argmax(0)
        best = options.max(0) + log_probs[t, states]
    s = count - 1 if best[-1] > best[-2] else count - 2
    first = [0] * len(ids)
    for t in range(len(log_probs) - 1, -1, -1):
        if s % 2:
            first[s // 2] = t
        s -= back[t, s]
    return first


def match(want, got):
    """Pairs (i, j) of equal words on a shortest edit path."""
    n, m = len(want), len(got)
    cost = np.zeros((n + 1, m + 1), int)
    cost[:, 0], cost[0] = np.arange(n + 1), np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = min(cost[i - 1, j] + 1, cost[i, j - 1] + 1,
                             cost[i - 1, j - 1] + (want[i - 1] != got[j - 1]))
    pairs, i, j = [], n, m
    while i and j:
        if cost[i, j] == cost[i - 1, j - 1] + (want[i - 1] != got[j - 1]):
            i, j = i - 1, j - 1
            if want[i] == got[j]:
                pairs.append((i, j))
        elif cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def mix(audio, noise, decibels):
    noise = noise[: len(audio)]
    gain = synthesize.level(audio) / np.sqrt((noise ** 2).mean()) * 10 ** (-decibels / 20)
    return limit(audio + gain * noise)


def limit(audio):
    peak = np.abs(audio).max()
    return audio * (0.99 / peak) if peak > 0.99 else audio


def mp3(audio22, bitrate):
    """Through a 44.1 kHz stereo MP3 and back to 16 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        source, coded, decoded = (f"{folder}/{n}" for n in ("a.wav", "b.mp3", "c.wav"))
        with wave.open(source, "wb") as w:
            w.setnchannels(2)
            w.setsampwidth(2)
            w.setframerate(44100)
            w.writeframes(np.repeat(synthesize.to_pcm16(scipy.signal.resample_poly(audio22, 2, 1)), 2).tobytes())
        subprocess.run(["lame", "--quiet", "-b", str(bitrate), source, coded], check=True)
        subprocess.run(["lame", "--quiet", "--decode", coded, decoded], check=True)
        with wave.open(decoded) as w:
            rate = w.getframerate()
            pcm = np.frombuffer(w.readframes(w.getnframes()), "<i2").reshape(-1, 2) / 32768.0
    return synthesize.resample(pcm.mean(1), 160, rate // 100)


class Judge:
    def __init__(self, grammar, recogniser, seed, count):
        self.grammar, self.recognise, self.count = grammar, recogniser, count
        self.seed = seed
        self.espeak = synthesize.Espeak()

    def errors(self, name, variants=synthesize.VARIANTS, change=None, pieces=1, plain=0.25, **query):
        rng = random.Random(f"{self.seed} {name}")
        noise = np.random.default_rng(rng.randrange(1 << 30))
        wrong = total = bad = 0
        misses = []
        for _ in range(max(1, self.count // pieces)):
            parts, texts = [], []
            for _ in range(pieces):
                texts.append(self.grammar.draw(rng))
                voice = synthesize.random_voice(rng, variants, plain)
                parts.append(self.espeak.speak(texts[-1], *voice)[0])
            text, audio = " ".join(texts), np.concatenate(parts)
            audio = change(audio, rng, noise) if change else synthesize.resample(audio)
            _, got, _ = self.recognise(synthesize.to_pcm16(audio), **query)
            e = edits(text.split(), got.split())
            wrong, total = wrong + e, total + len(text.split())
            if e:
                bad += 1
                misses.append((text, got))
        print(f"{name:34s} WER {100 * wrong / total:5.2f} %  ({wrong} of {total} words; {bad} sentences)", flush=True)
        for want, got in misses[:3]:
            print(f"    {want} -> {got}")

    def white(self, decibels):
        return lambda a, rng, noise: mix(b := synthesize.resample(a), noise.standard_normal(len(b)), decibels)

    def pink(self, decibels):
        return lambda a, rng, noise: mix(b := synthesize.resample(a), shaped_noise(noise, len(b), 1.0), decibels)

    def babble(self, decibels, talkers=5):
        def change(a, rng, noise):
            a = synthesize.resample(a)
            total = np.zeros(len(a))
            for _ in range(talkers):
                voice = synthesize.random_voice(rng)
                other = np.zeros(0, np.float32)
                while len(other) < len(a):
                    other = np.concatenate([other, synthesize.resample(
                        self.espeak.speak(self.grammar.draw(rng), *voice)[0])])
                other = np.roll(other, rng.randrange(len(other)))[: len(a)]
                total += other / max(1e-3, np.sqrt((other ** 2).mean()))
            return mix(a, total, decibels)

        return change

    def gain(self, decibels):
        return lambda a, rng, noise: synthesize.resample(a) * 10 ** (decibels / 20)

    def mp3(self, bitrate):
        return lambda a, rng, noise: limit(mp3(a, bitrate))

    def times(self, name, variants=synthesize.VARIANTS, trim=None, gap=None):
        """Single words joined: word errors and the distance of word starts from the truth."""
        rng = random.Random(f"{self.seed} {name}")
        wrong = total = 0
        off = []
        for _ in range(self.count // 3):
            words = self.grammar.draw(rng).split()
            voice = synthesize.random_voice(rng, variants)
            audio, starts = synthesize.joined_words(self.espeak, rng, words, voice, trim)
            _, _, got = self.recognise(synthesize.to_pcm16(audio))
            found = [w for w, _ in got]
            wrong, total = wrong + edits(words, found), total + len(words)
            off += [got[j][1] - starts[i] for i, j in match(words, found)]
        off = np.array(off)
        near = (np.abs(off) <= 120).sum()
        print(f"{name:34s} WER {100 * wrong / total:5.2f} %; starts within 120 ms: {100 * near / len(off):.1f} % of "
              f"the {len(off)} words found ({100 * near / total:.1f} % of all); off by {np.median(off):+.0f} ms in the "
              f"middle, 5..95 %: {np.percentile(off, 5):+.0f}..{np.percentile(off, 95):+.0f}", flush=True)

    def sentence_times(self, name):
        """As `times`, in fluent sentences, with the synthesiser's own word marks as the truth."""
        rng = random.Random(f"{self.seed} {name}")
        off = []
        for _ in range(self.count // 3):
            text = self.grammar.draw(rng)
            audio, starts = synthesize.sentence(self.espeak, rng, text, synthesize.random_voice(rng))
            _, _, got = self.recognise(synthesize.to_pcm16(audio))
            off += [got[j][1] - starts[i] for i, j in match(text.split(), [w for w, _ in got])]
        off = np.array(off)
        print(f"{name:34s} starts within 120 ms: {100 * (np.abs(off) <= 120).mean():.1f} %; off by "
              f"{np.median(off):+.0f} ms in the middle", flush=True)

    def silence(self, name, make):
        rng = np.random.default_rng(abs(hash_text(f"{self.seed} {name}")))
        trials = wrong = 0
        shown = []
        for _ in range(40):
            n = int(16000 * rng.uniform(1, 10))
            audio = make(rng, n)
            tags, text, _ = self.recognise(np.clip(np.round(audio * 32767), -32768, 32767).astype(np.int16))
            trials += 1
            if text:
                wrong += 1
                shown.append(text)
        print(f"{name:34s} {wrong} of {trials} not empty {shown[:3]}  {''.join(tags)}", flush=True)


def hash_text(text):
    return int.from_bytes(text.encode()[-8:], "little") + len(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("checkpoint")
    parser.add_argument("--q8", action="store_true")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    torch.set_num_threads(1)
    judge = Judge(synthesize.Grammar(args.grammar), Recogniser(args.checkpoint, args.q8), args.seed, args.count)
    m8f5 = synthesize.HELD_OUT_VARIANTS

    def level(low, high):
        return lambda rng: 10 ** (rng.uniform(low, high) / 20)

    tests = {
        "clean": lambda n: judge.errors(n),
        "clean, language en, with itn": lambda n: judge.errors(n, language=4, itn=14),
        "m8": lambda n: judge.errors(n, m8f5[:1], plain=0),
        "f5": lambda n: judge.errors(n, m8f5[1:], plain=0),
        "white noise 15 dB": lambda n: judge.errors(n, change=judge.white(15)),
        "babble 15 dB": lambda n: judge.errors(n, change=judge.babble(15)),
        "pink noise 10 dB": lambda n: judge.errors(n, change=judge.pink(10)),
        "mp3 128 kbit/s": lambda n: judge.errors(n, change=judge.mp3(128)),
        "mp3 64 kbit/s": lambda n: judge.errors(n, change=judge.mp3(64)),
        "20 dB quieter": lambda n: judge.errors(n, change=judge.gain(-20)),
        "eight sentences in one recording": lambda n: judge.errors(n, pieces=8),
        "joined words, trimmed": lambda n: judge.times(n, trim=True),
        "joined words, whole": lambda n: judge.times(n, trim=False),
        "joined words, m8 and f5": lambda n: judge.times(n, m8f5),
        "sentences": lambda n: judge.sentence_times(n),
        "digital silence": lambda n: judge.silence(n, lambda r, k: np.zeros(k)),
        "very low noise": lambda n: judge.silence(n, lambda r, k: r.standard_normal(k) * level(-96, -70)(r)),
        "white noise only": lambda n: judge.silence(n, lambda r, k: r.standard_normal(k) * level(-70, -15)(r)),
        "pink noise only": lambda n: judge.silence(n, lambda r, k: shaped_noise(r, k, 1.0) * level(-70, -15)(r)),
        "brown noise only": lambda n: judge.silence(n, lambda r, k: shaped_noise(r, k, 2.0) * level(-70, -15)(r)),
        "hum only": lambda n: judge.silence(n, lambda r, k: hum(r, k) * level(-70, -12)(r)),
    }
    for name, test in tests.items():
        if not args.only or name in args.only:
            test(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
