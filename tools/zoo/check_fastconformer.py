# SPDX-License-Identifier: Apache-2.0
"""Checks frontends.py, fastconformer.py and sortformer.py against recorded stages of NeMo's models.

usage: check_fastconformer.py CASE ...  (folders with checkpoint/model.nemo, stages/, input.wav and expected.json)
"""
import io
import json
import sys
import tarfile
import wave
from pathlib import Path

import numpy as np
import torch
import yaml

import fastconformer
import frontends
import sortformer


def check(case):
    stages = {p.stem[3:]: np.load(p) for p in sorted((case / "stages").glob("*.npy"))}
    failed = False

    def compare(stage, got):
        nonlocal failed
        want = stages[stage]
        got = np.asarray(got, np.float32)[: len(want)]
        limit = 1e-4 * max(1.0, np.abs(want).max())
        worst = np.abs(got - want).max() if got.shape == want.shape else np.inf
        failed |= not worst <= limit
        print(f"{stage:24s} {worst:.3g} (limit {limit:.3g}){'' if worst <= limit else '  FAIL'}")

    with tarfile.open(case / "checkpoint" / "model.nemo") as tar:
        config = yaml.safe_load(tar.extractfile("./model_config.yaml"))
        state = torch.load(io.BytesIO(tar.extractfile("./model_weights.ckpt").read()))
    diarizes = "sortformer_modules" in config
    model = (sortformer if diarizes else fastconformer).from_checkpoint(state, config)
    with wave.open(str(case / "input.wav")) as w:
        samples = np.frombuffer(w.readframes(w.getnframes()), "<i2") / 32768.0
    front_end = frontends.nemo(config["preprocessor"]["features"])

    def diarize():
        scaled = samples / (samples.max() + 1e-3)  # of whole recordings
        x = front_end.finish(front_end.log_mel(scaled))
        if config["preprocessor"]["normalize"] == "per_feature":
            x = frontends.per_feature(x)
        trace = {"logmel": x.T}
        rows = model.subsampled(torch.from_numpy(x))
        whole = model.activities(rows, trace)
        if config.get("streaming_mode"):
            x = torch.from_numpy(front_end.finish(front_end.log_mel(samples)))
            probabilities, trace, _ = sortformer.stream(model, x, config["sortformer_modules"])
            trace.update(logmel=x.T, speaker_probs=probabilities, speaker_probs_offline=whole,
                         speaker_probs_async=sortformer.stream(model, x, config["sortformer_modules"], True)[0])
        for stage in stages:
            compare(stage, trace[stage])

    if diarizes:
        with torch.no_grad():
            diarize()
        return failed
    x = front_end.finish(front_end.log_mel(samples))
    if config["preprocessor"]["normalize"] == "per_feature":
        x = frontends.per_feature(x)
    compare("logmel", np.pad(x, ((0, 1), (0, 0))).T)
    # NeMo's batch has one more frame, which it declares invalid.
    x = torch.from_numpy(np.pad(x, ((0, 1), (0, 0))))[None]
    trace = {}
    with torch.no_grad():
        rows, _ = model.encoder(x, torch.tensor([x.shape[1] - 1]), trace)
        trace["encoder_out"] = rows
        for stage in stages:
            if stage in trace:
                compare(stage, trace[stage][0])
        expected = json.loads((case / "expected.json").read_text())
        if isinstance(model, fastconformer.ParakeetCtc):
            compare("logits", model.decoder(rows)[0])
        else:
            said = model.greedy(rows[0])
            want = expected["token_ids"]
            failed |= [label for label, _, _ in said] != want
            print(f"{len(want)} tokens" + ("" if [label for label, _, _ in said] == want else "  FAIL"))
            predicted = model.decoder(torch.tensor([want]))[0]
            compare("pred_out", predicted)
            compare("joint_pred_proj", model.joint.pred(predicted))
            compare("joint_enc_proj", model.joint.enc(rows)[0])
    return failed


def main():
    failed = False
    for case in sys.argv[1:]:
        print(case)
        failed |= check(Path(case))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
