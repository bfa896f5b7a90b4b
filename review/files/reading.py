"""Files as values: every scalar as text, the last good value of a broken one, cheap stamps."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from config.storage import files, yamlio
from config.storage.mirror import Mirror, Mirrored
from config.storage.paths import UnsafePath
from review import caches
from review.files import backups, layout
from review.files.layout import KINDS, PROJECT, REPO
from review.models import FileRow

log = logging.getLogger(__name__)

LIMIT = 8 << 20
VALUES = 400_000  # 5,000 threads, each with a few comments
YOUNG_S = 2.0  # in a file this young, changes may not show in its stat


def load(key: str, data: bytes) -> tuple[dict[str, Any], yamlio.Document]:
    """The texts of a file, and its document. Raises YamlError, also for a wrong structure.

    Only project.yaml may have aliases: it also has keys of others, which are not ours to judge.
    """
    ours = not key.endswith(f"/{PROJECT}")
    document = yamlio.parse_recent(data, limit=LIMIT, aliases=not ours, nodes=VALUES)
    texts = document.texts()
    if not isinstance(texts, dict | None):
        raise yamlio.YamlError("the file must hold a mapping", 1, 1)
    if ours:
        _check_threads(document, texts or {})
    else:
        _check_list(document, texts or {}, "repos")
    return texts or {}, document


def _check_threads(document: yamlio.Document, texts: dict[str, Any]) -> None:
    _check_list(document, texts, "threads")
    for number, thread in enumerate(texts.get("threads") or []):
        if isinstance(thread, dict):
            _check_list(document, thread, "comments", "threads", number)


def _check_list(
    document: yamlio.Document, texts: dict[str, Any], key: str, *above: str | int
) -> None:
    if not isinstance(texts.get(key), list | None):
        node = document.node(*above, key)
        at = node.start if node else 0
        raise yamlio.YamlError.at(f'"{key}" must be a list', document.text, at)


def _keys() -> Iterator[str]:
    """Every file there is, as its path below the projects directory."""
    for slug in layout.slugs():
        yield f"{slug}/{PROJECT}"
        for kind in KINDS:
            for repo in filter(REPO.fullmatch, layout.list_folder(layout.root() / slug / kind)):
                for name in layout.list_folder(layout.root() / slug / kind / repo):
                    if layout.is_named(kind, name):
                        yield f"{slug}/{kind}/{repo}/{name}"


MIRROR = Mirror(
    model=FileRow,
    key="key",
    keys=_keys,
    locate=lambda key: layout.path(*key.split("/")),
    within=lambda key: layout.project(key.split("/")[0]),
    read=load,
    limit=LIMIT,
    grace_s=files.SETTLE_S,
)
caches.register(MIRROR.clear)
caches.register(yamlio.forget_recent)

# review files as they were last valid
_good: caches.Memory[str, Mirrored] = caches.Memory(1024, shared=True)


def read(*parts: str) -> Mirrored | None:
    """The file as it is now, None if there is none.

    `data` holds every scalar as its source text (null is None). With an `error` ("line 3, column 1:
    ..."), `data` is the last good value.
    """
    return _watch_for_loss(parts, MIRROR.get("/".join(parts)))


def index_row(*parts: str) -> tuple[str, dict[str, Any]] | None:
    """The hash of a file and its last good value, as they were when it was last read."""
    return FileRow.objects.filter(pk="/".join(parts)).values_list("etag", "data").first()


def read_all(slug: str, kind: layout.Kind, repo: str) -> list[Mirrored]:
    """Every file of this kind, in the order of `names`."""
    read = read_many((slug, kind, repo, f"{name}.yaml") for name in layout.names(slug, kind, repo))
    return [one for one in read.values() if one is not None]


def read_many(wanted: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], Mirrored | None]:
    """As `read`, for many files: their rows are read and written together."""
    keys = {parts: "/".join(parts) for parts in wanted}
    found = MIRROR.get_many(keys.values())
    return {parts: _watch_for_loss(parts, found.get(key)) for parts, key in keys.items()}


def _watch_for_loss(parts: tuple[str, ...], found: Mirrored | None) -> Mirrored | None:
    """Return `found`; if threads or comments have vanished from it, back up the last text first."""
    key = "/".join(parts)
    if parts[1:2] == ("reviews",) and (found is None or not found.error):
        _keep_vanished(parts, _good.get(key), found)
        if found is not None:
            _good.put(key, found)
    return found


def _keep_vanished(parts: tuple[str, ...], before: Mirrored | None, now: Mirrored | None) -> None:
    """Back up the last text of the file if it had ids that are missing now."""
    if before is None or before is now or before.document is None:
        return
    if before.path != layout.path(*parts):
        return
    if _ids(before) <= (_ids(now) if now else set()):
        return
    try:
        backups.keep(parts, before.document.text.encode())
    except files.CannotWrite as error:  # the read continues
        log.warning("no backup was made", extra={"file": str(before.path), "why": str(error)})


def _ids(found: Mirrored) -> set[str]:
    """The ids of threads and comments that are written in a review file."""
    threads = [one for one in found.data.get("threads") or [] if isinstance(one, dict)]
    comments = [one for thread in threads for one in thread.get("comments") or []]
    named = [one for one in (*threads, *comments) if isinstance(one, dict)]
    return {one["id"] for one in named if isinstance(one.get("id"), str)}


# -- stamps --------------------------------------------------------------------------------------

_young: dict[str, tuple[str, str]] = {}  # stat and hash of files that were young when last seen


def stamp(slug: str, repo: str) -> str:
    """A hash that changes with project.yaml, any review or PR file of this repo, or a draft. Parses
    nothing."""
    folder = f"{layout.root()}/{slug}"  # a string: faster, as it is called for all repos
    marks = [_mark(f"{folder}/{PROJECT}", folder)]
    for kind in KINDS if REPO.fullmatch(repo) else ():
        with contextlib.suppress(OSError), os.scandir(f"{folder}/{kind}/{repo}") as entries:
            marks += sorted(
                _mark(entry.path, folder) for entry in entries if layout.is_named(kind, entry.name)
            )
    if REPO.fullmatch(repo):
        with contextlib.suppress(OSError), os.scandir(layout.drafts(slug, repo)) as entries:
            marks += sorted(f"{entry.name} {_stat(entry.stat())}" for entry in entries)
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()


def _stat(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"


def _mark(file: str, folder: str) -> str:
    """A file's name and stat; with its hash while it is young, and then until its stat changes."""
    try:
        found = os.stat(file)  # noqa: PTH116 - thousands of them are looked at
    except OSError as error:
        return f"{file} error {error.errno}"
    stat = _stat(found)
    known = _young.get(file)
    if time.time() - found.st_mtime < YOUNG_S:
        known = _young[file] = (stat, _hash(file, folder))
    elif known is None or known[0] != stat:
        _young.pop(file, None)
        return f"{file} {stat}"
    return f"{file} {stat} {known[1]}"


def _hash(file: str, folder: str) -> str:
    try:
        found = files.read(Path(file), limit=LIMIT, within=Path(folder))
    except (OSError, UnsafePath) as error:
        return f"error {error}"
    return found.etag if found else "none"
