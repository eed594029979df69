"""Writes the configuration of a verl release, keys and defaults, to verl_doctor/data/verl_config/.

usage: refresh_verl_config.py VERSION…      (needs hydra-core; downloads verl's own small wheel)

What is written are the composed `ppo_trainer` (FSDP), `ppo_megatron_trainer` and SFT configs of the
release's wheel, and `ppo_trainer` with each `model_engine` that the release has; interpolations as
they stand. A test holds every override in a rule against
their keys, and `verl-doctor check` starts from their defaults.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

TARGET = Path(__file__).resolve().parent.parent / "verl_doctor" / "data" / "verl_config"
CONFIGS = ("ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine")


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
        text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
        (TARGET / f"{version}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{version}: {', '.join(found)}")


if __name__ == "__main__":
    main()
