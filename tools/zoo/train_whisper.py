# SPDX-License-Identifier: Apache-2.0
"""Trains the Whisper demonstration model.

usage: train_whisper.py GRAMMAR DATA OUT [--dev DATA] [--epochs N | --minutes M] [--resume] ...

OUT gets what export_whisper.py needs. The decoder writes what Whisper's does: times and text, or text alone, behind the
text of earlier windows or without; <|nospeech|> where nobody speaks; for <|translate|> the sentence with its numbers in
digits. Two of its heads learn to attend to the word that is being written: word times are made of these.

With times it writes the first turn of a window and when the next one begins, as Whisper does where a window's end cuts
a turn: the next window begins behind the turn that was written. Later turns of a window were hard to find for so small
a decoder, and there are always more of them. Text without times is that of all turns.

A window of 30 s costs as much as a whole batch of sentences, so most windows are cut short; they then begin at any of
the 1500 rows, so that all times are learnt. From step --long-from on an increasing share is of 30 s, silence behind the
recording and all. Heads that are not exported tell which word is being said in each row, where words start, where in
the window a row is, and, in the decoder, where the next word will be: without the last two, and a head of the decoder
that looks at the last time, words of a window's second turn are looked for in the first.
"""
import json
import math
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import frontends
import loop
import whisper
from synthesize import Grammar

FRONT_END = frontends.whisper(80)
ROW, ROWS = whisper.ROW, 1500
LONGEST_WORD = 900  # ms; what follows is a gap
GAP = 0.15  # share of a word's attention that the gap behind it gets, so that the next word does not begin in it
WRITTEN = 1  # turns of a window with times; the start of the next one follows, and the next window begins before it
PROMPT = 223  # tokens of earlier windows that a window is told at most
FOLLOWED = 6  # how much more a turn that follows counts than none: where one is missed, so is the rest of the window
FIRST = 50  # the latest first time of a window: speech that begins later has this one
MIDDLE = "enc_layer1"
HERE, NEXT = [(0, 0)], [(1, 0), (2, 0)]  # heads that attend to the word read and to the word to be written
SINCE = [(0, 0)]  # heads of the decoder's own attention that look at the last time
SLOW = 8  # from which sine on the encoder's rows shall tell their place: the slower ones turn once in 0.4 s and more
ALIGNMENT_HEADS = NEXT
SMOOTHING = torch.exp(-torch.arange(-3.0, 4.0) ** 2 / 4.5)  # of times: 30 ms

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " \
        "seventeen eighteen nineteen".split()
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
VALUE = {**{w: i for i, w in enumerate(UNITS)}, **{w: 10 * i for i, w in enumerate(TENS)}}


def in_digits(words):
    """[(word, start, end)] with numbers in digits: "two hundred and twenty" is "220", "one two" stays two numbers."""
    out, i = [], 0

    def below_hundred(at):
        """(value, number of words) of what stands there."""
        if at >= len(words) or words[at][0] not in VALUE:
            return 0, 0
        value = VALUE[words[at][0]]
        if value >= 20 and at + 1 < len(words) and 0 < VALUE.get(words[at + 1][0], 0) < 10:
            return value + VALUE[words[at + 1][0]], 2
        return value, 1

    while i < len(words):
        value, n = below_hundred(i)
        if n == 1 and value < 10 and i + 1 < len(words) and words[i + 1][0] == "hundred":
            value, n = 100 * value, 2
            if i + 2 < len(words) and words[i + 2][0] == "and" and below_hundred(i + 3)[1]:
                rest, more = below_hundred(i + 3)
                value, n = value + rest, 3 + more
        if n == 0:
            out.append(words[i])
            i += 1
        else:
            out.append((str(value), words[i][1], words[i + n - 1][2]))
            i += n
    return out


def spell(tokens, word):
    """The tokens of a word. Those of a number are its digits: a hundred numbers have tokens of their own, each so
    rarely said that it is not learnt."""
    if not word.isdigit():
        return tokens.spell(word)
    return tokens.spell(word[0]) + [tokens.rank[digit.encode()] for digit in word[1:]]


