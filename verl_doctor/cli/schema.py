"""`verl-doctor schema`: JSON Schemas."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("what", type=click.Choice(("rule", "bundle")), default="rule")
def schema(what: str) -> None:
    """JSON Schema of a rule file, or of what `check --save` writes. In a rule's first line, for
    editors that know YAML schemas: `# yaml-language-server: $schema=rule.schema.json`."""
    if what == "bundle":
        from ..checks.bundle import schema as shape
    else:
        from ..knowledge.schema import rule_schema as shape
    print(json.dumps(shape(), indent=2))
