"""`verl-doctor schema`: JSON Schemas."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("what", type=click.Choice(("rule",)), default="rule")
def schema(what: str) -> None:
    """JSON Schema of a rule file. In a rule's first line, for editors that know YAML schemas:
    `# yaml-language-server: $schema=rule.schema.json`."""
    from ..knowledge.schema import rule_schema

    assert what == "rule"
    print(json.dumps(rule_schema(), indent=2))
