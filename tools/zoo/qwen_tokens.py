# SPDX-License-Identifier: Apache-2.0
"""A small tokenizer of Qwen's kind: byte pairs of which every word of a grammar is one token, with and without a space
in front, and the published models' added tokens."""
import json
import re
from collections import Counter
from pathlib import Path

ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|audio_start|>", "<|audio_end|>", "<|audio_pad|>"]
PLAIN_ADDED = ["<asr_text>"]  # stays in a text
TEMPLATE = ["system", "user", "assistant", "language", "English", "None"]
# What a text is cut into before its bytes are joined, as Qwen's pattern does.
PIECES = re.compile(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:[^\r\n\w]|_)?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|"
                    r"\s+(?!\S)|\s+")


def letters():
    """GPT-2's letter for each byte, in the order of their tokens."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {**{b: chr(b) for b in shown}, **{b: chr(256 + i) for i, b in enumerate(hidden)}}


def in_letters(text):
    return "".join(letters()[b] for b in text.encode())


def merges(words):
    """Pairs, the most frequent one first, until every word is one token."""
    words, pairs = [list(w) for w in words], []
    while True:
        counts = Counter(pair for w in words for pair in zip(w, w[1:]))
        if not counts:
            return pairs
        best = max(counts, key=lambda p: (counts[p], p))
        pairs.append(best)
        for w in words:
            at = 0
            while at + 1 < len(w):
                if (w[at], w[at + 1]) == best:
                    w[at : at + 2] = ["".join(best)]
                at += 1


class Tokenizer:
    """`more`: further added tokens, which stay in a text; template: what prompts have more, as words are; phrases: the
    same, but never behind a space, and numbered last of all; added: tokens with names, special: those that no text
    shows."""

    def __init__(self, words, more=(), template=TEMPLATE, phrases=(), added=(*ADDED, *PLAIN_ADDED), special=ADDED):
        self.known, self.special = sorted(words), special
        space = letters()[32]
        self.pairs = merges([*self.known, *template])
        self.pairs += [(space, w) for w in [*self.known, *template]]
        self.spoken = len(letters()) + len(self.pairs)  # tokens without those of phrases
        self.pairs += merges([in_letters(p) for p in phrases])
        texts = [*letters().values(), *("".join(p) for p in self.pairs)]
        assert len(set(texts)) == len(texts)
        self.vocabulary = {t: i for i, t in enumerate(texts)}
        self.added = {name: len(texts) + i for i, name in enumerate([*added, *more])}
        self.size = -(-(len(texts) + len(self.added)) // 32) * 32
        self.number = {w: i for i, w in enumerate(self.known)}
        self.bare = [self.vocabulary[w] for w in self.known]
        self.spaced = [self.vocabulary[space + w] for w in self.known]
        self.word_of = {i: w for ids in (self.bare, self.spaced) for i, w in zip(ids, self.known)}

    def words(self, text):
        """The number of each word (not of its token), as lists of one."""
        return [[self.number[w]] for w in text.split()]

    def token(self, name):
        """An added token, a word of the template, or the text in GPT-2's letters."""
        return self.added[name] if name in self.added else self.vocabulary[name.replace(" ", letters()[32]).replace(
            "\n", letters()[10])]

    def spell(self, numbers, separator=()):
        """Tokens of words in a row."""
        ids = []
        for n in numbers:
            ids += [*separator, self.spaced[n]] if ids else [self.bare[n]]
        return ids

    def text(self, ids):
        return " ".join(self.word_of.get(int(i), "?") for i in ids)

    def encode(self, text):
        """The tokens of any text, which may name added ones."""
        ids = []
        for part in re.split("(" + "|".join(map(re.escape, self.added)) + ")", text):
            ids += ([self.added[part]] if part in self.added else
                    [i for piece in PIECES.findall(part) for i in self.joined(piece)])
        return ids

    def joined(self, piece):
        """Pairs of neighbours become one token, the one with the lowest number first."""
        parts = list(in_letters(piece))
        while True:
            found = [(self.vocabulary[a + b], i) for i, (a, b) in enumerate(zip(parts, parts[1:]))
                     if a + b in self.vocabulary]
            if not found:
                return [self.vocabulary[p] for p in parts]
            at = min(found)[1]
            parts[at : at + 2] = ["".join(parts[at : at + 2])]

    def write(self, folder):
        write(folder, self.vocabulary, self.pairs, self.added, self.special)


class ByteTokens:
    """A tokenizer without merges: bytes, and added tokens of which some are special."""

    def __init__(self, added, special):
        self.vocabulary = {letter: i for i, letter in enumerate(letters().values())}
        self.added = {name: 256 + i for i, name in enumerate(added)}
        self.special, self.size = special, 256 + len(added)

    def encode(self, text):
        parts, letter = re.split("(" + "|".join(map(re.escape, self.added)) + ")", text), letters()
        return [i for part in parts for i in ([self.added[part]] if part in self.added else
                                              [self.vocabulary[letter[b]] for b in part.encode()])]

    def write(self, folder):
        write(folder, self.vocabulary, [], self.added, self.special)


def write(folder, vocabulary, pairs, added, special):
    """The files of a published tokenizer."""
    folder = Path(folder)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False))
    (folder / "merges.txt").write_text("".join(["#version: 0.2\n", *(f"{a} {b}\n" for a, b in pairs)]))
    entries = {str(i): {"content": name, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
                        "special": name in special} for name, i in added.items()}
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"add_bos_token": False, "add_prefix_space": False, "added_tokens_decoder": entries,
         "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "tokenizer_class": "Qwen2Tokenizer"}, indent=1))


def context(tokenizer, said, rng, most=8):
    """Words for the system prompt, about half of those that stand there are said."""
    words = rng.sample(sorted(set(said)), min(len(set(said)), rng.randint(0, most // 2)))
    words += rng.sample(range(len(tokenizer.known)), rng.randint(1, most - len(words)))
    rng.shuffle(words)
    return tokenizer.spell(dict.fromkeys(words), [tokenizer.token(",")])
