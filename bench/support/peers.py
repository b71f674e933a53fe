# SPDX-License-Identifier: Apache-2.0
"""bench/report's part `peers`: what steno and another program take for the same work, alternately in every round.

A figure of a round is the mean of its turns, steno's and the peer's; least and median are those of the rounds. A ratio
is the median of the rounds' ratios, the peer's time by steno's: over 1, steno is faster."""
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent.parent / "peers"

# Fewer scales, as the peers have them: measured beside their 8 bits, too, where steno has a benchmark of it.
SPANS = "q8_128"
# What steno's benchmarks are called ({}: the format), in which program, and their formats: 8 bits, floats.
WORKLOADS = {
    "FastConformer layer, 250 rows": ("bench-layers", "fastconformer_layer/{}", "q8_0", "f32"),
    "SAN-M layer, 100 rows": ("bench-layers", "sanm_layer/{}/100", "q8_0", "f32"),
    "SAN-M layer, 500 rows": ("bench-layers", "sanm_layer/{}/500", "q8_0", "f32"),
    "Whisper base, encoder 30 s": ("bench-models", "whisper_base/encode/{}/1", "q8_0", "f16"),
    "Whisper base, one token": ("bench-models", "whisper_base/token/{}/1", "q8_0", "f16"),
    "Whisper base, five tokens": ("bench-models", "whisper_base/token/{}/5", "q8_0", "f16"),
    "Whisper base, prompt of 256": ("bench-models", "whisper_base/prompt_256/{}", "q8_0", "f16"),
    "U2 256 wide, 640 ms": ("bench-models", "narrow/{}", "q8_0", "f32"),
    "U2 512 wide, 640 ms": ("bench-models", "wide/{}", "q8_0", "f32"),
}


def benchmarks(workload):
    """Names of steno's benchmarks, as the formats are."""
    _, name, *formats = WORKLOADS[workload]
    return [name.format(f) for f in (*formats, SPANS)]


class Failed(Exception):
    """A peer did not do what it was to do."""


