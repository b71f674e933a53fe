# SPDX-License-Identifier: Apache-2.0
"""A reference Qwen3-ASR model in PyTorch with the tensor names of a checkpoint: an audio tower, whose rows stand in the
prompt of a Qwen3 language model."""
import math

import torch
import torch.nn.functional as F
from torch import nn

CHUNK, CHUNK_ROWS, BLOCK = 100, 13, 104  # frames of a chunk, its rows, rows that see each other


def halved(n):
    return (n + 1) // 2


def thrice_halved(n):
    return halved(halved(halved(n)))


def audio_rows(frames, chunk=CHUNK):
    return frames // chunk * thrice_halved(chunk) + thrice_halved(frames % chunk)


def row_times(rows):
    """The middle of what each row hears first of all, in ms."""
    return [1000 * (r // CHUNK_ROWS) + 80 * (r % CHUNK_ROWS) for r in range(rows)]


def positions(rows, depth):
    rates = torch.exp(torch.arange(depth // 2) * -(math.log(10000.0) / (depth // 2 - 1)))
    angle = torch.arange(rows, dtype=torch.float32)[:, None] * rates
    return torch.cat([angle.sin(), angle.cos()], 1)


def split(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).flatten(2)


class TowerAttention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(size, size) for _ in range(4))

    def forward(self, x, bias):
        q, k, v = (split(p(x), self.heads) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + bias
        return self.out_proj(joined(scores.softmax(-1) @ v))


class TowerLayer(nn.Module):
    def __init__(self, size, heads, units):
        super().__init__()
        self.self_attn = TowerAttention(size, heads)
        self.self_attn_layer_norm, self.final_layer_norm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.fc1, self.fc2 = nn.Linear(size, units), nn.Linear(units, size)

    def forward(self, x, bias):
        x = x + self.self_attn(self.self_attn_layer_norm(x), bias)
        return x + self.fc2(F.gelu(self.fc1(self.final_layer_norm(x))))


class AudioTower(nn.Module):
    def __init__(self, bins, size, layers, heads, units, channels, output, chunk=CHUNK, seen=8):
        """chunk: frames that are convolved together; seen: chunks whose rows see each other."""
        super().__init__()
        self.chunk, self.block = chunk, thrice_halved(chunk) * seen
        self.conv2d1 = nn.Conv2d(1, channels, 3, 2, 1)
        self.conv2d2, self.conv2d3 = (nn.Conv2d(channels, channels, 3, 2, 1) for _ in range(2))
        for conv in self.conv2d1, self.conv2d2, self.conv2d3:
            conv.to(memory_format=torch.channels_last)  # several times as quick on a CPU
        self.conv_out = nn.Linear(thrice_halved(bins) * channels, size, bias=False)
        self.layers = nn.ModuleList(TowerLayer(size, heads, units) for _ in range(layers))
        self.ln_post = nn.LayerNorm(size)
        self.proj1, self.proj2 = nn.Linear(size, size), nn.Linear(size, output)

    def convolved(self, x, gelu=F.gelu):
        """(chunks, frames, bins) -> (chunks, channels, bands, rows)"""
        x = x.transpose(1, 2)[:, None].contiguous(memory_format=torch.channels_last)
        for conv in self.conv2d1, self.conv2d2, self.conv2d3:
            x = gelu(conv(x))
        return x

    def stem(self, x, trace, convolved):
        """(chunks, frames, bins) -> (chunks, rows, size)"""
        x = convolved(x)
        trace["conv3_per_chunk"] = x[None]
        x = self.conv_out(x.permute(0, 3, 1, 2).flatten(2))
        trace["conv_out_per_chunk"] = x[None]
        return x + positions(x.shape[1], x.shape[2])

    def forward(self, x, frames, trace=None, convolved=None):
        """x: (batch, frames, bins), zeros behind the end; frames: of each example; `convolved` may stand in for that of
        this class. Returns rows and how many each has."""
        trace = {} if trace is None else trace
        batch, most, bins = x.shape
        rows = torch.tensor([audio_rows(int(n), self.chunk) for n in frames])
        if most > self.chunk or batch > 1:
            x = F.pad(x, (0, 0, 0, -most % self.chunk))
        x = self.stem(x.reshape(-1, min(self.chunk, x.shape[1]), bins), trace, convolved or self.convolved)
        x = x.reshape(batch, -1, x.shape[2])[:, : int(rows.max())]
        trace["encoder_in"] = x
        total = x.shape[1]
        blocks = -(-total // self.block)
        heard = torch.arange(total)[None] < rows[:, None]
        if blocks > 1:
            more = blocks * self.block - total
            x = F.pad(x, (0, 0, 0, more)).reshape(batch * blocks, self.block, -1)
            heard = F.pad(heard, (0, more)).reshape(batch * blocks, self.block)
        bias = torch.zeros(heard.shape).masked_fill(~heard, -1e4)[:, None, None]
        for i, layer in enumerate(self.layers):
            x = layer(x, bias)
            trace[f"encoder_layer{i}"] = x.reshape(batch, -1, x.shape[2])[:, :total]
        trace["encoder_last_layer"] = trace[f"encoder_layer{len(self.layers) - 1}"]
        x = self.proj2(F.gelu(self.proj1(self.ln_post(trace["encoder_last_layer"]))))
        trace["encoder_out"] = x
        return x, rows


class RmsNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * self.weight


def turn(x, table):
    """Rotary positions: halves of a head belong together."""
    a, b = x.chunk(2, -1)
    cos, sin = table
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class TextAttention(nn.Module):
    def __init__(self, size, heads, key_heads, head):
        super().__init__()
        self.heads, self.key_heads = heads, key_heads
        self.q_proj = nn.Linear(size, heads * head, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(size, key_heads * head, bias=False) for _ in range(2))
        self.o_proj = nn.Linear(heads * head, size, bias=False)
        self.q_norm, self.k_norm = RmsNorm(head), RmsNorm(head)

    def forward(self, x, table, bias, since):
        """Returns the sum of values for the rows from `since` on, and the shares of the first head."""
        q = turn(self.q_norm(split(self.q_proj(x[:, since:]), self.heads)), [t[since:] for t in table])
        k = turn(self.k_norm(split(self.k_proj(x), self.key_heads)), table)
        v = split(self.v_proj(x), self.key_heads)
        k, v = (y.repeat_interleave(self.heads // self.key_heads, 1) for y in (k, v))
        shares = ((q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + bias[since:]).softmax(-1)
        return self.o_proj(joined(shares @ v)), shares[:, 0]


class Mlp(nn.Module):
    def __init__(self, size, units):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(size, units, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(units, size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class TextLayer(nn.Module):
    def __init__(self, size, heads, key_heads, head, units):
        super().__init__()
        self.self_attn = TextAttention(size, heads, key_heads, head)
        self.mlp = Mlp(size, units)
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(size), RmsNorm(size)

    def forward(self, x, table, bias, since=0):
        mixed, shares = self.self_attn(self.input_layernorm(x), table, bias, since)
        x = x[:, since:] + mixed
        return x + self.mlp(self.post_attention_layernorm(x)), shares


class TextModel(nn.Module):
    def __init__(self, vocab, size, layers, heads, key_heads, head, units, theta=1e6):
        super().__init__()
        self.head, self.theta = head, theta
        self.embed_tokens = nn.Embedding(vocab, size)
        self.layers = nn.ModuleList(TextLayer(size, heads, key_heads, head, units) for _ in range(layers))
        self.norm = RmsNorm(size)

    def forward(self, x, trace=None, shares=None, since=0):
        """x: embeddings (batch, rows, size); each row sees those before it. `shares`: a dictionary for the first head's
        of each layer. The last layer is asked for the rows from `since` on."""
        trace = {} if trace is None else trace
        rates = self.theta ** -(torch.arange(0, self.head, 2) / self.head)
        angle = torch.arange(x.shape[1], dtype=torch.float32)[:, None] * rates
        table = angle.cos(), angle.sin()
        bias = torch.full((x.shape[1], x.shape[1]), -1e4).triu(1)
        for i, layer in enumerate(self.layers):
            x, first = layer(x, table, bias, since if i + 1 == len(self.layers) else 0)
            trace[f"decoder_layer{i}_prefill"] = x
            if shares is not None:
                shares[i] = first
        x = self.norm(x)
        trace["decoder_norm_prefill"] = x
        return x


class Thinker(nn.Module):
    def __init__(self, tower, text, outputs):
        super().__init__()
        self.audio_tower, self.model = AudioTower(**tower), TextModel(**text)
        self.lm_head = nn.Linear(text["size"], outputs, bias=False) if outputs else None

    def scores(self, x):
        return self.lm_head(x) if self.lm_head else F.linear(x, self.model.embed_tokens.weight)


class Qwen3Asr(nn.Module):
    """tower, text: the sizes of both networks; outputs: rows of an output of its own (the forced aligner's classes),
    else it is tied to the embedding."""

    def __init__(self, tower, text, outputs=None):
        super().__init__()
        self.thinker = Thinker(tower, text, outputs)

    def forward(self, ids, heard, places, trace=None, shares=None, since=0):
        """ids: (batch, tokens); heard: rows of the audio, put at `places` (example, row of the prompt, row of the
        audio), each (rows)."""
        x = self.thinker.model.embed_tokens(ids)
        example, at, row = places
        x = x.index_put((example, at), heard[example, row])
        if trace is not None:
            trace["decoder_in"] = x
        return self.thinker.model(x, trace, shares, since)


def sizes_of(config):
    """(tower, text) of a checkpoint's config.json."""
    audio, text = config["thinker_config"]["audio_config"], config["thinker_config"]["text_config"]
    return ({"bins": audio["num_mel_bins"], "size": audio["d_model"], "layers": audio["encoder_layers"],
             "heads": audio["encoder_attention_heads"], "units": audio["encoder_ffn_dim"],
             "channels": audio["downsample_hidden_size"], "output": audio["output_dim"],
             "chunk": 2 * audio["n_window"], "seen": audio["n_window_infer"] // (2 * audio["n_window"])},
            {"vocab": text["vocab_size"], "size": text["hidden_size"], "layers": text["num_hidden_layers"],
             "heads": text["num_attention_heads"], "key_heads": text["num_key_value_heads"], "head": text["head_dim"],
             "units": text["intermediate_size"], "theta": float(text["rope_theta"])})


def from_checkpoint(config, weights):
    weights = dict(weights)
    head, table = weights.get("thinker.lm_head.weight"), weights["thinker.model.embed_tokens.weight"]
    if head is not None and head.shape == table.shape and head.equal(table):
        del weights["thinker.lm_head.weight"]
        head = None
    model = Qwen3Asr(*sizes_of(config), None if head is None else len(head))
    model.load_state_dict(weights)
    return model.eval()
