"""What review keeps in memory and in its tables; all of it can be read again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from config.git import walled

K = TypeVar("K")
V = TypeVar("V")
Place = tuple[tuple[str, ...], K]

_forget: list[Callable[[], None]] = []


def register(forget: Callable[[], None]) -> None:
    """Have `forget` called whenever all caches are dropped."""
    _forget.append(forget)


def clear() -> None:
    """Drop all caches: the memory of all modules and the rows of every index table."""
    from review.models import CommitRow, FileRow, PatchRow, RepoRow

    for forget in _forget:
        forget()
    for model in (CommitRow, PatchRow, FileRow, RepoRow):
        model._default_manager.all().delete()


class Memory(Generic[K, V]):
    """The latest values by key; the least recently used is dropped first. Safe between threads.

    The values weigh at most `limit` together; each weighs 1 unless `weigh` says otherwise. What was
    read inside a wall is returned inside that wall only (config/git/walled.py), unless the memory
    is `shared`: then no value depends on a repository.
    """

    def __init__(
        self,
        limit: int,
        *,
        weigh: Callable[[V], int] = lambda _value: 1,
        shared: bool = False,
    ) -> None:
        self._limit = limit
        self._shared = shared
        self._weigh = weigh
        self._weight = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Place[K], V] = OrderedDict()
        register(self.clear)

    def get(self, key: K) -> V | None:
        place = self._place(key)
        with self._lock:
            if place not in self._values:
                return None
            self._values.move_to_end(place)
            return self._values[place]

    def put(self, key: K, value: V) -> V:
        place = self._place(key)
        with self._lock:
            self._drop(place)
            self._values[place] = value
            self._weight += self._weigh(value)
            while self._weight > self._limit and len(self._values) > 1:
                self._drop(next(iter(self._values)))
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0

    def _place(self, key: K) -> Place[K]:
        return () if self._shared else walled.place(), key

    def _drop(self, place: Place[K]) -> None:
        if place in self._values:
            self._weight -= self._weigh(self._values.pop(place))
