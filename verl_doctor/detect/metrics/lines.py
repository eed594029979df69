"""What a trainer prints of its metrics, one line at a time: a step, if the line names one, and
pairs of key and value. Which of them matter, and how lines join to a run, is decided elsewhere.

- verl's console logger (`verl/utils/logger/aggregate_logger.py`): `step:7 - actor/pg_loss:0.1 - …`,
  also glued behind a progress bar; values may be `np.float64(0.1)`, keys may hold blanks.
- Hugging Face's Trainer and trl: `{'loss': 0.1, 'grad_norm': nan, …}`; transformers 5 quotes the
  values; no step.
- OpenRLHF: `✨ Global step 7: {'policy_loss': 0.1, …}`.
- JSON lines: `{"step": 7, "loss": 0.1}`, and verl's file logger `{"step": 7, "data": {…}}`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import lazy

_STEP = lazy.compile(r"(?:^|[\s\])])step:(\d{1,12}) - ")
_TRAINER = lazy.compile(r"\{'(?:loss|train_loss|eval_loss|reward|eps)': ")
_OPENRLHF = lazy.compile(r"Global step (\d{1,12})\b[^{]{0,40}:\s*\{")
_DICT = lazy.compile(
    r"'([\w/@.() -]+)': '?((?:np\.\w+\()?[-+]?(?:\d[\d.eE+-]*|nan|inf)\)?)'?(?=[,}])"
)
_JSON_STEPS = ("step", "global_step", "_step", "training/global_step", "iteration")
_JSON_LOG = ("message", "msg", "level", "levelname", "event", "error")
"""Keys of a record of a structured log, whose `step` may be that of anything."""
MAX_JSON = 200_000
"""Characters; a longer JSON line is not a line of metrics."""
MAX_STEP = 10**12


class Reading(NamedTuple):
    """The metrics of one line."""

    step: int | None
    """The step that the line names; None for a trainer that prints none."""
    pairs: list[tuple[str, float]]


def read_step_line(text: str) -> Reading | None:
    """Reads verl's `step:N - key:value - …`, wherever in the line it begins; None if it is none."""
    found = _STEP.search(text)
    if found is None:
        return None
    parts = text[found.end() :].split(" - ")
    try:
        pairs = [(key, float(value)) for part in parts for key, _, value in (part.rpartition(":"),)]
    except ValueError:
        pairs = _pairs(parts)
    else:
        if not all(key for key, _ in pairs):
            pairs = _pairs(parts)
    return Reading(int(found[1]), pairs)


def _pairs(parts: list[str]) -> list[tuple[str, float]]:
    """Those of parts of which some hold no number, or only a part of a key."""
    pairs: list[tuple[str, float]] = []
    before = ""
    for part in parts:
        key, colon, value = part.rpartition(":")
        if not colon:
            before = f"{before}{part} - "  # the key itself holds ` - `
            continue
        number = _number(value)
        if number is not None:
            pairs.append((before + key, number))
        before = ""
    return pairs


def read_dict_line(text: str) -> Reading | None:
    """Reads the dict that Hugging Face's Trainer, trl or OpenRLHF print; None if it is another."""
    numbered = _OPENRLHF.search(text)
    if numbered is None and _TRAINER.search(text) is None:
        return None
    pairs = []
    for key, value in _DICT.findall(text):
        number = _number(value)
        if number is not None:
            pairs.append((key, number))
    if not pairs:
        return None
    return Reading(int(numbered[1]) if numbered else None, pairs)


def read_json_line(text: str) -> Reading | None:
    """Reads a JSON object with a step and numbers; None if the text is none."""
    if not text.startswith("{") or not text.rstrip().endswith("}") or len(text) > MAX_JSON:
        return None
    import json  # few logs hold such a line

    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if any(key in entry for key in _JSON_LOG):
        return None
    step = next((entry[key] for key in _JSON_STEPS if _is_number(entry.get(key))), None)
    if step is None or not 0 <= step < MAX_STEP:
        return None
    inner = entry.get("data")
    values = inner if isinstance(inner, dict) else entry
    pairs = [
        (key, float(value))
        for key, value in values.items()
        if _is_number(value) and key not in _JSON_STEPS
    ]
    return Reading(int(step), pairs) if pairs else None


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 10**300
    return isinstance(value, float)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    name, paren, inner = text.rstrip(") ").partition("(")
    if not paren or not name.startswith("np."):
        return None
    try:
        return float(inner)
    except ValueError:
        return None
