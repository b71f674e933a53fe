# SPDX-License-Identifier: Apache-2.0
"""Models that recognise."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._handles import Handle
from ._library import Progress, call, encoded, lib
from ._options import options_of
from ._results import Result, take_result
from ._samples import Samples
from ._streams import Stream

if TYPE_CHECKING:
    from ._samples import Buffer


class Model(Handle):
    """A loaded model. Several threads may use it at once.

    `threads`: 0 means one for each processor that the process may use. Calls share the threads and then wait for each
    other; with 1 each works on the thread that calls.
    """

    _kind = "model"

    def __init__(self, path: Union[str, os.PathLike[str]], threads: int = 0) -> None:
        super().__init__(os.fsencode(path), threads)

    @property
    def name(self) -> str:
        """ "sense_voice", "whisper", ... """
        with self._use() as model:
            found: bytes = lib.steno_model_name(model)
            return found.decode()

    @property
    def sample_rate(self) -> int:
        """Samples a second that it expects."""
        with self._use() as model:
            return int(lib.steno_model_sample_rate(model))

    @property
    def streams(self) -> bool:
        """Whether it streams by itself. Streams of others recognise segments of speech."""
        with self._use() as model:
            return bool(lib.steno_model_streams(model))

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that can be chosen."""
        with self._use() as model:
            count = lib.steno_model_language_count(model)
            return tuple(lib.steno_model_language(model, i).decode() for i in range(count))

    def supports(self, option: str, *, live: bool = False) -> bool:
        """Whether an option has an effect in transcribe(), or, with `live`, in stream()."""
        with self._use() as model:
            return bool(lib.steno_model_supports(model, encoded(option, "an option's name"), live))

    def transcribe(
        self, samples: Buffer, *, progress: Optional[Callable[[float, float], object]] = None, **options: Any
    ) -> Result:
        """A whole recording: mono, at sample_rate, float32 or float64 in [-1, 1], or int16.

        `progress` takes seconds that are done and all seconds; one that returns False ends the call with Cancelled, and
        what it raises is raised here. Options go by the library's names (language="en", beam=5, hotwords=[...],
        vad="energy", word_timestamps=True, ...); `diarizer`, `aligner`, `punctuator` and `vad` take models. What the
        model does not honour is refused by name.
        """
        failure: list[BaseException] = []

        def tell(done: float, total: float, _: Any) -> int:
            try:  # called without a function, too: here Python looks for interrupts
                return progress is not None and progress(done, total) is False
            except BaseException as e:  # pylint: disable=broad-except; it is raised again behind the call
                failure.append(e)
                return 1

        given = Samples(samples)
        result = c_void_p()
        with self._use() as model, options_of(options) as o:
            try:
                call(
                    "steno_transcribe_with_progress",
                    model,
                    given.pointer,
                    given.count,
                    o,
                    Progress(tell),
                    None,
                    byref(result),
                )
            except BaseException:
                if failure:
                    raise failure[0] from None
                raise
        return take_result(result)

    def stream(self, **options: Any) -> Stream:
        """Recognises audio as it comes. Options as in transcribe(), those of streams."""
        return Stream(self, "steno_stream_open", options)
