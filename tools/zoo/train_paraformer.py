# SPDX-License-Identifier: Apache-2.0
"""Trains the Paraformer demonstration model.

usage: train_paraformer.py GRAMMAR DATA OUT --sense-voice RUN [--dev DATA] [--epochs N | --minutes M] [--resume] ...
       train_paraformer.py GRAMMAR DATA OUT --start PACKAGED ...

RUN is train_sense_voice.py's output folder: its encoder is what training begins with, its pieces serve the CTC head.
Without it training goes on from a packaged Paraformer, without a CTC head.
OUT gets what export_paraformer.py needs.

Losses: cross entropy of the decoder; where tokens fire: exactly one of the three frames around each wanted one, which
is 90 ms after a token's start, where FunASR's rule for times looks for it; and SenseVoice's CTC head, which keeps the
encoder what it was and is not exported. Where nobody speaks, half of the examples are those of four in which a share
comes nearest to a token (with --workers, which have no model to ask, they are any).

That rule needs shares of exactly 0 and 1: any error of the running sum makes all later words late, and whatever is left
over shifts words behind pauses. So the network may choose the frame, but must choose, and the shares that are exported
are 100 times as sharp as those that are learnt. Shares that are learnt as probabilities of fixed frames (split between
two where it is uncertain) give fewer word errors and useless times.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import features
import frontends
import loop
import packaged
import paraformer
import tokenizer
from synthesize import Grammar

LEARNT_SHARPNESS, SHARPNESS = 4.0, 400.0  # of the shares: a factor of cif_output, folded into its weights on export
NOBODY_WEIGHT, NOBODY_MARGIN = 3.0, 2.0  # of the shares where nobody speaks: of their loss, and added to their logits
SHARP = "predictor.cif_output.weight", "predictor.cif_output.bias"
ENDINGS = ("teen", "room", "day")


class Units:
    """FunASR's list of tokens: words, those with a common ending in two, the first of which has @@ behind it."""

    def __init__(self, bpe, words):
        self.of = {tuple(bpe.words(word)[0]): self.parts(word) for word in words}
        self.tokens = ["<blank>", "<s>", "</s>", *sorted({u for units in self.of.values() for u in units}), "<unk>"]
        self.number = {t: i for i, t in enumerate(self.tokens)}

    @staticmethod
    def parts(word):
        for ending in ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                return [word.removesuffix(ending) + "@@", ending]
        return [word]

    def ids(self, pieces):
        """The tokens of each word, of whose pieces."""
        return [[self.number[u] for u in self.of[tuple(word)]] for word in pieces]

    def text(self, ids):
        return " ".join(self.tokens[i] for i in ids if i > 2).replace("@@ ", "").replace("@@", "")


class WordUnits:
    """The tokens of words where no other pieces are needed."""

    def __init__(self, words, tokens):
        self.tokens, number = tokens, {t: i for i, t in enumerate(tokens)}
        self.of = {word: [number[u] for u in Units.parts(word)] for word in words}

    def words(self, text):
        return [self.of[word] for word in text.split()]

    @staticmethod
    def ids(pieces):
        return pieces

    text = Units.text


class Batches(data.Batches):
    def __init__(self, corpus, units, shift, scale, seed, batch, **more):
        super().__init__(corpus, seed, batch, **more)
        self.units, self.shift, self.scale = units, shift, scale

    def features(self, mel):
        return ((features.lfr(mel) + self.shift) * self.scale).astype(np.float32)

    def collate(self, examples):
        xs, frames, fires, known, tokens = [], [], [], [], []
        for e in examples:
            x = self.features(e.mel)
            units = self.units.ids(e.pieces)
            wanted = data.place(e.pieces, e.starts, len(x), milliseconds=60, lead=30)
            fire = data.place(units, e.starts, len(x), milliseconds=60, lead=90)
            flat = [u for word in units for u in word]
            xs.append(x)
            frames.append(data.frame_targets(wanted, len(x), tokenizer.BLANK))
            fires.append(np.array([at for at, _ in fire] if fire is not None else [0] * len(flat), np.int64))
            known.append(fire is not None)
            tokens.append(np.array(flat, np.int64))
        x, lengths = data.padded(xs)
        tokens, counts = data.padded([*tokens, np.zeros(1, np.int64)], data.IGNORE)  # a column at least
        fires, _ = data.padded([*fires, np.zeros(1, np.int64)])
        tokens, counts, fires = tokens[:-1], counts[:-1], fires[:-1]
        return {"x": torch.from_numpy(x), "lengths": torch.from_numpy(lengths), "tokens": torch.from_numpy(tokens),
                "counts": torch.from_numpy(counts), "fires": torch.from_numpy(fires),
                "known": torch.tensor(known), "frame": torch.from_numpy(data.padded(frames, data.IGNORE)[0]),
                "ids": torch.tensor([i for e in examples for i in e.ids], dtype=torch.long),
                "pieces": torch.tensor([len(e.ids) for e in examples])}


