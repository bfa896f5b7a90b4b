"""Entity tags of files: how they are made, and what If-Match requires of them.

Which answers may be 304, and why others never are: docs/design/dashboard.md#entity-tags-of-files
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from dashboard.files import errors

ABSENT = '"absent"'  # of config.yaml and ignore.yaml while they do not exist
TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
LIST = re.compile(rf"[ \t,]*{TAG}(?:[ \t]*,[ \t,]*{TAG})*[ \t,]*")


@dataclass(frozen=True, slots=True)
class Condition:
    """An If-Match header: it requires any existing file, or one whose tag is listed."""

    any: bool
    tags: frozenset[str]

    def holds(self, etag: str | None) -> bool:
        """Whether the condition holds. `etag` is None when the file does not exist. Weak tags
        never match."""
        return etag in self.tags or (self.any and etag not in {None, ABSENT})


def of(data: bytes) -> str:
    """The strong tag of a file or an image."""
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def condition(sent: str | None) -> Condition | None:
    """The condition of an If-Match header; None without one. `bad_etag` when it is malformed."""
    if sent is None:
        return None
    text = sent.strip()
    if text == "*":
        return Condition(any=True, tags=frozenset())
    if not LIST.fullmatch(text):
        raise errors.bad_etag(sent)
    return Condition(any=False, tags=frozenset(re.findall(TAG, text)))
