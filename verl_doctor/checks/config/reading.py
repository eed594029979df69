"""The files that say how a run is started: a launch script, a config as YAML. Regular files alone,
of bounded size; YAML is counted as its aliases write it out before anything is built of it.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Mapping
from typing import Any

from ...errors import DoctorError
from .shell import MAX_SCRIPT

MAX_CONFIG = 4 << 20
"""Bytes of a config; verl's own, written out, has some 30 KB."""
MAX_NODES = 50_000
"""Keys and values of a config with its aliases written out; verl's own has about a thousand."""
MAX_DEPTH = 50


def read_script(path: str) -> str:
    """The text of a launch script, as much of it as `script` reads.

    Raises DoctorError for what is no regular file or can't be read.
    """
    return _head(path, 4 * MAX_SCRIPT).decode("utf-8", "replace")[:MAX_SCRIPT]


def read_config(path: str) -> Mapping[str, Any]:
    """A run's config as OmegaConf reads it, interpolations as they are written.

    Raises DoctorError for what is no such config: it says where and why.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    data = _head(path, MAX_CONFIG + 1)
    if len(data) > MAX_CONFIG:
        raise DoctorError(f"{path} is larger than {MAX_CONFIG >> 20} MiB: it is no verl config")
    try:
        text = data.decode("utf-8-sig")
        _weigh(text)
        read = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=False)
    except YAMLError as error:
        raise DoctorError(f"{path}: {error}") from error
    except (OmegaConfBaseException, ValueError, OSError) as error:
        raise DoctorError(f"{path}: {str(error).partition(chr(10))[0]}") from error
    if not isinstance(read, dict):
        raise DoctorError(f"{path} holds no mapping: it is no verl config")
    return {str(key): value for key, value in read.items()}


def _head(path: str, most: int) -> bytes:
    """The first bytes of a regular file; a pipe would wait for its writer, a device has no end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DoctorError(f"{path} is no regular file")
            return file.read(most)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise DoctorError(f"{path} can't be read: {why}") from error


def _weigh(text: str) -> None:
    """Raises ValueError for YAML that is nested too deep or becomes too large, YAMLError for what
    is none."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    weights: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in weights:  # unknown, or open: it would hold itself
                raise ValueError(f"the alias *{event.anchor} means nothing that stands before it")
            total += weights[event.anchor]
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor:
                weights[anchor] = total - before
        elif isinstance(event, yaml.NodeEvent):
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_.append((event.anchor, total - 1))
            elif event.anchor:
                weights[event.anchor] = 1
        if len(open_) > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        if total > MAX_NODES:
            raise ValueError(f"more than {MAX_NODES} keys and values, aliases written out")
