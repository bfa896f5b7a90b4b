"""Two example projects that a person can add, try out and put away again.

Removing renames `project.yaml`, adding again renames it back, so that what was written into an
example is kept. Only missing files of an example are ever created.
"""

from __future__ import annotations

import contextlib
import os
import threading
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypedDict

from django.conf import settings

from config.errors import Conflict, NotFound
from config.storage import files, locks
from config.storage.drafts import Folder
from review import events, projects
from review.examples import repository
from review.files import expect, state_dir

ReviewState = Literal["present", "removed", "none"]


class Examples(TypedDict):  # slugs, by what was done with them
    created: list[str]
    restored: list[str]
    existing: list[str]
    removed: list[str]


SOURCE = Path(__file__).parent / "projects"
EXAMPLES = {"example-payments": "payments", "example-search": "search"}  # slug -> its `example` key
FILE = "project.yaml"
REMOVED = f"{FILE}.removed-"
PLACE = b"<examples>"  # replaced in their files by the path of the repository
LOCK = "review-examples"

_guard = threading.Lock()
_adding: Future[Examples] | None = None


def state() -> ReviewState:
    """`present` if an example is there, `removed` if one can be brought back, else `none`."""
    if any(map(_is_live, EXAMPLES)):
        return "present"
    return "removed" if any(map(_newest_removed, EXAMPLES)) else "none"


def add() -> Examples:
    """Create the examples or bring them back; return their slugs by what was done with them.

    While one call runs, others wait for it and get its result. Conflict `exists` if another project
    has the name of an example; after that or any other failure, nothing new is left.
    """
    global _adding  # noqa: PLW0603 - what the others wait for
    with _guard:
        running, mine = _adding or Future(), _adding is None
        _adding = running
    if mine:
        try:
            running.set_result(_add())
        except BaseException as error:
            running.set_exception(error)
        finally:
            with _guard:
                _adding = None
    done = running.result()
    if done["created"] or done["restored"]:
        events.projects("examples")
    return done


def remove() -> Examples:
    """Put the examples away. Raises Conflict `busy` while they are being added."""
    if _adding is not None:
        raise Conflict("Examples are still being added", code="busy")
    result = _result()
    with locks.lock(LOCK):
        for slug in filter(_is_live, EXAMPLES):
            _rename(slug, FILE, f"{REMOVED}{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
            result["removed"].append(slug)
    if result["removed"]:
        events.projects("examples")
    return result


def _add() -> Examples:
    result = _result()
    with locks.lock(LOCK), ExitStack() as undo:
        for slug in EXAMPLES:
            if _is_taken(slug) and not _is_live(slug):
                text = f'A project named "{slug}" already exists and is not an example'
                raise Conflict(text, code="exists")
        home = state_dir() / "examples"
        if repository.ensure(home):
            undo.callback(repository.discard, home)
        for slug in EXAMPLES:
            result[_bring(slug, home, undo)].append(slug)
        undo.pop_all()
    return result


def _result() -> Examples:
    return {"created": [], "restored": [], "existing": [], "removed": []}


def _bring(slug: str, home: Path, undo: ExitStack) -> Literal["created", "restored", "existing"]:
    """Make sure the project is there; return the name of its list in the result."""
    if _is_live(slug):
        return "existing"
    if removed := _newest_removed(slug):
        _rename(slug, removed, FILE)
        undo.callback(_rename, slug, FILE, removed)
        return "restored"
    _create(slug, home, undo)
    return "created"


def _create(slug: str, home: Path, undo: ExitStack) -> None:
    """Write the files of an example, project.yaml last: an incomplete project is never seen."""
    project = _folder(slug)
    place = os.path.relpath(home, project) if home.is_relative_to(_beside()) else str(home)
    sources = [path for path in (SOURCE / slug).rglob("*.yaml") if path.name != FILE]
    for source in [*sorted(sources), SOURCE / slug / FILE]:
        path = project / source.relative_to(SOURCE / slug)
        _make_folder(path.parent, undo)
        if not path.exists():
            data = source.read_bytes().replace(PLACE, place.encode())
            undo.callback(path.unlink, missing_ok=True)
            expect(path, data)
            files.write(path, data, mode=0o666, within=settings.PROJECTS_DIR)


def _beside() -> Path:
    """The data directory, if it has the projects too: then both can be moved together."""
    data = Path(settings.DATA_DIR)
    return data if Path(settings.PROJECTS_DIR).is_relative_to(data) else Path(os.devnull)


def _make_folder(path: Path, undo: ExitStack) -> None:
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        with files.writing(folder.name):
            folder.mkdir(exist_ok=True)
        undo.callback(_remove_empty, folder)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _rename(slug: str, old: str, new: str) -> None:
    """Rename project.yaml, under the lock that its writers take."""
    path = _folder(slug) / FILE
    with (
        files.writing(path.name),
        files.lock(f"file:{os.path.realpath(path)}"),
        Folder.open(path.parent) as folder,
    ):
        expect(path, folder.contents(old) if new == FILE else None)
        folder.move(old, new)
        folder.sync()


def _folder(slug: str) -> Path:
    return Path(settings.PROJECTS_DIR) / slug


def _is_taken(slug: str) -> bool:
    return os.path.lexists(_folder(slug) / FILE)


def _is_live(slug: str) -> bool:
    try:
        return projects.get(slug).example == EXAMPLES[slug]
    except NotFound:
        return False


def _newest_removed(slug: str) -> str | None:
    try:
        names = os.listdir(_folder(slug))  # noqa: PTH208 - of names alone
    except OSError:
        return None
    return max((name for name in names if name.startswith(REMOVED)), default=None)
