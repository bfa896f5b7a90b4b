"""Patterns of .gitattributes, matched in bounded time whatever the pattern.

A pattern without a slash matches the name in any folder. `**/` matches any folders, `**` anything,
`*` anything within one name, `?` and `[...]` one character of a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

FEW = 2  # wildcards that a backtracking expression matches in quadratic time
SHORT = 500  # characters of a path for which quadratic time is short
WALK = 50  # how many times longer than the expression a walk takes, at most
ANY = re.compile(".", re.DOTALL)
NO_SLASH = re.compile("[^/]")
MEMBER = re.compile("(.)-(.)|(.)", re.DOTALL)  # of a set: a range or one character


@dataclass(frozen=True, slots=True)
class _Part:
    """One character, `many` of them, or any `folders`; `test` matches its characters."""

    kind: Literal["one", "many", "folders"]
    test: re.Pattern[str]
    expression: str


class Glob:
    """One pattern, matched against a path relative to the folder of its file."""

    def __init__(self, text: str) -> None:
        text = text.removeprefix("/") if "/" in text else f"**/{text}"
        self.parts: list[_Part] = []
        while text:
            part, text = _next(text)
            self.parts.append(part)
        few = sum(part.kind != "one" for part in self.parts) <= FEW
        whole = "".join(part.expression for part in self.parts)
        self._quick = re.compile(whole, re.DOTALL) if few else None
        self.weight = 1 if few else WALK
        self._many = self._bits(lambda part: part.kind == "many")
        self._folders = self._bits(lambda part: part.kind == "folders")
        self._taking: dict[str, int] = {}

    def matches(self, path: str) -> bool:
        if self._quick is not None and len(path) <= SHORT:
            return self._quick.fullmatch(path) is not None
        return self._walk(path)

    def _walk(self, path: str) -> bool:
        """Follow all alternatives at once, with a bit for each part that may come next, so that the
        time depends on the path's length, whatever the pattern."""
        wild = self._many | self._folders
        here = self._skip_wild(1, wild)
        for char in path:
            taking = self._taking.get(char)
            if taking is None:
                taking = self._bits(lambda part: part.test.match(char) is not None)  # noqa: B023
                self._taking[char] = taking
            here &= taking
            here = (here & wild) | (here & ~wild) << 1
            here = self._skip_wild(here, wild if char == "/" else self._many)
            if not here:
                return False
        return bool(here >> len(self.parts) & 1)

    def _bits(self, of: Callable[[_Part], bool]) -> int:
        return sum(1 << at for at, part in enumerate(self.parts) if of(part))

    @staticmethod
    def _skip_wild(here: int, wild: int) -> int:
        """Add the parts that may come next if these wildcards match nothing more."""
        while (more := here | (here & wild) << 1) != here:
            here = more
        return here


def _next(text: str) -> tuple[_Part, str]:
    """The first element of a pattern, and the rest of the pattern."""
    if text.startswith("**/"):
        while text.startswith("**/"):
            text = text[3:]
        return _Part("folders", ANY, "(?:.*/)?"), text
    if text.startswith("**"):
        return _Part("many", ANY, ".*"), text.lstrip("*")
    if text.startswith("*"):
        return _Part("many", NO_SLASH, "[^/]*"), text[1:]
    if text.startswith("?"):
        return _Part("one", NO_SLASH, "[^/]"), text[1:]
    if text.startswith("\\") and len(text) > 1:
        return _one(re.escape(text[1])), text[2:]
    if text.startswith("["):
        end = text.find("]", 3 if text[1:2] in {"!", "^"} else 2)
        return (_set(text[1:end]), text[end + 1 :]) if end > 0 else (NOTHING, "")
    return _one(re.escape(text[0])), text[1:]


def _one(expression: str) -> _Part:
    return _Part("one", re.compile(expression, re.DOTALL), expression)


def _set(inside: str) -> _Part:
    """`[abc]`, `[a-z]`, `[!a]`."""
    negated = inside[0] in "!^"
    inner = "".join(_ranges(inside[1:] if negated else inside))
    return _one(f"(?!/)[{'^' if negated else ''}{inner}]")


def _ranges(inside: str) -> Iterator[str]:
    """The characters and ranges of a set as an expression; of a range that ends before it begins,
    as in git, only its first character."""
    for first, last, alone in MEMBER.findall(inside):
        ends = (first, last) if first < last else (alone or first,)
        yield "-".join(map(re.escape, ends))


NOTHING = _one("(?!)")  # what a set without an end matches
