"""What a project tells its agents: `instructions:` of project.yaml and files in its directory.

The service reads them at the start of a turn, through the one opener: regular files only, no link
out of the working directory, 64 KiB in all. They are text and nothing more: no hook, command or
@import in them runs. See docs/design/engines.md#what-an-agent-is-told.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypedDict

from config.storage import opening
from workspace.engines.base import INSTRUCTIONS
from workspace.projects.project import FILE, Project

MOST_BYTES = 64 * 1024
HEAD = "The project's own instructions, from the places that are named:"


class InstructionSource(TypedDict):
    """One source of instructions: its size, how much of it the agent gets, and why not all."""

    name: str
    bytes: int
    told: int
    why: str | None


class Instructions(NamedTuple):
    """The text for the agent, and each source that has any content."""

    text: str
    places: list[InstructionSource]


@dataclass(frozen=True, slots=True)
class _InstructionFile:
    """The contents of one source. `wrong`: why it cannot be read."""

    name: str
    text: str = ""
    size: int = 0
    wrong: str = ""


def read(project: Project, itself: Collection[str], folder: Path | None = None) -> Instructions:
    """Read the instructions in `folder`, by default the directory where the project works.
    `itself`: files that the engine reads without our help."""
    places = list(_places(project, folder or project.working_dir))
    itself = {*itself, *_included_files(places, itself)}
    left, texts, shown = MOST_BYTES, [], []
    known = {place.text.strip(): place.name for place in places if place.name in itself}
    for place in places:
        text, why = "", place.wrong or _told_already(place, itself, known)
        if not why:
            text = _cut(place.text, left)
            left -= len(text.encode())
            why = _lacks(place, text)
            known[place.text.strip()] = place.name
        if text:
            texts.append(_block(place.name, text, why))
        told = place.size if text and not why else len(text.encode())
        shown.append(
            InstructionSource(name=place.name, bytes=place.size, told=told, why=why or None)
        )
    return Instructions("\n\n".join([HEAD, *texts]) if texts else "", shown)


def _places(project: Project, folder: Path) -> Iterator[_InstructionFile]:
    own = str(project.effective("instructions"))
    if own.strip():
        yield _InstructionFile(FILE, own, len(own.encode()))
    if not project.effective("readInstructions"):
        return
    for name in INSTRUCTIONS:
        place = _read(folder, name)
        if place and (place.wrong or place.text.strip()):
            yield place


def _read(folder: Path, name: str) -> _InstructionFile | None:
    """A file, up to the limit of what an agent may get; None if it does not exist."""
    try:
        with opening.reading(folder / name, within=folder) as file:
            data = file.read(MOST_BYTES + 1)
            size = max(len(data), os.fstat(file.fileno()).st_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except opening.Outside:
        return _InstructionFile(name, wrong="a link out of the working directory")
    except OSError as error:
        odd = error.errno == errno.EINVAL
        return _InstructionFile(name, wrong="no regular file" if odd else f"{error.strerror}")
    # A NUL cannot be passed in an argument, and a byte that is not UTF-8 becomes three.
    return _InstructionFile(name, data.decode(errors="replace").replace("\0", "\ufffd"), size)


def _included_files(places: Iterable[_InstructionFile], itself: Collection[str]) -> list[str]:
    """Files that the engine includes itself: @path in a file that it reads."""
    texts = [place.text for place in places if place.name in itself]
    return [
        place.name
        for place in places
        if any(re.search(rf"(?:^|\s)@(?:\./)?{re.escape(place.name)}\b", text) for text in texts)
    ]


def _told_already(place: _InstructionFile, itself: Collection[str], known: dict[str, str]) -> str:
    if place.name in itself:
        return "the engine reads it itself"
    same = known.get(place.text.strip())
    return f"the same as {same}" if same else ""


def _cut(text: str, left: int) -> str:
    return text.encode()[:left].decode(errors="ignore")


def _lacks(place: _InstructionFile, text: str) -> str:
    """Why part of a source is left out, "" if nothing is; its size is in bytes on disk."""
    if place.size <= MOST_BYTES and text == place.text:
        return ""
    limit = f"{MOST_BYTES // 1024} KiB in all are given"
    return f"cut: {limit}" if text else f"left out: {limit}"


def _block(name: str, text: str, why: str) -> str:
    cut = f"\n[{name} is cut here: {len(text.encode())} bytes of it are given]" if why else ""
    return f'<instructions from="{name}">\n{text.strip()}{cut}\n</instructions>'
