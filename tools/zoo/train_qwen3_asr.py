# SPDX-License-Identifier: Apache-2.0
"""Trains the Qwen3-ASR demonstration model.

usage: train_qwen3_asr.py GRAMMAR DATA OUT [--dev DATA] [--epochs N | --minutes M] [--start WEIGHTS]
                          [--hinted SHARE] ...

OUT gets last.pt. A share of the batches has lists of words in the prompt, about half of which are said; what they are
good for is learnt in noise (--noise). The loss of the language model is the text's alone; a language model learns
slowly where in the sound it is, so that the known word starts make further losses, all of parts that are not exported:
- the word that is being said, in rows of the audio tower (`middle`, `last`) and, 240 ms later, of the language model
  (`heard`, where words that straddle the tower's chunks come together; `before`: the word before it; `begins`);
- the time of each row (`clock`), which the tower does not know beyond its chunk;
- the first head of one layer finds the rows of a text row's own word (`own`, whose time `place` tells), that of the
  next layer those of the word to come (`next`).
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import frontends
import loop
import qwen3_asr
import qwen_tokens
from synthesize import Grammar

FRONT_END = frontends.whisper(128)
TOWER = {"bins": 128, "size": 128, "layers": 4, "heads": 4, "units": 512, "channels": 24, "output": 128}
TEXT = {"size": 128, "layers": 4, "heads": 4, "key_heads": 2, "head": 32, "units": 384}
DELAY = 240  # ms
CLOCK, HEARD, OWN, NEXT = 0, 1, 2, 3  # layers of the language model
PERIODS = np.array([1300.0, 5000.0, 20000.0, 80000.0])
ELSE = -2
CONVOLUTIONS = 1000  # steps in which those of the stem are learnt on a processor, which takes a long time for them


class Trained(torch.nn.Module):
    def __init__(self, vocab, words):
        super().__init__()
        self.net = qwen3_asr.Qwen3Asr(TOWER, {"vocab": vocab, **TEXT})
        text = self.net.thinker.model
        torch.nn.init.normal_(text.embed_tokens.weight, std=0.1)
        with torch.no_grad():
            for layer in text.layers:
                layer.self_attn.o_proj.weight *= 0.5
                layer.mlp.down_proj.weight *= 0.5
        size, kinds = TEXT["size"], words + 1
        self.middle, self.last = torch.nn.Linear(TOWER["size"], kinds), torch.nn.Linear(size, kinds)
        self.heard, self.before, self.begins = (torch.nn.Linear(size, n) for n in (kinds, kinds, 2))
        self.clock, self.place = (torch.nn.Linear(size, 2 * len(PERIODS)) for _ in range(2))


@torch.no_grad()
def scale_stem(tower, x):
    """Makes the stem's values for x (chunks, frames, bins) as large as the positions that are added to them; with the
    usual first weights they are a hundredth of that, and the tower learns next to nothing for hundreds of steps."""
    x = x.transpose(1, 2)[:, None]
    for conv in tower.conv2d1, tower.conv2d2, tower.conv2d3:
        y = conv(x)
        deviation = y.std((0, 2, 3)) + 1e-3
        conv.weight /= deviation[:, None, None, None]
        conv.bias.copy_((conv.bias - y.mean((0, 2, 3))) / deviation)
        x = F.gelu(conv(x))
    y = tower.conv_out(x.permute(0, 3, 1, 2).flatten(2))
    tower.conv_out.weight /= (y - y.mean((0, 1))).std()


def quick_gelu(x):
    """GELU to within 5e-4, in place, twice as quick as torch's."""
    y = x * x
    return y.mul_(0.0713548163).add_(1.5957691216).mul_(x).sigmoid_().mul_(x)


@torch.no_grad()
def quickly_convolved(tower, x):
    return torch.cat([tower.convolved(some, quick_gelu) for some in x.split(4)])


def ends_of(example):
    """When each word is over, in ms."""
    ends, at = [*example.starts[1:], 0], 0
    for count, _, end in example.turns:
        at += count
        ends[at - 1] = max(end, example.starts[at - 1] + 80)
    return ends


