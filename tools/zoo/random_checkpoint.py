#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a checkpoint of full size with random weights, in the layout that is published, to measure loading, speed and
memory.

Usage: random_checkpoint.py LIST.tsv OUT_DIR [--shared DIR] [--seed N] [--layout openai|huggingface] [--blank X]

The lists are those of shared/manifests, and their names say what is made: FunASR's and WeNet's folders, NeMo's
archives, openai's .pt or Hugging Face's folder of Whisper, Hugging Face's folders of Qwen3-ASR, the two GGUF files of
Fun-ASR-Nano. Settings are those of the .yaml beside the list; for Whisper and Qwen3 those of a small checkpoint of
shared/golden with the list's sizes. Tokenizers have as many made-up pieces as the published ones. --blank is added to
the bias of NeMo's blank, so that not every step says something. Two names without a list: "nemo-tdt_ctc-110m", and
whisper-*.en (whisper-*.tsv is read).
"""
import argparse
import base64
import hashlib
import itertools
import json
import pathlib
import re
import shutil
import tarfile

import numpy
import torch
import yaml

import qwen_tokens
from gguf_file import write_gguf
from random_weights import Entry, read_list, value
from safetensors_file import write_entries
from sentencepiece_file import made_up_pieces, sentencepiece_model

SHARED = pathlib.Path(__file__).resolve().parents[2].parent / "shared"
SHARD_BYTES = 4_000_000_000


def letter_runs():
    """All words of one, two, three ... bytes in GPT-2's letters: (pair that makes it, word)."""
    letters = list(qwen_tokens.letters().values())
    longer = letters
    while True:
        pairs = [(a, b) for a in longer for b in letters]
        yield from pairs
        longer = [a + b for a, b in pairs]


def weights(entries, chance):
    return {e.name: value(e, chance) for e in entries}


def dump(path, what):
    path.write_text(json.dumps(what, indent=1, ensure_ascii=False))


class Maker:
    """What all layouts need: the list, its settings, and where the checkpoint goes."""

    def __init__(self, manifest, out, shared=SHARED, seed=1, layout="", blank=3.0):
        self.name, self.out, self.shared, self.layout, self.blank = manifest.stem, out, shared, layout, blank
        english = self.name.endswith(".en")
        hybrid = self.name == "nemo-tdt_ctc-110m"
        path = manifest.parent / (self.name.removesuffix(".en") + ".tsv")
        self.entries = hybrid_list() if hybrid else read_list(path, layout == "huggingface")
        if english:
            self.entries = [e._replace(shape=[e.shape[0] - 1, e.shape[1]]) if e.name.endswith("token_embedding.weight")
                            else e for e in self.entries]
        self.shape = {e.name: e.shape for e in self.entries}
        self.chance = numpy.random.default_rng(seed)
        if self.name.startswith("nemo-"):
            config = "parakeet-tdt-0.6b-v3" if hybrid else self.name.removeprefix("nemo-")
            self.config = manifest.parent / "nemo-configs" / (config + ".yaml")
        else:
            self.config = manifest.with_suffix(".yaml")
        self.options = []  # of steno-convert
        out.mkdir(parents=True, exist_ok=True)

    def make(self):
        """Writes the checkpoint; what steno-convert takes."""
        kinds = (("qwen3-0.6b-gguf", nano_gguf), ("fun-asr-nano-audio", nano_gguf), ("fun-asr", nano), ("nemo-", nemo),
                 ("wenet-", wenet), ("whisper-", whisper), ("qwen3-", qwen3))
        return next((kind for prefix, kind in kinds if self.name.startswith(prefix)), funasr)(self)

    def numbers(self):
        return sum(e.count() for e in self.entries)

    def layers(self, prefix):
        found = (re.match(re.escape(prefix) + r"layers\.(\d+)\.", name) for name in self.shape)
        return 1 + max(int(m[1]) for m in found if m)


def am_mvn(width):
    def block(tag, number):
        return f"<{tag}> {width} {width}\n<LearnRateCoef> 0 [ " + " ".join([str(number)] * width) + " ]\n"

    return f"<Nnet>\n<Splice> {width} {width}\n[ 0 ]\n" + block("AddShift", -14.0) + block("Rescale", 0.2) + "</Nnet>\n"


