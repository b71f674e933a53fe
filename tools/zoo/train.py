# SPDX-License-Identifier: Apache-2.0
"""Trains the demonstration model.

usage: train.py GRAMMAR DATA OUT [--epochs N | --minutes M] [--dev DATA] [--start WEIGHTS]

DATA is a folder made by synthesize.py. OUT gets bpe.model, am.mvn, last.pt (weights averaged over
the last steps) after every epoch, and the log on standard output. With --minutes the learning rate
falls by the clock, so that training ends in time on any machine; with --epochs it is repeatable.
"""
import argparse
import json
import math
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import features
import sense_voice
import tokenizer
from augment import Augmenter
from synthesize import Grammar

LONG_SHARE = 0.1
IGNORE = -100


class Corpus:
    def __init__(self, folder, bpe):
        with open(Path(folder) / "meta.jsonl") as f:
            self.items = [json.loads(line) for line in f]
        self.store = np.fromfile(Path(folder) / "features.f16", np.float16).reshape(-1, features.BINS)
        for item in self.items:
            item["pieces"] = bpe.words(item["words"])

    def mel(self, item):
        return self.store[item["first"] : item["first"] + item["frames"]]

    def any(self, rng):
        item = self.items[rng.integers(len(self.items))]
        return self.mel(item).astype(np.float32), item["level"]


def place(pieces, starts, frames):
    """The stacked frame that each piece is wanted on: a word's first piece where the word starts
    (frame n stands for 60 n - 30 ms), the others spread over the word."""
    wanted, last, previous = [], -1, None
    for i, (ids, start) in enumerate(zip(pieces, starts)):
        first = (start + 30) / 60
        room = ((starts[i + 1] - start) / 60 if i + 1 < len(starts) else 99) / len(ids)
        for k, piece in enumerate(ids):
            at = max(int(first + k * min(room, 2.5) + 0.5), last + (2 if piece == previous else 1))
            if at >= frames:
                return None
            wanted.append((at, piece))
            last, previous = at, piece
    return wanted


def frame_targets(wanted, frames):
    """Per-frame classes; the neighbours of a placed piece are left free."""
    target = np.full(frames, tokenizer.BLANK, np.int64)
    for at, _ in wanted:
        target[max(0, at - 1) : at + 2] = IGNORE
    for at, piece in wanted:
        target[at] = piece
    return target


