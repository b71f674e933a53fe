#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every list of shared/manifests at full size: makes the checkpoint with random weights (random_checkpoint.py),
packages it, has a few seconds of speech go through it, and prints a row for each.

Usage: full_size.py --convert STENO_CONVERT --program STENO --work DIR [--shared DIR] [--types default,q8_0]
                    [--log ROWS.jsonl] [NAME...]

One list at a time; its files are deleted when it is done. Memory is the largest resident set, mapped pages of the file
with it; times are processor time (user and system) of one thread. What a program wrote has to be what it promises:
numbers finite, confidences between 0 and 1. A refusal is a row, too: its line; so is a crash, and then the script ends
with 1. Whisper has a row for openai's layout and one for Hugging Face's.
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

import torch

from random_checkpoint import SHARED, Maker

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = ("| list; packed as | numbers, checkpoint; file | conversion | run | memory / file | result |\n"
        "|---|---|---|---|---|---|")
# Lists whose models listen to live speech; what they write there is looked at with one type.
STREAMS = ("paraformer-large-zh-online", "u2pp", "unified_conformer", "eou", "streaming-0.6b", "parakeet-unified",
           "qwen3-asr-0.6b")


class Run:
    """A program's exit code, output, processor time in seconds and largest resident set in bytes."""

    def __init__(self, work, *command):
        report, out, log = work / "time", work / "stdout", work / "stderr"
        with open(out, "wb") as o, open(log, "wb") as e:
            self.code = subprocess.run(["/usr/bin/time", "-o", report, "-f", "%M %U %S", *command], stdout=o, stderr=e,
                                       stdin=subprocess.DEVNULL, timeout=1800).returncode
        peak, user, system = report.read_text().splitlines()[-1].split()
        self.memory, self.seconds = int(peak) * 1024, float(user) + float(system)
        self.out, self.log = out.read_text(), log.read_text(errors="replace")

    def last_line(self):
        return (self.log.strip().splitlines() or [""])[-1]

    def crashed(self):
        return self.code not in (0, 1, 2)

    def costs(self):
        return f"{self.seconds:.1f} s, {self.memory / 2**20:.0f} MiB"


def commands(name, model, shared, work, stream):
    """What fits a model: (verb, arguments) each."""
    audio = shared / "assets/audio/sample-zh.wav"
    demo, small = ROOT / "examples/models", ROOT / "examples/audio/shopping.wav"
    one = ["--threads", "1", "--no-progress"]
    if name == "fsmn-vad":
        return [("vad", ["-m", model, "--format", "jsonl", audio])]
    if "sortformer" in name:
        return [("diarize", ["-m", model, "--format", "jsonl", "--threads", "1", "--onset", "0.5", audio])]
    if "punc-realtime" in name:
        return [("stream", ["-m", demo / "u2.gguf", "--punctuate", model, "--format", "jsonl", *one, small])]
    if "punc" in name:
        return [("transcribe", ["-m", demo / "demo.gguf", "--punctuate", model, "--format", "jsonl", *one, small])]
    if "aligner" in name:
        (work / "text").write_text("我想问我在滨海新区有房")
        return [("align", ["-m", model, "--text", work / "text", "--format", "jsonl", "--threads", "1", audio])]
    extra = []
    if name.startswith("whisper"):
        extra = ["--language", "en", "--no-fallback"]
    elif "nano" in name or "qwen3" in name:
        extra = ["--max-new-tokens", "24"]
    elif "seaco" in name or "contextual" in name:
        (work / "hotwords").write_text("一丁\n丂七丄\n")
        extra = ["--hotwords", work / "hotwords"]
    verbs = [("transcribe", ["-m", model, "--format", "jsonl", *extra, *one, audio])]
    if stream:
        verbs.append(("stream", ["-m", model, "--format", "jsonl", *one, audio]))
    return verbs


def not_a_number(word):
    raise ValueError(f"{word} in the output")


def check(value):
    """Raises ValueError unless all numbers below `value` are finite and confidences between 0 and 1."""
    if isinstance(value, dict):
        for key, v in value.items():
            if key == "confidence" and v is not None and not 0 <= v <= 1:
                raise ValueError(f"confidence {v}")
            check(v)
    elif isinstance(value, list):
        for v in value:
            check(v)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} in the output")


