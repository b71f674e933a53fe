# SPDX-License-Identifier: Apache-2.0
"""Judges a packaged Sortformer through `steno diarize`, `steno transcribe --speakers` and `steno stream --speakers`.

usage: judge_speakers.py GRAMMAR [--program build/bin/steno] [--model examples/models/sortformer.gguf]
                         [--recogniser examples/models/parakeet-tdt.gguf] [--live examples/models/parakeet-eou.gguf]
                         [--count N] [--seconds S] [--hours H] [--json FILE] [--only PART ...]

New conversations of 2 to 4 people, whose voices are those of the training or such as were in none: DER, words with a
wrong speaker, cpWER; more people than the model knows; when a stream makes a speaker known; a recording of hours.
Prints a row of a Markdown table for each line; the exit status is 1 when a line misses its limit.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import conversations
import speaker_scores
from program import RATE, Table, arguments
from synthesize import VARIANTS, Espeak, Grammar

VOICES = {"training voices": (VARIANTS, 6, 3, 3), "voices in no training": (conversations.UNHEARD, 15, 8, 3)}


def through(command, recordings, out):
    """Runs `command -o OUT/ RECORDINGS`."""
    done = subprocess.run([*command, "-q", "--threads", "1", "-o", f"{out}/", *map(str, recordings)],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())


def read(folder, kind, reader):
    """What the program wrote into a folder, by recording."""
    all_of = {}
    for path in sorted(Path(folder).glob(f"*.{kind}")):
        all_of.update(reader(path))
    return all_of


class Judge:
    def __init__(self, args):
        self.args, self.grammar, self.table = args, Grammar(args.grammar), Table()
        self.diarize = [args.program, "diarize", "-m", args.model, "--format", "rttm"]
        self.transcribe = [args.program, "transcribe", "-m", args.recogniser, "--speakers", args.model,
                           "--format", "ctm"]

    def truth(self, said):
        """Turns in ms and words, of a conversation."""
        names = [(round(1000 * t.start), round(1000 * t.end), f"speaker{t.who}") for t in said]
        words = sorted((start, f"speaker{t.who}", [w]) for t in said for w, start in zip(*t.what))
        return names, words

    def found(self, command, talks, kind, reader):
        with tempfile.TemporaryDirectory() as folder:
            inside, out = Path(folder, "in"), Path(folder, "out")
            inside.mkdir()
            for name, talk in talks.items():
                conversations.write_wav(inside / f"{name}.wav", talk.pcm)
            through(command, sorted(inside.iterdir()), out)
            return read(out, kind, reader)

    def rate(self, talks, found, collar):
        each = [speaker_scores.der(self.truth(talk.turns)[0], found.get(name, []), collar)
                for name, talk in talks.items()]
        return 100 * sum(errors for errors, _ in each) / sum(speech for _, speech in each)

    def der(self, title, variants, limit):
        talks = conversations.some(self.grammar, f"judge {title}", self.args.count, self.args.seconds, variants)
        found = self.found(self.diarize, talks, "rttm", speaker_scores.read_rttm)
        strict, rate = self.rate(talks, found, 0), self.rate(talks, found, 0.25)
        self.table.row(f"{title}: DER", f"{rate:.2f} % (collar 0.25 s), {strict:.2f} % (no collar)", f"{limit} %",
                       rate <= limit, rate=rate, strict=strict)
        for people in 2, 3, 4:
            own = {name: talk for name, talk in talks.items() if name.endswith(f"-{people}")}
            if own:
                rate, strict = self.rate(own, found, 0.25), self.rate(own, found, 0)
                self.table.row(f"{title}, {people} people: DER", f"{rate:.2f} %, {strict:.2f} %", "none", True,
                               rate=rate, strict=strict)
        return talks

    def words(self, title, talks, limit, more):
        found = self.found(self.transcribe, talks, "ctm", speaker_scores.read_ctm)
        wrong = count = with_them = plain = total = 0
        for name, talk in talks.items():
            want, got = self.truth(talk.turns)[1], found.get(name, [])
            errors, without, words = speaker_scores.word_errors(want, got)
            confused, recognised = speaker_scores.attribution(want, got)
            with_them, plain, total = with_them + errors, plain + without, total + words
            wrong, count = wrong + confused, count + recognised
        rate, name = 100 * wrong / count, Path(self.args.recogniser).stem
        self.table.row(f"{title}: words with a wrong speaker, {name}", f"{rate:.2f} % of {count} recognised",
                       f"{limit} %", rate <= limit, rate=rate)
        cp, wer = 100 * with_them / total, 100 * plain / total
        self.table.row(f"{title}: cpWER, {name}", f"{cp:.2f} %, WER {wer:.2f} % of {total} words",
                       f"{more} points more", cp <= wer + more, rate=cp, plain=wer)

    def crowd(self, people):
        talks = conversations.some(self.grammar, f"crowd {people}", max(1, self.args.count // 2), self.args.seconds,
                                   VARIANTS, people)
        found = self.found(self.diarize, talks, "rttm", speaker_scores.read_rttm)
        rate, told = self.rate(talks, found, 0.25), [len({who for *_, who in turns}) for turns in found.values()]
        self.table.row(f"{people} people of the training: DER", f"{rate:.2f} % (collar 0.25 s), {np.mean(told):.1f} "
                       "people found on average", "none", True, rate=rate)

    def live(self):
        """Sound is written as fast as it is spoken; a word's speaker is known when the final result has come."""
        talk = conversations.some(self.grammar, "live", 1, 2 * self.args.seconds, VARIANTS, 3)["c000-3"]
        events = {}
        for with_speakers in False, True:
            command = [self.args.program, "stream", "-m", self.args.live, "--format", "jsonl", "-q",
                       "--pcm-format", "s16le", "--pcm-rate", str(RATE), "--threads", "1", "-"]
            events[with_speakers] = self.paced(command + ["--speakers", self.args.model] * with_speakers, talk.pcm)
        finals = {k: [(at, e) for at, e in v if e["type"] == "final" and e["text"]] for k, v in events.items()}
        same = [e["text"] for _, e in finals[False]] == [e["text"] for _, e in finals[True]]
        self.table.row("a stream's text with and without speakers", "the same" if same else "another", "the same", same)
        # A final result comes behind its turn; what speakers add is how much later it comes than without them.
        waits = [late - at for (at, _), (late, e) in zip(finals[False], finals[True]) for _ in e["words"]]
        behind = [late - w["end"] for late, e in finals[True] for w in e["words"][-1:]]
        soon = 100 * np.mean(np.array(waits) <= 1.0)
        self.table.row("a stream's final results: speakers known within 1 s of the text", f"{soon:.1f} % of "
                       f"{len(waits)} words (median {np.median(waits):.2f} s later, at most {max(waits):.2f} s; "
                       f"{np.median(behind):.2f} s behind the end of a turn's last word)", "90 %", soon >= 90,
                       soon=soon)

    def paced(self, command, pcm, step=0.04):
        """[(seconds of sound that were written, event)]."""
        out, begun = [], time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
            os.set_blocking(run.stdout.fileno(), False)
            rest, size = b"", int(RATE * step)
            for first in [*range(0, len(pcm), size), None]:
                if first is None:
                    run.stdin.close()
                    os.set_blocking(run.stdout.fileno(), True)
                    rest += run.stdout.read()
                else:
                    run.stdin.write(pcm[first : first + size].astype("<i2").tobytes())
                    run.stdin.flush()
                    time.sleep(max(0.0, begun + first / RATE + step - time.monotonic()))
                    rest += run.stdout.read() or b""
                *lines, rest = rest.split(b"\n")
                out += [(time.monotonic() - begun, json.loads(line)) for line in lines if line]
        return out

    def long(self, hours):
        """A conversation of two people: memory, speed, text."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "long.wav")
            espeak, rng = Espeak(), random.Random("long")
            voices = conversations.draw_voices(rng, VARIANTS, 2)
            parts, seconds = [], 0.0
            while seconds < 3600 * hours:
                parts.append(conversations.make(rng, espeak, self.grammar, voices, 600, noisy=False).pcm)
                seconds += len(parts[-1]) / RATE
            pcm = np.concatenate(parts)
            texts, figures = [], []
            for name, samples in (("5 minutes", pcm[: 300 * RATE]), (f"{hours:g} hours", pcm)):
                conversations.write_wav(path, samples)
                for more in [], ["--speakers", self.args.model]:
                    out = Path(folder, "out.ctm")
                    command = ["/usr/bin/time", "-f", "%M %e", self.args.program, "transcribe", "-m",
                               self.args.recogniser, *more, "--threads", "1", "-q", "--format", "ctm", "-o", str(out),
                               str(path)]
                    done = subprocess.run(command, stderr=subprocess.PIPE, check=True)
                    memory, wall = done.stderr.decode().split()[-2:]
                    figures.append((name, bool(more), int(memory) / 1024, float(wall) / (len(samples) / RATE)))
                    texts.append([w for said in speaker_scores.read_ctm(out).values() for *_, w in said])
        for name, with_speakers, memory, factor in figures:
            self.table.row(f"{name} of two people, {'with' if with_speakers else 'without'} speakers",
                           f"{memory:.0f} MiB, real-time factor {factor:.4f} on one thread", "none", True,
                           memory=memory, factor=factor)
        grown = figures[3][2] / figures[1][2]
        self.table.row(f"memory for {hours:g} hours against 5 minutes", f"{grown:.2f} times", "1.2 times", grown <= 1.2)
        same = texts[2] == texts[3]
        self.table.row(f"text of {hours:g} hours with and without speakers", "the same" if same else "another",
                       "the same", same)


def main():
    parser = arguments(__doc__, "sortformer")
    parser.add_argument("--recogniser", default="examples/models/parakeet-tdt.gguf")
    parser.add_argument("--live", default="examples/models/parakeet-eou.gguf")
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--json", type=Path)
    parts = ["der", "crowd", "live", "long"]
    parser.add_argument("--only", nargs="*", choices=parts, default=parts)
    args = parser.parse_args()
    judge = Judge(args)
    for title, (variants, der, wrong, more) in VOICES.items() if "der" in args.only else ():
        judge.words(title, judge.der(title, variants, der), wrong, more)
    for people in (5, 6) if "crowd" in args.only else ():
        judge.crowd(people)
    if "live" in args.only:
        judge.live()
    if "long" in args.only:
        judge.long(args.hours)
    if args.json:
        args.json.write_text(json.dumps(judge.table.rows, indent=1) + "\n")
    return 1 if judge.table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