def characters(count):
    """What a Chinese model's token list has: characters, also of planes that no published list needs."""
    planes = itertools.chain(range(0x4E00, 0x9FFF), range(0x3400, 0x4DB5), range(0x20000, 0x2A6D6))
    plain = [chr(c) for c in itertools.islice(planes, count)]
    pairs = (a + b for a in plain[:1000] for b in plain[:1000])
    return plain + list(itertools.islice(pairs, count - len(plain)))


def funasr(m):
    """config.yaml, configuration.json, model.pt, tokens.json or a SentencePiece model, am.mvn, seg_dict."""
    shutil.copyfile(m.config, m.out / "config.yaml")
    settings = yaml.safe_load(m.config.read_text())
    files = {"init_param": "model.pt", "config": "config.yaml"}
    if "frontend_conf" in settings:
        front = settings["frontend_conf"]
        files["frontend_conf"] = {"cmvn_file": "am.mvn"}
        (m.out / "am.mvn").write_text(am_mvn(front["n_mels"] * front["lfr_m"]))
    rows = m.shape.get("embed.weight", m.shape.get("decoder.output_layer.weight", [0]))[0]
    if settings["model"] == "SenseVoiceSmall":
        files["tokenizer_conf"] = {"bpemodel": "chn_jpn_yue_eng_ko_spectok.bpe.model"}
        pieces = sentencepiece_model(m.shape["ctc.ctc_lo.weight"][0])
        (m.out / "chn_jpn_yue_eng_ko_spectok.bpe.model").write_bytes(pieces)
    elif "tokenizer" in settings:
        files["tokenizer_conf"] = {"token_list": "tokens.json"}
        first, last = (["<unk>", "<s>", "</s>"], []) if "Punc" in m.name or "punc" in m.name else (
            ["<blank>", "<s>", "</s>"], ["<unk>"])
        tokens = first + characters(rows - len(first) - len(last)) + last
        dump(m.out / "tokens.json", tokens)
        if settings["model"] in ("SeacoParaformer", "ContextualParaformer"):
            files["tokenizer_conf"]["seg_dict_file"] = "seg_dict"
            (m.out / "seg_dict").write_text("".join(f"{t}\t{t}\n" for t in tokens[3:-1]))
        if m.name == "ct-punc-471067-large":
            files["jieba_usr_dict"] = files["tokenizer_conf"]["jieba_usr_dict"] = "jieba_usr_dict"
    dump(m.out / "configuration.json", {
        "framework": "pytorch", "model": {"type": "funasr"}, "pipeline": {"type": "funasr-pipeline"},
        "file_path_metas": files})
    torch.save(weights(m.entries, m.chance), m.out / "model.pt")
    return m.out


QWEN_ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|placeholder_{i}|>" for i in range(3, 24)), "<think>",
              "</think>"]
QWEN_PIECES = 151643


def byte_pairs(known, count):
    """`known` merges and made-up ones behind them: {text: id} of `count` pieces, and all merges."""
    vocabulary = {letter: i for i, letter in enumerate(qwen_tokens.letters().values())}
    pairs = []
    for a, b in itertools.chain(known, letter_runs()):
        if len(vocabulary) == count:
            break
        if a + b not in vocabulary:
            vocabulary[a + b] = len(vocabulary)
            pairs.append((a, b))
    return vocabulary, pairs


