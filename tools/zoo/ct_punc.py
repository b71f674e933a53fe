# SPDX-License-Identifier: Apache-2.0
"""A reference CT-Transformer (punctuation) in PyTorch with the tensor names of a FunASR checkpoint, and how a text goes
through it."""
import re

import torch
from torch import nn

from paraformer import EPSILON
from sense_voice import Encoder

MARKS = ["<unk>", "_", "\uff0c", "\u3002", "\uff1f", "\u3001"]  # of the published models
COMMA, ENDS = "\uff0c", ("\u3002", "\uff1f")
AT_ONCE, LONGEST = 20, 200  # words


class CtPunc(nn.Module):
    def __init__(self, vocab, marks=len(MARKS), size=128, heads=4, units=512, blocks=3, kernel=11):
        super().__init__()
        self.embed = nn.Embedding(vocab, size)
        self.encoder = Encoder(size, size, heads, units, blocks, 0, kernel)
        for module in self.encoder.modules():
            if isinstance(module, nn.LayerNorm):
                module.eps = EPSILON
        self.decoder = nn.Linear(size, marks)

    def forward(self, ids, trace=None):
        """Scores (words, marks) of a list of ids."""
        trace = {} if trace is None else trace
        x = self.embed(torch.tensor([ids]))
        trace["embed"] = x
        x = self.encoder(x, torch.tensor([len(ids)]), trace)
        trace["encoder_out"] = x
        x = self.decoder(x)
        trace["logits"] = x
        return x[0]


def words_of(text):
    """Characters beyond ASCII, and what lies between them and white space."""
    return [word for part in text.split() for word in re.findall(r"[\x00-\x7f]+|[^\x00-\x7f]", part)]


def settled(found, marks):
    """How many words are done: up to the last full stop or question mark; a comma where there is none for too long."""
    inner = range(2, len(found) - 1)  # the last word is not asked, nor are the first two
    ends = [i for i in inner if marks[found[i]] in ENDS]
    if ends:
        return ends[-1] + 1
    commas = [i for i in inner if marks[found[i]] == COMMA]
    return commas[-1] + 1 if commas and len(found) > LONGEST else 0


def passes(model, tokens, text, marks=MARKS, at_once=AT_ONCE):
    """Yields the stages of every pass; "ids" and "marks" are what it saw and gave, "said" the marks that stay."""
    number = {token: i for i, token in enumerate(tokens)}
    ids = [number.get(word, number["<unk>"]) for word in words_of(text)]
    begin = 0
    for end in range(at_once, len(ids) + at_once, at_once):
        trace, seen = {}, ids[begin:end]
        found = model(seen, trace).argmax(-1).tolist()
        said = found[: settled(found, marks)] if end < len(ids) else list(found)
        if end < len(ids) and said and marks[said[-1]] not in ENDS:
            said[-1] = marks.index(ENDS[0])
        yield {"ids": seen, "marks": found, "said": said, **{name: y[0] for name, y in trace.items()}}
        begin += len(said)


def from_checkpoint(state, heads=4):
    """Builds the model that fits a state dict."""
    qkv = state["encoder.encoders0.0.self_attn.linear_q_k_v.weight"]
    model = CtPunc(len(state["embed.weight"]), len(state["decoder.weight"]), len(qkv) // 3, heads,
                   len(state["encoder.encoders0.0.feed_forward.w_1.weight"]),
                   1 + len({name.split(".")[2] for name in state if name.startswith("encoder.encoders.")}),
                   state["encoder.encoders0.0.self_attn.fsmn_block.weight"].shape[2])
    model.load_state_dict(state)
    return model.eval()
