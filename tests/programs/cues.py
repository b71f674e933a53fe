# SPDX-License-Identifier: Apache-2.0
"""cues.py FILE...: prints the cues of each subtitle file as JSON, read by other people's parsers, which refuse what is
malformed: srt, webvtt, and FFmpeg's for what Debian has no module for (ass, lrc). Exit code 77: FFmpeg is not there."""
import json
import re
import shutil
import subprocess
import sys


def of_srt(text):
    import srt

    return [
        {"start": c.start.total_seconds(), "end": c.end.total_seconds(), "text": c.content}
        for c in srt.parse(text, ignore_errors=False)
    ]


def cues_of(path):
    if path.endswith(".srt"):
        with open(path, encoding="utf-8") as text:
            return of_srt(text.read())
    if path.endswith(".vtt"):
        import webvtt

        return [{"start": c.start_in_seconds, "end": c.end_in_seconds, "text": c.text} for c in webvtt.read(path)]
    if shutil.which("ffmpeg") is None:
        sys.exit(77)
    converted = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "srt", "-"], check=True, capture_output=True
    )
    if converted.stderr:
        sys.exit(converted.stderr.decode())
    # FFmpeg writes a font around each text; a line of lyrics without a text is the end of the one before.
    plain = re.sub(r"</?font[^>]*>", "", converted.stdout.decode())
    return [c for c in of_srt(plain) if c["text"].strip()]


print(json.dumps({path: cues_of(path) for path in sys.argv[1:]}))
