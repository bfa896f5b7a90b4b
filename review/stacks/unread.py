"""What the files of a repo say while its repository cannot be read.

Nothing that was said is lost with a directory that was moved or is not mounted: threads are shown
and counted as in their files, placed on no commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

from review import files
from review.stacks import states
from review.stacks.states import ReviewStates
from review.stacks.values import Orphan, Repo
from review.threads.carry import lineage
from review.threads.carry.carryover import Trace


class Unreadable(TypedDict):
    repo: str
    sha: str
    file: str
    error: str


def orphans(slug: str, repo: str, reason: str) -> tuple[Orphan, ...]:
    """Every review with a thread or a draft, except those that another one has taken over."""
    known = states.read(slug, repo, _full(states.stems(slug, repo)))
    made = (_orphan(known, sha, reason) for sha in _current(known))
    return tuple(orphan for orphan in made if orphan.conversations or orphan.drafted)


def broken(repo: Repo) -> Iterator[Unreadable]:
    """Yield each review or PR file that cannot be read either."""
    slug, name = repo.project.slug, repo.entry.name
    for kind in files.KINDS:
        for found in files.read_all(slug, kind, name):
            if found.error:
                sha, file = found.path.stem, str(found.path)
                yield {"repo": name, "sha": sha, "file": file, "error": found.error}


def _full(names: set[str]) -> Mapping[str, str]:
    """The full name of each name, if it is the beginning of exactly one full name."""
    whole = [name for name in names if len(name) in (40, 64)]
    hits = {name: [one for one in whole if one.startswith(name)] for name in names}
    return {name: found[0] for name, found in hits.items() if len(found) == 1}


def _current(known: ReviewStates) -> list[str]:
    traces = {sha: Trace(sha, carried=known.carried_from(sha)) for sha in sorted(known.by_sha)}
    heads = lineage.Chains(traces).heads
    return [sha for sha in traces if heads[sha] == sha]


def _orphan(known: ReviewStates, sha: str, reason: str) -> Orphan:
    state = known.get(sha)
    said = state.fingerprint
    return Orphan(
        sha=sha,
        subject=said.subject if said else None,
        file=str(state.file),
        conversations=state.review.conversations if state.review else (),
        reason=reason,
        drafted=known.drafted_shas(sha),
    )
