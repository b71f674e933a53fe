# SPDX-License-Identifier: Apache-2.0
"""Who speaks, where somebody speaks, when words of a known text are spoken, and punctuation."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional, Union

from ._handles import Handle
from ._library import call, encoded, lib, take_text
from ._options import options_of
from ._results import Result, take_result
from ._samples import Samples
from ._streams import Stream

if TYPE_CHECKING:
    from ._samples import Buffer

_Path = Union[str, "os.PathLike[str]"]


class Diarizer(Handle):
    """A model that knows who speaks when. `threads` as in Model."""

    _kind = "diarizer"

    def __init__(self, path: _Path, threads: int = 0) -> None:
        super().__init__(os.fsencode(path), threads)

    @property
    def sample_rate(self) -> int:
        """Samples a second that it expects."""
        with self._use() as diarizer:
            return int(lib.steno_diarizer_sample_rate(diarizer))

    @property
    def speakers(self) -> int:
        """How many it can distinguish."""
        with self._use() as diarizer:
            return int(lib.steno_diarizer_speakers(diarizer))

    @property
    def streams(self) -> bool:
        """Whether recordings of any length take constant memory; others keep the samples."""
        with self._use() as diarizer:
            return bool(lib.steno_diarizer_streams(diarizer))

    def diarize(self, samples: Buffer, **options: Any) -> Result:
        """Who speaks when: segments with speakers, without texts, by their starts. They may overlap."""
        given, result = Samples(samples), c_void_p()
        with self._use() as diarizer, options_of(options) as o:
            call("steno_diarize", diarizer, given.pointer, given.count, o, byref(result))
        return take_result(result)

    def stream(self, **options: Any) -> Stream:
        """The same as it settles: a final event for each turn, in the order of their starts."""
        return Stream(self, "steno_diarizer_stream_open", options)


class Vad(Handle):
    """A detector of speech: "energy", which takes samples of `sample_rate`, or a model's file, which has its own."""

    _kind = "vad"

    def __init__(self, name: _Path = "energy", sample_rate: int = 16000) -> None:
        super().__init__(os.fsencode(name), sample_rate)

    @property
    def name(self) -> str:
        """ "energy_vad", "fsmn_vad", ... """
        with self._use() as vad:
            found: bytes = lib.steno_vad_name(vad)
            return found.decode()

    @property
    def sample_rate(self) -> int:
        """Samples a second that it expects."""
        with self._use() as vad:
            return int(lib.steno_vad_sample_rate(vad))

    def detect(self, samples: Buffer, **options: Any) -> Result:
        """Where somebody speaks: segments without texts."""
        given, result = Samples(samples), c_void_p()
        with self._use() as vad, options_of(options) as o:
            call("steno_detect", vad, given.pointer, given.count, o, byref(result))
        return take_result(result)

    def stream(self, **options: Any) -> Stream:
        """The same as it comes: an event that is not final where speech begins, a final one where it ends."""
        return Stream(self, "steno_vad_stream_open", options)


class Aligner(Handle):
    """A model that finds the words of a known text in a recording. `threads` as in Model."""

    _kind = "aligner"

    def __init__(self, path: _Path, threads: int = 0) -> None:
        super().__init__(os.fsencode(path), threads)

    @property
    def sample_rate(self) -> int:
        """Samples a second that it expects."""
        with self._use() as aligner:
            return int(lib.steno_aligner_sample_rate(aligner))

    @property
    def max_seconds(self) -> float:
        """Of the longest recording that align() takes."""
        with self._use() as aligner:
            return float(lib.steno_aligner_max_seconds(aligner))

    def align(self, samples: Buffer, text: str, language: Optional[str] = None) -> Result:
        """When each word of `text` is spoken: one segment with words. `language` as the model names it."""
        given, result = Samples(samples), c_void_p()
        spoken = None if language is None else encoded(language, "language")
        with self._use() as aligner:
            call(
                "steno_align", aligner, given.pointer, given.count, encoded(text, "text"), spoken, byref(result)
            )
        return take_result(result)


class Punctuator(Handle):
    """A model that puts punctuation into texts. `threads` as in Model."""

    _kind = "punctuator"

    def __init__(self, path: _Path, threads: int = 0) -> None:
        super().__init__(os.fsencode(path), threads)

    def punctuate(self, text: str) -> str:
        """`text` with punctuation."""
        punctuated = c_void_p()
        with self._use() as punctuator:
            call("steno_punctuate", punctuator, encoded(text, "text"), byref(punctuated))
        return take_text(punctuated)
