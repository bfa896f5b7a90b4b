"""What carry-over and placement make of rewritten branches, beside what is true of them."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.replay_histories import Branch, Rewritten, Scratch, branches
from bench.replay_truth import Gone, Truth, Wanted, changed_lines
from review.git import family, log, patches
from review.git.repository import open_repository
from review.reviews import carry, placement
from review.reviews.carry import Beside, Matches, Trace
from review.reviews.placement import Placed
from review.reviews.schema import Comment, Thread, normal_side
from review.reviews.target import Target

CHANGED, UNCHANGED, REMOVED = 3, 2, 2  # threads on added, kept and deleted lines of each commit
RANGES = 0.3  # share of threads on several lines
LONGEST = 5


@dataclass
class Tally:
    """Counts of one repository. `commits` by (kind of rewriting, fate), `rungs` by (rung, fate),
    `threads` by (kind, verdict), `placements` by (placement, verdict)."""

    name: str
    branches: int = 0
    commits: Counter[tuple[str, str]] = field(default_factory=Counter)
    rungs: Counter[tuple[str, str]] = field(default_factory=Counter)
    threads: Counter[tuple[str, str]] = field(default_factory=Counter)
    placements: Counter[tuple[str, str]] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)

    @property
    def counts(self) -> tuple[Counter[tuple[str, str]], ...]:
        return self.commits, self.rungs, self.threads, self.placements

    def add(self, other: Tally) -> None:
        self.branches += other.branches
        for mine, theirs in zip(self.counts, other.counts, strict=True):
            mine.update(theirs)


def replayed(repository: Path, most: int, seed: int) -> Tally:
    """Up to `most` branches of one repository, each rewritten in every way."""
    chance = Random(f"{seed} {repository.name}")
    tally = Tally(repository.name)
    with tempfile.TemporaryDirectory(prefix="svc-replay-") as folder:
        scratch = Scratch(repository, Path(folder) / "clone")
        for branch in branches(repository, most, chance):
            tally.branches += 1
            for rewritten in scratch.rewritten(branch, chance):
                _Replay(scratch.folder, branch, rewritten, tally).measure(chance)
    return tally


class _Replay:
    """One branch rewritten in one way."""

    def __init__(self, folder: Path, branch: Branch, done: Rewritten, tally: Tally) -> None:
        self.folder = folder
        self.branch = branch
        self.done = done
        self.tally = tally
        self.repository = open_repository(folder)
        heirs = {old: min(new) for old, new in done.fates.items() if len(new) == 1}
        self.truth = Truth(folder, heirs)

    def measure(self, chance: Random) -> None:
        tips = (self.branch.commits[-1], self.done.commits[-1])
        below = (self.branch.base, self.branch.onto)
        matches = carry.match(
            list(self._traces(self.branch.commits)),
            list(self._traces(self.done.commits)),
            Beside(family.parents(self.repository, tips, below), tips),
        )
        self._count_commits(matches)
        for old in self.branch.commits:
            new = matches.by_source.get(old)
            if new in self.done.fates[old] and new is not None:
                self._count_threads(old, new, chance)

    def _traces(self, shas: tuple[str, ...]) -> Iterator[Trace]:
        made = patches.of(self.repository, shas)
        for position, sha in enumerate(shas, 1):
            commit, patch = log.commit(self.repository, sha), made[sha]
            yield Trace(
                sha=sha,
                subject=commit.subject,
                author=commit.author_email,
                authored=commit.authored,
                change_id=commit.change_id,
                patch_id=patch.patch_id,
                patch_id_u0=patch.patch_id_u0,
                lines=patch.lines,
                place=(1, position),
            )

    def _count_commits(self, matches: Matches) -> None:
        found = matches.by_source
        for old, fates in self.done.fates.items():
            new = found.get(old)
            match = matches.by_commit[new] if new else None
            rung = "none" if match is None else match.by if match.sha == old else "absorbed"
            fate = (
                "right"
                if new in fates or not (new or fates)
                else "missed"
                if new is None
                else "wrong"
            )
            self.tally.commits[self.done.kind, fate] += 1
            self.tally.rungs[rung, fate] += 1
            if fate != "right":
                self.tally.odd.append(
                    f"{self.done.kind} {fate} {rung}: {old} -> {new} not {set(fates)}"
                )

    def _count_threads(self, old: str, new: str, chance: Random) -> None:
        before, after = self._target(old), self._target(new)
        threads = list(self._threads(before, chance))
        for thread, placed in zip(threads, placement.place(after, threads), strict=True):
            fact = self._fact(thread, before, after)
            verdict = _verdict(placed, fact)
            self.tally.threads[self.done.kind, verdict] += 1
            self.tally.placements[placed.placement, verdict] += 1
            if verdict not in ("right", "unknown"):
                self.tally.odd.append(
                    f"{self.done.kind} {verdict}: {self.folder} {old} -> {new} {thread.side}"
                    f" {thread.path}:{thread.start_line}-{thread.line} {placed.placement}"
                    f" {placed.path}:{placed.start_line}-{placed.line} truth {fact}"
                )

    def _target(self, sha: str) -> Target:
        commit = log.commit(self.repository, sha)
        return Target("replay", "repo", self.repository, commit, commit, None, Trace(sha))

    def _threads(self, on: Target, chance: Random) -> Iterator[Thread]:
        removed, added = changed_lines(self.folder, on.commit.sha)
        text = {name: len(self.truth.text(on.commit.sha, name) or ()) for name in added}
        kept = {
            name: [line for line in range(1, count + 1) if line not in set(added[name])]
            for name, count in text.items()
        }
        for lines, most, side in (
            (added, CHANGED, "RIGHT"), (kept, UNCHANGED, "RIGHT"), (removed, REMOVED, "LEFT")
        ):  # fmt: skip
            spots = [(name, line) for name, found in lines.items() for line in found]
            for name, line in chance.sample(spots, min(most, len(spots))):
                start = (
                    max(1, line - chance.randrange(1, LONGEST))
                    if chance.random() < RANGES
                    else None
                )
                yield _thread(on, self._shown_path(on, name, side), side, start, line)

    def _shown_path(self, on: Target, name: str, side: str) -> str:
        """Threads on the old side of a renamed file bear its new path."""
        if side == "RIGHT" or any(file.path == name for file in on.commit.files):
            return name
        return next((file.path for file in on.commit.files if file.old_path == name), name)

    def _tree_path(self, on: Target, path: str, side: str) -> str:
        if side == "RIGHT":
            return path
        return next((f.old_path for f in on.commit.files if f.path == path and f.old_path), path)

    def _fact(self, thread: Thread, old: Target, new: Target) -> tuple[str, int, int] | Gone | None:
        assert thread.path is not None
        assert thread.line is not None
        side = normal_side(thread.side)
        before = old.commit.sha if side == "RIGHT" else old.commit.parent
        after = new.commit.sha if side == "RIGHT" else new.commit.parent
        if before is None or after is None:
            return None
        path = self._tree_path(old, thread.path, side)
        wanted = Wanted(before, path, thread.start_line or thread.line, thread.line)
        fact = self.truth.of(wanted, after)
        return (
            (self._shown_path(new, fact[0], side), *fact[1:]) if isinstance(fact, tuple) else fact
        )


def _thread(on: Target, path: str, side: str, start: int | None, line: int) -> Thread:
    return Thread(
        id="t-1", path=path, side=side, line=line, start_line=start,
        start_side=side if start else None, resolved=False, resolved_by=None, resolved_at=None,
        author=None, created_at=None,
        anchor=placement.anchor(on, path, side, line, start, side if start else None),
        comments=(Comment("c-1", "bench", "?", None, None),),
    )  # fmt: skip


def _verdict(placed: Placed, fact: tuple[str, int, int] | Gone | None) -> str:
    """right, or what is wrong: outdated (falsely), kept (falsely), line (elsewhere)."""
    if fact is None:
        return "unknown"
    if fact == "gone":
        return "right" if placed.outdated else "kept"
    if placed.outdated:
        return "outdated"
    return (
        "right" if (placed.path, placed.start_line or placed.line, placed.line) == fact else "line"
    )
