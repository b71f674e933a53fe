# SPDX-License-Identifier: Apache-2.0
"""Trains the U2++ demonstration model.

usage: train_u2.py GRAMMAR DATA OUT [--dev DATA] [--epochs N | --minutes M] [--resume] ...

OUT gets what export_u2.py needs. Half of the batches hear everything, the others a chunk of 1 to 25 rows and all chunks
before it, or some of them. Losses: CTC; frame labels from the known word starts; cross entropy of both decoders; and,
for two heads that are not exported, the word that is being said in each row, which makes the encoder learn several
times as fast as the sparse labels of CTC alone.
"""
import json
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import frontends
import loop
import packaged
import tokenizer
import u2
from augment import Augmenter
from synthesize import Grammar

BLANK, UNKNOWN, SOS = 0, 1, 2  # sos and eos are one
# A piece is wanted so late because WeNet lets a word begin 100 ms before its first piece; it also leaves a stream some
# time to hear what follows.
LEAD = 120
SMOOTHING = 0.1
MIDDLE = "layer2_out"
CONVOLUTIONS = 300  # steps in which those of the subsampling are learnt; they take a third of a step's time
REVERSE = 0.3


def unit_names(bpe):
    """SentencePiece's own numbers serve as the units': its three tags make room for WeNet's."""
    return ["<blank>", "<unk>", "<sos/eos>", *bpe.pieces()[3:]]


class Trained(torch.nn.Module):
    def __init__(self, vocab, words):
        super().__init__()
        self.net = u2.U2(vocab)
        size = self.net.encoder.embed.size
        self.middle, self.last = torch.nn.Linear(size, words + 1), torch.nn.Linear(size, words + 1)


class Batches(data.Batches):
    words = {}

    def make(self, indices, step=0):
        return {**super().make(indices, step), "step": step}

    def collate(self, examples):
        frames, forwards, backwards, said = [], [], [], []
        for e in examples:
            rows = u2.encoder_rows(len(e.mel))
            wanted = data.place(e.pieces, e.starts, rows, milliseconds=10 * u2.RATE, lead=LEAD)
            frames.append(data.frame_targets(wanted, rows, BLANK))
            said.append(data.words_said(e, self.words, rows, milliseconds=10 * u2.RATE))
            forwards.append(np.array([SOS, *e.ids, SOS], np.int64))
            backwards.append(np.array([SOS, *e.ids[::-1], SOS], np.int64))
        x, lengths = data.padded([e.mel.astype(np.float32) for e in examples])
        chunk, left = 0, -1
        if self.augmenter and self.rng.random() < 0.5:
            chunk = self.rng.randint(1, 25)
            left = self.rng.randint(1, 20) if self.rng.random() < 0.2 else -1
        return {"x": torch.from_numpy(x), "lengths": torch.from_numpy(lengths), "chunk": chunk, "left": left,
                "frame": torch.from_numpy(data.padded(frames, data.IGNORE)[0]),
                "said": torch.from_numpy(data.padded(said, data.IGNORE)[0]),
                "ids": torch.tensor([i for e in examples for i in e.ids], dtype=torch.long),
                "counts": torch.tensor([len(e.ids) for e in examples]),
                "forward": torch.from_numpy(data.padded(forwards, data.IGNORE)[0]),
                "backward": torch.from_numpy(data.padded(backwards, data.IGNORE)[0])}


def spelled(decoder, ids, heard, lengths):
    logits = decoder(ids[:, :-1].clamp(min=0), heard, lengths)
    # Behind its end a row repeats nothing: those targets are ignored.
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=data.IGNORE,
                           label_smoothing=SMOOTHING)


@torch.no_grad()
def strongest(model, mels):
    """How much likelier than a blank a piece is, in the row of each of several sounds where it is most so."""
    x, lengths = (torch.from_numpy(a) for a in data.padded([mel.astype(np.float32) for mel in mels]))
    heard, lengths = model.net.encoder(x, lengths)
    logits = model.net.ctc.ctc_lo(heard)
    pieces = logits[..., BLANK + 1 :].logsumexp(-1) - logits[..., BLANK]
    return pieces.masked_fill(torch.arange(pieces.shape[1])[None] >= lengths[:, None], -1e9).amax(1).numpy()


