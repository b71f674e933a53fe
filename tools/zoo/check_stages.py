# SPDX-License-Identifier: Apache-2.0
"""Checks the reference networks against recorded stages of the originals.

usage: check_stages.py FAMILY CASE [COMPACT]
FAMILY is paraformer, paraformer_online, ct_punc, u2, fsmn_vad, fun_asr_nano, qwen3_asr, qwen3_aligner or whisper.
CASE is a folder with checkpoint/, stages/, expected.json and, but for ct_punc, input.wav. COMPACT is
tests/golden/paraformer_online or tests/golden/ct_punc: what the original made with the same weights of the same
features in pieces of other sizes, or of other texts.
"""
import json
import sys
import wave
from pathlib import Path

import numpy as np
import torch

import compact_punc
import ct_punc
import features
import frontends
import fsmn_vad
import fun_asr_nano
import paraformer
import paraformer_online
import qwen3_aligner
import qwen3_asr
import safetensors_file
import u2
import whisper


class Case:
    def __init__(self, folder):
        self.folder, self.failed = folder, False
        self.stages = {p.stem[3:]: np.load(p) for p in sorted((folder / "stages").glob("*.npy"))}
        if (folder / "input.wav").exists():
            with wave.open(str(folder / "input.wav")) as w:
                self.samples = np.frombuffer(w.readframes(w.getnframes()), "<i2") / np.float32(32768)
        self.expected = json.loads((folder / "expected.json").read_text())

    def compare(self, stage, got, limit=1e-4):
        want = self.stages[stage]
        self.hold(stage, np.asarray(got, np.float32)[: len(want)], want, limit)

    def hold(self, stage, got, want, limit=1e-4):
        got = np.asarray(got, np.float32)
        limit *= max(1.0, np.abs(want).max())
        worst = np.abs(got - want).max() if got.shape == want.shape else np.inf
        self.failed |= not worst <= limit
        print(f"{stage:40s} {worst:.3g} (limit {limit:.3g}){'' if worst <= limit else '  FAIL'}")

    def trace(self, stages):
        for name, value in stages.items():
            for stage in (name, name + "_out"):
                if stage in self.stages:
                    self.compare(stage, value[0])

    def mvn(self, x):
        shift, scale = features.read_mvn(self.folder / "checkpoint" / "am.mvn")
        return (x + shift) * scale


def check_paraformer(case):
    model = paraformer.from_checkpoint(torch.load(case.folder / "checkpoint" / "model.pt"))
    x = case.mvn(features.lfr(features.fbank(case.samples)))
    case.compare("cmvn", x, 2e-4)
    x, trace = torch.from_numpy(case.stages["cmvn"])[None], {}
    logits, shares = model(x, torch.tensor([x.shape[1]]), trace)
    case.trace(trace)
    case.compare("logits", logits[0])
    # Words begin with one of their tokens.
    got = [int(60 * place) for place in paraformer.token_times(shares[0].numpy(), len(logits[0]))]
    worst = max(min(abs(start - t) for t in got) for start, _ in case.expected["timestamp"])
    case.failed |= worst > 1
    print(f"{'times of words':40s} {worst} ms")


def check_paraformer_online(case):
    model = paraformer_online.from_checkpoint(torch.load(case.folder / "checkpoint" / "model.pt"))
    pieces = [y for name, y in case.stages.items() if name.endswith("feats_before_scaling")]
    case.hold("features", case.mvn(features.lfr(features.fbank(case.samples))), np.concatenate(pieces))
    e = case.expected
    for name, y in paraformer_online.stream(model, pieces, e["chunk_size"], e["encoder_chunk_look_back"],
                                            e["decoder_chunk_look_back"]):
        if name in case.stages:
            case.hold(name, y, case.stages[name])
    if len(sys.argv) < 4:
        return
    compact = Path(sys.argv[3])
    x = np.load(compact / "features.npy")
    for run, e in json.loads((compact / "expected.json").read_text()).items():
        size = e["chunk_size"][1]
        pieces = [x[i : i + size] for i in range(0, len(x), size)]
        if e["tail"]:
            pieces = [p for p in pieces if len(p) == size] + [x[:0]]
        got = list(paraformer_online.stream(model, pieces, e["chunk_size"], e["encoder_look_back"],
                                            e["decoder_look_back"]))
        for stage in "encoder_out", "alphas_raw", "log_probs":
            rows = np.concatenate([y.numpy() for name, y in got if name.endswith(stage)])
            case.hold(f"{run}_{stage}", rows, np.load(compact / f"{run}_{stage}.npy"))


