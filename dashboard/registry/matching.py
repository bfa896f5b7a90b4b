"""Which listener is which app's: by its port, by `match`, by what started it.

The order of certainty: docs/design/dashboard.md#which-listener-is-an-apps
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import IntEnum

from dashboard.files.schema import Match
from dashboard.health.target import EVERYWHERE
from dashboard.listeners.observed import Sighting

_WEB = ("http", "https")


class Verdict(IntEnum):
    """How certain it is that a listener is the app's, the most certain first."""

    FAMILY = 0  # a process of its own service
    FITS = 1
    UNSURE = 2  # nothing contradicts, but a fact that `match` needs is unknown
    CONTRADICTS = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one declared app looks for. `port` None: it is recognised by `match` or its service
    alone.

    `owns`: the port is its own, not that of a URL, which may be a proxy's. `folder`: the real path
    its service runs in, by which a listener is judged if there is no `match`. `service`: it has
    one, so that listeners of another service are not its own. `address`: the only address its port
    is on, None if it is where `localhost` leads.
    """

    slug: str
    port: int | None
    match: Match | None
    owns: bool
    folder: str | None = None
    service: bool = False
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Recognised:
    """`own`: the listener the app is recognised by; `stranger`: the one that has its port
    instead. `beside`: what else its running service listens on."""

    own: Sighting | None = None
    stranger: Sighting | None = None
    beside: tuple[Sighting, ...] = ()


def verdict(match: Match | None, one: Sighting, folder: str | None = None) -> Verdict:
    """What `match`, else the folder of its service, says about a listener. Unknown facts
    contradict nothing. For a container nothing but the port can contradict, because the process is
    the engine's proxy."""
    if match is None:
        return Verdict.FITS if folder is None else _by_folder(folder, one)
    identity = one.identity
    process = identity.process
    said = (
        match.fits_cwd(identity.cwd),
        match.fits_process(one.listener.exe, process.name),
        match.fits_command(process.argv, identity.command),
    )
    if match.port not in {None, one.listener.port} or (False in said and not identity.container):
        return Verdict.CONTRADICTS
    return Verdict.FITS if all(said) else Verdict.UNSURE


def _by_folder(folder: str, one: Sighting) -> Verdict:
    """Whether it runs in the folder, or in the folder's repository; unsure if in /, where daemons
    go."""
    identity = one.identity
    if identity.container or identity.cwd in {"", "/"}:
        return Verdict.UNSURE
    root = str(identity.git.root) if identity.git else None
    fits = _within(identity.cwd, folder) or (root is not None and _within(folder, root))
    return Verdict.FITS if fits else Verdict.CONTRADICTS


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


class Listeners:
    """The sightings of one moment, indexed. `pids`: slug -> all processes of its running
    service."""

    def __init__(self, sightings: Iterable[Sighting], pids: Mapping[str, Set[int]]) -> None:
        self.all = sorted(sightings, key=lambda one: (one.listener.port, one.id))
        self.by_port: dict[int, list[Sighting]] = {}
        self.by_cwd: dict[str, list[Sighting]] = {}
        self.family: dict[str, str] = {}  # id -> slug of the service that started it
        owners = {pid: slug for slug in sorted(pids) for pid in pids[slug]}
        for one in self.all:
            self.by_port.setdefault(one.listener.port, []).append(one)
            self.by_cwd.setdefault(one.identity.cwd, []).append(one)
            if owners and (slug := _owner(one, owners)):
                self.family[one.id] = slug

    def beside(self, slug: str, own: Sighting | None) -> tuple[Sighting, ...]:
        """What the service of the app listens on, without the listener it is recognised by."""
        return tuple(
            s for s in self.all if s is not own and s.present and self.family.get(s.id) == slug
        )

    def assign(self, wanted: Iterable[Wanted]) -> dict[str, Recognised]:
        """The listener of each app. Apps found on their own port come before those that have
        moved, and no two apps move to the same listener."""
        declared = {one.slug for one in wanted}
        found = {one.slug: self._at_home(one, declared) for one in wanted}
        taken = {one.own.id for one in found.values() if one.own and one.own.present}
        for one in sorted(wanted, key=lambda one: one.slug):
            here = found[one.slug]
            if one.match is None or (here.own and here.own.present):
                continue
            moved = self._elsewhere(one, taken)
            if moved and (moved.present or here.own is None):
                taken.add(moved.id)
                found[one.slug] = Recognised(moved)
        return found

    def _at_home(self, one: Wanted, declared: Set[str]) -> Recognised:
        """The listener on the app's own port; for an app without one, that of its service."""
        if one.port is None:
            known = (s for s in self.all if self.family.get(s.id) == one.slug)
            return Recognised(min(known, key=lambda s: not s.present, default=None))
        there = [s for s in self.by_port.get(one.port, ()) if self._is_there(one, s)]
        judged = [(self._verdict(one, s, declared), s) for s in there]
        own = [
            (not s.present, said, s.id, s) for said, s in judged if said is not Verdict.CONTRADICTS
        ]
        if own:
            return Recognised(min(own, key=lambda row: row[:3])[3])
        strangers = (seen for _, seen in judged if seen.present and one.owns)
        return Recognised(stranger=next(strangers, None))

    def _is_there(self, one: Wanted, seen: Sighting) -> bool:
        """Whether it can answer at the app's address; a listener of its own service always
        counts."""
        if one.address is None or self.family.get(seen.id) == one.slug:
            return True
        return any(ip in {one.address, *EVERYWHERE} for ip, _ in seen.listener.addresses)

    def _elsewhere(self, one: Wanted, taken: Set[str]) -> Sighting | None:
        """The nearest listener that fits without doubt: a web server before others it has opened,
        and none that ran beside the app when the app was on its own port."""
        fitting = [
            s
            for s in self._candidates(one.match)
            if s.id not in taken
            and self.family.get(s.id, one.slug) == one.slug
            and (s.id in self.family or one.port not in s.beside)
            and verdict(one.match, s) is Verdict.FITS
        ]
        home = one.port or 0
        return min(
            fitting,
            key=lambda s: (
                not s.present,
                self.family.get(s.id) != one.slug,
                not (s.answer and s.answer.protocol in _WEB),
                abs(s.listener.port - home),
                s.id,
            ),
            default=None,
        )

    def _candidates(self, match: Match | None) -> list[Sighting]:
        """As few as possible of those that may fit: most files name one directory."""
        if match and match.port is not None:
            return self.by_port.get(match.port, [])
        if match and (cwd := match.only_cwd) is not None:
            return self.by_cwd.get(cwd, [])
        return self.all if match else []

    def _verdict(self, one: Wanted, seen: Sighting, declared: Set[str]) -> Verdict:
        starter = self.family.get(seen.id)
        if starter == one.slug:
            return Verdict.FAMILY
        if one.service and starter is not None and starter not in declared:
            return Verdict.CONTRADICTS  # the service without a file can be stopped there
        return verdict(one.match, seen, one.folder)


def _owner(one: Sighting, owners: Mapping[int, str]) -> str | None:
    """The service that has this process, or the nearest of its parents."""
    chain = (one.listener.pid, *(parent.pid for parent in one.identity.process.parents))
    return next((owners[pid] for pid in chain if pid is not None and pid in owners), None)
