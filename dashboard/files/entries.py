"""What is known about one file: its last good value, and what is wrong with it now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from config.storage import yamlio
from dashboard.files import schema, tags
from dashboard.files.fields import Issue, Level
from dashboard.files.layout import DashboardFile, Kind

LIMIT = 256 << 10
DEPTH = 32
Reader = Callable[..., tuple[Any, list[Issue]]]
READERS: dict[Kind, Reader] = {
    "apps": schema.read_app,
    "bookmarks": schema.read_group,
    "config": schema.read_config,
    "ignore": schema.read_ignore,
}


@dataclass(frozen=True, slots=True)
class FileError:
    """One mistake in one file, named by its path below the dashboard's home. Line and column count
    from 1.

    `kept`: the last good value of the file is in use.
    """

    file: str
    level: Level
    message: str
    line: int | None = None
    column: int | None = None
    since: datetime | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. When it has errors, `value` and `parsed` are the last good ones, or None; those of
    config.yaml are without the wrong values alone.

    `etag` is that of the current bytes, valid or not; None when they cannot be read. Entries are
    shared: to change a value, change a copy of it.
    """

    place: DashboardFile
    file: str
    etag: str | None
    value: dict[str, Any] | None = None
    parsed: Any = None  # AppFile, Group, Config or tuple of IgnoreRule, by kind
    errors: tuple[FileError, ...] = ()
    warnings: tuple[FileError, ...] = ()

    @property
    def kind(self) -> Kind:
        return self.place.kind

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def error(self) -> FileError | None:
        return self.errors[0] if self.errors else None

    @property
    def file_errors(self) -> tuple[FileError, ...]:
        return self.errors + self.warnings


@dataclass(frozen=True, slots=True)
class Reading:
    """The bytes of a file as a value, with every mistake in it."""

    document: yamlio.Document
    value: dict[str, Any]
    parsed: Any
    issues: tuple[Issue, ...]

    @property
    def wrong(self) -> list[Issue]:
        return [issue for issue in self.issues if issue.level == "error"]

    def at(self, issue: Issue) -> tuple[int, int]:
        """Line and column of the value; if it is missing, the line of the mapping that lacks
        it."""
        path = issue.path
        node = self.document.node(*path)
        if path and node is not None:
            start = min(node.start, len(self.document.text))
            text = self.document.text[:start]
            return text.count("\n") + 1, start - text.rfind("\n")
        while path and self.document.line(*path) is None:
            path = path[:-1]
        return (self.document.line(*path) or 1) if path else 1, 1


def parse(data: bytes) -> yamlio.Document:
    """The document, by the stricter grammar of these files. YamlError for anything else."""
    document = yamlio.parse(data, limit=LIMIT, depth=DEPTH, aliases=False, text_keys=True)
    if not isinstance(document.value, dict | None):
        raise yamlio.YamlError("the file must hold a mapping", 1, 1)
    return document


def read(place: DashboardFile, data: bytes) -> Reading:
    """The file's value and issues. YamlError when its grammar is not that of these files."""
    document = parse(data)
    value = document.value or {}
    parsed, issues = READERS[place.kind](value, document.texts() or {}, slug=place.name)
    return Reading(document, value, parsed, tuple(issues))


def check(place: DashboardFile, value: Mapping[str, Any]) -> list[Issue]:
    """The errors in a mapping that is to be written."""
    _, issues = READERS[place.kind](value, slug=place.name)
    return [issue for issue in issues if issue.level == "error"]


def entry(place: DashboardFile, data: bytes | None, before: Entry | None = None) -> Entry:
    """The entry for these bytes; `before` has the last good value and the time of known errors."""
    if data is None:  # only a single file can be missing and still have a value
        parsed, _ = READERS[place.kind]({}, slug=place.name)
        return Entry(place, place.file, tags.ABSENT, {}, parsed)
    made = Entry(place, place.file, tags.of(data))
    try:
        found = read(place, data)
    except yamlio.YamlError as error:
        return broken(made, error.reason, error.line, error.column, before=before)
    errors: list[FileError] = []
    warnings: list[FileError] = []
    for issue in found.issues:
        message = f"{issue.where}: {issue.message}" if issue.path else issue.message
        one = FileError(made.file, issue.level, message, *found.at(issue))
        (errors if issue.level == "error" else warnings).append(one)
    made = replace(made, errors=_with_since(errors, before), warnings=_with_since(warnings, before))
    if errors and place.kind == "config":
        texts = schema.without_wrong(found.document.texts() or {}, found.wrong)
        return _usable(made, schema.without_wrong(found.value, found.wrong), texts)
    if errors:
        return _lent(made, before)
    return replace(made, value=found.value, parsed=found.parsed)


def broken(
    made: Entry,
    message: str,
    line: int | None = None,
    column: int | None = None,
    *,
    before: Entry | None,
) -> Entry:
    """The entry of a file that cannot be read, with its last good value."""
    error = FileError(made.file, "error", message, line, column)
    return _lent(replace(made, errors=_with_since([error], before)), before)


def _usable(made: Entry, value: dict[str, Any], texts: dict[str, Any] | None = None) -> Entry:
    parsed, _ = READERS[made.kind](value, texts, slug=made.name)
    return replace(made, value=value, parsed=parsed)


def _lent(made: Entry, before: Entry | None) -> Entry:
    """The entry with the last good value; a single file that never had one has its defaults, with
    which agents may only read."""
    if before is None and made.place.single:
        return _usable(made, schema.UNREADABLE if made.kind == "config" else {})
    if before is None:
        return made
    kept = before.error.kept if before.error else before.etag != tags.ABSENT
    errors = tuple(replace(one, kept=kept) for one in made.errors)
    return replace(made, value=before.value, parsed=before.parsed, errors=errors)


def _with_since(found: list[FileError], before: Entry | None) -> tuple[FileError, ...]:
    """The errors, each with the time at which it was first seen."""
    known = {(one.level, one.message): one.since for one in (before.file_errors if before else ())}
    now = datetime.now(UTC)
    return tuple(replace(one, since=known.get((one.level, one.message)) or now) for one in found)
