"""People's verdicts on a commit, as read from the mapping `verdicts` of its review file.

A verdict stays with its commit through carry-over, and names the version it was given on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from review.files import times
from review.files.fields import Fields

Word = Literal["approve", "changes", "comment"]
WORDS: tuple[str, ...] = get_args(Word)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`sha` is the version that was judged, `diff` the digest of its change (None if written by
    hand or by an earlier release), `patch_id` the id of the change without context."""

    author: str
    word: str
    at: str | None
    sha: str | None
    patch_id: str | None
    diff: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def parse(value: Any, sha: str, warnings: list[str]) -> tuple[Verdict, ...]:
    """The verdicts in the file of commit `sha`, by person; by hand they may be `ann: approve`."""
    if value is None:
        return ()
    people = Fields(value, '"verdicts"', warnings)
    found = (_one(name, people.raw(name), sha, warnings) for name in people.value)
    return tuple(one for one in found if one is not None)


def _one(author: str, value: Any, sha: str, warnings: list[str]) -> Verdict | None:
    entry = {"verdict": value} if isinstance(value, str) else value
    fields = Fields(entry, f"the verdict of {author}", warnings)
    word = fields.text("verdict")
    if word not in WORDS:
        fields.warn("verdict", "approve, changes or comment")
        return None
    return Verdict(
        author=author,
        word=word,
        at=fields.time("at"),
        sha=fields.hex("sha") or sha,
        patch_id=fields.hex("patch_id_u0"),
        diff=fields.hex("diff"),
        extra=fields.extra(),
    )


def join(first: Iterable[Verdict], second: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """One verdict of each person: the younger one, or the first if that is not known."""
    found = {one.author: one for one in first}
    for one in second:
        known = found.get(one.author)
        if known is None or times.exact(one.at or "") > times.exact(known.at or ""):
            found[one.author] = one
    return tuple(found.values())
