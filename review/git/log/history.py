"""The commits of a range with files and counts, by long-running gits or one log, cached by sha."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from config.git import walled
from config.git.command import GitError
from config.git.pool import aside
from review import caches
from review.git import ancestry, objects, output, staying
from review.git.commits import Commit
from review.git.log import partial, rows
from review.git.ranges import Range, name_text, unknown
from review.git.repository import Repository

MOST = 2000
SHORT = 100  # commits read without starting a git; the last is `~99` of the first
SHAPE = ("--pretty=raw", "--parents", "-z", "--no-color")
WALK = ("log", *SHAPE, "--topo-order", "--reverse")
FILES = (
    "--raw", "--no-abbrev", "-M", "-l1000", "--diff-merges=first-parent", "--no-ext-diff",
    "--no-textconv", "--diff-algorithm=myers",
)  # fmt: skip
LOG = (*WALK, *FILES)
STAYS = ("diff-tree", "--stdin", "-r", "--root", "--always", *SHAPE, *FILES)

CommitsAndWarnings = tuple[list[Commit], list[str]]
_found: caches.Memory[tuple[object, ...], CommitsAndWarnings] = caches.Memory(
    100_000, weigh=lambda found: sum(1 + len(commit.files) for commit in found[0])
)
_single: caches.Memory[tuple[object, ...], Commit] = caches.Memory(1024)
_by_sha: caches.Memory[tuple[object, ...], Commit] = caches.Memory(8192)


def commits(
    repository: Repository,
    span: Range,
    *,
    counts: bool = True,
    meanwhile: Callable[[], object] = tuple,
) -> CommitsAndWarnings:
    """The range's commits, oldest first, at most the newest 2,000, and its warnings.

    Merges are diffed against their first parent. No process runs for a cached range. With `counts`
    off, commits not counted yet have no counts (`Commit.counted`) and arrive much sooner.
    `meanwhile` is called while git reads a range that was not seen before. GitError timeout or
    failed.
    """
    key = (*_place(repository), span.base_sha, span.head_sha, span.limit)
    found = _found.get((*key, True)) or (None if counts else _found.get((*key, False)))
    if found is None:
        newest, missing = _read(repository, span, counts, meanwhile)
        found = newest, _warnings(repository, newest, missing)
        if not missing or repository.partial:
            whole = counts or all(commit.counted for commit in newest)
            _found.put((*key, whole), found)
    shown, warnings = found
    limit = span.limit or MOST
    cap = [f"Only the newest {MOST:,} commits of the range are shown"] * (len(shown) > MOST)
    text = span.text or f"{span.base}..{span.head}"  # not cached: texts differ for the same commits
    empty = [f"The range {name_text(text)} is empty"] * (not shown)
    return shown[-limit:], [*span.warnings, *cap, *empty, *warnings]


def commit(repository: Repository, sha: str, parent: str | None = "first") -> Commit:
    """One commit, against its first parent or another commit (None: against the empty tree).

    A given `parent` becomes `parents[0]` of the result. GitError revision if the object is gone.
    """
    if not output.SHA.fullmatch(sha) or (
        parent not in (None, "first") and not output.SHA.fullmatch(parent)
    ):
        raise unknown(sha)
    key = (repository.common_dir, repository.shallow, sha, parent)
    found = _single.get(key)
    if found is None:
        told = parent == "first" and not (repository.shallow or walled.standing())
        row = rows.get(repository, sha) if told else None
        found = row or _one(repository, sha, parent)
        if found.counted:
            _single.put(key, found)
    return found


def commits_by_sha(
    repository: Repository, shas: Iterable[str], *, counts: bool = False
) -> dict[str, Commit]:
    """Commits by sha, from any history; all of them must exist. At most one git log."""
    wanted = list(dict.fromkeys(shas))
    place = (repository.common_dir, repository.shallow)
    found = {sha: known for sha in wanted if (known := _by_sha.get((*place, sha, counts)))}
    missing = [sha for sha in wanted if sha not in found]
    if missing:
        try:
            news = _of_shas(repository, missing, counts=counts)
        except GitError as error:
            if error.kind == "timeout":
                raise
            news = partial.commits(repository, WALK, FILES, ["--no-walk=unsorted", *missing])[0]
        rows.put(repository, news)
        found |= {new.sha: _by_sha.put((*place, new.sha, counts), new) for new in news}
    return found


def _place(repository: Repository) -> tuple[object, ...]:
    """A cache key of the repository and its objects: in a partial clone, new packs bring
    objects."""
    packs = repository.common_dir / "objects" / "pack"
    arrived = packs.stat().st_mtime_ns if repository.partial else 0
    return (repository.common_dir, repository.shallow, arrived)


def _one(repository: Repository, sha: str, parent: str | None) -> Commit:
    if objects.kind(repository, sha) != "commit":
        raise unknown(sha)
    try:
        found = _of_shas(repository, [sha])[0]
    except GitError as error:
        if error.kind == "timeout":
            raise
        found = partial.commits(repository, WALK, FILES, ["--no-walk", sha])[0][0]
    if parent == "first":
        return found
    data = repository.run(
        "diff-tree", "-r", "--raw", "--numstat", "-z", "--no-abbrev", "-M", "-l1000",
        "--no-ext-diff", "--no-textconv", "--diff-algorithm=myers", "--end-of-options",
        parent or repository.empty_tree, sha, "--",
    )  # fmt: skip
    others = tuple(other for other in found.parents if other != parent)
    return replace(
        found, parents=(parent, *others) if parent else (), files=output.files(data), counted=True
    )


def _read(
    repository: Repository, span: Range, counts: bool, meanwhile: Callable[[], object]
) -> tuple[list[Commit], list[str]]:
    """All commits and the shas of those with missing objects."""
    walk = [f"-n{span.limit or MOST + 1}", "--end-of-options", span.head_sha]
    walk += [f"^{span.base_sha}"] if span.base_sha else []
    try:
        ends = _straight(repository, span)
        seen = rows.of_head(repository, span.head_sha)
        if seen or (counts and _follows(repository, span.head_sha)):
            return _load(repository, ends or _list_ends(repository, walk), counts=counts), []
        if ends:
            shas = [sha for sha, _ in ends]
            found = _of_shas(repository, shas, counts=counts, meanwhile=meanwhile)
            rows.put(repository, found)
            return found, []
        told = aside(repository.run, *LOG, *(["--numstat"] if counts else []), *walk)
        meanwhile()
        data = told.result()
    except GitError as error:
        if error.kind != "failed":
            raise
        return partial.commits(repository, WALK, FILES, walk)
    found = list(output.commits(data))
    rows.put(repository, found)
    return found, []


def _follows(repository: Repository, sha: str) -> bool:
    """Whether a parent of the commit has been counted, as after a commit or an amend. Counting the
    whole range again would take longer than asking which commits are new."""
    (parents,) = objects.parents(repository, [sha])
    return any(rows.of_head(repository, one) for one in parents)


def _straight(repository: Repository, span: Range) -> Sequence[rows.Ends]:
    """The commits of a short range, oldest first, from a long-running git. Empty if the range is
    long, or if it or its base has a merge since they diverged."""
    if repository.shallow:
        return []
    line = ancestry.straight(repository, span.head_sha, min(span.limit or SHORT, SHORT))
    if span.base_sha is None:
        return line[::-1] if len(line) == span.limit else []
    above, base = [parent for _, parent in line], {span.base_sha}
    if span.base_sha not in above:
        base |= {parent for _, parent in ancestry.straight(repository, span.base_sha, SHORT)}
    if span.head_sha in base:
        return []
    end = next((at for at, parent in enumerate(above, 1) if parent in base), 0)
    return line[:end][::-1]


def _list_ends(repository: Repository, walk: list[str]) -> list[rows.Ends]:
    """The commits of any range, oldest first."""
    told = repository.run("rev-list", "--parents", "--topo-order", "--reverse", *walk)
    split = (line.split(" ") for line in told.decode().splitlines())
    return [(sha, parents[0] if parents else None) for sha, *parents in split]


def _load(repository: Repository, ends: Sequence[rows.Ends], *, counts: bool) -> list[Commit]:
    """These commits, from their rows; git is asked only for those without a row."""
    known = rows.get_many(repository, ends)
    missing = [one for one in ends if one not in known]
    if missing:
        news = _of_shas(repository, [sha for sha, _ in missing], counts=counts)
        rows.put(repository, news)
        known |= dict(zip(missing, news, strict=True))
    return [known[one] for one in ends]


def _of_shas(
    repository: Repository,
    shas: Sequence[str],
    *,
    counts: bool = True,
    meanwhile: Callable[[], object] = tuple,
) -> list[Commit]:
    """These commits: a few from a long-running git; otherwise, or if that fails, from one log."""
    lines, more = "".join(f"{sha}\n" for sha in shas), ["--numstat"] if counts else []
    if len(shas) <= SHORT and not repository.shallow:
        with contextlib.suppress(staying.Died):
            with staying.answer(repository, (*STAYS, *more), lines) as told:
                meanwhile()
                found = list(output.commits(b"".join(told)))
            if len(found) == len(shas):
                return found
    data = repository.run(*LOG, *more, "--no-walk=unsorted", "--stdin", stdin=lines.encode())
    return list(output.commits(data))


def _warnings(repository: Repository, found: Sequence[Commit], missing: Iterable[str]) -> list[str]:
    warnings = []
    if repository.shallow:
        cut = [commit.sha[:7] for commit in found if commit.edge]
        seems = f"; {', '.join(cut[:5])} only seems to add every file" if cut else ""
        warnings.append(f"The clone is shallow: it has no older commits{seems}")
    if lacking := list(missing):
        some = ", ".join(sha[:7] for sha in lacking[:5])
        warnings.append(f"Objects are missing here, so counts are incomplete: {some}")
    return warnings
