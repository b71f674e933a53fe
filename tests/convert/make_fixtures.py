#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/convert/fixtures: small torch checkpoints in every layout, and what torch itself reads from them.

Made with torch 1.13 of Debian 12; run again only when a fixture is added:  python3 tests/convert/make_fixtures.py
"""
import collections
import io
import json
import os
import pathlib
import struct
import zipfile

import sentencepiece
import torch

here = pathlib.Path(__file__).parent / "fixtures"
here.mkdir(exist_ok=True)
torch.manual_seed(7)


def values(t):
    t = t.detach()
    flat = (t.to(torch.float64) if t.dtype not in (torch.int64, torch.bool) else t.to(torch.int64)).reshape(-1).tolist()
    return {"type": str(t.dtype).removeprefix("torch."), "shape": list(t.shape), "values": flat}


base = torch.arange(24, dtype=torch.float32).reshape(4, 6) * 0.5 - 3
tensors = collections.OrderedDict(
    f32=torch.randn(3, 5),
    f16=torch.tensor([0.1, -65504.0, 6e-8, 2.5]).half(),
    bf16=torch.randn(2, 3, 2).bfloat16(),
    f64=torch.tensor([[1 / 3, -2.0], [1e-3, 4.0]], dtype=torch.float64),
    i64=torch.tensor([-(2**40), 7]),
    i32=torch.tensor([-5, 2**30], dtype=torch.int32),
    i16=torch.tensor([-300, 2], dtype=torch.int16),
    i8=torch.tensor([-128, 127], dtype=torch.int8),
    u8=torch.tensor([0, 255], dtype=torch.uint8),
    boolean=torch.tensor([True, False, True]),
    scalar=torch.tensor(2.75),
    empty=torch.zeros(0, 4),
    base=base,
    transposed=base.t(),
    window=base[1:3, 2:5],
    every_second=base[::2, ::3],
    permuted=base.reshape(2, 2, 6).permute(2, 0, 1),
    expanded=base[0:1, 0:1].expand(2, 3),
    parameter=torch.nn.Parameter(torch.randn(4)),
)
expected = {name: values(t) for name, t in tensors.items()}
(here / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")

torch.save(tensors, here / "zip_protocol2.pt")
torch.save(tensors, here / "zip_protocol4.pt", pickle_protocol=4)
torch.save(tensors, here / "legacy.pt", _use_new_zipfile_serialization=False)

layer = torch.nn.Linear(3, 2)  # its state dict carries _metadata
optimizer = torch.optim.Adam(layer.parameters())
layer(torch.ones(1, 3)).sum().backward()
optimizer.step()
training = {
    "epoch": 3,
    "loss": 0.25,
    "big": 2**80,
    "negative": -(2**40),
    "flag": True,
    "nothing": None,
    "list": [1, "a", (2.5, b"bytes\xff"), {1, 2}, frozenset({3})],
    "size": torch.Size([2, 3]),
    "optimizer": optimizer.state_dict(),
    "state_dict": layer.state_dict(),
}
torch.save(training, here / "training.pt")
torch.save(training, here / "training_legacy.pt", _use_new_zipfile_serialization=False)
distributed = {"module." + k: v for k, v in layer.state_dict().items()}
torch.save(distributed, here / "distributed.pt", pickle_protocol=5)
(here / "training.json").write_text(json.dumps({k: values(v) for k, v in layer.state_dict().items()}, indent=0) + "\n")


# Packed again with compression, as some download sites do; the top folder is renamed.
with zipfile.ZipFile(here / "zip_protocol2.pt") as source, zipfile.ZipFile(
    here / "deflated.pt", "w", zipfile.ZIP_DEFLATED
) as target:
    for item in source.infolist():
        name = "archive/" + item.filename.split("/", 1)[1]
        target.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), source.read(item), zipfile.ZIP_DEFLATED)


# Larger than what a reader takes at once.
ramp = (torch.arange(300001) % 7).float()
whole = (torch.arange(600000) % 7).half()
large = {"ramp": ramp, "whole": whole, "rest": whole[250000:]}
packed = io.BytesIO()
torch.save(large, packed)
with zipfile.ZipFile(packed) as source, zipfile.ZipFile(here / "large.pt", "w", zipfile.ZIP_DEFLATED) as target:
    for item in source.infolist():
        target.writestr(zipfile.ZipInfo(item.filename, (2020, 1, 1, 0, 0, 0)), source.read(item), zipfile.ZIP_DEFLATED)


# Whatever torch.save is asked to save that is not data.
class Calls:
    def __reduce__(self):
        return os.system, ("true",)


torch.save({"weight": torch.ones(2), "payload": Calls()}, here / "calls_system.pt")
torch.save(layer, here / "whole_module.pt")

# A SentencePiece model with every kind of piece and settings other than the defaults.
model = io.BytesIO()
sentences = ["the quick brown fox jumps over the lazy dog", "pack my box with five dozen jugs", "how vexingly quick"]
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(sentences * 4), model_writer=model, vocab_size=300, model_type="bpe", byte_fallback=True,
    control_symbols=["<|en|>"], user_defined_symbols=["<mark>"], add_dummy_prefix=False,
    remove_extra_whitespaces=False, normalization_rule_name="identity", unk_surface=" ?? ", minloglevel=2,
)
(here / "pieces.model").write_bytes(model.getvalue())
processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def kind(i):
    for number, test in ((2, processor.IsUnknown), (3, processor.IsControl), (5, processor.IsUnused),
                         (6, processor.IsByte)):
        if test(i):
            return number
    return 4 if processor.IdToPiece(i) == "<mark>" else 1


pieces = [[processor.IdToPiece(i), processor.GetScore(i), kind(i)] for i in range(processor.GetPieceSize())]
(here / "pieces.json").write_text(json.dumps(pieces, separators=(",", ":")) + "\n")


# A SenseVoiceSmall folder of a very small size. Every tensor is a view of one storage of half floats, at an offset that
# follows from its name, so the test knows every value (sense_voice_value in convert_test.cpp).
folder = here / "sense_voice"
folder.mkdir(exist_ok=True)
width, units, taps, heads, mels, stack = 32, 32, 3, 2, 4, 3
names = ["<unk>", "<s>", "</s>", "<|zh|>", "<|en|>", "\u2581a", "b", "\u2581", "\u4f60"]
shapes = {"embed.weight": (16, mels * stack), "ctc.ctc_lo.weight": (len(names), width),
          "ctc.ctc_lo.bias": (len(names),)}
for layer_name, inputs in (("encoders0.0", mels * stack), ("encoders.0", width), ("tp_encoders.0", width)):
    for name, shape in {
        "self_attn.linear_out.weight": (width, width), "self_attn.linear_out.bias": (width,),
        "self_attn.linear_q_k_v.weight": (3 * width, inputs), "self_attn.linear_q_k_v.bias": (3 * width,),
        "self_attn.fsmn_block.weight": (width, 1, taps),
        "feed_forward.w_1.weight": (units, width), "feed_forward.w_1.bias": (units,),
        "feed_forward.w_2.weight": (width, units), "feed_forward.w_2.bias": (width,),
        "norm1.weight": (inputs,), "norm1.bias": (inputs,), "norm2.weight": (width,), "norm2.bias": (width,),
    }.items():
        shapes[f"encoder.{layer_name}.{name}"] = shape
for norm in ("after_norm", "tp_norm"):
    shapes[f"encoder.{norm}.weight"] = shapes[f"encoder.{norm}.bias"] = (width,)
pattern = ((torch.arange(3 * width * width + 251) * 37) % 257 - 128).to(torch.float64).div(64).half()
state = collections.OrderedDict()
for name, shape in shapes.items():
    offset, count = sum(name.encode()) % 251, torch.Size(shape).numel()
    state[name] = pattern[offset : offset + count].view(shape)
torch.save({"state_dict": state, "epoch": 1}, folder / "model.pt", _use_new_zipfile_serialization=False)

(folder / "config.yaml").write_text(f"""# as FunASR writes it, training keys included
encoder: SenseVoiceEncoderSmall
encoder_conf:
    output_size: {width}
    attention_heads: {heads}
    linear_units: {units}
    num_blocks: 2
    tp_blocks: 1
    dropout_rate: 0.1
    input_layer: pe
    pos_enc_class: SinusoidalPositionEncoder
    normalize_before: true
    kernel_size: {taps}
    sanm_shfit: 0
    selfattention_layer_type: sanm
