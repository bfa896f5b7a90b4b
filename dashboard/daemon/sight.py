"""What a scan sees, for the loop: in the scan's own thread; only copies of it leave (6.6, 7.9)."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dashboard.daemon.answers import answer
from dashboard.files.schema.config import Scan as Settings
from dashboard.health.result import Result
from dashboard.listeners import scan
from dashboard.listeners.observed import Changes, Observed, Sighting
from dashboard.registry.look import Seen, same
from dashboard.services.system import processes
from dashboard.services.system.processes import Family

FAMILIES_S = 30.0
Pids = Mapping[str, set[int]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the loop knows and a scan needs: settings, declared slugs, slugs kept for an observed
    id, and the process families of the services that live."""

    settings: Settings
    taken: frozenset[str]
    bound: Mapping[str, str]
    families: Mapping[str, Family]


@dataclass(frozen=True, slots=True)
class Look:
    """What the loop takes over. `due`: to be asked now; `pids`: of each living service."""

    seen: Seen
    pids: Pids
    changes: Changes
    due: tuple[Sighting, ...] = ()


@dataclass(slots=True)
class Sight:
    """The listeners over time. Everything in one thread: it reads /proc and small files."""

    own_ports: frozenset[int]
    _observed: Observed = field(init=False)
    _copies: dict[str, Sighting] = field(default_factory=dict)
    _made_of: tuple[object, ...] = ()
    _last: Seen = field(default_factory=Seen)
    _families: tuple[Mapping[str, Family], float, Pids] = ({}, 0.0, {})

    def __post_init__(self) -> None:
        self._observed = Observed(own_pids={os.getpid()}, own_ports=self.own_ports)

    def scan(self, wish: Wish) -> Look:
        """One complete scan."""
        settings, now = wish.settings, time.monotonic()
        self._observed.configure(ports=settings.ports, hide_system=settings.hide_system)
        found = scan.scan()
        changes = self._observed.update(found, now)
        pids = self._pids(wish.families, now, fresh=bool(changes.added or changes.changed))
        due = tuple(map(replace, self._observed.due(now))) if settings.http else ()
        self._last = replace(self._last, at=found.at, ms=found.ms, partial=found.partial)
        return Look(self._seen(wish), pids, changes, due)

    def hear(self, wish: Wish, heard: Mapping[str, Result]) -> Look:
        """What listeners answered, or other words of the loop, without another scan."""
        changed = [id_ for id_, result in heard.items() if self._heard(id_, result)]
        settings = wish.settings
        self._observed.configure(ports=settings.ports, hide_system=settings.hide_system)
        return Look(self._seen(wish), self._families[2], Changes((), (), tuple(changed)))

    def _heard(self, id_: str, result: Result) -> bool:
        one = self._observed.get(id_)
        said = answer(result, one.listener.port) if one is not None else None
        return said is not None and self._observed.answered(id_, said)

    def _seen(self, wish: Wish) -> Seen:
        """The copies; the same object as long as nothing of a listener but its times changes, and
        the same tuple of them as long as none changes."""
        made_of = (self._observed.version, wish.taken, wish.bound)
        if made_of == self._made_of:
            return self._last
        self._made_of, every = made_of, self._observed.all()
        self._copies = {one.id: self._copy(one) for one in every}
        self._last = replace(
            self._last,
            sightings=tuple(self._copies.values()),
            slugs=self._observed.slugs(wish.taken, wish.bound),
            hidden=frozenset(one.id for one in every if self._observed.hidden(one)),
        )
        return self._last

    def _copy(self, one: Sighting) -> Sighting:
        known = self._copies.get(one.id)
        return known if known is not None and same(known, one) else replace(one)

    def _pids(self, families: Mapping[str, Family], now: float, *, fresh: bool) -> Pids:
        """Every process of every living service; looked up when one of them may be another."""
        before, at, pids = self._families
        if fresh or families != before or (families and now - at >= FAMILIES_S):
            pids = {slug: _members(family) for slug, family in families.items()}
            self._families = (families, now, pids)
            self._observed.serves({pid for found in pids.values() for pid in found})
        return pids


def _members(family: Family) -> set[int]:
    return {family.leader, *(one.pid for one in processes.members(family))}