def said_at(times, starts, ends, turns):
    """The index of the word that is said at each time, -1 where none is, IGNORE where none knows."""
    said, before = np.full(len(times), data.IGNORE), 0.0
    for _, start, end in turns:
        said[(times >= before) & (times < start - 200)] = -1
        before = end + 300
    said[times >= before] = -1
    for i, (start, end) in enumerate(zip(starts, ends)):
        said[(times >= start) & (times < min(end, start + 700))] = i
    return said


def clock(times):
    angle = np.asarray(times, np.float32)[:, None] * np.float32(2 * np.pi) / PERIODS.astype(np.float32)
    return np.concatenate([np.sin(angle), np.cos(angle)], 1)


class Batches(data.Batches):
    """Utterances with pauses; some end in the middle, as they do while somebody speaks."""

    longest, front_pause, tail_pause = 6000, 0, 0
    hint_share = 0.15  # of the batches: those with a list of words

    def __init__(self, corpus, tokens, seed, batch, **more):
        super().__init__(corpus, seed, batch, **more)
        self.tokens = tokens
        token = tokens.token
        self.front = [token("<|im_start|>"), token("system"), token("\n")]
        self.user = [token("<|im_end|>"), token("\n"), token("<|im_start|>"), token("user"), token("\n"),
                     token("<|audio_start|>")]
        self.answer = [token("<|audio_end|>"), token("<|im_end|>"), token("\n"), token("<|im_start|>"),
                       token("assistant"), token("\n")]
        self.pad, self.end, self.text = token("<|audio_pad|>"), token("<|im_end|>"), token("<asr_text>")
        self.language, self.names = token("language"), (token(" None"), token(" English"))

    def make(self, indices, step=0):
        return {**super().make(indices, step), "step": step}

    def group(self, indices):
        """Sometimes all of a batch, or twice as much, becomes a few recordings."""
        # The same for all of a batch, which is to have about one length.
        self.front_pause, self.tail_pause = (
            self.rng.choice([0, 0, 0, 0, longest])
            for longest in (self.rng.choice([300, 1500]), self.rng.choice([500, 2500])))
        self.hinted = self.augmenter and self.rng.random() < self.hint_share
        if not self.augmenter or self.rng.random() > 0.75:
            return [[i] for i in indices]
        if self.rng.random() < 0.2:
            indices = [*indices, *self.rng.sample(range(len(self.corpus.items)), len(indices))]
            self.rng.shuffle(indices)
        groups = -(-len(indices) // self.rng.choice([2, 3, 4, 5, 7, 99]))
        return [indices[g::groups] for g in range(groups)]

    def pause(self, low, high):
        return np.full((int(self.rng.uniform(low, high) / 10), self.corpus.front_end.bins), self.corpus.front_end.floor,
                       np.float32)

    def join(self, items):
        example, level = super().join(items)
        if not self.augmenter:
            return example, level
        parts, frame, moved, turns, starts = [], 0, 0, [], []
        for n, (item, (count, start, end)) in enumerate(zip(items, example.turns)):
            if n > 0:
                pause = self.pause(0, self.rng.choice([300, 1000, 3000]))
            else:
                pause = self.pause(0, self.front_pause)
            moved += 10 * len(pause)
            parts += [pause, example.mel[frame : frame + item["frames"]]]
            starts += [s + moved for s in example.starts[len(starts) : len(starts) + count]]
            turns.append((count, start + moved, end + moved))
            frame += item["frames"]
        parts.append(self.pause(0, self.tail_pause))
        mel = np.concatenate(parts)[: self.longest]
        return data.Example(mel, example.pieces, starts, turns, gaps=example.gaps), level

    def example(self, group):
        example = super().example(group)
        if not self.augmenter:
            return example
        if not example.speech:
            while len(group) > 2 and len(example.mel) < 2500 and self.rng.random() < 0.7:
                example.mel = np.concatenate([example.mel, self.augmenter.nospeech()])
            return example
        over = 10 * len(example.mel)
        if not example.gaps and self.rng.random() < 0.15:
            cut = self.rng.uniform(example.starts[0] + 300, over)
            over = cut if sum(e <= cut for e in ends_of(example)) > 0 else over
        example.mel = example.mel[: max(20, int(over / 10))]
        example.over = over + 20
        return example

    def collate(self, examples):
        tensors = {name: [] for name in ("x", "ids", "target", "said", "late", "before", "begins", "clock", "own",
                                         "next", "place")}
        places, rows_of = [[], [], []], []
        for n, e in enumerate(examples):
            rows = qwen3_asr.audio_rows(len(e.mel))
            rows_of.append(rows)
            times = np.array(qwen3_asr.row_times(rows), np.float32)
            ends = ends_of(e) if e.speech else []
            words = [w for w, in e.pieces]
            kept = sum(end <= getattr(e, "over", np.inf) for end in ends)
            hint, forced = [], False
            if self.augmenter:
                hint = qwen_tokens.context(self.tokens, words[:kept], self.rng) if self.hinted else []
                forced = self.rng.random() < 0.2
            prompt = [*self.front, *hint, *self.user]
            audio = len(prompt)
            prompt += [*[self.pad] * rows, *self.answer]
            ids = [*prompt, self.language, self.names[e.speech or forced], self.text]
            target = [data.IGNORE] * len(ids)
            if not forced:
                target[len(prompt) - 1 : len(ids) - 1] = ids[len(prompt) :]
            first = len(ids) - 1  # the row that the first word is foretold in
            ids += self.tokens.spell(words[:kept])
            target[first:] = [*ids[first + 1 :], self.end]
            late = said_at(times - DELAY, e.starts, ends, e.turns)
            own, following, place = (np.full(len(ids), data.IGNORE) for _ in range(3))
            spot = {i: np.flatnonzero(late == i) for i in range(kept)}
            for i in range(kept):
                if len(spot[i]):
                    following[first + i], own[first + 1 + i] = i, i
                    place[first + 1 + i] = int(times[spot[i][0]])
            number = np.array([1 + w for w in words] + [0], np.int64)  # [-1]: no word

            def classes(index, of):
                return np.where(index == data.IGNORE, data.IGNORE, of[np.where(index == data.IGNORE, -1, index)])

            new = (late >= 0) & (np.diff(late, prepend=-1) != 0)
            new |= np.append(False, new[:-1])
            told = np.full(len(ids), ELSE)  # the index of the word that each row hears
            told[audio : audio + rows] = np.where(late == data.IGNORE, ELSE, late)
            tensors["x"].append(FRONT_END.finish(e.mel).astype(np.float32))
            tensors["ids"].append(np.array(ids))
            tensors["target"].append(np.array(target))
            tensors["said"].append(classes(said_at(times, e.starts, ends, e.turns), number))
            tensors["late"].append(classes(late, number))
            tensors["before"].append(classes(late, np.append(np.append(0, number[:-2]), 0) if words else number))
            tensors["begins"].append(np.where(late == data.IGNORE, data.IGNORE, new.astype(np.int64)))
            tensors["clock"].append(clock(times))
            tensors["own"].append(own)
            tensors["next"].append(following)
            tensors["place"].append(place)
            e.told = told
            for values, more in zip(places, (np.full(rows, n), audio + np.arange(rows), np.arange(rows))):
                values.append(more)
        out = {name: torch.from_numpy(data.padded(arrays, 0 if name in ("x", "ids", "clock") else data.IGNORE)[0])
               for name, arrays in tensors.items()}
        out["told"] = torch.from_numpy(data.padded([e.told for e in examples], ELSE)[0])
        out["lengths"] = torch.tensor([len(ids) for ids in tensors["ids"]])
        out["frames"] = torch.tensor([len(e.mel) for e in examples])
        out["places"] = tuple(torch.from_numpy(np.concatenate(p)) for p in places)
        return out


def looked(shares, wanted, told):
    """How far the shares of text rows are from lying on rows of the wanted word."""
    example, row = torch.nonzero(wanted >= 0, as_tuple=True)
    right = told[example] == wanted[example, row][:, None]
    return -(shares[example, row] * right).sum(1).clamp(min=1e-6).log().mean()


def losses(model, batch):
    thinker, trace, shares = model.net.thinker, {}, {}
    tower = thinker.audio_tower
    learns = batch["step"] < CONVOLUTIONS or batch["x"].is_cuda
    for conv in tower.conv2d1, tower.conv2d2, tower.conv2d3:
        conv.requires_grad_(learns)
    heard, _ = tower(batch["x"], batch["frames"], trace, None if learns else lambda x: quickly_convolved(tower, x))
    since = int((batch["target"] >= 0).any(0).nonzero()[0])
    x = model.net(batch["ids"], heard, batch["places"], trace, shares, since)
    target = batch["target"][:, since:]
    parts = {"text": (F.cross_entropy(thinker.scores(x[target >= 0]), target[target >= 0]), 1.0)}

    def classes(head, rows, wanted):
        return F.cross_entropy(head(rows).flatten(0, 1), wanted.flatten(), ignore_index=data.IGNORE)

    example, at, row = batch["places"]
    layer = {i: trace[f"decoder_layer{i}_prefill"] for i in (CLOCK, HEARD, OWN)}
    inside = layer[HEARD][example, at][None]
    parts["middle"] = classes(model.middle, trace[f"encoder_layer{TOWER['layers'] // 2 - 1}"], batch["said"]), 0.5
    parts["last"] = classes(model.last, heard, batch["said"]), 0.5
    parts["heard"] = classes(model.heard, inside, batch["late"][example, row][None]), 1.0
    parts["before"] = classes(model.before, layer[OWN][example, at][None], batch["before"][example, row][None]), 1.0
    parts["begins"] = classes(model.begins, inside, batch["begins"][example, row][None]), 0.3
    parts["clock"] = F.mse_loss(model.clock(layer[CLOCK][example, at]), batch["clock"][example, row]), 0.3
    if bool((batch["own"] >= 0).any()):
        parts["own"] = looked(shares[OWN], batch["own"], batch["told"]), 0.3
        parts["next"] = looked(shares[NEXT], batch["next"][:, since:], batch["told"]), 0.3
        known = batch["place"] >= 0
        when = torch.from_numpy(clock(batch["place"][known].cpu().numpy())).to(known.device)
        parts["place"] = F.mse_loss(model.place(layer[OWN][known]), when), 0.3
    return parts


@torch.no_grad()
def written(net, batch, end, most=40):
    """Greedy answers: lists of tokens behind <asr_text>; batches of the test data's own prompts."""
    heard, _ = net.thinker.audio_tower(batch["x"], batch["frames"])
    first = [int(torch.nonzero(t >= 0)[0]) + 3 for t in batch["target"]]  # the row of <asr_text>
    ids = F.pad(batch["ids"], (0, most))
    lengths, over = torch.tensor(first) + 1, torch.zeros(len(first), dtype=torch.bool)
    answers = [[] for _ in first]
    for _ in range(most):
        x = net(ids[:, : int(lengths.max())], heard, batch["places"])
        best = net.thinker.scores(x[torch.arange(len(first)), lengths - 1]).argmax(-1)
        over |= best == end
        if over.all():
            break
        for n in torch.nonzero(~over)[:, 0].tolist():
            answers[n].append(int(best[n]))
            ids[n, lengths[n]] = best[n]
            lengths[n] += 1
    return answers


def evaluate(model, batches):
    def transcribe(batch):
        return [batches.tokens.text(a) for a in written(model.net, batch, batches.end)]

    return f"word error rate on clean new sentences {data.word_errors(batches, transcribe):.2f} %"


def main():
    parser = loop.parser(__doc__, batch=10, seed=61)
    parser.add_argument("--hinted", type=float, default=Batches.hint_share, help="share of batches with lists of words")
    args = parser.parse_args()
    out = loop.begin(out=args.out)
    tokens = qwen_tokens.Tokenizer(Grammar(args.grammar).words)
    model = Trained(tokens.size, len(tokens.known))
    train = Batches(data.Corpus(args.data, FRONT_END, tokens), tokens, args.seed, args.batch, nospeech=args.nospeech,
                    noise=args.noise)
    train.hint_share = args.hinted
    some = [train.example([i]) for i in range(60)]
    chunks = [FRONT_END.finish(e.mel)[: qwen3_asr.CHUNK] for e in some if e.speech and len(e.mel) > qwen3_asr.CHUNK]
    device = model.middle.weight.device
    scale_stem(model.net.thinker.audio_tower, torch.from_numpy(np.stack(chunks)).to(device))
    dev = args.dev and Batches(data.Corpus(args.dev, FRONT_END, tokens), tokens, 12, args.batch, augment=False)
    loop.train(model, train, losses, out, args, (lambda m: evaluate(m, dev)) if dev else None, prefix="net.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
