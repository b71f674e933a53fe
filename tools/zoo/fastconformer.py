# SPDX-License-Identifier: Apache-2.0
"""Reference FastConformer models in PyTorch with the tensor names of NeMo's checkpoints: the encoder, the CTC head and
the prediction and joint networks of transducers. Written for training on a CPU: rows last, depthwise convolutions as
sums of shifted products, which a GPU is not slower with.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Depthwise(torch.autograd.Function):
    """Rows x (batch, time, channels), padded already, with one kernel for each channel, weight (channels, 1, taps)."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        rows = x.shape[1] - weight.shape[2] + 1
        y = torch.mul(x[:, :rows], weight[:, 0, 0])
        for k in range(1, weight.shape[2]):
            y.addcmul_(x[:, k : k + rows], weight[:, 0, k])
        return y

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        gx, gw, rows = torch.zeros_like(x), torch.empty_like(weight), g.shape[1]
        for k in range(weight.shape[2]):
            gx[:, k : k + rows].addcmul_(g, weight[:, 0, k])
            gw[:, 0, k] = (x[:, k : k + rows] * g).sum((0, 1))
        return gx, gw


class Halving(torch.autograd.Function):
    """Padded x (batch, time, bands, channels) with one kernel of 3 x 3 for each channel and strides of 2. Even and odd
    bands are taken apart, so that a row of bands and channels is one long vector."""

    @staticmethod
    def parts(x, weight, rows, cols):
        for i in range(3):
            for j in range(3):
                yield (i, j, x[j % 2][:, i : i + 2 * rows - 1 : 2, j // 2 : j // 2 + cols].flatten(2),
                       weight[:, 0, i, j].repeat(cols))

    @staticmethod
    def forward(ctx, x, weight):
        rows, cols = (x.shape[1] - 3) // 2 + 1, (x.shape[2] - 3) // 2 + 1
        x = [x[:, :, 0::2].contiguous(), x[:, :, 1::2].contiguous()]
        ctx.save_for_backward(*x, weight)
        y = x[0].new_zeros(len(x[0]), rows, cols * weight.shape[0])
        for _, _, part, w in Halving.parts(x, weight, rows, cols):
            y.addcmul_(part, w)
        return y.unflatten(2, (cols, -1))

    @staticmethod
    def backward(ctx, g):
        *x, weight = ctx.saved_tensors
        rows, cols, channels = g.shape[1:]
        g = g.flatten(2)
        gx, gw = [torch.zeros_like(part) for part in x], torch.empty_like(weight)
        for (i, j, part, w), (_, _, to, _) in zip(Halving.parts(x, weight, rows, cols),
                                                  Halving.parts(gx, weight, rows, cols)):
            to.addcmul_(g, w)
            gw[:, 0, i, j] = (part * g).sum((0, 1)).view(cols, channels).sum(0)
        out = g.new_zeros(*x[0].shape[:2], x[0].shape[2] + x[1].shape[2], channels)
        out[:, :, 0::2], out[:, :, 1::2] = gx
        return out, gw


class Kernel(nn.Module):
    """The weights of a convolution; pointwise ones are products."""

    def __init__(self, outputs, inputs, *size, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, *size))
        bound = 1 / math.sqrt(self.weight[0].numel())
        nn.init.uniform_(self.weight, -bound, bound)
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight.flatten(1), self.bias)


