#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the original Paraformer-online on the features of a golden case, with several chunk sizes and with a last piece
that is too short for a feature, and writes what tests/golden/paraformer_online holds.

Usage: compact_online.py FUNASR_CHECKOUT CASE_DIR STENO_CONVERT OUT_DIR
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import numpy as np
import torch
import yaml

# Name: chunk_size, encoder's and decoder's look back, and whether the stream ends with a piece of no features.
RUNS = {
    "usual": ([0, 10, 5], 4, 1, False),
    "tail": ([0, 10, 5], 4, 1, True),
    "left_context": ([5, 10, 5], 1, 0, False),
    "all_keys": ([0, 8, 4], -1, 2, True),
    "no_look_ahead": ([5, 10, 0], 4, 1, False),
    "no_look_back": ([2, 12, 6], 0, 1, True),
}


def modules(checkout, config):
    """Encoder, predictor and decoder of the original, without the rest of its package."""
    package = types.ModuleType("funasr")
    package.__path__ = [str(checkout / "funasr")]
    sys.modules["funasr"] = package
    from funasr.models.paraformer.cif_predictor import CifPredictorV2
    from funasr.models.paraformer.decoder import ParaformerSANMDecoder
    from funasr.models.scama.encoder import SANMEncoderChunkOpt

    front = config["frontend_conf"]
    d = config["encoder_conf"]["output_size"]
    encoder = SANMEncoderChunkOpt(input_size=front["n_mels"] * front["lfr_m"], **config["encoder_conf"])
    predictor = CifPredictorV2(**config["predictor_conf"])
    return lambda vocabulary: (encoder, predictor, ParaformerSANMDecoder(
        vocab_size=vocabulary, encoder_output_size=d, **config["decoder_conf"]))


def stream(parts, features, chunk, encoder_back, decoder_back, tail):
    encoder, predictor, decoder = parts
    d = encoder.output_size()
    cache = {"start_idx": 0, "cif_hidden": torch.zeros(1, 1, d), "cif_alphas": torch.zeros(1, 1), "chunk_size": chunk,
             "encoder_chunk_look_back": encoder_back, "last_chunk": False, "opt": None, "tail_chunk": False,
             "feats": torch.zeros(1, chunk[0] + chunk[2], features.shape[1])}
    spoken = {"decode_fsmn": None, "decoder_chunk_look_back": decoder_back, "opt": None, "chunk_size": chunk}
    pieces = [features[i:i + chunk[1]] for i in range(0, len(features), chunk[1])]
    if tail:
        pieces = [p for p in pieces if len(p) == chunk[1]] + [None]
    encoded, alphas, scores, ids = [], [], [], []
    predictor.cif_output.register_forward_hook(lambda m, i, y: alphas.append(torch.sigmoid(y).reshape(-1).clone()))
    for n, piece in enumerate(pieces):
        final = n + 1 == len(pieces)
        if piece is None:
            cache["tail_chunk"] = True
            x = cache["feats"]
        else:
            x = torch.from_numpy(piece.copy())[None]
        y, _, _ = encoder.forward_chunk(x, torch.tensor([x.shape[1]]), cache=cache, is_final=final)
        encoded.append(y[0])
        tokens, count, _, _ = predictor.forward_chunk(y, cache, is_final=final)
        ids.append([])
        if int(count.max()) < 1:
            continue
        p = torch.log_softmax(decoder.forward_chunk(y, tokens, spoken), dim=-1)[0]
        scores.append(p)
        ids[-1] = [int(i) for i in p.argmax(-1) if i > 2]
    return torch.cat(encoded), torch.cat(alphas), torch.cat(scores), ids


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("checkout", "case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    config = yaml.safe_load((o.case / "checkpoint" / "config.yaml").read_text())
    state = torch.load(o.case / "checkpoint" / "model.pt", map_location="cpu")
    make = modules(o.checkout, config)
    vocabulary = state["decoder.output_layer.weight"].shape[0]
    files = sorted((o.case / "stages").glob("*_feats_before_scaling.npy"))
    features = np.concatenate([np.load(f).reshape(-1, 560) for f in files]).astype(np.float32)
    np.save(o.out / "features.npy", features)
    runs = {}
    torch.set_grad_enabled(False)
    for name, (chunk, encoder_back, decoder_back, tail) in RUNS.items():
        parts = make(vocabulary)
        for part, prefix in zip(parts, ("encoder.", "predictor.", "decoder.")):
            part.load_state_dict({k[len(prefix):]: v for k, v in state.items() if k.startswith(prefix)})
            part.eval()
        encoded, alphas, scores, ids = stream(parts, features, chunk, encoder_back, decoder_back, tail)
        for stage, values in (("encoder_out", encoded), ("alphas_raw", alphas), ("log_probs", scores)):
            np.save(o.out / f"{name}_{stage}.npy", values.numpy())
        top = scores.topk(2, dim=-1).values
        print(name, "smallest margin", float((top[:, 0] - top[:, 1]).min()), ids)
        runs[name] = {"chunk_size": chunk, "encoder_look_back": encoder_back, "decoder_look_back": decoder_back,
                      "tail": tail, "ids": ids}
    (o.out / "expected.json").write_text(json.dumps(runs, separators=(",", ":")) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("model.pt", "config.yaml"):
            shutil.copy(o.case / "checkpoint" / name, folder / name)
        made_up = ["<blank>", "<s>", "</s>"] + [chr(0x4E00 + i) for i in range(vocabulary - 4)] + ["<unk>"]
        (folder / "tokens.json").write_text(json.dumps(made_up))
        (folder / "configuration.json").write_text(json.dumps({"file_path_metas": {
            "init_param": "model.pt", "config": "config.yaml", "tokenizer_conf": {"token_list": "tokens.json"}}}))
        subprocess.run([o.convert, folder, "-o", o.out / "model.gguf", "--type", "f32"], check=True)


if __name__ == "__main__":
    main()
