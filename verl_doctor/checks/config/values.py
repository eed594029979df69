"""Values that are of another type than they look, paths that are not expanded, settings left open.

OmegaConf reads `1e-6` as a number, in an override and in YAML alike (PyYAML alone would not); what
makes text of a number are quotes that reach Hydra.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.version import Version

from ...model import Fix, Text
from ..types import Result
from .settings import Settings

CHECK = "config.values"
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"(?:true|false|yes|no|on|off|none|null)", re.IGNORECASE)
_NUMERIC_LEAVES = re.compile(r"(?:^|_)(?:lr|ratio|coef|coeff|size|len|length|steps|n|seed|freq)$")
PATHS = ("data.train_files", "data.val_files", "actor_rollout_ref.model.path", "critic.model.path")


def check(settings: Settings) -> Iterator[Result]:
    """What is wrong with single values, one result each."""
    for key, value in settings.given.items():
        if isinstance(value, str) and (result := _text(key, value, settings)) is not None:
            yield result
    for key in PATHS:
        for path in settings.texts(key):
            yield from _path(key, path)
    mandatory = Version(settings.release) >= Version("0.6") and settings.name.startswith("ppo")
    if mandatory and not _is_set(settings, "actor_rollout_ref.rollout.name"):
        yield Result(
            CHECK,
            "fault",
            Text(
                f"actor_rollout_ref.rollout.name must be given since verl 0.6 "
                f"(here: {settings.release}).",
                "自 verl 0.6 起必须设置 actor_rollout_ref.rollout.name"
                f"（当前 {settings.release}）。",
            ),
            "critical",
            ("Missing mandatory value: actor_rollout_ref.rollout.name",),
            Fix(
                Text("Name the engine.", "指定推理引擎。"),
                set="actor_rollout_ref.rollout.name=vllm",
            ),
            "CFG012",
        )


def _is_set(settings: Settings, key: str) -> bool:
    from omegaconf import OmegaConf

    if key in settings.unread or settings.incomplete:
        return True
    parent, _, leaf = key.rpartition(".")
    section = OmegaConf.select(settings.config, parent, default=None)
    return not (OmegaConf.is_dict(section) and OmegaConf.is_missing(section, leaf))


def _text(key: str, value: str, settings: Settings) -> Result | None:
    """Text where the release has a number or a switch."""
    default = settings.default(key)
    bare = value.strip().strip("'\"")
    numeric = isinstance(default, int | float) and not isinstance(default, bool)
    numeric = numeric or (default is None and bool(_NUMERIC_LEAVES.search(key)))
    if numeric and _NUMBER.fullmatch(bare):
        rule = "CFG018" if key.endswith("lr") else "CFG020"
        return Result(
            CHECK,
            "fault",
            Text(
                f"`{key}` is the text '{value}' and not a number: quotes have reached Hydra.",
                f"`{key}` 是文本 '{value}' 而不是数字：引号被传给了 Hydra。",
            ),
            "high",
            (f"{key}={value!r}",),
            Fix(Text("Without the inner quotes.", "去掉内层引号。"), set=f"{key}={bare}"),
            rule,
        )
    if isinstance(default, bool) and _WORD.fullmatch(bare):
        return Result(
            CHECK,
            "fault",
            Text(
                f"`{key}` is the text '{value}'; as a switch, any text counts as true.",
                f"`{key}` 是文本 '{value}'；作为开关，任何非空文本都为真。",
            ),
            "high",
            (f"{key}={value!r}",),
            Fix(Text("Write True or False.", "写 True 或 False。"), set=f"{key}={_switch(bare)}"),
        )
    return None


def _switch(value: str) -> bool:
    return value.lower() in ("true", "yes", "on")


def _path(key: str, path: str) -> Iterator[Result]:
    if path.startswith("~") or "$" in path:
        what = "~" if path.startswith("~") else "$"
        yield Result(
            CHECK,
            "fault",
            Text(
                f"`{key}`: nothing expands the `{what}` in {path}; it is taken as the name of a "
                "folder.",
                f"`{key}`：{path} 中的 `{what}` 不会被展开，会被当作目录名。",
            ),
            "high",
            (f"{key}={path}",),
            Fix(
                Text(
                    "An absolute path, or let the shell expand it outside of quotes.",
                    "使用绝对路径，或在引号外由 shell 展开。",
                ),
                set=f"{key}=/absolute/path",
            ),
        )
    elif path.endswith("/") and key.startswith("data."):
        yield Result(
            CHECK,
            "fault",
            Text(
                f"`{key}` ends with a slash; verl refuses such a path.",
                f"`{key}` 以斜杠结尾，verl 会拒绝。",
            ),
            "high",
            ("Make sure the last char in src is not / because it will cause error.",),
            Fix(Text("Without the slash.", "去掉斜杠。"), set=f"{key}={path.rstrip('/')}"),
        )
