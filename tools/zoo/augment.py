# SPDX-License-Identifier: Apache-2.0
"""Augmentation of log mel energies, cheap enough to be redone for every utterance in every epoch.

Noise is mixed as mel energies. The energy of a sum of two signals also holds their product, whose
sign is random; that term is drawn at random as well, so the result looks like real noisy speech.
"""
import numpy as np

from frontends import RATE

NEPER = np.log(10.0) / 10.0  # log energy per decibel


def shaped_noise(rng, samples, exponent):
    """Noise of unit RMS whose power falls with frequency to the power `exponent`."""
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    f = np.fft.rfftfreq(samples, 1 / RATE)
    spectrum *= np.maximum(f, 20.0) ** (-exponent / 2)
    noise = np.fft.irfft(spectrum, samples)
    return noise / np.sqrt((noise ** 2).mean())


def hum(rng, samples):
    """Mains hum of unit RMS: 50 or 60 Hz with random overtones."""
    t = np.arange(samples) / RATE
    base = rng.choice([50.0, 60.0]) * rng.uniform(0.99, 1.01)
    out = np.zeros(samples)
    for k in range(1, int(rng.integers(2, 20))):
        out += rng.uniform(0, 1) / k ** rng.uniform(0, 1.5) * np.sin(2 * np.pi * (k * base * t + rng.uniform()))
    out += 10 ** rng.uniform(-4, -1.5) * rng.standard_normal(samples)
    return out / np.sqrt((out ** 2).mean())


def tones(rng, samples):
    """One steady tone, two at once, a sweep or beeps, of unit RMS."""
    t = np.arange(samples) / RATE
    kind, low = rng.integers(4), 10 ** rng.uniform(1.9, 3.6)
    phase = 2 * np.pi * low * t
    if kind == 1:
        phase = phase + 2 * np.pi * (rng.uniform(-0.2, 1.0) * low / t[-1]) * t ** 2 / 2
    out = np.sin(phase)
    if kind == 2:
        out += np.sin(2 * np.pi * low * rng.uniform(1.1, 2.0) * t)
    if kind == 3:
        out *= (t * rng.uniform(0.5, 4)) % 1 < rng.uniform(0.1, 0.8)
    out = out + 10 ** rng.uniform(-4, -2) * rng.standard_normal(samples)
    return out / np.sqrt((out ** 2).mean())


def music(rng, samples):
    """Plucked or held notes of a scale with overtones, some together, sometimes with a drum; of unit RMS."""
    out = np.zeros(samples)
    scale = rng.choice([0, 2, 4, 5, 7, 9, 11, 12, 14, 16], size=6)
    base, beat = 55 * 2 ** rng.uniform(0, 3), rng.uniform(0.12, 0.6)
    decay, overtones, slope = rng.uniform(0.5, 12), int(rng.integers(1, 9)), rng.uniform(0.5, 2)
    drum = rng.uniform(0, 2) if rng.random() < 0.4 else 0
    for at in np.arange(0, samples / RATE, beat):
        first, length = int(at * RATE), int(min(2.0, beat * rng.integers(1, 5)) * RATE)
        t = np.arange(min(length, samples - first)) / RATE
        note = np.zeros(len(t))
        for k in rng.choice(scale, size=rng.integers(1, 4)):
            for h in range(1, overtones + 1):
                note += h ** -slope * np.sin(2 * np.pi * h * base * 2 ** (k / 12) * t + rng.uniform(0, 6))
        out[first : first + len(t)] += note * np.exp(-decay * t) * np.minimum(1, t * 200)
        if drum:
            out[first : first + len(t)] += drum * np.exp(-30 * t) * rng.standard_normal(len(t))
    out += 1e-4 * rng.standard_normal(samples)
    return out / np.sqrt((out ** 2).mean())


def noise_library(front_end, seed=5, pieces=24, seconds=11):
    """Log mel energies of noises of unit RMS (full scale = 1)."""
    rng = np.random.default_rng(seed)
    n = seconds * RATE
    library = []
    for i in range(pieces):
        for noise in (shaped_noise(rng, n, 0.0), shaped_noise(rng, n, 1.0), shaped_noise(rng, n, rng.uniform(0, 2.5)),
                      hum(rng, n)):
            library.append(front_end.log_mel(noise))
    return library


def tune_library(front_end, seed=6, pieces=30, seconds=11):
    """Log mel energies of tones and music of unit RMS."""
    rng = np.random.default_rng(seed)
    return [front_end.log_mel(make(rng, seconds * RATE)) for _ in range(pieces) for make in (tones, music, music)]


def add(mel, noise, rng, bin_width):
    """Log energies of the sum of two signals with the given log energies."""
    cross = rng.standard_normal(mel.shape, dtype=np.float32) * np.sqrt(2.0 / bin_width)
    ratio = np.exp(-np.abs(mel - noise))
    total = 1 + ratio + np.clip(cross, -2, 2) * np.sqrt(ratio)
    return np.maximum(mel, noise) + np.log(np.maximum(total, 0.1))


