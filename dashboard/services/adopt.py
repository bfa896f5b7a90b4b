"""Finds a run that a former daemon started, or one that left its wrapper."""

from __future__ import annotations

from dataclasses import replace

from config.process import table
from config.process.table import Process
from dashboard.files import layout as files
from dashboard.services import layout, record
from dashboard.services.record import Exit, Record
from dashboard.services.state import ALIVE
from dashboard.services.system import boot, ports, processes


def left() -> set[str]:
    """The slugs of every run of this boot that was alive when it was last heard of. Blocks."""
    now = boot.boot_id()
    known = ((slug, record.load(slug)) for slug in layout.recorded() if files.SLUG.fullmatch(slug))
    return {slug for slug, one in known if one and one.boot == now and one.status in ALIVE}


def find(slug: str) -> Record | None:
    """The last run, if it lives: same boot, same pid with the same start time, or the same mark."""
    known = record.load(slug)
    return alive(known) if known is not None else None


def alive(known: Record) -> Record | None:
    """The record of a living run, with what was missing from it; None when it is over."""
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
    """What is left of a run, and of what may be: only a listener among that surely is. In this
    order: what writes a title over its mark between the two looks is met by one of them."""
    marked = processes.members(known.family)
    return [*marked, *(processes.strays(known.family) if port is not None else [])]


def survivor(
    known: Record, ended: Exit | None, port: int | None, address: str | None = None
) -> Process | None:
    """What goes on as the service after its first process has ended.

    A command that put itself into the background left with 0, and its descendant listens on the
    port. Where nothing was told (the wrapper was killed), whatever is left is the service.
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
