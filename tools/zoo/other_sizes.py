# SPDX-License-Identifier: Apache-2.0
"""Holds steno against the reference networks at sizes, seeds and sounds that no recorded case has.

usage: other_sizes.py STENO_TRACE [--family NAME] [--rounds N] [--seed N] [--trace OPTIONS] [--keep DIR]

In every round each family draws sizes and random weights, writes a checkpoint in the layout of published models, makes
a sound, lets steno-trace run it and compares all stages that both know. The networks start from the features that
steno-trace wrote; features are compared with those of features.py and frontends.py first. That the networks themselves
are right is what check_reference.py, check_stages.py and check_fastconformer.py see. --keep leaves the cases behind,
with the networks' stages: tests/golden/other_sizes was made so.
"""
import argparse
import json
import math
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import numpy as np
import torch

import ct_punc
import export
import export_fsmn_vad
import export_paraformer
import export_whisper
import fastconformer
import features
import frontends
import fsmn_vad
import fun_asr_nano
import nemo_archive
import paraformer
import paraformer_online
import qwen3_aligner
import qwen3_asr
import qwen_tokens
import safetensors_file
import sense_voice
import sortformer
import u2
import whisper
from sentencepiece_file import sentencepiece_model

# As export_u2.py writes it; imported from there it would ask for the trained model's tokenizer.
U2_TOKENS = ["<blank>", "<unk>", "<sos/eos>"]


def randomise(model, draw):
    """Norms near 1, biases near 0, products of variance 1 / inputs."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1 and re.search(r"norm|\bln|ln\b", name) and name.endswith("weight"):
                p.copy_(1 + 0.1 * torch.randn(p.shape, generator=draw))
            elif p.dim() == 1 or "bias" in name:
                p.copy_(0.1 * torch.randn(p.shape, generator=draw))
            else:
                p.copy_(torch.randn(p.shape, generator=draw) / math.sqrt(max(1, math.prod(p.shape[1:]))))
        for name, b in model.named_buffers():
            if name.endswith("running_mean"):
                b.copy_(0.1 * torch.randn(b.shape, generator=draw))
            elif name.endswith("running_var"):
                b.copy_(0.5 + torch.rand(b.shape, generator=draw))
    return model.eval()


def state_of(network):
    return {k: v.detach().clone() for k, v in network.state_dict().items() if not k.endswith("num_batches_tracked")}


def sound(rng, seconds):
    """Tones and noise that come and go."""
    n = int(16000 * seconds)
    t, x = np.arange(n) / 16000, rng.normal(size=n) * 0.02  # no band is silent: the logarithm of nothing is noise
    for _ in range(6):
        place = rng.uniform(0, seconds, 2)
        here = (t >= place.min()) & (t < place.max())
        x += here * rng.uniform(0.02, 0.2) * np.sin(2 * np.pi * rng.uniform(80, 6000) * t + rng.uniform(0, 6))
        x += here * rng.uniform(0, 0.05) * rng.normal(size=n)
    return np.clip(np.round(x * 32768), -32768, 32767).astype("<i2")


class Case:
    """A folder with `checkpoint` and an input, and what a family's network makes of it. A family may set:
    count: how many samples the sound has; options: what steno-trace is told; whole: all that the network yields must be
    among steno's stages, and steno has no more of the same kinds."""

    def __init__(self, folder, family, seed):
        self.folder, self.rng = folder, np.random.default_rng(seed)
        self.draw = torch.Generator().manual_seed(seed)
        self.pick = random.Random(seed)
        self.model = folder / "checkpoint"
        self.model.mkdir(parents=True)
        self.input = folder / "input.wav"
        self.sizes, self.count, self.options, self.whole = {}, None, [], False
        self.reference = family(self)
        if self.input.suffix != ".wav":
            return
        seconds = self.pick.uniform(0.4, 5) if self.count is None else (self.count + 0.5) / 16000
        self.samples = sound(self.rng, seconds)
        with wave.open(str(self.input), "wb") as w:
            w.setparams((1, 2, 16000, 0, "NONE", ""))
            w.writeframes(self.samples.tobytes())

    def width(self, heads, most=12):
        """A width that the heads divide into even parts."""
        return heads * 2 * self.pick.randint(2, most)

    def save(self, network, name):
        torch.save(state_of(network), self.model / name)

    def funasr(self, config, configuration, inputs):
        (self.model / "config.yaml").write_text(config)
        (self.model / "configuration.json").write_text(json.dumps(configuration))
        self.shift = self.rng.normal(-14, 1, inputs).astype("f4")
        self.scale = self.rng.uniform(0.1, 0.3, inputs).astype("f4")
        features.write_mvn(self.model / "am.mvn", self.shift, self.scale)

    def normalised(self, x):
        return (x + self.shift) * self.scale


def sense_voice_case(case):
    p = case.pick
    heads = p.choice([1, 2, 3, 4, 6])
    s = case.sizes = {"size": case.width(heads), "heads": heads, "units": p.randint(5, 90), "blocks": p.randint(1, 4),
                      "tp_blocks": p.randint(1, 3), "kernel": p.choice([1, 3, 5, 8, 11, 15])}
    vocabulary = p.randint(40, 300)
    net = randomise(sense_voice.SenseVoice(vocabulary, **s), case.draw)
    case.save(net, "model.pt")
    case.funasr(export.CONFIG.format(**s), export.CONFIGURATION, 560)
    (case.model / export.BPE_NAME).write_bytes(sentencepiece_model(vocabulary))

    def reference(stages):
        yield "cmvn", case.normalised(features.lfr(features.fbank(case.samples / np.float32(32768))))
        x, trace = torch.from_numpy(stages["cmvn"])[None], {}
        logits = net(x, torch.tensor([x.shape[1]]), torch.tensor([sense_voice.queries()]), trace)[0]
        names = {"enc0": "enc0_out"}
        for name, y in trace.items():
            yield names.get(name, name + ("_out" if name.rsplit("_", 1)[-1].isdigit() else "")), y[0]
        yield "ctc_logits", logits
        yield "ctc_log_probs", logits.log_softmax(-1)

    return reference


