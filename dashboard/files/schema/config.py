"""config.yaml: settings of the dashboard, every one with a default."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from dashboard.files import convert
from dashboard.files.durations import Unfit
from dashboard.files.fields import Fields, Issue, Path, as_texts
from dashboard.files.schema import health as checks
from dashboard.files.schema.app import NAME, NOTES
from dashboard.files.schema.service import stop_timeout

T = TypeVar("T")

DEFAULTS: dict[str, Any] = {
    "port": 4255,
    "title": "Apps",
    "fronted": {"host": None, "scheme": "https", "domain": None},
    "scan": {
        "enabled": True, "interval": "2s", "ports": "80,443,1024-65535", "http": True,
        "hideSystem": True,
    },
    "health": {"interval": "30s", "timeout": "5s", "failures": 3, "successes": 1, "slow": "3s"},
    "history": {"rawHours": 24, "days": 90},
    "screenshots": {"enabled": "auto", "command": None, "interval": "6h", "viewport": "1280x800"},
    "services": {"enabled": True, "stopTimeout": "10s", "logMaxBytes": "10MiB", "logKeep": 5},
    "lost": {"enabled": True, "grace": "120s"},
    "icons": {"allowPrivate": True},
    "mcp": {"writes": True},
    "agentGuide": {"notes": None},
}  # fmt: skip

# What these permit is off while their value cannot be read: a mistake must permit nothing.
_PERMITS = (("services", "enabled"), ("icons", "allowPrivate"), ("mcp", "writes"))
UNREADABLE: dict[str, Any] = {"mcp": {"writes": False}}


@dataclass(frozen=True, slots=True)
class Fronted:
    host: str | None
    scheme: str
    domain: str | None


@dataclass(frozen=True, slots=True)
class Scan:
    enabled: bool
    interval: float  # seconds
    ports: convert.Ranges
    http: bool
    hide_system: bool


@dataclass(frozen=True, slots=True)
class HealthDefaults:
    """The defaults for apps whose file does not set a value; times in seconds."""

    interval: float
    timeout: float
    failures: int
    successes: int
    slow: float


@dataclass(frozen=True, slots=True)
class Screenshots:
    enabled: bool | Literal["auto"]
    command: str | None
    interval: float  # seconds
    viewport: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Services:
    enabled: bool
    stop_timeout: float  # seconds
    log_max_bytes: int
    log_keep: int


@dataclass(frozen=True, slots=True)
class Config:
    port: int
    title: str
    fronted: Fronted
    scan: Scan
    health: HealthDefaults
    raw_hours: int
    days: int
    screenshots: Screenshots
    services: Services
    lost_enabled: bool
    lost_grace: float  # seconds
    icons_allow_private: bool
    mcp_writes: bool
    guide_notes: str | None


def with_defaults(source: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults with the values of config.yaml over them; null means the default."""
    return _over(DEFAULTS, source)


def without_wrong(value: Mapping[str, Any], issues: Iterable[Issue]) -> dict[str, Any]:
    """The mapping without its wrong values, so that their defaults apply; what permits something
    is off instead."""
    wrong = {issue.path for issue in issues if issue.level == "error"}
    right = _without(value, wrong)
    for table, key in _PERMITS:
        if wrong & {(table,), (table, key)}:
            right[table] = {**right.get(table, {}), key: False}
    return right


