# SPDX-License-Identifier: Apache-2.0
"""Trains the Parakeet demonstration models (FastConformer of NeMo).

usage: train_parakeet.py {hybrid,ctc,eou} GRAMMAR DATA OUT [--epochs N | --minutes M] [--dev DATA] [--start WEIGHTS]
                         [--resume]

hybrid trains an encoder with a CTC head and a TDT head (Parakeet-CTC and Parakeet-TDT can be made of it), ctc one with
a CTC head alone, eou a streaming transducer that ends turns. DATA is a folder made by synthesize.py. OUT gets
bpe.model, last.pt (averaged weights) and state.pt.
"""
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import fastconformer
import frontends
import loop
import packaged
import tokenizer
from augment import NEPER
from synthesize import Grammar

FRONT_END = frontends.nemo(80)
FRAME = 80  # ms from one row to the next
LABELLED = ["decoder.prediction.embed.weight", "joint.joint_net.2.weight", "joint.joint_net.2.bias"]  # a row a piece
MIDDLE, SAID = "layer2_out", 1.0  # the layer and the weight of the heads that tell words
SIZES = {"bands": 80, "layers": 5, "size": 128, "heads": 4, "channels": 32, "hidden": 128, "joint": 128}


def ends(example, wait=0):
    """The time in ms at which each word is over: where the next one starts, or where the speech of its turn ends when
    the next turn begins more than `wait` ms later."""
    times, at = list(example.starts[1:]) + [0], 0
    for i, (count, _, end) in enumerate(example.turns):
        at += count
        if i + 1 == len(example.turns) or example.starts[at] - end > wait:
            times[at - 1] = max(end, example.starts[at - 1] + FRAME)
    return times


def place_at_ends(pieces, starts, over, rows):
    """The row that each piece is wanted on for NeMo's CTC times: a token lies between the row of the token before and
    its own, so a word's last piece is wanted where the next word starts, even behind a gap. The first token lies within
    one row, so the first word needs two pieces. None where the rows do not suffice."""
    wanted, last, previous = [], -1, None
    for i, (ids, start, end) in enumerate(zip(pieces, starts, over)):
        if i == 0:
            start += FRAME
            times = [start + (end - start) * k / max(1, len(ids) - 1) for k in range(len(ids))]
        else:
            times = [start + (end - start) * (k + 1) / len(ids) for k in range(len(ids))]
        for piece, time in zip(ids, times):
            at = max(min(int(time / FRAME + 0.5), rows - 1), last + (2 if piece == previous else 1))
            if at >= rows:
                return None
            wanted.append((at, piece))
            last, previous = at, piece
    return wanted


def halves(bpe):
    """For each piece of more than a character the two that it can be written with; of several pairs the commonest."""
    pieces = bpe.pieces()
    number, out = {piece: i for i, piece in enumerate(pieces)}, {}
    for i, piece in enumerate(pieces):
        pairs = [(number[piece[:k]], number[piece[k:]]) for k in range(1, len(piece))
                 if piece[:k] in number and piece[k:] in number]
        if pairs:
            out[i] = list(min(pairs, key=lambda pair: -sum(map(bpe.model.get_score, pair))))
    return out


class CtcBatches(data.Batches):
    """Words spoken one by one come `alone` times as often as in the data."""

    cut = 0.3  # share of recordings that end with their last word, as detectors cut them
    alone = 1
    wait = 900  # ms that a word is held back until the next one begins

    def __init__(self, corpus, model, bpe, seed, batch, **more):
        if more.get("augment", True):
            corpus.items = corpus.items + [i for i in corpus.items if i["isolated"]] * (self.alone - 1)
        super().__init__(corpus, seed, batch, **more)
        self.blank, self.length, self.halves = model.blank, model.encoder.pre_encode.length, halves(bpe)

    def features(self, mel):
        return frontends.per_feature(self.corpus.front_end.finish(mel))

    def rows(self, example):
        return self.length(self.length(self.length(len(example.mel))))

    def join(self, items):
        """Pauses of up to 1.5 s between the turns, every second time."""
        example, level = super().join(items)
        parts, first, moved, turns, starts = [], 0, 0, [], []
        for item, (count, start, end) in zip(items, example.turns):
            pause = int(self.rng.choice([0, self.rng.uniform(0, 150)])) if item is not items[-1] else self.last_pause()
            parts += [example.mel[first : first + item["frames"]],
                      np.full((pause, example.mel.shape[1]), self.corpus.front_end.floor, np.float32)]
            starts += [s + moved for s in example.starts[len(starts) : len(starts) + count]]
            turns.append((count, start + moved, end + moved))
            first, moved = first + item["frames"], moved + 10 * pause
        mel = np.concatenate(parts)
        if self.augmenter and self.rng.random() < self.cut:
            mel = mel[: int(turns[-1][2] / 10) + 3]
        return data.Example(mel, example.pieces, starts, turns, gaps=example.gaps), level

    def last_pause(self):
        """Frames of silence behind the last turn."""
        return 0

    def collate(self, examples):
        x, lengths = data.padded([self.features(e.mel) for e in examples])
        return {"x": torch.from_numpy(x), "lengths": torch.from_numpy(lengths), **self.targets(examples)}

    def spelt(self, example):
        """The pieces of each word, at least two of the first one."""
        first, *others = example.pieces or [[]]
        return [self.halves.get(first[0], first) if len(first) == 1 else first, *others]

    def targets(self, examples):
        frames, ids = [], []
        for e in examples:
            pieces = self.spelt(e)
            wanted = place_at_ends(pieces, e.starts, ends(e, self.wait), self.rows(e))
            frames.append(data.frame_targets(wanted, self.rows(e), self.blank, before=0))
            ids.append([i for word in pieces for i in word])
        return {"frame": torch.from_numpy(data.padded(frames, data.IGNORE)[0]),
                "ids": torch.tensor([i for own in ids for i in own], dtype=torch.long),
                "counts": torch.tensor([len(own) for own in ids])}


