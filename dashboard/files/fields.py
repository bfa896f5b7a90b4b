"""Read a mapping field by field: every mistake is collected with its position, and none is fatal.

The type of a field is a function that converts the value, or raises Unfit with a sentence that
says what the value must be (convert.py).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from dashboard.files.durations import Unfit

T = TypeVar("T")
Path = tuple[str | int, ...]
Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Issue:
    """One value that is wrong (error) or unusual (warning), and its path."""

    path: Path
    message: str
    level: Level = "error"

    @property
    def where(self) -> str:
        """The path as text: `service.env.PORT`, `links[0].url`."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return text or "body"


@dataclass(slots=True)
class Fields:
    """One mapping. `texts` is the same mapping with every scalar as it is written in the file."""

    value: Mapping[str, Any]
    texts: Mapping[str, Any]
    issues: list[Issue] = field(default_factory=list)
    path: Path = ()
    _known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, value: Mapping[str, Any], texts: Mapping[str, Any] | None = None) -> Fields:
        return cls(value, as_texts(value) if texts is None else texts)

    def read(self, key: str, convert: Callable[[Any], T]) -> T | None:
        """The value converted by `convert`; None when it is absent, null or wrong."""
        return self._convert(key, self._raw(key), convert)

    def text(self, key: str, convert: Callable[[str], T]) -> T | None:
        """The value converted from its text in the file: `017`, `1.10` and `no` as they are
        written."""
        value = self._raw(key)
        if value is None:
            return None
        if isinstance(value, dict | list):
            self.wrong("must be text", key)
            return None
        return self._convert(key, self.texts.get(key), convert)

    def texts_of(self, key: str, convert: Callable[[str], T], *, most: int) -> tuple[T, ...]:
        """A list of texts, each converted."""
        value = self._raw(key)
        if value is None:
            return ()
        if not isinstance(value, list) or any(isinstance(one, dict | list) for one in value):
            self.wrong("must be a list of texts", key)
            return ()
        self._limit(value, most, key)
        found = (
            self._convert(key, text, convert, index) for index, text in enumerate(self.texts[key])
        )
        return tuple(one for one in found if one is not None)

    def table(self, key: str) -> Fields | None:
        """The mapping under a key; None when it is absent, null or not a mapping."""
        value = self._raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.wrong("must be a mapping", key)
            return None
        return Fields(value, self.texts[key], self.issues, (*self.path, key))

    def rows(self, key: str, *, most: int) -> list[Fields]:
        """The mappings in a list; an item that is not a mapping is an error and left out."""
        value = self._raw(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong("must be a list", key)
            return []
        self._limit(value, most, key)
        rows = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                at = (*self.path, key, index)
                rows.append(Fields(item, self.texts[key][index], self.issues, at))
            else:
                self.wrong("must be a mapping", key, index)
        return rows

    def entries(self, key: str, convert: Callable[[str], T]) -> dict[str, T]:
        """A mapping whose keys may be any names, and whose values are texts."""
        inner = self.table(key)
        if inner is None:
            return {}
        found = {name: inner.text(name, convert) for name in inner.value}
        return {name: value for name, value in found.items() if value is not None}

    def wrong(self, message: str, *path: str | int, level: Level = "error") -> None:
        self.issues.append(Issue((*self.path, *path), message, level))

    def need(self, key: str) -> None:
        if self.value.get(key) is None:
            self.wrong("is missing", key)

    def finish(self) -> None:
        """Warn of unknown keys; `x-*` are the user's own."""
        for key in self.value:
            if key in self._known or key.startswith("x-"):
                continue
            near = difflib.get_close_matches(key, sorted(self._known), n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            self.wrong(f"is not a known key{hint}", key, level="warning")

    def _raw(self, key: str) -> Any:
        self._known.add(key)
        return self.value.get(key)

    def _convert(self, key: str, value: Any, convert: Callable[[Any], T], *index: int) -> T | None:
        if value is None:
            return None
        try:
            return convert(value)
        except Unfit as error:
            self.wrong(str(error), key, *index)
            return None

    def _limit(self, value: list[Any], most: int, key: str) -> None:
        if len(value) > most:
            self.wrong(f"must have at most {most} items, not {len(value)}", key)


def as_texts(value: Any) -> Any:
    """A value with every scalar as text, as the YAML reader returns it for a file."""
    if isinstance(value, Mapping):
        return {key: as_texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_texts(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str) else str(value)
