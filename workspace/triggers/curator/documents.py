"""The two documents: written after a pass, through the kernel's writer.

OVERVIEW.md is replaced only if it is unchanged since it was read, so an edit by a person stays. In
CHANGELOG.md entries are added to the file as it is then; nothing else in it changes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re

from config.errors import Conflict
from config.storage import files, paths
from workspace.projects.project import CHANGELOG, OVERVIEW, Project

TITLE = b"# Changelog\n\n"
_DATED = re.compile(rb"^## \d{4}-\d{2}-\d{2}[ \t]*\r?$", re.M)
_TITLE = re.compile(rb"\A(?:\xef\xbb\xbf)?# [^\n]*(?:\n[ \t\r]*)*(?:\n|\Z)")


def digest(data: bytes | None) -> str:
    """A hash that identifies the contents of a document; "" if it does not exist."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def replace_overview(project: Project, text: str, *, seen: str) -> None:
    """Replace OVERVIEW.md. Raises Conflict if it has changed since it was `seen`."""
    new = text.encode()

    def edit(now: bytes | None) -> bytes | None:
        if now == new:
            return now
        if digest(now) != seen:
            raise Conflict(f"{OVERVIEW} was edited meanwhile; the curator left it alone")
        return new

    files.change(paths.inside(project.dir, OVERVIEW), edit, mode=0o644, within=project.dir)


def add_entries(project: Project, entries: tuple[str, ...], today: dt.date) -> None:
    """Add entries at the top of their day, unless exactly this block is in the file already."""
    if entries:
        files.change(
            paths.inside(project.dir, CHANGELOG),
            lambda now: with_entries(now or b"", entries, today),
            mode=0o644,
            within=project.dir,
        )


def with_entries(now: bytes, entries: tuple[str, ...], today: dt.date) -> bytes:
    """The document with these entries, newest first under `## YYYY-MM-DD`."""
    newline = b"\r\n" if b"\r\n" in now else b"\n"
    block = newline.join(entry.encode() for entry in entries) + newline
    if block in now:
        return now
    heading = f"## {today.isoformat()}".encode()
    first = _DATED.search(now)
    if first and first[0].rstrip() == heading:
        head = now[: _after_blank_lines(now, first.end())]
        return head + (b"" if head.endswith(b"\n") else newline) + block + now[len(head) :]
    section = heading + newline * 2 + block
    if first:
        return now[: first.start()] + section + newline + now[first.start() :]
    return _first_section(now or TITLE, section, newline)


def _after_blank_lines(now: bytes, at: int) -> int:
    """Where the text below a heading begins."""
    found = re.compile(rb"\n(?:[ \t\r]*\n)*").match(now, at)
    return found.end() if found else len(now)


def _first_section(now: bytes, section: bytes, newline: bytes) -> bytes:
    """A document that had no dated section; its first one is placed below the title."""
    title = _TITLE.match(now)
    head = now[: title.end()].rstrip() + newline * 2 if title else b""
    rest = now[title.end() if title else 0 :].lstrip(b"\r\n")
    return head + section + (newline + rest if rest else b"")
