# SPDX-License-Identifier: Apache-2.0
"""A reference Whisper network in PyTorch with the tensor names of openai's checkpoints, and a small vocabulary in their
layout: byte pairs, then the special tokens, then times in steps of 20 ms."""
import collections
import math

import torch
import torch.nn.functional as F
from torch import nn

ROW = 20  # ms of an encoder row
TIMES = 1501


def sinusoids(rows, depth):
    """Sines, then cosines; the slowest turns once in 10000 * 2 pi rows."""
    rates = torch.exp(torch.arange(depth // 2) * -(math.log(10000.0) / (depth // 2 - 1)))
    angle = torch.arange(rows)[:, None] * rates
    return torch.cat([angle.sin(), angle.cos()], 1)


class Convolution(nn.Conv1d):
    """Three taps, as a product of each frame and its neighbours; (batch, frames, channels)."""

    def forward(self, x):
        x = F.pad(x, (0, 0, 1, 1))
        step, last = self.stride[0], x.shape[1] - 2
        x = torch.cat([x[:, k : k + last : step] for k in range(3)], 2)
        return F.linear(x, self.weight.transpose(1, 2).flatten(1), self.bias)


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.query, self.value, self.out = (nn.Linear(size, size) for _ in range(3))
        self.key = nn.Linear(size, size, bias=False)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, heard, bias=None, seen=None):
        """bias: added to the scores; seen: a list that gets the scores."""
        q, k, v = self.split(self.query(x)), self.split(self.key(heard)), self.split(self.value(heard))
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        if bias is not None:
            scores = scores + bias
        if seen is not None:
            seen.append(scores)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, size, heads, cross=False):
        super().__init__()
        self.attn, self.attn_ln = Attention(size, heads), nn.LayerNorm(size)
        if cross:
            self.cross_attn, self.cross_attn_ln = Attention(size, heads), nn.LayerNorm(size)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))
        self.mlp_ln = nn.LayerNorm(size)

    def forward(self, x, bias=None, heard=None, heard_bias=None, seen=None, read=None):
        y = self.attn_ln(x)
        x = x + self.attn(y, y, bias, read)
        if heard is not None:
            x = x + self.cross_attn(self.cross_attn_ln(x), heard, heard_bias, seen)
        return x + self.mlp(self.mlp_ln(x))


