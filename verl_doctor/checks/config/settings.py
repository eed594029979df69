"""The configuration that a verl release would run with: its own defaults and what was given.

Hydra and OmegaConf do the reading and the merging, as they do in verl; every override is tried, so
that all faults are told at once and not only the first.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ...knowledge import verl_config
from .inputs import Command, Override

if TYPE_CHECKING:
    from omegaconf import DictConfig

UNKNOWN: Final = object()
"""The value of a setting that only running the launch script would tell, or that can't be
resolved."""
ENGINES = {"dp": "ppo_trainer", "megatron": "ppo_megatron_trainer"}
"""`model_engine=…` (verl 0.7.1 and later) -> the config that it makes."""
MODULES = {
    "verl.trainer.main_ppo": "ppo_trainer",
    "verl.trainer.main_ppo_v0": "ppo_trainer",
    "verl.trainer.main_ppo_sync": "ppo_trainer",
    "verl.trainer.fsdp_sft_trainer": "sft_trainer",
    "verl.trainer.sft_trainer": "sft_trainer_engine",
}
"""Entry points -> the config that they read unless the command names another."""


_PARTS = re.compile(r"[\[{(,.]")
MAX_PARTS = 2_000
"""Overrides and parts of their lists and mappings that are tried; Hydra's parser takes a
millisecond for each, and a launch has some hundred."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An override that verl would not start with."""

    override: Override
    why: str
    """`syntax`, `unknown`, `exists` (`+` on a key that is there) or `value`."""
    message: str
    """What Hydra or OmegaConf says, its first line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective configuration, as far as it can be known."""

    release: str
    name: str
    """Which of verl's configs: `ppo_trainer`, `ppo_megatron_trainer`, …"""
    config: DictConfig
    given: Mapping[str, Any]
    """Key -> value of what the run sets itself: every override that was taken, and what its own
    config file has otherwise than the release."""
    refused: tuple[Refused, ...] = ()
    unread: frozenset[str] = frozenset()
    """Keys whose values only running the launch script would tell."""
    unread_words: tuple[str, ...] = ()
    """Words of the command that may hold further overrides."""
    strange: tuple[str, ...] = ()
    """Keys of the run's own config file that the release's config lacks."""
    cut: tuple[str, ...] = ()
    """Lines of the launch script at which the command ends too early."""
    foreign: str = ""
    """What makes the run start from a config that is not in verl's release (`--config-path`, an
    entry point such as `verl.trainer.main_generation`, a group such as `engine=…`): then a key that
    the release lacks is no fault."""

    @property
    def incomplete(self) -> bool:
        """Whether the command may hold, or was meant to hold, more than what was read."""
        return bool(self.unread_words or self.cut or self.foreign)

    def get(self, key: str, default: Any = None) -> Any:
        """The effective value of a dotted key, plain Python; `default` where the release has no
        such key, UNKNOWN where the value can't be told."""
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException

        if any(key == one or key.startswith(f"{one}.") for one in self.unread):
            return UNKNOWN
        if self.foreign and key not in self.given:
            return UNKNOWN
        try:
            value = OmegaConf.select(self.config, key, throw_on_missing=True)
        except OmegaConfBaseException:
            return UNKNOWN
        if value is None:
            return default if not self.has(key) else None
        return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value

    def texts(self, key: str) -> list[str]:
        """What was given for a key that takes one text or a list of them; empty: nothing was."""
        value = self.given.get(key)
        values = value if isinstance(value, list) else [value]
        return [one for one in values if isinstance(one, str)]

    def default(self, key: str) -> Any:
        """What the release itself has there, unresolved; None where it has nothing."""
        return _at(verl_config.configs(self.release)[self.name], key)

    def has(self, key: str) -> bool:
        """Whether the configuration holds the key, whatever its value."""
        return key in verl_config.releases()[self.release] or key in self.given


def known_release(stated: str) -> str:
    """The release whose configuration is nearest to a stated version: itself, else the newest that
    is not newer, else the oldest. Takes a version such as `0.9.0` or `0.8.0.dev0`."""
    from packaging.version import InvalidVersion, Version

    names = verl_config.names()
    try:
        version = Version(stated)
    except InvalidVersion:
        return names[-1]
    series = [name for name in names if Version(name).release[:2] == version.release[:2]]
    older = [name for name in series or names if Version(name) <= version]
    return older[-1] if older else (series or names)[0]


