# SPDX-License-Identifier: Apache-2.0
"""A reference Sortformer in PyTorch with the tensor names of NeMo's checkpoints, of whole recordings and of streams."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import fastconformer

RATE = 8  # frames of a row
# NeMo's names and defaults, in rows.
STREAM = {"spkcache_len": 188, "fifo_len": 0, "chunk_len": 188, "spkcache_update_period": 188, "chunk_left_context": 1,
          "chunk_right_context": 1, "spkcache_sil_frames_per_spk": 3, "pred_score_threshold": 0.25,
          "scores_boost_latest": 0.05, "sil_threshold": 0.2, "strong_boost_rate": 0.75, "weak_boost_rate": 1.5,
          "min_pos_scores_rate": 0.5}


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        for name in "query_net", "key_net", "value_net", "out_projection":
            self.add_module(name, nn.Linear(size, size))

    def forward(self, x, bias):
        q, k, v = (net(x).unflatten(-1, (self.heads, -1)).transpose(-3, -2)
                   for net in (self.query_net, self.key_net, self.value_net))
        shares = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + bias).softmax(-1)
        return self.out_projection((shares @ v).transpose(-3, -2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, size, units):
        super().__init__()
        self.dense_in, self.dense_out = nn.Linear(size, units), nn.Linear(units, size)

    def forward(self, x):
        return self.dense_out(self.dense_in(x).relu())


class Block(nn.Module):
    """Norms behind the sums."""

    def __init__(self, size, heads, units):
        super().__init__()
        self.first_sub_layer, self.second_sub_layer = Attention(size, heads), FeedForward(size, units)
        self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, x, bias=0.0):
        """Rows (..., rows, size); bias: of the attention, from each row to each row."""
        x = self.layer_norm_1(x + self.first_sub_layer(x, bias))
        return self.layer_norm_2(x + self.second_sub_layer(x))


class Sortformer(nn.Module):
    """encoder: the arguments of fastconformer.Encoder."""

    def __init__(self, encoder, size, heads, units, layers, speakers=4, encoder_type=fastconformer.Encoder):
        super().__init__()
        self.encoder = encoder_type(**encoder)
        self.transformer_encoder = nn.Module()
        self.transformer_encoder.layers = nn.ModuleList(Block(size, heads, units) for _ in range(layers))
        head = self.sortformer_modules = nn.Module()
        head.encoder_proj = nn.Linear(encoder["size"], size)
        head.first_hidden_to_hidden = nn.Linear(size, size)
        head.single_hidden_to_spks = nn.Linear(size, speakers)
        head.hidden_to_spks = nn.Linear(2 * size, speakers)  # no recognition reads it

    def subsampled(self, x):
        """Features (frames, bands) to rows."""
        return self.encoder.pre_encode(x[None], torch.tensor([len(x)]))[0][0]

    def activities(self, rows, trace=None):
        """Rows behind the subsampling to probabilities of the speakers."""
        trace, stages = {} if trace is None else trace, {}
        x, _ = self.encoder.blocks(rows[None], torch.tensor([len(rows)]), stages)
        trace.update({name: y[0] for name, y in stages.items()})
        trace["encoder_out"] = x[0]
        head = self.sortformer_modules
        x = trace["encoder_proj"] = head.encoder_proj(x[0])
        for i, block in enumerate(self.transformer_encoder.layers):
            x = trace[f"transformer_layer{i}"] = block(x)
        trace["transformer_out"] = x
        x = head.single_hidden_to_spks(head.first_hidden_to_hidden(x.relu()).relu()).sigmoid()
        trace["speaker_probs"] = x
        return x


class Stream:
    """What a stream hears again: a cache of rows that tell the speakers, and a FIFO of the last ones."""

    def __init__(self, model, options, asynchronous=False):
        self.model, self.o = model, {**STREAM, **options}
        width, speakers = model.encoder.size, model.sortformer_modules.single_hidden_to_spks.out_features
        self.speakers = speakers
        self.cache, self.fifo, self.silence = torch.zeros(0, width), torch.zeros(0, width), torch.zeros(width)
        self.fifo_preds, self.silent = torch.zeros(0, speakers), 0
        self.cache_preds = torch.zeros(0, speakers) if asynchronous else None  # None: those of each step count
        self.gap = math.inf  # between the scores of rows of which one was kept and the other was not

    def step(self, features, left, right):
        """A chunk with `left` and `right` rows of its neighbours. Returns its probabilities and all stages."""
        chunk, stages = self.model.subsampled(features), {}
        stages["pre_encode"] = chunk
        heard = self.model.activities(torch.cat([self.cache, self.fifo, chunk]), stages)
        stages["model_probs"] = heard
        before, new = len(self.cache) + len(self.fifo), slice(left, len(chunk) - right)
        said = heard[before:][new]
        self.take(chunk[new], heard[: len(self.cache)], torch.cat([heard[len(self.cache) : before], said]))
        stages["mean_sil_emb"] = self.silence
        for name, y in (("fifo", self.fifo), ("fifo_preds", self.fifo_preds), ("spkcache", self.cache),
                        ("spkcache_preds", self.cache_preds)):
            if y is not None and len(y):
                stages[name] = y
        return said, stages

    def take(self, rows, cache_now, fifo_now):
        """New rows, and the probabilities that this step has for the cache and for the FIFO with these rows."""
        o, waiting = self.o, len(self.fifo)
        self.fifo, self.fifo_preds = torch.cat([self.fifo, rows]), fifo_now
        if len(self.fifo) <= o["fifo_len"]:
            return
        count = max(o["spkcache_update_period"], len(rows) - o["fifo_len"] + waiting)
        out, preds = self.fifo[:count], self.fifo_preds[:count]
        self.fifo, self.fifo_preds = self.fifo[count:], self.fifo_preds[count:]
        quiet = out[preds.sum(1) < o["sil_threshold"]]
        if len(quiet):
            self.silence = (self.silence * self.silent + quiet.sum(0)) / (self.silent + len(quiet))
            self.silent += len(quiet)
        self.cache = torch.cat([self.cache, out])
        full = len(self.cache) > o["spkcache_len"]
        if full and self.cache_preds is None:
            self.cache_preds = cache_now
        if self.cache_preds is not None:
            self.cache_preds = torch.cat([self.cache_preds, preds])
        if full:
            self.compress()

    def compress(self):
        kept, self.gap = best_rows(self.cache_preds, self.o, self.gap)
        none = torch.zeros(self.speakers)
        rows = [(self.silence, none) if t is None else (self.cache[t], self.cache_preds[t]) for t in kept]
        self.cache, self.cache_preds = (torch.stack(part) for part in zip(*rows))


def best_rows(p, o, gap=math.inf):
    """Which of a cache's rows with probabilities p (rows, speakers) are kept (None: mean silence), and the smallest gap
    between the scores of rows of which one was kept and the other was not."""
    never, speakers, share = -math.inf, p.shape[1], o["spkcache_len"] // p.shape[1] - o["spkcache_sil_frames_per_spk"]

    def best(scores, count):
        """The largest; of equal ones the first."""
        nonlocal gap
        order = scores.sort(descending=True, stable=True)[1]
        if 0 < count < len(scores):
            a, b = scores[order[count - 1]], scores[order[count]]
            if a != b and math.isfinite(a) and math.isfinite(b):
                gap = min(gap, float(a - b))
        return order[:count]

    speaks = p.clamp(min=o["pred_score_threshold"]).log()
    silent = (1 - p).clamp(min=o["pred_score_threshold"]).log()
    scores = speaks - silent + silent.sum(1, keepdim=True) - math.log(0.5)
    scores[p <= 0.5] = never
    enough = (scores > 0).sum(0) >= math.floor(share * o["min_pos_scores_rate"])
    scores[(scores <= 0) & enough] = never
    scores[o["spkcache_len"] :] += o["scores_boost_latest"]
    for rate, times in (o["strong_boost_rate"], 2), (o["weak_boost_rate"], 1):
        for s in range(speakers):
            scores[best(scores[:, s], math.floor(share * rate)), s] -= times * math.log(0.5)
    quiet = torch.full((o["spkcache_sil_frames_per_spk"], speakers), math.inf)
    scores = torch.cat([scores, quiet]).T.flatten()  # by speaker, then by time
    kept = best(scores, o["spkcache_len"])
    something = kept[scores[kept] > never].sort()[0] % (len(p) + len(quiet))
    rows = [t if t < len(p) else None for t in something.tolist()]
    return rows + [None] * (len(kept) - len(something)), gap


def stream(model, features, options, asynchronous=False):
    """Features (frames, bands) of all of a stream -> probabilities, stages by name, the smallest gap of the cache."""
    s, said, stages = Stream(model, options, asynchronous), [], {}
    for n, begin in enumerate(range(0, len(features), RATE * s.o["chunk_len"])):
        end = min(begin + RATE * s.o["chunk_len"], len(features))
        left = min(begin, RATE * s.o["chunk_left_context"])
        right = min(len(features) - end, RATE * s.o["chunk_right_context"])
        y, trace = s.step(features[begin - left : end + right], left // RATE, -(-right // RATE))
        said.append(y)
        stages.update({f"chunk{n}_{name}": value for name, value in trace.items()})
    return torch.cat(said), stages, s.gap


def from_checkpoint(state, config):
    e, t, m = config["encoder"], config["transformer_encoder"], config["sortformer_modules"]
    model = Sortformer(
        {"bands": e["feat_in"], "layers": e["n_layers"], "size": e["d_model"], "heads": e["n_heads"],
         "channels": e["subsampling_conv_channels"], "kernel": e["conv_kernel_size"], "bias": e.get("use_bias", True),
         "xscaling": e["xscaling"]}, t["hidden_size"], t["num_attention_heads"], t["inner_size"], t["num_layers"],
        m["num_spks"])
    model.load_state_dict({k: v for k, v in state.items() if not k.startswith("preprocessor.")})
    return model.eval()
