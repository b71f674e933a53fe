# SPDX-License-Identifier: Apache-2.0
"""Writes sample recordings of sentences that are not in the training data.

usage: samples.py GRAMMAR DATA CHECKPOINT OUT

Says for each sample whether the checkpoint transcribes it word for word. samples.json has texts, voices and the words'
starts in seconds.
"""
import json
import random
import sys
import wave
from pathlib import Path

import synthesize
from evaluate import Recogniser

LONGEST = 3 * 16000
PLANS = [  # file, template, (voice, variant, speed, pitch)
    ("question", "where did {person} leave the {size} {object}", ("en-us", "f2", 160, 55)),
    ("train", "the train to {city} leaves in {number} minutes", ("en-gb-x-rp", "m3", 150, 40)),
    ("shopping", "remind me to buy {item} and {item} {day}", ("en-gb-scotland", "f4", 165, 60)),
]


def main():
    grammar = synthesize.Grammar(sys.argv[1])
    with open(Path(sys.argv[2]) / "meta.jsonl") as f:
        known = {json.loads(line)["words"] for line in f}
    recognise = Recogniser(sys.argv[3], q8=True)
    out = Path(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    espeak, rng, listing, failed = synthesize.Espeak(), random.Random(4), [], False
    for name, template, voice in PLANS:
        text, audio = None, []
        while text is None or text in known or len(audio) > LONGEST:
            text = grammar.expand(rng, template)
            audio, starts = espeak.speak(text, *voice)
            audio = synthesize.to_pcm16(synthesize.resample(audio))
        with wave.open(str(out / f"{name}.wav"), "wb") as w:
            w.setnchannels(1)
            w.setsampwidth(2)
            w.setframerate(16000)
            w.writeframes(audio.tobytes())
        _, got, words = recognise(audio)
        failed |= got != text
        print(f"{name}.wav {len(audio) / 16000:.2f} s: {text}{'' if got == text else ' -> ' + got}")
        listing.append({"file": f"{name}.wav", "text": text, "voice": "+".join(voice[:2]),
                        "speed": voice[2], "pitch": voice[3],
                        "starts": [round(s / synthesize.ESPEAK_RATE, 3) for s in starts]})
    (out / "samples.json").write_text("[\n " + ",\n ".join(map(json.dumps, listing)) + "\n]\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
