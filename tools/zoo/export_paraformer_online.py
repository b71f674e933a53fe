# SPDX-License-Identifier: Apache-2.0
"""Writes a trained streaming Paraformer as a checkpoint folder in the layout FunASR models are published in.

usage: export_paraformer_online.py RUN OUT  (RUN is the output folder of train_paraformer_online.py)
"""
import json
import shutil
import sys
from pathlib import Path

import torch

import export_paraformer
import paraformer
from train_paraformer import SHARP
from train_paraformer_online import DECODER_BACK, ENCODER_BACK, STREAM_SHARPNESS

# What the published model has and Paraformer has not.
REPLACED = {
    "model: Paraformer\n": "model: ParaformerStreaming\n",
    "encoder: SANMEncoder\n": "encoder: SANMEncoderChunkOpt\n",
    "input_layer: pe,": "input_layer: pe_online,",
    "selfattention_layer_type: sanm}}\ndecoder":
        f"selfattention_layer_type: sanm, chunk_size: [12, 15], stride: [8, 10], pad_left: [0, 0],\n"
        f"  encoder_att_look_back_factor: [{ENCODER_BACK}, {ENCODER_BACK}],\n"
        f"  decoder_att_look_back_factor: [{DECODER_BACK}, {DECODER_BACK}]}}}}\ndecoder",
    "kernel_size: {decoder_kernel}, sanm_shfit: 0}}": "kernel_size: {decoder_kernel}, sanm_shfit: {shift}}}",
    "frontend: WavFrontend\n": "frontend: WavFrontendOnline\n"}


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    state = {k.removeprefix("net."): v.detach().float().contiguous().clone()
             for k, v in torch.load(run / "last.pt").items() if k.startswith("net.")}
    for name in SHARP:
        state[name] *= STREAM_SHARPNESS
    model = paraformer.from_checkpoint(state)  # also checks the names and shapes
    torch.save(state, out / "model.pt")
    config = export_paraformer.CONFIG
    for before, after in REPLACED.items():
        assert config.count(before) == 1, before
        config = config.replace(before, after)
    first, layer = model.encoder.encoders0[0], model.decoder.decoders[0]
    (out / "config.yaml").write_text(config.format(
        size=model.encoder.size, heads=first.self_attn.heads, units=first.feed_forward.w_1.out_features,
        blocks=1 + len(model.encoder.encoders), kernel=first.self_attn.kernel, decoder_heads=layer.src_attn.heads,
        decoder_units=layer.feed_forward.w_1.out_features, decoder_blocks=len(model.decoder.decoders),
        decoder_kernel=layer.self_attn.kernel, shift=(layer.self_attn.kernel - 1) // 2, tail=model.tail))
    (out / "configuration.json").write_text(json.dumps(export_paraformer.CONFIGURATION, indent=1) + "\n")
    (out / "seg_dict").write_text("")  # no word has another spelling in pieces than the tokens themselves
    for name in ("am.mvn", "tokens.json"):
        shutil.copyfile(run / name, out / name)
    print(f"{sum(v.numel() for v in state.values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
