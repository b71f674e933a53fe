# SPDX-License-Identifier: Apache-2.0
"""The text side of a reference Qwen3 forced aligner; its network is that of qwen3_asr.py with an output of its own: the
classes of time. What it is asked stands at two timestamps behind each word."""
import unicodedata

import torch

AUDIO, START, END, TIMESTAMP = "<|audio_pad|>", "<|audio_start|>", "<|audio_end|>", "<timestamp>"
IDEOGRAPHS = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B820, 0x2CEAF), (0xF900, 0xFAFF)]


def words_of(text):
    """Letters, digits and apostrophes between white space; every ideograph by itself."""
    words = []
    for part in text.split():
        word = ""
        for letter in part:
            if any(first <= ord(letter) <= last for first, last in IDEOGRAPHS):
                words += [word, letter]
                word = ""
            elif letter == "'" or unicodedata.category(letter)[0] in "LN":
                word += letter
        words.append(word)
    return [word for word in words if word]


def prompt(words, rows):
    """What the model reads of words and so many rows of audio."""
    return START + AUDIO * rows + END + "".join(word + 2 * TIMESTAMP for word in words)


def scores(model, ids, heard, audio, timestamp, trace=None):
    """(timestamps, classes) for ids (1, tokens); `audio` and `timestamp` are the ids of these."""
    at = torch.nonzero(ids[0] == audio)[:, 0]
    x = model(ids, heard, (torch.zeros_like(at), at, torch.arange(len(at))), trace)
    return model.thinker.scores(x[0, ids[0] == timestamp])
