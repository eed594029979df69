"""Holds `verl-doctor check` against verl's own validation, on random batch settings.

usage: check_against_verl.py [COUNT [CSV]]
           in an environment that has verl, hydra-core and verl-doctor

For each setting verl's `validate_config` of the installed release is run on the same config, and
what it raises is compared with what the check says. Prints the settings on which the two differ and
how many agreed; exits with 1 if there is a difference. With CSV the settings are kept with what
verl said, a column a key: the tests hold 120 of them (tests/verl_verdicts.csv) without verl.
"""

from __future__ import annotations

import contextlib
import csv
import io
import random
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.utils.config import validate_config
from verl.workers.config import HFModelConfig

from verl_doctor.checks.config.batch import validation
from verl_doctor.checks.config.inputs import command
from verl_doctor.checks.config.settings import Settings, compose, known_release

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
VERDICT = "verl says"
MESSAGE = 120
"""Characters of a message that are kept."""
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)


def random_setting(random_: random.Random) -> list[str]:
    """Overrides of one random run: sizes that often fit together and often don't."""

    def pick(*values: object) -> object:
        return random_.choice(values)

    chosen = {
        "trainer.n_gpus_per_node": pick(1, 2, 4, 8),
        "trainer.nnodes": pick(1, 1, 2, 3),
        "data.train_batch_size": random_.choice(SIZES),
        f"{ROLLOUT}.n": pick(1, 1, 4, 5, 8),
        f"{ACTOR}.ppo_mini_batch_size": random_.choice(SIZES),
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": pick("null", 1, 2, 4, 8),
        f"{ACTOR}.ppo_micro_batch_size": pick("null", "null", "null", 2, 8, 16),
        f"{ACTOR}.use_dynamic_bsz": pick(True, False, False),
        f"{ACTOR}.use_kl_loss": pick(True, False),
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": pick("null", 4, 8),
        f"{ROLLOUT}.log_prob_micro_batch_size": pick("null", "null", 8),
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": pick("null", 4),
        "critic.ppo_micro_batch_size_per_gpu": pick("null", 2),
        "critic.ppo_mini_batch_size": random_.choice(SIZES),
        "algorithm.adv_estimator": pick("gae", "grpo", "grpo", "rloo"),
        f"{ACTOR}.ulysses_sequence_parallel_size": pick(1, 1, 2, 4),
        f"{ROLLOUT}.name": "vllm",
    }
    words = [f"{key}={value}" for key, value in chosen.items()]
    if random_.random() < 0.25:
        words += ["model_engine=megatron"]
        words += [f"{ACTOR}.megatron.tensor_model_parallel_size={pick(1, 2, 4)}"]
        words += [f"{ACTOR}.megatron.pipeline_model_parallel_size={pick(1, 2, 3)}"]
        words = [one for one in words if "ulysses" not in one]
    return words


def verls(made: Settings) -> str:
    """What verl raises on this config; empty if it takes it."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            config = made.config
            validate_config(config, need_reference_policy(config), need_critic(config))
        except Exception as error:
            root: BaseException = error
            while root.__cause__ is not None:
                root = root.__cause__
            return str(root) or type(root).__name__
    return ""


def main() -> int:
    """Prints the comparison."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    release = known_release(version("verl"))
    random_ = random.Random(7)
    HFModelConfig.__post_init__ = lambda _: None  # reads the model's folder: not compared here
    verdicts: Counter[tuple[str, str]] = Counter()
    rows: list[dict[str, str]] = []
    for _ in range(count):
        words = random_setting(random_)
        made = compose(command(words), release)
        assert not made.refused, made.refused
        rows.append(dict(word.split("=", 1) for word in words) | {VERDICT: verls(made)})
        said, ours = rows[-1][VERDICT], [one.seen[0] for one in validation(made)]
        agreed = bool(said) == bool(ours) and (not said or any(_same(said, one) for one in ours))
        verdicts["refused" if said else "taken", "same" if agreed else "DIFFERENT"] += 1
        if not agreed:
            print(
                f"verl: {said or 'takes it'}\nhere: {ours or 'takes it'}\n      {' '.join(words)}\n"
            )
    print(f"verl {version('verl')}, {count} settings:", dict(verdicts))
    if len(sys.argv) > 2:
        keep(rows, sys.argv[2])
    return int(any(key[1] == "DIFFERENT" for key in verdicts))


def keep(rows: Sequence[Mapping[str, str]], path: str) -> None:
    """Writes settings and verdicts as a table; a setting that was not given is empty."""
    keys = sorted({key for row in rows for key in row} - {VERDICT})
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*keys, VERDICT], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, VERDICT: row[VERDICT][:MESSAGE]} for row in rows)


def _same(said: str, ours: str) -> bool:
    """Whether two messages are one; verl's may go on."""
    return ours[:60] in said


if __name__ == "__main__":
    sys.exit(main())
