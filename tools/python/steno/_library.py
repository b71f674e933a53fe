# SPDX-License-Identifier: Apache-2.0
"""libsteno's functions (steno/steno.h), and how they are called."""

from __future__ import annotations

import ctypes
import pathlib
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int, c_size_t, c_void_p
from typing import Any

from ._errors import Status, error_of

_PATH = pathlib.Path(__file__).with_name("libsteno.so.0")


class CSegment(ctypes.Structure):
    """steno_segment"""

    _fields_ = [
        ("size", c_size_t),
        ("start", c_double),
        ("end", c_double),
        ("text", c_char_p),
        ("language", c_char_p),
        ("speaker", c_char_p),
        ("word_count", c_size_t),
        ("has_score", c_int),
        ("score", c_double),
    ]


class CWord(ctypes.Structure):
    """steno_word"""

    _fields_ = [
        ("size", c_size_t),
        ("start", c_double),
        ("end", c_double),
        ("has_times", c_int),
        ("text", c_char_p),
        ("confidence", c_float),
        ("speaker", c_char_p),
    ]


class CEvent(ctypes.Structure):
    """steno_event"""

    _fields_ = [
        ("size", c_size_t),
        ("final", c_int),
        ("utterance", CSegment),
        ("stable", c_size_t),
        ("endpoint", c_char_p),
        ("has_eot_confidence", c_int),
        ("eot_confidence", c_double),
        ("words", c_void_p),
    ]


Progress = ctypes.CFUNCTYPE(c_int, c_double, c_double, c_void_p)
Sink = ctypes.CFUNCTYPE(c_int, POINTER(CEvent), c_void_p)

# A text that is given back by steno_free(), so no c_char_p, of which ctypes would make bytes.
_TEXT_OUT = POINTER(c_void_p)
_HANDLE_OUT = POINTER(c_void_p)
_SAMPLES = (c_void_p, c_size_t)

# Functions that give a status take a place for a message last.
_WITH_STATUS: dict[str, tuple[Any, ...]] = {
    "steno_model_load": (c_char_p, c_int, _HANDLE_OUT),
    "steno_diarizer_load": (c_char_p, c_int, _HANDLE_OUT),
    "steno_aligner_load": (c_char_p, c_int, _HANDLE_OUT),
    "steno_punctuator_load": (c_char_p, c_int, _HANDLE_OUT),
    "steno_vad_load": (c_char_p, c_int, _HANDLE_OUT),
    "steno_options_set": (c_void_p, c_char_p, c_char_p),
    "steno_transcribe_with_progress": (c_void_p, *_SAMPLES, c_void_p, Progress, c_void_p, _HANDLE_OUT),
    "steno_diarize": (c_void_p, *_SAMPLES, c_void_p, _HANDLE_OUT),
    "steno_detect": (c_void_p, *_SAMPLES, c_void_p, _HANDLE_OUT),
    "steno_align": (c_void_p, *_SAMPLES, c_char_p, c_char_p, _HANDLE_OUT),
    "steno_punctuate": (c_void_p, c_char_p, _TEXT_OUT),
    "steno_stream_open": (c_void_p, c_void_p, Sink, c_void_p, _HANDLE_OUT),
    "steno_diarizer_stream_open": (c_void_p, c_void_p, Sink, c_void_p, _HANDLE_OUT),
    "steno_vad_stream_open": (c_void_p, c_void_p, Sink, c_void_p, _HANDLE_OUT),
    "steno_stream_push": (c_void_p, *_SAMPLES),
    "steno_stream_finish": (c_void_p,),
}
_OTHERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "steno_version": (c_char_p, ()),
    "steno_free": (None, (c_void_p,)),
    "steno_model_free": (None, (c_void_p,)),
    "steno_model_name": (c_char_p, (c_void_p,)),
    "steno_model_sample_rate": (c_int, (c_void_p,)),
    "steno_model_streams": (c_int, (c_void_p,)),
    "steno_model_supports": (c_int, (c_void_p, c_char_p, c_int)),
    "steno_model_language_count": (c_size_t, (c_void_p,)),
    "steno_model_language": (c_char_p, (c_void_p, c_size_t)),
    "steno_diarizer_free": (None, (c_void_p,)),
    "steno_diarizer_sample_rate": (c_int, (c_void_p,)),
    "steno_diarizer_speakers": (c_size_t, (c_void_p,)),
    "steno_diarizer_streams": (c_int, (c_void_p,)),
    "steno_aligner_free": (None, (c_void_p,)),
    "steno_aligner_sample_rate": (c_int, (c_void_p,)),
    "steno_aligner_max_seconds": (c_double, (c_void_p,)),
    "steno_punctuator_free": (None, (c_void_p,)),
    "steno_vad_free": (None, (c_void_p,)),
    "steno_vad_name": (c_char_p, (c_void_p,)),
    "steno_vad_sample_rate": (c_int, (c_void_p,)),
    "steno_options_new": (c_void_p, ()),
    "steno_options_free": (None, (c_void_p,)),
    "steno_options_use_diarizer": (c_int, (c_void_p, c_void_p)),
    "steno_options_use_aligner": (c_int, (c_void_p, c_void_p)),
    "steno_options_use_punctuator": (c_int, (c_void_p, c_void_p)),
    "steno_options_use_vad": (c_int, (c_void_p, c_void_p)),
    "steno_result_free": (None, (c_void_p,)),
    "steno_result_text": (c_char_p, (c_void_p,)),
    "steno_result_language": (c_char_p, (c_void_p,)),
    "steno_result_duration": (c_double, (c_void_p,)),
    "steno_result_segment_count": (c_size_t, (c_void_p,)),
    "steno_result_segment": (c_int, (c_void_p, c_size_t, POINTER(CSegment))),
    "steno_result_word": (c_int, (c_void_p, c_size_t, c_size_t, POINTER(CWord))),
    "steno_stream_over": (c_int, (c_void_p,)),
    "steno_stream_free": (None, (c_void_p,)),
    "steno_event_word": (c_int, (POINTER(CEvent), c_size_t, POINTER(CWord))),
}


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(_PATH))
    except OSError as e:
        raise ImportError(f"steno: its library cannot be loaded: {e}") from e
    for name, arguments in _WITH_STATUS.items():
        function = getattr(library, name)
        function.restype = c_int
        function.argtypes = (*arguments, _TEXT_OUT)
    for name, (result, arguments) in _OTHERS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()


def call(name: str, *arguments: Any) -> None:
    """Calls a function that gives a status; raises what it says."""
    message = c_void_p()
    status = getattr(lib, name)(*arguments, byref(message))
    if status != Status.OK:
        raise error_of(status, take_text(message))


def take_text(text: c_void_p) -> str:
    """A text of the library's, which is given back."""
    if not text.value:
        return ""
    try:
        return ctypes.string_at(text.value).decode()
    finally:
        lib.steno_free(text)


def encoded(text: str, what: str) -> bytes:
    """UTF-8 for a function that takes texts to their first 0."""
    if "\0" in text:
        raise ValueError(f"{what} holds a NUL character")
    return text.encode()


def version() -> str:
    """The library's version."""
    found: bytes = lib.steno_version()
    return found.decode()
