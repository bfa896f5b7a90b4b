"""Fold the fixups of a stack into the commits they amend, and undo that.

All objects are written before any ref moves, and the final tree must be the same as before, file
for file. So no index and no work tree has to be updated, and a failure changes nothing. See
docs/design/review.md#apply-and-fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, TypedDict

from django.conf import settings

from config.errors import Conflict, Invalid, NotFound, printable
from config.git.command import GitError
from review import projects
from review.files import times
from review.git.commits import shown_path
from review.git.refs import HEADS
from review.git.rewriting import autosquash, keeping, raw, replay
from review.git.rewriting.autosquash import Fold
from review.git.rewriting.keeping import Move
from review.git.rewriting.replay import Clash, Replayed
from review.stacks.folding import ground as grounds
from review.stacks.folding.ground import Ground
from review.stacks.values import Repo, Stack

DAYS = 30  # for which a fold's refs are kept if checkpoints are off
SHOWN = 10  # files named in a message


class MovedBranch(TypedDict):
    branch: str
    before: str
    after: str


class Folded(TypedDict):
    """`id` names the fold for `undo`; `folded` counts the commits that were folded into others."""

    id: str
    at: str | None
    folded: int
    branches: list[MovedBranch]


def fold(project: str, repo: str, n: int) -> Folded:
    """Fold the fixups of the commits of stack `n`. NotFound; Conflict with what prevents it."""
    with grounds.held(project, repo, lambda found: _stack(found, n)) as ground:
        stack = _stack(ground.found, n)
        within = set(stack.commits)
        folds = [one for one in autosquash.folds(ground.chain) if one.target in within]
        if not folds:
            raise Conflict(_nothing(ground, stack), code="nothing_to_fold")
        made = _replay(ground, folds)
        moves = _moves(ground, made)
        grounds.check_moves(ground, moves)
        fold = keeping.new_id()
        keeping.keep(ground.repository, fold, moves)
        _move(ground, moves, f"fold: {len(folds)} into stack {n}")
        with suppress(GitError):
            keeping.drop(ground.repository, _days())
        return _render(fold, moves, len(folds))


def undo(project: str, repo: str, fold: Any) -> Folded:
    """Move every branch of a fold back to where it was. Conflict if one has moved on since."""
    if not isinstance(fold, str):
        raise Invalid('"id" is required: that of a fold')
    with grounds.held(project, repo, lambda now: _stack_of(now, fold)) as ground:
        found = keeping.moves_by_fold(ground.repository).get(fold)
        if not found:
            raise NotFound(f"No fold {printable(fold, 40)} is kept in this repository")
        assert ground.found.refs is not None
        for move in found:
            now = ground.found.refs.shas.get(move.ref)
            if now != move.after:
                raise Conflict(_moved_on(move, fold, now), code="changed")
        back = [Move(move.ref, move.after, move.before) for move in found]
        grounds.check_moves(ground, back)
        _move(ground, back, "fold: undo")
        return _render(fold, back, 0)


def _stack(found: Repo, n: int) -> Stack:
    for stack in found.stacks:
        if stack.n == n:
            return stack
    raise NotFound(f"Repo {found.entry.name} has no stack {n}")


def _stack_of(found: Repo, fold: str) -> Stack | None:
    """The stack of a chat's branch that this fold moved; None if it moved no such branch."""
    kept = keeping.moves(found.refs.ours) if found.refs else {}
    moved = {move.branch for move in kept.get(fold, [])}
    return next((stack for stack in found.stacks if stack.branch in moved), None)


def _nothing(ground: Ground, stack: Stack) -> str:
    """Why there is nothing to fold, as a sentence."""
    loose = [
        one.subject
        for sha in stack.commits
        if autosquash.act_of((one := ground.found.by_sha[sha].commit).subject)
    ]
    if loose:
        return (
            f'"{printable(loose[0])}" amends no commit below it down to the next merge, or to '
            "what has landed; reword it to begin with the subject of one."
        )
    return f"No commit amends one of stack {stack.n}: there is nothing to fold."


def _replay(ground: Ground, folds: Sequence[Fold]) -> Replayed:
    """Replay the chain from the lowest target on. Conflict if it fails or ends in another tree."""
    targets = {one.target for one in folds}
    shas = [one.sha for one in ground.chain]
    first = min(shas.index(target) for target in targets)
    chain = raw.read(ground.repository, shas[first:])
    try:
        made = replay.replay(ground.repository, chain, folds, grounds.committer(ground.repository))
    except Clash as clash:
        raise _clash(ground, clash.sha, [shown_path(path) for path in clash.paths]) from None
    if made.tree != chain[-1].tree:
        raise Conflict(
            "Folded, the files of the branch would end otherwise than they are now; nothing was "
            "changed. Fold by hand with git rebase -i --autosquash.",
            code="fold_conflict",
        )
    return made


def _clash(ground: Ground, sha: str, paths: list[str]) -> Conflict:
    subject = printable(ground.found.by_sha[sha].commit.subject)
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return Conflict(
        f'{sha[:7]} "{subject}" conflicts in {", ".join(paths[:SHOWN])}{more}: what it changes '
        "depends on commits between. Nothing was changed; fold by hand with git rebase -i "
        "--autosquash.",
        code="fold_conflict",
        extra={"sha": sha, "files": paths},
    )


def _moves(ground: Ground, made: Replayed) -> list[Move]:
    """The moves of all branches that end in the chain, also at lower commits of a stack."""
    assert ground.found.refs is not None
    return [
        Move(ref, sha, made.made[sha])
        for ref, sha in sorted(ground.found.refs.shas.items())
        if ref.startswith(HEADS)
        and ref not in ground.found.refs.symbolic
        and made.made.get(sha, sha) != sha
    ]


def _move(ground: Ground, moves: Sequence[Move], why: str) -> None:
    try:
        keeping.move(ground.repository, moves, why)
    except GitError as error:
        if error.kind != "failed":
            raise
        raise Conflict(
            f"Branch {ground.branch} could not be moved, and stays as it was: {error.text}",
            code="changed",
        ) from None


def _moved_on(move: Move, fold: str, now: str | None) -> str:
    where = f"is at {now[:7]}" if now else "is gone"
    return (
        f"Branch {move.branch} moved on since the fold: it {where}, the fold left it at "
        f"{move.after[:7]}. What it was is kept as {keeping.BEFORE}{move.branch}/{fold}; "
        "git rebase --onto that ref brings over what came since."
    )


def drop_old(slugs: Iterable[str]) -> None:
    """Delete the old refs of folds in these projects; called when the server starts."""
    for slug in slugs:
        with suppress(NotFound):
            for entry in projects.get(slug).repos:
                with suppress(GitError):
                    keeping.drop(projects.open_at(entry.path), _days())


def _days() -> int:
    return settings.SVC.checkpoint_days or DAYS


def _render(fold: str, moves: Sequence[Move], count: int) -> Folded:
    at = keeping.time_of(fold)
    return {
        "id": fold,
        "at": times.of(at) if at else None,
        "folded": count,
        "branches": [
            {"branch": move.branch, "before": move.before, "after": move.after} for move in moves
        ],
    }
