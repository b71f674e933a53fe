#!/usr/bin/env python3
"""Cuts the golden case of ParakeetForCTC down to what tests/golden/parakeet_folder holds: the folder with made-up
pieces instead of its vocabulary, features, encoder rows and logits.

Usage: compact_parakeet_folder.py NEMO_CASES_DIR OUT_DIR
"""
import argparse
import json
import pathlib
import shutil

LETTERS = "abcdefghijklmnopqrstuvw"


def pieces(count):
    """<unk>, pairs of what stands at the end, a space and letters; and the pairs in order."""
    single = ["\u2581"] + list(LETTERS)
    n = len(single)
    pairs = [(single[i % n], single[(5 * i + 1) % (n - 1) + 1]) for i in range(count - 1 - n)]
    return ["<unk>"] + ["".join(p) for p in pairs] + single, pairs


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cases", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    case, to = o.cases / "hf-parakeet-ctc", o.out / "checkpoint"
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted((case / "checkpoint").iterdir()):
        if file.suffix != ".nemo" and file.name != "tokenizer.json":
            shutil.copyfile(file, to / file.name)
    for file in sorted((case / "stages").glob("*.npy")):
        shutil.copyfile(file, o.out / file.name[3:])
    expected = json.loads((case / "expected.json").read_text())
    tokenizer = json.loads((case / "checkpoint" / "tokenizer.json").read_text())
    made, pairs = pieces(expected["labels"])
    assert len(set(made)) == expected["labels"]
    tokenizer["model"]["vocab"] = {piece: i for i, piece in enumerate(made)}
    tokenizer["model"]["merges"] = [list(p) for p in pairs]
    (to / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    (o.out / "expected.json").write_text(json.dumps({"token_ids": expected["token_ids"]}) + "\n")


if __name__ == "__main__":
    main()
