# SPDX-License-Identifier: Apache-2.0
"""The acoustic front ends of all families, and their features of a data set, made once from its sound.

A front end gives log energies of mel bands (`log_mel`), on which noise can be mixed (augment.py); `finish` makes of
them what the network hears. Features are stored as the log energies, as float16, in a file beside the sound.
"""
import multiprocessing
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable

import numpy as np
import scipy.fft

import features

RATE = 16000


@dataclass(frozen=True)
class FrontEnd:
    name: str
    bins: int
    floor: np.float32  # log energy of silence
    bin_width: np.ndarray  # number of FFT bins that each mel band effectively averages over
    log_mel: Callable  # samples in [-1, 1) -> (frames, bins) float32, one frame every 10 ms
    count: Callable  # number of samples -> number of frames
    finish: Callable  # log energies of a recording (noise and all) -> what the network hears


def slaney_filters(bands, bins, rate=RATE):
    """(bands, bins) triangles on Slaney's scale, of equal areas, as librosa makes them."""
    def hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    edges = hz(np.linspace(0, 15 + 27 * np.log(rate / 2 / 1000) / np.log(6.4), bands + 2))
    at = np.linspace(0, rate / 2, bins)
    up = (at[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - at[None]) / (edges[2:] - edges[1:-1])[:, None]
    return (np.maximum(0, np.minimum(up, down)) * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


def width(filters):
    return (filters.sum(1) ** 2 / (filters ** 2).sum(1)).astype(np.float32)


def mel_energies(x, window, size, hop, filters):
    """Energies of the frames of x that lie `hop` apart; x is padded already."""
    frames = np.lib.stride_tricks.sliding_window_view(x, size)[::hop] * window
    spectrum = scipy.fft.rfft(frames.astype(np.float32), axis=1)
    return (spectrum.real ** 2 + spectrum.imag ** 2) @ filters.T




def nemo(bins):
    """NeMo's AudioToMelSpectrogramPreprocessor before its logarithm (x + 2^-24) and its normalisation."""
    quiet = np.float32(1e-13)  # much less than 2^-24
    filters = slaney_filters(bins, 257)
    window = np.zeros(512, np.float32)
    window[56:456] = np.hanning(400)

    def log_mel(samples):
        x = np.asarray(samples, np.float32)
        x = np.concatenate([x[:1], x[1:] - np.float32(0.97) * x[:-1]])
        energies = mel_energies(np.pad(x, 256), window, 512, 160, filters)[: len(x) // 160]
        return np.log(np.maximum(energies, quiet))

    def finish(mel):
        return np.log(np.exp(mel) + np.float32(2.0 ** -24))

    return FrontEnd(f"nemo{bins}", bins, np.log(quiet), width(filters), log_mel, lambda n: n // 160, finish)


def per_feature(x):
    """NeMo's "per_feature": every band of a recording has mean 0 and deviation 1."""
    return (x - x.mean(0)) / (x.std(0, ddof=1) + np.float32(1e-5))


def whisper(bins):
    """Whisper's log-mel spectrogram before its limit of 8 below the maximum and its normalisation."""
    quiet = np.float32(1e-10)
    filters = slaney_filters(bins, 201)
    window = np.hanning(401)[:400].astype(np.float32)

    def log_mel(samples):
        x = np.pad(np.asarray(samples, np.float32), 200, mode="reflect")
        energies = mel_energies(x, window, 400, 160, filters)[: len(samples) // 160]
        return np.log(np.maximum(energies, quiet))

    def finish(mel):
        x = mel / np.float32(np.log(10))
        return (np.maximum(x, x.max() - 8) + 4) / 4

    return FrontEnd(f"whisper{bins}", bins, np.log(quiet), width(filters), log_mel, lambda n: n // 160, finish)


KALDI = FrontEnd("kaldi80", features.BINS, np.float32(features.LOG_FLOOR), features.BIN_WIDTH, features.fbank,
                 lambda n: max(0, 1 + (n - features.FRAME) // features.HOP), lambda mel: mel)

# Kaldi's own window, as WeNet has it; FunASR takes Hamming's.
POVEY = replace(KALDI, name="povey80", log_mel=lambda samples: features.fbank(samples, features.POVEY))


heard = None  # what processes that make features begin with: the sound, its utterances, the front end


def features_of(some):
    sound, items, front_end = heard
    return b"".join(front_end.log_mel(sound[item["first"] : item["first"] + item["samples"]] / np.float32(32768))
                    .astype(np.float16).tobytes() for item in items[some])


def stored(folder, items, front_end):
    """Features of all utterances of a data set, one after another, and the first row of each one (and the end)."""
    path = Path(folder) / f"{front_end.name}.f16"
    if not path.exists():
        global heard
        heard = np.memmap(Path(folder) / "samples.i16", np.int16), items, front_end
        unfinished = path.with_suffix(".part")
        parts = [slice(i, i + 200) for i in range(0, len(items), 200)]
        with open(unfinished, "wb") as out, \
                multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
            for part in pool.imap(features_of, parts):
                out.write(part)
        unfinished.rename(path)
    first = np.cumsum([0] + [front_end.count(item["samples"]) for item in items])
    rows = np.fromfile(path, np.float16).reshape(-1, front_end.bins)
    assert len(rows) == first[-1], f"{path} is of other sound: remove it"
    return rows, first
