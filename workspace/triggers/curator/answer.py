"""What a curation pass answers: two parts in tags, and nothing else.

    <overview>
    the whole new OVERVIEW.md
    </overview>
    <changelog>
    - one new entry per line, nothing to add = no line
    </changelog>

Parsed strictly: an answer in any other form writes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workspace.projects.project import CHARACTERS_PER_TOKEN

TAGS = ("<overview>", "</overview>", "<changelog>", "</changelog>")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Unreadable(Exception):
    """The answer cannot be used; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Answer:
    overview: str  # ends with a line break
    entries: tuple[str, ...]  # lines of new entries, the newest first


def read(text: str, *, overview_tokens: int, changelog_tokens: int) -> Answer:
    """The two parts. Raises Unreadable unless the answer is exactly these, within their bounds."""
    text = text.replace("\r\n", "\n")
    if _CONTROL.search(text):
        raise Unreadable("the answer holds control characters")
    lines = text.strip().split("\n")
    if [line.rstrip() for line in lines if line.rstrip() in TAGS] != [*TAGS]:
        raise Unreadable(f"the answer must hold {', '.join(TAGS)} once each, in this order")
    at = [next(n for n, line in enumerate(lines) if line.rstrip() == tag) for tag in TAGS]
    outside = [*lines[: at[0]], *lines[at[1] + 1 : at[2]], *lines[at[3] + 1 :]]
    if any(line.strip() for line in outside):
        raise Unreadable("the answer has text outside its two parts")
    overview = "\n".join(lines[at[0] + 1 : at[1]]).strip()
    if not overview:
        raise Unreadable("the overview is empty")
    entries = _entries(lines[at[2] + 1 : at[3]])
    _check_length("overview", overview, overview_tokens)
    _check_length("changelog", "\n".join(entries), changelog_tokens)
    return Answer(f"{overview}\n", entries)


def _entries(lines: list[str]) -> tuple[str, ...]:
    found = tuple(line.rstrip() for line in lines if line.strip())
    wrong = [line for line in found if not line.startswith(("- ", "  "))]
    if wrong or (found and not found[0].startswith("- ")):
        raise Unreadable('each entry of the changelog must be a line that begins with "- "')
    return found


def _check_length(name: str, text: str, tokens: int) -> None:
    most = tokens * CHARACTERS_PER_TOKEN
    if len(text) > most:
        raise Unreadable(f"the {name} has {len(text)} characters, more than the {most} it may have")
