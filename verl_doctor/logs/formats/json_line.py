"""One JSON object a line with a message and a time or level: log shippers, Ray's events, Docker."""

from __future__ import annotations

from collections.abc import Mapping

from . import Format, Sample

_MESSAGE = ("message", "@message", "msg", "log")
_TIME = ("@timestamp", "timestamp", "time", "ts", "asctime")
_LEVEL = ("level", "levelname", "severity", "@level")


def unwrap(text: str) -> tuple[str, Mapping[str, str]] | None:
    """The decoded message, and time and level where they are plain values."""
    if not any(f'"{key}"' in text for key in _MESSAGE):
        return None
    import json  # few logs hold such a line

    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    message = next((entry[key] for key in _MESSAGE if isinstance(entry.get(key), str)), None)
    if message is None:
        return None
    fields = {}
    for name, keys in (("time", _TIME), ("level", _LEVEL)):
        value = next((entry[key] for key in keys if key in entry), None)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            fields[name] = str(value)
    # JSON can spell half of a surrogate pair, which no encoder takes
    message = message.encode("utf-8", "replace").decode()
    return (message.rstrip("\n"), fields) if fields else None


FORMAT = Format(
    name="json_line",
    starts="{",
    pattern=r'\{\s?"[^\n]+\}\s*$',
    unwrap=unwrap,
    samples=(
        Sample(
            '{"@timestamp":"2026-12-01T06:00:00.123Z","@message":"a \\"quoted\\" text"}',
            'a "quoted" text',
            {"time": "2026-12-01T06:00:00.123"},
        ),
        Sample(
            '{"severity":"ERROR","label":"RAY_NODE_REMOVED","message":"node died",'
            '"timestamp":"1764568800","pid":"12"}',
            "node died",
            {"level": "ERROR", "time": "2025-12-01T06:00:00"},
        ),
        Sample(
            '{"log":"[rank1]: KeyError: 1\\n","stream":"stderr","time":"2026-12-01T06:00:00Z"}',
            "KeyError: 1",
            {"rank": "1", "time": "2026-12-01T06:00:00"},
        ),
    ),
)
