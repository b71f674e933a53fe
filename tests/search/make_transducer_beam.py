#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs NeMo's mAES searches over small tables of scores and writes what they find.

Usage: make_transducer_beam.py NEMO_CHECKOUT OUT.json

The joint network's scores are frame_table[t] + label_table[last label] (the last row before any label). The search
functions are taken from the checkout as they are; what they ask of the model is answered by these tables.
"""
import argparse
import ast
import json
import pathlib
import types
from dataclasses import dataclass, field

import numpy
import torch

FOLDER = "nemo/collections/asr/parts"


def functions(path, names, scope):
    """Defines functions of a source file, without their annotations, in `scope`."""
    tree = ast.parse(path.read_text())
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in names]
    for n in found:
        n.decorator_list, n.returns = [], None
        for a in n.args.args + n.args.kwonlyargs:
            a.annotation = None
    code = ast.Module(body=list({n.name: n for n in reversed(found)}.values()), type_ignores=[])
    exec(compile(ast.fix_missing_locations(code), str(path), "exec"), scope)
    return scope


@dataclass
class Hypothesis:
    score: float
    y_sequence: list
    dec_out: list = None
    dec_state: object = None
    timestamp: list = field(default_factory=list)
    length: int = 0
    last_frame: int = None
    lm_state: object = None
    lm_scores: object = None


class Tables:
    """Answers for decoder and joint."""

    def __init__(self, labels):
        self.labels = labels

    def initialize_state(self, _):
        return None

    def batch_select_state(self, *_):
        return None

    def batch_score_hypothesis(self, hypotheses, _):
        return [self.labels[h.y_sequence[-1]][None] for h in hypotheses], [None] * len(hypotheses)

    def joint(self, frame, said):
        n = frame.shape[-1]
        return frame.reshape(1, 1, 1, n) + said.reshape(-1, 1, 1, n)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("nemo", type=pathlib.Path)
    args.add_argument("out", type=pathlib.Path)
    o = args.parse_args()
    scope = {"torch": torch, "np": numpy, "Hypothesis": Hypothesis}
    for name in "List", "Optional", "Tuple":
        scope[name] = None
    functions(o.nemo / FOLDER / "utils/rnnt_utils.py", {"select_k_expansions", "is_prefix"}, scope)
    searches = {}
    for kind in "rnnt", "tdt":
        own = dict(scope)
        searches[kind] = functions(o.nemo / FOLDER / f"submodules/{kind}_beam_decoding.py",
                                   {"modified_adaptive_expansion_search", "prefix_search", "resolve_joint_output",
                                    "merge_duplicate_hypotheses", "sort_nbest"}, own)
    cases = []
    for seed, (durations, beam, steps) in enumerate([([], 2, 2), ([], 4, 2), ([], 4, 3), ([0, 1, 2, 3, 4], 2, 2),
                                                     ([0, 1, 2, 3, 4], 4, 2), ([1, 2, 4], 3, 2)] * 2):
        frames, vocabulary = 12, 9
        random = numpy.random.RandomState(seed)
        width = vocabulary + 1 + len(durations)
        frame_table = numpy.round(1.6 * random.randn(frames, width), 2)
        label_table = numpy.round(1.2 * random.randn(vocabulary + 1, width), 2)
        frame_table[:, vocabulary] += 1.5
        tables = Tables(torch.tensor(label_table))
        me = types.SimpleNamespace(
            beam_size=beam, vocab_size=vocabulary, blank=vocabulary, decoder=tables, joint=tables,
            preserve_alignments=False, ngram_lm=None, language_model=None, maes_prefix_alpha=1, maes_num_steps=steps,
            maes_expansion_gamma=2.3, maes_expansion_beta=2, max_candidates=beam + 2, softmax_temperature=1.0,
            hat_subtract_ilm=False, score_norm=True, durations=durations,
            zero_duration_idx=durations.index(0) if 0 in durations else None,
            min_non_zero_duration_idx=next((i for i, d in enumerate(durations) if d), None))
        found = searches["tdt" if durations else "rnnt"]
        for name in "prefix_search", "resolve_joint_output", "merge_duplicate_hypotheses", "sort_nbest":
            if name in found:
                setattr(me, name, types.MethodType(found[name], me))
        best = found["modified_adaptive_expansion_search"](me, torch.tensor(frame_table)[None], frames)
        cases.append({"durations": durations, "beam": beam, "steps": steps, "frame_table": frame_table.tolist(),
                      "label_table": label_table.tolist(),
                      "hypotheses": [{"ids": h.y_sequence[1:], "timestamps": [int(t) for t in h.timestamp[1:]],
                                      "score": h.score} for h in best]})
    o.out.write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
