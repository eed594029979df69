"""Settings that contradict each other, or that verl takes and that teach the model nothing.

Every trap was read in the sources of the releases that it names; `seen` holds what verl prints,
where it prints anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..types import Result, ok
from . import learning, running
from .settings import Settings
from .telling import CHECK

Trap = Callable[[Settings], Iterator[Result]]
TRAPS: tuple[Trap, ...] = (
    learning.greedy_training,
    learning.group_of_one,
    learning.kl_twice,
    learning.kl_out_of_range,
    learning.validation_sampling,
    running.engine,
    running.lengths,
    running.sequence_parallel,
    running.fsdp_groups,
    learning.warmup_of_nothing,
    learning.penalty_without_effect,
    learning.loss_mode,
    running.memory_share,
    running.silent_console,
    running.nothing_saved,
)


def check(settings: Settings) -> Iterator[Result]:
    """Every trap that this run would step into."""
    if not settings.name.startswith("ppo"):
        return
    found = [result for trap in TRAPS for result in trap(settings)]
    yield from found
    if not found:
        yield ok(
            CHECK,
            f"None of {len(TRAPS)} known contradictions is in these settings.",
            f"未发现 {len(TRAPS)} 类已知的参数冲突。",
        )
