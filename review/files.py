"""The YAML files of the review part: project.yaml, review files, PR files (contract 2, 6).

The one place that knows where they lie, reads them with every scalar as text, and changes them
through the kernel's writer. What a file means is for projects.py, reviews/ and stacks/ to say.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from django.conf import settings

from config.kernel.storage import files, yamlio
from config.kernel.storage.mirror import Mirror, Mirrored
from config.kernel.storage.paths import UnsafePath
from review.models import FileRow

Kind = Literal["reviews", "prs"]

PROJECT = "project.yaml"
KINDS: tuple[Kind, ...] = ("reviews", "prs")
LIMIT = 8 << 20
VALUES = 400_000  # 5,000 threads, each with a few comments
YOUNG_S = 2.0  # the stat of a file this young does not tell all its changes apart

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
REPO = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,64}")
SHA_FILE = re.compile(r"([0-9a-f]{7,64})\.yaml")


def path(*parts: str) -> Path:
    """Where a file lies: parts below the projects directory. UnsafePath for any other form."""
    match parts:
        case (slug, "project.yaml") if SLUG.fullmatch(slug):
            return _root() / slug / PROJECT
        case (slug, "reviews" | "prs" as kind, repo, name) if (
            SLUG.fullmatch(slug) and REPO.fullmatch(repo) and SHA_FILE.fullmatch(name)
        ):
            return _root() / slug / kind / repo / name
    raise UnsafePath("this names no file of a project")


def state_dir() -> Path:
    """What the review part keeps outside the projects, for this user alone (contract 1.5)."""
    folder = Path(settings.DATA_DIR) / "state" / "review"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def slugs() -> list[str]:
    """Names of the directories that hold a project.yaml, sorted."""
    return sorted(name for name in _listed(_root()) if SLUG.fullmatch(name) and _is_project(name))


def names(slug: str, kind: Kind, repo: str) -> list[str]:
    """The shas, full or short, that have a file of this kind, sorted."""
    if not (SLUG.fullmatch(slug) and REPO.fullmatch(repo)):
        return []
    found = map(SHA_FILE.fullmatch, _listed(_root() / slug / kind / repo))
    return sorted(match[1] for match in found if match)


def read(*parts: str) -> Mirrored | None:
    """The file as it is now, None when there is none.

    `data` holds every scalar as its source text (null is None). With an `error` ("line 3, column
    1: ..."), `data` is what was last read well.
    """
    return MIRROR.get("/".join(parts))


def stamp(slug: str, repo: str) -> str:
    """Changes when project.yaml or any review or PR file of this repo does; parses nothing."""
    project = path(slug, PROJECT)
    marks = [_mark(str(project))] if _is_project(slug) else []
    for kind in KINDS if REPO.fullmatch(repo) else ():
        with contextlib.suppress(OSError), os.scandir(project.parent / kind / repo) as entries:
            marks += sorted(
                _mark(entry.path) for entry in entries if SHA_FILE.fullmatch(entry.name)
            )
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()


def load(key: str, data: bytes) -> tuple[dict[str, Any], yamlio.Document]:
    """The texts of a file and where they stand. YamlError also for a wrong structure (3.5).

    Only project.yaml may hold aliases: the keys of others in it are not ours to judge.
    """
    ours = not key.endswith(f"/{PROJECT}")
    document = yamlio.parse(data, limit=LIMIT, aliases=not ours, nodes=VALUES)
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
    for slug in slugs():
        yield f"{slug}/{PROJECT}"
        for kind in KINDS:
            for repo in filter(REPO.fullmatch, _listed(_root() / slug / kind)):
                yield from (f"{slug}/{kind}/{repo}/{sha}.yaml" for sha in names(slug, kind, repo))


MIRROR = Mirror(
    model=FileRow,
    key="key",
    keys=_keys,
    locate=lambda key: path(*key.split("/")),
    read=load,
    limit=LIMIT,
    grace_s=files.SETTLE_S,
)

_young: dict[str, tuple[str, str]] = {}  # stat and hash of files that were young when last seen


def _mark(file: str) -> str:
    """A file's name and stat, and its hash while, and since, a stat could hide a change."""
    try:
        found = os.stat(file)  # noqa: PTH116 - thousands of them are looked at
    except OSError as error:
        return f"{file} error {error.errno}"
    stat = f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"
    known = _young.get(file)
    if time.time() - found.st_mtime < YOUNG_S:
        known = _young[file] = (stat, _hash(file))
    elif known is None or known[0] != stat:
        _young.pop(file, None)
        return f"{file} {stat}"
    return f"{file} {stat} {known[1]}"


def _hash(file: str) -> str:
    try:
        found = files.read(Path(file), limit=LIMIT)
    except OSError as error:
        return f"error {error.errno}"
    return found.etag if found else "none"


def _is_project(slug: str) -> bool:
    return os.path.isfile(_root() / slug / PROJECT)  # noqa: PTH113 - no error is one of ours


def _listed(folder: Path) -> list[str]:
    """The names in a folder; none where there is no folder, or it cannot be read."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []


def _root() -> Path:
    return Path(settings.PROJECTS_DIR)
