# SPDX-License-Identifier: Apache-2.0
"""What the library finds."""

from __future__ import annotations

import ctypes
import functools
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ._library import CEvent, CSegment, CWord, lib


@dataclass(frozen=True)
class Word:
    """A word, or a character of a script without words."""

    text: str
    start: Optional[float]
    """seconds; None where the word has no times"""
    end: Optional[float]
    confidence: float
    """probability"""
    speaker: Optional[str] = None


@dataclass(frozen=True)
class Segment:
    """A part of a recording, or an utterance of a stream."""

    text: str
    start: float
    """seconds"""
    end: float
    words: tuple[Word, ...] = ()
    """empty where the model has none"""
    language: Optional[str] = None
    """as the model names it"""
    speaker: Optional[str] = None
    score: Optional[float] = None
    """logarithm of a probability, where the model computes one"""


@dataclass(frozen=True)
class Result:
    """What was found in a recording."""

    text: str
    segments: tuple[Segment, ...]
    duration: float
    """seconds of audio"""
    language: Optional[str] = None
    """of the first segment that has one"""


@dataclass(frozen=True)
class Event:
    """What a stream found out. Each partial result replaces the one before; a final one settles its utterance."""

    final: bool
    utterance: Segment
    stable: str
    """the beginning of the text, which will not change any more"""
    endpoint: Optional[str] = None
    """what ended the utterance: "endpoint", "end_of_turn", ...; None: the end of the audio"""
    eot_confidence: Optional[float] = None
    """probability that the turn has ended, of models that have one"""


def _text(found: Optional[bytes]) -> Optional[str]:
    return None if found is None else found.decode()


def _word(found: CWord) -> Word:
    times = bool(found.has_times)
    return Word(
        text=found.text.decode(),
        start=found.start if times else None,
        end=found.end if times else None,
        confidence=found.confidence,
        speaker=_text(found.speaker),
    )


def _segment(found: CSegment, word_at: Callable[[int, Any], int]) -> Segment:
    words = []
    for i in range(found.word_count):
        word = CWord(size=ctypes.sizeof(CWord))
        word_at(i, byref(word))
        words.append(_word(word))
    return Segment(
        text=found.text.decode(),
        start=found.start,
        end=found.end,
        words=tuple(words),
        language=_text(found.language),
        speaker=_text(found.speaker),
        score=found.score if found.has_score else None,
    )


def take_result(result: c_void_p) -> Result:
    """What a steno_result holds, which is given back."""
    try:
        segments = []
        for i in range(lib.steno_result_segment_count(result)):
            shown = CSegment(size=ctypes.sizeof(CSegment))
            lib.steno_result_segment(result, i, byref(shown))
            segments.append(_segment(shown, functools.partial(lib.steno_result_word, result, i)))
        return Result(
            text=lib.steno_result_text(result).decode(),
            segments=tuple(segments),
            duration=lib.steno_result_duration(result),
            language=_text(lib.steno_result_language(result)),
        )
    finally:
        lib.steno_result_free(result)


def event_of(shown: Any) -> Event:
    """Of a pointer to a steno_event, within the callback."""
    found: CEvent = shown.contents
    utterance = _segment(found.utterance, functools.partial(lib.steno_event_word, shown))
    return Event(
        final=bool(found.final),
        utterance=utterance,
        stable=found.utterance.text[: found.stable].decode(),
        endpoint=_text(found.endpoint),
        eot_confidence=found.eot_confidence if found.has_eot_confidence else None,
    )
