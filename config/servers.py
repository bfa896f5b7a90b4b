"""The setting `mcpServers` as an instance or a project may write it: servers of tools for agents.

    <name>: {command: word, args: [word, ...], env: [NAME, ...]}      a program (stdio)
    <name>: {url: http(s) URL, headers: {Name: "env:VARIABLE"}}        a server at a URL (http)

and in both `startSeconds` and `callSeconds`. Values of secrets stay in the environment of the
service: the file names variables. One bad server disables itself alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

NAME = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
NAME_MOST, SERVERS_MOST, WORDS_MOST, TEXT_MOST = 32, 50, 200, 4000
RESERVED = "svc_"
START, CALL = "startSeconds", "callSeconds"
TIMES = {START: (30, 600), CALL: (60, 3600)}  # the default and the most
STDIO, HTTP = ("command", "args", "env"), ("url", "headers")
# Variables that no turn is given, whoever names them: they would be secrets of this service.
NEVER = ("SVC_", "DJANGO_", "ANTHROPIC_", "OPENAI_", "CLAUDE_")
NEVER_EXACT = frozenset({"DATABASE_URL"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = re.compile(r"((?:Bearer |Basic )?)env:([A-Za-z_][A-Za-z0-9_]*)")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


class BadServer(ValueError):
    """An entry that is not used; the text is the field and the reason."""


@dataclass(frozen=True, slots=True)
class ServerSetting:
    """One server as it is written. `headers`: name -> (text before the variable, the variable)."""

    name: str
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    start_seconds: int = TIMES[START][0]
    call_seconds: int = TIMES[CALL][0]

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable of the service's environment that it refers to."""
        return (*self.env, *(variable for _, variable in self.headers.values()))

    def plain(self) -> dict[str, Any]:
        """The value as it is written to a file."""
        found: dict[str, Any] = {}
        if self.command:
            found = {"command": self.command[0], "args": list(self.command[1:])}
            found |= {"env": list(self.env)}
        else:
            headers = {name: f"{before}env:{of}" for name, (before, of) in self.headers.items()}
            found = {"url": self.url, "headers": headers}
        given = {START: self.start_seconds, CALL: self.call_seconds}
        found |= {key: value for key, value in given.items() if value != TIMES[key][0]}
        return {key: value for key, value in found.items() if value not in ([], {})}


def read(value: Any) -> tuple[dict[str, ServerSetting], dict[str, str]]:
    """The usable servers by name, and the reason for each unusable one; "" is the whole setting."""
    if value is None:
        return {}, {}
    if not isinstance(value, Mapping):
        return {}, {"": "must be a mapping of names, e.g. {mine: {command: my-server}}"}
    found: dict[str, ServerSetting] = {}
    bad: dict[str, str] = {}
    for name, entry in value.items():
        try:
            if len(found) >= SERVERS_MOST:
                raise BadServer(f"there are at most {SERVERS_MOST}")
            found[str(name)] = one(str(name), entry)
        except BadServer as error:
            bad[str(name)[:100]] = str(error)
    return found, bad


def sentences(bad: Mapping[str, str]) -> list[str]:
    """Why servers are not used, one warning for each."""
    return [
        f"mcpServers{'.' if name else ''}{name}: {reason}; not used" for name, reason in bad.items()
    ]


def one(name: str, entry: Any) -> ServerSetting:
    """Read one entry. Raises BadServer."""
    check_name(name)
    if not isinstance(entry, Mapping):
        raise BadServer("must be a mapping with a command or a url")
    if ("command" in entry) == ("url" in entry):
        raise BadServer("give exactly one of command (a program) and url (a server)")
    own = STDIO if "command" in entry else HTTP
    known = (*own, "type", *TIMES)
    if unknown := [str(key)[:60] for key in entry if key not in known]:
        raise BadServer(f"{unknown[0]} is not known here; use {', '.join(known)}")
    kind = "stdio" if own is STDIO else "http"
    if entry.get("type", kind) != kind:
        raise BadServer(f"type: this is {kind}; leave it out")
    start, call = _seconds(entry, START), _seconds(entry, CALL)
    if own is STDIO:
        words, names = command(entry), variables(entry.get("env"))
        return ServerSetting(name, words, names, start_seconds=start, call_seconds=call)
    address, given = url(entry["url"]), headers(entry.get("headers"))
    return ServerSetting(name, url=address, headers=given, start_seconds=start, call_seconds=call)