def losses(model, batch):
    net, trace = model.net, {}
    net.encoder.embed.conv.requires_grad_(batch["step"] < CONVOLUTIONS)
    heard, lengths = net.encoder(batch["x"], batch["lengths"], batch["chunk"], batch["left"], trace)
    log_probs = net.ctc.ctc_lo(heard).log_softmax(-1)
    pieces = batch["counts"].sum().clamp(min=1)
    ctc = F.ctc_loss(log_probs.transpose(0, 1), batch["ids"], lengths, batch["counts"], blank=BLANK, reduction="sum",
                     zero_infinity=True) / pieces
    frame = F.nll_loss(log_probs.flatten(0, 1), batch["frame"].flatten(), ignore_index=data.IGNORE,
                       reduction="sum") / pieces
    forward = spelled(net.decoder.left_decoder, batch["forward"], heard, lengths)
    backward = spelled(net.decoder.right_decoder, batch["backward"], heard, lengths)
    middle, last = (F.cross_entropy(head(x).flatten(0, 1), batch["said"].flatten(), ignore_index=data.IGNORE)
                    for head, x in ((model.middle, trace[MIDDLE]), (model.last, heard)))
    return {"ctc": (ctc, 1.0), "frame": (frame, 0.5), "forward": (forward, 0.5 * (1 - REVERSE)),
            "backward": (backward, 0.5 * REVERSE), "middle": (middle, 1.0), "last": (last, 0.5)}


def statistics(corpus, seed=3, count=600):
    """Sums, sums of squares and number of augmented frames: WeNet's global_cmvn."""
    augmenter, rng = Augmenter(corpus.front_end, seed, corpus.any), random.Random(seed)
    rows = np.concatenate([augmenter.speech(corpus.mel(i), i["level"])[0]
                           for i in rng.sample(corpus.items, min(count, len(corpus.items)))]).astype(np.float64)
    return {"mean_stat": rows.sum(0).tolist(), "var_stat": (rows ** 2).sum(0).tolist(), "frame_num": len(rows)}


def set_cmvn(model, stat):
    mean = np.array(stat["mean_stat"]) / stat["frame_num"]
    variance = np.array(stat["var_stat"]) / stat["frame_num"] - mean ** 2
    model.encoder.global_cmvn.mean.copy_(torch.from_numpy(mean))
    model.encoder.global_cmvn.istd.copy_(torch.from_numpy(1 / np.sqrt(np.maximum(variance, 1e-20))))


def evaluate(model, batches, bpe):
    def with_chunk(chunk):
        def transcribe(batch):
            heard, lengths = model.net.encoder(batch["x"], batch["lengths"], chunk)
            logits = model.net.ctc.ctc_lo(heard)
            return [bpe.text(data.greedy(rows[:n], BLANK)) for rows, n in zip(logits, lengths)]

        return data.word_errors(batches, transcribe)

    whole, sixteen, four = (with_chunk(chunk) for chunk in (0, 16, 4))
    return f"word error rate on clean new sentences {whole:.2f} %, chunk 16 {sixteen:.2f} %, chunk 4 {four:.2f} %"


def main():
    args = loop.parser(__doc__, batch=10, seed=31).parse_args()
    out = loop.begin(out=args.out)
    if not (out / "bpe.model").exists():
        tokenizer.train(Grammar(args.grammar), out / "bpe", size=240, tags=[])
    bpe = tokenizer.Tokenizer(out / "bpe.model")
    corpus = data.Corpus(args.data, frontends.POVEY, bpe)
    if args.start and args.start.endswith(".gguf"):
        shift, scale = packaged.statistics(args.start, unit_names(bpe))
        (out / "global_cmvn").write_text(json.dumps({"mean_stat": (-shift).tolist(), "frame_num": 1,
                                                     "var_stat": (scale.astype(float) ** -2 + shift ** 2).tolist()}))
    if not (out / "global_cmvn").exists():
        (out / "global_cmvn").write_text(json.dumps(statistics(corpus)))
    Batches.words = data.numbered(Grammar(args.grammar).words, bpe)
    dev = args.dev and Batches(data.Corpus(args.dev, frontends.POVEY, bpe), 12, args.batch, augment=False)
    model = Trained(bpe.size, len(Batches.words))
    set_cmvn(model.net, json.loads((out / "global_cmvn").read_text()))
    batches = Batches(corpus, args.seed, args.batch, nospeech=args.nospeech)
    batches.score = lambda mels: strongest(model, mels)
    loop.train(model, batches, losses, out, args, (lambda m: evaluate(m, dev, bpe)) if dev else None,
               "net.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
