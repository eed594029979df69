"""JSON that stays harmless when a terminal shows it."""

from __future__ import annotations

import json

from .. import lazy

_OBEYED = lazy.compile(
    "[\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What a terminal obeys or hides (see `text.visible`), and what stands for undecodable bytes of a
path; JSON itself escapes the controls below U+0020."""


def json_text(value: object, indent: int | None = None) -> str:
    """The value as JSON, with a newline at its end.

    Chinese stands as it is; what a terminal would obey or hide is escaped, which a parser reads as
    the same. Errors: those of `json.dumps`.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _OBEYED.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"
