"""Prints the cues of a subtitle file as JSON, read by other people's parsers (srt, webvtt), which refuse what is malformed."""
import json
import sys

path = sys.argv[1]
if path.endswith(".srt"):
    import srt

    with open(path, encoding="utf-8") as text:
        cues = [
            {"start": c.start.total_seconds(), "end": c.end.total_seconds(), "text": c.content}
            for c in srt.parse(text.read(), ignore_errors=False)
        ]
else:
    import webvtt

    cues = [{"start": c.start_in_seconds, "end": c.end_in_seconds, "text": c.text} for c in webvtt.read(path)]
print(json.dumps(cues))