def ctc_losses(head, blank, batch, rows, lengths, weights=(1.0, 0.3)):
    log_probs = head(rows).log_softmax(-1)
    pieces = batch["counts"].sum().clamp(min=1)
    ctc = F.ctc_loss(log_probs.transpose(0, 1), batch["ids"], lengths, batch["counts"], blank=blank,
                     reduction="sum", zero_infinity=True) / pieces
    frame = F.nll_loss(log_probs.flatten(0, 1), batch["frame"].flatten(), ignore_index=data.IGNORE,
                       reduction="sum") / pieces
    return {"ctc": (ctc, weights[0]), "frame": (frame, weights[1])}


def times_losses(model, batch):
    """A CTC model alone, for whose times the rows count more."""
    rows, lengths = model.encoder(batch["x"], batch["lengths"])
    return ctc_losses(model.decoder, model.blank, batch, rows, lengths, (1.0, 0.5))


def path(wanted, rows, blank, durations, late=4, waits=None):
    """What a transducer is to say where, as rows (frame, number of labels said, label, duration): labels at their
    wanted frames and, should it be late, up to `late` frames later (as far as a duration can jump past one); blank
    before. With durations a step goes to the next wanted frame, or as far towards it as a duration can. The label
    `waits` may be said late when the one before it is."""
    steps, begin = [], 0
    longest = max(durations, default=1)
    for said in range(len(wanted) + 1):
        at, label = wanted[said] if said < len(wanted) else (rows, None)
        after = next((t for t, following in wanted[said + 1 :] if following != waits), rows)
        for t in range(begin, min(at, rows)):
            steps.append((t, said, blank, min(longest, max(1, at - t))))
        for t in range(at, min(at + late + 1, max(after, at + 1), rows)):
            steps.append((t, said, label, min(longest, after - t)))
        begin = at
    return steps


class TransducerBatches(CtcBatches):
    boundary = None  # the piece that begins a word, where it is one of its own

    def __init__(self, corpus, model, bpe, seed, batch, **more):
        super().__init__(corpus, model, bpe, seed, batch, **more)
        self.durations = model.durations

    def wanted(self, example):
        """A word's first piece where it starts, the others spread over it; those that do not fit share the last row."""
        rows, out, last = self.rows(example), [], -1
        for ids, start, over in zip(example.pieces, example.starts, ends(example)):
            spread = min(2.5 * FRAME, (over - start) / len(ids))
            for k, piece in enumerate(ids):
                last = min(max(int((start + k * spread) / FRAME + 0.5), last + 1), rows - 1)
                out.append((last, piece))
        return out

    def targets(self, examples):
        steps, labels = [], []
        for b, e in enumerate(examples):
            wanted = self.wanted(e)
            labels.append(np.array([i for _, i in wanted], np.int64))
            steps += [(b, *step) for step in path(wanted, self.rows(e), self.blank, self.durations,
                                                  waits=self.boundary)]
        return {"steps": torch.tensor(steps, dtype=torch.long).view(-1, 5),
                "labels": torch.from_numpy(data.padded(labels, self.blank)[0]), "pieces": max(1, sum(map(len, labels)))}


