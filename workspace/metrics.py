"""Figures of the workspace for GET /metrics: queue, turns, firings, schedulers.

Each query is a count over an index or a short range of the primary key.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import orjson
import psutil
from django.db.models import Count, Min
from django_q.brokers import get_broker

from config.metrics import Metric, by, gauge
from config.process.vitals import memory
from config.storage import homes, opening
from workspace import ids
from workspace.chats.streams.watching import WATCH
from workspace.chats.turns import delivery, states
from workspace.models import Run, TriggerState, Turn
from workspace.triggers import runs
from workspace.triggers.schedule import alive

QUEUES = (runs.QUEUE, delivery.QUEUE)
RECENT = timedelta(minutes=15)
MOST = 1000
CLOCKED = ("cron", "interval")  # a `catch-up` is always late


def measure() -> Iterator[Metric]:
    """Figures from memory and files first, as the database may be gone."""
    yield gauge("svc_chat_streams", "Open event streams of chats", WATCH.clients)
    meaning = "Whether any qcluster serves this data directory"
    yield gauge("svc_scheduler_up", meaning, int(alive.scheduler_alive()))
    cluster, turns = _processes()
    meaning = "Memory of qcluster and its workers, shared pages counted once"
    yield gauge("svc_qcluster_memory_bytes", meaning, memory(cluster))
    yield gauge("svc_turns_memory_bytes", "Memory of all turns and what they run", memory(turns))
    sizes = {name: float(get_broker(homes.queue(name)).queue_size()) for name in QUEUES}
    meaning = "Tasks that wait for a worker"
    yield Metric("gauge", "svc_queue_tasks", meaning, by("queue", sizes))
    yield Metric(
        "gauge", "svc_turns", "Turns by state, those of the retention", by("state", _turns())
    )
    yield from _firings(datetime.now(UTC))


def _turns() -> dict[str, float]:
    """The number of turns in each state, zeros too: alerts need a permanent series."""
    known = dict.fromkeys((*states.BUSY, *states.WAITING, *runs.ENDED), 0.0)
    rows = Turn.objects.order_by().values_list("state").annotate(count=Count("*"))
    return known | dict(rows)


def _firings(now: datetime) -> Iterator[Metric]:
    """How late due triggers are claimed, and whether they are claimed at all."""
    armed = TriggerState.objects.filter(homes.mine(), next_at__isnull=False)
    yield gauge("svc_triggers_armed", "Triggers with a next time", armed.count())
    due = armed.aggregate(first=Min("next_at"))["first"]
    overdue = max(0.0, (now - due).total_seconds()) if due else 0.0
    meaning = "How long the earliest armed time has been over and not claimed"
    yield gauge("svc_firing_overdue_seconds", meaning, overdue)
    since = ids.run_id_at(now - RECENT)
    rows = Run.objects.filter(id__gte=since, cause__in=CLOCKED, scheduled_for__isnull=False)
    times = rows.order_by("-id").values_list("queued_at", "scheduled_for")[:MOST]
    late = [max(0.0, (queued - at).total_seconds()) for queued, at in times if at]
    yield gauge("svc_firings_recent", "Firings of the clock in the last 15 minutes", len(late))
    found = {"median": statistics.median(late), "max": max(late)} if late else {}
    meaning = "From the nominal time of a firing to its claim, over the last 15 minutes"
    yield Metric("gauge", "svc_firing_lateness_seconds", meaning, by("of", found))


def _processes() -> tuple[list[psutil.Process], list[psutil.Process]]:
    """Processes of this machine's newest qcluster and its forks, and those its turns run."""
    with suppress(OSError, ValueError, KeyError, psutil.Error):
        top = psutil.Process(orjson.loads(opening.contents(alive.facts()))["pid"])
        mark = top.cmdline()  # a fork has the command line of its parent
        forks, others = [top], list[psutil.Process]()
        for process in top.children(recursive=True):
            with suppress(psutil.Error):
                (forks if process.cmdline() == mark else others).append(process)
        return forks, others
    return [], []
