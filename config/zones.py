"""Time zones: the names people write, and the zone of this machine as its own programs see it.

Only this module asks the machine, and no library may answer for it: Django, given a TIME_ZONE,
would put that into TZ for this process and all it starts (config/settings.py).
"""

from __future__ import annotations

import difflib
import functools
import io
import os
import re
import struct
import zoneinfo
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

EXAMPLE = '"Europe/Berlin"'
UTC, LOCAL = "UTC", "localtime"  # LOCAL: rules of this machine that have no name
LOCALTIME, TIMEZONE = Path("/etc/localtime"), Path("/etc/timezone")
LARGEST, LINKS, LONGEST = 1 << 16, 8, 64  # bytes of a file, links to follow, characters of a name
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_OF_MACHINES = {"posix", "right", "localtime", "posixrules", "Factory"}  # zoneinfo files, not zones


class BadZone(ValueError):
    """The text names no time zone; the message says so, and which one may be meant."""


@dataclass(frozen=True, slots=True)
class Host:
    """The zone of this machine, its source, and why its name or rules could not be determined."""

    name: str
    zone: tzinfo
    source: str
    problem: str = ""


def iana_zone(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises BadZone if there is none."""
    if zone := _zone_info(name):
        return zone
    close = _nearest(name[:LONGEST])
    hint = f' (did you mean "{close}"?)' if close else ""
    shown = "".join(c if c.isprintable() else "?" for c in name[:LONGEST])
    raise BadZone(f'"{shown}" is not the name of a time zone{hint}')


def _zone_info(name: str) -> ZoneInfo | None:
    if len(name) > LONGEST or not _NAME.fullmatch(name) or name.partition("/")[0] in _OF_MACHINES:
        return None
    try:
        return ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _nearest(name: str) -> str | None:
    known = zoneinfo.available_timezones() - _OF_MACHINES
    folded = {one.lower(): one for one in sorted(known)}
    close = difflib.get_close_matches(name.lower().replace(" ", "_"), list(folded), n=1)
    return folded[close[0]] if close else None


def find(name: str) -> tzinfo:
    """The zone of a name that was validated before, or of LOCAL."""
    return host().zone if name == LOCAL else iana_zone(name)


def host() -> Host:
    """The zone as the C library finds it: TZ, else /etc/localtime, else UTC. Follows changes."""
    variable = os.environ.get("TZ")
    return _detect(variable, _state(LOCALTIME) if variable is None else ())


def _state(path: Path) -> tuple[object, ...]:
    """A value that changes when the file changes or its link is pointed elsewhere."""
    try:
        found = path.lstat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=4)
def _detect(variable: str | None, _seen: tuple[object, ...]) -> Host:
    if variable is None:
        return _of_file(LOCALTIME, str(LOCALTIME))
    text = variable.removeprefix(":")
    if text.startswith("/"):
        return _of_file(Path(text), "TZ")
    if name := _name(text or UTC):
        return Host(name, iana_zone(name), "TZ")
    if path := _file(text):
        return _of_file(path, "TZ")
    problem = f'"{text[:LONGEST]}" names no time zone; UTC is used'
    return _of_rule(text) or Host(UTC, ZoneInfo(UTC), "TZ", problem)


def _of_rule(text: str) -> Host | None:
    """The zone of a POSIX rule such as CET-1CEST,M3.5.0,M10.5.0/3."""
    header = b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4)
    data = (header + bytes(6) + b"UTC\0") * 2 + b"\n" + text.encode() + b"\n"
    try:
        zone = ZoneInfo.from_file(io.BytesIO(data), key=LOCAL)
    except (ValueError, OSError):
        return None
    return Host(LOCAL, zone, "TZ", f'"{text}" is a rule without a name')


def _of_file(path: Path, source: str) -> Host:
    """The zone that the file links to, else of its rules, named if /etc/timezone names equal
    ones."""
    if name := _linked_name(path):
        return Host(name, iana_zone(name), source)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST)
        zone = ZoneInfo.from_file(io.BytesIO(data), key=LOCAL)
    except FileNotFoundError:
        return Host(UTC, ZoneInfo(UTC), source)
    except (ValueError, OSError):
        return Host(UTC, ZoneInfo(UTC), source, f"{path} holds no time zone; UTC is used")
    if (name := _timezone_file()) and (known := _file(name)) and known.read_bytes() == data:
        return Host(name, iana_zone(name), source)
    return Host(LOCAL, zone, source, f"{path} is a copy that bears no name")


def _linked_name(path: Path) -> str:
    """The part after `zoneinfo/` of the path that the links lead to; "" if there is none."""
    for _ in range(LINKS):
        name = _name(str(path).partition("/zoneinfo/")[2])
        if name or not path.is_symlink():
            return name
        path = Path(os.path.normpath(path.parent / path.readlink()))
    return ""


def _timezone_file() -> str:
    try:
        return _name(TIMEZONE.read_text(errors="replace")[:100].strip())
    except OSError:
        return ""


def _name(text: str) -> str:
    """The usual name of a zone; "" if it is not a zone."""
    name = text.removeprefix("posix/").removeprefix("right/")
    if _zone_info(name) is None:
        return ""
    return UTC if name == "Etc/UTC" else name


def _file(name: str) -> Path | None:
    """The file with this machine's rules of a zone, also of zones that only this machine has."""
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        return None
    paths = (Path(folder, name) for folder in zoneinfo.TZPATH)
    return next((path for path in paths if path.is_file()), None)
