"""What services do, as the registry and the state machine hear it (rows T4, T9, T11, T12)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

import psutil

from dashboard.daemon.sight import Pids
from dashboard.health.evidence import (
    Evidence,
    Exited,
    Ready,
    Started,
    StopFailed,
    Stopped,
    Stopping,
)
from dashboard.services import ready
from dashboard.services.state import ALIVE, Change, State
from dashboard.services.system.processes import Family


def evidence(change: Change, state: State) -> Evidence | None:
    """None when the change says nothing of the app: adopting a running service is no start."""
    match change.status:
        case "starting":
            return Started(restart=change.reason == "restarting", by_user=change.asked)
        case "stopping":
            return Stopping()
        case "running" if change.before == "stopping":
            return StopFailed()
        case "running":
            asked = change.reason == "ok" and state.service and ready.wanted(state.service)
            return Ready() if asked else None
        case "stopped" if change.reason != "exited":
            return Stopped() if change.before in ALIVE or change.reason == "user" else None
    code = state.record.last_exit.code if state.record and state.record.last_exit else None
    return Exited(
        code,
        retry_in=_seconds(state),
        crash_loop=change.reason == "crash-loop",
        why=state.message,
    )


def pids(families: Mapping[str, Family], members: Pids) -> dict[str, set[int]]:
    """The processes of each living service: its wrapper at least, all that a scan has found."""
    return {slug: {family.leader, *members.get(slug, ())} for slug, family in families.items()}


def processes(running: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, float]]:
    """(pid, start in Unix seconds) of each living service, from pid and the system's own start."""
    found = ((slug, _started(pid, started)) for slug, (pid, started) in running.items())
    return {slug: one for slug, one in found if one is not None}


@lru_cache(maxsize=4096)
def _started(pid: int, _started: int) -> tuple[int, float] | None:
    """Asked once for each process, told apart by its start."""
    try:
        return pid, psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def _seconds(state: State) -> float | None:
    if state.next_retry is None:
        return None
    return max(0.0, (state.next_retry - datetime.now(UTC)).total_seconds())
