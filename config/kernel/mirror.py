"""One kind of YAML file and its index table: what each file says now, and last said well.

The stat of a file decides whether it is read, its hash whether it is parsed. The table is never
the truth: it answers queries, and remembers the last good value of a file that broke.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from django.db import models

from config.kernel import files, yamlio

M = TypeVar("M", bound=models.Model)
RACY_NS = 50_000_000  # a file changed this recently may change again without a new stat


@dataclass(frozen=True, slots=True)
class Mirrored:
    """One file. With an `error`, `data` is what was last read well and `document` is None."""

    key: str
    path: Path
    stat: str
    etag: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    document: yamlio.Document | None = field(default=None, repr=False)
    error: str = ""
    error_line: int | None = None
    settled: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    kind: Literal["created", "changed", "broken", "removed"]
    key: str


class Mirror(Generic[M]):
    """`keys` lists the files there are, `locate` names the file of a key.

    The model has the columns `path stat etag data error error_line`, and `key` as its key.
    """

    def __init__(
        self,
        *,
        model: type[M],
        key: str,
        keys: Callable[[], Iterable[str]],
        locate: Callable[[str], Path],
        limit: int = 1 << 20,
    ) -> None:
        self.model = model
        self.key = key
        self.keys = keys
        self.locate = locate
        self.limit = limit
        self._known: dict[str, Mirrored] = {}

    def get(self, key: str) -> Mirrored | None:
        """The file as it is now, None when there is none; a row is brought up to its file."""
        path = self.locate(key)
        stat = files.stat_of(path)
        known = self._known.get(key)
        known = known if known is not None and known.path == path else None
        if known is not None and known.stat == stat and (known.settled or _racy(known.stat)):
            return known
        found = self._read(key, path, stat, known) if stat else None
        if found is None:
            self._known.pop(key, None)  # its row goes at the next scan: a read writes no deletion
            return None
        self._known[key] = found
        self._index(found)
        return found

    def refresh(self, key: str) -> Change | None:
        """Look at one file; what became of it since the row was written, None for nothing."""
        before = self._rows().filter(pk=key).values_list("stat", "etag", "error").first()
        after = self.get(key)
        if after is None:
            self.forget(key)
            return Change("removed", key) if before else None
        if before is None:
            return Change("broken" if after.error else "created", key)
        if before[1:] == (after.etag, after.error):
            return None
        return Change("broken" if after.error else "changed", key)

    def scan(self) -> list[Change]:
        """Bring every row to its file, and drop the rows of files that are gone."""
        rows = set(self._rows().values_list("pk", flat=True))
        found = (self.refresh(key) for key in sorted(rows | set(self.keys())))
        return [change for change in found if change]

    def forget(self, key: str) -> None:
        """Drop what is known of a file that is gone."""
        self._known.pop(key, None)
        self._rows().filter(pk=key).delete()

    def _rows(self) -> models.QuerySet[M]:
        return self.model._default_manager.all()

    def _read(self, key: str, path: Path, stat: str, known: Mirrored | None) -> Mirrored | None:
        try:
            snapshot = files.read(path, limit=self.limit)
        except OSError as error:
            return self._broken(Mirrored(key, path, stat), f"cannot be read: {error.strerror}", 1)
        if snapshot is None:
            return None
        read = Mirrored(key, path, snapshot.stat, snapshot.etag, settled=not _racy(snapshot.stat))
        if known is not None and known.etag == read.etag:
            return replace(known, stat=read.stat, settled=read.settled)
        try:
            document = yamlio.parse(snapshot.data, limit=self.limit)
        except yamlio.YamlError as error:
            return self._broken(read, str(error), error.line)
        if not isinstance(document.value, dict | None):
            return self._broken(read, "the file must hold a mapping", 1)
        return replace(read, data=document.value or {}, document=document)

    def _broken(self, read: Mirrored, error: str, line: int) -> Mirrored:
        known = self._known.get(read.key)
        if known is not None and known.path == read.path:
            data = known.data
        else:
            row = self._rows().filter(pk=read.key, path=str(read.path)).values_list("data").first()
            data = row[0] if row else {}
        return replace(read, data=data, error=error, error_line=line)

    def _index(self, found: Mirrored) -> None:
        """Write the row, unless it already says the same."""
        row = self._rows().filter(pk=found.key).values_list("path", "stat", "error").first()
        if row == (str(found.path), found.stat, found.error):
            return
        columns = {
            "path": str(found.path),
            "stat": found.stat,
            "etag": found.etag,
            "data": found.data,
            "error": found.error,
            "error_line": found.error_line,
        }
        key: dict[str, Any] = {self.key: found.key}
        self._rows().update_or_create(defaults=columns, **key)


def _racy(stat: str) -> bool:
    return time.time_ns() - int(stat.split(":", 1)[0]) < RACY_NS
