"""Every app at one moment, declared or discovered, and every other listener.

Made again after each scan and each change of a file. It reuses from the census before whatever did
not change: also the App objects, which may therefore be compared by identity.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from dashboard.files.convert import Ranges
from dashboard.files.entries import Entry
from dashboard.files.schema import Config
from dashboard.listeners import names
from dashboard.listeners.observed import Sighting
from dashboard.registry import declared, discovered
from dashboard.registry.app import App, Facts, Process
from dashboard.registry.look import CompletedScan, Files, same
from dashboard.registry.matching import Listeners, Recognised

__all__ = ["App", "Census", "census"]


@dataclass(frozen=True, slots=True)
class _Made:
    """What a census was made of."""

    files: Files
    seen: CompletedScan
    pids: Mapping[str, Set[int]]
    members: Mapping[str, Set[int]]
    claimed: Set[str]
    processes: Mapping[str, Process]
    local_scan: bool
    own_ports: frozenset[int]
    ignoring: Mapping[str, bool]  # id -> whether a rule covers it; only those that were checked

    def facts(self, entry: Entry | None, found: Recognised) -> Facts:
        config: Config = self.files.config.parsed
        slug = entry.name if entry else ""
        return Facts(
            entry=entry,
            found=found,
            health=config.health,
            scanned=_without(config.scan.ports, self.own_ports) if self._scanned else (),
            living=bool(self.pids.get(slug)),
            process=self.processes.get(slug),
        )

    @property
    def _scanned(self) -> bool:
        return self.local_scan and self.seen.at is not None


@dataclass(frozen=True, slots=True)
class Census:
    """`apps`: the declared ones sorted by slug, then the discovered ones sorted by slug.

    `observed`: listeners that belong to no declared app, by port; it includes those of `hidden`,
    which clients show on request. `ignored`: those covered by a rule of ignore.yaml. `slugs`: for
    each listener of both, the slug of its discovered app or a suggestion. `claimed`: the listeners
    of declared apps and of services; one that is gone is not found anew when its app leaves it.
    """

    apps: Mapping[str, App]
    observed: tuple[Sighting, ...] = ()
    ignored: tuple[Sighting, ...] = ()
    hidden: frozenset[str] = frozenset()
    slugs: Mapping[str, str] = field(default_factory=dict)
    claimed: frozenset[str] = frozenset()
    made: _Made | None = field(default=None, repr=False, compare=False)

    @property
    def visible(self) -> tuple[Sighting, ...]:
        """The observed listeners that are not hidden."""
        return tuple(one for one in self.observed if one.id not in self.hidden)


def census(
    files: Files,
    seen: CompletedScan,
    *,
    pids: Mapping[str, Set[int]],
    members: Mapping[str, Set[int]] | None = None,
    claimed: Set[str] = frozenset(),
    processes: Mapping[str, Process] | None = None,
    local_scan: bool,
    own_ports: frozenset[int] = frozenset(),
    before: Census | None = None,
) -> Census:
    """Make a census. `pids`: slug -> all processes of its running service. `members`: the same at
    the last scan, as a service that was stopped since is still what listened then. `claimed`: that
    of the census before. `processes`: slug -> the main process of the service, which health type
    `process` checks. `local_scan`: whether the machine's listeners are scanned (scan.enabled).
    `own_ports`: those of this server, whose listeners no scan reports. `before` only saves time."""
    of = (pids, members or {}, claimed, processes or {}, local_scan, own_ports)
    made = _Made(files, seen, *of, {})
    if before is not None and before.made is not None and _unchanged(made, before.made):
        return _seen_again(before, made)
    listeners = Listeners(seen.sightings, {**made.members, **pids})
    known = before.apps if before else {}
    apps = _declared_apps(made, listeners, known)
    matched = {app.sighting.id for app in apps.values() if app.sighting}
    matched |= {one for one, slug in listeners.family.items() if slug in apps}
    matched |= {one.id for one in listeners.all if not one.present} & claimed
    ignoring = _ignoring(made, listeners, matched, before)
    left = [one for one in listeners.all if one.id not in matched]
    observed = tuple(one for one in left if not ignoring[one.id])
    slugs = _slugs(left, listeners.family, seen, files.apps)
    for slug, one in discovered.among(observed, slugs, seen.hidden):
        facts = made.facts(None, Recognised(one))
        apps[slug] = _reuse(known.get(slug), facts) or discovered.app(slug, facts)
    return Census(
        apps=apps,
        observed=observed,
        ignored=tuple(one for one in left if ignoring[one.id]),
        hidden=seen.hidden & {one.id for one in observed},
        slugs=slugs,
        claimed=frozenset(matched | listeners.family.keys()),
        made=replace(made, ignoring=ignoring),
    )


def _declared_apps(made: _Made, listeners: Listeners, known: Mapping[str, App]) -> dict[str, App]:
    entries = [made.files.apps[slug] for slug in sorted(made.files.apps)]
    found = listeners.assign([one for entry in entries if (one := declared.make_wanted(entry))])
    apps = {}
    for entry in entries:
        slug = entry.name
        known_by = found.get(slug, Recognised())
        beside = listeners.beside(slug, known_by.own)
        facts = made.facts(entry, replace(known_by, beside=beside))
        apps[slug] = _reuse(known.get(slug), facts) or declared.app(slug, facts)
    return apps


def _reuse(old: App | None, facts: Facts) -> App | None:
    """The app of the census before, if nothing about it has changed."""
    return old if old and old.facts and facts.same(old.facts) else None


def _ignoring(
    made: _Made, listeners: Listeners, matched: Container[str], before: Census | None
) -> dict[str, bool]:
    """Whether ignore.yaml covers each listener that belongs to no declared app."""
    old = before.made if before else None
    known: dict[str, bool] = {}
    if old is not None and old.files.ignore is made.files.ignore:
        were = {one.id: one for one in old.seen.sightings}
        known = {
            one.id: old.ignoring[one.id]
            for one in listeners.all
            if one.id in old.ignoring and same(one, were.get(one.id))
        }
    rules = made.files.ignore.parsed
    for one in listeners.all:
        if one.id not in known and one.id not in matched:
            names_ = (one.listener.exe, one.identity.process.name)
            known[one.id] = any(
                rule.covers(port=one.listener.port, processes=names_, cwd=one.identity.cwd)
                for rule in rules
            )
    return known


def _slugs(
    left: list[Sighting], family: Mapping[str, str], seen: CompletedScan, taken: Container[str]
) -> dict[str, str]:
    """A slug for each listener, all different, and none that of a declared app.

    A service that runs under a slug without a file keeps that slug, as its log and its actions are
    there.
    """
    found: dict[str, str] = {}
    used: set[str] = set()
    counted: dict[str, int] = {}

    def order(one: Sighting) -> tuple[bool, datetime, int, str]:
        return one.id not in family, one.first_seen, one.listener.port, one.id

    for one in sorted(left, key=order):
        base = family.get(one.id) or seen.slugs.get(one.id)
        base = base or names.slug(one.identity, one.listener.port)
        found[one.id] = names.free(base, _TakenSlugs(taken, used), counted)
        used.add(found[one.id])
    return found


@dataclass(frozen=True, slots=True)
class _TakenSlugs:
    declared: Container[str]
    used: Container[str]

    def __contains__(self, slug: object) -> bool:
        return slug in self.used or slug in self.declared


@lru_cache(16)
def _without(ranges: Ranges, ports: frozenset[int]) -> Ranges:
    """The ranges without these ports."""
    for port in sorted(ports):
        cut = [
            piece
            for low, high in ranges
            for piece in ((low, min(high, port - 1)), (max(low, port + 1), high))
        ]
        ranges = tuple(dict.fromkeys(piece for piece in cut if piece[0] <= piece[1]))
    return ranges


def _unchanged(made: _Made, old: _Made) -> bool:
    """Whether nothing differs except when the listeners were last seen."""
    return (
        made.local_scan == old.local_scan
        and made.own_ports == old.own_ports
        and made.files.config is old.files.config
        and made.files.ignore is old.files.ignore
        and (made.seen.at is None) == (old.seen.at is None)
        and made.seen.hidden == old.seen.hidden
        and made.seen.slugs == old.seen.slugs
        and made.pids == old.pids
        and made.members == old.members
        and made.claimed == old.claimed
        and made.processes == old.processes
        and _same_entries(made.files, old.files)
        and _same_sightings(made.seen.sightings, old.seen.sightings)
    )


def _same_sightings(found: tuple[Sighting, ...], old: tuple[Sighting, ...]) -> bool:
    return found is old or (len(found) == len(old) and all(map(same, found, old)))


def _same_entries(files: Files, old: Files) -> bool:
    if len(files.apps) != len(old.apps):
        return False
    return all(old.apps.get(slug) is entry for slug, entry in files.apps.items())


def _seen_again(before: Census, made: _Made) -> Census:
    """The same census, with the listeners as last seen."""
    assert before.made is not None
    made = replace(made, ignoring=before.made.ignoring)
    if made.seen.sightings is before.made.seen.sightings:
        return replace(before, made=made)
    fresh = {one.id: one for one in made.seen.sightings}
    return replace(
        before,
        observed=tuple(fresh[one.id] for one in before.observed),
        ignored=tuple(fresh[one.id] for one in before.ignored),
        made=made,
    )
