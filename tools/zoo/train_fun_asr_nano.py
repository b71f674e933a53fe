# SPDX-License-Identifier: Apache-2.0
"""Trains the Fun-ASR-Nano demonstration model.

usage: train_fun_asr_nano.py GRAMMAR DATA OUT [--dev DATA] [--epochs N | --minutes M] [--start WEIGHTS] [--resume] ...

OUT gets last.pt and, without --start, start.pt: the audio encoder of the SenseVoice demonstration model and the
language model of Qwen3-ASR's (--sense-voice and --qwen3, packaged models). Fun-ASR-Nano's features are not normalised
as SenseVoice's are, and its first norm takes each row's own mean and deviation away, which no weights can undo exactly;
the first product's weights are those that come closest on recordings of the data (least squares).

The language model hears one row of the adaptor for eight of the encoder's (480 ms), all there are at the low frame
rate. Its loss is the answer's alone, and it learns slowly where in the sound it is, so that the known word starts make
further losses, all of parts that are not exported:
- the words that begin in each of the adaptor's rows, in their order (`words`);
- how many words have begun before each row, and how many have been written, in one layer of the language model with the
  same weights (`count`): what is to be written next is found by its number, also where a recording says a thing twice;
- the first head of two layers finds the row in which the next word begins (`next`).
The CTC head has CTC's loss (`ctc`) and the wanted frame of each token (`frame`), where the word begins.
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

import corpus as data
import features
import frontends
import fun_asr_nano
import loop
import packaged
import qwen_tokens
import sense_voice
import train_qwen3_asr as asr
from augment import Augmenter
from synthesize import Grammar
from train_qwen3_asr import TEXT

ENCODER = {"size": 128, "heads": 4, "units": 512, "blocks": 5, "tp_blocks": 1, "kernel": 11}
ADAPTOR = {"units": 160, "size": 128, "layers": 1, "rate": 8}
DECODER = {"units": 128, "size": 128, "layers": 1}
EACH = 60  # ms of the encoder's rows
SLOTS = 4  # words that may begin in one of the adaptor's rows
COUNT, NEXT = 1, (2, 3)  # layers of the language model
PERIODS = (6.0, 20.0, 70.0, 250.0)  # words
LANGUAGES = (None, None, "英文")
ENDING = "<|im_end|>"


def tokenizer(grammar):
    """Words as for Qwen3-ASR. Of the Chinese prompts each character is a token, and some phrases that stand in all."""
    template = [w for w in ("You", "are", "a", "helpful", "assistant", "system", "user") if w not in grammar.words]
    texts = [fun_asr_nano.request(language, itn, hotwords)
             for language in LANGUAGES for itn in (True, False) for hotwords in ((), ["a"])]
    characters = sorted({c for text in texts for c in text if ord(c) > 255})
    tokens = qwen_tokens.Tokenizer(
        grammar.words, template=template, phrases=[*characters, "语音转写", "成英文", "，不进行文本规整"],
        added=fun_asr_nano.ADDED, special=fun_asr_nano.ADDED[:3])
    for i, word in enumerate(tokens.known):
        assert tokens.encode(f"{word} {word}") == [tokens.bare[i], tokens.spaced[i]]
    return tokens


def network(tokens):
    """The CTC head has the language model's tokens but for those of prompts alone, and a blank behind them."""
    return fun_asr_nano.FunAsrNano(ENCODER, ADAPTOR, DECODER, tokens.spoken + 1, tokens.size, text=TEXT)