def losses(model, batch):
    """Transducers: cross entropy along the path through the known frames; much cheaper than the sum over all paths."""
    trace = {}
    rows, lengths = model.encoder(batch["x"], batch["lengths"], trace)
    b, t, said, label, duration = batch["steps"].T
    enc, pred = model.joint.enc(rows), model.joint.pred(model.decoder(batch["labels"]))
    scores = model.joint(enc[b, t], pred[b, said])
    split = model.blank + 1
    parts = {"label": (F.cross_entropy(scores[:, :split], label, reduction="sum") / batch["pieces"], 1.0)}
    if model.durations:
        parts["duration"] = (F.cross_entropy(scores[:, split:], duration, reduction="sum") / batch["pieces"], 0.3)
    if "said" in batch:
        for (name, head), x in zip(model.said.items(), (trace[MIDDLE], rows)):
            entropy = F.cross_entropy(head(x).flatten(0, 1), batch["said"].flatten(), ignore_index=data.IGNORE)
            parts[name] = (entropy, SAID)
    if "ids" in batch:
        parts.update(ctc_losses(model.ctc_decoder, model.blank, batch, rows, lengths))
    return parts


class TimesBatches(CtcBatches):
    long_share, alone = 0.2, 3


class HybridBatches(TransducerBatches):
    def targets(self, examples):
        return {**super().targets(examples), **CtcBatches.targets(self, examples)}


class TurnBatches(TransducerBatches):
    """Turns with pauses, and <EOU> behind each of them. Features are not normalised. The word that was said 80 ms
    before is wanted of two heads that are not exported."""

    long_share, most_joined, cut = 0.5, 5, 0.15
    delay = 120  # ms of silence before <EOU>
    words = {}

    def __init__(self, corpus, model, bpe, seed, batch, **more):
        super().__init__(corpus, model, bpe, seed, batch, **more)
        self.eou, self.boundary = bpe.tag("<EOU>"), bpe.tag(tokenizer.SPACE)
        self.chunk = (model.encoder.window[1] + 1) * FRAME

    def join(self, items):
        """Words that were spoken one by one last as long as there is sound, others up to the next one."""
        example, level = super().join(items)
        over, loud, at = ends(example), example.mel.max(1), 0
        for item in items:
            for i in range(at, at + len(item["pieces"])) if item["isolated"] else ():
                sound = loud[int(example.starts[i] / 10) : max(int(over[i] / 10), int(example.starts[i] / 10) + 1)]
                over[i] = example.starts[i] + 10 * (1 + np.flatnonzero(sound > sound.max() - 40 * NEPER)[-1])
            at += len(item["pieces"])
        example.lasting = [end - start for start, end in zip(example.starts, over)]
        return example, level

    def features(self, mel):
        return self.corpus.front_end.finish(mel)

    def targets(self, examples):
        said = [data.words_said(e, self.words, self.rows(e), FRAME, late=FRAME) for e in examples]
        return {**super().targets(examples), "said": torch.from_numpy(data.padded(said, data.IGNORE)[0])}

    def last_pause(self):
        """Sometimes the sound ends before the last <EOU>."""
        return 0 if self.rng.random() < 0.1 else int(self.rng.uniform(30, 120))

    def begun(self, start):
        """The row that a word's boundary is wanted on: the first one of the chunk whose sound ends up to 160 ms behind
        the word's start, which is 80 ms from that row at most."""
        return int((start + self.chunk / 2) / self.chunk) * self.chunk // FRAME

    def wanted(self, example):
        """A word's boundary as soon as the word is heard, its other pieces where they are over, since a stream has not
        heard more: shares of the word's time, and before the next boundary. Those that do not fit share the last
        row."""
        out, at, last, rows = [], 0, 0, self.rows(example)
        for count, _, end in example.turns:
            begun = [self.begun(start) for start in example.starts[at : at + count]] + [np.inf]
            for i in range(at, at + count):
                (boundary, *ids), start, lasting = example.pieces[i], example.starts[i], example.lasting[i]
                last = max(last, begun[i - at])
                out.append((last, boundary))
                for k, piece in enumerate(ids):
                    time = start + lasting * (k + 1) / len(ids)
                    last = max(last, min(int(time / FRAME + 0.5), begun[i - at + 1]))
                    out.append((last, piece))
            last = max(int((end + self.delay) / FRAME + 1), last + 1)
            out.append((last, self.eou))
            at += count
        return [(min(row, rows - 1), piece) for row, piece in out if row < rows or piece != self.eou]


