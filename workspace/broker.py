"""django-q2's ORM broker that wakes a sleeping cluster at once (README 13, design 9).

Polling stays slow, so that an idle service costs nothing; each new task rings the bell of its
queue. A lost ring costs one poll interval, never a task.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone
from django_q.brokers.orm import ORM
from django_q.conf import Conf

from config.kernel.process import bell


class WakingBroker(ORM):  # type: ignore[misc]
    """ORM broker with a bell per queue; the pusher sleeps on it instead of on the clock."""

    _bell: bell.Bell | None = None

    def enqueue(self, task: Any) -> Any:
        package = super().enqueue(task)
        queue = self.list_key or Conf.CLUSTER_NAME
        transaction.on_commit(lambda: bell.ring(f"queue-{queue}"), using=Conf.ORM)
        return package

    def dequeue(self) -> list[tuple[Any, str]] | None:
        """Tasks that are due, else None after a ring or the poll time."""
        taken = self._take()
        if taken:
            return taken
        if self._bell is None:  # opened by the process that sleeps, not by the one that forks it
            self._bell = bell.Bell(f"queue-{self.list_key}")
            return None  # look once more: a task may have come before the bell was there
        self._bell.wait(Conf.POLL)
        return None

    def _take(self) -> list[tuple[Any, str]]:
        """Lock what is due by conditional updates; another cluster may be faster."""
        rows = self.get_connection()
        due = rows.filter(key=self.list_key, lock__lt=timezone.now())[: Conf.BULK]
        return [
            (task.pk, task.payload)
            for task in due
            if rows.filter(id=task.id, lock=task.lock).update(lock=self.timeout(task))
        ]
