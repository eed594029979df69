"""Asks several things at a time, counts the answers, and can be told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import ParamSpec, TypeVar

from . import children

AT_ONCE = 4
"""Children at a time."""
LOOK_S = 0.1
"""Seconds between two looks at whether to stop."""
Asked = ParamSpec("Asked")
Told = TypeVar("Told")


class Stopped(Exception):
    """Someone wanted no more answers."""


class Questions:
    """Questions under way. As a context: left by an exception, what still runs is ended."""

    def __init__(
        self, stopped: Callable[[], bool], tell: Callable[[int, int], None] | None
    ) -> None:
        """Takes what says whether to stop, and what is told of (answers, questions so far)."""
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._stopped = stopped
        self._tell = tell
        self._asked: list[Future[object]] = []

    def __enter__(self) -> Questions:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        self._pool.shutdown(wait=failed is None, cancel_futures=True)
        while not self._answered():  # else the pool would wait for every time limit
            children.end_all()
            time.sleep(LOOK_S)

    def ask(
        self, question: Callable[Asked, Told], *args: Asked.args, **kwargs: Asked.kwargs
    ) -> Future[Told]:
        """Asks a function with these arguments, as soon as there is room."""
        future = self._pool.submit(question, *args, **kwargs)
        self._asked.append(future)  # type: ignore[arg-type]
        return future

    def answer(self, future: Future[Told]) -> Told:
        """Waits for an answer. Errors: Stopped, and those of the question."""
        while True:
            if self._tell is not None:
                self._tell(sum(one.done() for one in self._asked), len(self._asked))
            if self._stopped():
                raise Stopped
            if wait([future], LOOK_S).done:
                return future.result()

    def _answered(self) -> bool:
        return all(one.done() for one in self._asked)