class Trained(torch.nn.Module):
    def __init__(self, tokens, pieces):
        super().__init__()
        self.net = paraformer.Paraformer(tokens)
        self.ctc = torch.nn.Linear(self.net.encoder.size, pieces) if pieces else None

    def shares(self, heard):
        return self.net.predictor(heard) * SHARPNESS


def spell(net, batch, heard, shares):
    """(cross entropy of the decoder, whether a row's number of tokens is right)."""
    lengths, counts, tokens, number = batch["lengths"], batch["counts"], batch["tokens"], shares.sum(1)
    # A row whose number of tokens is right is read as it will be later; the others are scaled to their number.
    right = (number + net.tail).floor() == counts
    scale = torch.where(right | (counts == 0), torch.ones(len(number)), counts / number.clamp(min=1e-3))
    tail = torch.where(right, net.tail, 1e-3)[:, None]
    shares = F.pad(shares * scale[:, None], (0, 1)).scatter_add(1, lengths[:, None], tail)
    rows = paraformer.integrate(shares, F.pad(heard, (0, 0, 0, 1)), tokens.shape[1])
    text = net.decoder(rows, counts, heard, lengths)
    entropy = F.cross_entropy(text.flatten(0, 1), tokens.flatten(), ignore_index=data.IGNORE, reduction="sum")
    return entropy / counts.sum().clamp(min=1), right


def one_of_three(logits, wanted, has, lengths):
    """Minus the log-likelihood of exactly one fire in the three frames around each wanted one (two or one where the
    next token is too near) and none elsewhere."""
    frames = logits.shape[1]
    # Behind the last token the next one is far away; before the first one, too.
    following = F.pad(torch.where(has, wanted, frames + 9)[:, 1:], (0, 1), value=frames + 9)
    before = F.pad(wanted[:, :-1], (1, 0), value=-9)
    at = wanted[:, :, None] + torch.tensor([-1, 0, 1])
    inside = torch.stack([wanted - before > 2, torch.ones_like(has), following - wanted > 1], 2)
    inside &= (at >= 0) & (at < lengths[:, None, None])
    score = logits.gather(1, at.clamp(0, frames - 1).flatten(1)).view(at.shape).masked_fill(~inside, -1e9)
    none = F.logsigmoid(-logits) * (torch.arange(frames)[None] < lengths[:, None])
    return -none.sum(1) - (score.logsumexp(2) * has).sum(1)


@torch.no_grad()
def strongest(model, batches, mels):
    """The largest logit of a share in each of several sounds."""
    x, lengths = (torch.from_numpy(a) for a in data.padded([batches.features(mel) for mel in mels]))
    logits = model.net.predictor(model.net.encode(x, lengths))
    return logits.masked_fill(torch.arange(x.shape[1])[None] >= lengths[:, None], -1e9).amax(1).numpy()


def losses(model, batch):
    net, lengths, counts = model.net, batch["lengths"], batch["counts"]
    heard = net.encode(batch["x"], lengths)
    frames, total = heard.shape[1], counts.sum().clamp(min=1)
    valid = torch.arange(frames)[None] < lengths[:, None]
    has = torch.arange(batch["tokens"].shape[1])[None] < counts[:, None]
    logits = net.predictor(heard) * LEARNT_SHARPNESS
    # One share above one half is a word where nobody speaks, so shares there have to be far below.
    nobody = (counts == 0).float()
    none = one_of_three(logits + NOBODY_MARGIN * nobody[:, None], batch["fires"], has, lengths)
    fire = (none * (1 + (NOBODY_WEIGHT - 1) * nobody) * batch["known"]).sum() / total
    shares = (logits.detach() * (SHARPNESS / LEARNT_SHARPNESS)).sigmoid() * valid
    entropy, right = spell(net, batch, heard, shares)
    parts = {"text": (entropy, 1.0), "fire": (fire, 1.0), "miscounted": (1 - right.float().mean(), 0.0)}
    if model.ctc:
        log_probs = model.ctc(heard).log_softmax(-1)
        ctc = F.ctc_loss(log_probs.transpose(0, 1), batch["ids"], lengths, batch["pieces"], blank=tokenizer.BLANK,
                         reduction="sum", zero_infinity=True)
        frame = F.nll_loss(log_probs.flatten(0, 1), batch["frame"].flatten(), ignore_index=data.IGNORE, reduction="sum")
        parts |= {"ctc": (ctc / total, 0.2), "frame": (frame / total, 0.1)}
    return parts