def check_name(name: str) -> None:
    """Raise BadServer for a name that cannot be part of mcp__<name>__<tool>."""
    if not NAME.fullmatch(name) or len(name) > NAME_MOST:
        text = f"a name is 1 to {NAME_MOST} letters and digits with single - or _ between them"
        raise BadServer(text)
    if name.lower().startswith(RESERVED):
        raise BadServer(f"names that begin with {RESERVED} are the service's own; choose another")


def command(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The program and its arguments."""
    program, args = entry["command"], entry.get("args") or []
    if not isinstance(program, str) or not program.strip():
        raise BadServer("command: must be one word, the program; its arguments go into args")
    if not isinstance(args, list) or len(args) > WORDS_MOST:
        raise BadServer(f"args: must be a list of at most {WORDS_MOST} texts")
    words = [program, *(_word(value) for value in args)]
    if any(word is None or len(word) > TEXT_MOST or "\0" in word for word in words):
        raise BadServer(f"args: each must be a text of at most {TEXT_MOST} characters, in quotes")
    return tuple(word for word in words if word is not None)


def _word(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # a port needs no quotes
    return value if isinstance(value, str) else None


def url(value: Any) -> str:
    """An http(s) URL without a user name and password in it."""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or len(value) > TEXT_MOST or any(sign.isspace() for sign in value):
        raise BadServer("url: must be an http or https URL, e.g. https://mcp.example.com/mcp")
    if "@" in parts.netloc:
        text = "url: a password in it is refused; put it into a variable and name that in headers"
        raise BadServer(f'{text}, e.g. Authorization: "Basic env:MINE_LOGIN"')
    return str(value)


def is_refused(name: str) -> bool:
    """Whether this variable is given to no turn, whoever names it."""
    return name.startswith(NEVER) or name in NEVER_EXACT


def variables(value: Any) -> tuple[str, ...]:
    """The names under `env`. Raises BadServer."""
    if isinstance(value, Mapping):
        text = "env: values are refused; write a list of names, and set them where the service runs"
        raise BadServer(f"{text}, e.g. [{', '.join(map(str, value)) or 'MY_TOKEN'}]"[:400])
    if value is not None and not isinstance(value, list):
        raise BadServer("env: must be a list of names of variables, e.g. [MY_TOKEN]")
    names = value or []
    for name in names:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise BadServer(f'env: "{str(name)[:40]}" is not the name of a variable')
        check_variable("env", name)
    return tuple(dict.fromkeys(names))


def check_variable(where: str, name: str) -> None:
    """Raise BadServer for a variable that no command of ours may be given."""
    if is_refused(name):
        text = f"{where}: {name[:60]} is never passed on, for it may hold a secret of this service"
        raise BadServer(f"{text}; copy what is needed into a variable of another name")


def headers(value: Any) -> dict[str, tuple[str, str]]:
    """name -> (text before the variable, the variable). Raises BadServer."""
    if value is not None and not isinstance(value, Mapping):
        raise BadServer('headers: must be a mapping, e.g. {Authorization: "Bearer env:MY_TOKEN"}')
    found = {}
    for key, text in (value or {}).items():
        name = str(key)
        if not _HEADER.fullmatch(name):
            raise BadServer(f'headers: "{name[:40]}" is not the name of a header')
        reference = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
        if reference is None:
            why = "a value in the file is refused; put it into a variable and write"
            raise BadServer(f'headers.{name}: {why} "env:VARIABLE" (or "Bearer env:VARIABLE")')
        check_variable(f"headers.{name}", reference[2])
        found[name] = (reference[1], reference[2])
    return found


def _seconds(entry: Mapping[str, Any], key: str) -> int:
    default, most = TIMES[key]
    value = entry.get(key, default)
    if type(value) is not int or not 1 <= value <= most:
        raise BadServer(f"{key}: must be a whole number from 1 to {most}, e.g. {default}")
    return value
