"""Who reviews on this machine: decided once, at the first question."""

from __future__ import annotations

import functools
import getpass
import re
import subprocess
from dataclasses import dataclass

from django.conf import settings

NOBODY = "reviewer"
LONGEST = 128
AGENT = "agent"  # signs what an agent says without a name; with one it is agent:<name>


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Comments are the reviewer's own when their author is `id`; `name` is for people to read."""

    id: str
    name: str


@functools.cache
def me() -> Reviewer:
    """SVC_REVIEWER, else the user of this machine under git's global `user.name`."""
    if settings.SVC.reviewer is not None:
        return Reviewer(*settings.SVC.reviewer)
    mine = _os_user()
    return Reviewer(mine, _git_name() or mine)


def is_agent(author: str | None) -> bool:
    """Whether an agent signed it: `agent`, `agent:claude` and the like."""
    return re.match(rf"{AGENT}\b", author or "", re.IGNORECASE) is not None


def _os_user() -> str:
    try:
        found = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as containers have them
        return NOBODY
    return found if found.isprintable() and 0 < len(found) <= LONGEST else NOBODY


def _git_name() -> str:
    """Blank where there is no git, or it knows no name."""
    command = ["git", "config", "--global", "--get", "user.name"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = done.stdout.decode(errors="replace").strip()
    return found[:LONGEST] if found.isprintable() else ""