def result(verb, text):
    """What came out, in short, and its beginning."""
    events = [json.loads(line, parse_constant=not_a_number) for line in text.splitlines()]
    check(events)
    texts = [e.get("text") or e.get("word") or "" for e in events]
    words = [w for e in events for w in e.get("words") or []]
    said = " ".join(t.strip() for t in texts if t)
    beginning = said if said else json.dumps(events[0])[:80] if events else ""
    if verb in ("transcribe", "align"):
        count = (len(words), "word") if words else (len(said), "character")
    else:
        count = (len(events), "event" if verb == "stream" else "segment")
    return f"{count[0]} {count[1]}" + "s" * (count[0] != 1), beginning[:60].replace("|", "/").replace("\n", " ")


def megabytes(n):
    return f"{n / 1e6:.0f} MB" if n >= 1e7 else f"{n / 1e6:.1f} MB"


def size_of(path):
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(f.stat().st_size for f in files if f.is_file())


def cells(facts):
    """A row of the table."""
    if "numbers" in facts:
        return f"| **{facts['list']}** | {facts['numbers']}, {facts['checkpoint']} | | | | |"
    columns = [facts.get(k, "") for k in ("type", "file", "conversion", "run", "ratio", "result")]
    return "|" + "|".join(f" {c} " if c else " " for c in columns) + "|"


class Table:
    def __init__(self, o):
        self.o, self.failed = o, False

    def row(self, **facts):
        self.failed |= facts.get("failed", False)
        print(cells(facts), flush=True)
        if facts.get("beginning"):
            print("    " + facts["beginning"], file=sys.stderr, flush=True)
        if self.o.log:
            with open(self.o.log, "a") as f:
                f.write(json.dumps(facts, ensure_ascii=False) + "\n")

    def measure(self, name, manifest, layout=""):
        o = self.o
        work = o.work / name
        shutil.rmtree(work, ignore_errors=True)
        # Less than usual of blank's: what nobody says cannot be looked at.
        maker = Maker(manifest, work / name, o.shared, layout=layout, blank=1.0)
        checkpoint = maker.make()
        shown = name + {"": "", "openai": " (.pt)", "huggingface": " (folder)"}[layout]
        shown += " + qwen3-0.6b-gguf" if name == "fun-asr-nano-audio" else ""
        self.row(list=shown, numbers=f"{maker.numbers() / 1e6:.1f} M", checkpoint=megabytes(size_of(maker.out)))
        for kind in o.types.split(","):
            packed = work / "packed.gguf"
            types = [] if kind == "default" else ["--type", kind]
            made = Run(work, o.convert, checkpoint, "-o", packed, "--no-progress", *types, *maker.options)
            facts = {"type": "as it is" if kind == "default" else kind, "conversion": made.costs()}
            if made.code != 0:
                line = made.last_line().replace(str(checkpoint), checkpoint.name)
                self.row(**facts, run="refused", result=line, failed=made.crashed())
                break
            facts.update(file=megabytes(packed.stat().st_size), notes=made.log.strip())
            stream = kind != "default" and any(s in name for s in STREAMS)
            for verb, arguments in commands(name, packed, o.shared, work, stream):
                ran = Run(work, o.program, verb, *arguments)
                facts.update(run=f"{verb} {ran.costs()}", ratio=f"{ran.memory / packed.stat().st_size:.2f}")
                if ran.code != 0:
                    self.row(**facts, result=f"exit {ran.code}: {ran.last_line()}", failed=True)
                    continue
                try:
                    count, beginning = result(verb, ran.out)
                    self.row(**facts, result=count, beginning=beginning, log=ran.log.strip())
                except ValueError as e:
                    self.row(**facts, result=str(e), failed=True)
                facts = {}
        shutil.rmtree(work)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--convert", type=pathlib.Path, required=True)
    args.add_argument("--program", type=pathlib.Path, required=True)
    args.add_argument("--work", type=pathlib.Path, required=True)
    args.add_argument("--shared", type=pathlib.Path, default=SHARED)
    args.add_argument("--types", default="default,q8_0")
    args.add_argument("--log", type=pathlib.Path)
    args.add_argument("names", nargs="*", help="lists without .tsv [all]")
    o = args.parse_args()
    torch.set_num_threads(1)
    lists = o.shared / "manifests"
    # The language model's list is one of two files of a pair, and its row is the other's.
    names = o.names or sorted(f.stem for f in lists.glob("*.tsv") if f.stem != "qwen3-0.6b-gguf")
    table = Table(o)
    print(HEAD, flush=True)
    for name in names:
        for layout in ("openai", "huggingface") if name.startswith("whisper") else ("",):
            table.measure(name, lists / (name + ".tsv"), layout)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