def nano(m):
    """FunASR's folder with Qwen3-0.6B's settings and tokenizer beside it, and the CTC tokenizer."""
    shutil.copyfile(m.config, m.out / "config.yaml")
    names = {"init_param_path": "Qwen3-0.6B"}
    dump(m.out / "configuration.json", {
        "framework": "pytorch", "model": {"type": "funasr"}, "pipeline": {"type": "funasr-pipeline"},
        "file_path_metas": {"init_param": "model.pt", "config": "config.yaml", "llm_conf": names,
                            "tokenizer_conf": names}})
    text = m.out / "Qwen3-0.6B"
    text.mkdir(exist_ok=True)
    vocabulary, pairs = byte_pairs((), QWEN_PIECES)
    added = {name: QWEN_PIECES + i for i, name in enumerate(QWEN_ADDED)}
    qwen_tokens.write(text, vocabulary, pairs, added, QWEN_ADDED[:-2])
    tokenizer = json.loads((text / "tokenizer_config.json").read_text())
    dump(text / "tokenizer_config.json", {
        **tokenizer, "additional_special_tokens": QWEN_ADDED[1:-2], "bos_token": None, "chat_template": "",
        "clean_up_tokenization_spaces": False, "errors": "replace", "model_max_length": 131072,
        "split_special_tokens": False, "unk_token": None})
    model = "llm.model."
    head = m.shape[model + "layers.0.self_attn.q_norm.weight"][0]
    dump(text / "config.json", {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "attention_bias": False, "hidden_act": "silu",
        "attention_dropout": 0.0, "initializer_range": 0.02, "max_window_layers": 28, "sliding_window": None,
        "transformers_version": "4.51.0", "use_cache": True, "use_sliding_window": False,
        "hidden_size": m.shape[model + "norm.weight"][0], "num_hidden_layers": m.layers(model), "head_dim": head,
        "intermediate_size": m.shape[model + "layers.0.mlp.gate_proj.weight"][0],
        "num_attention_heads": m.shape[model + "layers.0.self_attn.q_proj.weight"][0] // head,
        "num_key_value_heads": m.shape[model + "layers.0.self_attn.k_proj.weight"][0] // head,
        "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "rope_scaling": None,
        "tie_word_embeddings": True, "torch_dtype": "bfloat16", "vocab_size": m.shape["llm.lm_head.weight"][0],
        "bos_token_id": QWEN_PIECES, "eos_token_id": added["<|im_end|>"]})
    if "ctc.ctc_lo.weight" in m.shape:  # 1679 of SenseVoice's tokens are special ones
        single = sorted(range(256), key=lambda b: b)
        runs = itertools.chain(([b] for b in single), itertools.product(single, single))
        lines = (base64.b64encode(bytes(run)).decode() + f" {i}\n" for i, run in enumerate(runs))
        count = m.shape["ctc.ctc_lo.weight"][0] - 1679
        (m.out / "multilingual.tiktoken").write_text("".join(itertools.islice(lines, count)))
    torch.save({"state_dict": weights(m.entries, m.chance)}, m.out / "model.pt")
    return m.out


def hybrid_list(d=512, layers=17, mels=80, labels=1025, c=256, p=640, durations=5):
    """A NeMo hybrid with biases, one LSTM layer and a CTC head beside the transducer, of which there is no list."""
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
    return [Entry(name, torch.int64 if name.endswith("tracked") else torch.float32, shape, name)
            for name, shape in s.items()]


CANARY = ("startofcontext startoftranscript endoftext nospeech pnc nopnc itn noitn timestamp notimestamp diarize "
          "nodiarize emo:undefined emo:neutral emo:happy emo:sad emo:angry transcribe translate en de es fr").split()
CANARY += [str(i) for i in range(900)]  # times


def nemo(m):
    """A .nemo archive: model_config.yaml, tokenizers under the names of their sums, model_weights.ckpt."""
    config = yaml.safe_load(m.config.read_text())
    files = {}

    def tokenizer(pieces):
        name = hashlib.md5(pieces).hexdigest() + "_tokenizer.model"
        files[name] = pieces
        return {"model_path": "nemo:" + name, "type": "bpe"}

    hybrid = m.name == "nemo-tdt_ctc-110m"
    if hybrid:
        config["preprocessor"]["features"] = config["encoder"]["feat_in"] = 80
        config["encoder"].update(d_model=512, n_layers=17, use_bias=True, xscaling=True)
        config["decoder"]["prednet"]["pred_rnn_layers"] = 1
        config["decoder"]["vocab_size"] = config["joint"]["num_classes"] = 1024
    state = weights(m.entries, m.chance)
    ctc = "decoder.decoder_layers.0.bias" in state
    transducer = "decoder.prediction.embed.weight" in state
    if ctc or transducer:
        bias = state["decoder.decoder_layers.0.bias" if ctc else "joint.joint_net.2.bias"]
        labels = bias.shape[0] - 1 if ctc else state["decoder.prediction.embed.weight"].shape[0] - 1
        bias[labels] += m.blank
        config["tokenizer"] = tokenizer(sentencepiece_model(labels, ["<EOU>", "<EOB>"] if "eou" in m.name else []))
        if hybrid or "target" not in config:
            config["target"] = "nemo.collections.asr.models.EncDec" + ("Hybrid" if hybrid else "") + (
                "CTC" if ctc else "RNNT") + ("CTC" if hybrid else "") + "BPEModel"
    elif "transf_decoder._embedding.token_embedding.weight" in state:  # Canary: one matrix under two names
        state["log_softmax.mlp.layer0.weight"] = state["transf_decoder._embedding.token_embedding.weight"]
        rows = state["log_softmax.mlp.layer0.weight"].shape[0]
        if "langs" in config["tokenizer"]:
            others = config["tokenizer"]["langs"]
            for i, language in enumerate(others):
                special = {"tags": CANARY, "last": ["<pad>"]} if language == "spl_tokens" else {"tags": [language]}
                others[language].update(tokenizer(sentencepiece_model(1152 if i == 0 else 1024, **special)))
        else:
            config["tokenizer"].update(tokenizer(sentencepiece_model(rows, ["<pad>"], CANARY)))
    out = m.out / (m.name.removeprefix("nemo-") + ".nemo")
    (m.out / "model_config.yaml").write_text(yaml.safe_dump(config))
    for name, content in files.items():
        (m.out / name).write_bytes(content)
    torch.save(state, m.out / "model_weights.ckpt")
    del state
    with tarfile.open(out, "w") as tar:
        for name in "model_config.yaml", *files, "model_weights.ckpt":
            tar.add(m.out / name, "./" + name)
            (m.out / name).unlink()
    return out


