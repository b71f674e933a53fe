#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts NeMo's golden case of Canary with an aggregate tokenizer down to what tests/golden/canary holds: the weights
with made-up pieces beside the special tokens (of the encoder as halves: its stages are those of Parakeet), the rows
that the decoder reads, its stages, and prompts, ids and texts of the beam searches.

Usage: compact_canary.py CANARY_FLASH_CASE STENO_CONVERT OUT_DIR
"""
import argparse
import io
import json
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from sentencepiece_file import sentencepiece_model

STAGES = ("encoder_states dec_embedding dec_layer0_self dec_layer0_cross dec_layer0_ff dec_layer0_out dec_layer1_out "
          "dec_out log_probs_en_asr").split()


def without_vocabulary(case, out):
    """The archive with made-up pieces for every language."""
    sizes = {part["lang"]: part["size"] for part in json.loads((case / "expected.json").read_text())["langs"]}
    with tarfile.open(case / "checkpoint" / "model.nemo") as tar:
        members = {pathlib.Path(m.name).name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
    config = members["model_config.yaml"].decode()
    for language, name in re.findall(r"^    (\w+):\n(?:      .*\n)*?      model_path: nemo:(\S+)",
                                     config, re.MULTILINE):
        if language != "spl_tokens":
            members[name] = sentencepiece_model(sizes[language], tags=())
    with tarfile.open(out, "w") as tar:
        for name, content in members.items():
            if name.endswith((".vocab", ".txt")):
                continue
            info = tarfile.TarInfo("./" + name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("case", "convert", "out"):
        args.add_argument(name, type=pathlib.Path)
    o = args.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    for name in STAGES:
        shutil.copyfile(next((o.case / "stages").glob(f"[0-9][0-9]_{name}.npy")), o.out / f"{name}.npy")
    expected = json.loads((o.case / "expected.json").read_text())
    kept = {k: expected[k] for k in ("enc_frames", "enc_valid", "special_ids", "langs", "timestamp_rule", "chunking",
                                     "merging")}
    kept["merging"] = kept["merging"][:5]
    kept["chunking"] = kept["chunking"][:-1]  # the last one has twenty windows
    kept["results"] = [
        {"name": r["name"], "slots": r["slots"], "prompt_ids": r["prompt_ids"], "token_ids": r["token_ids"],
         "beams": [{"beam": b["beam_size"], "length_penalty": b["length_penalty"], "token_ids": b["token_ids"],
                    "scores": [round(n["score"], 5) for n in b["n_best"]]} for b in r["beam_search"]]}
        for r in expected["results"]]
    (o.out / "expected.json").write_text(json.dumps(kept, separators=(",", ":"), ensure_ascii=False) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder) / "model.nemo"
        without_vocabulary(o.case, archive)
        subprocess.run([o.convert, archive, "-o", o.out / "model.gguf", "--type-of", "encoder.*.linear*.weight=f16",
                        "--type-of", "encoder.*.pointwise_conv*.weight=f16"], check=True)


if __name__ == "__main__":
    main()