def paraformer_case(case):
    p = case.pick
    heads, decoder_heads = p.choice([(1, 1), (2, 4), (4, 2), (3, 3), (2, 1)])
    s = {"size": case.width(math.lcm(heads, decoder_heads), 6), "heads": heads, "units": p.randint(5, 80),
         "blocks": p.randint(2, 4), "kernel": p.choice([3, 5, 9, 11]), "decoder_heads": decoder_heads,
         "decoder_units": p.randint(5, 80), "decoder_blocks": p.randint(1, 3),
         "decoder_kernel": p.choice([3, 5, 11, 16]), "tail": p.choice([0.3, 0.45, 0.5])}
    case.sizes, vocabulary = s, p.randint(10, 300)
    net = randomise(paraformer.Paraformer(vocabulary, **s), case.draw)
    case.save(net, "model.pt")
    case.funasr(export_paraformer.CONFIG.format(**s), export_paraformer.CONFIGURATION, 560)
    tokens = ["<blank>", "<s>", "</s>"] + [chr(0x4E00 + i) for i in range(vocabulary - 4)] + ["<unk>"]
    (case.model / "tokens.json").write_text(json.dumps(tokens))
    (case.model / "seg_dict").write_text("")

    def reference(stages):
        yield "cmvn", case.normalised(features.lfr(features.fbank(case.samples / np.float32(32768))))
        x, trace = torch.from_numpy(stages["cmvn"])[None], {}
        logits, _ = net(x, torch.tensor([x.shape[1]]), trace)
        for name, y in trace.items():
            yield name, y[0]
            yield name + "_out", y[0]
        yield "logits", logits[0]

    return reference


PUNC_CONFIG = """\
model: CTTransformer
model_conf: {{ignore_id: 0, embed_unit: {size}, att_unit: {size}, dropout_rate: 0.1, sentence_end_id: 3,
  punc_list: {marks}}}
encoder: SANMEncoder
encoder_conf: {{input_size: {size}, output_size: {size}, attention_heads: {heads}, linear_units: {units},
  num_blocks: {blocks}, dropout_rate: 0.1, positional_dropout_rate: 0.1, attention_dropout_rate: 0.0, input_layer: pe,
  pos_enc_class: SinusoidalPositionEncoder, normalize_before: true, kernel_size: {kernel}, sanm_shfit: 0,
  selfattention_layer_type: sanm, padding_idx: 0}}
tokenizer: CharTokenizer
tokenizer_conf: {{unk_symbol: <unk>}}
"""
PUNC_CONFIGURATION = {
    "framework": "pytorch", "task": "punctuation", "model": {"type": "funasr"},
    "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
    "file_path_metas": {"init_param": "model.pt", "config": "config.yaml",
                        "tokenizer_conf": {"token_list": "tokens.json"}}}


def ct_punc_case(case):
    p = case.pick
    heads = p.choice([1, 2, 3, 4, 6])
    s = {"size": case.width(heads), "heads": heads, "units": p.randint(5, 90), "blocks": p.randint(1, 4),
         "kernel": p.choice([1, 3, 5, 8, 11, 15])}
    marks = ct_punc.MARKS + p.choice([[], ["\uff01"], ["\uff01", "\uff1b"]])
    latin = ["hello", "Hello", "a", "it's", "x9", "OK"]
    tokens = ["<unk>", "<s>", "</s>"] + [chr(0x4E00 + 3 * i) for i in range(p.randint(10, 300))] + latin
    at_once, words = p.choice([2, 7, 20, 20, 33]), p.choice([p.randint(1, 20), p.randint(21, 90), p.randint(200, 330)])
    case.sizes, case.whole = dict(s, tokens=len(tokens), marks=len(marks), at_once=at_once, words=words), True
    if at_once != ct_punc.AT_ONCE:
        case.options = ["--set", f"split_size={at_once}"]
    net = randomise(ct_punc.CtPunc(len(tokens), len(marks), **s), case.draw)
    with torch.no_grad():  # marks that depend on the words, and now and then a text without an end
        net.decoder.weight *= 4
        if p.random() < 0.4:
            net.decoder.bias[3:5] = -100
    case.save(net, "model.pt")
    (case.model / "config.yaml").write_text(PUNC_CONFIG.format(marks="[" + ", ".join(marks) + "]", **s))
    (case.model / "configuration.json").write_text(json.dumps(PUNC_CONFIGURATION))
    (case.model / "tokens.json").write_text(json.dumps(tokens))
    case.input = case.folder / "input.txt"
    text = ""
    for _ in range(words):
        token = p.choice([p.choice(latin), p.choice(tokens[3:]), p.choice(tokens[3:]), "\u8fd9", "unknown"])
        text += " " * (p.random() < 0.2 or token.isascii()) + token + " " * token.isascii()
    case.input.write_text(text)

    def reference(stages):
        for n, got in enumerate(ct_punc.passes(net, tokens, text, marks, at_once)):
            for name, y in got.items():
                if name not in ("ids", "marks", "said", "after_norm"):
                    name = {"enc0": "enc0_out"}.get(name, name + "_out" * name.startswith("encoders_"))
                    yield f"mini{n}_{name}", y

    return reference


