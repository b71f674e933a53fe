# SPDX-License-Identifier: Apache-2.0
"""A reference of Fun-ASR-Nano in PyTorch with the tensor names of its checkpoints.

SenseVoice's encoder, the adaptor to the language model's width, the CTC head, and the rows of the prompt. Of the
language model there is the embedding alone, or Qwen3's whole decoder where its sizes are given.
"""
import torch
import torch.nn.functional as F
from torch import nn

import qwen3_asr
import qwen_tokens
from paraformer import EPSILON
from sense_voice import Ctc, Encoder, FeedForward

HEADS = 8  # of the adaptors, where config.yaml names none
SYSTEM = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
ANSWER = "<|im_end|>\n<|im_start|>assistant\n"
NO_THOUGHT = "<think>\n\n</think>\n\n"
ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]


class AdaptorAttention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(size, size) for _ in range(4))

    def forward(self, x, note, bias):
        q, k, v = self.linear_q(x), self.linear_k(x), self.linear_v(x)
        note("q", q), note("k", k), note("v", v)
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(-3, -2) for y in (q, k, v))
        shares = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias).softmax(-1)
        return self.linear_out((shares @ v).transpose(-3, -2).flatten(-2))


class AdaptorBlock(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.self_attn = AdaptorAttention(size, heads)
        self.feed_forward = FeedForward(size, size // 4)
        self.norm1, self.norm2 = (nn.LayerNorm(size, eps=EPSILON) for _ in range(2))

    def forward(self, x, note, bias):
        y = self.norm1(x)
        note("norm1", y)
        y = self.self_attn(y, note, bias)
        note("self_attn", y)
        x = x + y
        y = self.norm2(x)
        note("norm2", y)
        y = self.feed_forward(y)
        note("ffn", y)
        return x + y


class Adaptor(nn.Module):
    """`rate` neighbouring rows become one."""

    def __init__(self, inputs, units, size, layers, heads=HEADS, rate=1):
        super().__init__()
        self.rate = rate
        self.linear1, self.linear2 = nn.Linear(inputs * rate, units), nn.Linear(units, size)
        self.blocks = nn.ModuleList(AdaptorBlock(size, heads) for _ in range(layers))

    def forward(self, x, trace=None, lengths=None):
        """(rows, inputs) to (rows / rate, size), or a batch of them with how many rows each has."""
        trace, bias = {} if trace is None else trace, 0.0
        if lengths is not None:
            x = x * (torch.arange(x.shape[1])[None] < lengths[:, None])[:, :, None]
        x = F.pad(x, (0, 0, 0, -x.shape[-2] % self.rate))
        x = x.reshape(*x.shape[:-2], -1, x.shape[-1] * self.rate)
        if lengths is not None:
            heard = torch.arange(x.shape[1])[None] * self.rate < lengths[:, None]
            bias = torch.zeros(heard.shape).masked_fill(~heard, -1e9)[:, None, None]
        trace["linear1"] = self.linear1(x)
        x = self.linear2(F.relu(trace["linear1"]))
        trace["linear2"] = x
        for i, block in enumerate(self.blocks):
            x = block(x, lambda name, y, i=i: trace.update({f"blk{i}_{name}": y}), bias)
            trace[f"blocks_{i}_out"] = x
        trace["out"] = x
        return x


class Embedding(nn.Module):
    def __init__(self, vocab, size):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(vocab, size)


class LanguageModel(nn.Module):
    def __init__(self, vocab, **sizes):
        super().__init__()
        self.model = qwen3_asr.TextModel(vocab, **sizes)


class FunAsrNano(nn.Module):
    """encoder: the arguments of SenseVoice's; adaptor and decoder: those of Adaptor but for its inputs; text: the sizes
    of Qwen3's decoder, whose output is tied to its embedding."""

    def __init__(self, encoder, adaptor, decoder, labels, vocab, inner=560, text=None):
        super().__init__()
        self.audio_encoder = Encoder(inner, **encoder)
        self.audio_adaptor = Adaptor(encoder["size"], **adaptor)
        self.ctc_decoder = Adaptor(encoder["size"], **decoder)
        self.ctc = Ctc(decoder["size"], labels)
        self.llm = LanguageModel(vocab, **text) if text else Embedding(vocab, adaptor["size"])

    def hear(self, x, lengths):
        """A batch of features and how many rows each has: rows of the encoder, and of the adaptor."""
        heard = self.audio_encoder(x, lengths)
        return heard, self.audio_adaptor(heard, lengths=lengths)

    def label(self, heard, lengths):
        """Scores of the CTC head for the encoder's rows."""
        return self.ctc.ctc_lo(self.ctc_decoder(heard, lengths=lengths))

    def read(self, ids, rows, is_audio, row, trace=None, shares=None):
        """The language model's rows. ids: (batch, tokens), in whose place the adaptor's rows stand where is_audio says
        so; row: which of them."""
        x = self.llm.model.embed_tokens(ids)
        audio = rows.gather(1, row[:, :, None].expand(-1, -1, rows.shape[2]))
        return self.llm.model(torch.where(is_audio[:, :, None], audio, x), trace, shares)

    def scores(self, x):
        return F.linear(x, self.llm.model.embed_tokens.weight)

    def forward(self, x, before, after, low_frame_rate=True):
        """Features (frames, 560) without normalisation, ids before and behind the audio. Returns all stages."""
        encoder, adaptor = {}, {}
        heard = self.audio_encoder(x[None], torch.tensor([len(x)]), encoder)[0]
        stages = {name + ("" if name.endswith(("posenc", "norm")) else "_out"): y[0] for name, y in encoder.items()}
        stages["encoder_out_tp_norm"] = stages.pop("tp_norm")
        rows = self.audio_adaptor(heard, adaptor)[: audio_tokens(len(x), low_frame_rate)]
        stages.update({f"adaptor_{name}": y for name, y in adaptor.items()})
        stages["audio_embeds_used"] = rows
        table = self.llm.model.embed_tokens.weight
        stages["inputs_embeds"] = torch.cat([table[before], rows, table[after]])
        stages["ctc_decoder_out"] = self.ctc_decoder(heard)
        stages["ctc_logits"] = self.ctc.ctc_lo(stages["ctc_decoder_out"])
        stages["ctc_log_probs"] = stages["ctc_logits"].log_softmax(-1)
        return stages


def audio_tokens(frames, low_frame_rate=True):
    """Rows of the adaptor that the language model hears: three times half of them, about."""
    for _ in range(3 if low_frame_rate else 0):
        frames = (frames - 1) // 2 + 1
    return frames


def request(language=None, itn=True, hotwords=()):
    """What the model is asked."""
    text = ""
    if hotwords:
        text = "请结合上下文信息，更加准确地完成语音转写任务。如果没有相关信息，我们会留空。\n\n\n**上下文信息：**\n\n\n"
        text += f"热词列表：[{', '.join(hotwords)}]\n"
    return text + "语音转写" + (f"成{language}" if language else "") + ("" if itn else "，不进行文本规整") + "："


def byte_tokens():
    return qwen_tokens.ByteTokens(ADDED, ADDED[:3])


def from_checkpoint(state, heads=4, adaptor_heads=HEADS):
    """Builds the model that fits a state dict, with adaptors of rate 1."""
    at = lambda name: state[name].shape
    count = lambda stem: len({k.split(".")[2] for k in state if k.startswith(stem + ".")})

    def adaptor(stem):
        return {"units": at(stem + ".linear1.weight")[0], "size": at(stem + ".linear2.weight")[0],
                "layers": count(stem + ".blocks"), "heads": adaptor_heads}

    first = "audio_encoder.encoders0.0."
    encoder = {"size": at("audio_encoder.after_norm.weight")[0], "heads": heads,
               "units": at(first + "feed_forward.w_1.weight")[0], "blocks": 1 + count("audio_encoder.encoders"),
               "tp_blocks": count("audio_encoder.tp_encoders"),
               "kernel": at(first + "self_attn.fsmn_block.weight")[2]}
    model = FunAsrNano(encoder, adaptor("audio_adaptor"), adaptor("ctc_decoder"), at("ctc.ctc_lo.weight")[0],
                       at("llm.model.embed_tokens.weight")[0], at(first + "norm1.weight")[0])
    model.load_state_dict({name: t.float() for name, t in state.items()})
    return model.eval()
