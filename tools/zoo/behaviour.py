# SPDX-License-Identifier: Apache-2.0
"""Judges all bundled demonstration models, writes docs/measurements/behaviour.md and the summary of docs/behaviour.md.

usage: behaviour.py GRAMMAR [--program build/bin/steno] [--root DIR] [--only FAMILY ...] [--plain FOLDER]

A model's figures are kept in docs/measurements/behaviour/FAMILY.json; only models without them (or newer than they are,
or named by --only) are judged again. --plain is a folder of the same models with f32 weights.
"""
import argparse
import itertools
import json
import subprocess
import sys
import textwrap
from pathlib import Path

# What stands in docs/behaviour.md between two such lines is written anew: the table of recognisers, that of speakers.
RECOGNISERS = "<!-- tools/zoo/behaviour.py -->\n", "<!-- end -->\n"
SPEAKERS = "<!-- tools/zoo/behaviour.py, speakers -->\n", "<!-- end of speakers -->\n"

# A column of the summary: its title, and the lines of the judge of which it holds the worst rate.
SUMMARY = [("training voices", ["training voices"]),
           ("new voices", ["voice m8, not in training", "voice f5, not in training"]),
           ("white noise", ["white noise, 15 dB"]),
           ("babble", ["babble of five, 15 dB"]),
           ("MP3", ["44.1 kHz stereo MP3, 128 kbit/s"]),
           ("20 dB quieter", ["20 dB quieter"]),
           ("20 minutes", ["twenty minutes of turns"])]

NO_RECOGNISERS = ("fsmn-vad", "ct-punc", "qwen3-aligner")  # they have judges of their own
DIARIZER = "sortformer"  # and so has this one, whose figures are told here

INTRODUCTION = """\
# Measurements: the demonstration models

Every check of every model of `examples/models`, by `tools/zoo/behaviour.py`; [behaviour](../behaviour.md) has the
summary. Every line went through the program (`steno transcribe`, `steno stream`) with the bundled 8-bit file: 300 newly
drawn sentences for word errors (900 for beams, 100 recordings for word times), 10 minutes of each sound without speech,
20 minutes of turns with pauses. The voices m8 and f5 were in no training. A result in bold misses its limit.
"""

NOTES = """
## Notes
- **Joined words**: single words synthesised one by one with gaps, so their starts are exact; a word that was not
  recognised counts as a miss. Parakeet-CTC's times are NeMo's: a word begins where the one before ends, so it learnt to
  end a word where the next one starts. Whisper's rules have the first word of a window begin with it: in windows of 30
  s 73 and 67 of these words are more than 120 ms behind, so 89.9 % and 90.7 % are the most that it can reach there, and
  those lines have no limit. Its windows are therefore those of `--vad energy`, which begin 0.1 s before speech.
  Parakeet-EOU's are the rows in which it emits the beginning of a word, a piece of its own: it sees 80 ms ahead at
  most.
- **Hotwords**: sentences with one of five words, with a beam of 8, in the first of five levels of white noise (-3,
  -4.5, -6, -8, -10 dB) at which less than 30 % of these words are found without a list.
- **Windows of 30 s**: the conversation as one recording without a VAD; this Whisper writes the first turn of a window
  and then when the next one begins; its next window begins behind the turn that it wrote, so there is a window for each
  turn.
- **8-bit weights**: the same sentences with f32 weights.
- **Segments, live**: `steno stream --by-segments` with the energy VAD, as models stream that do not by themselves; the
  first partial result of a turn against the beginning of its speech.
- **Streams**: `steno stream` without an option, which recognises segments where the words of a model's own stream would
  come late (`--own-stream`: that one); the first partial result of a turn against the beginning of its speech, within
  600 ms: against the end of its first word; settled text is what a partial result declares final. Chunks of U2++ are
  of 40 ms rows.
- **Turns**: the time of a stream's `end_of_turn` against the end of the speech.
"""


SAID_BY = """
## Who said what
The Sortformer model by itself, and beside Parakeet-TDT and Parakeet-EOU, on newly made conversations of two to four
people with up to 15 % overlaps, most of them in noise (`tools/zoo/judge_speakers.py`). DER is the share of the speech
that was missed, invented or given to another speaker; cpWER counts a word as wrong when its speaker is. Real-time
factors depend on the processor: these are of an AMD Zen 4 with other work to do.

"""


def judge(args, model, results):
    name = "judge_speakers.py" if model.stem == DIARIZER else "judge.py"
    command = [sys.executable, str(Path(__file__).with_name(name)), args.grammar, "--program", args.program, "--model",
               str(model), "--json", str(results)]
    if model.stem == DIARIZER:
        command += ["--recogniser", str(model.with_name("parakeet-tdt.gguf")), "--live",
                    str(model.with_name("parakeet-eou.gguf"))]
    elif args.plain and (Path(args.plain) / model.name).exists():
        command += ["--plain", str(Path(args.plain) / model.name)]
    subprocess.run(command, check=False)  # its status tells of missed limits


