"""The listeners of this machine over time: when they are seen, are probed and disappear.

Used by one thread at a time. `now` is in seconds of a monotonic clock; times for people come with
the scan. The rules: docs/design/dashboard.md#scanning-listeners
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dashboard.files.convert import Ranges
from dashboard.files.schema.health import SILENT_PORTS
from dashboard.listeners import names
from dashboard.listeners.identity import Answer, Identity, identify
from dashboard.listeners.kinds import Kind, kind
from dashboard.listeners.scan import Listener, Scan, former_id, program

PORTS: Ranges = ((80, 80), (443, 443), (1024, 65535))
STAYS_S = 30.0
ASKED_S = (0.5, 2.0, 5.0, 15.0)  # after a listener is first seen
# For a listener that has not answered by then: a first build takes its time.
SILENT_S = (30.0, 45.0, 60.0, 75.0, 90.0, 120.0, 150.0, 180.0, 240.0, 300.0, 420.0)
OTHERS_S = (0.5, 5.0, 60.0)  # for what does not look like a dev server, until it answers
TITLE_S = 600.0
IDENTIFIED_S = 60.0  # the branch under a running server may be switched
MOST_AGAIN = 20  # identities renewed in one update

_NUMBER = re.compile(r"\d+")
Identify = Callable[[Listener], Identity]


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids, in the order of the list. `changed`: the process, address or identity differs."""

    added: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(slots=True)
class Sighting:
    """What is known about one listener.

    `found` is its identity from files alone, `identity` is that with its `answer`; `since` is when
    its present process was first seen. `beside`: the ports on which others in its directory have
    listened at the same time.
    """

    listener: Listener
    first_seen: datetime
    last_seen: datetime
    seen: float
    since: float
    identified: float
    found: Identity
    identity: Identity
    kind: Kind
    next_ask: float
    answer: Answer | None = None
    present: bool = True
    beside: frozenset[int] = frozenset()

    @property
    def id(self) -> str:
        return self.listener.id

    def know(self, found: Identity, answer: Answer | None) -> bool:
        """Store what was learnt. Returns whether that changes what is shown."""
        before = (self.identity, self.answer and self.answer.protocol)
        self.found, self.answer = found, answer
        self.identity = found.with_answer(answer)
        self.kind = kind(self.identity, self.listener.port, answer)
        return before != (self.identity, answer and answer.protocol)

    @property
    def foreign(self) -> bool:
        """Whether it is another user's; a published port belongs to all who can see its
        container."""
        return self.listener.uid != os.geteuid() and self.found.container is None

    def ask_after(self, now: float) -> float:
        """When to probe it next: often while it looks like a dev server that is starting, at
        growing intervals while it has not answered at all."""
        first, later = (ASKED_S, SILENT_S) if self.kind == "dev" else ((), OTHERS_S)
        times = first if self.answer else (*first, *later)
        soon = (self.since + after for after in times)
        return next((moment for moment in soon if moment > now), now + TITLE_S)

    @property
    def homeless(self) -> bool:
        """Whether its program or directory is unknown, or its directory is one shared by many
        programs."""
        cwd = self.listener.cwd
        return not self.listener.exe or cwd in {"", "/", str(Path.home())}


