"""Reads one mapping of a hand-made file: text in, typed fields out; never raises.

A field of the wrong type counts as absent and becomes a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from review.files import times

T = TypeVar("T")
Record = TypeVar("Record", bound=Mapping[str, object])
HEX = re.compile(r"[0-9a-f]{4,64}")
NUMBER = re.compile(r"[0-9]{1,9}")
TRUTH = {"true": True, "false": False}
YES_OR_NO = TRUTH | {"yes": True, "no": False, "on": True, "off": False}


class Fields:
    """The mapping `value`, called `where` in warnings. Keys that no method asked for are `extra`.

    `where` is "" for a file that is the only one of its kind.
    """

    def __init__(self, value: Any, where: str, warnings: list[str]) -> None:
        self.value: dict[str, Any] = value if isinstance(value, dict) else {}
        self.where = where
        self.warnings = warnings
        self._known: set[str] = set()
        if value is not None and not isinstance(value, dict):
            warnings.append(f"{where} must be a mapping; it is ignored")

    def raw(self, key: str) -> Any:
        self._known.add(key)
        return self.value.get(key)

    def extra(self) -> dict[str, Any]:
        """Every key that no other method was asked for, with its value from the file."""
        return {key: value for key, value in self.value.items() if key not in self._known}

    def warn(self, key: str, wanted: str) -> None:
        of = f" of {self.where}" if self.where else ""
        self.warnings.append(f'"{key}"{of} must be {wanted}; it is ignored')

    def text(self, key: str) -> str | None:
        """Any scalar as text; blank text counts as absent."""
        return self.read(key, "text", str)

    def words(self, key: str) -> str | None:
        """As `text`, without blanks around it."""
        return self.read(key, "text", str.strip)

    def number(self, key: str, least: int = 1) -> int | None:
        return self.read(key, f"a number from {least}", lambda text: _number(text, least))

    def truth(self, key: str, spelled: Mapping[str, bool] = TRUTH) -> bool | None:
        return self.read(key, "true or false", lambda text: spelled.get(text.lower()))

    def time(self, key: str) -> str | None:
        return self.read(key, "a time such as 2026-11-20T10:00:00Z", times.read)

    def hex(self, key: str) -> str | None:
        """A sha or object id: nothing else may reach git."""
        return self.read(key, "a sha", hex_of)

    def matching(self, key: str, form: re.Pattern[str], wanted: str) -> str | None:
        return self.read(key, wanted, lambda text: text if form.fullmatch(text) else None)

    def hexes(self, key: str) -> tuple[str, ...]:
        """A list of shas; entries that are not shas are left out."""
        return tuple(_valid(map(scalar, self.items(key, "a list of shas"))))

    def items(self, key: str, wanted: str = "a list") -> list[Any]:
        found = self.raw(key)
        if isinstance(found, list):
            return found
        if found is not None:
            self.warn(key, wanted)
        return []

    def read(self, key: str, wanted: str, convert: Callable[[str], T | None]) -> T | None:
        """What `convert` makes of a scalar; None with a warning where it makes None."""
        found = self.raw(key)
        if found is None:
            return None
        text = scalar(found)
        if text is not None and not text.strip():
            return None
        value = None if text is None else convert(text)
        if value is None:
            self.warn(key, wanted)
        return value


def beside(extra: Mapping[str, Any], record: Record) -> Record:
    """The record with the unknown keys of its file; these never hide its own keys."""
    return cast("Record", {**extra, **record}) if extra else record


def scalar(value: Any) -> str | None:
    """A scalar as its text, None for null and for collections."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


def hex_of(text: str) -> str | None:
    lowered = text.strip().lower()
    return lowered if HEX.fullmatch(lowered) else None


def _number(text: str, least: int) -> int | None:
    found = int(text) if NUMBER.fullmatch(text) else -1
    return found if found >= least else None


def _valid(texts: Iterable[str | None]) -> Iterable[str]:
    return (found for text in texts if text and (found := hex_of(text)))
