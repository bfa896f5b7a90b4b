"""Readers of setting values: text or YAML value in, typed value out, or OptionError."""

from __future__ import annotations

import difflib
import ipaddress
import os
import pwd
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from config import editors, zones
from config.network import BadNetwork, NetworkSetting, read
from config.retry import BadRetry, RetrySetting
from config.retry import read as read_retry
from config.web.hosts import host_of

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
WHOLE = re.compile(r"-?[0-9]{1,18}")
PERSON = re.compile(r"(?:([^<>]*[^<>\s])\s*<([^<>]{1,128})>|([^<>]{1,128}))")
ENGINE = re.compile(
    r"runbook|builtin|(claude|acp)(:.*)?|(anthropic|openai|local):.*|(claude-|gpt-|o[0-9]).*"
)
ENGINE_NAMES = ("runbook", "claude", "builtin", "acp")
PEERS = ("loopback", "linklocal", "uniquelocal", "none", "all", "*")


class OptionError(Exception):
    """A refused start. The text says which setting, its value and what is allowed."""

    def report(self) -> int:
        """Print the one line a user sees; return the exit code of every refused start."""
        print(f"not starting: {self}", file=sys.stderr)
        return 2


def refusal(name: str, value: object, allowed: str) -> OptionError:
    return OptionError(f'{name} has the value "{value}"; allowed: {allowed}')


def boolean(name: str, value: object) -> bool:
    word = str(value).strip().lower()
    if word in TRUE | FALSE:
        return word in TRUE
    raise refusal(name, value, "1, true, yes, on, 0, false, no, off")


def whole(least: int, most: int | None = None) -> Callable[[str, object], int]:
    allowed = (
        f"a whole number from {least} to {most}" if most else f"a whole number of {least} or more"
    )

    def read(name: str, value: object) -> int:
        text = str(value).strip()
        number = int(text) if WHOLE.fullmatch(text) else None
        if number is None or number < least or (most is not None and number > most):
            raise refusal(name, value, allowed)
        return number

    return read


def days(least: int) -> Callable[[str, object], int]:
    """A reader of days of retention, up to a century: a date before the year 1 cannot be."""
    return whole(least, 36_500)


def port_or_off(name: str, value: object) -> int | None:
    if value is False or str(value).strip().lower() == "off":
        return None
    try:
        return whole(0, 65535)(name, value)
    except OptionError:
        raise refusal(name, value, "a port from 0 to 65535, or off") from None


def one_of(*words: str) -> Callable[[str, object], str]:
    def read(name: str, value: object) -> str:
        word = str(value).strip().lower()
        if word not in words:
            raise refusal(name, value, ", ".join(words))
        return word

    return read


def text(name: str, value: object) -> str:
    if isinstance(value, (dict, list)):
        raise refusal(name, value, "one line of text")
    return str(value).strip()


def engine(name: str, value: object) -> str:
    """A word that names an engine, alone or with a model; or ""."""
    found = text(name, value)
    if fault := engine_fault(found):
        raise OptionError(f"{name}: {fault}")
    return found


