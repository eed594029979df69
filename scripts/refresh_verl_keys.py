"""Writes the config keys of a verl release, one a line, to verl_doctor/data/verl_keys/.

usage: refresh_verl_keys.py VERSION…        (needs hydra-core; downloads verl's own small wheel)

The keys are those of the composed `ppo_trainer` config (FSDP) and `ppo_megatron_trainer`, and of
the SFT trainer, from the release's wheel. A test holds every override in a rule against them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

TARGET = Path(__file__).resolve().parent.parent / "verl_doctor" / "data" / "verl_keys"
CONFIGS = ("ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine")


def keys(config: DictConfig, prefix: str = "") -> set[str]:
    """Dotted names of all nodes, inner ones too: an override may replace a whole mapping."""
    found = set()
    for name in config:
        found.add(f"{prefix}{name}")
        if OmegaConf.is_missing(config, name) or OmegaConf.is_interpolation(config, name):
            continue
        value = config._get_node(name)
        if isinstance(value, DictConfig) and not value._is_none():
            found |= keys(value, f"{prefix}{name}.")
    return found


def main() -> None:
    """Refreshes the releases named on the command line."""
    for version in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
            subprocess.run([*command, f"verl=={version}"], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            zipfile.ZipFile(wheel).extractall(folder)
            config_dir = Path(folder) / "verl" / "trainer" / "config"
            found: set[str] = set()
            with initialize_config_dir(str(config_dir), version_base=None):
                for name in CONFIGS:
                    if (config_dir / f"{name}.yaml").exists():
                        found |= keys(compose(name))
        TARGET.mkdir(parents=True, exist_ok=True)
        (TARGET / f"{version}.txt").write_text("\n".join(sorted(found)) + "\n")
        print(f"{version}: {len(found)} keys")


if __name__ == "__main__":
    main()
