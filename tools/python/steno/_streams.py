# SPDX-License-Identifier: Apache-2.0
"""Streams: audio that is worked at as it comes."""

from __future__ import annotations

import contextlib
import threading
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Optional

from ._errors import Misuse
from ._handles import Handle
from ._library import Sink, call, lib
from ._options import Options
from ._results import Event, event_of
from ._samples import Samples

if TYPE_CHECKING:
    from ._samples import Buffer


class Stream:
    """A stream of a model's stream(). One thread at a time; several streams of one model at once.

    Any portions of samples give the same events.
    """

    def __init__(self, of: Handle, function: str, options: Mapping[str, Any]) -> None:
        self._pointer = c_void_p()
        self._busy = threading.Lock()
        self._events: list[Event] = []
        self._failure: Optional[BaseException] = None
        self._options = Options(options)  # its models stand beside the stream as long as it lives
        self._of: Optional[Handle] = None
        self._sink = Sink(self._take)  # the library keeps it
        try:
            model = of._acquire()
            self._of = of
            call(function, model, self._options.pointer, self._sink, None, byref(self._pointer))
        except BaseException:
            self._let_go()
            raise

    def _take(self, shown: Any, _: Any) -> int:
        try:
            self._events.append(event_of(shown))
            return 0
        except BaseException as e:  # pylint: disable=broad-except; it is raised again behind the call
            self._failure = e
            return 1

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise Misuse("the stream is being used by another thread")
        try:
            yield
        finally:
            self._busy.release()

    def _call(self, function: str, *arguments: Any) -> list[Event]:
        with self._alone():
            if not self._pointer:
                raise Misuse("the stream is closed")
            self._events = []
            try:
                call(function, self._pointer, *arguments)
            except BaseException:
                if self._failure is not None:
                    raise self._failure from None
                raise
            return self._events

    def push(self, samples: Buffer) -> list[Event]:
        """More samples, any number of them; what was found out with them."""
        given = Samples(samples)
        return self._call("steno_stream_push", given.pointer, given.count)

    def finish(self) -> list[Event]:
        """The end of the audio: what is left."""
        return self._call("steno_stream_finish")

    def run(self, portions: Iterable[Buffer]) -> Iterator[Event]:
        """Everything that is found out while the portions come, and at their end. Closes the stream."""
        with self:
            for portion in portions:
                yield from self.push(portion)
                if self.over:
                    return
            yield from self.finish()

    @property
    def over(self) -> bool:
        """After finish(), an error, or an endpoint behind which it does not go on."""
        with self._alone():
            return not self._pointer or bool(lib.steno_stream_over(self._pointer))

    def close(self) -> None:
        """Gives the memory back. Does nothing the second time."""
        with self._alone():
            self._let_go()

    def _let_go(self) -> None:
        if self._pointer:
            lib.steno_stream_free(self._pointer)
            self._pointer = c_void_p()
        self._options.close()
        if self._of is not None:
            self._of._release()
            self._of = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_of", None) is not None:
            self._let_go()
