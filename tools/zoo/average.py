# SPDX-License-Identifier: Apache-2.0
"""Averages weights: what one more training changed is often partly noise, and half of the way is better than all of it.

usage: average.py OUT.pt WEIGHTS=SHARE WEIGHTS=SHARE ... [--prefix P]

Weights are last.pt of runs or packaged models, whose names stand behind P in those of runs ("net." for U2++ and
Paraformer). The first ones are those of a run and tell which tensors there are; what others lack is taken from them
alone. Shares sum up to 1; a negative one goes on in the direction in which weights moved.
"""
import argparse
import sys
from pathlib import Path

import torch

import loop
import packaged


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("weights", nargs="+", metavar="WEIGHTS=SHARE")
    parser.add_argument("--prefix", default="")
    args = parser.parse_args()
    files, shares = zip(*(w.rsplit("=", 1) for w in args.weights))
    shares = [float(s) for s in shares]
    if abs(sum(shares) - 1) > 1e-6:
        parser.error("the shares do not sum up to 1")
    first = torch.load(files[0])
    states = [packaged.weights(f, first, args.prefix) if Path(f).suffix == ".gguf" else torch.load(f) for f in files]
    loop.save(args.out, {name: sum(share * state[name] for share, state in zip(shares, states))
                         if value.is_floating_point() and all(name in state for state in states) else value
                         for name, value in first.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
