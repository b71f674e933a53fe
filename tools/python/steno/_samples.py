# SPDX-License-Identifier: Apache-2.0
"""Audio in: numpy arrays and other buffers of samples."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Union, cast

if TYPE_CHECKING:
    import numpy.typing
    from _typeshed import ReadableBuffer

    Buffer = Union[ReadableBuffer, numpy.typing.NDArray[Any]]

# Formats of buffers (as of struct) of this machine's byte order, and what makes [-1, 1] of their values.
_SCALES = {"f": 1.0, "d": 1.0, "h": 1.0 / 32768}


class Samples:
    """Mono samples as floats; those of a contiguous float32 buffer are not copied."""

    def __init__(self, buffer: Buffer) -> None:
        try:
            shown = memoryview(cast(Any, buffer))
        except TypeError:
            raise TypeError(
                f"samples: expected a numpy array or another buffer, found {type(buffer).__name__}"
            ) from None
        if shown.ndim != 1:
            raise ValueError(f"samples: expected one dimension (mono), found {shown.ndim}")
        own = {"little": "<", "big": ">"}[sys.byteorder]
        kind = shown.format.removeprefix("@").removeprefix("=").removeprefix(own)
        if kind not in _SCALES:
            raise TypeError(
                "samples: expected float32, float64 or int16"
                f", found values of the format {shown.format!r}; numpy.frombuffer() gives bytes a type"
            )
        self.count = len(shown)
        if kind == "f" and shown.c_contiguous and shown.readonly is False:
            self._keep: Any = (ctypes.c_float * self.count).from_buffer(shown)
        elif kind == "f" and shown.c_contiguous:
            self._keep = (ctypes.c_float * self.count).from_buffer_copy(shown)
        else:
            self._keep = _converted(shown, _SCALES[kind])

    @property
    def pointer(self) -> Any:
        """For the library, as long as this lives."""
        return ctypes.cast(self._keep, ctypes.c_void_p)


def _converted(shown: memoryview, scale: float) -> Any:
    try:
        import numpy
    except ImportError:
        return (ctypes.c_float * len(shown))(*[value * scale for value in shown.tolist()])
    values = numpy.asarray(shown).astype(numpy.float32)
    if scale != 1.0:
        values *= numpy.float32(scale)
    return (ctypes.c_float * len(values)).from_buffer(values.data)