def begin_with(run, out, args):
    """SenseVoice's encoder, and its pieces: (pieces of words, units, model)."""
    for name in ("bpe.model", "am.mvn"):
        shutil.copyfile(run / name, out / name)
    bpe = tokenizer.Tokenizer(out / "bpe.model")
    units = Units(bpe, Grammar(args.grammar).words)
    model, begin = Trained(len(units.tokens), bpe.size), torch.load(run / "last.pt")
    model.net.encoder.load_state_dict(paraformer.encoder_from_sense_voice(begin))
    model.ctc.load_state_dict({"weight": begin["ctc.ctc_lo.weight"], "bias": begin["ctc.ctc_lo.bias"]})
    torch.nn.init.constant_(model.net.predictor.cif_output.bias, -0.5)
    return bpe, units, model


def go_on_with(args):
    """A packaged Paraformer's tokens: (pieces of words, units, model)."""
    units = WordUnits(Grammar(args.grammar).words, packaged.read(args.start)[0]["tokenizer.ggml.tokens"])
    return units, units, Trained(len(units.tokens), 0)


def recognise(model, batch, row):
    """(token ids, frames where they start) of one utterance of a batch."""
    length = batch["lengths"][row : row + 1]
    heard = model.net.encode(batch["x"][row : row + 1, : int(length)], length)
    shares = F.pad(model.shares(heard).sigmoid(), (0, 1), value=model.net.tail)
    count = int(shares.sum().floor())
    if count == 0:
        return [], []
    rows = paraformer.integrate(shares, F.pad(heard, (0, 0, 0, 1)), count)
    ids = model.net.decoder(rows, torch.tensor([count]), heard, length).argmax(-1)[0].tolist()
    return ids, paraformer.token_times(shares[0].numpy(), count)


def evaluate(model, batches):
    wrong = total = miscounted = 0
    off = []
    for indices in batches.epoch(1):
        batch = batches.make(indices)
        for row, index in enumerate(indices):
            item = batches.corpus.items[index]
            ids, places = recognise(model, batch, row)
            want, got = item["words"].split(), batches.units.text(ids).split()
            wrong, total = wrong + data.edits(want, got), total + len(want)
            miscounted += len(ids) != int(batch["counts"][row])
            if got == want and item["isolated"]:
                first = np.cumsum([0] + [len(u) for u in batches.units.ids(item["pieces"])])[:-1]
                off += [60 * places[k] - start for k, start in zip(first, item["starts"])]
    near = np.mean(np.abs(off) <= 120) if off else 0.0
    return (f"word error rate on clean new sentences {100 * wrong / total:.2f} %, {miscounted} miscounted; "
            f"{100 * near:.1f} % of {len(off)} words start within 120 ms (median {np.median(off or [0]):+.0f} ms)")


def main():
    parser = loop.parser(__doc__, rate=8e-4, seed=21)
    parser.add_argument("--sense-voice", type=Path, help="train_sense_voice.py's output folder")
    args = parser.parse_args()
    out, packed = loop.begin(out=args.out), bool(args.start) and args.start.endswith(".gguf")
    if not args.sense_voice and not packed:
        parser.error("it begins with --sense-voice RUN or a packaged --start")
    bpe, units, model = begin_with(args.sense_voice, out, args) if args.sense_voice else go_on_with(args)
    (out / "tokens.json").write_text(json.dumps(units.tokens, indent=1) + "\n")
    if packed:
        features.write_mvn(out / "am.mvn", *packaged.statistics(args.start, units.tokens))
    more = (units, *features.read_mvn(out / "am.mvn"))
    batches = Batches(data.Corpus(args.data, frontends.KALDI, bpe), *more, args.seed, args.batch,
                      nospeech=args.nospeech, noise=args.noise)
    dev = args.dev and Batches(data.Corpus(args.dev, frontends.KALDI, bpe), *more, 12, args.batch, augment=False)
    if not args.workers:
        batches.score = lambda mels: strongest(model, batches, mels)
    if packed:
        start = packaged.weights(args.start, model.state_dict(), "net.")
        for name in SHARP:
            start[f"net.{name}"] /= SHARPNESS
        args.start = str(out / "start.pt")
        loop.save(args.start, start)
    loop.train(model, batches, losses, out, args, (lambda m: evaluate(m, dev)) if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