def check_ct_punc(case):
    model = ct_punc.from_checkpoint(torch.load(case.folder / "checkpoint" / "model.pt"))
    tokens = json.loads((case.folder / "checkpoint" / "tokens.json").read_text())
    assert case.expected["words"] == ct_punc.words_of(case.expected["input_text"])
    wanted = case.expected["mini_sentences"]
    names = {"enc0": "enc0_out"}
    for n, got in enumerate(ct_punc.passes(model, tokens, case.expected["input_text"])):
        right = got["ids"] == wanted[n]["ids"] and got["marks"] == wanted[n]["punc"]
        case.failed |= not right
        print(f"{f'ids and marks of pass {n}':40s}{'' if right else '  FAIL'}")
        for name, y in got.items():
            name = f"mini{n}_{names.get(name, name)}"
            if name in case.stages:
                case.hold(name, y, case.stages[name])
    case.failed |= n + 1 != len(wanted)
    if len(sys.argv) < 4:
        return
    tokens = compact_punc.words(len(tokens))
    texts = json.loads((Path(sys.argv[3]) / "expected.json").read_text())["cases"]
    wrong = 0
    for text in texts:
        said = [mark for got in ct_punc.passes(model, tokens, text["text"]) for mark in got["said"]]
        wrong += said[:-1] != text["marks"][:-1]  # a text's last mark is always a full stop or a question mark
    case.failed |= wrong > 0
    print(f"{len(texts)} texts, {wrong} wrong")


def check_fsmn_vad(case):
    model = fsmn_vad.from_checkpoint(torch.load(case.folder / "checkpoint" / "model.pt"))
    x = case.mvn(fsmn_vad.stack(features.fbank(case.samples), 5))
    case.compare("feats_first400", x, 2e-4)
    logits = model(torch.from_numpy(case.mvn(fsmn_vad.stack(case.stages["fbank"], 5)))[None])[0]
    case.compare("logits", logits)
    case.compare("scores", logits.softmax(-1))


def check_u2(case):
    model = u2.from_checkpoint(torch.load(case.folder / "checkpoint" / "final.pt"))
    case.compare("fbank", features.fbank(case.samples, features.POVEY), 1e-3)
    x, trace = torch.from_numpy(case.stages["fbank"])[None], {}
    frames = torch.tensor([x.shape[1]])
    case.compare("cmvn", model.encoder.global_cmvn(x)[0])
    heard, lengths = model.encoder(x, frames, trace=trace)
    case.trace(trace)
    case.compare("encoder_out", heard[0])
    case.compare("ctc_logprobs", model.ctc.ctc_lo(heard)[0].log_softmax(-1))
    for stage in case.stages:
        if stage.startswith("stream_") and stage.endswith("_encoder_out"):
            chunk, left = stage.split("_")[1:3]
            left = -1 if left == "lall" else int(left[1:])
            case.compare(stage, model.encoder(x, frames, int(chunk[1:]), left)[0][0])
    for n, hypothesis in enumerate(
            case.expected["full"]["prefix_beam"]["nbest"][: len(case.stages["decoder_logprobs"])]):
        ids = hypothesis.get("ids", hypothesis.get("tokens"))
        for stage, decoder, way in (("decoder_logprobs", model.decoder.left_decoder, 1),
                                    ("r_decoder_logprobs", model.decoder.right_decoder, -1)):
            got = decoder(torch.tensor([[2, *ids[::way]]]), heard, lengths).log_softmax(-1)[0]
            worst = np.abs(got.numpy() - case.stages[stage][n][: len(ids) + 1]).max()
            case.failed |= worst > 1e-3
            print(f"{stage:40s} {worst:.3g}")


def check_fun_asr_nano(case):
    model = fun_asr_nano.from_checkpoint(torch.load(case.folder / "checkpoint" / "model.pt"))
    tokens, e = fun_asr_nano.byte_tokens(), case.expected
    for name, p in e["prompts_1s_of_zeros"].items():
        before = tokens.encode(fun_asr_nano.SYSTEM + fun_asr_nano.request(**p["args"]))
        right = before == p["prefix_token_ids"] and tokens.encode(fun_asr_nano.ANSWER) == p["suffix_token_ids"]
        case.failed |= not right
        print(f"{'prompt ' + name:40s}{'' if right else '  FAIL'}")
    for _, frames, count in e["samples_lfrframes_faketokenlen"]:
        case.failed |= fun_asr_nano.audio_tokens(frames) != count
    case.hold("fbank", features.fbank(case.samples), case.stages["fbank"])
    case.hold("lfr", features.lfr(case.stages["fbank"]), case.stages["lfr"])
    got = model(torch.from_numpy(case.stages["lfr"]), tokens.encode(fun_asr_nano.SYSTEM + fun_asr_nano.request()),
                tokens.encode(fun_asr_nano.ANSWER))
    for name, want in case.stages.items():
        if name not in ("fbank", "lfr"):
            case.hold(name, got[name], want)


