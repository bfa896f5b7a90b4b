"""Finds a run that an earlier daemon started, or one that left its wrapper."""

from __future__ import annotations

from dataclasses import replace

from config.process import table
from config.process.table import Process
from dashboard.files import layout as files
from dashboard.services import layout, record
from dashboard.services.record import Exit, Record
from dashboard.services.state import ALIVE
from dashboard.services.system import boot, ports, processes


def alive_slugs() -> set[str]:
    """The slugs of all runs of this boot that were alive according to their records. Blocks."""
    now = boot.boot_id()
    known = (
        (slug, record.load(slug)) for slug in layout.recorded_slugs() if files.SLUG.fullmatch(slug)
    )
    return {slug for slug, one in known if one and one.boot == now and one.status in ALIVE}


def find(slug: str) -> Record | None:
    """The last run if alive: same boot, same pid with the same start time, or the same mark."""
    known = record.load(slug)
    return alive(known) if known is not None else None


def alive(known: Record) -> Record | None:
    """The record of a living run, with missing values filled in; None when the run is over."""
    if known.boot != boot.boot_id():
        return None
    if known.pid:
        return known if table.same(known.pid, known.started) else None
    # the daemon was killed between starting the command and writing down its pid
    found = processes.members(known.family)
    leader = next((process for process in found if process.pid == process.group), None)
    if leader is None:
        return None
    return replace(
        known,
        pid=leader.pid,
        started=leader.started,
        leader=leader.pid,
        leader_started=leader.started,
    )


def remains(known: Record, port: int | None) -> list[Process]:
    """The processes left of a run, and those that may belong to it: of these only a listener is
    certain. The order matters: a process that overwrites its mark with a title between the two
    scans is found by one of them."""
    marked = processes.members(known.family)
    return [*marked, *(processes.strays(known.family) if port is not None else [])]


def survivor(
    known: Record, ended: Exit | None, port: int | None, address: str | None = None
) -> Process | None:
    """The process that goes on as the service after the first one has ended; None if there is none.

    A command that put itself into the background exited with 0, and its descendant listens on the
    port. Without a recorded exit (the wrapper was killed), any marked process left is the service.
    """
    if ended is not None and not ended.clean:
        return None
    left = remains(known, port)
    if not left:
        return None
    pids = [process.pid for process in left]
    pid = ports.listener(port, address, pids) if port is not None else None
    listening = next((process for process in left if process.pid == pid), None)
    if listening or ended is not None:
        return listening
    return next(iter(processes.members(known.family)), None)
