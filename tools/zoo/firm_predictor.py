# SPDX-License-Identifier: Apache-2.0
"""Moves the last vector of a streaming Paraformer's predictor, so that frames of a recording leave its threshold.

usage: firm_predictor.py GRAMMAR MODEL OUT RECORDING PIECE:FRAME:CHANGE... [--sentences N] [--seed N]
                         [--program STENO-TRACE]

A logit of 0 is the threshold between half a token and less. One that lies within what 8 bits and another order of sums
change gives another text on another processor. Each CHANGE is added to the logit of that frame (the mean of the scalar
and the AVX2 path), by the change of `predictor.cif_output` that is least in the mean square over the frames of N
sentences and as many in white noise of 10 to -10 dB. Nothing else of the file changes.
"""
import argparse
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import packaged
import synthesize
from program import write_wav

NOISE = [10, 0, -5, -10]  # dB of the speech over the noise
VECTOR, BIAS = "predictor.cif_output.weight", "predictor.cif_output.bias"


def traced(program, model, wav, isa=None):
    """Of each piece the predictor's hidden frames (T x D, the ReLU done) and logits (T)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "-m", model, wav, "-o", folder, "--only", "*cif_*"] + (["--isa", isa] if isa else [])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        pieces = len(list(Path(folder).glob("piece*_cif_output.npy")))
        stage = lambda i, name: np.load(Path(folder, f"piece{i}_cif_{name}.npy")).astype(np.float64)
        return [(np.maximum(stage(i, "conv1d"), 0), stage(i, "output").ravel()) for i in range(pieces)]


def sentences(grammar, count, seed):
    """Spoken sentences, 16-bit, then as many others in noise."""
    espeak, rng, noise = synthesize.Espeak(), random.Random(seed), np.random.default_rng(seed)
    for i in range(2 * count):
        audio, _ = synthesize.sentence(espeak, rng, grammar.draw(rng), synthesize.random_voice(rng))
        if i >= count:
            decibels = NOISE[i % len(NOISE)]
            audio = audio + noise.standard_normal(len(audio)) * np.sqrt((audio**2).mean()) * 10 ** (-decibels / 20)
        yield synthesize.to_pcm16(audio * min(1, 0.9 / np.abs(audio).max()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("grammar", "model", "out", "recording"):
        parser.add_argument(name)
    parser.add_argument("change", nargs="+")
    parser.add_argument("--sentences", type=int, default=240)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--program", default="build/bin/steno-trace")
    args = parser.parse_args()

    hidden, logits = [], []
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder, "sentence.wav")
        for pcm in sentences(synthesize.Grammar(args.grammar), args.sentences, args.seed):
            write_wav(wav, pcm)
            for h, z in traced(args.program, args.model, wav):
                hidden.append(h)
                logits.append(z)
    hidden, logits = np.concatenate(hidden), np.concatenate(logits)
    rows = np.c_[hidden, np.ones(len(hidden))]

    raw, _, tensors = packaged.entries(args.model)
    (vector, _, vector_at), (bias, _, bias_at) = tensors[VECTOR], tensors[BIAS]
    if vector.dtype != np.float32 or bias.dtype != np.float32:
        sys.exit(f"{VECTOR} and its bias: expected f32 numbers")
    vector, bias = vector.astype(np.float64), float(bias[0])
    worst = np.abs(hidden @ vector + bias - logits).max()
    if worst > 1e-3 * np.abs(logits).max():
        sys.exit(f"the stages are not those of the vector: logits differ by {worst:.3g}")

    scale = rows.T @ rows / len(rows)
    scale += 1e-6 * np.trace(scale) / len(scale) * np.eye(len(scale))
    changes = [(int(p), int(f), float(c)) for p, f, c in (text.split(":") for text in args.change)]
    paths = [traced(args.program, args.model, args.recording, isa) for isa in ("scalar", "avx2")]
    frames = np.array([np.r_[np.mean([path[p][0][f] for path in paths], axis=0), 1] for p, f, _ in changes])
    spread = np.linalg.solve(scale, frames.T)
    move = spread @ np.linalg.solve(frames @ spread, [c for _, _, c in changes])
    moved = rows @ move
    of_vector = np.linalg.norm(move[:-1]) / np.linalg.norm(vector)
    of_logits = np.sqrt((moved**2).mean() / (logits**2).mean())
    sides = ((logits > 0) != (logits + moved > 0)).sum()
    print(f"{len(rows)} frames: the vector moves by {of_vector:.2%}, logits by {of_logits:.2%} (root mean square), "
          f"by {np.abs(moved).max():.0f} at the most; {sides} change sides")

    out = bytearray(raw)
    out[vector_at : vector_at + 4 * len(vector)] = (vector + move[:-1]).astype("<f4").tobytes()
    struct.pack_into("<f", out, bias_at, bias + move[-1])
    Path(args.out).write_bytes(out)
    for isa in ("scalar", "avx2"):
        z = np.concatenate([z for _, z in traced(args.program, args.out, args.recording, isa)])
        print(f"{isa}: the logits next to the threshold are {np.sort(z[np.argsort(np.abs(z))[:4]]).round()}")


if __name__ == "__main__":
    main()