class AudioEncoder(nn.Module):
    def __init__(self, bands, rows, size, heads, layers):
        super().__init__()
        self.conv1, self.conv2 = Convolution(bands, size, 3, padding=1), Convolution(size, size, 3, 2, padding=1)
        self.register_buffer("positional_embedding", sinusoids(rows, size))
        self.blocks = nn.ModuleList([Block(size, heads) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(size)

    def forward(self, x, lengths=None, first=None, trace=None):
        """x: (batch, frames, bands), an even number of frames. A window may be cut short to `lengths` rows, which is
        what training does to save time; it may also begin at row `first`."""
        x = F.gelu(self.conv1(x))
        stages = {"conv1_gelu": x.transpose(1, 2)}
        x = F.gelu(self.conv2(x))
        stages["conv2_gelu"] = x.transpose(1, 2)
        at = torch.arange(x.shape[1])
        positions = self.positional_embedding[: len(at)] if first is None else self.positional_embedding[
            (first[:, None] + at).clamp(max=len(self.positional_embedding) - 1)]
        x = x + positions
        stages["enc_embed"] = x
        bias = cut_bias(lengths, x.shape[1])
        for i, block in enumerate(self.blocks):
            x = block(x, bias)
            stages[f"enc_layer{i}"] = x
        if trace is not None:
            trace.update(stages)
        return self.ln_post(x)


def cut_bias(lengths, rows):
    """Hides what lies behind each window's end."""
    if lengths is None or bool((lengths >= rows).all()):
        return None
    return torch.zeros(len(lengths), rows).masked_fill(torch.arange(rows) >= lengths[:, None], -1e9)[:, None, None]


class TextDecoder(nn.Module):
    def __init__(self, vocabulary, context, size, heads, layers):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, size)
        self.positional_embedding = nn.Parameter(torch.empty(context, size).normal_(std=0.02))
        self.blocks = nn.ModuleList([Block(size, heads, cross=True) for _ in range(layers)])
        self.ln = nn.LayerNorm(size)

    def forward(self, ids, heard, lengths=None, seen=None, trace=None, read=None, where=None):
        """Scores of what follows each token, or each of those that `where`, a mask, tells; seen: a list that gets the
        scores of each block's attention to `heard`, read: of that to the tokens."""
        x = self.token_embedding(ids) + self.positional_embedding[: ids.shape[1]]
        ahead = torch.full((ids.shape[1],) * 2, -1e9).triu(1)
        heard_bias = cut_bias(lengths, heard.shape[1])
        for i, block in enumerate(self.blocks):
            x = block(x, ahead, heard, heard_bias, seen, read)
            if trace is not None:
                trace[f"dec_layer{i}_prompt"] = x
        x = self.ln(x)
        if trace is not None:
            trace["dec_ln_prompt"] = x
        return (x if where is None else x[where]) @ self.token_embedding.weight.T


class Whisper(nn.Module):
    def __init__(self, vocabulary, bands=80, rows=1500, size=128, heads=4, layers=4, context=448, text_layers=3,
                 text_heads=None):
        super().__init__()
        text_heads = text_heads or heads
        self.dims = {"n_mels": bands, "n_audio_ctx": rows, "n_audio_state": size, "n_audio_head": heads,
                     "n_audio_layer": layers, "n_vocab": vocabulary, "n_text_ctx": context, "n_text_state": size,
                     "n_text_head": text_heads, "n_text_layer": text_layers}
        self.encoder = AudioEncoder(bands, rows, size, heads, layers)
        self.decoder = TextDecoder(vocabulary, context, size, text_heads, text_layers)


def from_checkpoint(checkpoint):
    d = checkpoint["dims"]
    model = Whisper(d["n_vocab"], d["n_mels"], d["n_audio_ctx"], d["n_audio_state"], d["n_audio_head"],
                    d["n_audio_layer"], d["n_text_ctx"], d["n_text_layer"], d["n_text_head"])
    model.load_state_dict({k: v.float() for k, v in checkpoint["model_state_dict"].items()})
    return model.eval()


# The vocabulary.

PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
BYTES = PRINTABLE + [b for b in range(256) if b not in PRINTABLE]  # in the order of their tokens
LETTER = {b: chr(b) if b in PRINTABLE else chr(256 + i - len(PRINTABLE)) for i, b in enumerate(BYTES)}


def join(parts, pair):
    out = []
    for part in parts:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out


def learn_merges(counts, number):
    """The byte pairs that are joined, most frequent first; counts: {" word": how often}."""
    words = {word: [bytes([b]) for b in word.encode()] for word in counts}
    merges = []
    while len(merges) < number:
        pairs = collections.Counter()
        for word, parts in words.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = {word: join(parts, best) for word, parts in words.items()}
    return merges


class Tokens:
    """Numbers of all tokens. Texts are words with a space before each."""

    def __init__(self, merges, languages=("en",)):
        self.merges = [tuple(m) for m in merges]
        self.texts = [bytes([b]) for b in BYTES] + [a + b for a, b in self.merges]
        self.rank = {text: i for i, text in enumerate(self.texts)}
        self.special = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{code}|>" for code in languages),
                        "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>",
                        "<|notimestamps|>", *(f"<|{i * 0.02:.2f}|>" for i in range(TIMES))]
        self.size = len(self.texts) + len(self.special)
        self.eot = len(self.texts)
        self.time = self.size - TIMES
        self.known = {}

    def __getitem__(self, name):
        return len(self.texts) + self.special.index(name)

    def spell(self, word):
        """Tokens of " word"."""
        if word not in self.known:
            parts = [bytes([b]) for b in f" {word}".encode()]
            while len(parts) > 1:
                number, at = min((self.rank.get(a + b, self.size), i) for i, (a, b) in enumerate(zip(parts, parts[1:])))
                if number == self.size:
                    break
                parts[at : at + 2] = [parts[at] + parts[at + 1]]
            self.known[word] = [self.rank[p] for p in parts]
        return self.known[word]

    def text(self, ids):
        return b"".join(self.texts[i] for i in ids if i < self.eot).decode(errors="replace").strip()

    def letters(self, text):
        return "".join(LETTER[b] for b in text)
