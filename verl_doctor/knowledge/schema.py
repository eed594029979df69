"""JSON Schema of a rule file, made from the shapes that the reader itself uses."""

from __future__ import annotations

from typing import Any

from .shape import RULE, Bool, Map, Number, Seq, Shape, Str


def _schema(shape: Shape) -> dict[str, Any]:
    note = {"description": shape.note} if shape.note else {}
    if isinstance(shape, Str):
        found: dict[str, Any] = {"type": "string"}
        if shape.choices:
            found["enum"] = list(shape.choices)
        if shape.pattern:
            found["pattern"] = f"^(?:{shape.pattern})$"
        if shape.longest:
            found["maxLength"] = shape.longest
        if not shape.choices and not shape.pattern:
            # YAML reads `2.6` or `2026-12-01` as a number or date; the rule reader takes the text
            found["type"] = ["string", "number", "boolean"]
        return found | note
    if isinstance(shape, Number):
        return {"type": "integer" if shape.integer else "number"} | note
    if isinstance(shape, Bool):
        return {"type": "boolean"} | note
    if isinstance(shape, Seq):
        many: dict[str, Any] = {"type": "array", "items": _schema(shape.item)}
        if shape.at_least:
            many["minItems"] = shape.at_least
        return ({"anyOf": [_schema(shape.item), many]} if shape.scalar else many) | note
    return _map(shape) | note


def _map(shape: Map) -> dict[str, Any]:
    if shape.values is not None:
        return {"type": "object", "additionalProperties": _schema(shape.values)}
    found: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _schema(field) for name, field in shape.fields.items()},
    }
    if shape.required:
        found["required"] = list(shape.required)
    if shape.one_of:
        found["minProperties"] = found["maxProperties"] = 1
    return found


def rule_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a rule file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "verl-doctor rule",
        **_map(RULE),
    }
