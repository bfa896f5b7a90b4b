"""`lost.json`: what a reboot took, until it runs again or is dismissed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from config.logs import timestamp
from dashboard.reboot import stored
from dashboard.reboot.entry import JournalEntry, moment, optional, text

Status = Literal["lost", "starting", "failed"]
FILE = "lost.json"
MOST, STAYS = 50, timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Item:
    """One listener that did not come back after the boot at `booted`; `note` is for people.

    `noticed`: when this service noticed that boot, which may be days later.
    """

    entry: JournalEntry
    booted: datetime
    noticed: datetime
    status: Status = "lost"
    note: str | None = None

    @property
    def id(self) -> str:
        return self.entry.id

    def is_back(self, ids: Collection[str], slugs: Collection[str | None]) -> bool:
        """Whether it listens again; never so while it is being started, as that is judged at the
        end."""
        return self.status != "starting" and (self.id in ids or self.entry.slug in slugs)


@dataclass(slots=True)
class Notice:
    """What is lost, and what may still come back by itself within the grace time (`pending`).

    `taken` is the boot of the last journal that was applied, so that no journal counts twice.
    """

    items: dict[str, Item] = field(default_factory=dict)
    pending: dict[str, Item] = field(default_factory=dict)
    taken: str | None = None

    def take(
        self, boot: str, entries: Iterable[JournalEntry], *, booted: datetime, now: datetime
    ) -> None:
        """Apply a reboot: these entries ran before it. What was lost already stays lost."""
        self.pending.update({one.id: Item(one, booted, now) for one in entries})
        self.taken = boot

    def grace_is_over(self, starts_by_itself: Callable[[JournalEntry], bool]) -> None:
        """Make what has not come back lost, except services that start by themselves."""
        lost = [item for item in self.pending.values() if not starts_by_itself(item.entry)]
        ids, slugs = {item.id for item in lost}, {item.entry.slug for item in lost} - {None}
        earlier = [item for item in self.items.values() if not item.is_back(ids, slugs)]
        newest = sorted([*earlier, *lost], key=_age, reverse=True)
        self.items = {item.id: item for item in newest[:MOST]}
        self.pending = {}

    def drop_returned(self, ids: Collection[str], slugs: Collection[str]) -> bool:
        """Drop what is back. Returns whether anything was dropped."""
        before = len(self.items) + len(self.pending)
        self.items = _without(self.items, ids, slugs)
        self.pending = _without(self.pending, ids, slugs)
        return len(self.items) + len(self.pending) != before

    def prune(self, now: datetime) -> bool:
        """Drop what has been lost for too long. Returns whether anything was dropped."""
        before = len(self.items)
        self.items = {item.id: item for item in self.items.values() if now - item.noticed <= STAYS}
        return len(self.items) != before

    def as_record(self, *, without: Collection[str] = ()) -> dict[str, Any]:
        return {
            "taken": self.taken,
            "items": [_item_record(one) for one in self.items.values() if one.id not in without],
            "pending": [_item_record(one) for one in self.pending.values()],
        }


def load() -> Notice:
    return stored.load(FILE, _read) or Notice()


def save(value: dict[str, Any]) -> None:
    """`value` is what Notice.as_record returns."""
    stored.save(FILE, value)


def _without(
    items: dict[str, Item], ids: Collection[str], slugs: Collection[str]
) -> dict[str, Item]:
    return {one.id: one for one in items.values() if not one.is_back(ids, slugs)}


def _age(item: Item) -> tuple[datetime, datetime]:
    return item.noticed, item.entry.last_seen


def _item_record(item: Item) -> dict[str, Any]:
    return {
        "bootedAt": timestamp(item.booted),
        "noticedAt": timestamp(item.noticed),
        "note": item.note,
        **item.entry.as_record(),
    }


def _item(value: dict[str, Any]) -> Item:
    """A stored item. One that was being started when the daemon ended is lost again."""
    note = optional(value["note"])
    status: Status = "failed" if note else "lost"
    booted, noticed = moment(value["bootedAt"]), moment(value["noticedAt"])
    return Item(JournalEntry.load(value), booted, noticed, status, note)


def _read(value: dict[str, Any]) -> Notice:
    items, pending = ([_item(one) for one in value[name]] for name in ("items", "pending"))
    return Notice(
        items={one.id: one for one in items},
        pending={one.id: one for one in pending},
        taken=None if value["taken"] is None else text(value["taken"]),
    )