class Words:
    """The words of the grammar as the pieces of a corpus: their numbers from 1 on."""

    def __init__(self, grammar):
        self.names = ["", *grammar.words]
        self.number = {w: i for i, w in enumerate(self.names)}

    def words(self, text):
        return [[self.number[w]] for w in text.split()]


def learn_vocabulary(grammar, number=640, sentences=20000, seed=17):
    rng, counts = random.Random(seed), {}
    for _ in range(sentences):
        words = [(w, 0, 0) for w in grammar.draw(rng).split()]
        for word, _, _ in words + in_digits(words):
            counts[f" {word}"] = counts.get(f" {word}", 0) + 1
    return whisper.Tokens(whisper.learn_merges(counts, number))


class Trained(torch.nn.Module):
    def __init__(self, net, words):
        super().__init__()
        self.net = net
        size = net.dims["n_audio_state"]
        self.middle, self.last = torch.nn.Linear(size, words), torch.nn.Linear(size, words)
        self.start, self.place = torch.nn.Linear(size, 1), torch.nn.Linear(size, size)
        self.aim = torch.nn.Linear(size, size)


@torch.no_grad()
def attend_nearby(attention, offsets, sharpness=1.6):
    """Makes the first heads attend to rows at these distances, which their position tells at first: something like a
    convolution to begin with."""
    size, heads = attention.query.weight.shape[0], attention.heads
    depth = size // heads
    n = depth // 2
    rates = torch.exp(torch.arange(n) * -(math.log(10000.0) / (size // 2 - 1)))
    for head, offset in enumerate(offsets):
        q, k = torch.zeros(depth, size), torch.zeros(depth, size)
        for i in range(n):
            sine, cosine = i, size // 2 + i
            c, s = math.cos(rates[i] * offset), math.sin(rates[i] * offset)
            q[i, sine], q[n + i, cosine] = sharpness, sharpness
            # sin(a - o) = sin a cos o - cos a sin o: keys of row a look like queries of row a - o
            k[i, sine], k[i, cosine] = c * sharpness, -s * sharpness
            k[n + i, cosine], k[n + i, sine] = c * sharpness, s * sharpness
        rows = slice(head * depth, (head + 1) * depth)
        attention.query.weight[rows] = q + 0.02 * torch.randn_like(q)
        attention.key.weight[rows] = k + 0.02 * torch.randn_like(k)
        attention.query.bias[rows] = 0


@torch.no_grad()
def begin_well(net, tokens):
    for block, offsets in zip(net.encoder.blocks, [(-3, -1, 1, 3), (-6, -2, 2, 6), (-10, 10), (-4, 4)]):
        attend_nearby(block.attn, offsets)
    table = net.decoder.token_embedding.weight
    table.normal_(std=0.08)
    # Times look like the rows they are times of.
    table[tokens.time :] += 0.25 * net.encoder.positional_embedding[
        torch.arange(whisper.TIMES).clamp(max=len(net.encoder.positional_embedding) - 1)]


def later(example, frames):
    """The example when so many frames have been put in front."""
    example.starts = [s + 10 * frames for s in example.starts]
    example.turns = [(n, start + 10 * frames, end + 10 * frames) for n, start, end in example.turns]
    return example


class Batches(data.Batches):
    long_share, most_joined, longest = 0.45, 3, 1500
    pieces = 0.2  # share of a few words among the examples of one utterance

    def __init__(self, corpus, tokens, words, long_from, long_full, *args, **more):
        super().__init__(corpus, *args, **more)
        self.tokens, self.words, self.long_from, self.long_full = tokens, words, long_from, long_full
        self.isolated = [item for item in corpus.items if item["isolated"]]
        self.numbers = [item for item in corpus.items if sum(w in VALUE for w in item["words"].split()) > 1]

    def make(self, indices, step=0):
        self.rng = random.Random(f"{self.seed} step {step}")
        grown = (step - self.long_from) / max(1, self.long_full - self.long_from)
        if self.augmenter and grown >= 0 and self.rng.random() < 0.1 + 0.15 * min(1, grown):
            self.augmenter.rng = np.random.default_rng([self.seed, step])
            return self.collate([self.window()], long=True)
        return super().make(indices, step)

    # Sound

    def join(self, items, paused=0.2):
        """Utterances with pauses between them, and with this probability before them."""
        rng, mels, pieces, starts, turns, at = self.rng, [], [], [], [], 0
        for i, item in enumerate(items):
            pause = 0
            if self.augmenter and (i > 0 or rng.random() < paused):
                pause = int(rng.uniform(0, 40) if rng.random() < 0.05 else rng.uniform(70, 310))
            mels += [np.full((pause, self.corpus.front_end.bins), self.corpus.front_end.floor, np.float32),
                     self.corpus.mel(item)]
            at += 10 * pause
            pieces += item["pieces"]
            starts += [at + s for s in item["starts"]]
            turns.append((len(item["pieces"]), *(at + t for t in item["span"])))
            at += 10 * item["frames"]
        level = math.sqrt(sum(i["level"] ** 2 for i in items) / len(items))
        return data.Example(np.concatenate(mels).astype(np.float32), pieces, starts, turns), level

    def piece(self, item):
        """A few words of an utterance, cut as a VAD cuts: up to 0.2 s of silence before where the first begins."""
        rng, count = self.rng, len(item["pieces"])
        length = min(count, rng.choice([1, 1, 1, 2, 2, 3, 3, 4, 6, 99]))
        first = rng.randrange(count - length + 1)
        ends = [*item["starts"][1:], 10 * item["frames"]]
        low, high = int(item["starts"][first] / 10), int(ends[first + length - 1] / 10)
        mel = self.corpus.mel(item)[max(0, low) : max(low + 2, high)].astype(np.float32)
        # Words spoken one by one have gaps behind them.
        loud = mel.mean(1)
        over = int(np.flatnonzero(loud > loud.max() - 7)[-1]) + 1
        lead, tail = rng.randrange(21), rng.randrange(4, 30)
        mel = np.concatenate([mel[: over + 5], np.full((tail, mel.shape[1]), self.corpus.front_end.floor, np.float32)])
        silence = np.full((lead, mel.shape[1]), self.corpus.front_end.floor, np.float32)
        starts = [10 * lead + s - 10 * low for s in item["starts"][first : first + length]]
        turn = (length, starts[0], max(starts[-1] + 50, 10.0 * (lead + over)))
        return data.Example(np.concatenate([silence, mel]), item["pieces"][first : first + length], starts, [turn])

    def augmented(self, example, level):
        example.unclear = self.rng.random() < 0.02
        if example.unclear:
            noise = self.augmenter.noise(len(example.mel), level * 10 ** (-self.rng.uniform(-4, 6) / 20))
            example.mel = np.maximum(self.augmenter.add(example.mel, noise), self.augmenter.floor)
        example.mel, pad = self.augmenter.speech(example.mel, level)
        return later(example, pad)

    def example(self, group):
        if not self.augmenter:
            return super().example(group)
        example, level = self.join([self.corpus.items[i] for i in group])
        if len(group) == 1 and self.rng.random() < self.pieces:
            item = self.corpus.items[group[0]] if self.rng.random() < 0.3 else self.rng.choice(self.isolated)
            example, level = self.piece(item), item["level"]
        if self.rng.random() < self.nospeech:
            return data.Example(self.augmenter.nospeech()[: max(98, len(example.mel) + 60)], [], [], [], speech=False)
        return self.augmented(example, level)

    def window(self):
        """An example that fills up to 30 s."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.1:
            mel = np.concatenate([self.augmenter.nospeech() for _ in range(rng.choice([1, 1, 2, 4]))])
            return data.Example(mel[: 2 * ROWS], [], [], [], speech=False)
        most, frames, items = (99 if kind < 0.7 else rng.choice([1, 1, 2, 3])), 0, []
        while frames < 2 * ROWS and len(items) < most:
            # A digit that is said twice is where a decoder that has read a long prompt turns in circles.
            items.append(rng.choice(self.numbers if not items and rng.random() < 0.4 else self.corpus.items))
            frames += items[-1]["frames"]
        # A window begins where the last turn of the one before ended, or a little earlier: then the pause is heard.
        example, level = self.join(items, 0.6)
        if most == 1 and rng.random() < 0.5:
            item = rng.choice(self.isolated if rng.random() < 0.7 else self.corpus.items)
            example, level = self.piece(item), item["level"]
        elif rng.random() < 0.3:
            item = rng.choice(self.corpus.items)
            over = self.corpus.mel(item)[int(item["span"][1] / 10) - rng.randrange(10) :].astype(np.float32)
            example = later(example, len(over))
            example.mel = np.concatenate([over, example.mel])
        if most < 99 and rng.random() < 0.3:  # silence with its noise
            floor = self.corpus.front_end.floor
            example.mel = np.pad(example.mel, ((0, rng.randrange(1500)), (0, 0)), constant_values=floor)
        return self.augmented(example, level)

    def features(self, mel):
        """Loud frames elsewhere in a recording raise the floor."""
        louder = self.rng.uniform(0, 1) if self.augmenter and self.rng.random() < 0.3 else 0
        x = mel / np.float32(np.log(10))
        return (np.maximum(x, np.float32(x.max() - 8 + louder)) + 4) / 4

    # Text

    def prompt(self, example, long):
        """Tokens of earlier windows, or a list of words some of which will be said."""
        rng, t, out = self.rng, self.tokens, []
        unclear = getattr(example, "unclear", False)  # what is hardly to be understood is guessed from a list
        if not self.augmenter or rng.random() > (0.85 if long else 0.7 if unclear else 0.35):
            return out
        if not long and rng.random() < (0.8 if unclear else 0.4):
            listed = [rng.choice(self.words.names[1:]) for _ in range(rng.randint(1, 6))]
            if example.pieces and rng.random() < 0.75:
                listed += [self.words.names[rng.choice(example.pieces)[0]] for _ in range(rng.randint(1, 2))]
            rng.shuffle(listed)
            return [t["<|startofprev|>"], *(i for w in listed for i in t.spell(w))]
        room = PROMPT if long and rng.random() < 0.7 else rng.randint(8, PROMPT if long else 40)
        times, at, turns = rng.random() < 0.85, 0, rng.randrange(WRITTEN)
        while len(out) < room:
            if turns % WRITTEN == 0:  # a window of its own
                at = FIRST if rng.random() < 0.7 else rng.randint(0, FIRST)
            turns += 1
            item = rng.choice(self.corpus.items)
            said = [i for w in item["words"].split() for i in t.spell(w)]
            end = at + item["frames"] // 2
            out += [t.time + at % 1500, *said, t.time + end % 1500] if times else said
            at = end + rng.randint(10, 150)
        return [t["<|startofprev|>"], *out[-room:]]

    def turns(self, example):
        """[(start, end, [(word, start, end)])] in ms"""
        out, at = [], 0
        for count, start, end in example.turns:
            starts = example.starts[at : at + count]
            names = [self.words.names[p[0]] for p in example.pieces[at : at + count]]
            out.append((start, end, list(zip(names, starts, [*starts[1:], end]))))
            at += count
        return out

    def script(self, example, first, rows, long):
        """(tokens, number of tokens that are a prompt, [(first row, row behind, row behind the gap) or None] of each
        token, whether to learn to write each token)"""
        rng, t = self.rng, self.tokens
        times, digits = True, False
        if self.augmenter:
            said = [self.words.names[p[0]] for p in example.pieces]
            times = rng.random() < (0.9 if len(example.turns) > 1 else 0.7)
            digits = rng.random() < (0.55 if any(VALUE.get(w, 0) > 9 for w in said) else 0.15)
        ids = self.prompt(example, long)
        places, learn = [None] * len(ids), [False] * len(ids)

        def put(token, place=None, wanted=True):
            ids.append(token)
            places.append(place)
            learn.append(wanted)

        def time(ms, latest=whisper.TIMES - 1):
            row = min(rows, max(0, round(ms / ROW)))
            put(t.time + min(first + row, latest), (max(0, row - 2), min(rows, row + 3), 0))

        put(t["<|startoftranscript|>"], wanted=False)
        put(t["<|en|>"])
        put(t["<|translate|>" if digits else "<|transcribe|>"], wanted=False)
        if not times:
            put(t["<|notimestamps|>"], wanted=False)
        begin = len(ids)
        if not example.speech:
            learn[begin - (2 if times else 3)] = False
            if times:
                put(t.time)
            put(t.eot, wanted=times)
            return ids, begin, places, learn
        limit, over = ROW * rows, 0
        turns = self.turns(example)
        for n, (start, end, words) in enumerate(turns):
            cut = end > limit - 20
            if cut and start > limit - 40:
                break
            if times:
                time(start, FIRST if n == 0 and first <= FIRST and self.augmenter else whisper.TIMES - 1)
            if times and (cut or n == WRITTEN):
                over = start
                break
            words = [w for w in (in_digits(words) if digits else words) if w[2] <= limit]
            for i, (word, begins, ends) in enumerate(words):
                pieces = spell(t, word)
                following = words[i + 1][1] if i + 1 < len(words) else turns[n + 1][0] if n + 1 < len(turns) else limit
                core = min(ends - begins, LONGEST_WORD * (3 if word.isdigit() else 1))
                for k, piece in enumerate(pieces):
                    low, high = (round((begins + core * part / len(pieces)) / ROW) for part in (k, k + 1))
                    low = min(max(0, low), rows - 1)
                    high = min(rows, max(low + 1, high))
                    gap = min(rows, round(min(following, ends + 3000) / ROW)) if k + 1 == len(pieces) else 0
                    put(piece, (low, high, gap))
                over = ends
            if cut:
                break
            if times:
                time(end)
            over = end
        low = min(rows - 1, round((over + 100) / ROW))
        put(t.eot, (low, min(rows, low + 50), 0))
        return ids, begin, places, learn

    def collate(self, examples, long=False):
        t, features, scripts, said, begun, firsts, lengths = self.tokens, [], [], [], [], [], []
        prompted = self.rng.random() < (0.9 if long else 0.7 if any(len(e.turns) > 1 for e in examples) else 0.3)
        slack = (0 if not self.augmenter else self.rng.randrange(20) if self.rng.random() < 0.9
                 else self.rng.randrange(100))
        for e in examples:
            mel = e.mel[: 2 * ROWS]
            rows = min(ROWS, (len(mel) + 1) // 2)
            length = ROWS if long else min(ROWS, rows + slack)
            first = 0
            if self.augmenter and not long and self.rng.random() < 0.3:
                first = self.rng.randrange(ROWS - length + 1)
            ids, begin, places, learn = self.script(e, first, rows, prompted)
            numbers = [p[0] for p in e.pieces]
            said.append(words_said(numbers, e.starts, e.turns, length))
            begun.append(word_starts(e.starts, length))
            features.append(np.pad(self.features(mel).astype(np.float32), ((0, 2 * length - len(mel)), (0, 0))))
            scripts.append((ids, begin, places, learn))
            firsts.append(first)
            lengths.append(length)
        longest, width = max(lengths), max(len(s[0]) for s in scripts) - 1
        heard = np.zeros((len(examples), width), np.int64)  # what the decoder reads
        wanted = np.full((len(examples), width), data.IGNORE, np.int64)
        here = np.zeros((len(examples), width, longest), np.float32)
        next_ = np.zeros_like(here)
        since = np.zeros((len(examples), width, width), np.float32)
        for b, (ids, begin, places, learn) in enumerate(scripts):
            n = len(ids) - 1
            heard[b, :n] = ids[:-1]
            wanted[b, :n] = [i if yes else data.IGNORE for i, yes in zip(ids[1:], learn[1:])]
            sot = ids.index(t["<|startoftranscript|>"])
            last = None
            for i in range(begin, n):
                last = i if ids[i] >= t.time else last
                if last is not None:
                    since[b, i, last] = 1
            if not examples[b].speech:
                wanted[b, sot] = t["<|nospeech|>"]
            for i, place in enumerate(places):
                if place:
                    row = spread(place, longest)
                    if i > 0:
                        next_[b, i - 1] = row
                    if i < n:
                        here[b, i] = row
        return {"x": torch.from_numpy(data.padded(features)[0]), "lengths": torch.tensor(lengths),
                "first": None if long else torch.tensor(firsts), "heard": torch.from_numpy(heard),
                "wanted": torch.from_numpy(wanted), "here": torch.from_numpy(here), "next": torch.from_numpy(next_),
                "since": torch.from_numpy(since),
                "said": torch.from_numpy(data.padded(said, data.IGNORE)[0]),
                "begun": torch.from_numpy(data.padded(begun)[0])}


def spread(place, rows):
    low, high, gap = place
    row = np.zeros(rows, np.float32)
    share = GAP if gap > high + 5 else 0
    row[low:high] = (1 - share) / (high - low)
    if share:
        row[high:gap] = share / (gap - high)
    return row


def words_said(numbers, starts, turns, rows):
    """The number of the word that each row is in; 0 before and behind speech; rows that may be either are left out."""
    said = np.full(rows, data.IGNORE, np.int64)
    before = 0.0
    for _, start, end in turns:
        said[int(before / ROW) : max(0, int(start / ROW) - 2)] = 0
        before = end + 200
    said[int(before / ROW) :] = 0
    for number, start, following in zip(numbers, starts, [*starts[1:], turns[-1][2] if turns else 0]):
        said[int(start / ROW) : int(min(following, start + 700) / ROW)] = number
    return said


def word_starts(starts, rows):
    begun = np.zeros(rows, np.float32)
    for start in starts:
        at = round(start / ROW)
        begun[max(0, at - 1) : at + 2] = 1
    return begun


def attention_loss(scores, heads, wanted):
    """Cross entropy of some heads' attention and where it should be."""
    total = wanted.sum().clamp(min=1)
    return sum(-(scores[layer][:, head].log_softmax(-1) * wanted).sum() for layer, head in heads) / total / len(heads)


def writing_loss(scores, wanted, time):
    """Cross entropy of text, and of times, where a neighbour is nearly as good."""
    log_probs = scores.log_softmax(-1)
    text = F.nll_loss(log_probs, wanted.masked_fill(wanted >= time, data.IGNORE), ignore_index=data.IGNORE)
    rows = (wanted >= time).nonzero()[:, 0]
    if len(rows) == 0:
        return text, text * 0
    near = wanted[rows, None] + torch.arange(-3, 4)
    weight = SMOOTHING * (near >= time) * (near < time + whisper.TIMES)
    weight = weight / weight.sum(1, keepdim=True)
    near = near.clamp(time, time + whisper.TIMES - 1)
    return text, -(log_probs[rows].gather(1, near) * weight).sum() / len(rows)


def following_loss(scores, heard, wanted, time, eot):
    """Does another turn follow the one whose end was read? Whisper's rules let only a time or the text's end follow."""
    before = F.pad(heard, (1, 0))[:, :-1]
    ended = ((heard >= time) & (before < eot))[wanted != data.IGNORE]
    if not ended.any():
        return scores.sum() * 0
    more = (wanted[wanted != data.IGNORE][ended] >= time).float()
    odds = scores[ended, time:].logsumexp(1) - scores[ended, eot]
    return F.binary_cross_entropy_with_logits(odds, more, 1 + (FOLLOWED - 1) * more)


def losses(model, batch, tokens):
    net, trace, seen, read, time = model.net, {}, [], [], tokens.time
    lengths = batch["lengths"]
    heard = net.encoder(batch["x"], lengths, batch["first"], trace)
    written = batch["wanted"] != data.IGNORE
    scores = net.decoder(batch["heard"], heard, lengths, seen, trace, read, written)
    text, times = writing_loss(scores, batch["wanted"][written], time)
    middle, last = (F.cross_entropy(head(x).flatten(0, 1), batch["said"].flatten(), ignore_index=data.IGNORE)
                    for head, x in ((model.middle, trace[MIDDLE]), (model.last, heard)))
    within = torch.arange(heard.shape[1]) < lengths[:, None]
    start = F.binary_cross_entropy_with_logits(model.start(heard)[..., 0][within], batch["begun"][within])
    first = torch.zeros(len(heard), dtype=torch.long) if batch["first"] is None else batch["first"]
    at = (first[:, None] + torch.arange(heard.shape[1])).clamp(max=ROWS - 1)
    slow = torch.arange(heard.shape[2]) % (heard.shape[2] // 2) >= SLOW
    places = net.encoder.positional_embedding[at]
    place = ((model.place(heard) - places) ** 2)[within][:, slow].mean()
    aimed = batch["next"].sum(2) > 0
    aim = ((model.aim(trace["dec_layer0_prompt"]) - batch["next"] @ places) ** 2)[aimed][:, slow]
    aim = aim.sum() / max(1, aim.numel())
    return {"text": (text, 1.0), "times": (times, 0.6), "next": (attention_loss(seen, NEXT, batch["next"]), 0.5),
            "here": (attention_loss(seen, HERE, batch["here"]), 0.3), "middle": (middle, 1.0), "last": (last, 0.5),
            "start": (start, 0.5), "place": (place, 1.0), "since": (attention_loss(read, SINCE, batch["since"]), 0.3),
            "aim": (aim, 1.0),
            "more": (following_loss(scores, batch["heard"], batch["wanted"], time, tokens.eot), 0.5)}


def write(net, tokens, x, lengths, times=False):
    """Greedy texts."""
    heard = net.encoder(x, lengths)
    ids = torch.tensor([[tokens["<|startoftranscript|>"], tokens["<|en|>"], tokens["<|transcribe|>"]] +
                        ([] if times else [tokens["<|notimestamps|>"]])] * len(x))
    begin = ids.shape[1]
    over = torch.zeros(len(x), dtype=torch.bool)
    while not over.all() and ids.shape[1] < 60:
        following = net.decoder(ids, heard, lengths)[:, -1].argmax(-1)
        over |= following == tokens.eot
        ids = torch.cat([ids, following.masked_fill(over, tokens.eot)[:, None]], 1)
    return [tokens.text(row[begin:]) for row in ids.tolist()]


def evaluate(model, batches, some):
    def transcribe(times, whole):
        def run(batch):
            x, lengths = batch["x"], batch["lengths"]
            if whole:
                x, lengths = F.pad(x, (0, 0, 0, 2 * ROWS - x.shape[1])), None
            return write(model.net, batches.tokens, x, lengths, times)
        return run

    short = data.word_errors(batches, transcribe(False, False))
    whole = data.word_errors(some, transcribe(True, True))
    return (f"word error rate on clean new sentences {short:.2f} %; in windows of 30 s, with times, of a few "
            f"{whole:.2f} %")


def main():
    parser = loop.parser(__doc__, batch=10, seed=41)
    parser.add_argument("--long-from", type=int, default=1200,
                        help="the step from which windows of 30 s are among the others")
    parser.add_argument("--long-full", type=int, default=2800, help="and from which they are three fifths")
    args = parser.parse_args()
    out = loop.begin(out=args.out)
    grammar = Grammar(args.grammar)
    words, tokens = Words(grammar), learn_vocabulary(grammar)
    (out / "merges.json").write_text(json.dumps([[list(a), list(b)] for a, b in tokens.merges]))
    net = whisper.Whisper(tokens.size)
    begin_well(net, tokens)
    train = Batches(data.Corpus(args.data, FRONT_END, words), tokens, words, args.long_from, args.long_full, args.seed,
                    args.batch, nospeech=args.nospeech)
    dev = some = None
    if args.dev:
        dev = Batches(data.Corpus(args.dev, FRONT_END, words), tokens, words, 0, 0, 12, args.batch, augment=False)
        some = Batches(data.Corpus(args.dev, FRONT_END, words), tokens, words, 0, 0, 12, 4, augment=False)
        some.corpus.items = some.corpus.items[:40]
    loop.train(Trained(net, len(words.names)), train, lambda m, b: losses(m, b, tokens), out, args,
               (lambda m: evaluate(m, dev, some)) if dev else None, "net.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
