# SPDX-License-Identifier: Apache-2.0
"""Archives of NeMo: configurations of FastConformer models, and the file."""
import hashlib
import io
import tarfile

import numpy as np
import torch
import yaml

import frontends

ASR = "nemo.collections.asr"


def configuration(family, pieces, sizes, window=None, durations=(), kernel=9, rnn_layers=1, use_bias=True,
                  xscaling=False):
    """The model_config.yaml of a CTC, TDT (with durations), RNN-T or streaming (with a window) model."""
    causal = window is not None
    encoder = {
        "_target_": f"{ASR}.modules.ConformerEncoder", "feat_in": sizes["bands"], "feat_out": -1,
        "n_layers": sizes["layers"], "d_model": sizes["size"], "use_bias": use_bias, "subsampling": "dw_striding",
        "subsampling_factor": 8, "subsampling_conv_channels": sizes["channels"], "causal_downsampling": causal,
        "ff_expansion_factor": 4, "self_attention_model": "rel_pos", "n_heads": sizes["heads"],
        "att_context_size": list(window) if causal else [-1, -1],
        "att_context_style": "chunked_limited" if causal else "regular", "xscaling": xscaling, "untie_biases": True,
        "pos_emb_max_len": 5000, "conv_kernel_size": kernel, "conv_norm_type": "layer_norm" if causal else "batch_norm",
        "conv_context_size": "causal" if causal else None}
    config = {
        "target": f"{ASR}.models." + ("EncDecCTCModelBPE" if family == "ctc" else "EncDecRNNTBPEModel"),
        "sample_rate": 16000,
        "preprocessor": {
            "_target_": f"{ASR}.modules.AudioToMelSpectrogramPreprocessor", "sample_rate": 16000,
            "normalize": "NA" if causal else "per_feature", "window_size": 0.025, "window_stride": 0.01,
            "window": "hann", "features": sizes["bands"], "n_fft": 512, "log": True, "frame_splicing": 1,
            "dither": 1e-5, "pad_to": 0, "pad_value": 0.0},
        "encoder": encoder}
    if family == "ctc":
        config["decoder"] = {"_target_": f"{ASR}.modules.ConvASRDecoder", "feat_in": sizes["size"],
                             "num_classes": len(pieces), "vocabulary": pieces}
        return config
    durations = list(durations)
    config["decoder"] = {"_target_": f"{ASR}.modules.RNNTDecoder", "normalization_mode": None, "blank_as_pad": True,
                         "prednet": {"pred_hidden": sizes["hidden"], "pred_rnn_layers": rnn_layers},
                         "vocab_size": len(pieces)}
    config["joint"] = {"_target_": f"{ASR}.modules.RNNTJoint", "log_softmax": None,
                       "jointnet": {"joint_hidden": sizes["joint"], "activation": "relu", "dropout": 0.0,
                                    "encoder_hidden": sizes["size"], "pred_hidden": sizes["hidden"]},
                       "num_classes": len(pieces), "vocabulary": pieces}
    config["decoding"] = {"strategy": "greedy_batch", "greedy": {"max_symbols": 10}}
    if durations:
        config["joint"]["num_extra_outputs"] = len(durations)
        config["decoding"].update(model_type="tdt", durations=durations)
        config["model_defaults"] = {"tdt_durations": durations, "num_tdt_durations": len(durations)}
    return config


def write_archive(out, config, tokens, state):
    """`tokens`: the bytes of a SentencePiece model, or None; `state`: tensors of the network by name."""
    state = {"preprocessor.featurizer.window": torch.from_numpy(np.hanning(400).astype(np.float32)),
             "preprocessor.featurizer.fb": torch.from_numpy(
                 frontends.slaney_filters(config["preprocessor"]["features"], 257))[None], **state}
    weights, members = io.BytesIO(), {}
    torch.save(state, weights)
    if tokens is not None:
        name = hashlib.md5(tokens).hexdigest() + "_tokenizer.model"
        config["tokenizer"] = {"type": "bpe", "model_path": "nemo:" + name}
        members = {name: tokens}
    members = {"model_config.yaml": yaml.safe_dump(config, sort_keys=False).encode(), **members,
               "model_weights.ckpt": weights.getvalue()}
    with tarfile.open(out, "w") as tar:
        for member, data in members.items():
            info = tarfile.TarInfo("./" + member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return sum(v.numel() for v in state.values())
