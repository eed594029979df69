"""Options that several verbs share."""

from __future__ import annotations

import os
from typing import Any

import click

from ..model import Lang

LANGS = ("en", "zh")


def locale_lang() -> Lang:
    """The language that the environment asks for: `zh` for a Chinese locale, else `en`."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def lang_option(command: Any) -> Any:
    """`--lang`, from the locale if not given."""
    return click.option(
        "--lang",
        type=click.Choice(LANGS),
        default=locale_lang,
        help="Language of the answer.  [default: from the locale]",
    )(command)


def color_option(command: Any) -> Any:
    """`--color`."""
    return click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        help="Colours; auto respects NO_COLOR and pipes.",
    )(command)


def rules_option(command: Any) -> Any:
    """`--rules DIR`, repeatable."""
    return click.option(
        "--rules",
        "rule_dirs",
        multiple=True,
        type=click.Path(),
        metavar="DIR",
        help="Further rules; they add to the shipped ones and replace those of the same id.",
    )(command)