def read_config(
    value: Mapping[str, Any], texts: Mapping[str, Any] | None = None, *, slug: str = ""
) -> tuple[Config, list[Issue]]:
    """The settings and the issues of the mapping; a wrong value counts as its default here."""
    written = as_texts(value) if texts is None else texts
    fields = Fields.of(with_defaults(value), _over(as_texts(DEFAULTS), written))
    history, lost = _table(fields, "history"), _table(fields, "lost")
    icons, mcp, guide = (_table(fields, key) for key in ("icons", "mcp", "agentGuide"))
    config = Config(
        port=_read(fields, "port", convert.port),
        title=_text(fields, "title", convert.text(NAME)),
        fronted=_fronted(_table(fields, "fronted")),
        scan=_scan(_table(fields, "scan")),
        health=_health(_table(fields, "health")),
        raw_hours=_read(history, "rawHours", convert.whole(1, 168)),
        days=_read(history, "days", convert.whole(1, 3650)),
        screenshots=_screenshots(_table(fields, "screenshots")),
        services=_services(_table(fields, "services")),
        lost_enabled=_read(lost, "enabled", convert.flag),
        lost_grace=_read(lost, "grace", convert.duration("0s", "1h")),
        icons_allow_private=_read(icons, "allowPrivate", convert.flag),
        mcp_writes=_read(mcp, "writes", convert.flag),
        guide_notes=guide.text("notes", convert.prose(NOTES)),
    )
    for one in (history, lost, icons, mcp, guide, fields):
        one.finish()
    return config, fields.issues


def _fronted(fields: Fields) -> Fronted:
    fronted = Fronted(
        host=fields.text("host", convert.host),
        scheme=_text(fields, "scheme", convert.word("http", "https")),
        domain=fields.text("domain", convert.host),
    )
    fields.finish()
    return fronted


def _scan(fields: Fields) -> Scan:
    scan = Scan(
        enabled=_read(fields, "enabled", convert.flag),
        interval=_read(fields, "interval", convert.duration("500ms", "1h")),
        ports=_text(fields, "ports", convert.ranges(1, 65535)),
        http=_read(fields, "http", convert.flag),
        hide_system=_read(fields, "hideSystem", convert.flag),
    )
    fields.finish()
    return scan


def _health(fields: Fields) -> HealthDefaults:
    health = HealthDefaults(
        interval=_read(fields, "interval", checks.interval),
        timeout=_read(fields, "timeout", checks.timeout),
        failures=_read(fields, "failures", checks.count),
        successes=_read(fields, "successes", checks.count),
        slow=_read(fields, "slow", checks.slow),
    )
    fields.finish()
    return health


def _screenshots(fields: Fields) -> Screenshots:
    screenshots = Screenshots(
        enabled=_read(fields, "enabled", _automatic),
        command=fields.text("command", convert.text(4096)),
        interval=_read(fields, "interval", convert.duration("1m", "30d")),
        viewport=_text(fields, "viewport", convert.viewport),
    )
    fields.finish()
    return screenshots


def _services(fields: Fields) -> Services:
    services = Services(
        enabled=_read(fields, "enabled", convert.flag),
        stop_timeout=_read(fields, "stopTimeout", stop_timeout),
        log_max_bytes=_read(fields, "logMaxBytes", convert.size("64KiB", "1GiB")),
        log_keep=_read(fields, "logKeep", convert.whole(0, 100)),
    )
    fields.finish()
    return services


def _automatic(value: Any) -> bool | Literal["auto"]:
    if isinstance(value, bool):
        return value
    if value == "auto":
        return "auto"
    raise Unfit("must be auto, true or false")


def _table(fields: Fields, key: str) -> Fields:
    found = fields.table(key)
    if found is None:
        return Fields(DEFAULTS[key], as_texts(DEFAULTS[key]), path=(key,))
    return found


def _read(fields: Fields, key: str, meant: Callable[[Any], T]) -> T:
    found = fields.read(key, meant)
    return meant(_default(fields, key)) if found is None else found


def _text(fields: Fields, key: str, meant: Callable[[str], T]) -> T:
    found = fields.text(key, meant)
    return meant(_default(fields, key)) if found is None else found


def _default(fields: Fields, key: str) -> Any:
    table = DEFAULTS
    for part in fields.path:
        table = table[str(part)]
    return table[key]


def _without(value: Mapping[str, Any], wrong: Container[Path], at: Path = ()) -> dict[str, Any]:
    return {
        key: _without(inner, wrong, (*at, key)) if isinstance(inner, dict) else inner
        for key, inner in value.items()
        if (*at, key) not in wrong
    }


def _over(base: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in source.items():
        below = base.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _over(below, value)
        elif value is not None or key not in base:
            merged[key] = value
    return merged
