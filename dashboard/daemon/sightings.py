"""What a scan sees. Used in the scan's own thread; the loop gets copies only."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dashboard.files.schema.config import Scan as Settings
from dashboard.health.probe import probe
from dashboard.health.result import Kind, Page, Result
from dashboard.health.target import Target
from dashboard.listeners import scan
from dashboard.listeners.identity import Answer
from dashboard.listeners.observed import Changes, Observed, Sighting
from dashboard.registry.look import CompletedScan, same
from dashboard.rendering import favicon
from dashboard.services.system import processes
from dashboard.services.system.processes import Family, Snapshot

FAMILIES_S = 30.0
MARKUP = 8 << 10  # bytes of a page that are kept: frameworks show near its beginning
REFUSED = 400  # from this status on, a title describes the error and not the app
Pids = Mapping[str, set[int]]


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What the loop knows and a scan needs: settings, declared slugs, slugs kept for an observed
    id, and the process families of the running services."""

    settings: Settings
    taken: frozenset[str]
    bound: Mapping[str, str]
    families: Mapping[str, Family]


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What the loop takes over. `due`: listeners to ask now; `pids`: of each running service."""

    seen: CompletedScan
    pids: Pids
    changes: Changes
    due: tuple[Sighting, ...] = ()


@dataclass(slots=True)
class Sightings:
    """The listeners over time. Used in one thread only, as it reads /proc and small files."""

    own_ports: frozenset[int]
    _observed: Observed = field(init=False)
    _copies: dict[str, Sighting] = field(default_factory=dict)
    _made_of: tuple[object, ...] = ()
    _last: CompletedScan = field(default_factory=CompletedScan)
    _families: tuple[Mapping[str, Family], float, Pids] = ({}, 0.0, {})

    def __post_init__(self) -> None:
        self._observed = Observed(own_pids={os.getpid()}, own_ports=self.own_ports)

    def scan(self, request: ScanRequest) -> ScanResult:
        """One complete scan."""
        settings, now = request.settings, time.monotonic()
        self._observed.configure(ports=settings.ports, hide_system=settings.hide_system)
        found = scan.scan()
        changes = self._observed.update(found, now)
        pids = self._pids(request.families, now, fresh=bool(changes.added or changes.changed))
        due = tuple(map(replace, self._observed.due(now))) if settings.http else ()
        self._last = replace(self._last, at=found.at, ms=found.ms, partial=found.partial)
        return ScanResult(self._completed_scan(request), pids, changes, due)

    def hear(self, request: ScanRequest, heard: Mapping[str, Result]) -> ScanResult:
        """Take in answers of listeners, or a changed request, without another scan."""
        changed = [id_ for id_, result in heard.items() if self._take_answer(id_, result)]
        settings = request.settings
        self._observed.configure(ports=settings.ports, hide_system=settings.hide_system)
        return ScanResult(
            self._completed_scan(request), self._families[2], Changes((), (), tuple(changed))
        )

    def _take_answer(self, id_: str, result: Result) -> bool:
        one = self._observed.get(id_)
        said = answer(result, one.listener.port) if one is not None else None
        return said is not None and self._observed.store_answer(id_, said)

    def _completed_scan(self, request: ScanRequest) -> CompletedScan:
        """The copies of the listeners. A copy stays the same object until something other than its
        times changes, and the whole result stays the same while no copy changes."""
        made_of = (self._observed.version, request.taken, request.bound)
        if made_of == self._made_of:
            return self._last
        self._made_of, every = made_of, self._observed.all()
        self._copies = {one.id: self._copy(one) for one in every}
        self._last = replace(
            self._last,
            sightings=tuple(self._copies.values()),
            slugs=self._observed.slugs(request.taken, request.bound),
            hidden=frozenset(one.id for one in every if self._observed.hidden(one)),
        )
        return self._last

    def _copy(self, one: Sighting) -> Sighting:
        known = self._copies.get(one.id)
        return known if known is not None and same(known, one) else replace(one)

    def _pids(self, families: Mapping[str, Family], now: float, *, fresh: bool) -> Pids:
        """The processes of each running service, read again after a change and every 30 s."""
        before, at, pids = self._families
        if fresh or families != before or (families and now - at >= FAMILIES_S):
            machine = processes.look() if families else None
            pids = {slug: _members(family, machine) for slug, family in families.items()}
            self._families = (families, now, pids)
            self._observed.serves({pid for found in pids.values() for pid in found})
        return pids


def _members(family: Family, machine: Snapshot | None) -> set[int]:
    return {family.leader, *(one.pid for one in processes.members(family, seen=machine))}


async def ask(one: Sighting) -> Result:
    """What the listener answers to a plain GET, or to one over TLS when it speaks that."""
    host, port = one.listener.reach[0]
    return await probe(Target(scheme="auto", host=host, port=port), page=True)


def answer(result: Result, port: int) -> Answer | None:
    """What the result says of the listener; None if it failed, which is no news of what it is."""
    if result.failed:
        return None
    if result.status is None:
        return Answer("https" if result.kind is Kind.TLS else "tcp")
    scheme = "https" if result.scheme == "https" else "http"
    page = result.page or Page()
    named = favicon.read(page.body, f"{scheme}://localhost:{port}/")
    icons = (*named.icons, *named.touch)
    return Answer(
        protocol="https" if scheme == "https" else "http",
        title=page.title if result.status < REFUSED else None,
        favicon=icons[0] if icons else None,
        headers=page.headers,
        markup=page.body[:MARKUP].decode("utf-8", errors="replace"),
    )
