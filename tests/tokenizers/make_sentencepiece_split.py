#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains two small SentencePiece models on made-up sentences and writes their pieces and what they make of texts.

Usage: make_sentencepiece_split.py OUT.json
"""
import io
import json
import random
import sys

import sentencepiece

random.seed(4)
SYLLABLES = "ka lo mi ter en sho ra quin ve stol pa nu".split()
WORDS = ["".join(random.choices(SYLLABLES, k=random.randint(1, 4))) for _ in range(60)]
SENTENCES = [" ".join(random.choices(WORDS, k=random.randint(3, 9))) for _ in range(400)]
TEXTS = SENTENCES[:6] + ["kalomi", " two  spaces ", "", "en", "quinquin stolstolstol", "ka-lo", "\u00e9"]
models = []
for kind in "bpe", "unigram":
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(sentence_iterator=iter(SENTENCES), model_writer=out, vocab_size=60,
                                             model_type=kind, character_coverage=1.0, minloglevel=2)
    p = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    models.append({"pieces": [p.IdToPiece(i) for i in range(p.GetPieceSize())],
                   "scores": [p.GetScore(i) for i in range(p.GetPieceSize())],
                   "types": [2 if p.IsUnknown(i) else 3 if p.IsControl(i) else 1 for i in range(p.GetPieceSize())],
                   "texts": [[t, p.EncodeAsIds(t)] for t in TEXTS]})
with open(sys.argv[1], "w") as f:
    json.dump(models, f, separators=(",", ":"))
    f.write("\n")
