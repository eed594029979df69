"""`verl-doctor versions`: which torch, vLLM, SGLang and CUDA go with a verl release."""

from __future__ import annotations

import dataclasses
import json

import click


@click.command()
@click.argument("release", required=False)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
def versions(release: str | None, form: str) -> None:
    """What a verl release asks of torch, vLLM, SGLang, transformers, tensordict, numpy and Ray,
    and the CUDA that torch comes with. RELEASE: 0.7.1, or 0.7 for its latest; all without it.

    From the packages' own metadata; nothing is looked up on this machine or the network.
    """
    from ..knowledge import versions as table

    known = table.releases()
    shown = [one for one in known if not release or f"{one.version}.".startswith(f"{release}.")]
    if not shown:
        names = ", ".join(one.version for one in known)
        raise click.UsageError(f"no verl release {release!r} in the table; it has {names}")
    source, checked = table.source()
    if form == "json":
        rows = [dataclasses.asdict(one) for one in shown]
        print(json.dumps({"source": source, "checked": checked, "releases": rows}, indent=2))
        return
    for one in shown:
        print(f"verl {one.version}: {_asks(one.asks)}")
        for engine, wanted in one.extras.items():
            print(f"  verl[{engine}]: {_asks(wanted)}")
            for end in one.engines:
                if end.name == engine:
                    cuda = f"; torch built with CUDA {end.cuda}" if end.cuda else ""
                    print(f"      {engine} {end.version}: {_asks(end.asks)}{cuda}")
    print(f"\n{source}, read {checked}. pip and the wheel of your image may differ: `pip check`.")


def _asks(asks: dict[str, str]) -> str:
    return ", ".join(f"{name} {wanted or '(any)'}" for name, wanted in asks.items())