ONLINE_CONFIG = export_paraformer.CONFIG
for usual, online in (("model: Paraformer\n", "model: ParaformerStreaming\n"),
                      ("SANMEncoder\n", "SANMEncoderChunkOpt\n"), ("input_layer: pe,", "input_layer: pe_online,"),
                      ("WavFrontend\n", "WavFrontendOnline\n"),
                      ("kernel_size: {decoder_kernel}, sanm_shfit: 0",
                       "kernel_size: {decoder_kernel}, sanm_shfit: {shift}")):
    assert usual in ONLINE_CONFIG
    ONLINE_CONFIG = ONLINE_CONFIG.replace(usual, online)


def paraformer_online_case(case):
    p = case.pick
    heads, decoder_heads = p.choice([(1, 1), (2, 4), (4, 2), (3, 3), (2, 1)])
    s = {"size": case.width(math.lcm(heads, decoder_heads), 6), "heads": heads, "units": p.randint(5, 80),
         "blocks": p.randint(1, 4), "kernel": p.choice([1, 3, 5, 8, 11]), "decoder_heads": decoder_heads,
         "decoder_units": p.randint(5, 80), "decoder_blocks": p.randint(1, 3),
         "decoder_kernel": p.choice([3, 5, 11, 15]), "tail": p.choice([0.3, 0.45, 0.5])}
    chunk = {"chunk_before": p.choice([0, 0, 1, 5]), "chunk_size": p.randint(1, 14),
             "chunk_after": p.choice([0, 1, 4, 7]), "encoder_look_back": p.choice([-1, 0, 1, 4]),
             "decoder_look_back": p.choice([0, 1, 3])}
    if chunk["chunk_before"] + chunk["chunk_after"] == 0:
        chunk["chunk_after"] = 5
    case.sizes, vocabulary, case.whole = dict(s, **chunk), p.randint(10, 300), True
    case.options = [word for key, value in chunk.items() for word in ("--set", f"{key}={value}")]
    net = randomise(paraformer.Paraformer(vocabulary, **s), case.draw)
    case.save(net, "model.pt")
    case.funasr(ONLINE_CONFIG.format(shift=(s["decoder_kernel"] - 1) // 2, **s), export_paraformer.CONFIGURATION, 560)
    tokens = ["<blank>", "<s>", "</s>"] + [chr(0x4E00 + i) for i in range(vocabulary - 4)] + ["<unk>"]
    (case.model / "tokens.json").write_text(json.dumps(tokens))
    (case.model / "seg_dict").write_text("")
    # What is left at the end: nothing, less than a frame of 960 samples (which is not heard), or more.
    size = chunk["chunk_size"]
    each, left = 960 * size, p.choice([0, p.randint(1, 959), p.randint(960, 960 * size - 1 + (size == 1))])
    case.count = max(1, p.randint(0, max(3, 80000 // each)) * each + left)

    def reference(stages):
        x = case.normalised(features.lfr(features.fbank(case.samples / np.float32(32768))))
        whole, left = divmod(len(case.samples), each)
        pieces = [x[i * size : (i + 1) * size] for i in range(whole)] + [x[whole * size :] if left >= 960 else x[:0]]
        for n, piece in enumerate(pieces):
            if len(piece):
                yield f"piece{n}_feats_before_scaling", piece
        sizes = [chunk[key] for key in ("chunk_before", "chunk_size", "chunk_after")]
        heard = [stages.get(f"piece{n}_feats_before_scaling", x[:0]) for n in range(len(pieces))]
        yield from paraformer_online.stream(net, heard, sizes, chunk["encoder_look_back"], chunk["decoder_look_back"])

    return reference


def fsmn_vad_case(case):
    p = case.pick
    stacked = p.choice([1, 3, 5, 7])
    s = {"affine": p.randint(3, 70), "size": p.randint(3, 70), "projected": p.randint(3, 60), "taps": p.randint(1, 25),
         "layers": p.randint(1, 5), "out_affine": p.randint(3, 60), "classes": p.randint(2, 40)}
    case.sizes, inputs = dict(s, stacked=stacked), 80 * stacked
    net = randomise(fsmn_vad.FsmnVad(inputs, **s), case.draw)
    case.save(net, "model.pt")
    case.funasr(export_fsmn_vad.CONFIG.format(stacked=stacked, inputs=inputs, lookback=200, **s),
                export_fsmn_vad.CONFIGURATION, inputs)

    def reference(stages):
        x = case.normalised(fsmn_vad.stack(stages["fbank"], stacked))
        yield "fbank", features.fbank(case.samples / np.float32(32768))
        yield "feats_first400", x[:400]
        logits = net(torch.from_numpy(x)[None])[0]
        yield "logits", logits
        yield "scores", logits.softmax(-1)

    return reference


U2_CONFIG = """\
cmvn: global_cmvn
cmvn_conf: {{cmvn_file: global_cmvn, is_json_cmvn: true}}
ctc_conf: {{ctc_blank_id: 0}}
dataset_conf: {{fbank_conf: {{dither: 0.0, frame_length: 25, frame_shift: 10, num_mel_bins: 80}},
  resample_conf: {{resample_rate: 16000}}}}
decoder: bitransformer
decoder_conf: {{attention_heads: {decoder_heads}, linear_units: {decoder_units}, num_blocks: {decoder_blocks},
  r_num_blocks: {reverse_blocks}}}
encoder: conformer
encoder_conf: {{activation_type: swish, attention_heads: {heads}, causal: true, cnn_module_kernel: {kernel},
  cnn_module_norm: layer_norm, input_layer: conv2d, linear_units: {units}, normalize_before: true,
  num_blocks: {blocks}, output_size: {size},
  pos_enc_layer_type: rel_pos, selfattention_layer_type: rel_selfattn, use_cnn_module: true, use_dynamic_chunk: true}}
input_dim: 80
model: asr_model
model_conf: {{ctc_weight: 0.5, reverse_weight: 0.3}}
output_dim: {vocab}
tokenizer: char
tokenizer_conf: {{symbol_table_path: units.txt, special_tokens: {{<blank>: 0, <unk>: 1, <sos>: 2, <eos>: 2}}}}
"""


def u2_case(case):
    p = case.pick
    heads, decoder_heads = p.choice([(1, 1), (2, 4), (4, 2), (3, 3), (2, 1)])
    s = {"size": case.width(math.lcm(heads, decoder_heads), 6), "heads": heads, "units": p.randint(5, 80),
         "blocks": p.randint(1, 4), "kernel": p.randint(2, 17), "decoder_heads": decoder_heads,
         "decoder_units": p.randint(5, 80), "decoder_blocks": p.randint(1, 3), "reverse_blocks": p.randint(1, 2)}
    case.sizes, vocabulary = s, p.randint(10, 300)
    net = randomise(u2.U2(vocabulary, **s), case.draw)
    with torch.no_grad():
        net.encoder.global_cmvn.mean.copy_(torch.from_numpy(case.rng.normal(12, 2, 80)))
        net.encoder.global_cmvn.istd.copy_(torch.from_numpy(case.rng.uniform(0.1, 0.4, 80)))
    case.save(net, "final.pt")
    (case.model / "train.yaml").write_text(U2_CONFIG.format(vocab=vocabulary, **s))
    units = U2_TOKENS + [chr(0x4E00 + i) for i in range(vocabulary - 3)]
    (case.model / "units.txt").write_text("".join(f"{unit} {i}\n" for i, unit in enumerate(units)))
    mean, istd = net.encoder.global_cmvn.mean.double().numpy(), net.encoder.global_cmvn.istd.double().numpy()
    (case.model / "global_cmvn").write_text(json.dumps({
        "mean_stat": list(mean * 1000), "var_stat": list((1 / istd**2 + mean**2) * 1000), "frame_num": 1000}))

    def reference(stages):
        yield "fbank", features.fbank(case.samples / np.float32(32768), features.POVEY)
        x, trace = torch.from_numpy(stages["fbank"])[None], {}
        frames = torch.tensor([x.shape[1]])
        heard, _ = net.encoder(x, frames, trace=trace)
        for name, y in trace.items():
            yield name, y[0]
        yield "encoder_out", heard[0]
        yield "ctc_logprobs", net.ctc.ctc_lo(heard)[0].log_softmax(-1)
        for name in stages:
            if name.startswith("stream_c") and name.endswith("_encoder_out"):
                chunk, left = name.split("_")[1:3]
                yield name, net.encoder(x, frames, int(chunk[1:]), -1 if left == "lall" else int(left[1:]))[0][0]

    return reference


NANO_CONFIG = """\
model: FunASRNano
model_conf: {{lsm_weight: 0.1, length_normalized_loss: true}}
audio_encoder: SenseVoiceEncoderSmall
audio_encoder_conf: {{output_size: {size}, attention_heads: {heads}, linear_units: {units}, num_blocks: {blocks},
  tp_blocks: {tp_blocks}, dropout_rate: 0.1, positional_dropout_rate: 0.1, attention_dropout_rate: 0.1,
  input_layer: pe, pos_enc_class: SinusoidalPositionEncoder, normalize_before: true, kernel_size: {kernel},
  sanm_shfit: 0, selfattention_layer_type: sanm, freeze: true, freeze_layer_num: -1, feat_permute: true}}
llm: Qwen3-0.6b
llm_conf: {{hub: hf, freeze: true, llm_dtype: fp32, init_param_path: Qwen3-0.6B}}
audio_adaptor: Transformer
audio_adaptor_conf: {adaptor}
ctc_decoder: Transformer
detach_ctc_decoder: true
ctc_decoder_conf: {decoder}
ctc_weight: 1.0
ctc_vocab_size: {labels}
ctc_conf: {{dropout_rate: 0.0, ctc_type: builtin, reduce: true, ignore_nan_grad: true}}
frontend: WavFrontend
frontend_conf: {{fs: 16000, window: hamming, n_mels: 80, frame_length: 25, frame_shift: 10, lfr_m: 7, lfr_n: 6,
  cmvn_file: null}}
dataset_conf: {{do_think: {think}}}
tokenizer: HuggingfaceTokenizer
tokenizer_conf: {{init_param_path: Qwen3-0.6B}}
"""


def fun_asr_nano_case(case):
    p = case.pick
    heads = p.choice([1, 2, 3, 4])
    encoder = {"size": case.width(heads, 8), "heads": heads, "units": p.randint(5, 80), "blocks": p.randint(1, 3),
               "tp_blocks": p.randint(1, 2), "kernel": p.choice([3, 5, 8, 11])}

    def adaptor():
        heads = p.choice([fun_asr_nano.HEADS, 1, 2, 4])
        return {"units": p.randint(5, 80), "size": math.lcm(heads, 4) * p.randint(1, 6), "layers": p.randint(0, 3),
                "heads": heads}

    low_frame_rate, think = p.random() < 0.7, p.random() < 0.5
    first, second, labels = adaptor(), adaptor(), p.randint(10, 200)
    first["rate"] = p.randint(1, 3) if low_frame_rate else 1
    how = {"language": p.choice([None, "Klingon", "\u65e5\u6587"]), "itn": p.random() < 0.5,
           "hotwords": p.choice([[], ["one"], ["one", "two words"]])}
    tokens, case.whole = fun_asr_nano.byte_tokens(), True
    case.sizes = dict(encoder, adaptor=first, decoder=second, low_frame_rate=low_frame_rate, think=think, **how)
    for key, value in how.items():
        if value is not None:
            value = ",".join(value) if key == "hotwords" else str(value).lower() if key == "itn" else value
            case.options += ["--set", f"{key}={value}"]
    vocabulary = tokens.size + p.randint(0, 9)
    net = randomise(fun_asr_nano.FunAsrNano(encoder, first, second, labels, vocabulary), case.draw)
    state = state_of(net)
    torch.save({"state_dict": state} if p.random() < 0.5 else state, case.model / "model.pt")

    def settings(a):
        text = {"downsample_rate": a.get("rate", 1), "ffn_dim": a["units"], "llm_dim": a["size"],
                "encoder_dim": encoder["size"], "n_layer": a["layers"], "freeze": "false"}
        if a is first:
            text["use_low_frame_rate"] = str(low_frame_rate).lower()
        if a["heads"] != fun_asr_nano.HEADS:
            text["attention_heads"] = a["heads"]
        return "{" + ", ".join(f"{key}: {value}" for key, value in text.items()) + "}"

    (case.model / "config.yaml").write_text(NANO_CONFIG.format(
        adaptor=settings(first), decoder=settings(second), labels=labels, think=str(think).lower(), **encoder))
    (case.model / "configuration.json").write_text(json.dumps(dict(
        PUNC_CONFIGURATION, task="auto-speech-recognition", file_path_metas={
            "init_param": "model.pt", "config": "config.yaml", "llm_conf": {"init_param_path": "Qwen3-0.6B"},
            "tokenizer_conf": {"init_param_path": "Qwen3-0.6B"}})))
    llm = case.model / "Qwen3-0.6B"
    llm.mkdir()
    tokens.write(llm)
    (llm / "config.json").write_text(json.dumps({
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": first["size"],
        "vocab_size": vocabulary, "num_hidden_layers": 0, "eos_token_id": 258, "pad_token_id": 256}))

    def reference(stages):
        yield "fbank", features.fbank(case.samples / np.float32(32768))
        yield "lfr", features.lfr(stages["fbank"])
        before = tokens.encode(fun_asr_nano.SYSTEM + fun_asr_nano.request(**how))
        after = tokens.encode(fun_asr_nano.ANSWER + ("" if think else fun_asr_nano.NO_THOUGHT))
        yield from net(torch.from_numpy(stages["lfr"]), before, after, low_frame_rate).items()

    return reference


def qwen3_config(tower, text, tokens):
    """config.json of Qwen3-ASR, and of its forced aligner but for what that has more."""
    axes = [text["head"] // 2 - 2 * (text["head"] // 6), text["head"] // 6, text["head"] // 6]
    audio = {"activation_function": "gelu", "d_model": tower["size"], "downsample_hidden_size": tower["channels"],
             "encoder_attention_heads": tower["heads"], "encoder_ffn_dim": tower["units"],
             "encoder_layers": tower["layers"], "num_hidden_layers": tower["layers"],
             "model_type": "qwen3_asr_audio_encoder", "n_window": tower["chunk"] // 2,
             "n_window_infer": tower["chunk"] * tower["seen"], "num_mel_bins": tower["bins"],
             "output_dim": tower["output"], "scale_embedding": False}
    language = {"attention_bias": False, "head_dim": text["head"], "hidden_act": "silu", "hidden_size": text["size"],
                "intermediate_size": text["units"], "max_position_embeddings": 65536, "model_type": "qwen3",
                "num_attention_heads": text["heads"], "num_hidden_layers": text["layers"],
                "num_key_value_heads": text["key_heads"], "rms_norm_eps": 1e-6,
                "rope_scaling": {"interleaved": True, "mrope_interleaved": True, "mrope_section": axes,
                                 "rope_type": "default", "type": "default"},
                "rope_theta": text["theta"], "vocab_size": text["vocab"]}
    return {"architectures": ["Qwen3ASRForConditionalGeneration"], "model_type": "qwen3_asr",
            "support_languages": ["Chinese", "English"],
            "thinker_config": {"audio_config": audio, "text_config": language, "model_type": "qwen3_asr_thinker",
                               "audio_start_token_id": tokens.added["<|audio_start|>"],
                               "audio_end_token_id": tokens.added["<|audio_end|>"],
                               "audio_token_id": tokens.added["<|audio_pad|>"],
                               "user_token_id": tokens.encode("u")[0]}}


def qwen3_network(case, tokens, outputs):
    """A network of random sizes, and its config.json."""
    p = case.pick
    heads, key_heads = p.choice([(1, 1), (2, 1), (4, 2), (6, 2), (3, 3)])
    text = {"size": 4 * p.randint(2, 16), "layers": p.randint(1, 3), "heads": heads, "key_heads": key_heads,
            "head": 4 * p.randint(2, 8), "units": p.randint(5, 100), "vocab": tokens.size + p.randint(0, 9),
            "theta": p.choice([10000, 1000000, 5000000])}
    heads = p.choice([1, 2, 3, 4])
    tower = {"bins": p.choice([128, 80, 40]), "size": case.width(heads, 8), "heads": heads, "units": p.randint(5, 100),
             "layers": p.randint(1, 3), "channels": p.randint(2, 20), "output": text["size"],
             "chunk": 2 * p.choice([50, 50, 8, 25, 33]), "seen": p.choice([8, 1, 2, 3])}
    case.sizes, case.whole = {"tower": tower, "text": text}, True
    net = randomise(qwen3_asr.Qwen3Asr(tower, text, outputs and outputs(text)), case.draw)
    safetensors_file.write(case.model / "model.safetensors", state_of(net))
    tokens.write(case.model)
    return net, qwen3_config(tower, text, tokens)


def qwen3_rows(case, net, stages, trace):
    """What the tower makes of the features that steno-trace wrote."""
    x = torch.from_numpy(np.ascontiguousarray(stages["logmel"].T))[None]
    return net.thinker.audio_tower(x, torch.tensor([x.shape[1]]), trace)[0]


def qwen3_logmel(case):
    ear = frontends.whisper(case.sizes["tower"]["bins"])
    return ear.finish(ear.log_mel(case.samples / np.float32(32768))).T


def qwen3_aligner_case(case):
    p = case.pick
    added = [*qwen_tokens.ADDED, "<timestamp>"]
    tokens = qwen_tokens.ByteTokens(added, qwen_tokens.ADDED)
    net, config = qwen3_network(case, tokens, lambda text: p.randint(30, 200))
    config["thinker_config"].update(model_type="qwen3_forced_aligner", classify_num=net.thinker.lm_head.out_features)
    config.update(timestamp_token_id=tokens.added["<timestamp>"], timestamp_segment_time=p.choice([80, 40]))
    (case.model / "config.json").write_text(json.dumps(config))
    text = " ".join(p.choice(["hello", "don't", "x9,", "\u4f60\u597d", "a-b", "\u00fcber", "\u2026", "\u4e00b!"])
                    for _ in range(p.randint(1, 12))) + " end"
    case.sizes["words"] = words = qwen3_aligner.words_of(text)
    case.options = ["--set", f"text={text}"]

    def reference(stages):
        yield "logmel", qwen3_logmel(case)
        trace = {}
        heard = qwen3_rows(case, net, stages, trace)
        ids = torch.tensor([tokens.encode(qwen3_aligner.prompt(words, heard.shape[1]))])
        audio, timestamp = tokens.added["<|audio_pad|>"], tokens.added["<timestamp>"]
        scores = qwen3_aligner.scores(net, ids, heard, audio, timestamp, trace)
        for name, y in trace.items():
            if name not in ("conv3_per_chunk", "encoder_last_layer", "decoder_in"):  # not written of an aligner
                yield name.replace("_prefill", ""), y[0]
        yield "logits_at_timestamps", scores

    return reference


def qwen3_asr_case(case):
    p = case.pick
    tokens = qwen_tokens.ByteTokens([*qwen_tokens.ADDED, *qwen_tokens.PLAIN_ADDED], qwen_tokens.ADDED)
    net, config = qwen3_network(case, tokens, p.choice([None, lambda text: text["vocab"]]))
    ends = [tokens.added["<|im_end|>"], tokens.added["<|endoftext|>"]]
    (case.model / "config.json").write_text(json.dumps(config))
    (case.model / "generation_config.json").write_text(json.dumps({"do_sample": False, "eos_token_id": ends}))
    about, language, most = p.choice(["", "Names: Stella."]), p.choice(["", "English"]), p.randint(1, 6)
    case.sizes.update(outputs=net.thinker.lm_head is not None, context=about, language=language, most=most)
    case.options = ["--set", f"context={about}", "--set", f"language={language}", "--set", f"max_new_tokens={most}"]

    def reference(stages):
        yield "logmel", qwen3_logmel(case)
        trace = {}
        heard = qwen3_rows(case, net, stages, trace)
        audio = tokens.added["<|audio_pad|>"]
        ids = tokens.encode(
            f"<|im_start|>system\n{about}<|im_end|>\n<|im_start|>user\n<|audio_start|>" +
            "<|audio_pad|>" * heard.shape[1] + "<|audio_end|><|im_end|>\n<|im_start|>assistant\n" +
            (f"language {language}<asr_text>" if language else ""))
        at = torch.nonzero(torch.tensor(ids) == audio)[:, 0]
        places, scores = (torch.zeros_like(at), at, torch.arange(len(at))), []
        for step in range(most):
            last = net(torch.tensor([ids]), heard, places, trace if step == 0 else {})[0, -1]
            scores.append(net.thinker.scores(last))
            ids.append(int(scores[-1].argmax()))
            if ids[-1] in ends:
                break
        for name, y in trace.items():
            yield name, y[0]
        yield "logits_last_prefill", scores[0]
        yield "logits_greedy_path", torch.stack(scores)

    return reference


def whisper_case(case):
    p = case.pick
    heads, text_heads = p.choice([(1, 1), (2, 4), (4, 2), (3, 3), (2, 1)])
    s = {"bands": p.choice([80, 128, 100]), "rows": p.choice([1500, p.randint(20, 300)]),
         "size": case.width(math.lcm(heads, text_heads), 6), "heads": heads, "layers": p.randint(1, 3),
         "context": p.choice([448, 40]), "text_layers": p.randint(1, 3), "text_heads": text_heads}
    tokens = whisper.Tokens([])
    ids = [p.randrange(tokens.size) for _ in range(p.randint(1, 12))]
    case.sizes, case.options = dict(s, ids=ids), ["--set", "prompt=" + ",".join(map(str, ids))]
    case.whole = True
    net = randomise(whisper.Whisper(tokens.size, **s), case.draw)
    export_whisper.write(case.model, net, tokens, [(0, 0)])

    def reference(stages):
        samples, ear = np.zeros(s["rows"] * 320, np.float32), frontends.whisper(s["bands"])
        heard = case.samples[: len(samples)] / np.float32(32768)
        samples[: len(heard)] = heard
        yield "logmel", ear.finish(ear.log_mel(samples)).T
        trace = {}
        heard = net.encoder(torch.from_numpy(stages["logmel"].T.copy())[None], trace=trace)
        trace["enc_out"] = heard
        for i, block in enumerate(net.decoder.blocks):
            trace[f"dec_layer{i}_cross_k"] = block.cross_attn.key(heard)
            trace[f"dec_layer{i}_cross_v"] = block.cross_attn.value(heard)
        scores = net.decoder(torch.tensor([ids]), heard, trace=trace)
        for name, y in trace.items():
            yield name, y[0]
        yield "logits_prompt_last2", scores[0, -2:]

    return reference


def parakeet_case(kind):
    def make(case):
        p = case.pick
        heads, causal = p.choice([1, 2, 4]), kind == "eou"
        s = {"bands": 80, "layers": p.randint(1, 3), "size": case.width(heads), "heads": heads,
             "channels": p.choice([4, 8, 12, 20])}
        chunk = p.choice([1, 2, 4])
        more = {"window": (chunk * p.choice([2, 5, 17]), chunk - 1) if causal else None, "xscaling": p.random() < 0.5,
                "bias": p.random() < 0.5}
        kernel = p.choice([3, 5, 9])
        labels, hidden, joint, layers = p.randint(20, 200), p.randint(4, 60), p.randint(4, 60), p.randint(1, 2)
        durations = list(range(p.randint(2, 6))) if kind == "tdt" else []
        if kind == "ctc":
            net = fastconformer.ParakeetCtc(labels, kernel=kernel, **s, **more)
        else:
            net = fastconformer.Transducer(labels, durations, hidden=hidden, joint=joint, rnn_layers=layers,
                                           kernel=kernel, **s, **more)
        randomise(net, case.draw)
        case.sizes = dict(s, **more, kernel=kernel, labels=labels, hidden=hidden, joint=joint, rnn_layers=layers,
                          durations=durations)
        letters = ["\u2581" * (i % 2) + "".join(chr(97 + int(d)) for d in str(i)) for i in range(labels)]
        config = nemo_archive.configuration(
            kind, letters, dict(s, hidden=hidden, joint=joint), more["window"], durations, kernel, layers, more["bias"],
            more["xscaling"])
        case.model = case.model / "model.nemo"
        nemo_archive.write_archive(case.model, config, sentencepiece_model(labels), state_of(net))

        def reference(stages):
            front_end = frontends.nemo(80)
            x = front_end.finish(front_end.log_mel(case.samples / 32768.0))
            x = x if causal else frontends.per_feature(x)
            yield "logmel", np.pad(x, ((0, 1), (0, 0))).T
            x = torch.from_numpy(np.ascontiguousarray(stages["logmel"].T))[None]
            trace = {}
            rows, _ = net.encoder(x, torch.tensor([x.shape[1] - 1]), trace)
            for stage, y in trace.items():
                yield stage, y[0]
            yield "encoder_out", rows[0]
            if kind == "ctc":
                yield "logits", net.decoder(rows)[0]
            else:
                said = torch.tensor([[label for label, _, _ in net.greedy(rows[0])]], dtype=torch.long)
                predicted = net.decoder(said)[0]
                yield "pred_out", predicted
                yield "joint_pred_proj", net.joint.pred(predicted)
                yield "joint_enc_proj", net.joint.enc(rows)[0]

        return reference

    return make


def let_speakers_change(net, features):
    """Random networks say the same all the time: scores of a sound get the mean 0 and a deviation up to 3."""
    trace, head = {}, net.sortformer_modules
    net.activities(net.subsampled(torch.from_numpy(features)), trace)
    heard = head.first_hidden_to_hidden(trace["transformer_out"].relu()).relu()
    scores = head.single_hidden_to_spks
    scores.weight *= (3 / heard.matmul(scores.weight.T).std(0)).clamp(max=30)[:, None]
    scores.bias.copy_(-scores.weight @ heard.mean(0))


def sortformer_case(kind):
    def make(case):
        p, streams = case.pick, kind == "stream"
        heads, speakers = p.choice([1, 2, 4]), p.randint(2, 5)
        encoder = {"bands": p.choice([80, 128]), "layers": p.randint(1, 3), "size": case.width(heads), "heads": heads,
                   "channels": p.choice([4, 8, 12, 20]), "kernel": p.choice([3, 5, 9]), "bias": p.random() < 0.5,
                   "xscaling": p.random() < 0.5}
        heads = p.choice([1, 2, 3, 4])
        s = {"size": case.width(heads), "heads": heads, "units": p.randint(5, 80), "layers": p.randint(1, 3)}
        if s["size"] == encoder["size"]:  # which no published model has, and steno refuses
            s["size"] += 2 * heads
        silence = p.randint(0, 3)
        options = {
            "spkcache_len": (1 + silence) * speakers + p.randint(0, 20), "fifo_len": p.choice([0, 3, 10]),
            "chunk_len": p.randint(1, 12), "spkcache_update_period": p.randint(1, 20),
            "chunk_left_context": p.randint(0, 2), "chunk_right_context": p.randint(0, 3),
            "spkcache_sil_frames_per_spk": silence, "pred_score_threshold": p.choice([0.25, 0.1]),
            "scores_boost_latest": p.choice([0.05, 0.5]), "sil_threshold": p.choice([0.2, 0.5, 1.0]),
            "strong_boost_rate": p.choice([0.75, 0.3]), "weak_boost_rate": p.choice([1.5, 1.0]),
            "min_pos_scores_rate": p.choice([0.5, 0.15])}
        late = streams and p.random() < 0.5
        net = randomise(sortformer.Sortformer(encoder, speakers=speakers, **s), case.draw)
        front_end = frontends.nemo(encoder["bands"])
        with torch.no_grad():
            let_speakers_change(net, front_end.finish(front_end.log_mel(sound(case.rng, 4) / np.float32(32768))))
        case.whole, case.count = True, p.randint(8000, 80000)
        case.sizes = dict(s, encoder=encoder, speakers=speakers, late=late, **(options if streams else {}))
        config = nemo_archive.configuration("ctc", [], encoder, None, (), encoder["kernel"], 1, encoder["bias"],
                                               encoder["xscaling"])
        del config["decoder"]
        config["preprocessor"]["normalize"] = "NA" if streams else "per_feature"
        config.update(
            target="nemo.collections.asr.models.sortformer_diar_models.SortformerEncLabelModel",
            max_num_of_spks=speakers, streaming_mode=streams, async_streaming=late,
            sortformer_modules={"num_spks": speakers, "fc_d_model": encoder["size"], "tf_d_model": s["size"],
                                **options},
            transformer_encoder={"num_layers": s["layers"], "hidden_size": s["size"], "inner_size": s["units"],
                                 "num_attention_heads": s["heads"], "hidden_act": "relu", "pre_ln": False,
                                 "pre_ln_final_layer_norm": True})
        case.model = case.model / "model.nemo"
        nemo_archive.write_archive(case.model, config, None, state_of(net))

        def reference(stages):
            samples = case.samples / np.float32(32768)
            if not streams:
                samples = samples / (samples.max() + np.float32(1e-3))
            x = front_end.finish(front_end.log_mel(samples))
            yield "logmel", (x if streams else frontends.per_feature(x)).T
            x = torch.from_numpy(np.ascontiguousarray(stages["logmel"].T))
            if not streams:
                trace = {}
                net.activities(net.subsampled(x), trace)
                yield from trace.items()
                return
            heard, trace, gap = sortformer.stream(net, x, options, late)
            if gap < 1e-4:  # which row stays in the cache may hang on rounding
                case.whole = False
                trace = {name: y for name, y in trace.items() if name.startswith("chunk0_")}
            else:
                yield "speaker_probs", heard
            yield from trace.items()
            heard, _, gap = sortformer.stream(net, x, options, not late)
            if gap >= 1e-4:
                yield "speaker_probs_sync" if late else "speaker_probs_async", heard

        return reference

    return make


FAMILIES = {"sense_voice": sense_voice_case, "paraformer": paraformer_case,
            "paraformer_online": paraformer_online_case, "ct_punc": ct_punc_case, "fun_asr_nano": fun_asr_nano_case,
            "qwen3_aligner": qwen3_aligner_case, "qwen3_asr": qwen3_asr_case, "whisper": whisper_case,
            "fsmn_vad": fsmn_vad_case, "u2": u2_case, "parakeet_ctc": parakeet_case("ctc"),
            "parakeet_rnnt": parakeet_case("rnnt"), "parakeet_tdt": parakeet_case("tdt"),
            "parakeet_eou": parakeet_case("eou"), "sortformer": sortformer_case("whole"),
            "sortformer_stream": sortformer_case("stream")}
# The first features are single precision in one of the two; all else has the contract's bound.
LIMITS = {"fbank": 2e-2, "cmvn": 2e-2, "feats_first400": 2e-2, "feats_before_scaling": 2e-2, "logmel": 1e-3}


def limit_of(name):
    return next((limit for end, limit in LIMITS.items() if name.endswith(end)), 1e-4)


def kind(name):
    return re.sub(r"\d+", "#", name)


def compare(case, program, options):
    out = case.folder / "out"
    run = subprocess.run([program, "-m", case.model, case.input, "-o", out, *case.options, *options],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return [run.stderr.strip()], 0, 0.0
    stages = {p.stem: np.load(p) for p in out.glob("*.npy")}
    shutil.rmtree(out)
    (case.folder / "stages").mkdir()
    wrong, seen, known, largest = [], 0, set(), 0.0
    with torch.no_grad():
        for name, want in case.reference(stages):
            known.add(name)
            if name not in stages:
                if case.whole:
                    wrong.append(f"{name}: steno has none")
                continue
            want, got = np.asarray(want, "f4"), stages[name]
            if got.size != want.size:
                wrong.append(f"{name}: shapes {want.shape} and {got.shape}")
                continue
            want = want.reshape(got.shape)
            limit = limit_of(name) * max(1.0, np.abs(want).max(initial=0))
            worst = np.abs(got - want).max(initial=0)
            np.save(case.folder / "stages" / f"{seen:02}_{name}.npy", np.ascontiguousarray(want))
            seen += 1
            largest = max(largest, worst / limit)
            if not worst <= limit:
                wrong.append(f"{name}: {worst:.3g} (limit {limit:.3g})")
    if case.whole:
        kinds = {kind(name) for name in known}
        wrong += [f"{name}: the network has none" for name in sorted(stages.keys() - known) if kind(name) in kinds]
    return wrong, seen, largest


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("--family", choices=sorted(FAMILIES), action="append")
    args.add_argument("--rounds", type=int, default=1)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--trace", default="", help="options for steno-trace")
    args.add_argument("--keep", type=Path)
    o = args.parse_args()
    torch.set_num_threads(1)
    failed = 0
    for seed in range(o.seed, o.seed + o.rounds):
        for family in o.family or FAMILIES:
            with tempfile.TemporaryDirectory() as scratch:
                case = Case(Path(scratch) / "case", FAMILIES[family], seed)
                wrong, seen, largest = compare(case, o.program.resolve(), shlex.split(o.trace))
                failed += bool(wrong) or seen == 0
                sizes = f"; {case.sizes}" if wrong or not seen else ""
                print(f"{family} {seed}: {seen} stages, {len(wrong)} wrong, at most {largest:.2g} of its limit{sizes}")
                for line in wrong[:5]:
                    print("   ", line)
                if o.keep:
                    shutil.copytree(case.folder, o.keep / f"{family}-{seed}", dirs_exist_ok=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
