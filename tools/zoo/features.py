# SPDX-License-Identifier: Apache-2.0
"""The acoustic front end of the demonstration model: filter bank, frame stacking, normalisation.

Kaldi-compatible log-mel filter bank (80 bins, 25/10 ms frames, no dither, only whole
frames), low-frame-rate stacking of 7 frames every 6, and per-dimension mean/variance
normalisation read from (or written to) a Kaldi nnet text file.
"""
import re

import numpy as np
import scipy.fft

RATE = 16000
FRAME = 400
HOP = 160
FFT = 512
BINS = 80
LFR_M = 7
LFR_N = 6
LOG_FLOOR = float(np.log(np.finfo(np.float32).eps))


def _mel(hz):
    return 1127.0 * np.log(1.0 + np.asarray(hz, np.float64) / 700.0)


def _mel_matrix(low=20.0, high=8000.0):
    edges = np.linspace(_mel(low), _mel(high), BINS + 2)
    mels = _mel(np.arange(FFT // 2) * (RATE / FFT))[:, None]
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    up = (mels - left) / (centre - left)
    down = (right - mels) / (right - centre)
    return np.maximum(0.0, np.minimum(up, down)).astype(np.float32)


_MEL = _mel_matrix()
_COSINE = np.cos(2 * np.pi * np.arange(FRAME) / (FRAME - 1))
HAMMING = (0.54 - 0.46 * _COSINE).astype(np.float32)
POVEY = ((0.5 - 0.5 * _COSINE) ** 0.85).astype(np.float32)
# Number of FFT bins each mel bin effectively averages over.
BIN_WIDTH = (_MEL.sum(0) ** 2 / (_MEL ** 2).sum(0)).astype(np.float32)


def fbank(samples, window=HAMMING):
    """samples: float in [-1, 1) at 16 kHz. Returns (frames, 80) float32 log-mel energies."""
    x = np.asarray(samples, np.float32) * np.float32(32768.0)
    if len(x) < FRAME:
        return np.zeros((0, BINS), np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(x, FRAME)[::HOP].copy()
    frames -= frames.mean(1, keepdims=True)
    emphasised = np.empty_like(frames)
    emphasised[:, 1:] = frames[:, 1:] - np.float32(0.97) * frames[:, :-1]
    emphasised[:, 0] = np.float32(0.03) * frames[:, 0]
    emphasised *= window
    spectrum = scipy.fft.rfft(emphasised, n=FFT, axis=1)[:, : FFT // 2]
    power = spectrum.real ** 2 + spectrum.imag ** 2
    return np.log(np.maximum(power @ _MEL, np.finfo(np.float32).eps))


def lfr(frames):
    """Stacks 7 frames every 6; the first frame is repeated 3 times on the left, the last on the right."""
    count = len(frames)
    if count == 0:
        return np.zeros((0, BINS * LFR_M), frames.dtype)
    rows = -(-count // LFR_N)
    index = np.arange(rows)[:, None] * LFR_N + np.arange(LFR_M)[None] - (LFR_M - 1) // 2
    return frames[np.clip(index, 0, count - 1)].reshape(rows, -1)


def read_mvn(path):
    """Returns (shift, scale); features become (x + shift) * scale."""
    with open(path, encoding="utf-8") as f:
        rows = re.findall(r"<LearnRateCoef>\s+\S+\s+\[([^\]]*)\]", f.read())
    shift, scale = (np.array(r.split(), np.float32) for r in rows[:2])
    return shift, scale


def write_mvn(path, shift, scale):
    n = len(shift)

    def row(values):
        return " ".join(repr(float(v)) for v in values)

    with open(path, "w", encoding="utf-8") as f:
        f.write(f"<Nnet>\n<Splice> {n} {n}\n[ 0 ]\n")
        f.write(f"<AddShift> {n} {n}\n<LearnRateCoef> 0 [ {row(shift)} ]\n")
        f.write(f"<Rescale> {n} {n}\n<LearnRateCoef> 0 [ {row(scale)} ]\n</Nnet>\n")