def engine_fault(word: str) -> str:
    """Why a word names no engine, and what does; "" if it names one, or is blank."""
    if not word or ENGINE.fullmatch(word):
        return ""
    word = word[:100]
    near = difflib.get_close_matches(word.lower(), ENGINE_NAMES, n=1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    names = ", ".join(ENGINE_NAMES)
    return f'"{word}" names no engine; use {names}, or one with its model, as claude:opus{hint}'


def label(name: str, value: object) -> str:
    """A name to display: one line of up to 80 characters."""
    found = text(name, value)
    if len(found) > 80 or not found.isprintable():
        raise refusal(name, found[:80], "one line of up to 80 printable characters")
    return found


def zone(name: str, value: object) -> str:
    """The name of a time zone, or ""."""
    found = text(name, value)
    try:
        return zones.iana_zone(found).key if found else ""
    except zones.BadZone:
        raise refusal(name, found, f"the name of a time zone, e.g. {zones.EXAMPLE}") from None


def person(name: str, value: object) -> tuple[str, str]:
    """Id and name of a person: `id`, or `Name <id>`; an id of 1 to 128 printable characters."""
    found = PERSON.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or not found[0].isprintable():
        raise OptionError(f'{name} must be "id" or "Name <id>"')
    mine = (found[2] or found[3]).strip()
    if not mine:
        raise OptionError(f'{name} must be "id" or "Name <id>"')
    return mine, (found[1] or mine).strip()


def words(name: str, value: object) -> tuple[str, ...]:
    """A list, or comma- or newline-delimited text; trimmed, blanks dropped."""
    if isinstance(value, Mapping):
        raise refusal(name, value, "a list, or comma-separated text")
    parts = value if isinstance(value, list) else str(value).replace("\n", ",").split(",")
    return tuple(str(part).strip() for part in parts if str(part).strip())


def peers(name: str, value: object) -> tuple[str, ...]:
    """Addresses, networks and the words of PEERS; an unreadable entry is refused."""
    found = words(name, value)
    for entry in found:
        try:
            if entry.lower() not in PEERS:
                ipaddress.ip_network(entry, strict=False)
        except ValueError:
            raise refusal(
                name, entry, f"an IP address, a CIDR or one of {', '.join(PEERS)}"
            ) from None
    return found


def users(name: str, value: object) -> frozenset[int] | None:
    """Users of this machine by uid or name; None for `*`, every user."""
    found = words(name, value)
    return None if "*" in found else frozenset(_uid(name, entry) for entry in found)


def _uid(name: str, entry: str) -> int:
    try:
        return int(entry) if entry.isascii() and entry.isdecimal() else pwd.getpwnam(entry).pw_uid
    except KeyError:
        allowed = "uids or names of users of this machine, or * for all of them"
        raise refusal(name, entry, allowed) from None


def hosts(name: str, value: object) -> tuple[str, ...]:
    """Host names as in the `Host` header, without the port."""
    found = words(name, value)
    for entry in found:
        if host_of(entry) != entry.lower():
            raise refusal(name, entry, "host names without scheme or port, e.g. svc.example.com")
    return found


def url(name: str, value: object) -> str:
    """An http(s) URL, or ""."""
    found = text(name, value)
    try:
        parts = urlsplit(found)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        usable = False
    if found and not usable:
        raise refusal(name, value, "an http(s) URL")
    return found


def editor(name: str, value: object) -> str:
    """The template of an address that opens an editor, or ""; a preset is given by its name."""
    found = text(name, value)
    try:
        return editors.template(found)
    except ValueError as error:
        raise refusal(name, found, str(error)) from None


def address(*schemes: str) -> Callable[[str, object], str]:
    """A reader of a URL with one of these schemes, or "". Errors omit it: it may hold a
    password."""

    def read(name: str, value: object) -> str:
        found = text(name, value)
        if found and found.partition("://")[0] not in schemes:
            raise OptionError(f"{name} must begin with {schemes[0]}://")
        return found

    return read


postgres = address("postgres", "postgresql")
redis = address("redis", "rediss", "unix")


def host(name: str, value: object) -> str:
    word = text(name, value)
    if word == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(word.strip("[]")))
    except ValueError:
        raise refusal(name, value, "an IP address of this machine, e.g. 127.0.0.1 or ::1") from None


def folder(name: str, value: object) -> Path:
    path = _expanded(name, text(name, value))
    if not path.is_absolute():
        path = Path.cwd() / path
    return path


def folders(name: str, value: object) -> tuple[Path, ...]:
    """Folders of this machine that turns may read; never the whole home, where secrets are."""
    found = tuple(_expanded(name, word) for word in words(name, value))
    for path in found:
        if not path.is_absolute():
            raise refusal(name, path, "absolute paths, or such that begin with ~/")
        if any(_real(home).is_relative_to(_real(path)) for home in homes()):
            raise refusal(name, path, "folders within your home, not all of it")
    return found


