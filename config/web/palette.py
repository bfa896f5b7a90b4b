"""The destinations of all three parts for the palette, and the badges of the rail.

A part names a module in its AppConfig (`surface`, `palette`) with `destinations()`, the more
important ones first, and `waiting()`. Both only read indexes: they start no process and open no
unknown file. Optional functions let the parts find each other: `folders()`, the directories of this
machine that the part knows; `around(folder)`, destinations about what is in a directory; and
`branches(project)`, destinations that work on a branch, labelled by its name.
"""

from __future__ import annotations

import heapq
import logging
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from rest_framework import serializers as s
from rest_framework.request import Request

from config.errors import Unavailable
from config.web import rest, surfaces

MOST = 30  # places in one answer
MOST_ALIKE = 12  # places of one kind, so that many chats do not crowd out an app of that name
Q_MAX = 200  # characters
NOISE = 0.35  # fraction of the best score; places below it are left out

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Destination:
    """One destination. `path` is a path of its part with a leading slash, or an http(s) address.

    `terms` are searched like the hint, but not shown.
    """

    label: str
    kind: str
    path: str
    hint: str = ""
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Badge:
    """How many things of a part wait for a person; `label` is the text after the number.

    `urgent`: something is blocked until a person acts."""

    count: int
    label: str
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that a part knows; `source` is the part's own word for why it knows it."""

    path: str
    source: str


class DestinationQuery(s.Serializer[Any]):
    q = rest.Text(max_length=Q_MAX, required=False, allow_blank=True, help_text="words of a name")


class DestinationShape(s.Serializer[Any]):
    label = s.CharField()  # type: ignore[assignment] # a field, not the field's label
    kind = s.CharField()
    part = s.CharField()
    url = s.CharField()
    hint = s.CharField()


class DestinationList(s.Serializer[Any]):
    places = DestinationShape(many=True)


class BadgeShape(s.Serializer[Any]):
    part = s.CharField()
    count = s.IntegerField()
    label = s.CharField()  # type: ignore[assignment] # a field, not the field's label
    urgent = s.BooleanField()


class BadgeList(s.Serializer[Any]):
    badges = BadgeShape(many=True)


def places(request: Request) -> dict[str, Any]:
    """The answer of GET /api/places: at most 30, best first; without `q` the first of each part.

    A part that cannot answer is left out.
    """
    q = rest.query(request, DestinationQuery).get("q", "")
    scope = getattr(request._request, "scope", {})
    offered = [(part, place) for part in _open(request) for place in _destinations(part)]
    return {"places": [_shape(scope, part, place) for part, place in rank(offered, q)]}


def _shape(scope: surfaces.Scope, part: str, place: Destination) -> dict[str, Any]:
    return {
        "label": place.label,
        "kind": place.kind,
        "part": part,
        "url": _url(scope, part, place.path),
        "hint": place.hint,
    }


def badges(request: Request) -> dict[str, Any]:
    """The answer of GET /api/badges: the badge of each part, those with 0 included."""
    return {
        "badges": [
            {"part": part, **asdict(waiting)}
            for part in _open(request)
            if (waiting := _waiting(part)) is not None
        ]
    }


def folders(request: Request) -> list[Folder]:
    """The directories that the parts know, those of the requested part first."""
    return [one for part in _visible(request) for one in _ask_part(part, "folders")]


def reaches(request: Request, part: str) -> bool:
    """Whether the caller may see that part and can reach it."""
    return part in _open(request)


def around(request: Request, folder: Path) -> list[dict[str, Any]]:
    """Places about what each part has in this directory."""
    scope = getattr(request._request, "scope", {})
    found = [(part, one) for part in _open(request) for one in _ask_part(part, "around", folder)]
    return [_shape(scope, part, place) for part, place in found]


def branches(request: Request, project: str) -> dict[str, str]:
    """Branch name -> address of what works on that branch of this project, such as a chat."""
    scope = getattr(request._request, "scope", {})
    found = [(part, one) for part in _open(request) for one in _ask_part(part, "branches", project)]
    return {one.label: _url(scope, part, one.path) for part, one in found}


