# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Parakeet model as a .nemo archive.

usage: export_parakeet.py {ctc,tdt,eou} RUN OUT.nemo  (RUN is the output folder of train_parakeet.py)
"""
import hashlib
import io
import sys
import tarfile
from pathlib import Path

import numpy as np
import torch
import yaml

import frontends
import tokenizer
from train_parakeet import FAMILIES, SIZES

HEADS = {"ctc": "encoder.|ctc_decoder.|decoder.decoder_layers.", "tdt": "encoder.|decoder.|joint.", "eou": "encoder.|decoder.|joint."}
ASR = "nemo.collections.asr"


def configuration(family, pieces):
    streaming = family == "eou"
    run = "eou" if streaming else "hybrid"
    encoder = {
        "_target_": f"{ASR}.modules.ConformerEncoder", "feat_in": SIZES["bands"], "feat_out": -1,
        "n_layers": SIZES["layers"], "d_model": SIZES["size"], "use_bias": True, "subsampling": "dw_striding",
        "subsampling_factor": 8, "subsampling_conv_channels": SIZES["channels"], "causal_downsampling": streaming,
        "ff_expansion_factor": 4, "self_attention_model": "rel_pos", "n_heads": SIZES["heads"],
        "att_context_size": list(FAMILIES["eou"][0]["window"]) if streaming else [-1, -1],
        "att_context_style": "chunked_limited" if streaming else "regular", "xscaling": False, "untie_biases": True,
        "pos_emb_max_len": 5000, "conv_kernel_size": 9, "conv_norm_type": "layer_norm" if streaming else "batch_norm",
        "conv_context_size": "causal" if streaming else None}
    config = {
        "target": f"{ASR}.models." + ("EncDecCTCModelBPE" if family == "ctc" else "EncDecRNNTBPEModel"),
        "sample_rate": 16000,
        "preprocessor": {
            "_target_": f"{ASR}.modules.AudioToMelSpectrogramPreprocessor", "sample_rate": 16000,
            "normalize": "NA" if streaming else "per_feature", "window_size": 0.025, "window_stride": 0.01,
            "window": "hann", "features": SIZES["bands"], "n_fft": 512, "log": True, "frame_splicing": 1,
            "dither": 1e-5, "pad_to": 0, "pad_value": 0.0},
        "encoder": encoder}
    if family == "ctc":
        config["decoder"] = {"_target_": f"{ASR}.modules.ConvASRDecoder", "feat_in": SIZES["size"],
                             "num_classes": len(pieces), "vocabulary": pieces}
        return config
    durations = list(FAMILIES[run][0].get("durations", []))
    config["decoder"] = {"_target_": f"{ASR}.modules.RNNTDecoder", "normalization_mode": None, "blank_as_pad": True,
                         "prednet": {"pred_hidden": SIZES["hidden"], "pred_rnn_layers": 1}, "vocab_size": len(pieces)}
    config["joint"] = {"_target_": f"{ASR}.modules.RNNTJoint", "log_softmax": None,
                       "jointnet": {"joint_hidden": SIZES["joint"], "activation": "relu", "dropout": 0.0,
                                    "encoder_hidden": SIZES["size"], "pred_hidden": SIZES["hidden"]},
                       "num_classes": len(pieces), "vocabulary": pieces}
    config["decoding"] = {"strategy": "greedy_batch", "greedy": {"max_symbols": 10}}
    if durations:
        config["joint"]["num_extra_outputs"] = len(durations)
        config["decoding"].update(model_type="tdt", durations=durations)
        config["model_defaults"] = {"tdt_durations": durations, "num_tdt_durations": len(durations)}
    return config


def main():
    family, run, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    front_end = frontends.slaney_filters(SIZES["bands"], 257)
    state = {"preprocessor.featurizer.window": torch.from_numpy(np.hanning(400).astype(np.float32)),
             "preprocessor.featurizer.fb": torch.from_numpy(front_end)[None]}
    for name, value in torch.load(run / "last.pt").items():
        if name.startswith(tuple(HEADS[family].split("|"))):
            state[name.replace("ctc_decoder.", "decoder.")] = value.contiguous().clone()
    pieces = tokenizer.Tokenizer(run / "bpe.model").pieces()
    config = configuration(family, pieces)
    model = (run / "bpe.model").read_bytes()
    name = hashlib.md5(model).hexdigest() + "_tokenizer.model"
    config["tokenizer"] = {"type": "bpe", "model_path": "nemo:" + name}
    weights = io.BytesIO()
    torch.save(state, weights)
    with tarfile.open(out, "w") as tar:
        for member, data in (("model_config.yaml", yaml.safe_dump(config, sort_keys=False).encode()), (name, model),
                             ("model_weights.ckpt", weights.getvalue())):
            info = tarfile.TarInfo("./" + member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    print(f"{out}: {sum(v.numel() for v in state.values()):,} numbers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
