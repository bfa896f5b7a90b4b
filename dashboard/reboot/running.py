"""What listens now, and what did until recently: the entries of the journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dashboard.reboot.entry import JournalEntry, Listening
from dashboard.reboot.journal import RECENT


@dataclass(slots=True)
class _RunningApp:
    entry: JournalEntry
    pid: int | None
    here: bool
    seen: float  # monotonic seconds, unlike `at`
    at: datetime
    shown: Listening | None = None


class Running:
    """Entries by id; those that are gone stay ten minutes, as a shutdown ends them one by one."""

    def __init__(self) -> None:
        self._known: dict[str, _RunningApp] = {}
        self._unread: dict[str, int] = {}
        self._last: Sequence[Listening] | None = None
        self._again: tuple[float, datetime] | None = None  # when the same listeners were last seen

    def resume(self, entries: Iterable[JournalEntry], now: float) -> None:
        """Load what an earlier daemon of this boot wrote; the next scan sees most of it again."""
        self._last = self._again = None
        self._known = {
            one.id: _RunningApp(one, None, here=False, seen=now, at=one.last_seen)
            for one in entries
        }

    def entries(self) -> list[JournalEntry]:
        self._catch_up()
        return [replace(known.entry, last_seen=known.at) for known in self._known.values()]

    def take_scan(
        self,
        listeners: Sequence[Listening],
        *,
        now: float,
        at: datetime,
        ended: Callable[[JournalEntry], bool],
    ) -> bool:
        """Apply a scan. Returns whether the journal differs in more than times.

        `ended` returns whether a missing entry ended for a reason other than a reboot. The same
        listeners as in the scan before cost nothing.
        """
        if listeners is self._last:
            self._again = now, at
            return self._forget(now, ended)
        self._catch_up()
        self._last = listeners
        found = {one.id: one for one in listeners}
        changed = [self._take(one, now, at) for one in found.values()]
        for id_, known in self._known.items():
            if id_ not in found:
                changed.append(known.here)
                known.here = False
        return self._forget(now, ended) or any(changed)

    def _catch_up(self) -> None:
        if self._again is not None:
            for known in self._known.values():
                if known.here:
                    known.seen, known.at = self._again
            self._again = None

    def unread(self) -> dict[str, int]:
        """The processes whose environment has yet to be read: pid by id."""
        return dict(self._unread)

    def know(self, environments: Mapping[tuple[str, int], Mapping[str, str]]) -> None:
        """Store the environments that were read, except that of a process that was replaced
        since."""
        for (id_, pid), env in environments.items():
            known = self._known.get(id_)
            if self._unread.get(id_) == pid:
                del self._unread[id_]
                if known is not None:
                    known.entry = replace(known.entry, env=env)

    def _take(self, one: Listening, now: float, at: datetime) -> bool:
        known = self._known.get(one.id)
        if known is not None and known.shown == one:
            was_here, known.here, known.seen, known.at = known.here, True, now, at
            return not was_here
        entry = JournalEntry.of(one, at)
        if known is not None and known.pid in (one.pid, None):
            entry = replace(entry, env=known.entry.env)
        if one.pid is not None and (known is None or known.pid != one.pid):
            self._unread[one.id] = one.pid
        self._known[one.id] = _RunningApp(entry, one.pid, here=True, seen=now, at=at, shown=one)
        return True

    def _forget(self, now: float, ended: Callable[[JournalEntry], bool]) -> bool:
        if all(known.here for known in self._known.values()):
            return False
        here = [known.entry for known in self._known.values() if known.here]
        slugs = {one.slug for one in here} - {None}
        programs = {one.started_as for one in here}
        over = [
            id_
            for id_, known in self._known.items()
            if not known.here
            and (
                now - known.seen >= RECENT.total_seconds()
                or _runs_elsewhere(known.entry, slugs, programs)
                or ended(known.entry)
            )
        ]
        for id_ in over:
            del self._known[id_]
            self._unread.pop(id_, None)
        return bool(over)


def _runs_elsewhere(
    one: JournalEntry,
    slugs: Collection[str | None],
    programs: Collection[tuple[str, tuple[str, ...]]],
) -> bool:
    """Whether the same app now listens elsewhere."""
    return one.slug in slugs or (one.withheld is None and one.started_as in programs)