class Subsampling(nn.Module):
    """ConvSubsampling "dw_striding": three strides of 2 in time and bands."""

    def __init__(self, bands, channels, size, causal):
        super().__init__()
        self.conv = nn.Module()
        self.causal = causal
        for name, kernel in {"0": Kernel(channels, 1, 3, 3), "2": Kernel(channels, 1, 3, 3),
                             "3": Kernel(channels, channels, 1, 1), "5": Kernel(channels, 1, 3, 3),
                             "6": Kernel(channels, channels, 1, 1)}.items():
            self.conv.add_module(name, kernel)
        for _ in range(3):
            bands = self.length(bands)
        self.out = nn.Linear(channels * bands, size)

    def length(self, n):
        return n // 2 + 1 if self.causal else (n - 1) // 2 + 1

    def pad(self, x):
        left, right = (2, 1) if self.causal else (1, 1)
        return F.pad(x, (0, 0, left, right, left, right))

    def together(self, x, lengths=None):
        """Features (batch, frames, bands) -> (batch, rows, size); lengths: where one ends before the others, nothing is
        heard behind its end."""
        kernels = dict(self.conv.named_children())

        def ended(x):
            return x if lengths is None else x * (torch.arange(x.shape[1]) < lengths[:, None]).view(*x.shape[:2], 1, 1)

        x = self.pad(ended(x[..., None]))[..., 0]
        x = kernels["0"](x.unfold(1, 3, 2).unfold(2, 3, 2).flatten(3)).relu()  # what the 9 taps meet
        for depthwise, pointwise in ("2", "3"), ("5", "6"):
            lengths = lengths if lengths is None else self.length(lengths)
            x = Halving.apply(self.pad(ended(x)), kernels[depthwise].weight) + kernels[depthwise].bias
            x = kernels[pointwise](x).relu()
        return self.out(x.transpose(2, 3).flatten(2))

    def forward(self, x, lengths):
        rows = self.length(self.length(self.length(lengths)))
        if x.is_cuda:
            x = self.together(x, lengths)
            return x * (torch.arange(x.shape[1]) < rows[:, None])[..., None], rows
        # One recording after the other: what belongs to one fits into a core's cache, what belongs to all does not.
        each = [self.together(row[None, :n])[0] for row, n in zip(x, lengths.tolist())]
        return nn.utils.rnn.pad_sequence(each, batch_first=True), rows


class FeedForward(nn.Module):
    def __init__(self, size, units, bias):
        super().__init__()
        self.linear1 = nn.Linear(size, units, bias=bias)
        self.linear2 = nn.Linear(units, size, bias=bias)

    def forward(self, x):
        return self.linear2(F.silu(self.linear1(x)))


