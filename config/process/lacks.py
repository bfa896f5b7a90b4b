"""Hints of `manage.py doctor` about systems other than Linux: what works differently, or not.

None of it can be mended, so all findings are hints; a system that lacks nothing gets none.
"""

from __future__ import annotations

from collections.abc import Iterator

from config.process import prctl, table
from config.process.doctor import HINT, Finding
from config.storage import inotify, syscalls

ENDS = (
    "this system ends no process with its parent: after a kill -9 of `manage.py up` its processes "
    "notice within seconds, and end by themselves"
)
LEFT = (
    "orphans do not come back to their turn here: what a command leaves behind is found by its "
    "environment, and lives on where the system shows none (programs of Apple's own)"
)
MEMORY = "other programs of this user can read the environment of a turn, its own token among it"
NUMBERS = (
    "this system pins no process: one is signalled by its number after a look at its start, and "
    "ends are noticed by looking, those of apps up to a second late"
)
FILES = (
    "this system cannot exchange two files: what an editor saves in the very instant in which the "
    "service replaces that file is lost"
)
WATCHING = (
    "changes are reported by watchfiles, which looks 40 times a second: an idle service costs more"
)


def check() -> Iterator[Finding]:
    lacking = {
        "processes": [
            *([] if prctl.KNOWN else [ENDS, LEFT, MEMORY]),
            *([] if table.PIDFDS else [NUMBERS]),
        ],
        "files": [] if syscalls.EXCHANGES else [FILES],
        "file watching": [] if inotify.KNOWN else [WATCHING],
    }
    for subject, sentences in lacking.items():
        for sentence in sentences:
            yield Finding(HINT, subject, sentence)