def rank(offered: Iterable[tuple[str, Destination]], q: str) -> list[tuple[str, Destination]]:
    """The (part, place) pairs that match every word of `q`, best first.

    A match at the beginning of the label is best, then at the beginning of a word of it, then
    anywhere in it, then in the hint, then as letters in this order. Ties keep the order given.
    """
    words = _fold(q).split()
    if not words:
        return list(_first(offered, MOST // max(1, len({part for part, _ in offered}))))
    scored = ((_score(place, words), n, part, place) for n, (part, place) in enumerate(offered))
    best = heapq.nsmallest(MOST * 10, ((-score, n, p, one) for score, n, p, one in scored if score))
    least = NOISE * -best[0][0] if best else 0.0
    shown: list[tuple[str, Destination]] = []
    kinds: Counter[str] = Counter()
    for score, _, part, place in best:
        if -score >= least and kinds[place.kind] < MOST_ALIKE and len(shown) < MOST:
            kinds[place.kind] += 1
            shown.append((part, place))
    return shown


def _first(
    offered: Iterable[tuple[str, Destination]], each: int
) -> Iterator[tuple[str, Destination]]:
    counts: Counter[str] = Counter()
    for part, place in offered:
        counts[part] += 1
        if counts[part] <= each:
            yield part, place


def _score(place: Destination, words: list[str]) -> float:
    """The score of a place, 0 if a word does not match. A shorter label scores higher."""
    label, rest_of_it = _fold(place.label), _fold(f"{place.hint} {place.terms}")
    total = 0.0
    for word in words:
        fit = max(_fit(label, word), _fit(rest_of_it, word, letters=False) / 3)
        if not fit:
            return 0.0
        total += fit
    if label.startswith(" ".join(words)):
        total += 20
    return total / len(words) + 10 / (1 + len(label))


def _fit(text: str, word: str, *, letters: bool = True) -> float:
    at = text.find(word)
    if at < 0:
        return _subsequence(text, word) if letters else 0.0
    if at == 0:
        return 110.0 if len(text) == len(word) else 100.0
    while at >= 0:
        if not text[at - 1].isalnum():
            return 80.0
        at = text.find(word, at + 1)
    return 50.0


def _subsequence(text: str, word: str) -> float:
    """Score of the word's letters in order, the first one at the beginning of a word of `text`:
    lower the further they are apart, 0 if they do not occur so."""
    if len(word) < 2:
        return 0.0
    start = text.find(word[0])
    while start > 0 and text[start - 1].isalnum():
        start = text.find(word[0], start + 1)
    at = start
    for letter in word[1:] if start >= 0 else "":
        at = text.find(letter, at + 1)
        if at < 0:
            return 0.0
    return 0.0 if start < 0 else 10.0 + 20.0 * len(word) / (at - start + 1)


def _fold(text: str) -> str:
    """The text without case and accents: cafe finds Café."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text)
    return "".join(one for one in parts if not unicodedata.combining(one)).casefold()


def _providers() -> Mapping[str, Any]:
    """The palette module of each part, by the name of its surface."""
    given = [one for one in apps.get_app_configs() if hasattr(one, "palette")]
    modules = {one.surface: one.palette for one in given}  # type: ignore[attr-defined]
    return {name: import_module(modules[name]) for name in surfaces.SURFACES if name in modules}


def _destinations(part: str) -> list[Destination]:
    return _ask_part(part, "destinations")


def _ask_part(part: str, what: str, *about: Any) -> list[Any]:
    """What a function of a part's module returns; [] if it has no such function or it fails."""
    tell = getattr(_providers()[part], what, lambda *_: ())
    try:
        return list(tell(*about))
    except Unavailable:  # the part is still starting
        return []
    except Exception:
        log.exception("the %s of a part are left out", what, extra={"part": part})
        return []


def _waiting(part: str) -> Badge | None:
    try:
        waiting: Badge = _providers()[part].waiting()
    except Unavailable:
        return None
    except Exception:
        log.exception("the badge of a part is left out", extra={"part": part})
        return None
    return waiting


def _open(request: Request) -> list[str]:
    """The parts that the caller may see and can reach, the requested one first."""
    reachable = surfaces.reachable(request._request)
    return [name for name in _visible(request) if name in reachable]


def _visible(request: Request) -> list[str]:
    """The parts that the caller may see, the requested one first: on the main port all of them,
    as it admits everyone to all. The port of a part tells of the others only if no login is
    required, and only a browser on this machine."""
    asked = getattr(request._request, "surface", surfaces.MAIN)
    here = surfaces.of_port(getattr(request._request, "scope", {}))
    names = sorted(_providers(), key=lambda name: name != asked.name)
    if here is surfaces.MAIN:
        return names
    told = surfaces.reachable(request._request) if settings.SVC.auth_mode == "none" else [here.name]
    return [name for name in names if name in told]


def _url(scope: surfaces.Scope, part: str, path: str) -> str:
    if path.startswith("/"):
        return surfaces.absolute_url(scope, surfaces.SURFACES[part], path)
    return path
