"""What identifies a commit after a rebase: patch ids, change id, changed lines.

One log gives the stable patch ids with context, a second one those without; both run at once.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from subprocess import PIPE
from zlib import crc32

from django.db import OperationalError

from config.git import command, walled
from config.git.command import TIMEOUT_S, GitError
from config.git.pool import Pool, aside
from review import caches
from review.git import objects, output, used
from review.git.ranges import Range
from review.git.repository import Repository
from review.models import PatchRow

log = logging.getLogger(__name__)

CHUNK = 500  # shas of one query
SHALLOW = 8 << 20  # bytes: 200,000 commits at the edge of a clone
MOST_LINES = 50_000  # a commit with more changed lines is not matched by its lines
MOST_BYTES = 32 << 20  # nor is one with a larger patch; a larger log is not kept in memory
HEAD = b"\ncommit "
PATCH = (
    "log", "--no-walk=unsorted", "--stdin", "--pretty=raw", "-p", "-M", "-l1000", "--full-index",
    "--diff-merges=first-parent", "--no-ext-diff", "--no-textconv", "--no-color",
    "--diff-algorithm=myers",
)  # fmt: skip
ID = ("patch-id", "--stable")


@dataclass(frozen=True, slots=True)
class Patch:
    """A commit's change. Both ids are None for an empty diff.

    `lines` counts the changed lines by `<path>:+<text>` and `<path>:-<text>`, the crc32 of the
    file's old path (the path itself for a new file) and of the trimmed text. Blank lines are left
    out; `lines` is empty for a commit of over 50,000 changed lines or over 32 MB.
    """

    sha: str
    patch_id: str | None
    patch_id_u0: str | None
    change_id: str | None
    lines: Mapping[str, int] = field(default_factory=dict)


_landed: caches.Memory[tuple[object, ...], dict[str, str]] = caches.Memory(256)


def of(repository: Repository, shas: Sequence[str]) -> dict[str, Patch]:
    """The patches of these commits; commits with a missing object are left out.

    GitError timeout.
    """
    return start(repository, shas)()


def start(repository: Repository, shas: Sequence[str]) -> Callable[[], dict[str, Patch]]:
    """Like `of` in two steps: git starts at once, and the returned function waits for it."""
    wanted = [sha for sha in dict.fromkeys(shas) if output.SHA.fullmatch(sha)]
    if walled.standing():  # rows may describe pruned commits, or some beyond a link
        missing = objects.missing(repository, wanted)
        wanted = [sha for sha in wanted if sha not in missing]
    edge = _edge(repository)  # what these commits seem to add depends on the clone's depth
    found = _rows(repository, [sha for sha in wanted if sha not in edge])
    asked = [sha for sha in wanted if sha not in found]
    told = aside(_here, repository, asked) if asked else None

    def wait() -> dict[str, Patch]:
        news = told.result() if told else []
        shallow = edge | _edge(repository)  # also if the clone was deepened meanwhile
        _put(repository, [patch for patch in news if patch.sha not in shallow])
        made = found | {patch.sha: patch for patch in news}
        return {sha: made[sha] for sha in wanted if sha in made}

    return wait


def _edge(repository: Repository) -> frozenset[str]:
    """Commits whose parents a shallow clone lacks: they look as if they added every file."""
    if not repository.shallow:
        return frozenset()
    try:
        told = walled.contents(repository.common_dir / "shallow", limit=SHALLOW)
    except OSError:
        return frozenset()
    return frozenset(told.decode("ascii", "replace").split())


def _here(repository: Repository, asked: Sequence[str]) -> list[Patch]:
    """The patches from git alone: each thread would open its own database connection."""
    missing = objects.missing(repository, asked)
    here = [sha for sha in asked if sha not in missing]
    return [patch for start in range(0, len(here), CHUNK) for patch in
            _compute(repository, here[start : start + CHUNK])]  # fmt: skip


def find_landed(repository: Repository, span: Range) -> dict[str, str]:
    """The commits of the range with an equal patch on the trunk, and that trunk commit, by sha.

    One `rev-list --cherry-mark` per tip of the trunk, cached. Empty for a history too long to
    compare in time.
    """
    key = (repository.common_dir, repository.shallow, span.base_sha, span.head_sha, span.trunk_shas)
    known = _landed.get(key)
    if known is None:
        known = {}
        for tip in span.trunk_shas:
            known = {**_equal(repository, span, tip), **known}
        _landed.put(key, known)
    return known


def _equal(repository: Repository, span: Range, tip: str) -> dict[str, str]:
    """The pairs, by patch id, of the commits that git marks as equal to one on the other side."""
    try:
        told = repository.run(
            "rev-list", "--left-right", "--cherry-mark", "--no-merges", "--topo-order",
            "--end-of-options", f"{tip}...{span.head_sha}",
        )  # fmt: skip
        ours = repository.run("rev-list", "--end-of-options", span.head_sha, f"^{tip}")
        equal = [line[1:] for line in told.decode().splitlines() if line.startswith("=")]
        found = of(repository, equal)
    except GitError as error:
        log.warning("landed commits are unknown", extra={"why": error.text})
        return {}
    here = set(ours.decode().split())
    there = {patch.patch_id: sha for sha, patch in found.items() if sha not in here}
    return {
        sha: there[patch.patch_id]
        for sha, patch in found.items()
        if sha in here and patch.patch_id and patch.patch_id in there
    }


def _rows(repository: Repository, shas: Sequence[str]) -> dict[str, Patch]:
    found = {}
    for start in range(0, len(shas), CHUNK):
        keys = {repository.key(sha): sha for sha in shas[start : start + CHUNK]}
        rows = PatchRow._default_manager.filter(pk__in=keys)
        read = list(
            rows.values_list("sha", "patch_id", "patch_id_u0", "change_id", "lines", "used")
        )
        used.see(PatchRow, ((key, when) for key, *_, when in read))
        for key, patch_id, patch_id_u0, change_id, lines, _ in read:
            if all(":" in one for one in islice(lines, 1)):  # else from before lines had paths
                found[keys[key]] = Patch(
                    keys[key], patch_id or None, patch_id_u0 or None, change_id or None, lines
                )
    return found


def _put(repository: Repository, patches: Iterable[Patch]) -> None:
    rows = [
        PatchRow(
            sha=repository.key(patch.sha),
            patch_id=patch.patch_id or "",
            patch_id_u0=patch.patch_id_u0 or "",
            change_id=patch.change_id or "",
            lines=dict(patch.lines),
            used=used.today(),
        )
        for patch in patches
    ]
    try:
        PatchRow._default_manager.bulk_create(
            sorted(rows, key=str),
            update_conflicts=True,
            unique_fields=["sha"],
            update_fields=["patch_id", "patch_id_u0", "change_id", "lines", "used"],
            batch_size=CHUNK,
        )
    except OperationalError as error:  # full or read-only disk: computed again later
        log.warning("rows of patches lag", extra={"why": str(error)})


def _compute(repository: Repository, shas: Sequence[str]) -> list[Patch]:
    """The patches from git, without those commits on which git fails."""
    try:
        return _ask(repository, shas)
    except GitError as error:
        if error.kind == "timeout":
            raise
    if len(shas) < 2:
        return []
    half = len(shas) // 2
    return _compute(repository, shas[:half]) + _compute(repository, shas[half:])


def _ask(repository: Repository, shas: Sequence[str]) -> list[Patch]:
    stdin = "".join(f"{sha}\n" for sha in shas).encode()
    with Pool(2) as beside:
        with_context = beside.submit(repository.pipe, [*PATCH, "-U3"], ID, stdin=stdin)
        said: list[bytes] = []
        read = list(_read(_tee(_bare_log(repository, stdin), said)))
        if said:
            without_context = beside.submit(repository.run, *ID, stdin=b"".join(said))
        else:
            without_context = beside.submit(repository.pipe, [*PATCH, "-U0"], ID, stdin=stdin)
    ids, ids_u0 = _ids(with_context.result()), _ids(without_context.result())
    return [
        Patch(sha, ids.get(sha), ids_u0.get(sha), change_id, lines)
        for sha, change_id, lines in read
    ]


def _bare_log(repository: Repository, stdin: bytes) -> Iterator[bytes]:
    """The output of the log without context, piece by piece."""
    process, deadline = repository.spawn(*PATCH, "-U0", stdin=PIPE), time.monotonic() + TIMEOUT_S
    try:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # command.pieces reports why it ended
            process.stdin.write(stdin)  # which fits into the pipe
            process.stdin.close()
        for piece in command.pieces(process):
            if time.monotonic() > deadline:
                raise command.too_slow(PATCH, TIMEOUT_S)
            yield piece
    finally:
        command.end(process)


def _tee(pieces: Iterable[bytes], said: list[bytes]) -> Iterator[bytes]:
    """Yield the pieces, and collect them in `said`, which ends up empty if they are too many."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if size <= MOST_BYTES:
            said.append(piece)
        else:
            said.clear()
        yield piece


