# SPDX-License-Identifier: Apache-2.0
"""SentencePiece models of the demonstration checkpoints."""
import random

import sentencepiece

from sentencepiece_file import field, varint

TAGS = ["<|zh|>", "<|en|>", "<|yue|>", "<|ja|>", "<|ko|>", "<|nospeech|>", "<|HAPPY|>", "<|SAD|>", "<|ANGRY|>",
        "<|NEUTRAL|>", "<|EMO_UNKNOWN|>", "<|BGM|>", "<|Speech|>", "<|Applause|>", "<|withitn|>", "<|woitn|>"]
BLANK = 0


SPACE = "\u2581"


def train(grammar, prefix, size=256, sentences=20000, seed=17, tags=TAGS, alone=False):
    """Writes PREFIX.model. Every word carries a leading space, the first one too: with tags it is in the text itself
    (the tags come first), without them the model puts it there. alone: the space is a piece of its own."""
    rng = random.Random(seed)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([(" " if tags else "") + grammar.draw(rng) for _ in range(sentences)]),
        model_prefix=str(prefix), model_type="bpe", vocab_size=size, user_defined_symbols=tags + [SPACE] * alone,
        add_dummy_prefix=not tags, remove_extra_whitespaces=not tags, normalization_rule_name="identity",
        character_coverage=1.0, num_threads=1, minloglevel=1)


def append(path, symbols):
    """Puts user-defined symbols behind the pieces of a model: its file ends with them, as lists go on in protobuf."""
    with open(path, "ab") as f:
        for symbol in symbols:
            f.write(field(1, 2, field(1, 2, symbol.encode()) + field(3, 0, varint(4))))


class Tokenizer:
    def __init__(self, path):
        self.model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.size = self.model.get_piece_size()

    def tag(self, name):
        return self.model.piece_to_id(name)

    def words(self, text):
        """The pieces of each word."""
        return [self.model.encode(" " + word) for word in text.split()]

    def text(self, ids):
        return self.model.decode([int(i) for i in ids]).strip()

    def pieces(self):
        return [self.model.id_to_piece(i) for i in range(self.size)]