def compose(command: Command, release: str, base: Mapping[str, Any] | None = None) -> Settings:
    """The settings of a launch.

    Takes the command, one of `verl_config.names()`, and where there is one the run's own config
    file, which stands for the release's defaults as far as it goes. Overrides beyond MAX_PARTS are
    not tried, and values of the file that OmegaConf refuses are not taken: they are unknown. Raises
    ImportError where hydra-core is not installed.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    name = _config_name(command, release, base)
    foreign = "--config-path" if command.own_config else ""
    if command.module and command.module not in MODULES:
        foreign = foreign or command.module  # an entry point with a config of its own
    config: Any = copy.deepcopy(_defaults(release, name))  # a third of the time of making it
    given, strange = _own(base or {}, verl_config.configs(release)[name], config)
    unread: set[str] = set()
    for key in [*given]:
        try:
            OmegaConf.update(config, key, given[key], merge=True, force_add=True)
        except OmegaConfBaseException:  # a log's dump may hold anything
            unread.add(key)
            del given[key]
    OmegaConf.set_struct(config, True)
    refused, room = [], MAX_PARTS
    for one in command.overrides:
        room -= 1 + len(_PARTS.findall(one.text))
        if one.key == "model_engine" or one.key.startswith("hydra."):
            continue
        if _picks_group(one, config):
            foreign = foreign or one.text
        elif (one.value is None and one.mark != "~") or room < 0:
            unread.add(one.key)
        elif (fault := _apply(config, one, given)) is not None:
            refused.append(fault)
    return Settings(
        release,
        name,
        config,
        given,
        refused=tuple(refused),
        unread=frozenset(unread),
        unread_words=command.unread,
        strange=tuple(strange),
        cut=command.cut,
        foreign=foreign,
    )


@cache
def _defaults(release: str, name: str) -> DictConfig:
    """One of a release's configs; not to be changed."""
    from omegaconf import OmegaConf

    config: DictConfig = OmegaConf.create(verl_config.configs(release)[name])
    return config


def _own(
    base: Mapping[str, Any], defaults: Mapping[str, Any], config: DictConfig, prefix: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """What a run's own config file sets otherwise than the release does, and which of its keys the
    release lacks.

    Takes the file's mapping, the release's at the same place as it is written, the release's config
    to resolve that in, and the place's dotted name with a dot behind.
    """
    own: dict[str, Any] = {}
    strange: list[str] = []
    for name, value in base.items():
        key, default = f"{prefix}{name}", defaults.get(name)
        if name not in defaults:
            # what verl leaves empty is free: it goes to another library
            if prefix and not defaults:
                own[key] = value
            else:
                strange.append(key)
        elif isinstance(value, Mapping) and isinstance(default, Mapping):
            inner, lacking = _own(value, default, config, f"{key}.")
            own |= inner
            strange += lacking
        elif value not in (default, _plain(config, key)):
            own[key] = value
    return own, strange


def _plain(config: DictConfig, key: str) -> Any:
    """The effective value of a key, None where there is none."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        value = OmegaConf.select(config, key)
    except OmegaConfBaseException:
        return None
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def _picks_group(one: Override, config: DictConfig) -> bool:
    """Whether an override picks a file of a config group instead of setting a value."""
    from omegaconf import DictConfig

    if "@" in one.key or "/" in one.key:
        return True
    place = config._get_node(one.key, validate_access=False) if "." not in one.key else None
    return isinstance(place, DictConfig) and bool(re.fullmatch(r"\w+", one.value or ""))


def _config_name(command: Command, release: str, base: Mapping[str, Any] | None) -> str:
    """Which of the release's configs the launch starts from."""
    known = verl_config.configs(release)
    picked = [one.value for one in command.overrides if one.key == "model_engine"]
    strategy = _at(base or {}, "actor_rollout_ref.actor.strategy")
    wanted = [
        *(f"ppo_trainer model_engine={one}" for one in picked),
        *(ENGINES.get(one or "", "") for one in picked),
        command.config_name,
        "ppo_megatron_trainer" if strategy == "megatron" else "",
        MODULES.get(command.module, ""),
    ]
    return next((name for name in wanted if name in known), "ppo_trainer")


def _apply(config: DictConfig, one: Override, given: dict[str, Any]) -> Refused | None:
    """Does what Hydra does with one override; says why it would refuse it."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException
    from omegaconf import OmegaConf, open_dict
    from omegaconf.errors import OmegaConfBaseException

    try:
        parsed = OverridesParser.create().parse_override(one.text)
        value = None if parsed.is_delete() else parsed.value()
    except (HydraException, ValueError, RecursionError) as error:
        return Refused(one, "syntax", _first(error))
    try:
        if parsed.is_delete():
            if OmegaConf.select(config, one.key) is None:
                return Refused(one, "unknown", f"Could not delete '{one.key}': no such key")
            with open_dict(config):
                parent, _, leaf = one.key.rpartition(".")
                del (OmegaConf.select(config, parent) if parent else config)[leaf]
            return None
        there = OmegaConf.select(config, one.key, throw_on_missing=False) is not None
        if parsed.is_add() and there and not isinstance(value, dict | list):
            return Refused(one, "exists", f"An item is already at '{one.key}'")
        if parsed.is_add() or parsed.is_force_add():
            with open_dict(config):
                OmegaConf.update(config, one.key, value, merge=True, force_add=True)
        else:
            OmegaConf.update(config, one.key, value, merge=True)
    except (OmegaConfBaseException, RecursionError) as error:
        missing = "not in struct" in str(error) or "object has no" in str(error)
        return Refused(one, "unknown" if missing else "value", _first(error))
    given[one.key] = value
    return None


def _at(mapping: Mapping[str, Any], key: str) -> Any:
    """What stands at a dotted key of nested mappings; None where nothing does."""
    node: Any = mapping
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _first(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
