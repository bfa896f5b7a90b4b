"""One kind of YAML file and its index table: what each file holds, and its last good value.

The stat of a file decides whether it is read, its hash whether it is parsed. The table is never the
truth: it answers queries, and remembers the last good value of a file that broke. If two homes have
a file with the same key, the row belongs to the one that wrote it first; the other never changes
it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from django.db import OperationalError, connection, models, transaction

from config.storage import covered, files, homes, yamlio
from config.storage.paths import UnsafePath

log = logging.getLogger(__name__)

M = TypeVar("M", bound=models.Model)
Read = Callable[[str, bytes], tuple[dict[str, Any], yamlio.Document]]
RowStamp = tuple[str, str, str, str, str]  # columns of a row: path, stat, etag, error, home
TOLD = ("path", "stat", "etag", "error", "home")  # its columns
LEADS_OUT = "cannot be read: a link leads out of the project; put the file itself there"
CHUNK = 200  # rows of one query: SQLite limits its parameters
RACY_NS = 50_000_000  # a file changed this recently may change again without a new stat


@dataclass(frozen=True, slots=True)
class Mirrored:
    """One file. With an `error`, `data` is its last good value and `document` is None."""

    key: str
    path: Path
    stat: str
    etag: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    document: yamlio.Document | None = field(default=None, repr=False)
    error: str = ""
    error_line: int | None = None
    settled: bool = True
    taken: str = ""  # the other home that owns the row of this key

    @property
    def had(self) -> bool:
        """Whether its bytes could be read. If not, the cause may end without a change of stat."""
        return bool(self.etag)


@dataclass(frozen=True, slots=True)
class Change:
    kind: Literal["created", "changed", "broken", "removed"]
    key: str


class Mirror(Generic[M]):
    """`keys` lists the existing files, `locate` gives the path of a key, `within` the folder that
    no link may lead it out of.

    `read` makes the data from a key and its bytes, or raises YamlError; without it, data is the
    mapping they hold, merge keys applied. A file that was good and is broken or empty may be in the
    middle of a save: for `grace_s` it is read again before that result counts.

    The model has the columns `path stat etag data error error_line home`, and `key` as its key.
    """

    def __init__(
        self,
        *,
        model: type[M],
        key: str,
        keys: Callable[[], Iterable[str]],
        locate: Callable[[str], Path],
        within: Callable[[str], Path],
        read: Read | None = None,
        limit: int = 1 << 20,
        grace_s: float = 0,
    ) -> None:
        self.model = model
        self.key = key
        self.keys = keys
        self.locate = locate
        self.within = within
        self.limit = limit
        self.grace_s = grace_s
        self._data_of = read or self._mapping
        self._known: dict[str, Mirrored] = {}
        self._waits_from = 0.0  # of the monotonic clock

    def get(self, key: str) -> Mirrored | None:
        """The current file, or None. Its row is updated if it lags."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Mirrored]:
        """The existing ones of these files, as from `get`; their rows are updated together.

        The row of a deleted file is deleted by the next scan: a read deletes nothing.
        """
        found, news = {}, []
        for key in keys:
            before = self._known.get(key)
            one = self._look(key)
            if one is not None:
                found[key] = one
                if one is not before or one.taken:
                    news.append(one)
        for start in range(0, len(news), CHUNK):
            chunk = news[start : start + CHUNK]
            try:
                rows = self._rows_as_told(*(one.key for one in chunk))
            except OperationalError as error:
                _lags(chunk, error)
            else:
                found |= {one.key: one for one in self._bring_up(chunk, rows)}
        return found

    def refresh(self, key: str) -> Change | None:
        """Read one file and return its change since its row was written, or None."""
        try:
            return self._settle(key, self._rows_as_told(key).get(key))
        except OperationalError as error:  # receivers read the file itself
            found = self._look(key)
            _lags([found] if found else [], error)
            return Change("changed" if found else "removed", key)

    def scan(self) -> list[Change]:
        """Update every row from its file, and delete the rows of deleted files."""
        rows = self._rows_as_told()
        ours = {key for key, row in rows.items() if not _of_others(row)}
        found = (self._settle(key, rows.get(key)) for key in sorted(ours | set(self.keys())))
        return [change for change in found if change]

    def forget(self, key: str) -> None:
        """Delete what is known of a deleted file."""
        self._known.pop(key, None)
        row = self._rows().filter(homes.mine(), pk=key)
        if row.exists():
            row.delete()

    def clear(self) -> None:
        """Forget what is cached in memory; the rows stay."""
        self._known.clear()

    def _rows(self) -> models.QuerySet[M]:
        return self.model._default_manager.all()

    def _rows_as_told(self, *keys: str) -> dict[str, RowStamp]:
        names = ", ".join(map(connection.ops.quote_name, (self.key, *TOLD)))
        table = connection.ops.quote_name(self.model._meta.db_table)
        sql = f"SELECT {names} FROM {table}"  # noqa: S608 - names of this model alone
        if keys:
            key, marks = connection.ops.quote_name(self.key), ", ".join(["%s"] * len(keys))
            sql += f" WHERE {key} IN ({marks})"
        with connection.cursor() as cursor:  # through Django this query takes ten times as long
            cursor.execute(sql, keys)
            return {row[0]: row[1:] for row in cursor.fetchall()}

    def _settle(self, key: str, row: RowStamp | None) -> Change | None:
        found = self._look(key)
        if found is None:
            self.forget(key)
            return Change("removed", key) if row and not _of_others(row) else None
        (found,) = self._bring_up([found], {key: row} if row else {})
        if found.taken:
            return None
        if row is not None and row[2:4] == (found.etag, found.error):
            return None
        if found.error:
            return Change("broken", key)
        return Change("changed" if row else "created", key)

    def _look(self, key: str) -> Mirrored | None:
        """The file as it is known, read again if its stat has changed."""
        path = self.locate(key)
        stat = files.stat_of(path)
        known = self._known.get(key)
        known = known if known is not None and known.path == path else None
        same = known is not None and known.stat == stat and known.had
        if known is not None and same and (known.settled or _racy(known.stat)):
            return known
        found = self._read(key, path, stat, known) if stat else None
        if found is not None and _half(found) and not (known and _half(known)):
            found = self._read_again(found, known)
        if found is None:
            self._known.pop(key, None)
        else:
            self._known[key] = found
        return found

    def _read(self, key: str, path: Path, stat: str, known: Mirrored | None) -> Mirrored | None:
        try:
            snapshot = files.read(path, limit=self.limit, within=self.within(key))
        except UnsafePath:
            return self._broken(Mirrored(key, path, stat), LEADS_OUT, 1)
        except OSError as error:
            return self._broken(Mirrored(key, path, stat), f"cannot be read: {error.strerror}", 1)
        if snapshot is None:
            return None
        read = Mirrored(key, path, snapshot.stat, snapshot.etag, settled=not _racy(snapshot.stat))
        was = covered.instead(path, read.etag, read.stat)
        if was is None and known and known.etag == read.etag and known.error != covered.DOUBTED:
            return replace(known, stat=read.stat, settled=read.settled)
        try:
            data, document = self._data_of(key, snapshot.data)
        except yamlio.YamlError as error:
            return self._broken(read, str(error), error.line)
        doubted = None if was is None else self._doubted_version(read, data, was)
        return doubted or replace(read, data=data, document=document)

    def _doubted_version(self, read: Mirrored, data: dict[str, Any], was: bytes) -> Mirrored | None:
        """The file with its former data, if a turn may have written what it newly grants."""
        try:
            before, _ = self._data_of(read.key, was)
        except yamlio.YamlError:
            return self._broken(read, covered.DOUBTED, 1)
        if covered.grants_more(data, before):
            return replace(read, data=before, error=covered.DOUBTED, error_line=1)
        covered.follow(read.path, read.etag, was)
        return None

    def _read_again(self, found: Mirrored, known: Mirrored | None) -> Mirrored | None:
        """Read a file that just broke until it is whole, deleted, or too old to be a save in
        progress.

        After waiting in vain, no reader waits again for a while: if many files break together, a
        reader is delayed by one grace period.
        """
        now: Mirrored | None = found
        if time.monotonic() < self._waits_from:
            return now
        deadline = time.monotonic() + self.grace_s  # the file's time may be in the future
        while now and _half(now) and _age_s(now.stat) < self.grace_s:
            if time.monotonic() >= deadline:
                self._waits_from = time.monotonic() + self.grace_s
                break
            stat = files.stat_of(now.path)
            if stat == now.stat:
                time.sleep(0.01)
            else:
                now = self._read(now.key, now.path, stat, known) if stat else None
        return now

    def _mapping(self, _key: str, data: bytes) -> tuple[dict[str, Any], yamlio.Document]:
        document = yamlio.parse(data, limit=self.limit)
        value = document.merged_value()
        if not isinstance(value, dict | None):
            raise yamlio.YamlError("the file must hold a mapping", 1, 1)
        return value or {}, document

    def _broken(self, read: Mirrored, error: str, line: int) -> Mirrored:
        known = self._known.get(read.key)
        if known is not None and known.path == read.path:
            data = known.data
        else:
            data = self._last_good(read)
        found = replace(read, data=data, error=error, error_line=line)
        return known if known is not None and known == found else found

    def _last_good(self, read: Mirrored) -> dict[str, Any]:
        rows = self._rows().filter(pk=read.key, path=str(read.path))
        try:
            row = rows.values_list("data").first()
        except OperationalError as error:
            _lags([read], error)
            return {}
        return row[0] if row else {}

    def _bring_up(self, found: list[Mirrored], rows: Mapping[str, RowStamp]) -> list[Mirrored]:
        """Write the rows that lag. Return the files, marked if the row belongs to another home."""
        fresh = [one for one in found if not _of_others(rows.get(one.key))]
        fresh = [one for one in fresh if not _says(rows.get(one.key), one)]
        try:
            self._write(fresh)
            if homes.home() and (new := [one.key for one in fresh if one.key not in rows]):
                rows = {**rows, **self._rows_as_told(*new)}  # another home may have been faster
        except OperationalError as error:
            _lags(fresh, error)
        return [self._with_taken(one, rows.get(one.key)) for one in found]

    def _with_taken(self, found: Mirrored, row: RowStamp | None) -> Mirrored:
        taken = row[4] if row and _of_others(row) else ""
        if taken != found.taken:
            found = self._known[found.key] = replace(found, taken=taken)
        return found

    def _write(self, found: Iterable[Mirrored]) -> None:
        """Insert or update rows, except those that belong to another home."""
        rows = [self.model(**self._columns(one)) for one in sorted(found, key=_key)]
        fields = self.model._meta.concrete_fields
        quote = connection.ops.quote_name
        table, key = quote(self.model._meta.db_table), quote(self.key)
        names = [quote(str(field.column)) for field in fields]
        values = ", ".join(["%s"] * len(names))
        updated = ", ".join(f"{name} = excluded.{name}" for name in names if name != key)
        sql = (  # parts of it are names of this model alone
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values}) "  # noqa: S608
            f"ON CONFLICT ({key}) DO UPDATE SET {updated}"
        )
        if homes.home():
            sql += f" WHERE {table}.home IN ('', '{homes.home()}')"
        if rows:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.executemany(sql, [_db_values(row, fields) for row in rows])

    def _columns(self, found: Mirrored) -> dict[str, Any]:
        return {
            self.key: found.key,
            "path": str(found.path),
            "stat": found.stat,
            "etag": found.etag,
            "data": found.data,
            "error": found.error,
            "error_line": found.error_line,
            "home": homes.home(),
        }


