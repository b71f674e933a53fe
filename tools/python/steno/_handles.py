# SPDX-License-Identifier: Apache-2.0
"""Handles of the library, which live until they are closed and nobody uses them any more."""

from __future__ import annotations

import contextlib
import threading
from ctypes import byref, c_void_p
from typing import Any, Iterator, TypeVar

from ._errors import Misuse
from ._library import call, lib

Self = TypeVar("Self", bound="Handle")


class Handle:
    """A loaded model. Several threads may use it at once; one that closes it waits for none of them: the memory comes
    back with the end of the last call or stream."""

    _kind = ""  # of the library's functions: steno_KIND_free()

    def __init__(self, *arguments: Any) -> None:
        self._lock = threading.Lock()
        self._uses = 0
        self._closed = False
        self._pointer = c_void_p()
        call(f"steno_{self._kind}_load", *arguments, byref(self._pointer))

    @contextlib.contextmanager
    def _use(self) -> Iterator[c_void_p]:
        pointer = self._acquire()
        try:
            yield pointer
        finally:
            self._release()

    def _acquire(self) -> c_void_p:
        with self._lock:
            if self._closed:
                raise Misuse(f"the {self._kind} is closed")
            self._uses += 1
            return self._pointer

    def _release(self) -> None:
        with self._lock:
            self._uses -= 1
            self._free_unused()

    def _free_unused(self) -> None:
        if self._closed and self._uses == 0 and self._pointer:
            getattr(lib, f"steno_{self._kind}_free")(self._pointer)
            self._pointer = c_void_p()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def close(self) -> None:
        """Gives the memory back; nothing more can be done with it. Does nothing the second time."""
        with self._lock:
            self._closed = True
            self._free_unused()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self.close()
