"""A declared app: its file, with the listener it was recognised by."""

from __future__ import annotations

import os

from dashboard.files.convert import Ranges
from dashboard.files.entries import Entry
from dashboard.files.schema import AppFile
from dashboard.health.record import Policy, Port, Reason
from dashboard.registry import targets
from dashboard.registry.app import App, Facts, Process
from dashboard.registry.matching import Wanted
from dashboard.registry.targets import Home
from dashboard.services.definition import Service, address_of


def make_wanted(entry: Entry) -> Wanted | None:
    """What the app is recognised by; None if it is on another machine, or the file has nothing."""
    file: AppFile | None = entry.parsed
    place = targets.home(file) if file else None
    if file is None or place is None or not place.local:
        return None
    if place.port is None and file.match is None and file.service is None:
        return None
    started = file.service.cwd if file.service else None
    folder = os.path.realpath(started) if started else None
    return Wanted(
        entry.name,
        place.port,
        file.match,
        owns=place.moves,
        folder=folder,
        service=file.service is not None,
        address=address_of(place.host),
    )


def app(slug: str, facts: Facts) -> App:
    """The app of a file. One whose file was never valid is listed too, but not probed."""
    file: AppFile | None = facts.entry.parsed if facts.entry else None
    if file is None:
        return App(
            slug=slug,
            source="declared",
            entry=facts.entry,
            beside=facts.found.beside,
            target=targets.NOTHING,
            policy=Policy(probed=False),
            silenced=Reason.INVALID_FILE,
            facts=facts,
        )
    return _readable(slug, facts, file)


def _readable(slug: str, facts: Facts, file: AppFile) -> App:
    place, own = targets.home(file), facts.found.own
    port, moved_from = _port(file, place, facts)
    process = facts.process or _own_process(facts)
    asked = targets.probe_plan(
        file, facts.health, port=port, process=process, should_run=facts.living
    )
    if port is None and file.match and not (facts.scanned or process or file.url):
        asked = targets.without_probe(
            asked.policy, "it is found by its match, and nothing is scanned"
        )
    return App(
        slug=slug,
        source="declared",
        entry=facts.entry,
        file=file,
        sighting=own,
        stranger=facts.found.stranger,
        beside=facts.found.beside,
        port=port,
        moved_from=moved_from,
        url=targets.address(file, port),
        local_url=targets.local_address(file, port),
        target=asked.target,
        policy=asked.policy,
        service=Service.of(file.service, file.port, place.host) if file.service else None,
        evidence=_evidence(file, place, facts),
        silenced=Reason.PAUSED if file.paused else None,
        trouble=asked.trouble,
        facts=facts,
    )


def _port(file: AppFile, place: Home, facts: Facts) -> tuple[int | None, int | None]:
    """The port it listens on, and the port it has moved from."""
    own = facts.found.own
    if own is None or not place.moves:
        return place.port, None
    if place.port is None:
        return (own.listener.port if file.match else None), None
    moved = own.listener.port != place.port
    return own.listener.port, place.port if moved else None


def _evidence(file: AppFile, place: Home, facts: Facts) -> Port:
    """What the last scan says about where it should listen; UNSEEN where nothing is scanned."""
    own = facts.found.own
    known = file.match is not None
    if not place.local or not facts.scanned:
        return Port.UNSEEN
    if own is not None and own.present and (known or place.port is not None):
        return Port.OWN
    if place.port is None:
        return Port.EMPTY if known and facts.process is None else Port.UNSEEN
    if not _within(place.port, facts.scanned) or (known and not place.moves):
        return Port.UNSEEN
    return Port.STRANGER if facts.found.stranger else Port.EMPTY


def _own_process(facts: Facts) -> Process | None:
    """The process that listens, for an app that was not started here."""
    own = facts.found.own
    if own is None or not own.present:
        return None
    process = own.identity.process
    if process.pid is None or process.started is None:
        return None
    return process.pid, process.started


def _within(port: int, ranges: Ranges) -> bool:
    return any(first <= port <= last for first, last in ranges)