def renamed_start(model, bpe, path):
    """The weights of a packaged transducer whose pieces are others: those of a piece go to the one of the same name,
    those of a word's first piece to what stands behind the boundary. Pieces that it has not keep their first
    weights."""
    keys, tensors = packaged.read(path)
    own = model.state_dict()
    old = packaged.weights(path, {name: value for name, value in own.items() if name not in LABELLED})
    places = {piece: i for i, piece in enumerate(keys["tokenizer.ggml.tokens"])}
    pairs = [(i, places.get(tokenizer.SPACE + piece, places.get(piece))) for i, piece in enumerate(bpe.pieces())]
    pairs = [(i, j) for i, j in pairs + [(bpe.size, len(places))] if j is not None]
    new, known = map(list, zip(*pairs))
    for name in LABELLED:
        old[name] = own[name].clone()
        old[name][new] = tensors[name][known]
    return old


def streaming_start(old, model, mean, deviation):
    """The nearest start that a trained hybrid model gives a streaming one: what looked ahead is cut off, the batch
    norms' scales are folded into the taps before them, the first kernel takes features that are not normalised."""
    new = model.state_dict()
    own = {k: v.clone() for k, v in new.items()}
    for name, value in old.items():
        if name in own and own[name].shape == value.shape:
            own[name] = value.clone()
    for i in range(SIZES["layers"]):
        at = f"encoder.layers.{i}.conv."
        norm = {k: old[f"{at}batch_norm.{k}"] for k in ("weight", "bias", "running_mean", "running_var")}
        gain = norm["weight"] / (norm["running_var"] + 1e-5).sqrt()
        taps, centre = old[at + "depthwise_conv.weight"] * gain[:, None, None], 4
        own[at + "depthwise_conv.weight"] = F.pad(taps[..., : centre + 1], (centre, 0))
        own[at + "depthwise_conv.bias"] = (old[at + "depthwise_conv.bias"] - norm["running_mean"]) * gain + norm["bias"]
        own[at + "batch_norm.weight"] = torch.full_like(gain, float(norm["weight"].pow(2).mean().sqrt()))
        own[at + "batch_norm.bias"] = torch.zeros_like(gain)
    first = "encoder.pre_encode.conv.0."
    own[first + "weight"] = old[first + "weight"] / deviation
    own[first + "bias"] = old[first + "bias"] - old[first + "weight"].sum((1, 2, 3)) * mean / deviation
    # Band n of the causal subsampling is centred where band n - 1 of the other one is.
    out = old["encoder.pre_encode.out.weight"].view(SIZES["size"], SIZES["channels"], -1)
    own["encoder.pre_encode.out.weight"] = F.pad(out, (1, 0)).flatten(1)
    return own


def packaged_start(model, batches, packages, count=8):
    """The weights of packages, each with what stands before its names; loads them. Packages have no batch norms, so
    each one begins as what changes nothing on the average of `count` batches."""
    own = model.state_dict()
    for path, prefix in packages:
        own.update(packaged.weights(path, own, prefix))
    model.load_state_dict(own)
    norms, seen = [layer.conv.batch_norm for layer in model.encoder.layers], {}
    hooks = [norm.register_forward_pre_hook(lambda norm, x: seen.setdefault(norm, []).append(x[0])) for norm in norms]
    with torch.no_grad():
        model.eval()
        for indices in batches.epoch(0)[:count]:
            batch = batches.make(indices)
            model.encoder(batch["x"], batch["lengths"])
        model.train()
        for norm, hook in zip(norms, hooks):
            hook.remove()
            x = torch.cat(seen[norm])
            norm.running_mean.copy_(x.mean(0))
            norm.running_var.copy_(x.var(0))
            norm.weight.copy_((norm.running_var + norm.eps).sqrt())
            norm.bias.copy_(norm.running_mean)
    return model.state_dict()


FAMILIES = {
    "hybrid": ({"durations": range(5), "ctc": True}, HybridBatches),
    "ctc": ({}, TimesBatches),
    "eou": ({"window": (70, 1)}, TurnBatches),
}


def transcribe(model, batch, bpe):
    """Greedy texts: the transducer's and, where there is a CTC head, that one's."""
    rows, lengths = model.encoder(batch["x"], batch["lengths"])
    if hasattr(model.decoder, "decoder_layers"):
        texts = [bpe.text(data.greedy(model.decoder(r[:n]), model.blank)) for r, n in zip(rows, lengths)]
        return texts, texts
    texts = [bpe.text([label for label, _, _ in model.greedy(r[:n])]).replace("<EOU>", " ")
             for r, n in zip(rows, lengths)]
    if not hasattr(model, "ctc_decoder"):
        return texts, texts
    return texts, [bpe.text(data.greedy(model.ctc_decoder(r[:n]), model.blank)) for r, n in zip(rows, lengths)]


