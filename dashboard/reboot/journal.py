"""`running.json`: what listened when the file was last written, and in which boot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from config.logs import timestamp
from dashboard.reboot import stored
from dashboard.reboot.entry import JournalEntry, moment, text

FILE = "running.json"
MOST = 1000
RECENT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Journal:
    """The content of the file."""

    boot: str
    written: datetime
    entries: tuple[JournalEntry, ...]

    def running(self) -> list[JournalEntry]:
        """What counts as running when it was written: at a shutdown some processes end before the
        daemon."""
        return [one for one in self.entries if self.written - one.last_seen <= RECENT]


def load() -> Journal | None:
    return stored.load(FILE, _read)


def save(journal: Journal) -> None:
    stored.save(
        FILE,
        {
            "bootId": journal.boot,
            "writtenAt": timestamp(journal.written),
            "listeners": [one.as_record() for one in _newest(journal.entries)],
        },
    )


def remove() -> None:
    stored.remove(FILE)


def _newest(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    return sorted(entries, key=lambda one: one.last_seen, reverse=True)[:MOST]


def _read(value: dict[str, Any]) -> Journal:
    entries = tuple(JournalEntry.load(one) for one in value["listeners"])
    return Journal(text(value["bootId"]), moment(value["writtenAt"]), entries)
