"""Ids of threads and comments: minted once, stable, unique in their file."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # base 32 without letters that look like digits
FORM = re.compile(r"[A-Za-z0-9_.-]{1,64}(?:~[0-9]{1,4})?")


def mint(prefix: str, taken: Collection[str]) -> str:
    """Return a new id such as `t-7f3k9qd2`."""
    while True:
        made = f"{prefix}-" + "".join(secrets.choice(ALPHABET) for _ in range(8))
        if made not in taken:
            return made


class Namer:
    """The ids of one kind in one file. Written ids are claimed before missing ones are derived, so
    that the id of one thread never depends on threads without an id."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._seen: dict[str, int] = {}

    def claim(self, written: str) -> str:
        """The written id; if it is taken by an earlier thread or comment, `<id>~2` and so on."""
        name, ordinal = written, 2
        while name in self._taken:
            name, ordinal = f"{written}~{ordinal}", ordinal + 1
        self._taken.add(name)
        return name

    def derive(self, *parts: object) -> str:
        """`h-` and 10 hex digits of the hash of `parts`; equal ones differ by their order."""
        text = "\0".join("" if part is None else str(part) for part in parts)
        ordinal = self._seen[text] = self._seen.get(text, 0) + 1
        digest = hashlib.sha256(f"{text}\0{ordinal}".encode(errors="replace")).hexdigest()
        return self.claim(f"h-{digest[:10]}")
