#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts a golden case of transformers' folders (hf-parakeet-ctc, hf-nemotron) down to what tests/golden/parakeet_folder
and tests/golden/nemotron_folder hold: the folder with made-up pieces instead of its vocabulary, features, encoder rows
and what follows them.

Usage: compact_parakeet_folder.py CASE_DIR OUT_DIR
"""
import argparse
import json
import pathlib
import shutil

LETTERS = "abcdefghijklmnopqrstuvw"
STAGES = "input_features encoder_out logits prompted_auto joint_enc_proj joint_logits".split()


def pieces(count, special):
    """Special pieces, pairs of what stands at the end, a space and letters; and the pairs in order."""
    single = ["\u2581"] + list(LETTERS)
    n = len(single)
    pairs = [(single[i % n], single[(5 * i + 1) % (n - 1) + 1]) for i in range(count - len(special) - n)]
    return special + ["".join(p) for p in pairs] + single, pairs


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    case, to = o.case, o.out / "checkpoint"
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted((case / "checkpoint").iterdir()):
        if file.suffix != ".nemo" and file.name != "tokenizer.json":
            shutil.copyfile(file, to / file.name)
    for file in sorted((case / "stages").glob("*.npy")):
        if file.stem[3:] in STAGES:
            shutil.copyfile(file, o.out / file.name[3:])
    expected = json.loads((case / "expected.json").read_text())
    tokenizer = json.loads((case / "checkpoint" / "tokenizer.json").read_text())
    # Those among the labels keep their numbers: <unk>, and a Nemotron's languages.
    special = [t["content"] for t in tokenizer["added_tokens"] if t["id"] < expected["labels"]]
    made, pairs = pieces(expected["labels"], special)
    assert len(set(made)) == expected["labels"]
    tokenizer["model"]["vocab"] = {piece: i for i, piece in enumerate(made)}
    tokenizer["model"]["merges"] = [list(p) for p in pairs]
    (to / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    (o.out / "expected.json").write_text(json.dumps({"token_ids": expected["token_ids"]}) + "\n")


if __name__ == "__main__":
    main()