class Onnxruntime:
    """Its CPU library: Python's, by bench/peers/onnxruntime_turns, or that of the npm package onnxruntime-node, by
    bench/peers/onnxruntime.js."""
    name = "onnxruntime"
    failure = ""  # why it is left out
    formats = ("int8", "f32")
    # Graphs of bench/peers/onnxruntime_models; the second, if any, does less than steno.
    graphs = {
        "FastConformer layer, 250 rows": ["fastconformer_layer"],
        "SAN-M layer, 100 rows": ["sanm_layer_100"],
        "SAN-M layer, 500 rows": ["sanm_layer_500"],
        "Whisper base, encoder 30 s": ["whisper_base_encode", "whisper_base_encode_bare"],
        "Whisper base, one token": ["whisper_base_token"],
        "U2 256 wide, 640 ms": ["u2_256", "u2_256_bare"],
        "U2 512 wide, 640 ms": ["u2_512", "u2_512_bare"],
    }
    differs = [
        "int8 is dynamic quantisation as onnxruntime's own quantiser writes it: signed weights with a scale for each "
        "column, activations with one scale for a whole tensor, nothing but products with constant weights. steno's "
        "q8_0 has a scale for every 32 values of both, q8_128 for every 128.",
        "The graphs have fixed shapes, and their pointwise convolutions are products: kinder than what exporters "
        "write. They come from plain torch modules: no attention operators of onnxruntime's own.",
        "*Less*: the peer does less than steno, whose figure is that of the row above. Whisper's encoder then makes no "
        "keys and values for the decoder. U2 has no subsampling, whose 2-D convolutions stay floats in int8, and no "
        "CTC head.",
        "Whisper's floats: steno's are f16 weights, onnxruntime's f32. Its token follows 160 others, which the graph "
        "copies to append one; steno's follows 128 to 192.",
        "onnxruntime takes its results out into memory of their own: the first of them in each turn, no others.",
    ]

    def __init__(self, folder, models, expression):
        if folder.is_dir():
            package = folder / "node_modules" / "onnxruntime-node" / "package.json"
            if not package.exists():
                sys.exit(f"bench/report: {folder} has no onnxruntime-node; run `npm install onnxruntime-node` there")
            if shutil.which("node") is None:
                sys.exit("bench/report: --onnxruntime DIR needs Node.js: there is no program `node`")
            self.version = f"{json.loads(package.read_text())['version']} (npm)"
            # Without threads of its own: at real-time priority its first one was seen to wait, busily and for ever, for
            # others that the same core never came to.
            self.command = ["node", "--single-threaded", "--v8-pool-size=0", HERE / "onnxruntime.js", folder, models]
        else:
            turns = HERE / "onnxruntime_turns"
            try:
                told = subprocess.run([folder, turns, "--version"], capture_output=True, text=True)
            except OSError as e:
                sys.exit(f"bench/report: --onnxruntime {folder}: {e.strerror}")
            if told.returncode != 0:
                sys.exit(f"bench/report: {folder} is no Python with onnxruntime and numpy: "
                         f"{told.stderr.strip()[-200:]}")
            self.version = f"{told.stdout.strip()} (Python)"
            self.command = [folder, turns, models]
        wanted = [graph for workload in chosen(expression) for graph in self.graphs.get(workload, [])]
        if wanted:
            subprocess.run([python_with("torch", "onnx"), HERE / "onnxruntime_models", models, *wanted], check=True)

    def start(self):
        """After this process was pinned: the other inherits that."""
        self.process = subprocess.Popen(self.command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()

    def measures(self, workload):
        return workload in self.graphs

    def measure(self, workload, seconds):
        """row -> format -> mean_s, error"""
        rows = {}
        for row, graph in zip((workload, f"{workload}: *less*"), self.graphs[workload]):
            rows[row] = {}
            for form in self.formats:
                try:
                    self.process.stdin.write(f"{graph}-{form} {seconds}\n")
                    self.process.stdin.flush()
                except BrokenPipeError:
                    raise Failed("it stopped") from None
                line = self.process.stdout.readline()
                if not line:
                    raise Failed("it stopped")
                told = json.loads(line)
                rows[row][form] = {"mean_s": told["mean"] / 1e3, "error": told["error"]}
        return rows


class WhisperCpp:
    """whisper-bench of a build folder of whisper.cpp."""
    name = "whisper.cpp"
    failure = ""  # why it is left out
    formats = ("q8_0", "f16")
    # What it prints, and how many of its "runs" are one turn.
    figures = {
        "Whisper base, encoder 30 s": ("encode", 1),
        "Whisper base, one token": ("decode", 1),
        "Whisper base, five tokens": ("batchd", 5),
        "Whisper base, prompt of 256": ("prompt", 256),
    }
    differs = [
        "Both make the decoder's keys and values with the encoder's rows.",
        "whisper.cpp's token follows 0 to 255 others, steno's 128 to 192. Its five tokens are one after another in one "
        "text, follow none, and the last alone has scores; steno's are of five beams that follow 128 to 192, with "
        "scores of each.",
    ]

    def __init__(self, folder, models, expression):
        self.models = models
        programs = [folder / "bin" / name for name in ("whisper-bench", "bench")]
        self.program = next((p for p in programs if p.exists()), None)
        if self.program is None:
            sys.exit(f"bench/report: {folder}/bin has no whisper-bench; build whisper.cpp's target of that name")
        self.version = version_of_build(folder)
        models.mkdir(parents=True, exist_ok=True)
        for form in self.formats:
            if any(map(self.measures, chosen(expression))) and not self.model(form).exists():
                unfinished = self.model(form).with_suffix(".unfinished")
                subprocess.run([python_with("numpy"), HERE / "whisper_cpp_model", form, unfinished], check=True)
                unfinished.rename(self.model(form))

    def model(self, form):
        return self.models / f"whisper-base-{form}.bin"

    def start(self):
        self.round = {}  # workload -> what was found in this round, of which each is asked for once

    def stop(self):
        pass

    def measures(self, workload):
        return workload in self.figures

    def measure(self, workload, seconds):
        """As above. All workloads come from one run, which is as long as it is."""
        if workload not in self.round:
            told = {form: self.run(form) for form in self.formats}
            self.round = {w: {form: {"mean_s": told[form][w]} for form in self.formats} for w in self.figures}
        return {workload: self.round.pop(workload)}

    def run(self, form):
        """workload -> seconds"""
        done = subprocess.run([self.program, "-m", self.model(form), "-t", "1", "-w", "0", "-ng"], text=True,
                              capture_output=True)
        found = {}
        for workload, (what, runs) in self.figures.items():
            match = re.search(rf"{what} time = *([\d.]+) ms / *(\d+) runs", done.stderr)
            if match is None:
                last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
                raise Failed(f"{self.program.name} -m {self.model(form).name}: exit {done.returncode}, no {what} time; "
                             f"the last that it printed: {last}")
            found[workload] = float(match[1]) / 1e3 / int(match[2]) * runs
        return found


def version_of_build(folder):
    """What CMake knows of its sources, and options that matter."""
    cache = (folder / "CMakeCache.txt").read_text() if (folder / "CMakeCache.txt").exists() else ""
    value = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.M))
    commit = subprocess.run(["git", "-C", value.get("CMAKE_HOME_DIRECTORY", folder), "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip()
    options = [f"{key}={value[key]}" for key in ("GGML_NATIVE", "GGML_LLAMAFILE", "GGML_OPENMP", "GGML_BLAS")
               if key in value]
    return f"{commit or '?'} ({', '.join(options)})"


def python_with(*modules):
    """A Python that has them: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        test = subprocess.run([python, "-c", f"import {', '.join(modules)}"], capture_output=True)
        if test.returncode == 0:
            return python
    sys.exit(f"bench/report: no Python with {' and '.join(modules)} (Debian: "
             f"{', '.join(f'python3-{m}' for m in modules)})")


def chosen(expression):
    """Workloads with a benchmark that it is found in."""
    return [w for w in WORKLOADS if any(re.search(expression, name) for name in benchmarks(w))]


def measure_round(peers, steno, seconds, expression):
    """row -> {"steno": {format: seconds}, peer: {format: {"beside": steno's format, "mean_s": seconds, ...}}}; calls
    `steno(program, expression)` for name -> seconds of benchmarks. A peer that fails is taken off `peers`, and what it
    says goes into its `failure`."""
    rows = {}
    for workload in chosen(expression):
        able = [peer for peer in peers if peer.measures(workload)]
        if not able:
            continue
        program, _, *formats = WORKLOADS[workload]
        names = benchmarks(workload)
        took = steno(program, f"^({'|'.join(names)})$")
        ours = {form: took[name] for form, name in zip((*formats, SPANS), names) if name in took}
        for peer in able:
            try:
                found = peer.measure(workload, seconds)
            except Failed as e:
                peer.failure = str(e)
                peers.remove(peer)
                continue
            for row, theirs in found.items():
                rows.setdefault(row, {"steno": ours})[peer.name] = {
                    form: {"beside": beside, **figure} for beside, (form, figure) in zip(formats, theirs.items())}
    return rows


def spread(values):
    return {"rounds": len(values), "least_s": min(values), "median_s": statistics.median(values)}


def summary(rounds):
    """One row of all rounds: times of steno and of each peer, and ratios where steno has a benchmark."""
    first = rounds[0]
    made = {"steno": {form: spread([r["steno"][form] for r in rounds]) for form in first["steno"]}}
    for peer in (key for key in first if key != "steno" and all(key in r for r in rounds)):
        made[peer] = {}
        for form, figure in first[peer].items():
            taken = [r[peer][form]["mean_s"] for r in rounds]
            made[peer][form] = {**{key: value for key, value in figure.items() if key != "mean_s"}, **spread(taken)}
            def ratio(ours):
                return statistics.median(t / r["steno"][ours] for t, r in zip(taken, rounds))
            if figure["beside"] in first["steno"]:
                made[peer][form]["ratio"] = ratio(figure["beside"])
            if figure["beside"] == "q8_0" and SPANS in first["steno"]:
                made[peer][form]["ratio_of_spans"] = ratio(SPANS)
    return made


def page(results, peers):
    """Lines of a report."""
    def times(of):
        return "/".join(f"{of[key] * 1e3:.3g}" if of[key] < 1 else f"{of[key] * 1e3:.0f}"
                        for key in ("least_s", "median_s"))

    lines = textwrap.wrap("Alternately in every round. A figure of a round is the mean of its turns, in milliseconds; "
                          "least/median of the rounds. A ratio is the median of the rounds' ratios, the peer's time by "
                          f"steno's: over 1, steno is faster. The peer's second ratio is by {SPANS}'s time.", 120)
    for peer, about in peers.items():
        eight, floats = about["formats"]
        heads = [f"steno, q8_0 | {eight} | ratio", f"{SPANS} | ratio", f"steno, floats | {floats} | ratio"]
        columns = sum(head.count("|") + 1 for head in heads)
        lines += ["", f"### {peer} {about['version']}", ""]
        if "failure" in about:
            lines += textwrap.wrap(f"Left out, as it failed: {about['failure']}", 120)
            continue
        lines += ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * columns]
        rows = {name: r for name, r in results.items() if peer in r}
        for name, r in rows.items():
            cells = [name]
            above = name.endswith("*less*")  # steno's figures are those of the row above
            for theirs in r[peer].values():
                form = theirs["beside"]
                ours = times(r["steno"][form]) if "ratio" in theirs else ""
                cells += ["" if above else ours, times(theirs), f"{theirs['ratio']:.2f}" if ours else ""]
                if form == "q8_0":
                    spans = theirs.get("ratio_of_spans")
                    cells += ["" if above else times(r["steno"][SPANS]), f"{spans:.2f}"] if spans else ["", ""]
            lines.append("| " + " | ".join(cells) + " |")
        notes = list(about["differs"])
        errors = {form: max(r[peer][form].get("error", 0) for r in rows.values()) for form in about["formats"]}
        if all(errors.values()):
            notes.append("Results differ from torch's by at most " + " and ".join(
                f"{error:.1g} ({form})" for form, error in errors.items()) + " of their norm.")
        lines.append("")
        for note in notes:
            lines += textwrap.wrap(note, 120, initial_indent="- ", subsequent_indent="  ")
    return lines