def near(model, batches, bpe, limit=120):
    """Percentage of the words spoken one by one that NeMo's CTC times have within `limit` ms; all of a recording are
    wrong where its text is."""
    good = total = 0
    for indices in batches.epoch(1):
        batch, items = batches.make(indices), [batches.corpus.items[i] for i in indices]
        rows, lengths = model.encoder(batch["x"], batch["lengths"])
        for r, n, item in zip(rows, lengths, items):
            best = [model.blank, *model.decoder(r[:n]).argmax(-1).tolist()]
            said = [(t, i) for t, (before, i) in enumerate(zip(best, best[1:])) if i not in (before, model.blank)]
            starts = [FRAME * (said[k - 1][0] if k else max(0, at - 1)) for k, (at, i) in enumerate(said)
                      if bpe.model.id_to_piece(i).startswith("\u2581")]
            if item["isolated"]:
                total += len(item["starts"])
                if bpe.text([i for _, i in said]) == item["words"]:
                    good += sum(abs(a - b) <= limit for a, b in zip(starts, item["starts"]))
    return 100 * good / total


def main():
    parser = loop.parser(__doc__, (("family", FAMILIES), "grammar", "data", "out"))
    parser.add_argument("--bpe", help="the bpe.model of an earlier run of the family, whose weights are the start")
    parser.add_argument("--ctc", help="hybrid: the packaged CTC model that belongs to the packaged TDT model of "
                        "--start")
    parser.add_argument("--hybrid", help="eou: the weights of a hybrid run to start from")
    parser.add_argument("--keep-subsampling", action="store_true",
                        help="it is not trained further; a fifth less time a step")
    args = parser.parse_args()
    out = loop.begin(out=args.out)
    more, batches = FAMILIES[args.family]
    if not (out / "bpe.model").exists():
        if args.bpe:
            shutil.copyfile(args.bpe, out / "bpe.model")
        else:
            tokenizer.train(Grammar(args.grammar), out / "bpe", tags=[], alone=args.family == "eou")
            if args.family == "eou":
                tokenizer.append(out / "bpe.model", ["<EOU>", "<EOB>"])
    bpe = tokenizer.Tokenizer(out / "bpe.model")
    if args.family == "ctc":
        encoder = {k: SIZES[k] for k in ("bands", "layers", "size", "heads", "channels")}
        model = fastconformer.ParakeetCtc(bpe.size, **encoder)
    else:
        model = fastconformer.Transducer(bpe.size, **SIZES, **more)
    model.encoder.pre_encode.requires_grad_(not args.keep_subsampling)
    if args.family == "eou":
        TurnBatches.words = data.numbered(Grammar(args.grammar).words, bpe)
        model.said = torch.nn.ModuleDict({name: torch.nn.Linear(SIZES["size"], len(TurnBatches.words) + 1)
                                          for name in ("middle", "last")})
    train = batches(data.Corpus(args.data, FRONT_END, bpe), model, bpe, args.seed, args.batch, nospeech=args.nospeech)
    if args.hybrid:
        mel = np.concatenate([train.features(train.example([i]).mel) for i in range(200)])
        loop.save(out / "start.pt", streaming_start(torch.load(args.hybrid), model, float(mel.mean()),
                                                    float(mel.std())))
        args.start = out / "start.pt"
    if args.ctc or (args.family == "ctc" and args.start and args.start.endswith(".gguf")):
        packages = [(args.start, ""), (args.ctc, "ctc_")] if args.ctc else [(args.start, "")]
        loop.save(out / "start.pt", packaged_start(model, train, packages))
        args.start = out / "start.pt"
    if args.start and Path(args.start).suffix == ".gguf" and args.family == "eou":
        loop.save(out / "start.pt", renamed_start(model, bpe, args.start))
        args.start = out / "start.pt"
    dev = args.dev and batches(data.Corpus(args.dev, FRONT_END, bpe), model, bpe, 12, args.batch, augment=False)

    def evaluate(model):
        if args.family == "ctc":
            wrong = data.word_errors(dev, lambda batch: transcribe(model, batch, bpe)[0])
            return (f"word error rate on clean new sentences {wrong:.2f} %, {near(model, dev, bpe):.1f} % of joined "
                    "words in time")
        wrong = [data.word_errors(dev, lambda batch: transcribe(model, batch, bpe)[head]) for head in (0, 1)]
        return f"word error rate on clean new sentences {wrong[0]:.2f} %, CTC {wrong[1]:.2f} %"

    loop.train(model, train, times_losses if args.family == "ctc" else losses, out, args, evaluate if dev else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
