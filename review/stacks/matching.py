"""Which listed commit each old sha becomes, and which old shas stay listed because they landed.

An old sha has review state or an entry in a stack list, and is not in the range. One that landed
keeps its own place; the others are matched by the rungs of the ladder in carry/.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from config.git.command import GitError
from config.git.pool import Pool
from review.git import ancestry, family, patches
from review.git.commits import Commit
from review.git.log import history
from review.git.patches import Patch
from review.git.ranges import Range
from review.git.refs import Refs
from review.git.repository import Repository
from review.projects.entries import StackEntry
from review.stacks import agents, landing, states
from review.stacks.landing import Clues, Signature, Trunk
from review.stacks.states import ReviewState, ReviewStates
from review.threads.carry import carryover
from review.threads.carry.carryover import Beside, Match, Matches, Trace
from review.threads.carry.lineage import Chains
from review.threads.schema import Fingerprint

NOTHING: Mapping[str, Patch] = {}
CERTAIN = ("lineage", *carryover.CERTAIN)  # rungs that a possible landing does not overrule
BYSTANDERS = 100  # most commits that stood beside gone ones to compare, the newest


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything about one repo that matching starts from; `commits` are those of the range."""

    slug: str
    name: str
    stacks: tuple[StackEntry, ...]
    repository: Repository
    refs: Refs
    range: Range
    commits: tuple[Commit, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The result. `full`: the full sha of each listed text or file name. `kept`: commits that left
    the range by landing, with (landed sha, evidence). `traces` of the range's commits.
    """

    states: ReviewStates
    full: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    commits: Mapping[str, Commit] = field(default_factory=dict)
    matches: Matches = field(default_factory=Matches)
    traces: Mapping[str, Trace] = field(default_factory=dict)

    def match(self, sha: str) -> Match | None:
        return self.matches.by_commit.get(sha)


def match(scene: Scene) -> Matching:
    """Match all old shas of one repo. GitError when git cannot answer."""
    ranged = {commit.sha: commit for commit in scene.commits}
    texts = list(dict.fromkeys(text for entry in scene.stacks for text in entry.commits or ()))
    names = states.stems(scene.slug, scene.name)
    full = _full_names(scene.repository, [*texts, *sorted(names)], ranged)
    listed = {full[text] for text in texts if text in full}
    gone = (listed | {full.get(name, name) for name in names}) - ranged.keys()
    ahead = patches.start(scene.repository, list(ranged)) if gone else dict  # git runs meanwhile
    known = states.read(scene.slug, scene.name, full)
    old = sorted((listed | known.by_sha.keys()) - ranged.keys())
    if not old:
        return Matching(known, full, traces={sha: _trace(one, None) for sha, one in ranged.items()})
    return _Search(scene, known, full, listed, old, ahead=ahead).run()


class _Search:
    """One search; its steps share what they read from git."""

    def __init__(
        self,
        scene: Scene,
        known: ReviewStates,
        full: Mapping[str, str],
        listed: set[str],
        old: Sequence[str],
        *,
        ahead: Callable[[], Mapping[str, Patch]],
    ) -> None:
        self.ahead = ahead
        self.scene = scene
        self.states = known
        self.full = full
        self.listed = listed
        self.old = old
        here = sorted(set(ancestry.resolve(scene.repository, old).values()))
        tips = (*scene.range.trunk_shas, scene.refs.branch(scene.range.trunk or ""))
        self.tips = tuple(dict.fromkeys(tip for tip in tips if tip))
        with Pool(2) as aside:
            used, beside = aside.submit(self._find_used, here), aside.submit(self._beside, here)
            self.objects = history.commits_by_sha(scene.repository, here)
            self.used, self.beside = used.result(), beside.result()

    def run(self) -> Matching:
        landed = self._surely_landed()
        traces, matches = self._ladder(landed)
        if perhaps := self._perhaps_landed(landed, traces, matches):
            landed |= perhaps
            traces, matches = self._ladder(landed)
        kept = {
            sha: how for sha, how in landed.items() if self._keeps(sha, matches.by_commit.get(sha))
        }
        return Matching(self.states, self.full, kept, self.objects, matches, traces)

    def _surely_landed(self) -> dict[str, tuple[str, str]]:
        """Old shas with a record of their landing, and those that the trunk contains unchanged."""
        trunk = Trunk(ancestry.reachable(self.scene.repository, self.objects.keys(), self.tips))
        clues = (Clues(sha, recorded=_landed_sha(self.states.get(sha))) for sha in self.old)
        return {clue.sha: how for clue in clues if (how := landing.evidence(clue, trunk))}

    def _perhaps_landed(
        self, landed: Mapping[str, object], known: Mapping[str, Trace], matches: Matches
    ) -> dict[str, tuple[str, str]]:
        """Shas whose change is on the trunk as another commit, made since the merge base; none that
        certainly became another commit, or whose review another file took over."""
        certain = {
            sha for match in matches.by_commit.values() if match.by in CERTAIN for sha in match.shas
        }
        taken = {sha for sha in self.old if self.chains.heads[sha] != sha} - {*matches.orphans}
        shas = [sha for sha in self.old if sha not in {*landed, *certain, *taken}]
        if not shas or not self.tips:
            return {}
        repository = self.scene.repository
        base = ancestry.merge_base(repository, [*self.tips, *shas])  # None when one is gone
        commits = landing.since(repository, self.tips, base)
        trunk = landing.index_trunk(commits)
        traces = self._traces(shas)
        equal = landing.equals(
            repository, {sha: trace.patch_id for sha, trace in traces.items()}, commits
        )
        signed = self._signatures(matches.orphans, known, trunk)
        clues = (self._clues(sha, equal.get(sha), signed.get(sha)) for sha in shas)
        return {clue.sha: how for clue in clues if (how := landing.evidence(clue, trunk))}

    def _signatures(
        self, orphans: Iterable[str], known: Mapping[str, Trace], trunk: Trunk
    ) -> dict[str, Signature]:
        """What orphans may be recognised by. Nothing but one commit of the trunk may be alike, and
        they never stood in one range with it; no branch leads to them."""
        alike = Counter(map(landing.signature, known.values()))
        signed = {sha: landing.signature(known[sha]) for sha in orphans if not known[sha].used}
        return {
            sha: mark
            for sha, mark in signed.items()
            if mark
            and alike[mark] == 1
            and (to := trunk.by_signature.get(mark))
            and not self.beside.have_met(sha, to)
        }

    @cached_property
    def chains(self) -> Chains:
        """Which file took over which, of all that there are."""
        return Chains(
            {sha: Trace(sha, carried=self.states.carried_from(sha)) for sha in self.states.by_sha}
            | {sha: Trace(sha) for sha in self.listed - self.states.by_sha.keys()}
        )

    def _clues(self, sha: str, equal: str | None, signed: Signature | None) -> Clues:
        state = self.states.get(sha)
        number = (state.pr.github or {}).get("number") if state.pr else None
        commit, print_ = self.objects.get(sha), state.fingerprint
        change_id = commit.change_id if commit else print_.change_id if print_ else None
        return Clues(sha, change_id=change_id, equal=equal, number=number, signed=signed)

    def _find_used(self, here: Sequence[str]) -> frozenset[str]:
        tips = family.used_tips(self.scene.repository, self.scene.refs)
        return ancestry.reachable(self.scene.repository, here, tips)

    def _beside(self, here: Sequence[str]) -> Beside:
        """Which commits stood beside each other, among the old ones and all ever checked out."""
        scene = self.scene
        heads = [scene.range.head, *agents.branches(scene.refs, scene.range)]
        past = family.past_tips(scene.repository, scene.refs, heads)
        tips, alone = [scene.range.head_sha, *past], here
        oldest = scene.commits[0].parents if scene.commits else ()
        below = [scene.range.base_sha] if scene.range.base_sha else oldest
        try:
            found = family.parents(scene.repository, [*tips, *alone], below)
            return Beside(found, tips, alone)
        except GitError as error:
            if error.kind == "timeout":
                raise
            return Beside()  # then no neighbours are known

    def _ladder(self, landed: Mapping[str, object]) -> tuple[dict[str, Trace], Matches]:
        """Match what has not landed. The patch ids in the review files are enough if every source
        finds its commit by them. Only the weaker rungs need the patches themselves and the
        bystanders."""
        sources = [sha for sha in self.old if sha not in landed]
        heirs = self._related(sources, landed)
        remembered = {sha: patch for sha in sources if (patch := self._find_patch(sha))}
        traces, matches = self._climb(sources, heirs, remembered, only_certain=True)
        if matches.orphans:
            beside = self._bystanders(matches.orphans)
            traces, matches = self._climb(sources, heirs, bystanders=beside)
        return traces, matches

    def _related(self, sources: Sequence[str], landed: Mapping[str, object]) -> list[str]:
        """The landed commits whose files were made from those of sources, or the other way."""
        chains, found = self.chains, set[str]()
        for sha in sources:
            found.update(chains.way(sha), chains.descent(sha))
        return [sha for sha in self.old if sha in landed and sha in found]

    def _climb(
        self,
        sources: Sequence[str],
        landed: Sequence[str],
        remembered: Mapping[str, Patch] = NOTHING,
        *,
        bystanders: Sequence[str] = (),
        only_certain: bool = False,
    ) -> tuple[dict[str, Trace], Matches]:
        ranged = [commit.sha for commit in self.scene.commits]
        traces = self._traces([*sources, *landed, *bystanders, *ranged], remembered)
        gone = [
            *(traces[sha] for sha in sources),
            *(replace(traces[sha], bystander=True, carried=None) for sha in bystanders),
        ]
        targets = [traces[sha] for sha in ranged]
        return traces, carryover.match(
            gone, targets, self.beside,
            landed=[traces[sha] for sha in landed], only_certain=only_certain,
        )  # fmt: skip

    def _bystanders(self, gone: Sequence[str]) -> list[str]:
        """Commits without a review that stood beside the gone ones and left the range as well.
        Leaves out states that a gone commit only had during a rebase, as when a fixup is folded
        into it."""
        here = {*self.old, *(commit.sha for commit in self.scene.commits)}
        found = [sha for sha in self.beside.neighbours(gone) if sha not in here][:BYSTANDERS]
        beside = history.commits_by_sha(
            self.scene.repository, found
        )  # git may have pruned one since
        self.objects |= beside
        own = {_authorship(commit) for sha in gone if (commit := self.objects.get(sha))}
        return [sha for sha in found if sha in beside and _authorship(beside[sha]) not in own]

    def _find_patch(self, sha: str) -> Patch | None:
        """The patch ids of a commit as recorded in its own file; None if they are not."""
        known = self.states.get(sha).fingerprint
        if known is None or known.sha != sha or not (known.patch_id and known.patch_id_u0):
            return None
        return Patch(sha, known.patch_id, known.patch_id_u0, known.change_id)

    def _traces(
        self, shas: Sequence[str], remembered: Mapping[str, Patch] = NOTHING
    ) -> dict[str, Trace]:
        ranged = {commit.sha: commit for commit in self.scene.commits}
        commits = {sha: ranged.get(sha) or self.objects.get(sha) for sha in shas}
        known = {**self._of_range, **remembered}
        asked = [sha for sha in shas if commits[sha] and sha not in known]
        made = known | patches.of(self.scene.repository, asked)
        places = self._places()
        return {
            sha: self._make_trace(sha, commit, made.get(sha), places.get(sha))
            for sha, commit in commits.items()
        }

    @cached_property
    def _of_range(self) -> Mapping[str, Patch]:
        return self.ahead()

    def _make_trace(
        self, sha: str, commit: Commit | None, patch: Patch | None, place: tuple[int, int] | None
    ) -> Trace:
        state = self.states.get(sha)
        branch = state.pr.branch if state.pr else None
        seen = _trace(commit, patch) if commit else _recorded_trace(sha, state.fingerprint)
        return replace(
            seen,
            place=place,
            branch_target=self.scene.refs.branch(branch) if branch else None,
            carried=self.states.carried_from(sha),
            written=state.written,
            used=sha in self.used,
            known=self.beside.knows(sha),
            watched=self.beside.is_watched(sha),
        )

    def _places(self) -> dict[str, tuple[int, int]]:
        """(stack, position) by sha. If as many listed shas are gone as commits of the range are
        unlisted, the unlisted ones take the places of the gone ones.
        """
        places: dict[str, tuple[int, int]] = {}
        for n, entry in enumerate(self.scene.stacks, 1):
            for position, text in enumerate(entry.commits or (), 1):
                places.setdefault(self.full.get(text, text), (n, position))
        ranged = [commit.sha for commit in self.scene.commits]
        gone = [place for sha, place in places.items() if sha not in set(ranged)]
        unlisted = [sha for sha in ranged if sha not in places]
        rest = [(len(self.scene.stacks) + 1, at) for at in range(1, len(unlisted) + 1)]
        return places | dict(
            zip(unlisted, gone if len(gone) == len(unlisted) else rest, strict=True)
        )

    def _keeps(self, sha: str, match: Match | None) -> bool:
        """Whether a landed commit has anything to keep: a review, or a stack entry or PR record of
        its own or of what it stands for."""
        said = self.states.get(sha).review
        if said is not None and (said.conversations or said.verdicts):
            return True
        if self.states.drafted_shas(sha):
            return True
        been = [sha, *(match.shas if match else ())]
        return any(one in self.listed or self.states.get(one).pr for one in been)


def _full_names(
    repository: Repository, names: Iterable[str], ranged: Iterable[str]
) -> dict[str, str]:
    """The full sha of each name that has exactly one; commits of the range take precedence."""
    ordered = sorted(ranged)
    full: dict[str, str] = {}
    elsewhere: list[str] = []
    for name in names:
        hits = list(islice(_starting(ordered, name), 2))
        if len(hits) == 1:
            full[name] = hits[0]
        elif not hits:
            elsewhere.append(name)
    full |= {name: name for name in elsewhere if len(name) in (40, 64)}
    return full | ancestry.resolve(repository, (name for name in elsewhere if name not in full))


def _starting(ordered: Sequence[str], prefix: str) -> Iterator[str]:
    """Those of the sorted texts that start with `prefix`."""
    for at in range(bisect_left(ordered, prefix), len(ordered)):
        if not ordered[at].startswith(prefix):
            return
        yield ordered[at]


def _landed_sha(state: ReviewState) -> str | None:
    landed = state.pr.landed if state.pr else None
    return landed["sha"] if landed else None


def _authorship(commit: Commit) -> tuple[object, ...]:
    """What an amend of a branch's last commit keeps: its parents, author, date and subject."""
    return (commit.parents, commit.author_email, commit.authored, commit.subject)


def _trace(commit: Commit, patch: Patch | None) -> Trace:
    return Trace(
        sha=commit.sha,
        subject=commit.subject,
        author=commit.author_email,
        authored=commit.authored,
        change_id=commit.change_id,
        patch_id=patch.patch_id if patch else None,
        patch_id_u0=patch.patch_id_u0 if patch else None,
        lines=patch.lines if patch else None,
    )


def _recorded_trace(sha: str, known: Fingerprint | None) -> Trace:
    """A trace from what the file recorded of a commit whose object is gone."""
    if known is None:
        return Trace(sha)
    return Trace(
        sha=sha,
        subject=known.subject or "",
        author=known.author or "",
        authored=known.authored or "",
        change_id=known.change_id,
        patch_id=known.patch_id,
        patch_id_u0=known.patch_id_u0,
    )
