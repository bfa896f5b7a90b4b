"""The name of a listener until a file names it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from pathlib import Path

from django.utils.text import slugify

from dashboard.files import masks
from dashboard.listeners.identity import Identity
from dashboard.listeners.printable import plain

MOST, NAME = 63, 80
_MAJOR = re.compile(r"v\d+")
_SYSTEMS = ("/var/", "/usr/", "/etc/", "/run/", "/opt/", "/snap/", "/System/", "/Library/",
            "/Applications/")  # fmt: skip
_NOBODYS = re.compile(r"\s*(directory listing for|index of|listing directory) /", re.IGNORECASE)


def name(identity: Identity, port: int) -> str:
    """Package, else container, else git directory, else directory, else title, else process.

    A title is what the framework or the page of the day says, and many servers share a process
    name, while the directory is named by the user.
    """
    for found in _names(identity):
        if text := plain(masks.within(found), NAME).strip():
            return text
    return f"App {port}"


def _names(identity: Identity) -> Iterator[str]:
    if identity.package and identity.package.name:
        yield short(identity.package.name)
    if identity.container:
        one = identity.container
        named = "-".join(filter(None, (one.project, one.service))) if one.service else one.name
        yield named or ""
    if identity.git:
        yield identity.git.name
    yield _folder(identity.cwd)
    if not _NOBODYS.match(identity.title or ""):
        yield identity.title or ""
    yield identity.process.name


def _folder(cwd: str) -> str:
    """The name of a user's own directory; "" for directories of the system, which say nothing."""
    if cwd in {"", "/", "/tmp", str(Path.home())} or cwd.startswith(_SYSTEMS):  # noqa: S108
        return ""
    return Path(cwd).name


def short(package: str) -> str:
    """The last part of a package's name: `@acme/shop` and `github.com/acme/shop/v2` are shop."""
    parts = [part for part in package.split("/") if part]
    if len(parts) > 1 and _MAJOR.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1] if parts else ""


def slug(
    identity: Identity,
    port: int,
    taken: Container[str] = (),
    counted: dict[str, int] | None = None,
) -> str:
    """A free slug: made from the name, in a worktree also from its branch, then with -2, -3 …

    `counted`: the last number tried for each name, valid while no slug becomes free.
    """
    base = make_slug(name(identity, port)) or f"app-{port}"
    if identity.git and identity.git.worktree:
        branch = identity.git.branch or identity.git.worktree
        base = make_slug(f"{base}-{branch.replace('/', '-')}")
    return free(base, taken, counted)


def free(base: str, taken: Container[str], counted: dict[str, int] | None = None) -> str:
    """The slug itself, or with -2, -3 … at its end."""
    counted = {} if counted is None else counted
    number = counted.get(base, 1)
    found = _with_number(base, number)
    while found in taken:
        number += 1
        found = _with_number(base, number)
    counted[base] = number
    return found


def _with_number(base: str, number: int) -> str:
    tail = f"-{number}" if number > 1 else ""
    return base[: MOST - len(tail)].rstrip("-") + tail if tail else base


def make_slug(text: str) -> str:
    """A name as a slug; "" if no character of it can be in a slug."""
    spaced = re.sub(r"[^\w]+", "-", text.casefold())
    dashed = re.sub(r"[^a-z0-9]+", "-", slugify(spaced))
    return dashed[:MOST].strip("-")