def wenet(m):
    """train.yaml, final.pt, units.txt, global_cmvn and, where the units are pieces, their model."""
    settings = yaml.safe_load(m.config.read_text())
    shutil.copyfile(m.config, m.out / "train.yaml")
    count = m.shape["ctc.ctc_lo.weight"][0]
    pieces = settings.get("tokenizer") == "bpe"
    if pieces:
        units = [text for text, kind in made_up_pieces(count + 2, ()) if kind == 1]
        model = pathlib.Path(settings["tokenizer_conf"]["bpe_path"]).name
        (m.out / model).write_bytes(sentencepiece_model(count + 1, tags=()))
    else:
        units = characters(count)
    special = settings.get("tokenizer_conf", {}).get("special_tokens", {})
    if special.get("<eos>", count - 1) == 2:
        units = ["<blank>", "<unk>", "<sos/eos>", *units]
    else:
        units = ["<blank>", "<unk>", *units[:count - 3], "<sos/eos>"]
    (m.out / "units.txt").write_text("".join(f"{u} {i}\n" for i, u in enumerate(units[:count])))
    bands, frames = settings["input_dim"], 1_000_000
    dump(m.out / "global_cmvn", {"mean_stat": [12.0 * frames] * bands, "var_stat": [160.0 * frames] * bands,
                                 "frame_num": frames})
    torch.save(weights(m.entries, m.chance), m.out / "final.pt")
    return m.out


