"""Run a search: words in, places in chats out, each with a snippet that contains the words.

The index finds a place, the transcript has its text: a hit is left out if the file has changed
there. No word of a query is an operator, and only an empty query or too many words are an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from config.errors import Invalid, NotFound, Problem
from workspace.chats import files, transcript
from workspace.chats.lines import decode
from workspace.chats.messages import TranscriptLine, Viewer
from workspace.chats.search import indexing, store
from workspace.chats.search.folding import fold, positions
from workspace.chats.search.store import FoundPassage
from workspace.projects import store as projects
from workspace.projects.project import Project

WORDS = re.compile(r'"([^"]*)"|(\S+)')
MOST_TERMS = 12
_MARKS = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|`{3,}.*$|~{3,}.*$|\|?[ \t:|-]*-{3,}[ \t:|-]*$)"
    r"|\*\*|~~|`+|!?\[(?P<words>[^\]\n]*)\]\([^()\s]*\)",
    re.MULTILINE,
)
_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
BEFORE, AFTER = 60, 160  # characters shown before and after the start of the first hit
CATCH_UP_S = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a snippet, and whether it matches the query."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching message; `shown` is the message as its chat shows it."""

    found: FoundPassage
    shown: TranscriptLine
    snippet: list[Piece]


@dataclass(frozen=True, slots=True)
class Hits:
    """One page, newest first; `indexing` is True while some chats are not fully indexed."""

    hits: list[Hit]
    next: int | None
    indexing: bool


def terms_of(query: str) -> list[str]:
    """The words of a query, folded; text in double quotes is one. Invalid if there are none."""
    words = (quoted or plain for quoted, plain in WORDS.findall(query))
    terms = list(dict.fromkeys(term for word in words if (term := fold(word).strip())))
    if not terms:
        raise Invalid([Problem("q", "must hold a word to look for", "retry")])
    if len(terms) > MOST_TERMS:
        raise Invalid(
            [Problem("q", f"holds {len(terms)} words, at most {MOST_TERMS} are looked for")]
        )
    return terms


def search(
    among: Sequence[Project], query: str, *, only: str | None, limit: int, before: int | None = None
) -> Hits:
    """Messages of these projects that contain every word; with `only`, of that project alone."""
    terms = terms_of(query)
    complete = indexing.catch_up_all(among, within_s=CATCH_UP_S)
    try:
        away = [*projects.others().values_list("slug", flat=True)]
        found = store.find(terms, project=only, without=away, before=before, limit=limit + 1)
    except store.TooLong:
        reason = "is found too often to be looked for; add a rarer word"
        raise Invalid([Problem("q", reason)]) from None
    page = found[:limit]
    hits = [hit for one in page if (hit := _hit(one, terms)) is not None]
    return Hits(hits, page[-1].id if len(found) > limit else None, not complete)


def _hit(found: FoundPassage, terms: Sequence[str]) -> Hit | None:
    """The message at that place; None if the transcript has something else there."""
    try:
        path = str(files.transcript_path(projects.get(found.project), found.chat))
    except NotFound:
        return None
    offset, line = next(transcript.lines_backwards(path, found.offset), (0, b""))
    record = decode(line)
    if record is None or offset != found.offset:
        return None
    shown = Viewer(path).view(offset, record)
    if shown is None or "role" not in shown:
        return None
    text = indexing.text_of(shown)
    snippet = snip(plain(text), terms) or snip(text, terms)
    return Hit(found, shown, snippet) if snippet else None


def plain(text: str) -> str:
    """The text without its Markdown: no marks, code fences or table rules."""
    text = _MARKS.sub(lambda mark: mark["words"] or "", text)
    return _ROW.sub(lambda row: row[0].strip().strip("|").replace("|", "·"), text)


def snip(text: str, terms: Sequence[str]) -> list[Piece]:
    """The text around the first hit, with hits marked; empty if a term does not occur."""
    folded, origins = positions(text)
    places = [folded.find(term) for term in terms]
    if -1 in places:
        return []
    first = origins[min(places)]
    start, end = max(0, first - BEFORE), min(len(text), first + AFTER)
    marks = _marks(folded, origins, terms, start, end)
    pieces = [Piece("…", False)] if start else []
    at = start
    for begin, stop in marks:
        pieces += [Piece(_line(text[at:begin]), False), Piece(_line(text[begin:stop]), True)]
        at = stop
    pieces.append(Piece(_line(text[at:end]), False))
    pieces += [Piece("…", False)] if end < len(text) else []
    return [piece for piece in pieces if piece.text]


def _marks(
    folded: str, origins: Sequence[int], terms: Sequence[str], start: int, end: int
) -> list[tuple[int, int]]:
    """Where the terms occur in the text between start and end; overlapping marks are merged."""
    spans = []
    for term in terms:
        at = folded.find(term)
        while at >= 0 and origins[at] < end:
            if origins[at] >= start:
                spans.append((origins[at], min(end, origins[at + len(term) - 1] + 1)))
            at = folded.find(term, at + len(term))
    merged: list[tuple[int, int]] = []
    for begin, stop in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((begin, stop))
    return merged


def _line(text: str) -> str:
    """The text on one line; white space at either end becomes a space, so that words stay apart."""
    return re.sub(r"\s+", " ", text)
