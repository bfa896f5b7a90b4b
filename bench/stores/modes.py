"""The three modes of stores as environments, on private servers that stop after the run."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.postgres import Cluster
from tests.redis import Redis

SQLITE, POSTGRES, REDIS = "SQLite", "PostgreSQL", "PostgreSQL + Redis"


@dataclass(frozen=True, slots=True)
class Mode:
    """One mode; each environment it returns has an empty database, and a Redis, of its own."""

    name: str
    cluster: Cluster | None = None
    redis: Redis | None = None
    _number: Iterator[int] = field(default_factory=itertools.count)

    def environment(self) -> dict[str, str]:
        found = {}
        if self.cluster is not None:
            found["SVC_DATABASE_URL"] = self.cluster.copy_of_migrated()
        if self.redis is not None:
            found["SVC_REDIS_URL"] = f"{self.redis.url.rpartition('/')[0]}/{next(self._number)}"
        return found

    def pids(self) -> list[int]:
        """The processes of its servers."""
        found = []
        if self.cluster is not None:
            first = int((self.cluster.data / "postmaster.pid").read_text().split()[0])
            found += [first, *(one.pid for one in psutil.Process(first).children())]
        return found + ([self.redis.pid] if self.redis else [])

    def memory(self) -> float:
        """PSS of its servers, in MB."""
        return sum(psutil.Process(pid).memory_full_info().pss for pid in self.pids()) / 1e6


@contextmanager
def modes() -> Iterator[list[Mode]]:
    with tempfile.TemporaryDirectory() as folder:
        cluster, redis = Cluster().start(), Redis(Path(folder)).start()
        try:
            yield [Mode(SQLITE), Mode(POSTGRES, cluster), Mode(REDIS, cluster, redis)]
        finally:
            redis.stop()
            cluster.remove()
