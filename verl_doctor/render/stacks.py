"""The stacks of a run that stands still, as plain lines."""

from __future__ import annotations

from ..logs.text import visible
from ..model import Lang
from ..run.hang import Held, telling, waits_for
from ..run.stacks import Stack
from .labels import duration, label

MAX_STACKS = 8
MAX_FRAMES = 12
"""Innermost frames shown: below them is the interpreter's and the launcher's own code."""
MAX_PIDS = 16


def stacks(held: Held, lang: Lang) -> str:
    """The looks at the processes in words: what stands where, or which right was missing."""

    def say(key: str, **values: object) -> str:
        return label(key, lang, **values)

    snapshot = held.snapshot
    if snapshot.obstacle == "gone":
        return say("obstacle_gone")
    if snapshot.obstacle:
        return f"{say('obstacle_' + snapshot.obstacle)}\n{say('other_stacks')}"
    found = telling(snapshot.stacks)
    key = "stacks_still" if held.still else "stacks_move"
    out = [say(key, n=duration(held.seconds))]
    for stack in found[:MAX_STACKS]:
        out += _stack(stack, lang)
    if len(found) > MAX_STACKS:
        out.append(say("stacks_more", n=len(found) - MAX_STACKS))
    if snapshot.unseen:
        out.append(say("stacks_unseen", n=snapshot.unseen))
    return "\n".join(out)


def _stack(stack: Stack, lang: Lang) -> list[str]:
    pids = ", ".join(map(str, stack.pids[:MAX_PIDS])) + (
        ", …" if len(stack.pids) > MAX_PIDS else ""
    )
    kind = waits_for(stack)
    head = label("stack_of", lang, n=len(stack.pids), pids=pids)
    head += label("waits_" + kind, lang) if kind else ""
    frames = [
        f"    {visible(frame.function)} ({visible(frame.file)}:{frame.line})"
        for frame in stack.frames[:MAX_FRAMES]
    ]
    more = len(stack.frames) - MAX_FRAMES
    return [f"  {head}", *frames, *([label("frames_more", lang, n=more)] if more > 0 else [])]