def homes() -> tuple[Path, ...]:
    """The user's home by HOME and the one that the system knows: a service may be started with
    another HOME, and secrets are in the second as well."""
    try:
        known = [Path(pwd.getpwuid(os.getuid()).pw_dir)]
    except KeyError:  # a container may run under any number
        known = []
    return tuple(dict.fromkeys([Path.home(), *known]))


def _expanded(name: str, word: str) -> Path:
    try:
        return Path(word).expanduser()
    except RuntimeError:
        raise refusal(name, word, "a path whose ~ or ~name is the home of a known user") from None


def _real(path: Path) -> Path:
    """The target of all links. Does not fail for a loop of links, which a turn may have made."""
    return Path(os.path.realpath(path))


def make_directory(name: str, path: Path) -> Path:
    """The directory at `path`, created for this user alone if it does not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise refusal(name, path, f"a directory this user can make ({why})") from None
    return path


def raw(_name: str, value: object) -> object:
    """The value unchanged: the code that uses it checks each entry itself."""
    return value


def mapping(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise refusal(name, value, "a mapping")
    return value


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping, each key with its own reader; other keys are left out."""

    keys: Mapping[str, Callable[[str, object], Any]]

    def __call__(self, name: str, value: object) -> dict[str, Any]:
        given = mapping(name, value)
        return {
            key: read(f"{name}.{key}", given[key])
            for key, read in self.keys.items()
            if given.get(key) is not None
        }

    def names(self) -> Iterator[str]:
        """The dotted names of all keys that it reads."""
        for key, inner in self.keys.items():
            if isinstance(inner, Section):
                yield from (f"{key}.{name}" for name in inner.names())
            else:
                yield key


# `raw` values are checked where they are used: a bad one disables only what it configures.
ENGINES = Section(
    {
        "claude": Section(
            {
                "passKey": boolean,
                "useHostLogin": boolean,
                "projectSettings": boolean,
                "baseUrl": raw,
            }
        ),
        "builtin": Section(
            {
                "model": raw,
                "requestSeconds": raw,
                "contextTokens": raw,
                "anthropic": Section({"baseUrl": raw}),
                "openai": Section({"baseUrl": raw}),
            }
        ),
        "acp": Section({"agents": raw}),
    }
)
TOOLS = Section({"web": Section({"searchUrl": raw, "allowPrivate": boolean})})


def network(name: str, value: object) -> NetworkSetting:
    """What commands of turns may reach, for the whole instance."""
    try:
        return read(value)
    except BadNetwork as error:
        raise OptionError(f"{name}: {error}") from None


def retry(name: str, value: object) -> RetrySetting:
    """How long turns wait for a provider that accepts no more requests."""
    try:
        return read_retry(value)
    except BadRetry as error:
        raise OptionError(f"{name}: {error}") from None


def refuse_together(values: Mapping[str, Any]) -> None:
    """Refuse settings that are wrong only in combination."""
    tls = [values[name] is not None for name in ("tls_port", "tls_cert", "tls_key")]
    if any(tls) and not all(tls):
        raise OptionError(
            "SVC_TLS_PORT, SVC_TLS_CERT and SVC_TLS_KEY go together; give all three or none"
        )
    if values["redis_url"] and not values["database_url"]:
        raise OptionError("SVC_REDIS_URL goes with SVC_DATABASE_URL: tasks are about shared rows")
    ours = [values[name].resolve() for name in ("data_dir", "projects_dir")]
    for path in values["reads"]:
        real = _real(path)
        if any(one.is_relative_to(real) or real.is_relative_to(one) for one in ours):
            raise refusal("engines.reads", path, "folders apart from the data of the service")
    if values["auth_mode"] == "jwt" and not values["auth_jwks_url"]:
        raise OptionError(
            'SVC_AUTH_JWKS_URL has the value ""; allowed: the URL of the signing keys'
        )
