"""A machine in a few words: files as they are written, listeners as a scan tells of them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dashboard.files import entries
from dashboard.files.entries import Entry
from dashboard.files.layout import CONFIG, IGNORE, DashboardFile
from dashboard.health.clock import Moment
from dashboard.listeners.container import Container
from dashboard.listeners.git import Git
from dashboard.listeners.identity import Answer, Identity
from dashboard.listeners.kinds import Kind
from dashboard.listeners.observed import Sighting
from dashboard.listeners.processes import Parent, Process
from dashboard.listeners.scan import Address, Listener, observed_id
from dashboard.listeners.sockets import scope
from dashboard.registry.app import App
from dashboard.registry.census import Census, census
from dashboard.registry.look import CompletedScan, Files

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
TICKS = 7000  # when its process began, as the system tells it
NOW = Moment(100.0, START.timestamp())
SHOP = "/src/shop"


def listener(
    port: int = 3000,
    cwd: str = SHOP,
    *,
    exe: str = "node",
    argv: tuple[str, ...] = ("node", "server.js"),
    parents: tuple[Parent, ...] = (),
    pid: int | None = 7,
    speaks: str | None = "http",
    kind: Kind = "dev",
    present: bool = True,
    ips: tuple[str, ...] = ("127.0.0.1",),
    title: str | None = None,
    container: Container | None = None,
    later: float = 0,
) -> Sighting:
    """A listener first seen `later` seconds after START; speaks None: not asked yet."""
    at = START + timedelta(seconds=later)
    addresses: tuple[Address, ...] = tuple((ip, port) for ip in ips)
    socket = Listener(
        observed_id(port, exe, cwd), addresses, port, scope(list(ips)), 0, pid, 1.0, exe, cwd
    )
    process = Process(
        pid, name=exe, exe=f"/usr/bin/{exe}" if exe else "", argv=argv, started_at=at,
        started=TICKS, cwd=cwd, parents=parents, whole=True,
    )  # fmt: skip
    git = Git(Path(cwd), Path(cwd).name, "main", None, None) if cwd and not container else None
    identity = Identity(process, cwd, git=git, container=container)
    answer = Answer(speaks, title) if speaks else None  # type: ignore[arg-type]
    return Sighting(
        socket, at, at, 0.0, 0.0, 0.0, identity, identity.with_answer(answer), kind, 0.0, answer,
        present,
    )  # fmt: skip


def entry(slug: str, text: str, before: Entry | None = None) -> Entry:
    return entries.entry(DashboardFile("apps", slug), text.encode(), before)


def files(
    apps: Mapping[str, str | Entry] | None = None, *, ignore: str = "", config: str = ""
) -> Files:
    """The files with these texts; entries are taken as they are."""
    read = {
        slug: entry(slug, text) if isinstance(text, str) else text
        for slug, text in (apps or {}).items()
    }
    return Files(
        read,
        {},
        entries.entry(CONFIG, config.encode()),
        entries.entry(IGNORE, ignore.encode()),
    )


def seen(
    *sightings: Sighting, slugs: Mapping[str, str] | None = None, hidden: Set[str] = frozenset()
) -> CompletedScan:
    return CompletedScan(START, 1.0, sightings, slugs or {}, (), frozenset(hidden))


def look(
    apps: Mapping[str, str | Entry],
    *sightings: Sighting,
    ignore: str = "",
    config: str = "",
    pids: Mapping[str, Set[int]] | None = None,
    processes: Mapping[str, tuple[int, int]] | None = None,
    local_scan: bool = True,
) -> Census:
    """The census of a machine with these files and listeners."""
    return census(
        files(apps, ignore=ignore, config=config),
        seen(*sightings),
        pids=pids or {},
        processes=processes,
        local_scan=local_scan,
    )


def shop(
    text: str,
    *sightings: Sighting,
    config: str = "",
    pids: Set[int] = frozenset(),
    process: tuple[int, int] | None = None,
    local_scan: bool = True,
) -> App:
    """The app of a file shop.yaml on a machine with these listeners."""
    return look(
        {"shop": text},
        *sightings,
        config=config,
        pids={"shop": pids} if pids else {},
        processes={"shop": process} if process else {},
        local_scan=local_scan,
    ).apps["shop"]


def ids(*sightings: Sighting) -> list[str]:
    return [one.id for one in sightings]
