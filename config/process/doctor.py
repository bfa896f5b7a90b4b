"""The checks of `manage.py doctor`: each reports what it found, and how to mend it.

Checks only read. A fault is something that is broken or dangerous; a hint is something that would
work better if changed. Apps add checks by name (settings.SVC_DOCTOR).
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

from config import __version__, zones
from config.options import OptionError
from config.process import singleton
from config.process.singleton import Instance
from config.storage import database
from config.storage.sqlite.base import uri
from config.web.connections import local, peers
from config.web.http import listeners
from config.web.http.serving import listeners as wanted

LEAST_DISK = 500 * 1024 * 1024
LEAST_FILES = 4096
HEALTH_S = 5.0
OK, HINT, FAULT = "ok", "hint", "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: str
    subject: str
    text: str


Check = Callable[[], Iterator[Finding]]


def examine() -> Iterator[Finding]:
    """The findings of every check in turn; a check that raises is reported as a fault."""
    checks: list[Check] = [configuration, data_directory, data_base, ports, callers]
    checks += [server, machine, time_zone]
    for check in [*checks, *(import_string(name) for name in settings.SVC_DOCTOR)]:
        try:
            yield from check()
        except Exception as error:  # the remaining checks still run
            yield Finding(FAULT, check.__name__, f"the check failed: {error!r}")


def configuration() -> Iterator[Finding]:
    options = settings.SVC
    for warning in options.warnings:
        yield Finding(HINT, "configuration", warning)
    known = options.config_file if options.config_file.is_file() else "no config file, defaults"
    yield Finding(OK, "configuration", str(known))


def data_directory() -> Iterator[Finding]:
    """Whether other users can read the data directory, and whether this user can write it."""
    root: Path = settings.DATA_DIR
    for path, most in ((root, 0o700), (root / "state" / "secret", 0o600)):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~most:
            text = f"{path} is open to others ({mode:04o}): chmod {most:o} {path}"
            yield Finding(FAULT, "data directory", text)
    for path in (root, settings.PROJECTS_DIR):
        if not os.access(path, os.W_OK | os.X_OK):
            yield Finding(FAULT, "data directory", f"{path} cannot be written by this user")
    try:
        singleton.refuse_projects()
    except OptionError as error:
        yield Finding(FAULT, "data directory", str(error))
    free = shutil.disk_usage(root).free
    level = OK if free >= LEAST_DISK else FAULT
    yield Finding(level, "data directory", f"{root}, {free // 1024**2} MB free")


def data_base() -> Iterator[Finding]:
    if database.gone():
        yield _no_file()
        return
    try:
        state = database.look()
        state.refuse_newer()
    except OptionError as error:
        yield Finding(FAULT, "database", str(error))
        return
    if connection.vendor == "sqlite":
        yield from _sqlite_file(settings.DATA_DIR / "svc.sqlite3")
    if names := ", ".join(state.pending):
        yield Finding(HINT, "database", f"not migrated yet: {names} (manage.py up does)")
    else:
        yield Finding(OK, "database", f"{database.name()}, up to date")


def _no_file() -> Finding:
    if Instance(settings.DATA_DIR, "server").holder() is None:
        return Finding(HINT, "database", f"{database.name()} is not made yet (manage.py up does)")
    text = f"{database.name()} was removed while the service runs: stop and start the service"
    return Finding(FAULT, "database", text)


def _sqlite_file(path: Path) -> Iterator[Finding]:
    with sqlite3.connect(uri(path, "ro"), uri=True, timeout=20) as opened:
        (verdict,) = opened.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        text = (
            f"{path}: {verdict}; move it away, then `manage.py up` makes a new one from the files"
        )
        yield Finding(FAULT, "database", text)


def ports() -> Iterator[Finding]:
    """Whether each port is served by us, can be opened, or why not; and its certificate."""
    ours = (Instance(settings.DATA_DIR, "server").holder() or {}).get("ports", {})
    for one in wanted(settings.SVC):
        if one.name in ours:
            yield Finding(OK, f"port {one.name}", f"{ours[one.name]}, served")
        elif why := listeners.obstacle(one):
            yield Finding(FAULT if one.required else HINT, f"port {one.name}", why)
        else:
            yield Finding(OK, f"port {one.name}", f"{one.port or 'any'}, free")
        if one.tls:
            yield from _certificate(*one.tls)


def _certificate(chain: Path, key: Path) -> Iterator[Finding]:
    """Whether the next start can use them; a server that runs read them at its own."""
    try:
        listeners.tls_context(chain, key)
    except OptionError as error:
        yield Finding(FAULT, "certificate", str(error))


def callers() -> Iterator[Finding]:
    """Which users of this machine are served without a login."""
    options = settings.SVC
    for text in local.warnings(options):
        yield Finding(FAULT, "callers", text)
    if options.auth_mode == "none" and import_string(settings.SVC_PROXIED)():
        text = "on the main port everyone the proxy of this machine admits, and every local user"
        yield Finding(HINT, "callers", f"{text} (managementApi.trustedProxies names loopback)")
    if not local.login_free(options):
        yield Finding(OK, "callers", f"everyone who signs in, auth mode {options.auth_mode}")
    elif not peers.ASKED:
        text = "this system does not tell whose a connection is: every user of it is served"
        yield Finding(HINT, "callers", f"{text} without a login (SVC_AUTH_MODE)")
    elif (found := local.users(options)) is not None and peers.way() is None:
        text = "the kernel does not tell whose a connection is, so none is served: allow netlink"
        yield Finding(FAULT, "callers", f"{text} sock_diag or /proc, or set SVC_LOCAL_USERS to *")
    elif found is not None:
        text = f"of the users of this machine those with uid {', '.join(map(str, sorted(found)))}"
        yield Finding(OK, "callers", text)


def server() -> Iterator[Finding]:
    facts = Instance(settings.DATA_DIR, "server").holder()
    if facts is None:
        yield Finding(OK, "server", "not running")
        return
    port, version = facts.get("ports", {}).get("main"), facts.get("version")
    if version not in (None, __version__):
        text = f"runs version {version}, this is {__version__}: restart it"
        yield Finding(HINT, "server", text)
    try:
        host = settings.SVC.host if settings.SVC.host not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104
        told = _health(f"[{host}]" if ":" in host else host, port)
    except (OSError, ValueError) as error:
        text = f"pid {facts.get('pid')} does not answer on port {port}: {error}"
        yield Finding(FAULT, "server", text)
        return
    yield Finding(OK, "server", f"pid {facts['pid']}, version {told.get('version')}, healthy")


def _health(host: str, port: Any) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{host}:{port}/api/health", timeout=HEALTH_S) as answer:
        told: dict[str, Any] = orjson.loads(answer.read(1000))
    return told


def machine() -> Iterator[Finding]:
    """What the service needs of the machine it runs on."""
    if shutil.which("git") is None:
        yield Finding(FAULT, "git", "not found: projects with a repository need it")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if 0 <= hard < LEAST_FILES:
        text = f"only {hard} files may be open at once: raise `ulimit -n` to {LEAST_FILES} or more"
        yield Finding(HINT, "open files", text)
    watches = Path("/proc/sys/fs/inotify/max_user_watches")
    if watches.exists() and int(watches.read_text()) < 8192:
        text = f"{watches} is low: hand edits are then seen by polling, within 5 s"
        yield Finding(HINT, "file watching", text)
    yield Finding(OK, "machine", f"{os.cpu_count()} cores, pid limit {_process_limit()}")


def time_zone() -> Iterator[Finding]:
    """The time zone of cron patterns that name none, and where it comes from."""
    host = zones.host()
    if chosen := settings.SVC.timezone:
        text = f"{chosen}, as the configuration says; the host's is {host.name}"
        yield Finding(OK, "time zone", text)
    elif host.problem:
        text = f"{host.name}: {host.problem}; name one with `timezone:` in svc.config.yaml"
        yield Finding(HINT, "time zone", text)
    else:
        yield Finding(OK, "time zone", f"{host.name}, the host's ({host.source})")


def _process_limit() -> str:
    soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    return "none" if soft < 0 else str(soft)
