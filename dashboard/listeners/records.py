"""The records of listeners in the API: secrets masked, control characters replaced, values cut."""

from __future__ import annotations

from functools import lru_cache
from typing import TypedDict

from config.logs import timestamp
from dashboard.files import masks
from dashboard.files.convert import Expected
from dashboard.listeners import container, framework, git, names, package, processes
from dashboard.listeners import identity as identities
from dashboard.listeners.identity import Protocol
from dashboard.listeners.kinds import Kind
from dashboard.listeners.observed import Sighting
from dashboard.listeners.printable import PATH, masked_argv, plain
from dashboard.listeners.sockets import Scope, scope

NAME, PACKAGE, VERSION = 255, 214, 40  # characters
TITLE, EVIDENCE, REMOTE, FAVICON = 200, 200, 1_000, 2_000


class Parent(TypedDict):
    pid: int
    name: str | None


class Process(TypedDict):
    pid: int | None
    ppid: int | None
    name: str | None
    exe: str | None
    argv: list[str]
    user: str | None
    startedAt: str | None
    parents: list[Parent]


class Git(TypedDict):
    root: str
    name: str
    branch: str | None
    worktree: str | None
    remote: str | None


class Package(TypedDict):
    file: str
    name: str | None
    version: str | None
    manager: str | None


class Framework(TypedDict):
    id: str
    name: str
    version: str | None
    confidence: float
    evidence: str


class Container(TypedDict):
    runtime: str
    name: str | None
    image: str | None
    composeProject: str | None
    composeService: str | None


class Identity(TypedDict):
    process: Process
    cwd: str | None
    git: Git | None
    package: Package | None
    framework: Framework | None
    title: str | None
    favicon: str | None
    container: Container | None
    partial: bool


class Address(TypedDict):
    ip: str
    port: int


class Listens(TypedDict):
    addresses: list[Address]
    scope: Scope
    lanExposed: bool


class Suggested(TypedDict):
    slug: str
    name: str
    expected: Expected


class Observed(Listens):
    id: str
    port: int
    protocol: Protocol
    identity: Identity
    firstSeen: str
    lastSeen: str
    suggested: Suggested
    kind: Kind
    hidden: bool


@lru_cache(2048)
def identity(one: identities.Identity) -> Identity:
    """The record of an identity, cached as masking is costly: treat it as read-only."""
    return {
        "process": _process(one.process),
        "cwd": _cut(one.cwd),
        "git": _git(one.git) if one.git else None,
        "package": _package(one.package) if one.package else None,
        "framework": _framework(one.framework) if one.framework else None,
        "title": _cut(one.title, TITLE),
        "favicon": plain(masks.within(one.favicon), FAVICON) if one.favicon else None,
        "container": _container(one.container) if one.container else None,
        "partial": one.partial,
    }


def observed_record(one: Sighting, slug: str, hidden: bool) -> Observed:
    """The record of a listener. `hidden`: it is another user's or the system's, and a page shows
    it only on request (scan.hideSystem)."""
    port = one.listener.port
    return {
        "id": one.id,
        "port": port,
        "protocol": one.answer.protocol if one.answer else "unknown",
        "identity": identity(one.identity),
        "firstSeen": timestamp(one.first_seen),
        "lastSeen": timestamp(one.last_seen),
        "suggested": {
            "slug": slug, "name": names.name(one.identity, port), "expected": "sometimes",
        },
        "kind": one.kind,
        "hidden": hidden,
        **listens(one),
    }  # fmt: skip


def listens(*listeners: Sighting) -> Listens:
    """The addresses of listeners, and who can reach at least one of them."""
    addresses = [place for one in listeners for place in one.listener.addresses]
    reach = scope(ip for ip, _ in addresses)
    return {
        "addresses": [{"ip": ip, "port": port} for ip, port in addresses],
        "scope": reach,
        "lanExposed": reach != "loopback",
    }


def _process(one: processes.Process) -> Process:
    return {
        "pid": one.pid,
        "ppid": one.ppid,
        "name": _process_name(one.name) or None,
        "exe": _cut(one.exe),
        "argv": masked_argv(one.argv),
        "user": one.user or None,
        "startedAt": timestamp(one.started_at) if one.started_at else None,
        "parents": [{"pid": p.pid, "name": _process_name(p.name)} for p in one.parents],
    }


def _process_name(name: str) -> str:
    """The masked name: a process may put its whole command line into its name."""
    return plain(masks.within(name), NAME)


def _git(one: git.Git) -> Git:
    return {
        "root": plain(str(one.root)),
        "name": plain(one.name, NAME),
        "branch": _cut(one.branch, NAME),
        "worktree": _cut(one.worktree, NAME),
        "remote": plain(masks.within(one.remote), REMOTE) if one.remote else None,
    }


def _package(one: package.Package) -> Package:
    return {
        "file": plain(str(one.file)),
        "name": _cut(one.name, PACKAGE),
        "version": _cut(one.version, PACKAGE),
        "manager": one.manager,
    }


def _framework(one: framework.Framework) -> Framework:
    return {
        "id": one.id,
        "name": one.name,
        "version": _cut(one.version, VERSION),
        "confidence": one.confidence,
        "evidence": plain(one.evidence, EVIDENCE),
    }


def _container(one: container.Container) -> Container:
    return {
        "runtime": one.runtime,
        "name": _cut(one.name, NAME),
        "image": _cut(one.image, NAME),
        "composeProject": _cut(one.project, NAME),
        "composeService": _cut(one.service, NAME),
    }


def _cut(text: str | None, limit: int = PATH) -> str | None:
    return plain(text, limit) if text else None