def check_qwen3_asr(case):
    files = sorted((case.folder / "checkpoint").glob("*.safetensors"))
    model = qwen3_asr.from_checkpoint(json.loads((case.folder / "checkpoint" / "config.json").read_text()),
                                      {name: t for file in files for name, t in safetensors_file.read(file).items()})
    ear, trace = frontends.whisper(128), {}
    mel = ear.finish(ear.log_mel(case.samples))
    case.compare("logmel", mel.T)
    heard, _ = model.thinker.audio_tower(torch.from_numpy(mel)[None], torch.tensor([len(mel)]), trace)
    run = case.expected["runs"]["main"]
    ids = torch.tensor(run["prompt_ids"])
    at = torch.nonzero(ids == case.expected["special_ids"]["<|audio_pad|>"])[:, 0]
    places = torch.zeros_like(at), at, torch.arange(len(at))
    model(ids[None], heard, places, trace)
    case.trace(trace)
    path = torch.cat([ids, torch.tensor(run["new_ids"])[:-1]])
    scores = model.thinker.scores(model(path[None], heard, places)[0, len(ids) - 1 :])
    case.compare("logits_last_prefill", scores[0])
    case.compare("logits_greedy_path", scores)


def check_qwen3_aligner(case):
    config = json.loads((case.folder / "checkpoint" / "config.json").read_text())
    model = qwen3_asr.from_checkpoint(config, safetensors_file.read(case.folder / "checkpoint" / "model.safetensors"))
    ear, trace, run = frontends.whisper(128), {}, case.expected["runs"][0]
    mel = ear.finish(ear.log_mel(case.samples))
    case.compare("logmel", mel.T)
    heard, rows = model.thinker.audio_tower(torch.from_numpy(mel)[None], torch.tensor([len(mel)]), trace)
    words = qwen3_aligner.words_of(run["text"])
    short = qwen3_aligner.prompt(words, 1)
    audio, timestamp = config["thinker_config"]["audio_token_id"], config["timestamp_token_id"]
    case.failed |= words != run["words"] or short != run["input_text"] or run["input_ids"].count(audio) != int(rows[0])
    got = qwen3_aligner.scores(model, torch.tensor([run["input_ids"]]), heard, audio, timestamp, trace)
    case.trace({name.replace("_prefill", ""): y for name, y in trace.items()})
    case.hold("logits_at_timestamps", got, case.stages["logits_at_timestamps"])
    case.failed |= got.argmax(-1).tolist() != run["classes"]


def check_whisper(case):
    model = whisper.from_checkpoint(torch.load(case.folder / "checkpoint" / "openai" / "model.pt"))
    front_end = frontends.whisper(model.dims["n_mels"])
    features = front_end.finish(front_end.log_mel(case.samples[:480000]))
    case.compare("logmel", features.T, 2e-4)
    trace = {}
    heard = model.encoder(torch.from_numpy(case.stages["logmel"].T.copy())[None], trace=trace)
    trace["enc_out"] = heard
    first = model.decoder.blocks[0].cross_attn
    trace.update(dec_layer0_cross_k=first.key(heard), dec_layer0_cross_v=first.value(heard))
    scores = model.decoder(torch.tensor([case.expected["fixed_prompt"]]), heard, trace=trace)
    trace["logits_prompt_last2"] = scores[:, -2:]
    case.trace(trace)


def main():
    case = Case(Path(sys.argv[2]))
    with torch.no_grad():
        {"paraformer": check_paraformer, "paraformer_online": check_paraformer_online, "ct_punc": check_ct_punc,
         "u2": check_u2, "fsmn_vad": check_fsmn_vad, "fun_asr_nano": check_fun_asr_nano, "qwen3_asr": check_qwen3_asr,
         "qwen3_aligner": check_qwen3_aligner, "whisper": check_whisper}[sys.argv[1]](case)
    return 1 if case.failed else 0


if __name__ == "__main__":
    sys.exit(main())
