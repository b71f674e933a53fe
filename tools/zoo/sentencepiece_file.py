# SPDX-License-Identifier: Apache-2.0
"""Writes SentencePiece models: protocol buffers with a piece, its score and its kind each."""
import struct

UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4
SENSE_VOICE = "zh en yue ja ko nospeech HAPPY SAD ANGRY NEUTRAL EMO_UNKNOWN BGM Speech withitn woitn".split()


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, kind, payload):
    return varint(number << 3 | kind) + (varint(len(payload)) + payload if kind == 2 else payload)


def made_up_pieces(size, tags=(), last=()):
    """(text, kind) of the usual first three, of <|tags|>, and of letters; `last` are the names of the last ones."""
    pieces = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)] + [(f"<|{t}|>", USER_DEFINED) for t in tags]
    letters = "abcdefghijklmnopqrstuvwxyz"
    for i in range(len(pieces), size):
        text, n = "", i
        while n:
            text += letters[n % 26]
            n //= 26
        pieces.append((("\u2581" if i % 2 else "") + text, 1))
    if last:
        pieces[size - len(last):] = [(text, USER_DEFINED) for text in last]
    return pieces[:size]


def sentencepiece_model(size, last=(), tags=SENSE_VOICE):
    model = []
    for i, (text, kind) in enumerate(made_up_pieces(size, tags, last)):
        body = field(1, 2, text.encode()) + field(2, 5, struct.pack("<f", -float(i)))
        model.append(field(1, 2, body + (b"" if kind == 1 else field(3, 0, varint(kind)))))
    return b"".join(model)