def _db_values(row: models.Model, fields: Iterable[models.Field[Any, Any]]) -> list[Any]:
    """The values of a row in the form the database takes."""
    values = ((field, field.pre_save(row, add=True)) for field in fields)
    return [field.get_db_prep_save(value, connection) for field, value in values]


def _says(row: RowStamp | None, found: Mirrored) -> bool:
    """Whether the row already matches the file."""
    return row == (str(found.path), found.stat, found.etag, found.error, homes.home())


def _of_others(row: RowStamp | None) -> bool:
    """Whether the row belongs to another home."""
    return row is not None and bool(homes.home()) and row[4] not in ("", homes.home())


def _lags(found: Iterable[Mirrored], error: OperationalError) -> None:
    """The database is full, read-only or gone. Files were still read; the next scan catches up."""
    for one in found:
        log.warning("an index row lags", extra={"file": str(one.path), "why": str(error)})


def _key(found: Mirrored) -> str:
    """The order in which all writers lock their rows, so that they cannot deadlock."""
    return found.key


def _half(found: Mirrored) -> bool:
    """Whether it looks like a save in progress: broken, or truncated and not yet filled."""
    broken = found.error and found.error != covered.DOUBTED
    return bool(broken) or found.stat.split(":")[1] == "0"


def _age_s(stat: str) -> float:
    return (time.time_ns() - int(stat.split(":", 1)[0])) / 1e9


def _racy(stat: str) -> bool:
    return time.time_ns() - int(stat.split(":", 1)[0]) < RACY_NS
