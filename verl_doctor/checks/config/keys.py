"""Do the keys exist, and are they read? Unknown, renamed, moved and ignored ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.version import Version

from ...knowledge import verl_config
from ...model import Fix, Text
from ..types import Result, ok, unknown
from .inputs import Override
from .settings import Refused, Settings

DATA = Path(__file__).resolve().parents[2] / "data" / "verl_moved.yaml"
CHECK = "config.keys"
_RULES = {"syntax": "CFG005", "exists": "CFG004", "value": "CFG015", "unknown": "CFG001"}
_TOKEN = re.compile(r"token recognition error at: '(.)'|(?:extraneous|mismatched) input '([^']*)'")


@dataclass(frozen=True, slots=True)
class Moved:
    """A key that was renamed, moved or removed. See data/verl_moved.yaml."""

    old: str
    new: str
    at: str
    ignored: str
    """First release that still takes the old key and does nothing with it; empty: none."""


@cache
def moved() -> tuple[Moved, ...]:
    """The table of moved keys."""
    from yaml import CSafeLoader, load

    rows = load(DATA.read_bytes(), CSafeLoader)
    return tuple(
        Moved(one["old"], one.get("new", ""), one["at"], one.get("ignored", "")) for one in rows
    )


def check(settings: Settings) -> Iterator[Result]:
    """What is wrong with the keys that were given, one result a key."""
    faults = len(settings.cut)
    for line in settings.cut:
        yield Result(
            CHECK,
            "fault",
            Text(
                "The command ends here: only a backslash right before the line end continues it. "
                "The overrides below are not passed to verl.",
                "命令在此处结束：只有紧挨行尾的反斜杠才表示续行，下面的参数不会传给 verl。",
            ),
            "critical",
            (line,),
            Fix(Text("Nothing behind the `\\`, no comment either.", "`\\` 之后不要有空格或注释。")),
        )
    if settings.foreign:
        yield unknown(
            CHECK,
            f"The run starts from a config that is not verl's own ({settings.foreign}): "
            "keys that verl lacks may be in it, so they were not judged.",
            f"本次运行使用了非 verl 自带的配置（{settings.foreign}），其中可能含有 verl 没有的"
            "参数，因此未检查未知参数。",
        )
    else:
        for one in settings.refused:
            faults += 1
            yield _refused(one, settings)
    for key in settings.given:
        result = _ignored(key, settings)
        if result is not None:
            faults += 1
            yield result
    if settings.strange and not settings.foreign:
        faults += 1
        yield _strange(settings)
    if settings.unread:
        yield unknown(
            CHECK,
            "These values can't be told without running the launch script, or are none of verl's "
            "kind; they were not checked.",
            "以下参数的值只有运行启动脚本才能得知，或类型不合 verl 要求，未检查。",
            *sorted(settings.unread),
        )
    if not faults and settings.given:
        yield ok(
            CHECK,
            f"All {len(settings.given)} settings that the run makes exist in verl "
            f"{settings.release} ({settings.name}).",
            f"本次运行设置的 {len(settings.given)} 个参数在 verl {settings.release}"
            f"（{settings.name}）中均存在。",
        )


def _strange(settings: Settings) -> Result:
    """The keys of a config file that the release lacks: most sections take them without a word."""
    keys = verl_config.releases()[settings.release]

    def better(key: str) -> str:
        move = _moved(key)
        new = _as_new(move, key) if move is not None and move.new else ""
        return new if new in keys else _nearest(key, keys)

    count = len(settings.strange)
    return Result(
        CHECK,
        "fault",
        Text(
            f"verl {settings.release} lacks keys that the config file has ({count}); where nothing "
            "refuses them, nothing reads them either.",
            f"配置文件中有 {count} 个参数是 verl {settings.release} 没有的；即使不报错也不会生效。",
        ),
        "medium",
        tuple(f"{key} -> {better(key) or '?'}" for key in settings.strange),
        Fix(Text("Use the names behind the arrows.", "改用箭头后的名称。")),
        "CFG001",
    )


def _refused(one: Refused, settings: Settings) -> Result:
    key, release = one.override.key, settings.release
    if one.why == "syntax":
        return _syntax(one)
    if one.why == "exists":
        bare = one.override.text.lstrip("+")
        return _fault(
            one,
            Text(
                f"`+{key}`: verl {release} has this key already, Hydra refuses to add it again.",
                f"`+{key}`：verl {release} 已有此参数，Hydra 会拒绝重复添加。",
            ),
            Fix(Text("Without the `+`.", "去掉 `+`。"), set=bare),
        )
    if one.why == "value":
        return _fault(
            one,
            Text(f"`{key}` can't take this value.", f"`{key}` 不接受这个值。"),
            None,
        )
    move = _moved(key)
    if move is not None and move.new and _as_new(move, key) in verl_config.releases()[release]:
        new = _as_new(move, key)
        return _fault(
            one,
            Text(
                f"`{key}` is called `{new}` since verl {move.at}.",
                f"`{key}` 自 verl {move.at} 起改为 `{new}`。",
            ),
            Fix(Text("The new name.", "改用新名称。"), set=f"{new}={one.override.value}"),
        )
    if move is not None and not move.new and Version(release) >= Version(move.at):
        return _fault(
            one,
            Text(f"`{key}` was removed in verl {move.at}.", f"`{key}` 已在 verl {move.at} 移除。"),
            Fix(Text("Take the override out.", "删除该参数。")),
        )
    return _fault(one, *_unknown(one.override, settings))


def _unknown(one: Override, settings: Settings) -> tuple[Text, Fix | None]:
    key, keys = one.key, verl_config.releases()[settings.release]
    here = frozenset(verl_config.dotted(verl_config.configs(settings.release)[settings.name]))
    if key in keys:
        return Text(
            f"`{key}` belongs to another training engine than the one that is used "
            f"({settings.name}).",
            f"`{key}` 属于另一个训练后端，当前为 {settings.name}。",
        ), Fix(
            Text(
                "Choose the engine that has it: `model_engine=megatron` (verl 0.8 and later) or "
                "`--config-name=ppo_megatron_trainer.yaml`.",
                "选择含有它的后端：`model_engine=megatron`（verl 0.8 起）或 "
                "`--config-name=ppo_megatron_trainer.yaml`。",
            )
        )
    since = [name for name, known in verl_config.releases().items() if key in known]
    near = _nearest(key, here)
    if since:
        span = since[0] if since[0] == since[-1] else f"{since[0]}-{since[-1]}"
        text = Text(
            f"verl {settings.release} has no `{key}`; verl {span} has.",
            f"verl {settings.release} 没有 `{key}`；verl {span} 有。",
        )
    else:
        text = Text(
            f"verl {settings.release} has no `{key}`.", f"verl {settings.release} 没有 `{key}`。"
        )
    parent, _, leaf = key.rpartition(".")
    if settings.default(parent) == {}:
        free = f"+{parent}.{leaf}={one.value}"
        return text, Fix(
            Text(
                f"`{parent}` is free: add to it with a `+`.",
                f"`{parent}` 为自由字典：用 `+` 添加。",
            ),
            set=free,
        )
    if not near:
        return text, None
    return text, Fix(Text("Did you mean this one?", "是否想写这个？"), set=f"{near}={one.value}")


def _nearest(key: str, keys: frozenset[str]) -> str:
    """The key that somebody who wrote `key` may have meant: the same leaf elsewhere, or a typo."""
    leaf = key.rpartition(".")[2]
    same = [one for one in keys if one.rpartition(".")[2] == leaf]
    pool = same or [one for one in keys if one.count(".") == key.count(".")]
    close = difflib.get_close_matches(key, pool, n=1, cutoff=0.6 if same else 0.85)
    return close[0] if close else ""


def _syntax(one: Refused) -> Result:
    found = _TOKEN.search(one.message)
    what = next((group for group in found.groups() if group), "") if found else ""
    where_en = f" at `{what}`" if what and what != "<EOF>" else ""
    where_zh = f"（在 `{what}` 处）" if where_en else ""
    quoted = f"'{one.override.key}=\"{one.override.value}\"'"
    return _fault(
        one,
        Text(
            f"Hydra can't read `{one.override.text}`{where_en}. The shell takes one layer of "
            "quotes away, so what reaches Hydra is unquoted.",
            f"Hydra 无法解析 `{one.override.text}`{where_zh}。shell 会去掉一层引号，"
            "因此 Hydra 收到的是未加引号的文本。",
        ),
        Fix(Text("Quote it twice.", "加两层引号。"), set=quoted),
    )


def _ignored(key: str, settings: Settings) -> Result | None:
    move = _moved(key)
    if move is None or not move.ignored or Version(settings.release) < Version(move.ignored):
        return None
    value = settings.given[key]
    if value is None:
        return None
    new = _as_new(move, key) if move.new else ""
    if new and new in settings.given:
        return None
    return Result(
        CHECK,
        "fault",
        Text(
            f"verl {settings.release} takes `{key}` and does nothing with it"
            + (f": the key that counts is `{new}`." if new else "."),
            f"verl {settings.release} 接受 `{key}` 但不会使用"
            + (f"：真正生效的是 `{new}`。" if new else "。"),
        ),
        "high" if new else "medium",
        (f"{key}={value}",),
        Fix(Text("Use the new key.", "改用新参数。"), set=f"{new}={value}") if new else None,
        "VRL090" if key.startswith("custom_reward_function") else "",
    )


def _moved(key: str) -> Moved | None:
    found = [one for one in moved() if key == one.old or key.startswith(f"{one.old}.")]
    return max(found, key=lambda one: len(one.old), default=None)


def _as_new(move: Moved, key: str) -> str:
    return move.new + key[len(move.old) :]


def _fault(one: Refused, text: Text, fix: Fix | None) -> Result:
    rule = "CFG031" if one.override.mark == "~" else _RULES[one.why]
    return Result(CHECK, "fault", text, "critical", (one.override.text, one.message), fix, rule)