def row_of(rows, line):
    return next((r for r in rows if r["name"] == line), None)


def tables(figures):
    """A table for each line of the judge; models with equal results share a row."""
    lines = []
    for rows in figures.values():
        for row in rows:
            if row["name"] not in lines:
                lines.append(row["name"])
    text = ""
    for line in lines:
        results, limit = {}, ""
        for family, rows in figures.items():
            row = row_of(rows, line)
            if row is not None:
                limit = row["limit"]
                results.setdefault(row["result"] if row["good"] else f"**{row['result']}**", []).append(family)
        text += f"\n## {line[0].upper() + line[1:]}\nLimit: {limit}.\n\n| model | result |\n|---|---|\n"
        for result, families in results.items():
            names = "all" if len(families) == len(figures) else ", ".join(families)
            for own, told in zip(textwrap.wrap(names, 70), itertools.chain([result], itertools.repeat(""))):
                text += f"| {own} | {told} |\n"
    return text


def summary(figures):
    """Word errors in percent: a row for each model, a column for each condition."""
    text = "| model | " + " | ".join(title for title, _ in SUMMARY) + " |\n|---|" + "---|" * len(SUMMARY) + "\n"
    for family, rows in figures.items():
        cells = []
        for _, lines in SUMMARY:
            rates = [row["rate"] for row in (row_of(rows, line) for line in lines) if row is not None]
            cells.append(f"{max(rates):.1f}" if rates else "")
        text += f"| {family} | " + " | ".join(cells) + " |\n"
    return text


def speakers(rows):
    """The lines of judge_speakers.py."""
    text = "| recordings | result | limit |\n|---|---|---|\n"
    for row in rows:
        name, limit = row["name"], row["limit"]
        for part in textwrap.wrap(row["result"], 105 - len(name + limit)):
            text += f"| {name} | {part if row['good'] else f'**{part}**'} | {limit} |\n"
            name = limit = ""
    return text


def replaced(page, lines, text):
    """The page with `text` between these two lines."""
    before, rest = page.split(lines[0])
    return before + lines[0] + text + lines[1] + rest.split(lines[1])[1]


def plot(figures, path):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "steno"  # the same file for the same numbers
    import matplotlib.pyplot as plt

    lines = ["training voices", "voice m8, not in training", "voice f5, not in training", "white noise, 15 dB",
             "babble of five, 15 dB", "stream of turns"]
    delays = {family: row["delays"] for family, rows in figures.items() for row in rows if "delays" in row}
    chart, axes = plt.subplots(1, 1 + bool(delays), figsize=(11, 4), squeeze=False,
                               gridspec_kw={"width_ratios": [3, 1][: 1 + bool(delays)]})
    width = 0.8 / max(1, len(figures))
    for i, (family, rows) in enumerate(figures.items()):
        rates = {row["name"]: row["rate"] for row in rows if "rate" in row}
        heights = [rates.get(line, rates.get(f"{line}, chunk 16", 0)) for line in lines]
        axes[0][0].bar([n + i * width for n in range(len(lines))], heights, width, label=family)
    axes[0][0].set_xticks([n + 0.4 - width / 2 for n in range(len(lines))],
                          [line.replace(", ", ",\n") for line in lines], fontsize=8)
    axes[0][0].set_ylabel("word errors, %")
    axes[0][0].legend(fontsize=8)
    for family, values in delays.items():
        axes[0][1].hist(values, bins=range(-100, 1001, 50), label=family)
        axes[0][1].axvline(400, color="black", linewidth=0.8)
        axes[0][1].set_xlabel("end of turn told after, ms")
    chart.tight_layout()
    chart.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("--program", default="build/bin/steno")
    parser.add_argument("--root", default=str(Path(__file__).resolve().parents[2]))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--plain")
    args = parser.parse_args()
    docs = Path(args.root) / "docs"
    kept = docs / "measurements" / "behaviour"
    kept.mkdir(exist_ok=True)
    figures, said_by = {}, ""
    for model in sorted((Path(args.root) / "examples" / "models").glob("*.gguf")):
        family = "sense-voice" if model.stem == "demo" else model.stem
        results = kept / f"{family}.json"
        if family in NO_RECOGNISERS:
            continue
        stale = not results.exists() or results.stat().st_mtime < model.stat().st_mtime
        if (family in args.only) if args.only is not None else stale:
            print(f"{family}:", flush=True)
            judge(args, model, results)
        if results.exists() and family == DIARIZER:
            said_by = SAID_BY + speakers(json.loads(results.read_text()))
        elif results.exists():
            figures[family] = json.loads(results.read_text())
    (docs / "measurements" / "behaviour.md").write_text(INTRODUCTION + tables(figures) + said_by + NOTES)
    page = docs / "behaviour.md"
    text = replaced(page.read_text(), RECOGNISERS, summary(figures))
    page.write_text(replaced(text, SPEAKERS, said_by))
    plot(figures, docs / "plots" / "behaviour.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
