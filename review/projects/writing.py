"""Changes of project.yaml: only of our keys; every other byte stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from config.errors import Conflict, Invalid, NotFound, printable
from config.git.command import GitError
from config.jsonio import text_or_null
from config.storage import yamlio
from review import events, files
from review.git import ranges, refs
from review.git.repository import Repository
from review.projects import entries
from review.projects.entries import RepoEntry, StackEntry
from review.projects.opening import open_at
from review.projects.reading import Project, get, repo

UNSET: Any = object()
LONGEST = 65_536  # characters of a description
LARGEST = 1 << 20  # bytes of project.yaml: every part of the service must be able to read it
Keys = tuple[str | int, ...]


def set_description(slug: str, description: Any = UNSET, was: Any = UNSET) -> str | None:
    """Set the intro; None or blank removes it. Return it as it is in the file. Raises Conflict if
    the file no longer has the text `was`."""
    before = get(slug).description
    wanted = _prose(description)

    def edit(data: bytes) -> bytes:
        _refuse_changed(_values(data).get("description"), was, wanted)
        return _with_description(data, (), wanted)

    _change(slug, edit)
    if wanted != before:
        events.project(slug, "description")
    return wanted


def set_stack_note(
    project: Project,
    repo_name: str,
    n: int,
    stacks: Sequence[tuple[int, str | None, int | None]],
    *,
    description: str | None,
    title: str | None = UNSET,
    was: Any = UNSET,
) -> None:
    """Set the note of stack `n`; None or blank removes it.

    `stacks` are those that the repo shows: number, title and index in the file, None for the
    implicit rest stack, which gets an entry. Conflict if a given `title` is not the stack's (None:
    it has none), if the file now has another title, or if the note is no longer `was`.
    """
    found = next((one for one in stacks if one[0] == n), None)
    if found is None:
        raise NotFound(f"No such stack: {n}")
    _, seen, index = found
    if title is not UNSET and _blank_is_none(title) != seen:
        raise _title_error(n, now=seen, wanted=_blank_is_none(title))
    wanted = _prose(description)

    def edit(data: bytes) -> bytes:
        values, entry = _repo_in(data, project, repo_name)
        path: Keys = ("repos", entry.index, "stacks")
        now = _stack_in(entry, index)
        if now is None:
            if index is not None:
                raise NotFound(f"No such stack: {n}")
            count = _count(values["repos"][entry.index].get("stacks"))
            return data if wanted is None else _with_description(data, (*path, count), wanted)
        if now.title != seen:
            raise _title_error(n, now=now.title, wanted=seen)
        _refuse_changed(now.description, was, wanted)
        listed = values["repos"][entry.index]["stacks"]
        bare = listed[now.index].keys() == {"description"} and now.index == len(listed) - 1
        if wanted is None and bare:  # the entry of the rest stack had nothing but its note
            return yamlio.remove_entry(data, (*path, now.index), limit=files.LIMIT, shared=True)
        return _with_description(data, (*path, now.index), wanted)

    _change(project.slug, edit)


def add_repo(
    slug: str,
    *,
    path: str | None,
    range: Any,  # noqa: A002 - the word of the file
    name: str | None,
    working_dir: Path | None,
) -> RepoEntry:
    """Open a repository for review; without `path` the one at `working_dir`.

    `range` is text, {"base", "head"} or None, which stays absent: computed at each read. Invalid if
    the path is not a repository or a revision is unknown, Conflict if the name is in use.
    """
    project = get(slug)
    place = _place(project, path, working_dir)
    shown = _short(place)
    wanted = _range(range)
    _check_repository(place, shown, wanted)
    if name is not None and not (isinstance(name, str) and entries.NAME.fullmatch(name)):
        raise Invalid(entries.NAME_RULE)
    called = name or entries.usable_name(place.name) or "repo"
    value = {"name": called, "path": shown} | ({} if wanted is None else {"range": wanted})

    def edit(data: bytes) -> bytes:
        values = _values(data)
        if any(entry.name == called for entry in entries.repos(values.get("repos"), project.dir)):
            raise Conflict(f'A repo named "{called}" already exists', code="exists")
        return _set(data, ("repos", _count(values.get("repos"))), value)

    _change(slug, edit)
    return repo(get(slug), called)


def repository_at(project: Project, path: Any) -> Repository:
    """The repository at a path given for a repo. Raises Invalid if there is none."""
    if path is None or (isinstance(path, str) and not path.strip()):
        raise Invalid('"path" is required: the folder in which the repository is now')
    place = _place(project, path, None)
    _check_repository(place, _short(place), None)
    return open_at(place)


def set_path(slug: str, name: str, place: Path) -> None:
    """Set the path of a repo. It keeps its name, which its reviews are filed under."""
    project = get(slug)

    def edit(data: bytes) -> bytes:
        index = _repo_in(data, project, name)[1].index
        at: Keys = ("repos", index)
        after = _set(data, (*at, "path"), _short(place))
        renamed = entries.repos(_values(after).get("repos"), project.dir)[index].name != name
        return _set(after, (*at, "name"), name) if renamed else after

    _change(slug, edit)


def _change(slug: str, edit: Callable[[bytes], bytes]) -> None:
    """Edit project.yaml as it is now, leaving alone every byte that is not ours."""

    def apply(data: bytes | None) -> bytes:
        if data is None:
            raise NotFound(f"No such project: {slug}")
        after = edit(data)
        if len(after) > max(LARGEST, len(data)):
            raise Invalid(f"{files.PROJECT} would be larger than {LARGEST >> 20} MB")
        return after

    files.change((slug, files.PROJECT), apply)


def _set(data: bytes, path: Keys, value: Any) -> bytes:
    return yamlio.set_entry(data, path, value, limit=files.LIMIT, nodes=files.VALUES, shared=True)


def _with_description(data: bytes, path: Keys, text: str | None) -> bytes:
    path = (*path, "description")
    if text is not None:
        return _set(data, path, yamlio.Block(text) if "\n" in text else text)
    return yamlio.remove_entry(data, path, limit=files.LIMIT, nodes=files.VALUES, shared=True)


def _values(data: bytes) -> dict[str, Any]:
    return files.load(f"x/{files.PROJECT}", data)[0]


def _repo_in(data: bytes, project: Project, name: str) -> tuple[dict[str, Any], RepoEntry]:
    values = _values(data)
    found = entries.repos(values.get("repos"), project.dir)
    entry = next((one for one in found if one.name == name), None)
    if entry is None:
        raise NotFound(f"No such repo: {printable(name)}")
    return values, entry


def _stack_in(entry: RepoEntry, index: int | None) -> StackEntry | None:
    """The stack at that index; for the implicit rest stack, the entry it has got since, if any."""
    if index is None:
        return next((one for one in entry.stacks if one.commits is None), None)
    return next((one for one in entry.stacks if one.index == index), None)


def _title_error(n: int, *, now: str | None, wanted: str | None) -> Conflict:
    said = f'titled "{printable(now)}"' if now else "untitled"
    meant = f'"{printable(wanted)}"' if wanted else "untitled"
    return Conflict(f"Stack {n} is now {said}, not {meant}", code="changed")


def _prose(value: Any) -> str | None:
    """A description as it is kept: line feeds, no blank lines around it, None when blank."""
    text = text_or_null("description", value)
    if text is None or not text.strip():
        return None
    kept = text.replace("\r\n", "\n").replace("\r", "\n").rstrip().lstrip("\n")
    if len(kept) > LONGEST:
        raise Invalid(f'"description" must be at most {LONGEST:,} characters')
    return kept


def _refuse_changed(now: Any, was: Any, wanted: str | None) -> None:
    """Raise Conflict if the text now is neither the one that was read nor the wanted one."""
    if was is not UNSET and (now or None) not in (was or None, wanted):
        raise Conflict("The text has changed since it was read; nothing was saved.", code="changed")


def _blank_is_none(title: str | None) -> str | None:
    return (title or "").strip() or None


def _count(listed: Any) -> int:
    return len(listed) if isinstance(listed, list) else 0


def _place(project: Project, path: str | None, working_dir: Path | None) -> Path:
    if not isinstance(path, str | None):
        raise Invalid('"path" must be a string')
    if path is None or not path.strip():
        if working_dir is None:
            raise Invalid('"path" is required: the project has no working directory')
        return working_dir
    found = entries.place(path, project.dir)
    if found is None:
        raise Invalid(f"Not a git repository: {printable(path)}")
    return found


def _short(place: Path) -> str:
    """The path as it is written: `~/...` if it is below the home directory."""
    home = Path.home()
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)


def _range(value: Any) -> str | dict[str, str | None] | None:
    match value:
        case None:
            return None
        case str():
            return value.strip() or None
        case {"base": str() | None as base, "head": str() as head} if head.strip():
            return {"base": (base or "").strip() or None, "head": head.strip()}
    raise Invalid('"range" must be a string, or an object with base and head')


def _check_repository(place: Path, shown: str, wanted: str | dict[str, str | None] | None) -> None:
    """Raise Invalid unless it is a repository that has the revisions of the range."""
    try:
        repository = open_at(place)
        if wanted is not None:
            ranges.resolve(repository, refs.read(repository), wanted, None)
    except GitError as error:
        if error.kind in ("missing", "not_git"):
            raise Invalid(f"Not a git repository: {printable(shown)}") from None
        raise Invalid(error.text) from None
