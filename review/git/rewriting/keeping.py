"""The refs that a fold moves, and those that keep the previous tips.

`refs/svc/before/<branch>/<id>` is the old tip, `refs/svc/after/<branch>/<id>` the new one, so that
an undo knows whether the branch has moved on; `<id>` is the time of the fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from config.git import command
from config.git.command import GitError
from review.git.refs import HEADS, OURS
from review.git.repository import Repository

BEFORE, AFTER = f"{OURS}/before/", f"{OURS}/after/"
FORM = "%Y%m%dT%H%M%S%f"
FORMAT = "--format=%(refname)%00%(objectname)%00"
QUIET = ("-c", "core.logAllRefUpdates=false")


@dataclass(frozen=True, slots=True)
class Move:
    """One branch that a fold moved from one commit to another; `ref` is its full name."""

    ref: str
    before: str
    after: str

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(HEADS)


def new_id() -> str:
    return datetime.now(UTC).strftime(FORM)[:-3] + "Z"


def time_of(fold: str) -> datetime | None:
    """The time of the fold; None for an invalid id."""
    try:
        return datetime.strptime(f"{fold.removesuffix('Z')}000", FORM).replace(tzinfo=UTC)
    except ValueError:
        return None


def moves_by_fold(repository: Repository) -> dict[str, list[Move]]:
    """The moves of each fold that is still kept, the oldest fold first."""
    told = command.run(repository.path, "for-each-ref", FORMAT, BEFORE, AFTER).decode(
        errors="surrogateescape"
    )
    rows = (line.split("\0")[:2] for line in told.split("\0\n") if line)
    return moves({row[0]: row[1] for row in rows})


def moves(shas: Mapping[str, str]) -> dict[str, list[Move]]:
    """The moves of each fold from refs that were already read: full name -> sha."""
    found: dict[str, list[Move]] = {}
    for name in sorted(shas):
        if not name.startswith(BEFORE):
            continue
        branch, _, fold = name.removeprefix(BEFORE).rpartition("/")
        after = shas.get(f"{AFTER}{branch}/{fold}")
        if after and branch and time_of(fold):
            found.setdefault(fold, []).append(Move(HEADS + branch, shas[name], after))
    return dict(sorted(found.items()))


def keep(repository: Repository, fold: str, moved: Iterable[Move]) -> None:
    """Write both refs of each move, before any branch is moved. GitError."""
    refuse_detours(repository)
    lines = [
        f"create {root}{move.branch}/{fold}\0{sha}\0"
        for move in moved
        for root, sha in ((BEFORE, move.before), (AFTER, move.after))
    ]
    _update(repository, lines, *QUIET)


def move(repository: Repository, moved: Iterable[Move], why: str) -> None:
    """Move all branches, or none unless each is where it is expected. GitError."""
    refuse_detours(repository)
    lines = [f"update {one.ref}\0{one.after}\0{one.before}\0" for one in moved]
    _update(repository, lines, why=why)


def drop(repository: Repository, days: int) -> int:
    """Delete the refs of folds older than `days` days; return how many."""
    before = datetime.now(UTC) - timedelta(days=days)
    old = [
        f"delete {root}{one.branch}/{fold}\0\0"
        for fold, found in moves_by_fold(repository).items()
        if (time := time_of(fold)) and time < before
        for one in found
        for root in (BEFORE, AFTER)
    ]
    if old:
        refuse_detours(repository)
        _update(repository, old, *QUIET)
    return len(old)


def refuse_detours(repository: Repository) -> None:
    """GitError if a link would divert a write: an agent may write `.git` like any other file."""
    below = ("objects", "refs", "refs/heads", OURS, f"{OURS}/before", f"{OURS}/after")
    linked = [name for name in below if (repository.common_dir / name).is_symlink()]
    if linked:
        raise GitError("failed", f"{repository.common_dir / linked[0]} is a link")


def _update(repository: Repository, lines: list[str], *settings: str, why: str = "") -> None:
    told = "".join(lines).encode("utf-8", "surrogateescape")
    reason = ("-m", why) if why else ()
    command.run(repository.path, *settings, "update-ref", *reason, "-z", "--stdin", stdin=told)
