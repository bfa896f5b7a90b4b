"""Patterns of .gitattributes, matched in a time that no pattern can blow up.

Without a slash a pattern matches the name in any folder; `**/` is any folders, `**` anything,
`*` anything within one name, `?` and `[...]` one character of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

FEW = 2  # wildcards that a backtracking expression settles in a square of the length
ANY = re.compile(".", re.DOTALL)
NO_SLASH = re.compile("[^/]")


@dataclass(frozen=True, slots=True)
class _Part:
    """One character, `many` of them, or any `folders`; `test` says which characters."""

    kind: Literal["one", "many", "folders"]
    test: re.Pattern[str]
    expression: str


class Glob:
    """One pattern, over the path below the folder of its file."""

    def __init__(self, text: str) -> None:
        text = text.removeprefix("/") if "/" in text else f"**/{text}"
        self.parts: list[_Part] = []
        while text:
            part, text = _next(text)
            self.parts.append(part)
        few = sum(part.kind != "one" for part in self.parts) <= FEW
        whole = "".join(part.expression for part in self.parts)
        self._quick = re.compile(whole, re.DOTALL) if few else None

    def matches(self, path: str) -> bool:
        if self._quick is not None:
            return self._quick.fullmatch(path) is not None
        return self._walk(path)

    def _walk(self, path: str) -> bool:
        """All ways at once, so that the time is the path's length times the pattern's."""
        here = self._reach({0}, "/")
        for char in path:
            here = self._reach({self._after(at) for at in here if self._takes(at, char)}, char)
            if not here:
                return False
        return len(self.parts) in here

    def _takes(self, at: int, char: str) -> bool:
        return at < len(self.parts) and self.parts[at].test.match(char) is not None

    def _after(self, at: int) -> int:
        return at + (self.parts[at].kind == "one")

    def _reach(self, states: set[int], last: str) -> set[int]:
        """The states, and those that follow when nothing more is taken by a wildcard."""
        found = set(states)
        for at in states:
            while at < len(self.parts) and self._may_end(self.parts[at], last):
                at += 1  # noqa: PLW2901 - walks on from each state
                found.add(at)
        return found

    @staticmethod
    def _may_end(part: _Part, last: str) -> bool:
        return part.kind == "many" or (part.kind == "folders" and last == "/")


def _next(text: str) -> tuple[_Part, str]:
    """The first element of a pattern, and its rest."""
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
    end = text.find("]", 2) if text.startswith("[") else -1
    return (_set(text[1:end]), text[end + 1 :]) if end > 0 else (_one(re.escape(text[0])), text[1:])


def _one(expression: str) -> _Part:
    return _Part("one", re.compile(expression, re.DOTALL), expression)


def _set(inside: str) -> _Part:
    """`[abc]`, `[a-z]`, `[!a]`; a set that makes no sense matches nothing."""
    inner = inside.replace("\\", "\\\\").replace("[", "\\[").replace("&&", "&\\&")
    expression = f"(?!/)[{'^' + inner[1:] if inner[0] in '!^' else inner}]"
    try:
        return _one(expression)
    except re.error:
        return _one("(?!)")
