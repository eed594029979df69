"""`verl-doctor explain RULE`: everything a rule knows, offline."""

from __future__ import annotations

import difflib
import sys

import click

from ..logs.json_text import json_text
from ..model import Lang
from .options import color_option, lang_option, rules_option


@click.command()
@click.argument("name", metavar="RULE")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@rules_option
@lang_option
@color_option
def explain(name: str, form: str, rule_dirs: tuple[str, ...], lang: Lang, color: str) -> None:
    """What a rule knows. RULE is an id (DAT001) or a slug."""
    from ..knowledge.load import load

    base, _ = load(rule_dirs)
    rule = base.find(name)
    if rule is None:
        names = [*base.plains, *(str(plain["slug"]) for plain in base.plains.values())]
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f" Did you mean {', '.join(close)}?" if close else ""
        raise click.ClickException(f"no rule {name!r}.{hint} `verl-doctor rules list` shows all.")
    if form == "json":
        sys.stdout.write(json_text(base.plains[rule.id], 2))
        return
    from ..render.manual import render

    render(rule, lang=lang, color=color, stream=sys.stdout)
