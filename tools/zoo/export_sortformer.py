# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Sortformer as a .nemo archive.

usage: export_sortformer.py RUN OUT.nemo  (RUN is the output folder of train_sortformer.py)
"""
import sys
from pathlib import Path

import torch

from nemo_archive import ASR, configuration, write_archive
from train_sortformer import ENCODER, SIZES, STREAM

NETWORK = ("encoder.", "transformer_encoder.", "sortformer_modules.")


def settings():
    config = configuration("ctc", [], ENCODER)
    config["encoder"]["ff_expansion_factor"] = ENCODER["units"] // ENCODER["size"]
    config["preprocessor"]["normalize"] = "NA"
    del config["decoder"]
    return {**config, "target": f"{ASR}.models.SortformerEncLabelModel", "max_num_of_spks": SIZES["speakers"],
            "streaming_mode": True,
            "model_defaults": {"fc_d_model": ENCODER["size"], "tf_d_model": SIZES["size"]},
            "sortformer_modules": {
                "_target_": f"{ASR}.modules.sortformer_modules.SortformerModules", "num_spks": SIZES["speakers"],
                "fc_d_model": ENCODER["size"], "tf_d_model": SIZES["size"], **STREAM},
            "transformer_encoder": {
                "_target_": f"{ASR}.modules.transformer.transformer_encoders.TransformerEncoder",
                "num_layers": SIZES["layers"], "hidden_size": SIZES["size"], "inner_size": SIZES["units"],
                "num_attention_heads": SIZES["heads"], "hidden_act": "relu", "pre_ln": False}}


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    state = {name: value.contiguous().clone() for name, value in torch.load(run / "last.pt").items()
             if name.startswith(NETWORK)}
    print(f"{out}: {write_archive(out, settings(), None, state):,} numbers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
