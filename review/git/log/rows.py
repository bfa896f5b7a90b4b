"""CommitRow: commits of a repository as the index table holds them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from django.db import OperationalError, connection

from review.git import used
from review.git.commits import Changed, Commit
from review.git.repository import Repository
from review.models import CommitRow

log = logging.getLogger(__name__)
CHUNK = 500  # parameters of one query
Ends = tuple[str, str | None]  # a commit and the parent it was compared with


def get(repository: Repository, sha: str) -> Commit | None:
    """A commit against its first parent, if it has a row."""
    around = _around(repository, sha)
    used.see(CommitRow, ((key, when) for key, _, when in around))
    found = [commit for _, data, _ in around if (commit := _commit(data)).sha == sha]
    return found[0] if found else None


def of_head(repository: Repository, sha: str) -> bool:
    """Whether the commit has a row."""
    key, table = map(connection.ops.quote_name, ("key", CommitRow._meta.db_table))
    sql = f"SELECT 1 FROM {table} WHERE {key} >= %s AND {key} < %s LIMIT 1"  # noqa: S608 - names
    with connection.cursor() as cursor:  # the ORM takes ten times as long to build this query
        cursor.execute(sql, _ends(repository, sha))
        return cursor.fetchone() is not None


def get_many(repository: Repository, ends: Sequence[Ends]) -> dict[Ends, Commit]:
    """The commits that have a row, by sha and parent."""
    found: dict[Ends, Commit] = {}
    for start in range(0, len(ends), CHUNK):
        keys = {_key(repository, one): one for one in ends[start : start + CHUNK]}
        query = CommitRow._default_manager.filter(pk__in=keys)
        read = list(query.values_list("key", "data", "used"))
        used.see(CommitRow, ((key, when) for key, _, when in read))
        found.update((keys[key], _commit(data)) for key, data, _ in read)
    return found


def put(repository: Repository, commits: Iterable[Commit]) -> None:
    """Store the counted commits, except at an edge: what such a commit seems to add depends on the
    depth of the clone. A full or read-only disk only costs time later."""
    news = [
        CommitRow(
            key=_key(repository, (commit.sha, commit.parent)),
            data=_data(commit),
            used=used.today(),
        )
        for commit in commits
        if commit.counted and not commit.edge
    ]
    try:
        CommitRow._default_manager.bulk_create(
            sorted(news, key=str), ignore_conflicts=True, batch_size=CHUNK
        )
    except OperationalError as error:
        log.warning("rows of commits lag", extra={"why": str(error)})


def _around(repository: Repository, sha: str) -> list[tuple[str, Any, date | None]]:
    first, end = _ends(repository, sha)
    query = CommitRow._default_manager.filter(pk__gte=first, pk__lt=end)
    return list(query.values_list("key", "data", "used"))


def _key(repository: Repository, ends: Ends) -> str:
    sha, parent = ends
    return f"{repository.key(sha)}:{parent or ''}"


def _ends(repository: Repository, sha: str) -> tuple[str, str]:
    """The key range of the commit's rows, for any parent: first key and exclusive end."""
    key = repository.key(sha)
    return f"{key}:", f"{key};"


def _data(commit: Commit) -> list[Any]:
    return [
        commit.sha, commit.parents, commit.subject, commit.body, commit.author_name,
        commit.author_email, commit.authored, commit.committed, commit.change_id,
        [
            (
                file.path, file.old_path, file.status, file.additions, file.deletions,
                file.old_oid, file.new_oid, file.old_mode, file.new_mode,
            )
            for file in commit.files
        ],
    ]  # fmt: skip


def _commit(data: list[Any]) -> Commit:
    sha, parents, subject, body, name, email, authored, committed, change_id, files = data
    changed = tuple(Changed(*file) for file in files)
    return Commit(
        sha, tuple(parents), subject, body, name, email, authored, committed, change_id, changed
    )
