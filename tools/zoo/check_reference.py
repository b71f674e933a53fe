# SPDX-License-Identifier: Apache-2.0
"""Checks features.py and sense_voice.py against recorded stages of a SenseVoice run.

usage: check_reference.py CASE  (a folder with checkpoint/, stages/ and input.wav)
"""
import sys
import wave
from pathlib import Path

import numpy as np
import torch

import features
import sense_voice


def main():
    case = Path(sys.argv[1])
    stages = {p.stem: np.load(p) for p in sorted((case / "stages").glob("*.npy"))}
    failed = False

    def compare(stage, got):
        nonlocal failed
        want = stages[stage]
        got = np.asarray(got, np.float32)
        limit = 1e-4 * max(1.0, np.abs(want).max())
        worst = np.abs(got - want).max() if got.shape == want.shape else np.inf
        failed |= not worst <= limit
        print(f"{stage:40s} {worst:.3g} (limit {limit:.3g}){'' if worst <= limit else '  FAIL'}")

    with wave.open(str(case / "input.wav")) as w:
        samples = np.frombuffer(w.readframes(w.getnframes()), "<i2") / 32768.0
    mel = features.fbank(samples)
    compare("00_fbank", mel)
    stacked = features.lfr(mel)
    compare("01_lfr", stacked)
    shift, scale = features.read_mvn(case / "checkpoint" / "am.mvn")
    compare("02_cmvn", (stacked + shift) * scale)

    model = sense_voice.from_checkpoint(torch.load(case / "checkpoint" / "model.pt"))

    def run(x, query):
        trace = {}
        with torch.no_grad():
            logits = model(torch.from_numpy(x)[None], torch.tensor([len(x)]), torch.tensor([query]), trace)
        return logits[0], trace

    query = sense_voice.queries()
    compare("03_query_embeds", model.embed.weight.detach()[query])
    logits, trace = run(stages["02_cmvn"], query)
    names = {"04_posenc": "posenc", "12_enc0_out": "enc0", "15_after_norm": "after_norm", "18_tp_norm": "tp_norm"}
    for stage in stages:
        rest = stage[3:].removesuffix("_out")
        if rest in trace:
            names[stage] = rest
    for stage, name in sorted(names.items()):
        compare(stage, trace[name][0])
    compare("19_ctc_logits", logits)
    compare("20_ctc_log_probs", logits.log_softmax(-1))
    logits, _ = run(stages["01_lfr"], sense_voice.queries(itn=sense_voice.WITH_ITN))
    compare("21_variant_no_cmvn_withitn_ctc_logits", logits)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
