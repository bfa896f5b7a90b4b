"""Times of a call beside its floor, and the git that ran meanwhile."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ROUNDS = 7

Work = Callable[[], object]


def nothing() -> None:
    """Before a warm call."""


def milliseconds(work: Work) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def alternately(ours: Work, floor: Work, *, before: Work = nothing) -> tuple[float, float]:
    """The best of 7 of each, in ms. `before` runs ahead of each call of ours, off the clock."""
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        gc.collect()
        least = milliseconds(floor)
        before()
        times.append((milliseconds(ours), least))
    best, least = map(min, zip(*times, strict=True))
    return best, least


@contextmanager
def git_calls() -> Iterator[list[str]]:
    """What this process asks of git meanwhile, of new processes and of those that stay."""
    from review.git import catfile, command

    asked: list[str] = []
    spawn, answers = command.spawn, catfile._answers

    def spawning(directory: Any, args: Any, **options: Any) -> Any:
        asked.append(args[0])
        return spawn(directory, args, **options)

    def answering(repository: Any, oids: Any, *rest: Any) -> Any:
        asked.append("cat-file")
        return answers(repository, oids, *rest)

    command.spawn, catfile._answers = spawning, answering  # type: ignore[assignment]
    try:
        yield asked
    finally:
        command.spawn, catfile._answers = spawn, answers


@contextmanager
def parses() -> Iterator[list[int]]:
    """The sizes of the YAML texts that this process parses meanwhile."""
    from config.kernel.storage.yaml import reader
    from config.kernel.storage.yaml.nodes import Document

    sizes: list[int] = []
    build = reader._Builder.build

    def building(self: reader._Builder) -> Document:
        sizes.append(len(self.text))
        return build(self)

    reader._Builder.build = building  # type: ignore[method-assign]
    try:
        yield sizes
    finally:
        reader._Builder.build = build  # type: ignore[method-assign]
