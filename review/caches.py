"""What review remembers in memory and in its tables; all can be read again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_forget: list[Callable[[], None]] = []


def register(forget: Callable[[], None]) -> None:
    """Have `forget` called whenever everything remembered is dropped."""
    _forget.append(forget)


def clear() -> None:
    """Forget everything: the memory of all modules and the rows of every index table."""
    from review.models import CommitRow, FileRow, PatchRow, RepoRow

    for forget in _forget:
        forget()
    for model in (CommitRow, PatchRow, FileRow, RepoRow):
        model._default_manager.all().delete()


class Memory(Generic[K, V]):
    """The last values by key, the least used going first. Safe between threads.

    They weigh `limit` together, and one each unless `weigh` says what one takes.
    """

    def __init__(self, limit: int, *, weigh: Callable[[V], int] = lambda _value: 1) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[K, V] = OrderedDict()
        register(self.clear)

    def get(self, key: K) -> V | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: K, value: V) -> V:
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._limit and len(self._values) > 1:
                self._drop(next(iter(self._values)))
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0

    def _drop(self, key: K) -> None:
        if key in self._values:
            self._weight -= self._weigh(self._values.pop(key))
