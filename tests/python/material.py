# SPDX-License-Identifier: Apache-2.0
"""Models and recordings of the source tree."""

import array
import os
import pathlib
import wave

SOURCE = pathlib.Path(os.environ["STENO_SOURCE"])
MODELS = SOURCE / "examples" / "models"
SORTFORMER = SOURCE / "tests" / "golden" / "sortformer" / "model.gguf"
SENTENCE = "the train to paris leaves in seven minutes"


def recording(name: str = "train") -> array.array:
    """16-bit samples of a bundled recording."""
    with wave.open(str(SOURCE / "examples" / "audio" / f"{name}.wav")) as file:
        assert file.getnchannels() == 1 and file.getsampwidth() == 2
        return array.array("h", file.readframes(file.getnframes()))


def floats(name: str = "train") -> array.array:
    """The same in [-1, 1]."""
    return array.array("f", [value / 32768 for value in recording(name)])
