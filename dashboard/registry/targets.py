"""What an app's file says for health: where it listens, what is probed there, how it is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from dashboard.files.schema import AppFile, Health
from dashboard.files.schema.config import HealthDefaults
from dashboard.files.schema.health import default_type
from dashboard.health.record import Policy
from dashboard.health.target import Scheme, Target, of_url
from dashboard.registry.app import Process
from dashboard.services.definition import GRACE_S

LOCALHOST = "localhost"
NOTHING = Target(scheme="process")


@dataclass(frozen=True, slots=True)
class Home:
    """Where an app listens according to its file. `port` None: nowhere, or the file does not say.

    `local`: on this machine, so that its listeners are visible. `moves`: its port is its own, not
    that of a URL, which may be a proxy's.
    """

    scheme: Scheme = "http"
    host: str = LOCALHOST
    port: int | None = None
    local: bool = True
    moves: bool = False


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """`trouble`: why what the file says cannot be probed, None if it can."""

    target: Target
    policy: Policy
    trouble: str | None = None


def home(file: AppFile) -> Home:
    """`port` and `host` take precedence over `url`, which people open, perhaps through a proxy."""
    scheme, host, port = _parts(file.url)
    if file.port is not None:
        same = port == file.port
        named = file.host or (host if same and host else LOCALHOST)
        return Home(scheme if same else "http", named, file.port, _local(named), moves=True)
    if file.url is not None:
        return Home(scheme, host or "", port, _local(host))
    return Home(moves=True)


def address(file: AppFile, port: int | None) -> str | None:
    """The address that people open: that of the file, with the port the app has moved to."""
    if file.url is None:
        host = file.host or LOCALHOST
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return None if port is None else f"http://{host}:{port}/"
    return file.url if port is None else _at_port(file.url, file.port, port)


def local_address(file: AppFile, port: int | None) -> str | None:
    """The address past any proxy: on the port it listens on; its URL if nothing else is known."""
    url, place = address(file, port), home(file)
    if port is None or not place.moves or _parts(url)[2] == port:
        return url
    return f"{place.scheme}://{LOCALHOST}:{port}/"


def probe_plan(
    file: AppFile,
    defaults: HealthDefaults,
    *,
    port: int | None,
    process: Process | None,
    should_run: bool,
) -> ProbePlan:
    """What health does while the app listens on `port`; `process` is that of its service."""
    health, kind = file.health, _type(file, port)
    ready = file.service.ready if file.service else None
    policy = Policy(
        probed=kind != "none",
        always=file.expected == "always",
        should_run=should_run,
        interval=_or(health.interval, defaults.interval),
        failures=health.failures or defaults.failures,
        successes=health.successes or defaults.successes,
        slow=_or(health.slow, defaults.slow),
        grace=_or(ready.timeout if ready else None, GRACE_S),
    )
    limit = _or(health.timeout, defaults.timeout)
    if kind in {"none", "process"}:
        return ProbePlan(Target(scheme="process", process=process, timeout=limit), policy)
    try:
        return ProbePlan(_target(file, kind, port, process, limit), policy)
    except ValueError as error:
        return without_probe(policy, str(error))


def without_probe(policy: Policy, why: str) -> ProbePlan:
    """The plan for an app that cannot be probed."""
    return ProbePlan(NOTHING, replace(policy, probed=False), f"cannot be asked: {why}")


def _type(file: AppFile, port: int | None) -> str:
    """The health type; an app that is known by `match` alone is probed where it was found."""
    placed = file.port or file.url or file.health.url or file.health.type
    if placed or file.match is None:
        return file.health_type
    return "http" if port is None else default_type(port=port, url=None, service=False)


def _target(
    file: AppFile, kind: str, port: int | None, process: Process | None, limit: float
) -> Target:
    """The target. Raises ValueError for what cannot be sent."""
    health, place = file.health, home(file)
    scheme: Scheme
    if health.url is not None:
        scheme, host, at, path = of_url(_at_port(_bare(health.url), file.port, port))
    elif place.moves and port is None:
        if file.match is None:
            raise ValueError("it has neither port nor url")
        return Target(scheme="process", process=process, timeout=limit)  # not running anywhere
    elif place.moves:
        scheme, host, at, path = place.scheme, place.host.strip("[]"), port or 0, "/"
    else:
        scheme, host, at, path = of_url(_bare(file.url or ""))
        path = "/"
    return Target(
        scheme="tcp" if kind == "tcp" else scheme,
        host=host,
        port=at,
        path=_path(health) or path,
        method=health.method,
        statuses=health.status,
        headers=dict(health.headers),
        body=health.body,
        timeout=limit,
        insecure=health.insecure,
    )


def _path(health: Health) -> str | None:
    """The path as in a URL, with non-ASCII characters quoted."""
    if health.path is None:
        return None
    return of_url(f"http://{LOCALHOST}{health.path}")[3]


def _parts(url: str | None) -> tuple[Scheme, str | None, int | None]:
    if url is None:
        return "http", None, None
    try:
        scheme, host, port, _ = of_url(_bare(url))
    except (ValueError, UnicodeError):
        return "http", None, None
    return scheme, host, port


@lru_cache(1024)
def _local(host: str | None) -> bool:
    try:
        return host is not None and Target(host=host.strip("[]")).local
    except ValueError:
        return False


def _bare(url: str) -> str:
    """The URL without user and password, which are never sent."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _at_port(url: str, was: int | None, port: int | None) -> str:
    """The URL with the port the app has moved to, if it named the port the app has moved from."""
    if was is None or port in {None, was} or _parts(url)[2] != was or not _local(_parts(url)[1]):
        return url
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    host = place[: -len(f":{parts.port}")] if parts.port is not None else place
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}:{port}"))


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
