"""Who reviews on this machine: decided once, when first asked."""

from __future__ import annotations

import functools
import getpass
import re
import subprocess
from dataclasses import dataclass

from django.conf import settings

NOBODY = "reviewer"
LONGEST = 128
AGENT = "agent"  # the author of an agent without a name; with one it is agent:<name>


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A comment is the reviewer's own if its author is `id`; `name` is for people to read."""

    id: str
    name: str


@functools.cache
def me() -> Reviewer:
    """SVC_REVIEWER, else the user of this machine with git's global `user.name`."""
    if settings.SVC.reviewer is not None:
        return Reviewer(*settings.SVC.reviewer)
    mine = _os_user()
    return Reviewer(mine, _git_name() or mine)


def is_agent(author: str | None) -> bool:
    """Whether the author is an agent, as `agent` or `agent:claude`."""
    return re.match(rf"{AGENT}\b", author or "", re.IGNORECASE) is not None


def _os_user() -> str:
    try:
        found = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as in containers
        return NOBODY
    return found if found.isprintable() and 0 < len(found) <= LONGEST else NOBODY


def _git_name() -> str:
    """The name in git's global configuration; blank without git or a name."""
    command = ["git", "config", "--global", "--get", "user.name"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = done.stdout.decode(errors="replace").strip()
    return found[:LONGEST] if found.isprintable() else ""
