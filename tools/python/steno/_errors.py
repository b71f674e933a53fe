# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: statuses of the library, and their exceptions."""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """What became of a call: steno_status."""

    OK = 0
    ERROR = 1
    NO_MEMORY = 2
    CANCELLED = 3
    MISUSE = 4


class Error(Exception):
    """A file, a value or a model is not as it must be. Its text is one line that says what, and where."""

    status = Status.ERROR


class NoMemory(Error, MemoryError):
    """Memory was short. This call alone is lost."""

    status = Status.NO_MEMORY


class Cancelled(Error):
    """A call was ended by a progress function that returned False."""

    status = Status.CANCELLED


class Misuse(Error, ValueError):
    """A closed handle, a stream that is over, or one that another thread is using."""

    status = Status.MISUSE


_KINDS: dict[int, type[Error]] = {kind.status: kind for kind in (Error, NoMemory, Cancelled, Misuse)}


def error_of(status: int, message: str) -> Error:
    """The exception of a status that is not OK."""
    return _KINDS.get(status, Error)(message or "no memory for a message")