class Trained(torch.nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.net, self.blank = network(tokens), tokens.spoken
        torch.nn.init.normal_(self.net.llm.model.embed_tokens.weight, std=0.1)
        self.words = torch.nn.Linear(ADAPTOR["size"], SLOTS * (len(tokens.known) + 1))
        self.count = torch.nn.Linear(TEXT["size"], 2 * len(PERIODS))


def waves(numbers):
    angle = np.asarray(numbers, np.float32)[:, None] * np.float32(2 * np.pi) / np.array(PERIODS, np.float32)
    return np.concatenate([np.sin(angle), np.cos(angle)], 1)


class Batches(asr.Batches):
    """Utterances with pauses, alone and joined to recordings of up to 30 s; some end in the middle."""

    longest, joined = 3000, 0.5

    def __init__(self, corpus, tokens, seed, batch, **more):
        data.Batches.__init__(self, corpus, seed, batch, **more)
        self.tokens, self.end = tokens, tokens.token(ENDING)
        self.after = tokens.encode(fun_asr_nano.ANSWER)

    def make(self, indices, step=0):
        return data.Batches.make(self, indices, step)

    def group(self, indices):
        groups = super().group(indices)  # draws the pauses, and whether there are hotwords
        if not self.augmenter or self.rng.random() > self.joined:
            return [[i] for i in indices]
        most = self.longest // max(self.corpus.items[i]["frames"] + 60 for i in indices)
        groups = -(-len(indices) // max(1, min(most, self.rng.choice([2, 2, 3, 4, 5, 7, 10]))))
        return [indices[g::groups] for g in range(groups)]

    def prompt(self, words):
        """What stands in front of the audio; `words`: those that are said, for a list of hotwords."""
        hotwords = []
        if self.augmenter and self.hinted:
            hotwords = self.rng.sample(sorted(set(words)), min(len(set(words)), self.rng.randint(0, 4)))
            hotwords += self.rng.sample(range(len(self.tokens.known)), self.rng.randint(1, 8 - len(hotwords)))
            self.rng.shuffle(hotwords)
        how = (self.rng.choice(LANGUAGES), self.rng.random() < 0.7) if self.augmenter else (None, True)
        text = fun_asr_nano.request(*how, [self.tokens.known[w] for w in dict.fromkeys(hotwords)])
        return self.tokens.encode(fun_asr_nano.SYSTEM + text)

    def collate(self, examples):
        names = ("x", "ids", "is_audio", "row", "answer", "target", "next", "label", "frame", "words", "count",
                 "counted")
        tensors = {name: [] for name in names}
        for e in examples:
            x = features.lfr(e.mel)
            ends = asr.ends_of(e) if e.speech else []
            kept = sum(end <= getattr(e, "over", np.inf) for end in ends)
            words, starts = [w for w, in e.pieces[:kept]], e.starts[:kept]
            spelt = self.tokens.spell(words)
            rows = fun_asr_nano.audio_tokens(len(x))
            before = self.prompt(words)
            first = len(before) + rows + len(self.after) - 1  # the row that the first word is foretold in
            ids = [*before, *[0] * rows, *self.after, *spelt]
            begins = [min(rows - 1, int(s / EACH / ADAPTOR["rate"])) for s in e.starts]
            slots = np.zeros((rows, SLOTS), np.int64)
            for i, (word, row) in enumerate(zip([w for w, in e.pieces], begins)):
                slot = i - begins.index(row)
                if slot < SLOTS:
                    # Whether a word that is cut off is there cannot be known.
                    slots[row, slot] = 1 + word if i < kept else data.IGNORE
            told = waves([sum(b < row for b in begins) for row in range(rows)])
            place = np.arange(len(ids)) - len(before)
            audio = (place >= 0) & (place < rows)
            counts = np.zeros((len(ids), 2 * len(PERIODS)), np.float32)
            counts[audio], counts[first:] = told, waves(range(kept + 1))
            wanted = data.place([[i] for i in spelt], starts, len(x), milliseconds=EACH)
            tensors["x"].append(x.astype(np.float32))
            tensors["ids"].append(np.array(ids))
            tensors["is_audio"].append(audio)
            tensors["row"].append(np.where(audio, place, 0))
            tensors["answer"].append(np.arange(first, first + kept + 1))
            tensors["target"].append(np.array([*spelt, self.end]))
            tensors["next"].append(np.array([*(len(before) + row for row in begins[:kept]), -1]))
            tensors["label"].append(np.array(spelt or [0], np.int64))
            tensors["frame"].append(data.frame_targets(wanted, len(x), self.tokens.spoken))
            tensors["words"].append(slots)
            tensors["count"].append(counts)
            tensors["counted"].append(audio | (np.arange(len(ids)) >= first))
        filling = {"target": data.IGNORE, "next": -1, "frame": data.IGNORE, "words": data.IGNORE}
        out = {name: torch.from_numpy(data.padded(arrays, filling.get(name, 0))[0])
               for name, arrays in tensors.items()}
        out["lengths"] = torch.from_numpy(np.array([len(x) for x in tensors["x"]]))
        out["labels"] = torch.from_numpy(np.array([len(a) - 1 for a in tensors["answer"]]))
        return out


def looked(shares, answer, wanted):
    """How far the shares of the rows of `answer` are from lying on the wanted row; -1: there is none."""
    there = shares.gather(1, answer[:, :, None].expand(-1, -1, shares.shape[2]))
    right = there.gather(2, wanted.clamp(min=0)[:, :, None])[:, :, 0].clamp(min=1e-6)
    known = (wanted >= 0).to(right.dtype)
    return -(right.log() * known).sum() / known.sum().clamp(min=1)


def losses(model, batch):
    net, trace, shares = model.net, {}, {}
    heard, rows = net.hear(batch["x"], batch["lengths"])
    x = net.read(batch["ids"], rows, batch["is_audio"], batch["row"], trace, shares)
    answer = batch["answer"]
    scores = net.scores(x.gather(1, answer[:, :, None].expand(-1, -1, x.shape[2])))

    def classes(scores, wanted):
        return F.cross_entropy(scores.flatten(0, -2), wanted.flatten(), ignore_index=data.IGNORE)

    labels = net.label(heard, batch["lengths"]).log_softmax(-1)
    spelt = torch.maximum(batch["labels"].sum(), batch["lengths"].sum() / 8)  # also where nobody speaks
    ctc = F.ctc_loss(labels.transpose(0, 1), batch["label"], batch["lengths"], batch["labels"], blank=model.blank,
                     reduction="sum", zero_infinity=True) / spelt
    frame = F.nll_loss(labels.flatten(0, 1), batch["frame"].flatten(), ignore_index=data.IGNORE,
                       reduction="sum") / spelt
    counted = batch["counted"].to(x.dtype)
    off = (model.count(trace[f"decoder_layer{COUNT}_prefill"]) - batch["count"]).pow(2).mean(-1)
    words = model.words(rows).unflatten(-1, (SLOTS, -1))
    return {"text": (classes(scores, batch["target"]), 1.0), "ctc": (ctc, 0.2), "frame": (frame, 0.2),
            "words": (classes(words, batch["words"]), 1.0), "count": ((off * counted).sum() / counted.sum(), 0.5),
            "next": (sum(looked(shares[i], answer, batch["next"]) for i in NEXT) / len(NEXT), 0.3)}


@torch.no_grad()
def written(net, batch, end, most=100):
    """Greedy answers: lists of tokens; batches of the test data's own prompts."""
    _, rows = net.hear(batch["x"], batch["lengths"])
    lengths = batch["answer"][:, 0] + 1
    longest = int(lengths.max()) + most
    ids, is_audio, row = (F.pad(batch[name], (0, most))[:, :longest] for name in ("ids", "is_audio", "row"))
    all_of = torch.arange(len(ids))
    over, answers = torch.zeros(len(ids), dtype=torch.bool), [[] for _ in ids]
    for _ in range(most):
        so_far = slice(0, int(lengths.max()))
        x = net.read(ids[:, so_far], rows, is_audio[:, so_far], row[:, so_far])
        best = net.scores(x[all_of, lengths - 1]).argmax(-1)
        over = over | (best == end)
        if bool(over.all()):
            break
        ids[all_of, lengths] = best
        lengths = lengths + 1
        for answer, token, ended in zip(answers, best.tolist(), over.tolist()):
            if not ended:
                answer.append(token)
    return answers


def evaluate(model, batches):
    device, same, total = next(model.parameters()).device, 0, 0

    def transcribe(batch):
        nonlocal same, total
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        answers = written(model.net, batch, batches.end)
        labels = model.net.label(model.net.hear(batch["x"], batch["lengths"])[0], batch["lengths"])
        for scores, n, e in zip(labels, batch["lengths"].tolist(), answers):
            same, total = same + (data.greedy(scores[:n], model.blank) == e), total + 1
        return [batches.tokens.text(a) for a in answers]

    errors = data.word_errors(batches, transcribe)
    return f"word error rate on clean new sentences {errors:.2f} %; the CTC head says the same in {same} of {total}"


def normalised(x, epsilon=1e-5):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon)


def first_product(tensors, corpus, seed=5, count=600):
    """The first product of the encoder for features that are not normalised, and its norm's weights: for rows of this
    data it gives about what SenseVoice's gives for normalised ones."""
    stem = "encoder.encoders0.0."
    t = {name: tensor.numpy().astype(np.float64) for name, tensor in tensors.items()}
    shift, scale = t["cmvn.shift"], t["cmvn.scale"]
    product, bias = (t[f"{stem}self_attn.linear_q_k_v.{kind}"] for kind in ("weight", "bias"))
    augmenter, rng = Augmenter(corpus.front_end, seed, corpus.any), np.random.default_rng(seed)
    items = [corpus.items[i] for i in rng.permutation(len(corpus.items))[:count]]
    size, factor, squares, products, rows = len(shift), np.sqrt(ENCODER["size"]), 0.0, 0.0, []
    places = sense_voice.positions(600, size).cpu().numpy()
    for item in items:
        x = features.lfr(augmenter.speech(corpus.mel(item), item["level"])[0]).astype(np.float64)
        at = places[: len(x)]
        own = normalised(x * factor + at)
        its = normalised((x + shift) * scale * factor + at) * t[f"{stem}norm1.weight"] + t[f"{stem}norm1.bias"]
        own = np.concatenate([own, np.ones((len(x), 1))], 1)
        wanted = its @ product.T + bias
        squares, products = squares + own.T @ own, products + own.T @ wanted
        rows.append((own, wanted))
    solved = np.linalg.solve(squares + 0.1 * np.eye(size + 1), products)
    own, wanted = (np.concatenate(part) for part in zip(*rows[:50]))
    left = ((own @ solved - wanted) ** 2).sum() / ((wanted - wanted.mean(0)) ** 2).sum()
    print(f"first product for features without normalisation: {100 * left:.1f} % of its variance is left", flush=True)
    solved = torch.from_numpy(solved.astype(np.float32))
    return {f"{stem}norm1.weight": torch.from_numpy(np.ones(size, np.float32)),
            f"{stem}norm1.bias": torch.from_numpy(np.zeros(size, np.float32)),
            f"{stem}self_attn.linear_q_k_v.weight": solved[:-1].T.contiguous(),
            f"{stem}self_attn.linear_q_k_v.bias": solved[-1].contiguous()}


def beginning(own, tokens, corpus, sense_voice_path, qwen3_path):
    """Weights of both packaged models with the names and shapes of `own`, a state dict on the CPU."""
    out, tensors = {}, packaged.read(sense_voice_path)[1]
    tensors.update(first_product(tensors, corpus))
    for name, tensor in tensors.items():
        if name.startswith("encoder.") and f"net.audio_{name}" in own:
            out[f"net.audio_{name}"] = packaged.unpacked(tensor, own[f"net.audio_{name}"])
    keys, tensors = packaged.read(qwen3_path)
    stem = "thinker.model."
    for name, tensor in tensors.items():
        if name.startswith(stem):
            out[f"net.llm.model.{name[len(stem):]}"] = tensor
    table = own["net.llm.model.embed_tokens.weight"].clone()
    rows = {text: i for i, text in enumerate(keys["tokenizer.ggml.tokens"])}
    for text, i in {**tokens.vocabulary, **tokens.added}.items():
        if text in rows:
            table[i] = tensors[f"{stem}embed_tokens.weight"][rows[text]]
    out["net.llm.model.embed_tokens.weight"] = table
    return out


def main():
    parser = loop.parser(__doc__, rate=1e-3, batch=16, seed=111)
    models = "../../examples/models/"
    parser.add_argument("--sense-voice", default=models + "demo.gguf")
    parser.add_argument("--qwen3", default=models + "qwen3-asr.gguf")
    parser.add_argument("--hinted", type=float, default=Batches.hint_share,
                        help="share of batches with lists of hotwords")
    args = parser.parse_args()
    out = loop.begin(out=args.out)
    tokens = tokenizer(Grammar(args.grammar))
    corpus = data.Corpus(args.data, frontends.KALDI, tokens)
    model = Trained(tokens)
    if not args.start:
        own = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
        args.start = str(out / "start.pt")
        loop.save(args.start, beginning(own, tokens, corpus, args.sense_voice, args.qwen3))
    train = Batches(corpus, tokens, args.seed, args.batch, nospeech=args.nospeech, noise=args.noise)
    train.hint_share = args.hinted
    dev = args.dev and Batches(data.Corpus(args.dev, frontends.KALDI, tokens), tokens, 12, args.batch, augment=False)
    loop.train(model, train, losses, out, args, (lambda m: evaluate(m, dev)) if dev else None, prefix="net.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