class Attention(nn.Module):
    """Self-attention with relative positions (Transformer-XL)."""

    def __init__(self, size, heads, bias):
        super().__init__()
        self.heads = heads
        for name in "linear_q", "linear_k", "linear_v", "linear_out":
            self.add_module(name, nn.Linear(size, size, bias=bias))
        self.linear_pos = nn.Linear(size, size, bias=False)
        self.pos_bias_u = nn.Parameter(torch.zeros(heads, size // heads))
        self.pos_bias_v = nn.Parameter(torch.zeros(heads, size // heads))

    def forward(self, x, positions, bias):
        batch, rows, size = x.shape

        def split(t):
            return t.view(-1, t.shape[-2], self.heads, size // self.heads).transpose(1, 2)

        q, k, v = (split(f(x)) for f in (self.linear_q, self.linear_k, self.linear_v))
        p = split(self.linear_pos(positions))
        content = (q + self.pos_bias_u[:, None]) @ k.transpose(-1, -2)
        distance = (q + self.pos_bias_v[:, None]) @ p.transpose(-1, -2)  # (batch, heads, rows, 2 rows - 1)
        distance = F.pad(distance, (1, 0)).view(batch, self.heads, 2 * rows, rows)[:, :, 1:]
        distance = distance.reshape(batch, self.heads, rows, 2 * rows - 1)[..., :rows]
        weights = ((content + distance) * (size // self.heads) ** -0.5 + bias).softmax(-1)
        return self.linear_out((weights @ v).transpose(1, 2).reshape(batch, rows, size))


class Convolution(nn.Module):
    def __init__(self, size, kernel, bias, causal):
        super().__init__()
        self.left = kernel - 1 if causal else (kernel - 1) // 2
        self.pointwise_conv1 = Kernel(2 * size, size, 1, bias=bias)
        self.depthwise_conv = Kernel(size, 1, kernel, bias=bias)
        self.batch_norm = nn.LayerNorm(size) if causal else nn.BatchNorm1d(size)
        self.pointwise_conv2 = Kernel(size, size, 1, bias=bias)

    def forward(self, x, valid):
        x = F.glu(self.pointwise_conv1(x), -1) * valid[..., None]
        taps = self.depthwise_conv.weight
        x = F.pad(x, (0, 0, self.left, taps.shape[2] - 1 - self.left))
        x = Depthwise.apply(x, taps)
        if self.depthwise_conv.bias is not None:
            x = x + self.depthwise_conv.bias
        x = self.batch_norm(x.flatten(0, 1)).view(x.shape)
        return self.pointwise_conv2(F.silu(x))


class Layer(nn.Module):
    def __init__(self, size, heads, units, kernel, bias, causal):
        super().__init__()
        self.norm_feed_forward1 = nn.LayerNorm(size)
        self.feed_forward1 = FeedForward(size, units, bias)
        self.norm_self_att = nn.LayerNorm(size)
        self.self_attn = Attention(size, heads, bias)
        self.norm_conv = nn.LayerNorm(size)
        self.conv = Convolution(size, kernel, bias, causal)
        self.norm_feed_forward2 = nn.LayerNorm(size)
        self.feed_forward2 = FeedForward(size, units, bias)
        self.norm_out = nn.LayerNorm(size)

    def forward(self, x, positions, bias, valid, note=lambda name, x: x):
        x = x + 0.5 * note("feed_forward1", self.feed_forward1(self.norm_feed_forward1(x)))
        x = x + note("self_attn", self.self_attn(self.norm_self_att(x), positions, bias))
        x = x + note("conv", self.conv(self.norm_conv(x), valid))
        x = x + 0.5 * note("feed_forward2", self.feed_forward2(self.norm_feed_forward2(x)))
        return note("out", self.norm_out(x))


def positions(rows, size):
    """Sinusoids of the distances rows - 1 .. -(rows - 1), sines and cosines by turns."""
    rates = torch.exp(torch.arange(0, size, 2) * (-math.log(10000.0) / size))
    angles = torch.arange(rows - 1, -rows, -1)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)


class Encoder(nn.Module):
    """window: None for full context, or (left, right) of "chunked_limited" attention; then everything is causal."""

    def __init__(self, bands, layers, size, heads, channels, kernel=9, bias=True, xscaling=False, window=None,
                 units=None):
        super().__init__()
        self.size, self.xscaling, self.window = size, xscaling, window
        causal = window is not None
        self.pre_encode = Subsampling(bands, channels, size, causal)
        self.layers = nn.ModuleList(Layer(size, heads, units or 4 * size, kernel, bias, causal) for _ in range(layers))

    def seen(self, rows):
        """Which rows may see which, as (rows, rows) of bool."""
        if self.window is None:
            return torch.ones(rows, rows, dtype=torch.bool)
        left, right = self.window
        chunk = torch.arange(rows) // (right + 1)
        behind = chunk[:, None] - chunk[None]
        return (behind >= 0) & (behind <= left // (right + 1))

    def forward(self, x, lengths, trace=None):
        """x: features (batch, frames, bands); lengths: their frames. Returns rows and their numbers."""
        return self.blocks(*self.pre_encode(x, lengths), trace)

    def blocks(self, x, lengths, trace=None):
        """The same of rows behind the subsampling."""
        rows = x.shape[1]
        p = positions(rows, self.size)
        if trace is not None:
            trace["subsampling_out"], trace["pos_emb"] = x, p[None]
        if self.xscaling:
            x = x * math.sqrt(self.size)
        if trace is not None:
            trace["pos_enc_x"] = x
        valid = torch.arange(rows)[None] < lengths[:, None]
        bias = torch.zeros(1).masked_fill(~(valid[:, None, None] & self.seen(rows)), -1e9)
        for i, layer in enumerate(self.layers):
            def note(name, y):
                if trace is not None:
                    trace[f"layer{i}_{name}"] = y
                return y

            x = layer(x, p, bias, valid.to(x.dtype), note)
        return x, lengths


class CtcHead(nn.Module):
    def __init__(self, size, labels):
        super().__init__()
        self.decoder_layers = nn.ModuleList([Kernel(labels + 1, size, 1)])

    def forward(self, x):
        return self.decoder_layers[0](x)


class ParakeetCtc(nn.Module):
    """Rows of `labels` scores and that of blank."""

    def __init__(self, labels, bands=80, layers=5, size=160, heads=4, channels=32, **more):
        super().__init__()
        self.blank = labels
        self.encoder = Encoder(bands, layers, size, heads, channels, **more)
        self.decoder = CtcHead(size, labels)

    def forward(self, x, lengths, trace=None):
        x, lengths = self.encoder(x, lengths, trace)
        if trace is not None:
            trace["encoder_out"] = x
        return self.decoder(x), lengths


class Prediction(nn.Module):
    """The prediction network: labels said so far -> a row after each of them; the first row is that of none."""

    def __init__(self, labels, hidden, layers=1):
        super().__init__()
        self.prediction = nn.Module()
        self.prediction.embed = nn.Embedding(labels + 1, hidden, padding_idx=labels)
        self.prediction.dec_rnn = nn.Module()
        self.prediction.dec_rnn.lstm = nn.LSTM(hidden, hidden, layers, batch_first=True)

    def forward(self, labels):
        """(batch, n) -> (batch, n + 1, hidden)."""
        x = F.pad(self.prediction.embed(labels), (0, 0, 1, 0))
        return self.prediction.dec_rnn.lstm(x)[0]

    def step(self, label, state):
        """One label (None at the start) -> (row, state)."""
        lstm = self.prediction.dec_rnn.lstm
        x = torch.zeros(lstm.input_size) if label is None else self.prediction.embed.weight[label]
        y, state = lstm(x[None, None], state)
        return y[0, 0], state


class Joint(nn.Module):
    def __init__(self, size, hidden, joint, outputs):
        super().__init__()
        self.pred = nn.Linear(hidden, joint)
        self.enc = nn.Linear(size, joint)
        self.joint_net = nn.ModuleList([nn.Identity(), nn.Identity(), nn.Linear(joint, outputs)])

    def forward(self, enc, pred):
        """Rows already projected by `enc` and `pred`."""
        return self.joint_net[2]((enc + pred).relu())


class Transducer(nn.Module):
    """RNN-T, or TDT where there are durations: scores of labels, blank, durations. A CTC head beside it on request."""

    def __init__(self, labels, durations=(), bands=80, layers=5, size=160, heads=4, channels=32, hidden=160, joint=160,
                 rnn_layers=1, ctc=False, **more):
        super().__init__()
        self.blank, self.durations = labels, list(durations)
        self.encoder = Encoder(bands, layers, size, heads, channels, **more)
        self.decoder = Prediction(labels, hidden, rnn_layers)
        self.joint = Joint(size, hidden, joint, labels + 1 + len(self.durations))
        if ctc:
            self.ctc_decoder = CtcHead(size, labels)

    @torch.no_grad()
    def greedy(self, rows, max_symbols=10):
        """Encoder rows of one recording -> [(label, row, duration)]."""
        enc, out, t = self.joint.enc(rows), [], 0
        y, state = self.decoder.step(None, None)
        y = self.joint.pred(y)
        while t < len(enc):
            jump = 0
            for said in range(max_symbols):
                scores = self.joint(enc[t], y)
                label = int(scores[: self.blank + 1].argmax())
                jump = self.durations[int(scores[self.blank + 1 :].argmax())] if self.durations else 0
                if label == self.blank:
                    jump = max(jump, 1)
                else:
                    out.append((label, t, jump))
                    y, state = self.decoder.step(label, state)
                    y = self.joint.pred(y)
                if jump:
                    break
            else:
                jump = 1
            t += jump
        return out


def from_checkpoint(state, config):
    """Builds the model that a NeMo configuration and its tensors describe."""
    e = config["encoder"]
    causal = e["att_context_style"] == "chunked_limited"
    more = {"bands": e["feat_in"], "layers": e["n_layers"], "size": e["d_model"], "heads": e["n_heads"],
            "channels": e["subsampling_conv_channels"], "kernel": e["conv_kernel_size"],
            "bias": e.get("use_bias", True), "xscaling": e["xscaling"],
            "window": tuple(e["att_context_size"]) if causal else None}
    if "joint" in config:
        p = config["decoder"]["prednet"]
        model = Transducer(config["joint"]["num_classes"], config["decoding"].get("durations", []),
                           hidden=p["pred_hidden"], joint=config["joint"]["jointnet"]["joint_hidden"],
                           rnn_layers=p["pred_rnn_layers"], **more)
    else:
        model = ParakeetCtc(config["decoder"]["num_classes"], **more)
    model.load_state_dict({k: v for k, v in state.items() if not k.startswith("preprocessor.")}, strict=True)
    return model.eval()