def whisper(m):
    """openai's .pt (the tokenizer is apart) or Hugging Face's folder."""
    d, mels = m.shape["encoder.conv1.weight"][:2]
    vocabulary = m.shape["decoder.token_embedding.weight"][0]
    audio, text = (1 + max(int(n.split(".")[2]) for n in m.shape if n.startswith(part + ".blocks."))
                   for part in ("encoder", "decoder"))
    if m.layout != "huggingface":
        dims = {"n_mels": mels, "n_audio_ctx": 1500, "n_audio_state": d, "n_audio_head": d // 64,
                "n_audio_layer": audio, "n_vocab": vocabulary, "n_text_ctx": 448, "n_text_state": d,
                "n_text_head": d // 64, "n_text_layer": text}
        table = "gpt2" if m.name.endswith(".en") else "multilingual"
        m.options = ["--tokenizer", m.shared / f"assets/whisper/{table}.tiktoken"]
        out = m.out / (m.name.removeprefix("whisper-") + ".pt")
        torch.save({"dims": dims, "model_state_dict": weights(m.entries, m.chance)}, out)
        return out
    small = m.shared / "golden/whisper/v3/checkpoint/hf"
    for name in "vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json":
        shutil.copyfile(small / name, m.out / name)
    # Before v3 there was no Cantonese, and what stands behind it was one lower.
    new = json.loads((small / "added_tokens.json").read_text())
    gone = new["<|yue|>"] if vocabulary < 51866 else 1 << 30
    at = {i: i - (i > gone) for i in [*range(51866)]}
    dump(m.out / "added_tokens.json", {name: at[i] for name, i in new.items() if i != gone})
    preprocessor = json.loads((small / "preprocessor_config.json").read_text())
    dump(m.out / "preprocessor_config.json", {**preprocessor, "feature_size": mels})
    generation = json.loads((small / "generation_config.json").read_text())
    generation["lang_to_id"] = {name: i for name, i in generation["lang_to_id"].items() if i != gone}
    generation["alignment_heads"] = [[text - 1, 0], [text - 1, 1]]
    config = json.loads((small / "config.json").read_text())
    for settings in generation, config:
        settings["forced_decoder_ids"] = [[1, None], [2, at[new["<|transcribe|>"]]]]
    for name in "no_timestamps_token_id", "prev_sot_token_id":
        generation[name] = at[generation[name]]
    generation["suppress_tokens"] = [at[i] for i in generation["suppress_tokens"]]
    generation["task_to_id"] = {name: at[i] for name, i in generation["task_to_id"].items()}
    dump(m.out / "generation_config.json", generation)
    f16 = m.entries[1].format == torch.float16
    config.update(d_model=d, decoder_attention_heads=d // 64, encoder_attention_heads=d // 64, decoder_ffn_dim=4 * d,
                  encoder_ffn_dim=4 * d, decoder_layers=text, encoder_layers=audio, num_hidden_layers=audio,
                  num_mel_bins=mels, vocab_size=vocabulary, torch_dtype="float16" if f16 else "float32")
    dump(m.out / "config.json", config)
    write_entries(m.out / "model.safetensors", [(e.published, e) for e in m.entries], lambda e: value(e, m.chance))
    return m.out


def qwen3(m):
    """Hugging Face's folder of Qwen3-ASR or the forced aligner, in shards as published."""
    small = m.shared / "golden/qwen3_asr" / m.name / "checkpoint"
    for name in "generation_config.json", "preprocessor_config.json", "chat_template.json":
        shutil.copyfile(small / name, m.out / name)
    tokens = json.loads((small / "tokenizer_config.json").read_text())
    lower = min(int(i) for i in tokens["added_tokens_decoder"])  # the small one's pieces
    added = {t["content"]: QWEN_PIECES - lower + int(i) for i, t in tokens["added_tokens_decoder"].items()}
    special = {t["content"] for t in tokens["added_tokens_decoder"].values() if t["special"]}
    known = [line.split(" ") for line in (small / "merges.txt").read_text().splitlines()[1:]]
    qwen_tokens.write(m.out, *byte_pairs(known, QWEN_PIECES), added, special)
    config = json.loads((small / "config.json").read_text())
    audio, text = config["thinker_config"]["audio_config"], config["thinker_config"]["text_config"]
    tower, model = "thinker.audio_tower.", "thinker.model."
    d = m.shape[tower + "ln_post.weight"][0]
    audio.update(d_model=d, encoder_attention_heads=d // 64, encoder_layers=m.layers(tower),
                 num_hidden_layers=m.layers(tower), encoder_ffn_dim=m.shape[tower + "layers.0.fc1.weight"][0],
                 downsample_hidden_size=m.shape[tower + "conv2d1.weight"][0],
                 output_dim=m.shape[tower + "proj2.weight"][0])
    at = model + "layers.0."
    head = m.shape[at + "self_attn.q_norm.weight"][0]
    text.update(hidden_size=m.shape[model + "norm.weight"][0], num_hidden_layers=m.layers(model), head_dim=head,
                num_attention_heads=m.shape[at + "self_attn.q_proj.weight"][0] // head,
                num_key_value_heads=m.shape[at + "self_attn.k_proj.weight"][0] // head,
                intermediate_size=m.shape[at + "mlp.gate_proj.weight"][0],
                vocab_size=m.shape[model + "embed_tokens.weight"][0])
    text["rope_scaling"]["mrope_section"] = [24, 20, 20]
    generation = json.loads((m.out / "generation_config.json").read_text())
    generation.update(eos_token_id=[added["<|im_end|>"], added["<|endoftext|>"]], pad_token_id=added["<|endoftext|>"])
    dump(m.out / "generation_config.json", generation)
    for key, name in ("audio_start", "<|audio_start|>"), ("audio_end", "<|audio_end|>"), ("audio", "<|audio_pad|>"):
        config["thinker_config"][key + "_token_id"] = added[name]
    rows = m.shape["thinker.lm_head.weight"][0]
    if "timestamp_token_id" in config:
        config["timestamp_token_id"] = added["<timestamp>"]
        config["thinker_config"]["classify_num"] = rows
    dump(m.out / "config.json", config)
    shards, held = [[]], 0
    for e in m.entries:
        if held + e.bytes() > SHARD_BYTES and shards[-1]:
            shards.append([])
            held = 0
        shards[-1].append((e.published, e))
        held += e.bytes()
    files = ["model.safetensors"]
    if len(shards) > 1:
        files = [f"model-{i + 1:05}-of-{len(shards):05}.safetensors" for i in range(len(shards))]
        where = {name: file for file, entries in zip(files, shards) for name, _ in entries}
        dump(m.out / "model.safetensors.index.json", {"weight_map": where})

    def values(e):  # the head of a recogniser is the embedding
        again = rows == text["vocab_size"] and e.name.endswith(("embed_tokens.weight", "lm_head.weight"))
        return value(e, numpy.random.default_rng(5) if again else m.chance)

    for file, entries in zip(files, shards):
        write_entries(m.out / file, entries, values)
    return m.out


NANO_KEYS = {"enc.input_size": 560, "enc.output_size": 512, "enc.attention_heads": 4, "enc.linear_units": 2048,
             "enc.num_blocks": 50, "enc.tp_blocks": 20, "enc.kernel_size": 11, "enc.sanm_shfit": 0,
             "adp.llm_dim": 1024, "adp.encoder_dim": 512, "adp.ffn_dim": 2048, "adp.n_layer": 2,
             "adp.attention_heads": 8, "adp.downsample_rate": 1, "frontend.n_mels": 80, "frontend.lfr_m": 7,
             "frontend.lfr_n": 6}
QWEN_KEYS = {"block_count": 28, "context_length": 40960, "embedding_length": 1024, "feed_forward_length": 3072,
             "attention.head_count": 16, "attention.head_count_kv": 8, "attention.key_length": 128,
             "attention.value_length": 128, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6}


def nano_gguf(m):
    """The two GGUF files of Fun-ASR-Nano: the audio half in f16, the language model in q8_0."""
    lists = m.shared / "manifests"
    audio = [e for e in read_list(lists / "fun-asr-nano-audio.tsv") if e.name.startswith("audio_")]

    def audio_tensor(e):
        v = value(e, m.chance).numpy()
        if e.name.endswith("fsmn_block.weight"):
            return "f32", v[:, 0, :].T  # taps by channels
        return "f16" if v.ndim == 2 and "norm" not in e.name else "f32", v

    out = m.out / "funasr-encoder-f16.gguf"
    write_gguf(out, {"general.architecture": "funasr-sensevoice-encoder",
                     **{"funasr." + k: v for k, v in NANO_KEYS.items()}},
               [(e.name, lambda e=e: audio_tensor(e)) for e in audio])
    rows = [line.split("\t") for line in (lists / "qwen3-0.6b-gguf.tsv").read_text().splitlines()
            if not line.startswith("#")]
    text = [Entry(r[0], torch.float32, [int(n) for n in reversed(r[2].split("x"))], r[1]) for r in rows]
    vocabulary, pairs = byte_pairs((), QWEN_PIECES)
    size = next(e.shape[0] for e in text if e.name == "token_embd.weight")
    tokens = [*vocabulary, *QWEN_ADDED]
    kinds = [1] * len(vocabulary) + [3] * (len(QWEN_ADDED) - 2) + [4] * 2
    kinds += [5] * (size - len(tokens))
    tokens += [f"[PAD{i}]" for i in range(len(tokens), size)]
    end = QWEN_PIECES + QWEN_ADDED.index("<|im_end|>")
    write_gguf(m.out / "qwen3-0.6b-q8_0.gguf",
               {"general.architecture": "qwen3", "general.file_type": 7, "general.quantization_version": 2,
                **{"qwen3." + k: v for k, v in QWEN_KEYS.items()},
                "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": tokens,
                "tokenizer.ggml.token_type": kinds, "tokenizer.ggml.merges": [f"{a} {b}" for a, b in pairs],
                "tokenizer.ggml.eos_token_id": end, "tokenizer.ggml.padding_token_id": QWEN_PIECES,
                "tokenizer.ggml.bos_token_id": QWEN_PIECES, "tokenizer.ggml.add_bos_token": False},
               [(e.name, lambda e=e: ("f32" if e.published == "F32" else "q8_0", value(e, m.chance).numpy()))
                for e in text])
    m.entries = audio + text
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("manifest", type=pathlib.Path)
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("--shared", type=pathlib.Path, default=SHARED)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--layout", choices=("openai", "huggingface"), default="openai")
    args.add_argument("--blank", type=float, default=3.0)
    o = args.parse_args()
    torch.set_num_threads(1)
    m = Maker(o.manifest, o.out, o.shared, o.seed, o.layout, o.blank)
    print(m.make(), *m.options)
    print(f"{m.numbers():,} numbers")


if __name__ == "__main__":
    main()
