"""The table of versions: what a user reads when pip has chosen the wrong torch."""

from __future__ import annotations

import json

from click.testing import CliRunner

from verl_doctor.cli.app import cli
from verl_doctor.knowledge import verl_config, versions


def test_the_engines_of_a_release_and_their_torch() -> None:
    release = next(one for one in versions.releases() if one.version == "0.7.1")
    assert release.asks["numpy"] == "<2.0.0"
    torch = {(one.name, one.version): one.asks["torch"] for one in release.engines}
    assert torch == {
        ("vllm", "0.12.0"): "==2.9.0",
        ("vllm", "0.8.5"): "==2.6.0",
        ("sglang", "0.5.6"): "==2.9.1",
    }
    assert {one.cuda for one in release.engines} == {"12.4", "12.8"}


def test_every_release_has_engines_torch_and_cuda() -> None:
    for release in versions.releases():
        assert {one.name for one in release.engines} == {"vllm", "sglang"}
        for one in release.engines:
            assert one.asks.get("torch"), (release.version, one)
            assert one.cuda, (release.version, one)


def test_every_release_of_the_table_has_its_config() -> None:
    assert {one.version for one in versions.releases()} <= set(verl_config.names())


def test_asked_for_one_release() -> None:
    shown = CliRunner().invoke(cli, ["versions", "0.7"])
    assert shown.exit_code == 0
    assert "verl 0.7.1: " in shown.output
    assert "vllm 0.12.0: numpy (any), " in shown.output
    assert "verl 0.8.0" not in shown.output
    read = json.loads(CliRunner().invoke(cli, ["versions", "--format", "json"]).output)
    assert [one["version"] for one in read["releases"]][-1] == "0.9.1"


def test_an_unknown_release_names_the_known_ones() -> None:
    shown = CliRunner().invoke(cli, ["versions", "0.3"])
    assert shown.exit_code == 2
    assert "0.4.1, 0.5.0" in shown.output
