"""Fills a repo with its listed commits and stacks, from the matches and landings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from review.git import ancestry, patches
from review.git.commits import Commit
from review.git.log import history
from review.git.refs import HEADS
from review.stacks import assembly, landing, matching, states, status
from review.stacks.assembly import Draft
from review.stacks.branches import branch
from review.stacks.landing import Clues, Trunk
from review.stacks.matching import Matching, Scene
from review.stacks.prs.pr_files import PrFile
from review.stacks.states import Proposal
from review.stacks.values import Item, Landing, Orphan, Repo, Stack
from review.threads.carry.carryover import Match, Shares, Trace

NOWHERE: Mapping[str, str] = MappingProxyType({})
KEPT = 200  # most commits shown that left the range by landing and that no stack lists


def fill(repo: Repo, commits: Sequence[Commit], branches: Mapping[str, str] = NOWHERE) -> Repo:
    """The repo with its items, stacks and orphans. `branches`: a chat's branch, by each commit that
    only it has. GitError when git cannot answer."""
    assert repo.repository is not None
    assert repo.refs is not None
    assert repo.range is not None
    scene = Scene(
        slug=repo.project.slug,
        name=repo.entry.name,
        stacks=repo.entry.stacks,
        repository=repo.repository,
        refs=repo.refs,
        range=repo.range,
        commits=tuple(commits),
    )
    return _Filling(scene, matching.match(scene), repo.counted, branches).fill(repo)


@dataclass(frozen=True, slots=True)
class _Row:
    """A commit on its way to becoming an item."""

    commit: Commit
    pr: PrFile
    pr_source: str | None
    match: Match | None
    trace: Trace
    proposal: Proposal | None


class _Filling:
    def __init__(
        self, scene: Scene, found: Matching, counted: bool, branches: Mapping[str, str]
    ) -> None:
        self.scene = scene
        self.branches = branches
        self.found = found
        self.counted = counted
        self.listed = {
            *(commit.sha for commit in scene.commits),
            *found.kept,
        }
        self.known: dict[str, Commit] = {}
        self.rows = {commit.sha: self._row(commit) for commit in scene.commits}
        self.fixed = set(found.kept)
        self.landed = self._landings()

    def fill(self, repo: Repo) -> Repo:
        order = [*self._kept_landed(), *(commit.sha for commit in self.scene.commits)]
        drafts = assembly.assemble(self.scene.stacks, order, self._find, self.branches)
        items = tuple(
            self._item(sha, draft.n, position)
            for draft in drafts
            for position, sha in enumerate(draft.commits, 1)
        )
        by_sha = {item.commit.sha: item for item in items}
        orphans = self._orphans()
        return replace(
            repo,
            warnings=(*repo.warnings, *self._warnings(len(orphans))),
            items=tuple(by_sha[sha] for sha in order),
            by_sha=by_sha,
            stacks=tuple(self._stack(draft, by_sha) for draft in drafts),
            orphans=orphans,
        )

    def _row(self, commit: Commit) -> _Row:
        match = self.found.match(commit.sha)
        record, source = self.found.states.record(commit.sha, match, self.listed)
        trace = self.found.traces.get(commit.sha) or Trace(commit.sha)
        proposal = None if source else self.found.states.proposal(match, self.listed)
        return _Row(commit, record, source, match, trace, proposal)

    def _find(self, text: str) -> str | None:
        sha = self.found.full.get(text)
        if sha is None or sha in self.listed:
            return sha
        return self.found.matches.by_source.get(sha)

    # landings

    def _landings(self) -> dict[str, Landing]:
        """The landings by sha, of commits in the range and of kept ones outside it."""
        shown = self._inside() | dict(self.found.kept)
        self.known |= {commit.sha: commit for commit in self.scene.commits}
        wanted = {landed for landed, _ in shown.values()} | self.found.kept.keys()
        there = ancestry.resolve(self.scene.repository, sorted(wanted - self.known.keys()))
        found = sorted({*there.values()} - self.known.keys())
        self.known |= history.commits_by_sha(self.scene.repository, found, counts=self.counted)
        return {
            sha: self._landing(sha, there.get(landed, landed), by)
            for sha, (landed, by) in shown.items()
        }

    def _landing(self, sha: str, landed: str, by: str) -> Landing:
        """`landed` may be a short sha if it was written by hand and git has no such commit."""
        commit = self.known.get(landed)
        recorded = self.found.states.get(sha).pr
        said = recorded.landed if recorded else None
        at = commit.committed if commit else said["at"] if said else None
        return Landing(landed, at, by, commit)

    def _inside(self) -> dict[str, tuple[str, str]]:
        """(landed sha, evidence) by sha, for the commits of the range that landed."""
        tips = self.scene.range.trunk_shas
        outside = landing.outside(tips, self.scene.commits)
        trunk, equal = self._trunk(outside), self._equal(outside)
        self.fixed |= trunk.ancestors
        return {
            sha: how
            for sha, row in self.rows.items()
            if (how := landing.evidence(self._clues(row, equal.get(sha)), trunk))
        }

    def _trunk(self, outside: Sequence[str]) -> Trunk:
        shas = self.rows.keys()
        tips = [tip for tip in self.scene.range.trunk_shas if tip in shas or tip in outside]
        tips = [tip for tip in tips if tip != self.scene.range.base_sha]
        ancestors = ancestry.reachable(self.scene.repository, shas, tips)
        clued = any(
            row.commit.change_id or (row.pr.github or {}).get("number")
            for row in self.rows.values()
        )
        if not outside or not clued:
            return Trunk(ancestors)
        commits = landing.since(self.scene.repository, outside, self.scene.range.head_sha)
        return landing.index_trunk(commits, ancestors)

    def _equal(self, outside: Sequence[str]) -> Mapping[str, str]:
        if not outside or not self.rows:
            return {}
        return patches.find_landed(self.scene.repository, self.scene.range)

    def _clues(self, row: _Row, equal: str | None) -> Clues:
        return Clues(
            row.commit.sha,
            recorded=row.pr.landed["sha"] if row.pr.landed else None,
            change_id=row.commit.change_id,
            equal=equal,
            number=(row.pr.github or {}).get("number"),
        )

    def _kept_landed(self) -> list[str]:
        """Landed commits that left the range, oldest landing first; at most KEPT unlisted ones."""
        places = {
            self.found.full[text]: at
            for at, text in enumerate(self._texts())
            if text in self.found.full
        }

        def age(sha: str) -> tuple[str, int, str]:
            return (self.landed[sha].at or "", places.get(sha, -1), sha)

        kept = sorted(self.found.kept, key=age)
        unlisted = [sha for sha in kept if sha not in places]
        dropped = set(unlisted[: max(0, len(unlisted) - KEPT)])
        self.listed -= dropped
        for sha in kept:
            if sha not in dropped:
                self.rows[sha] = self._row(self._kept_commit(sha))
        return [sha for sha in kept if sha not in dropped]

    def _texts(self) -> list[str]:
        return [text for entry in self.scene.stacks for text in entry.commits or ()]

    def _kept_commit(self, sha: str) -> Commit:
        """The commit itself or, if its object is gone, what its file recorded of it, with the diff
        that it landed with.
        """
        if sha in self.known:
            return self.known[sha]
        landed = self.landed[sha].commit
        known = self.found.states.get(sha).fingerprint
        author, subject = known.author if known else None, known.subject if known else None
        return Commit(
            sha=sha,
            parents=landed.parents if landed else (),
            subject=subject or (landed.subject if landed else ""),
            body=landed.body if landed else "",
            author_name=landed.author_name if landed else author or "",
            author_email=author or (landed.author_email if landed else ""),
            authored=(known.authored if known else None) or (landed.authored if landed else ""),
            committed=landed.committed if landed else "",
            change_id=known.change_id if known else None,
            files=landed.files if landed else (),
        )

    # items and stacks

    def _item(self, sha: str, stack: int, position: int) -> Item:
        row, landed = self.rows[sha], self.landed.get(sha)
        effective = status.effective(
            row.pr.status,
            status_over=row.pr.status_over,
            github=row.pr.github,
            landed_sha=landed.sha if landed else None,
        )
        return Item(
            commit=row.commit,
            shown_commit=(landed.commit if landed else None) or row.commit,
            stack=stack,
            position=position,
            match=row.match,
            pr=row.pr,
            pr_source=row.pr_source,
            landed=landed,
            status=effective,
            branch=branch(
                row.pr.branch,
                sha=sha,
                status=effective,
                refs=self.scene.refs,
                shared=self._shared_branches(),
            ),
            github=status.github(row.pr.github),
            trace=row.trace,
            shares=self.found.matches.shares.get(sha, Shares()),
            proposal=row.proposal,
            fixed=sha in self.fixed,
        )

    def _shared_branches(self) -> tuple[str | None, ...]:
        head = self.scene.range.head
        if head == "HEAD":
            head = (self.scene.refs.head_ref or "").removeprefix(HEADS)
        return (head, self.scene.range.trunk)

    def _stack(self, draft: Draft, by_sha: Mapping[str, Item]) -> Stack:
        entry = draft.entry
        commits = [by_sha[sha].commit for sha in draft.commits]
        return Stack(
            n=draft.n,
            title=entry.title if entry else draft.branch,
            color=draft.color,
            description=entry.description if entry else None,
            commits=tuple(draft.commits),
            warning=draft.warning,
            follow_on=bool(entry and entry.follow_on),
            weight=sum(one.additions + one.deletions for one in commits) if self.counted else None,
            entry_index=entry.index if entry else None,
            branch=draft.branch,
        )

    def _orphans(self) -> tuple[Orphan, ...]:
        return tuple(orphan for sha in self.found.matches.orphans if (orphan := self._orphan(sha)))

    def _orphan(self, sha: str) -> Orphan | None:
        """The orphan of a sha; None if it is only in a stack list: then the stack warns of it."""
        state = self.found.states.get(sha)
        if state.file is None:
            return None
        threads = state.review.conversations if state.review else ()
        commit, known = self.found.commits.get(sha), state.fingerprint
        return Orphan(
            sha=sha,
            subject=commit.subject if commit else known.subject if known else None,
            file=str(state.file),
            conversations=tuple(threads),
            candidates=self.found.matches.candidates.get(sha, ()),
            drafted=self.found.states.drafted_shas(sha),
        )

    def _warnings(self, orphans: int) -> list[str]:
        told = []
        if orphans:
            told.append(
                "1 review matches no commit"
                if orphans == 1
                else f"{orphans} reviews match no commit"
            )
        lost = states.unseen(self.found.states, self.listed)
        return [*told, *lost, *self.found.matches.warnings]