class Augmenter:
    def __init__(self, front_end, seed, corpus=None):
        """corpus(rng) returns (clean log mel energies, level) of some utterance, for babble."""
        self.front_end, self.bins, self.floor = front_end, front_end.bins, front_end.floor
        self.rng = np.random.default_rng(seed)
        self.library = noise_library(front_end)
        self.corpus = corpus
        self.noisy, self.snr = 0.36, (5, 30)  # share of utterances in audible noise; decibels
        self.crowds = [self.crowd() for _ in range(150)] if corpus else []

    def add(self, mel, noise):
        return add(mel, noise, self.rng, self.front_end.bin_width)

    def stretch(self, library, frames, level):
        """Some of the frames of one of a library's pieces, at the given RMS."""
        piece = library[self.rng.integers(len(library))]
        start = self.rng.integers(len(piece))
        index = (start + np.arange(frames)) % len(piece)
        return piece[index] + np.float32(20 * np.log10(level) * NEPER)

    def noise(self, frames, level):
        return self.stretch(self.library, frames, level)

    def babble(self, frames, level):
        return self.stretch(self.crowds, frames, level)

    def crowd(self, frames=1000):
        """Several utterances at once, of unit RMS together."""
        total = np.zeros((frames, self.bins), np.float32)
        talkers = int(self.rng.integers(3, 8))
        for _ in range(talkers):
            mel, own = self.corpus(self.rng)
            start = self.rng.integers(len(mel))
            mel = mel[(start + np.arange(frames)) % len(mel)]
            total += np.exp(mel) * np.float32(1 / max(own, 1e-4) ** 2 / talkers)
        return np.log(total)

    def heard(self, sound, frames, level):
        """Log mel energies of a sound of unit RMS, at the given one."""
        return self.front_end.log_mel(sound)[:frames].astype(np.float32) + np.float32(20 * np.log10(level) * NEPER)

    def nospeech(self):
        rng = self.rng
        frames = int(rng.integers(98, 1000))
        kind = rng.random()
        if kind < 0.15:
            return np.full((frames, self.bins), self.floor, np.float32)
        mel = self.noise(frames, 10 ** rng.uniform(-4.8, -0.4))
        samples = (frames + 3) * RATE // 100
        if kind < 0.4:  # a rumble of its own: deep noise wanders so slowly that a library of it is soon known by heart
            mel = self.heard(shaped_noise(rng, samples, rng.uniform(1.5, 3.0)), frames, 10 ** rng.uniform(-3.8, -0.6))
        elif rng.random() < 0.55:  # and so are thirty tones and sixty tunes
            make = tones if rng.random() < 0.45 else music
            mel = self.heard(make(rng, samples), frames, 10 ** rng.uniform(-3, -0.4))
        if kind > 0.6:
            mel = self.add(mel, self.noise(frames, 10 ** rng.uniform(-4.8, -0.6)))
        if kind > 0.8:  # starts or stops somewhere
            cut = int(rng.integers(frames))
            mel[slice(cut) if rng.random() < 0.5 else slice(cut, None)] = self.floor
        return np.maximum(mel, self.floor)

    def speech(self, mel, level):
        """Returns (features, number of frames put in front)."""
        rng = self.rng
        mel = mel.astype(np.float32)
        pad = int(rng.integers(0, 12)) if rng.random() < 0.6 else 0
        if pad:
            mel = np.concatenate([np.full((pad, self.bins), self.floor), mel])
        if rng.random() < 0.5:  # a longer or shorter vocal tract
            at = np.clip(np.arange(self.bins) * rng.uniform(0.90, 1.10), 0, self.bins - 1)
            low = np.minimum(at.astype(int), self.bins - 2)
            part = (at - low).astype(np.float32)
            mel = mel[:, low] * (1 - part) + mel[:, low + 1] * part
        offset = rng.uniform(-20, 6)
        shape = np.full(self.bins, offset * NEPER)
        if rng.random() < 0.3:  # tilt
            shape += np.linspace(-1, 1, self.bins) * rng.uniform(-4, 4) * NEPER
        if rng.random() < 0.4:  # rooms, microphones and throats that favour some bands
            at = np.linspace(0, self.bins - 1, int(rng.integers(4, 9)))
            shape += np.interp(np.arange(self.bins), at, rng.normal(0, rng.uniform(1, 7), len(at))) * NEPER
        if rng.random() < 0.15:  # low-pass
            cut = int(rng.integers(65 * self.bins // 100, self.bins))
            shape[cut:] -= rng.uniform(10, 70) * NEPER
        mel = mel + shape.astype(np.float32)
        level = level * 10 ** (offset / 20)
        kind = rng.random()
        if kind < self.noisy:
            mel = self.add(mel, self.noise(len(mel), level * 10 ** (-rng.uniform(*self.snr) / 20)))
        elif kind < self.noisy + 0.2 and self.corpus:
            mel = self.add(mel, self.babble(len(mel), level * 10 ** (-rng.uniform(7, 30) / 20)))
        elif kind < self.noisy + 0.34:
            mel = self.add(mel, self.noise(len(mel), 10 ** rng.uniform(-4.8, -3)))
        mel = np.maximum(mel, self.floor)
        if rng.random() < 0.3:
            width, at = int(rng.integers(1, 9)), int(rng.integers(0, self.bins - 8))
            mel[:, at : at + width] = mel.mean()
        if rng.random() < 0.3 and len(mel) > 60:
            width, at = int(rng.integers(1, 7)), int(rng.integers(0, len(mel) - 8))
            mel[at : at + width] = mel.mean()
        return mel, pad
