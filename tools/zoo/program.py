# SPDX-License-Identifier: Apache-2.0
"""What all judges have: the program with a model, a table of results, arguments."""
import argparse
import json
import subprocess
import tempfile
import wave
from pathlib import Path

import numpy as np

RATE = 16000


def arguments(description, model):
    """The arguments that all judges have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("--program", default="build/bin/steno")
    parser.add_argument("--model", default=f"examples/models/{model}.gguf")
    return parser


def write_wav(path, pcm, rate=RATE, channels=1):
    with wave.open(str(path), "wb") as w:
        w.setnchannels(channels)
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(np.asarray(pcm, "<i2").tobytes())


class Program:
    """`steno` with a model as a recogniser of many recordings at once."""

    def __init__(self, program, model):
        self.program, self.model = program, model
        self.timed = ["--word-timestamps"] if Path(model).stem.startswith("whisper") else []

    def transcribe(self, recordings, *options, encode=None):
        """16-bit samples at 16 kHz (or what `encode(sound, folder, name)` makes a file of) -> results in JSON."""
        with tempfile.TemporaryDirectory() as folder:
            into, out = Path(folder, "in"), Path(folder, "out")
            into.mkdir()
            for i, sound in enumerate(recordings):
                if encode:
                    encode(sound, into, f"{i:06}")
                else:
                    write_wav(into / f"{i:06}.wav", sound)
            command = [self.program, "transcribe", "-m", self.model, "--format", "json", "--threads", "1", "-q",
                       *options, "-o", f"{out}/", str(into)]
            done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                raise RuntimeError(done.stderr.decode())
            return [json.loads(path.read_text()) for path in sorted(out.iterdir())]

    def stream(self, pcm, *options):
        """The events of one recording."""
        command = [self.program, "stream", "-m", self.model, "--format", "jsonl", "-q", *options,
                   "--pcm-format", "s16le", "--pcm-rate", str(RATE), "-"]
        out = subprocess.run(command, input=np.asarray(pcm, "<i2").tobytes(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, check=False)
        if out.returncode:
            raise RuntimeError(out.stderr.decode())
        return [json.loads(line) for line in out.stdout.splitlines()]


class Table:
    def __init__(self):
        self.rows = []
        print("| recordings | result | limit | |\n|---|---|---|---|", flush=True)

    def row(self, name, result, limit, good, **figures):
        self.rows.append({"name": name, "result": result, "limit": limit, "good": bool(good), **figures})
        print(f"| {name} | {result} | {limit} | {'ok' if good else 'MISSED'} |", flush=True)

    @property
    def failed(self):
        return not all(row["good"] for row in self.rows)
