# SPDX-License-Identifier: Apache-2.0
"""Options by name, and the models that stand beside another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from typing import Any, Iterator

from ._errors import Misuse
from ._handles import Handle
from ._library import call, encoded, lib

_HELPERS = ("diarizer", "aligner", "punctuator", "vad")


def _written(value: Any) -> str:
    """As steno_options_set() takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Mapping):  # phrases and their weights
        return "\n".join(f"{phrase}\t{weight}" for phrase, weight in value.items())
    if isinstance(value, Sequence):
        between = "\n" if all(isinstance(one, str) for one in value) else ","
        return between.join(_written(one) for one in value)
    raise TypeError(f"expected a text, a number, or several of them, found {type(value).__name__}")


class Options:
    """A steno_options, and uses of the models in it."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._uses = contextlib.ExitStack()
        try:
            self.pointer = c_void_p(lib.steno_options_new())
            if not self.pointer:
                raise MemoryError
            self._uses.callback(lib.steno_options_free, self.pointer)
            for name, value in given.items():
                if value is not None:
                    self._set(name, value)
        except BaseException:
            self.close()
            raise

    def _set(self, name: str, value: Any) -> None:
        if isinstance(value, Handle):
            if name not in _HELPERS or name != value._kind:
                raise Misuse(f"option {name}: a {value._kind} does not stand there")
            pointer = self._uses.enter_context(value._use())
            getattr(lib, f"steno_options_use_{name}")(self.pointer, pointer)
            return
        try:
            text = _written(value)
        except TypeError as e:
            raise TypeError(f"option {name}: {e}") from None
        call("steno_options_set", self.pointer, encoded(name, "an option's name"), encoded(text, f"option {name}"))

    def close(self) -> None:
        """Ends the uses of the models."""
        self._uses.close()


@contextlib.contextmanager
def options_of(given: Mapping[str, Any]) -> Iterator[c_void_p]:
    """For one call."""
    options = Options(given)
    try:
        yield options.pointer
    finally:
        options.close()
