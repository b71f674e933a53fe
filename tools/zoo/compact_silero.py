#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/golden/silero_vad holds: what the originals make of Silero VAD with the weights and samples of
silero_wheel.py, and of probabilities that a formula gives.

- whisper_cpp_16k.npy: probabilities of whisper.cpp, through its shared library
- original_16k.npy, original_8k.npy: those of the original's TorchScript archive, whose weights are replaced
- timestamps.json: segments of get_speech_timestamps and events of VADIterator (silero_vad/utils_vad.py)

Usage: compact_silero.py SILERO_PACKAGE LIBWHISPER OUT_DIR      SILERO_PACKAGE: the folder with utils_vad.py and data/
"""
import argparse
import ctypes
import importlib.util
import json
import pathlib
import sys
import tempfile
import types

import numpy
import torch

import silero_wheel

COUNT = {16000: 40017, 8000: 20009}


class ContextParams(ctypes.Structure):
    _fields_ = [("n_threads", ctypes.c_int), ("use_gpu", ctypes.c_bool), ("gpu_device", ctypes.c_int)]


def whisper_cpp(library, model, pcm):
    lib = ctypes.CDLL(str(library))
    lib.whisper_vad_init_from_file_with_params.restype = ctypes.c_void_p
    lib.whisper_vad_init_from_file_with_params.argtypes = [ctypes.c_char_p, ContextParams]
    lib.whisper_vad_detect_speech.restype = ctypes.c_bool
    lib.whisper_vad_detect_speech.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float), ctypes.c_int]
    lib.whisper_vad_n_probs.argtypes = lib.whisper_vad_probs.argtypes = [ctypes.c_void_p]
    lib.whisper_vad_probs.restype = ctypes.POINTER(ctypes.c_float)
    vad = lib.whisper_vad_init_from_file_with_params(str(model).encode(), ContextParams(1, False, 0))
    data = numpy.ascontiguousarray(pcm, numpy.float32)
    assert lib.whisper_vad_detect_speech(vad, data.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), len(data))
    return numpy.array(lib.whisper_vad_probs(vad)[:lib.whisper_vad_n_probs(vad)], numpy.float32)


def original(package, rate, pcm):
    model = torch.jit.load(str(package / "data/silero_vad.jit")).eval()
    ours = silero_wheel.tensors(rate, rate)
    front = "_model." if rate == 16000 else "_model_8k."
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if name.startswith(front):
                value.copy_(torch.from_numpy(ours.pop(name[len(front):])))
    assert not ours
    return model.audio_forward(torch.from_numpy(pcm)[None], rate)[0].numpy()


class Given:
    """A model whose probabilities are given."""

    def __init__(self, values):
        self.values, self.at = values, 0

    def reset_states(self):
        self.at = 0

    def __call__(self, _, __):
        self.at += 1
        return torch.tensor(float(self.values[self.at - 1]))


def probabilities(seed, windows, hold):
    """Like silero_case.hpp: a value holds for 1 to `hold` windows."""
    draws, out, at = silero_wheel.numbers(seed, 2 * windows), [], 0
    while len(out) < windows:
        value, length = (draws[at] + 1024) / 2048, 1 + (draws[at + 1] + 1024) % hold
        out += [numpy.float32(value)] * int(length)
        at += 2
    return out[:windows]


def load_utils(package):
    for unused in ("torchaudio", "packaging", "packaging.version"):  # they read files
        sys.modules.setdefault(unused, types.ModuleType(unused))
    sys.modules["packaging"].version = sys.modules["packaging.version"]
    spec = importlib.util.spec_from_file_location("utils_vad", package / "utils_vad.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SETTINGS = [
    {}, {"threshold": 0.7}, {"threshold": 0.1}, {"neg_threshold": 0.5}, {"min_speech_duration_ms": 0},
    {"min_speech_duration_ms": 1000}, {"min_silence_duration_ms": 0, "min_speech_duration_ms": 0},
    {"min_silence_duration_ms": 700}, {"speech_pad_ms": 0}, {"speech_pad_ms": 250}, {"speech_pad_ms": 1000},
    {"speech_pad_ms": 33, "min_silence_duration_ms": 32, "min_speech_duration_ms": 32},
    {"max_speech_duration_s": 2}, {"max_speech_duration_s": 0.5, "min_silence_duration_ms": 400},
    {"max_speech_duration_s": 3, "min_silence_duration_ms": 1500, "min_silence_at_max_speech": 30},
    {"max_speech_duration_s": 3, "min_silence_duration_ms": 1500, "use_max_poss_sil_at_max_speech": False},
    {"max_speech_duration_s": 1, "min_silence_duration_ms": 800, "use_max_poss_sil_at_max_speech": False,
     "min_silence_at_max_speech": 0, "speech_pad_ms": 100},
    {"max_speech_duration_s": 0.01},
]


def cases(utils):
    out, seed = [], 1
    for rate, window in ((16000, 512), (8000, 256)):
        for settings in SETTINGS:
            for hold, windows in ((2, 60), (9, 300)):
                seed += 1
                length = windows * window - seed % 3 * 100
                p = probabilities(seed, windows, hold)
                found = utils.get_speech_timestamps(torch.zeros(length), Given(p), sampling_rate=rate, **settings)
                out.append({"rate": rate, "seed": seed, "hold": hold, "windows": windows, "length": length,
                            "settings": settings, "segments": [[s["start"], s["end"]] for s in found]})
    return out


def iterations(utils):
    out = []
    for seed, rate, settings in ((901, 16000, {}), (902, 8000, {}),
                                 (903, 16000, {"threshold": 0.8, "speech_pad_ms": 0}),
                                 (904, 16000, {"min_silence_duration_ms": 400, "speech_pad_ms": 100})):
        window, p, events = rate * 32 // 1000, probabilities(seed, 1000, 9), []
        vad = utils.VADIterator(Given(p), sampling_rate=rate, **settings)
        for _ in p:
            events += [[kind, at] for kind, at in (vad(torch.zeros(window)) or {}).items()]
        out.append({"rate": rate, "seed": seed, "hold": 9, "windows": 1000, "settings": settings, "events": events})
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("package", "library", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    torch.set_num_threads(1)
    o.out.mkdir(parents=True, exist_ok=True)
    for rate, name in ((16000, "16k"), (8000, "8k")):
        numpy.save(o.out / f"original_{name}.npy", original(o.package, rate, silero_wheel.samples(COUNT[rate], 7)))
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / "ggml-silero.bin"
        model.write_bytes(silero_wheel.ggml(silero_wheel.tensors(16000, 16000)))
        numpy.save(o.out / "whisper_cpp_16k.npy", whisper_cpp(o.library, model, silero_wheel.samples(COUNT[16000], 7)))
    utils = load_utils(o.package)
    lines = [json.dumps(c) for c in cases(utils)], [json.dumps(c) for c in iterations(utils)]
    (o.out / "timestamps.json").write_text('{"segments": [\n' + ",\n".join(lines[0]) + '\n], "iterator": [\n' +
                                           ",\n".join(lines[1]) + "\n]}\n")


if __name__ == "__main__":
    main()
