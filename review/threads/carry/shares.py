"""Where threads are shown that several files have: each on one commit only.

A file that took others over has copies of their threads. While the commit they began on is listed
on its own again, because a fold was undone or a dropped commit was picked again, they are shown
there, as in the file that spoke for them last, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from review.threads.carry.lineage import Chains, age
from review.threads.carry.traces import Match, Part, Shares


def shares(
    chains: Chains,
    by_commit: Mapping[str, Match],
    ranged: Iterable[str],
    freed: Mapping[str, Part],
) -> dict[str, Shares]:
    """The shares of each commit of the range that has any. `freed`: the parts of commits that a
    stronger rung matched elsewhere."""
    listed = set(ranged)
    found = {}
    for sha in sorted(listed):
        match = by_commit.get(sha)
        parts = tuple(_parts(sha, match, chains, freed))
        elsewhere = _elsewhere(sha, match, parts, chains, listed)
        if parts or elsewhere:
            found[sha] = Shares(parts, elsewhere)
    return found


def _elsewhere(
    sha: str,
    match: Match | None,
    parts: Iterable[Part],
    chains: Chains,
    listed: Collection[str],
) -> frozenset[str]:
    """The commits whose threads its files may have, but that others speak for now; without commits
    that only have copies of its own threads."""
    files = [sha, *((match.sha, *match.also) if match else ())]
    speakers = {sha, *(chains.heads[one] for one in files if one not in listed)}
    speakers |= {part.file for part in parts if part.file == part.origin}
    held = {origin for one in files for origin in chains.descent(one)} & chains.traces.keys()
    return frozenset(
        origin
        for origin in held - set(chains.way(sha))
        if (origin if origin in listed else chains.heads[origin]) not in speakers
        and not any(
            one in files for heir in chains.way(origin) for one in chains.parts.get(heir, ())
        )
    )


def _parts(
    sha: str, match: Match | None, chains: Chains, freed: Mapping[str, Part]
) -> Iterable[Part]:
    head = chains.heads[sha]
    if head != sha and not (match and match.sha == head and match.since):
        yield chains.part(head, sha)
    for back in chains.parts.get(sha, ()):
        if match and back in (match.sha, *match.also):
            yield Part(back, back, age(chains.traces[back]))
    for old in match.shas if match else ():
        if old in freed:
            yield freed[old]
