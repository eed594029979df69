"""Writes the configuration of a verl release, keys and defaults, to verl_doctor/data/verl_config/.

usage: refresh_verl_config.py VERSION…      (needs hydra-core; downloads verl's own small wheel)

What is written are the composed `ppo_trainer` (FSDP), `ppo_megatron_trainer` and SFT configs of the
release's wheel, and `ppo_trainer` with each `model_engine` that the release has; interpolations as
they stand. Beside them the `data_source` names that the release's reward function knows. A test
holds every override in a rule against the keys; `verl-doctor check` starts from the defaults.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

DATA = Path(__file__).resolve().parent.parent / "verl_doctor" / "data"
TARGET = DATA / "verl_config"
SCORERS = DATA / "verl_scorers.json"
CONFIGS = ("ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine")


def scorers(source: str) -> dict[str, list[str]]:
    """The names that `default_compute_score` compares `data_source` with, out of its source."""
    found: dict[str, list[str]] = {"equal": [], "startswith": []}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and getattr(node.left, "id", "") == "data_source":
            found["equal"] += [
                one.value for one in ast.walk(node.comparators[0]) if isinstance(one, ast.Constant)
            ]
        called = getattr(node, "func", None)
        if not isinstance(called, ast.Attribute) or called.attr != "startswith":
            continue
        if getattr(called.value, "id", "") == "data_source":
            found["startswith"] += [one.value for one in node.args]
    return found


def main() -> None:
    """Refreshes the releases named on the command line."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for version in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
            subprocess.run([*command, f"verl=={version}"], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            zipfile.ZipFile(wheel).extractall(folder)
            config_dir = Path(folder) / "verl" / "trainer" / "config"
            found = {}
            with initialize_config_dir(str(config_dir), version_base=None):
                for name in CONFIGS:
                    if (config_dir / f"{name}.yaml").exists():
                        found[name] = OmegaConf.to_container(compose(name), resolve=False)
                for file in sorted((config_dir / "model_engine").glob("*.yaml")):
                    engine = f"model_engine={file.stem}"
                    composed = compose("ppo_trainer", overrides=[engine])
                    config = OmegaConf.to_container(composed, resolve=False)
                    if config not in found.values():  # dp and megatron have names of their own
                        found[f"ppo_trainer {engine}"] = config
            reward = Path(folder) / "verl" / "utils" / "reward_score" / "__init__.py"
            known = json.loads(SCORERS.read_text()) if SCORERS.exists() else {}
            known[version] = scorers(reward.read_text(encoding="utf-8"))
            SCORERS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
        (TARGET / f"{version}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{version}: {', '.join(found)}")


if __name__ == "__main__":
    main()
