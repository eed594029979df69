"""Nine more rules beside each shipped one that looks for texts, as files, for
benchmarks/compare.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.build import PATTERN_KINDS


def write_rules(base: RuleBase, folder: Path) -> int:
    """Writes the rules, with other ids and other texts, and returns how many."""
    folder.mkdir()
    count = 0
    for plain in base.plains.values():
        if next(iter(plain["match"])) not in PATTERN_KINDS:
            continue
        source = yaml.load(Path(plain["path"]).read_text(encoding="utf-8"), yaml.CBaseLoader)
        for times in range(1, 10):
            altered = _altered(source, times)
            text = yaml.dump(altered, Dumper=yaml.CSafeDumper, allow_unicode=True)
            (folder / f"{altered['id']}-{altered['slug']}.yaml").write_text(text, encoding="utf-8")
            count += 1
    return count


def _altered(source: dict[str, Any], times: int) -> dict[str, Any]:
    """The rule under another id, looking for texts that no log holds."""
    (kind, value), *others = source["match"].items()
    patterns = [
        {
            key: _other(text, times) if key in ("contains", "exception") else text
            for key, text in pattern.items()
        }
        for pattern in (value if isinstance(value, list) else [value])
    ]
    letters, digits = (
        source["id"].rstrip("0123456789"),
        source["id"].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    )
    return {
        **{key: source[key] for key in source if key not in ("relations", "renamed_from")},
        "id": f"{letters[:4]}{chr(ord('A') + times)}{digits}",
        "slug": f"{source['slug']}-{times}",
        "match": {kind: patterns, **dict(others)},
    }


def _other(texts: str | list[str], times: int) -> list[str]:
    return [f"{text}{times}" for text in ([texts] if isinstance(texts, str) else texts)]