model: SenseVoiceSmall
model_conf:
    length_normalized_loss: true
    sos: 1
    eos: 2
    ignore_id: -1
tokenizer: SentencepiecesTokenizer
tokenizer_conf:
  bpemodel: null
  unk_symbol: <unk>
frontend: WavFrontend
frontend_conf:
    fs: 16000
    window: hamming
    n_mels: {mels}
    frame_length: 25
    frame_shift: 10
    lfr_m: {stack}
    lfr_n: 2
    cmvn_file: null
dataset_conf:
  num_workers: ${{model_conf.sos}}
  speed_perturb: [0.9, 1.0]
optim_conf:
  lr: 0.00002
""")
(folder / "configuration.json").write_text(json.dumps({
    "framework": "pytorch",
    "model": {"type": "funasr"},
    "file_path_metas": {
        "init_param": "model.pt",
        "config": "config.yaml",
        "tokenizer_conf": {"bpemodel": "tiny.bpe.model"},
        "frontend_conf": {"cmvn_file": "am.mvn"},
    },
}, indent=1) + "\n")
shift, scale = ([f"{v / 8}" for v in range(first, first + mels * stack)] for first in (-20, 1))
size = mels * stack
(folder / "am.mvn").write_text(
    f"<Nnet> \n<Splice> {size} {size}\n[ 0 ]\n<AddShift> {size} {size} \n<LearnRateCoef> 0 [ {' '.join(shift)} ]\n"
    f"<Rescale> {size} {size}\n<LearnRateCoef> 0 [ {' '.join(scale)} ]\n</Nnet> \n")


def field(number, content):  # a length-delimited protobuf field shorter than 128 bytes
    return bytes([number << 3 | 2, len(content)]) + content


pieces_of_it = b"".join(
    field(1, field(1, name.encode()) + b"\x15" + struct.pack("<f", -i)
          + bytes([0x18, 2 if i == 0 else 3 if i < 3 else 1]))
    for i, name in enumerate(names))
(folder / "tiny.bpe.model").write_bytes(pieces_of_it + field(3, b"\x18\x00"))  # add_dummy_prefix: false
