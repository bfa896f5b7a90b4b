"""Brokers for django-q2: tasks as rows, or through Redis.

With rows, polling is slow, so an idle service costs nothing, and each new task rings the bell of
its queue; a lost ring costs one poll interval, never a task. With Redis, several servers share a
queue.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
from django_q.brokers import Broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf

from config.process import redis_client, wakeup
from config.storage import database

log = logging.getLogger(__name__)

TRIED_S = 1.0  # between two tries while the store is gone
# Between two looks at an unchanged database: tasks that were taken but not finished are due again
# after Conf.RETRY.
DUE_S = 10.0


class WakingBroker(ORM):  # type: ignore[misc]
    """ORM broker with a bell per queue, on which the pusher sleeps instead of on a timer."""

    _bell: wakeup.Wakeup | None = None
    _lost = False
    _stamp: object = None  # of the database when no task was due
    _looked = 0.0  # when it had that stamp

    def enqueue(self, task: Any) -> Any:
        package = super().enqueue(task)
        queue = self.list_key or Conf.CLUSTER_NAME
        transaction.on_commit(lambda: wakeup.wake(f"queue-{queue}"), using=Conf.ORM)
        return package

    def dequeue(self) -> list[tuple[Any, str]] | None:
        """Tasks that are due, else None after a ring or the poll interval. Also None while the
        database is gone: an error would make the reader sleep 10 s, which delays a stop."""
        try:
            taken = self._take()
        except (OperationalError, InterfaceError) as error:
            if not self._lost:
                log.warning("no tasks come: the database is gone", extra={"why": str(error)})
            self._lost = True
            time.sleep(TRIED_S)
            return None
        self._lost = False
        if taken:
            return taken
        if self._bell is None:  # opened in the process that sleeps, not in its parent
            self._bell = wakeup.Wakeup(f"queue-{self.list_key}")
            return None  # look again: a task may have come before the bell was opened
        self._bell.wait(Conf.POLL)
        return None

    def _take(self) -> list[tuple[Any, str]]:
        """Lock due tasks by conditional updates, as another cluster may be faster."""
        stamp = database.stamp()
        if stamp == self._stamp and time.monotonic() - self._looked < DUE_S:
            return []
        rows = self.get_connection()
        due = [*rows.filter(key=self.list_key, lock__lt=timezone.now())[: Conf.BULK]]
        if not due:
            self._stamp, self._looked = stamp, time.monotonic()
        return [
            (task.pk, task.payload)
            for task in due
            if rows.filter(id=task.id, lock=task.lock).update(lock=self.timeout(task))
        ]


class RedisBroker(Broker):  # type: ignore[misc]
    """A Redis list per queue. A task that is lost with Redis or a worker still has a waiting row:
    the sweep delivers it again."""

    _lost = False

    @staticmethod
    def get_connection(list_key: str | None = None) -> Any:
        return redis_client.connect()

    def enqueue(self, task: Any) -> None:
        """Push after the commit, so that no worker gets a task before its row exists."""
        transaction.on_commit(partial(self._push, task), using=Conf.ORM)

    def _push(self, task: Any) -> None:
        from redis import RedisError

        try:
            self.connection.rpush(self._key(), task)
        except RedisError as error:
            log.warning("Redis is gone: a task waits for the next sweep", extra={"why": str(error)})

    def dequeue(self) -> list[tuple[None, bytes]] | None:
        """The next task, or None after Conf.POLL seconds, also while Redis is gone."""
        from redis import RedisError

        try:
            found = self.connection.blpop(self._key(), Conf.POLL)
        except RedisError as error:
            if not self._lost:
                log.warning("no tasks come: Redis is gone", extra={"why": str(error)})
            self._lost = True
            time.sleep(TRIED_S)
            return None
        self._lost = False
        return [(None, found[1])] if found else None

    def queue_size(self) -> int:
        return int(self.connection.llen(self._key()))

    def purge_queue(self) -> int:
        return int(self.connection.delete(self._key()))

    def ping(self) -> bool:
        return bool(self.connection.ping())

    def info(self) -> str:
        return "Redis"

    def _key(self) -> str:
        return f"svc:queue:{self.list_key or Conf.CLUSTER_NAME}"
