"""The file of a listener that becomes a declared app."""

from __future__ import annotations

import re
from glob import escape
from typing import Any

from config.storage import yamlio
from dashboard.files import masks
from dashboard.health.target import Target
from dashboard.listeners import names
from dashboard.listeners.observed import Sighting
from dashboard.listeners.printable import masked_argv
from dashboard.registry.targets import LOCALHOST

_UNFIT = re.compile(r"[\ud800-\udfff\x00]")
_ARGV_SHOWN = 4096  # characters; people read no more of a suggestion
HINT = "To start and stop it from here, uncomment these lines:"
LOST = "(a secret is not written down: put it in place of ***)"


def mapping(
    one: Sighting, slug: str, *, name: str | None = None, expected: str | None = None
) -> dict[str, Any]:
    """The keys of the app's file: what the listener is, and how it is recognised again."""
    port, host = one.listener.port, _host(one)
    secure = one.answer is not None and one.answer.protocol == "https"
    found: dict[str, Any] = {"name": name or _name(one, slug)}
    if secure:
        shown = f"[{host}]" if ":" in host else host
        found["url"] = f"https://{shown}:{port}/"
    found["port"] = port
    if host != LOCALHOST and not secure:
        found["host"] = host
    if expected is not None:
        found["expected"] = expected
    if cwd := _cwd(one):
        found["match"] = {"cwd": escape(cwd)}
    if kind := _health(one):
        found["health"] = {"type": kind}
    return found


def text(one: Sighting, slug: str, *, name: str | None = None, expected: str | None = None) -> str:
    """The YAML that a claim writes: the mapping, and the listener's command as a comment. A
    container has no command, because the process that listens is the engine's proxy."""
    expected = expected or "sometimes"
    body = yamlio.dump(mapping(one, slug, name=name, expected=expected)).decode()
    return body + _suggestion(one)


def unfit(value: str) -> bool:
    """Whether the value, a name or directory, cannot be in a file because it is not UTF-8."""
    return _UNFIT.search(value) is not None


def _suggestion(one: Sighting) -> str:
    argv, cwd, _ = one.identity.start
    whole = sum(map(len, argv)) <= _ARGV_SHOWN and not any(map(unfit, argv))
    if not argv or not whole or one.identity.container:
        return ""
    shown = masked_argv(argv)
    service: dict[str, Any] = {"command": shown}
    if _cwd(one) and not unfit(cwd):
        service["cwd"] = cwd
    lines = yamlio.dump({"service": service}).decode().splitlines()
    hints = [HINT, LOST] if any(masks.MASK in argument for argument in shown) else [HINT]
    return "".join(f"# {line}\n" for line in (*hints, *lines))


def _name(one: Sighting, slug: str) -> str:
    """The suggested name, or the slug if the name holds a masked secret."""
    found = names.name(one.identity, one.listener.port)
    return slug if masks.MASK in found else found


def _cwd(one: Sighting) -> str | None:
    """The directory it is recognised by; None for a container's proxy, or if no file can hold
    it."""
    cwd = one.identity.cwd
    nowhere = not cwd.startswith("/") or cwd == "/" or one.identity.container
    return None if nowhere or unfit(cwd) else cwd


def _host(one: Sighting) -> str:
    """localhost if it is reachable there, else the address it listens on."""
    reach = [ip for ip, _ in one.listener.reach]
    if not reach or {"127.0.0.1", "::1"} & set(reach):
        return LOCALHOST
    try:
        return Target(host=reach[0]).host
    except ValueError:
        return LOCALHOST


def _health(one: Sighting) -> str | None:
    """The health type for the protocol it answered in; None if it was not probed."""
    spoken = one.answer.protocol if one.answer else "unknown"
    return {"http": "http", "https": "http", "tcp": "tcp"}.get(spoken)
