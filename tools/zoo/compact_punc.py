#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the original CT-Transformer with a golden case's weights and made-up words on made-up texts, and writes what
tests/golden/ct_punc holds.

Usage: compact_punc.py FUNASR_CHECKOUT CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import types

import numpy as np
import torch
import yaml


def original(checkout):
    """CTTransformer without the rest of its package."""
    package = types.ModuleType("funasr")
    package.__path__ = [str(checkout / "funasr")]
    sys.modules["funasr"] = package
    for name in ("jieba", "librosa", "soundfile", "torchaudio", "kaldiio", "torch_complex"):  # not used for text
        sys.modules.setdefault(name, types.ModuleType(name))
    load = types.ModuleType("funasr.utils.load_utils")
    load.load_audio_text_image_video = lambda data, **kwargs: data
    sys.modules["funasr.utils.load_utils"] = load
    import funasr.models.sanm.encoder  # noqa: F401: registers SANMEncoder
    from funasr.models.ct_transformer.model import CTTransformer
    from funasr.tokenizer.char_tokenizer import CharTokenizer
    return CTTransformer, CharTokenizer


def words(count):
    """<unk>, characters, and ASCII words."""
    latin = ["hello", "Hello", "USA", "world", "a", "it's", "x9", "OK"]
    return ["<unk>", "<s>", "</s>"] + [chr(0x4E00 + 7 * i) for i in range(count - 3 - len(latin))] + latin


def texts(known):
    chance = random.Random(5)
    chinese, latin = known[3:-8], known[-8:]
    yield from ("", " ", "hello", "\u4e00", "\u4e00\uff0c", "hello,", "hello.", "\u3000\u4e00\u4e07\u00a0hello\tUSA\n",
                "\u4e00\u3002", "wow! \u4e07\u2028\u2603 \U0001f600e")
    for length in (2, 3, 19, 20, 21, 39, 40, 41, 45, 60, 61, 80, 100, 150, 300):
        for share in (0.0, 0.3, 1.0):
            text = ""
            for _ in range(length):
                pool = latin if chance.random() < share else chinese
                text += chance.choice(pool) + (" " if pool is latin or chance.random() < 0.1 else "")
            yield text
    # The same word again and again: no sentence ends, or a comma must end it.
    for word in known[3::9]:
        yield (word + " ") * 230


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("checkout", "case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    config = yaml.safe_load((o.case / "checkpoint" / "config.yaml").read_text())
    state = torch.load(o.case / "checkpoint" / "model.pt", map_location="cpu")
    known = words(state["embed.weight"].shape[0])
    model_class, tokenizer_class = original(o.checkout)
    model = model_class(encoder=config["encoder"], encoder_conf=config["encoder_conf"], vocab_size=len(known),
                        **config["model_conf"])
    model.load_state_dict(state)
    model.eval()
    tokenizer = tokenizer_class(token_list=known, **config["tokenizer_conf"])
    logits = []
    forward = model.punc_forward

    def kept(*a, **k):
        y, rest = forward(*a, **k)
        logits.append(y[0].detach())
        return y, rest

    model.punc_forward = kept
    cases, margins = [], []
    torch.set_grad_enabled(False)
    for text in texts(known):
        first = len(logits)
        result = model.inference([text], key=["x"], tokenizer=tokenizer, device="cpu")[0][0]
        margin = min([float((p.topk(2, -1).values * torch.tensor([1.0, -1.0])).sum(-1).min()) for p in logits[first:]],
                     default=1)
        if margin < 1e-2:  # another order of summation might say another mark
            continue
        margins.append(margin)
        array = result["punc_array"]
        if len(text) > 100:
            logits_kept = np.concatenate([p.numpy() for p in logits[first:]])
            logits_of = len(cases)
        cases.append({"text": text, "punctuated": result["text"], "marks": [] if array is None else array.tolist()})
    print(len(cases), "texts, smallest margin", min(margins))
    expected = {"cases": cases, "logits_of": logits_of}
    (o.out / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")
    np.save(o.out / "logits.npy", logits_kept)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("model.pt", "config.yaml"):
            shutil.copy(o.case / "checkpoint" / name, folder / name)
        (folder / "tokens.json").write_text(json.dumps(known))
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf", "--type", "f32"], check=True)


if __name__ == "__main__":
    main()
