#!/usr/bin/env python3
"""Makes a .nemo archive of full size with random weights from a manifest, to measure loading, speed and memory.

Usage: random_nemo.py MANIFEST.tsv CONFIG.yaml OUT.nemo [--seed N] [--blank X]

The manifest holds one tensor a line behind its head: name, dtype, shape (512x1x9). Norm weights are near 1, biases near
0, matrices have the variance 1/inputs, so that activations keep their size through any number of layers. The mel filters
and the window are those of the real front end. The SentencePiece model has as many made-up pieces as the model has
labels; the last two are <EOU> and <EOB> where the name of the manifest has "eou" in it (Sortformer has none). --blank is added to the bias of
blank, so that not every step says something.

For MANIFEST "tdt_ctc-110m" the tensors are those of the hybrid of 17 layers of 512, 80 bands and 1024 labels, and CONFIG is
that of a TDT model, whose sizes are then changed.
"""
import argparse
import hashlib
import math
import pathlib
import tarfile
import tempfile

import numpy
import torch
import yaml

from random_funasr import sentencepiece_model


def mel_filters(bands, bins, rate):
    """Slaney's scale and areas, as librosa makes them."""
    def hz(mel):
        return numpy.where(mel < 15, mel * 200 / 3, 1000 * numpy.exp((mel - 15) * math.log(6.4) / 27))

    top = 15 + 27 * math.log(rate / 2 / 1000) / math.log(6.4)
    edges = hz(numpy.linspace(0, top, bands + 2))
    at = numpy.linspace(0, rate / 2, bins)
    up = (at[None, :] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - at[None, :]) / (edges[2:] - edges[1:-1])[:, None]
    area = (2 / (edges[2:] - edges[:-2]))[:, None]
    return torch.tensor(numpy.maximum(0, numpy.minimum(up, down)) * area, dtype=torch.float32)


def value(name, dims):
    if name.endswith("num_batches_tracked"):
        return torch.tensor(1)
    if name.endswith("featurizer.window"):
        return torch.hann_window(dims[0], periodic=False)
    if name.endswith("featurizer.fb"):
        return mel_filters(dims[1], dims[2], 16000)[None]
    if name.endswith("running_var"):
        return torch.rand(dims) + 0.5
    if "norm" in name and name.endswith("weight"):
        return 1 + 0.1 * torch.randn(dims)
    if len(dims) == 1 or "pos_bias" in name:
        return 0.1 * torch.randn(dims)
    return torch.randn(dims) / math.sqrt(math.prod(dims[1:]))


def hybrid_shapes(d=512, layers=17, mels=80, labels=1025, c=256, p=640, durations=5):
    """Names and shapes of a hybrid with biases, one LSTM layer and a CTC head beside the transducer."""
    s = {"preprocessor.featurizer.window": [400], "preprocessor.featurizer.fb": [1, mels, 257]}

    def linear(name, *shape):
        s[name + ".weight"], s[name + ".bias"] = list(shape), [shape[0]]

    pre = "encoder.pre_encode."
    for at, inputs, kernel in (0, 1, 3), (2, 1, 3), (3, c, 1), (5, 1, 3), (6, c, 1):
        linear(f"{pre}conv.{at}", c, inputs, kernel, kernel)
    linear(pre + "out", d, c * (((mels - 1) // 2 + 1 - 1) // 2 // 2 + 1))
    for at in (f"encoder.layers.{i}." for i in range(layers)):
        for norm in "norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out":
            linear(at + norm, d)
        for half in "feed_forward1.", "feed_forward2.":
            linear(at + half + "linear1", 4 * d, d)
            linear(at + half + "linear2", d, 4 * d)
        for part in "q", "k", "v", "out":
            linear(f"{at}self_attn.linear_{part}", d, d)
        s[at + "self_attn.linear_pos.weight"] = [d, d]
        s[at + "self_attn.pos_bias_u"] = s[at + "self_attn.pos_bias_v"] = [8, d // 8]
        linear(at + "conv.pointwise_conv1", 2 * d, d, 1)
        linear(at + "conv.depthwise_conv", d, 1, 9)
        linear(at + "conv.batch_norm", d)
        s[at + "conv.batch_norm.running_mean"] = s[at + "conv.batch_norm.running_var"] = [d]
        s[at + "conv.batch_norm.num_batches_tracked"] = []
        linear(at + "conv.pointwise_conv2", d, d, 1)
    s["decoder.prediction.embed.weight"] = [labels, p]
    for part in "ih", "hh":
        s[f"decoder.prediction.dec_rnn.lstm.weight_{part}_l0"] = [4 * p, p]
        s[f"decoder.prediction.dec_rnn.lstm.bias_{part}_l0"] = [4 * p]
    linear("joint.pred", p, p)
    linear("joint.enc", p, d)
    linear("joint.joint_net.2", labels + durations, p)
    linear("ctc_decoder.decoder_layers.0", labels, d, 1)
    return s


def make_hybrid(config):
    config["preprocessor"]["features"] = config["encoder"]["feat_in"] = 80
    config["encoder"].update(d_model=512, n_layers=17, use_bias=True, xscaling=True)
    config["decoder"]["prednet"]["pred_rnn_layers"] = 1
    config["decoder"]["vocab_size"] = config["joint"]["num_classes"] = 1024


def write_archive(out, config, state, files):
    with tempfile.TemporaryDirectory(dir=out.parent) as folder, tarfile.open(out, "w") as tar:
        folder = pathlib.Path(folder)
        (folder / "model_config.yaml").write_text(yaml.safe_dump(config))
        for name, content in files.items():
            (folder / name).write_bytes(content)
        torch.save(state, folder / "model_weights.ckpt")
        for name in "model_config.yaml", *files, "model_weights.ckpt":
            tar.add(folder / name, "./" + name)
    print(f"{out}: {sum(t.numel() for t in state.values()):,} numbers")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("manifest", type=pathlib.Path)
    args.add_argument("config", type=pathlib.Path)
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--blank", type=float, default=3.0)
    o = args.parse_args()

    torch.manual_seed(o.seed)
    state = {}
    hybrid = str(o.manifest) == "tdt_ctc-110m"
    shapes = hybrid_shapes() if hybrid else {}
    for line in [] if hybrid else o.manifest.read_text().splitlines()[1:]:
        name, _, shape = line.split("\t")
        shapes[name] = [] if shape == "scalar" else [int(n) for n in shape.split("x")]
    for name, shape in shapes.items():
        state[name] = value(name, shape)
    config = yaml.safe_load(o.config.read_text())
    if hybrid:
        make_hybrid(config)
    if any(name.startswith("sortformer_modules.") for name in state):
        write_archive(o.out, config, state, {})
        return
    ctc = "decoder.decoder_layers.0.bias" in state
    labels = state["decoder.decoder_layers.0.bias" if ctc else "decoder.prediction.embed.weight"].shape[0] - 1
    state["decoder.decoder_layers.0.bias" if ctc else "joint.joint_net.2.bias"][labels] += o.blank
    pieces = sentencepiece_model(labels, ["<EOU>", "<EOB>"] if "eou" in o.manifest.name else [])
    tokenizer = hashlib.md5(pieces).hexdigest() + "_tokenizer.model"
    config.setdefault("target", "nemo.collections.asr.models.EncDec" + ("Hybrid" if hybrid else "") + (
        "CTC" if ctc else "RNNT") + ("CTC" if hybrid else "") + "BPEModel")
    config["tokenizer"] = {"model_path": "nemo:" + tokenizer, "type": "bpe"}
    write_archive(o.out, config, state, {tokenizer: pieces})


if __name__ == "__main__":
    main()