class Batches:
    def __init__(self, corpus, bpe, shift, scale, seed, batch, augment=True, nospeech=0.0):
        self.corpus, self.bpe, self.shift, self.scale = corpus, bpe, shift, scale
        self.rng = random.Random(seed)
        self.batch, self.nospeech = batch, nospeech
        self.augmenter = Augmenter(seed, corpus.any) if augment else None
        t = bpe.tag
        self.speech_tags = [t("<|en|>"), t("<|NEUTRAL|>"), t("<|Speech|>")]
        self.other_tags = [t("<|nospeech|>"), t("<|EMO_UNKNOWN|>"), t("<|BGM|>")]
        self.itn_tags = {sense_voice.WITH_ITN: t("<|withitn|>"), sense_voice.WITHOUT_ITN: t("<|woitn|>")}

    def epoch(self):
        """Batches of similar lengths, in random order; about the same number of frames in each."""
        order = list(range(len(self.corpus.items)))
        order.sort(key=lambda i: self.corpus.items[i]["frames"] * self.rng.uniform(0.95, 1.05))
        budget = self.batch * np.mean([i["frames"] for i in self.corpus.items])
        batches, current = [], []
        for i in order:
            if current and (len(current) + 1) * self.corpus.items[i]["frames"] > budget:
                batches.append(current)
                current = []
            current.append(i)
        batches.append(current)
        self.rng.shuffle(batches)
        return batches

    def group(self, indices):
        """Sometimes several utterances are joined to one, so that long recordings are learnt, too."""
        size = 1
        if self.augmenter and self.rng.random() < LONG_SHARE:
            longest = max(self.corpus.items[i]["frames"] for i in indices)
            size = max(1, min(self.rng.randint(2, 6), 2500 // longest))
        return [indices[i : i + size] for i in range(0, len(indices), size)]

    def join(self, group):
        items = [self.corpus.items[i] for i in group]
        mels, pieces, starts, time = [], [], [], 0
        for item in items:
            mels.append(self.corpus.mel(item))
            pieces += item["pieces"]
            starts += [time + s for s in item["starts"]]
            time += 10 * len(mels[-1])
        level = math.sqrt(sum(i["level"] ** 2 for i in items) / len(items))
        return np.concatenate(mels).astype(np.float32), pieces, starts, level

    def make(self, indices):
        rows = []
        for group in self.group(indices):
            language = self.rng.choice([sense_voice.LANGUAGE_AUTO, sense_voice.LANGUAGE_EN])
            itn = self.rng.choice([sense_voice.WITHOUT_ITN, sense_voice.WITHOUT_ITN, sense_voice.WITH_ITN])
            query = sense_voice.queries(language, itn)
            mel, pieces, starts, level = self.join(group)
            pad, tags = 0, self.speech_tags
            if self.augmenter and self.rng.random() < self.nospeech:
                mel = self.augmenter.nospeech()[: max(98, len(mel) + 60)]
                pieces, starts, tags = [], [], self.other_tags
            elif self.augmenter:
                mel, pad = self.augmenter.speech(mel, level)
            x = (features.lfr(mel) + self.shift) * self.scale
            wanted = place(pieces, [s + 10 * pad for s in starts], len(x))
            ids = [p for word in pieces for p in word]
            frame = frame_targets(wanted, len(x)) if wanted is not None else np.full(len(x), IGNORE, np.int64)
            rows.append((x, query, tags + [self.itn_tags[itn]], ids, frame))
        lengths = torch.tensor([len(r[0]) for r in rows])
        longest = int(lengths.max())
        x = np.zeros((len(rows), longest, 560), np.float32)
        frame = np.full((len(rows), longest), IGNORE, np.int64)
        for b, row in enumerate(rows):
            x[b, : len(row[0])] = row[0]
            frame[b, : len(row[0])] = row[4]
        return {"x": torch.from_numpy(x), "lengths": lengths, "query": torch.tensor([r[1] for r in rows]),
                "tags": torch.tensor([r[2] for r in rows]), "frame": torch.from_numpy(frame),
                "ids": torch.tensor([i for r in rows for i in r[3]], dtype=torch.long),
                "counts": torch.tensor([len(r[3]) for r in rows])}


def losses(model, batch):
    logits = model(batch["x"], batch["lengths"], batch["query"])
    log_probs = logits.log_softmax(-1)
    tags = F.nll_loss(log_probs[:, : sense_voice.QUERIES].reshape(-1, logits.shape[-1]), batch["tags"].reshape(-1))
    text = log_probs[:, sense_voice.QUERIES :]
    pieces = batch["counts"].sum().clamp(min=1)
    ctc = F.ctc_loss(text.transpose(0, 1), batch["ids"], batch["lengths"], batch["counts"], blank=tokenizer.BLANK,
                     reduction="sum", zero_infinity=True) / pieces
    frame = F.nll_loss(text.reshape(-1, logits.shape[-1]), batch["frame"].reshape(-1), ignore_index=IGNORE,
                       reduction="sum") / pieces
    return ctc, frame, tags


def greedy(logits):
    ids, previous = [], tokenizer.BLANK
    for i in logits.argmax(-1).tolist():
        if i != previous and i != tokenizer.BLANK:
            ids.append(i)
        previous = i
    return ids


def edits(want, got):
    row = list(range(len(got) + 1))
    for i, w in enumerate(want):
        diagonal, row[0] = row[0], i + 1
        for j, g in enumerate(got):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (w != g))
    return row[-1]


def dev_error(model, batches, bpe):
    wrong = total = 0
    model.eval()
    with torch.no_grad():
        for indices in batches.epoch():
            batch = batches.make(indices)
            logits = model(batch["x"], batch["lengths"], batch["query"])
            for b, i in enumerate(indices):
                rows = logits[b, sense_voice.QUERIES : sense_voice.QUERIES + int(batch["lengths"][b])]
                want = batches.corpus.items[i]["words"].split()
                wrong += edits(want, bpe.text(greedy(rows)).split())
                total += len(want)
    model.train()
    return 100.0 * wrong / total


def statistics(corpus, seed=3, count=600):
    """Mean and spread of augmented features, as the shift and scale of am.mvn."""
    augmenter, rng = Augmenter(seed, corpus.any), random.Random(seed)
    rows = np.concatenate([features.lfr(augmenter.speech(corpus.mel(i), i["level"])[0])
                           for i in rng.sample(corpus.items, min(count, len(corpus.items)))]).astype(np.float64)
    return (-rows.mean(0)).astype(np.float32), (1 / rows.std(0)).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar")
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--dev")
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--start", help="weights to go on from")
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--nospeech", type=float, default=0.04, help="share of noise and silence among the examples")
    parser.add_argument("--steps", type=int, help="stop after so many steps (to measure the speed)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "bpe.model").exists():
        tokenizer.train(Grammar(args.grammar), out / "bpe")
    bpe = tokenizer.Tokenizer(out / "bpe.model")
    corpus = Corpus(args.data, bpe)
    if not (out / "am.mvn").exists():
        features.write_mvn(out / "am.mvn", *statistics(corpus))
    shift, scale = features.read_mvn(out / "am.mvn")
    batches = Batches(corpus, bpe, shift, scale, args.seed, args.batch, nospeech=args.nospeech)
    dev = Batches(Corpus(args.dev, bpe), bpe, shift, scale, 12, args.batch, augment=False) if args.dev else None

    model = sense_voice.SenseVoice(bpe.size)
    if args.start:
        model.load_state_dict(torch.load(args.start))
    average = sense_voice.SenseVoice(bpe.size)
    average.load_state_dict(model.state_dict())
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(corpus.items)} utterances, "
          f"{len(corpus.store) / 360000:.1f} h, {len(batches.epoch())} steps an epoch", flush=True)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01},
                                   {"params": vectors, "weight_decay": 0.0}], lr=args.rate, betas=(0.9, 0.98))
    began, step, epoch, done = time.time(), 0, 0, 0.0
    running = np.zeros(3)
    total_steps = args.epochs * len(batches.epoch())
    while done < 1:
        epoch += 1
        for indices in batches.epoch():
            done = (time.time() - began) / 60 / args.minutes if args.minutes else step / total_steps
            if done >= 1 or (args.steps and step >= args.steps):
                done = 1.0
                break
            rate = args.rate * min(1, (step + 1) / args.warmup) * (0.5 + 0.5 * math.cos(math.pi * done)) + 1e-6
            for group in optimizer.param_groups:
                group["lr"] = rate
            ctc, frame, tags = losses(model, batches.make(indices))
            loss = ctc + 0.5 * frame + 0.2 * tags
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            if torch.isfinite(norm):
                optimizer.step()
            step += 1
            with torch.no_grad():
                keep = min(0.995, step / (step + 20))
                for a, p in zip(average.parameters(), model.parameters()):
                    a.lerp_(p, 1 - keep)
            running += [ctc.item(), frame.item(), tags.item()]
            if step % 250 == 0:
                torch.save(average.state_dict(), out / "last.pt")
            if step % 100 == 0:
                ctc, frame, tags = running / 100
                running[:] = 0
                print(f"step {step} epoch {epoch} rate {rate:.2e} ctc {ctc:.4f} frame {frame:.4f} tags {tags:.4f} "
                      f"{time.time() - began:.0f} s", flush=True)
        torch.save(average.state_dict(), out / "last.pt")
        if dev:
            print(f"epoch {epoch} step {step}: word error rate on clean new sentences {dev_error(average, dev, bpe):.2f} %"
                  f" ({time.time() - began:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
