# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Parakeet model as a .nemo archive.

usage: export_parakeet.py {ctc,tdt,eou} RUN OUT.nemo  (RUN is the output folder of train_parakeet.py)
"""
import sys
from pathlib import Path

import torch

import tokenizer
from nemo_archive import configuration, write_archive
from train_parakeet import FAMILIES, SIZES

HEADS = {"ctc": "encoder.|ctc_decoder.|decoder.decoder_layers.", "tdt": "encoder.|decoder.|joint.",
         "eou": "encoder.|decoder.|joint."}


def main():
    family, run, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    state = {name.replace("ctc_decoder.", "decoder."): value.contiguous().clone()
             for name, value in torch.load(run / "last.pt").items() if name.startswith(tuple(HEADS[family].split("|")))}
    trained = FAMILIES["eou" if family == "eou" else "hybrid"][0]
    config = configuration(family, tokenizer.Tokenizer(run / "bpe.model").pieces(), SIZES, trained.get("window"),
                           trained.get("durations", ()))
    numbers = write_archive(out, config, (run / "bpe.model").read_bytes(), state)
    print(f"{out}: {numbers:,} numbers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