class Observed:
    """Keeps only what was seen; whether listeners are ignored or declared is left to the reader.

    `own_pids`: processes whose listeners, and whose children's, are never listed. `ports` and
    `hide_system` are those of config.yaml (`scan`). A service we run is our child, and yet an app:
    `serves` names its processes. `version` counts whatever may have changed the list, except
    times.
    """

    def __init__(
        self,
        *,
        own_pids: Collection[int] = (),
        own_ports: Collection[int] = (),
        ports: Ranges = PORTS,
        hide_system: bool = True,
        identify: Identify = lambda one: identify(one.pid, one.port, uid=one.uid),
    ) -> None:
        self._own_pids, self._own_ports = frozenset(own_pids), frozenset(own_ports)
        self._ports, self._hide_system = ports, hide_system
        self._services: frozenset[int] = frozenset()
        self._identify = identify
        self._known: dict[str, Sighting] = {}
        self._listed: list[Sighting] | None = None
        self._scanned: tuple[Listener, ...] | None = None  # of the last scan, if none is gone
        self._steady: tuple[datetime, float] | None = None  # when the same listeners were last seen
        self.version = 0

    def configure(self, *, ports: Ranges, hide_system: bool) -> None:
        """Set what config.yaml says; it applies from the next update on."""
        if (ports, hide_system) != (self._ports, self._hide_system):
            self._ports, self._hide_system = ports, hide_system
            self._touch()

    def serves(self, pids: Collection[int]) -> None:
        """Set the processes of the services: their listeners do not count as our own."""
        if self._services != (services := frozenset(pids)):
            self._services = services
            self._touch()

    def update(self, scan: Scan, now: float) -> Changes:
        """Apply a scan. Reads files of new listeners, so it must not run in an event loop.

        A scan with the same listeners as the one before costs next to nothing.
        """
        if scan.listeners is self._scanned:
            self._steady = scan.at, now
            differ = self._renew(now)
            return Changes((), (), tuple(one.id for one in self.all() if one.id in differ))
        self._catch_up()
        changes = self._compare(scan, now)
        if all(one.present for one in self._known.values()):
            self._scanned = scan.listeners
        return changes

    def _catch_up(self) -> None:
        """Set the time of each listener to that of the last scan with the same result."""
        if self._steady is not None:
            for one in self._known.values():
                one.last_seen, one.seen = self._steady
            self._steady = None

    def _touch(self) -> None:
        """Note that something clients can see has changed, or may have."""
        self.version += 1
        self._listed = self._scanned = None

    def _compare(self, scan: Scan, now: float) -> Changes:
        before = {one.id for one in self.all()}
        present = {one.id: one for one in scan.listeners if self._in_scope(one)}
        changed = [
            one.id
            for one in self._known.values()
            if (listener := present.get(one.id)) and self._seen_again(one, listener, scan.at, now)
        ]
        for listener in present.values():
            if listener.id not in self._known:
                self._known[listener.id] = self._follow_move(listener, present, scan.at, now)
        self._forget(present, now)
        self._tell_apart()
        self._touch()
        changed += self._renew(now)
        after = [one.id for one in self.all()]
        return Changes(
            added=tuple(one for one in after if one not in before),
            gone=tuple(sorted(before.difference(after))),
            changed=tuple(one for one in after if one in before and one in changed),
        )

    def all(self) -> list[Sighting]:
        """Every listener that is not our own, including those gone for less than 30 s, by port."""
        if self._listed is None:
            listed = (one for one in self._known.values() if not self._is_own(one))
            self._listed = sorted(
                listed, key=lambda one: (one.listener.port, one.first_seen, one.id)
            )
        return self._listed

    def get(self, id: str) -> Sighting | None:  # noqa: A002 - the word of the API
        found = self._known.get(id)
        return None if found is None or self._is_own(found) else found

    def due(self, now: float) -> list[Sighting]:
        """The listeners to be probed now; each is returned once each time it is due."""
        found = [one for one in self.all() if one.next_ask <= now and self._may_be_asked(one)]
        for one in found:
            one.next_ask = one.ask_after(now)
        return found

    def store_answer(self, id: str, answer: Answer) -> bool:  # noqa: A002
        """Store the answer of a listener. Returns whether that changes what is shown of it."""
        found = self.get(id)
        differs = found is not None and found.know(found.found, answer)
        self.version += differs
        return differs

    def hidden(self, one: Sighting) -> bool:
        """Whether it is hidden as another user's or the system's (scan.hideSystem)."""
        return self._hide_system and (one.foreign or one.kind == "system")

    def slugs(
        self, taken: Container[str] = (), bound: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """A suggested slug for each id, all different: `bound` ones first, none that is
        `taken`."""
        kept = self._match_slugs(bound or {})
        used = _Used(taken, {*kept.values(), *(bound or {}).values()})
        counted: dict[str, int] = {}
        for one in sorted(self.all(), key=lambda one: one.first_seen):
            if one.id not in kept:
                kept[one.id] = names.slug(one.identity, one.listener.port, used, counted)
                used.here.add(kept[one.id])
        return kept

    def _match_slugs(self, bound: Mapping[str, str]) -> dict[str, str]:
        """The slugs of those that have one: by their own id, else by that of the same program in
        the same directory on another port, if nothing is known on that port any more."""
        kept: dict[str, str] = {}
        left: dict[str, list[tuple[int, str]]] = {}  # program -> slugs of unused ports
        names_ = {one.id for one in self.all()}
        for id_, slug in bound.items():
            if id_ not in names_:
                left.setdefault(program(id_), []).append((len(slug), slug))
        for one in self.all():
            at = one.listener
            former = former_id(at.port, at.exe, at.cwd)
            if known := bound.get(one.id) or bound.get(former):
                kept[one.id] = known
        for one in self.all():
            if one.id not in kept and not one.homeless and (free := left.get(program(one.id))):
                kept[one.id] = min(free)[1]
                free.remove(min(free))
        return kept

    def _in_scope(self, listener: Listener) -> bool:
        port = listener.port
        wanted = any(first <= port <= last for first, last in self._ports)
        return wanted and port not in self._own_ports

    def _is_own(self, one: Sighting) -> bool:
        process = one.found.process
        for pid in (process.pid, *(parent.pid for parent in process.parents)):
            if pid in self._services:
                return False
            if pid in self._own_pids:
                return True
        return False

    def _may_be_asked(self, one: Sighting) -> bool:
        silent = one.listener.port in SILENT_PORTS or one.kind == "database"
        return one.present and not silent and not self.hidden(one)

    def _follow_move(
        self, listener: Listener, present: Container[str], at: datetime, now: float
    ) -> Sighting:
        """A new listener. If the listener of the same program in the same directory is gone, and
        was started in the same way except for numbers, it has moved here."""
        new = self._first(listener, at, now)
        if new.homeless:
            return new
        for old in self._known.values():
            same = program(old.id) == program(new.id) and _command_shape(old) == _command_shape(new)
            if same and old.id not in present:
                del self._known[old.id]
                new.know(new.found, old.answer)
                new.first_seen = old.first_seen
                break
        return new

    def _first(self, listener: Listener, at: datetime, now: float) -> Sighting:
        found = self._identify(listener)
        sort = kind(found, listener.port)
        first = now + ASKED_S[0]
        return Sighting(listener, at, at, now, now, now, found, found, sort, first)

    def _seen_again(self, one: Sighting, listener: Listener, at: datetime, now: float) -> bool:
        """Whether it differs from before; a restarted process is identified and probed again."""
        was, one.listener = one.listener, listener
        came_back = not one.present
        one.last_seen, one.seen, one.present = at, now, True
        if (was.pid, was.started) != (listener.pid, listener.started):
            one.know(self._identify(listener), one.answer)
            one.identified = one.since = now
            one.next_ask = now + ASKED_S[0]
        return came_back or was != listener

    def _forget(self, present: Container[str], now: float) -> None:
        for one in [*self._known.values()]:
            if one.id not in present:
                one.present = False
                if now - one.seen >= STAYS_S:
                    del self._known[one.id]

    def _tell_apart(self) -> None:
        """Note what runs at the same time: of two servers in one directory, neither is the other
        one moved to another port."""
        here: dict[str, list[Sighting]] = {}
        for one in self._known.values():
            if one.present:
                here.setdefault(one.listener.cwd, []).append(one)
        for together in here.values():
            alike: dict[tuple[str, ...], list[Sighting]] = {}
            for one in together if len(together) > 1 else ():
                alike.setdefault((program(one.id), *_command_shape(one)), []).append(one)
            ports = {one.listener.port for one in together}
            for same in alike.values():
                others = ports.difference(one.listener.port for one in same)
                for one in same:
                    one.beside |= others

    def _renew(self, now: float) -> list[str]:
        """Identify again those whose files have not been read for the longest time. Returns the
        ids of those that differ."""
        known = (one for one in self._known.values() if one.present)
        old = [one for one in known if now - one.identified >= IDENTIFIED_S]
        differ = []
        for one in sorted(old, key=lambda one: one.identified)[:MOST_AGAIN]:
            one.identified = now
            if one.know(self._identify(one.listener), one.answer):
                differ.append(one.id)
        if differ:  # parents may differ, and so whether the listener is our own
            self.version += 1
            self._listed = None
        return differ


def _command_shape(one: Sighting) -> list[str]:
    """How it was started, with all numbers replaced, so whatever its port."""
    return [_NUMBER.sub("0", argument) for argument in one.found.command]


@dataclass(frozen=True, slots=True)
class _Used:
    """The slugs that are not free."""

    taken: Container[str]
    here: set[str]

    def __contains__(self, slug: object) -> bool:
        return slug in self.here or slug in self.taken