def _ids(told: bytes) -> dict[str, str]:
    pairs = (line.split(" ") for line in told.decode().splitlines())
    return {sha: patch_id for patch_id, sha in pairs}


def _read(pieces: Iterable[bytes]) -> Iterator[tuple[str, str | None, dict[str, int]]]:
    """Sha, change id and changed lines of each commit."""
    for part in _commits(pieces):
        text, *files = part[:MOST_BYTES].split(b"\ndiff --git ")
        commit = output.commit(b"commit " + text)
        large = len(part) > MOST_BYTES or part.count(b"\n") > MOST_LINES * 8
        yield commit.sha, commit.change_id, {} if large else _lines(files)


def _commits(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The output for each commit, cut off if too large, as a commit may add more than fits into
    memory. Only a header line starts with `commit `."""
    found: list[bytes] = []
    size, rest, begun = 0, b"\n", False
    for piece in pieces:
        *ends, last = (rest + piece).split(HEAD)
        for end in ends:
            if begun:
                yield b"".join([*found, end])
            found, size, begun = [], 0, True
        rest = last[1 - len(HEAD) :]
        if size <= MOST_BYTES:
            found.append(last[: len(last) - len(rest)])
            size += len(found[-1])
    if begun:
        yield b"".join([*found, rest])


def _lines(files: Sequence[bytes]) -> dict[str, int]:
    found: dict[str, int] = {}
    for file in files:
        header, _, hunks = file.partition(b"\n@@ ")
        path = f"{crc32(_path(header)):x}"
        signs = {b"+": f"{path}:+", b"-": f"{path}:-"}
        for line in (*_moves(header), *hunks.split(b"\n")[1:]):
            sign = signs.get(line[:1])
            if sign and (text := line[1:].strip()):
                key = f"{sign}{crc32(text):x}"
                found[key] = found.get(key, 0) + 1
    return found if sum(found.values()) <= MOST_LINES else {}


def _moves(header: bytes) -> Iterable[bytes]:
    """A changed name or mode as lines, since a commit may change nothing else."""
    for line in header.split(b"\n"):
        for start in (b"rename from ", b"old mode "):
            if line.startswith(start):
                yield b"-" + line
        for start in (b"rename to ", b"new mode "):
            if line.startswith(start):
                yield b"+" + line


def _path(header: bytes) -> bytes:
    """The old path of a file, which does not depend on a rename; the path of a new file."""
    lines = header.split(b"\n")
    names = [line[4:] for line in lines if line[:4] in (b"--- ", b"+++ ")]
    name = next((name for name in names if name != b"/dev/null"), b"")
    moved = next((line[12:] for line in lines if line.startswith(b"rename from ")), b"")
    return moved.strip(b'"') or name.strip(b'"\t')[2:]  # after a/ or b/
