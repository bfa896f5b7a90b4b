"""Writers of one file beside a person at `sed -i`: what they were told, and what became of it.

An update is lost among writers with If-Match when two of them were both told that the same bytes
were theirs to replace. What `sed` takes back when it saves a stale copy is nobody's to help.
"""

from __future__ import annotations

import copy
import random
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.errors import Conflict
from dashboard.files import layout, store
from dashboard.files.entries import Entry

HEAD = "# shop, 0 edits\nname: Shop   # what it is called\nport: 3000\n\n# counters\nx-count:\n"


@dataclass(slots=True)
class Told:
    """`taken`: how often bytes were given to a writer with If-Match, by their entity tag."""

    taken: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    edits: int = 0
    unread: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    failed: list[BaseException] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Acknowledged writes that another one with the same If-Match replaced unseen."""
        return sum(count - 1 for count in self.taken.values())


def comments(keys: list[str]) -> list[str]:
    """The comments that must be there after every write."""
    return ["# what it is called", "# counters", *(f"# of {key}" for key in keys)]


def write_at_once(path: Path, *, writers: int, operations: int, seed: int) -> Told:
    """So many PUT and PATCH by as many threads, and `sed -i` meanwhile, on apps/shop.yaml."""
    keys = [f"writer-{number}" for number in range(writers)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(f"  {key}: 0   # of {key}\n" for key in keys))
    crowd = _Crowd(keys, operations // writers)
    editor = threading.Thread(target=crowd.edit, args=(path,))
    threads = [
        threading.Thread(target=crowd.write, args=(key, random.Random(n)))
        for n, key in enumerate(keys, start=seed)
    ]
    for thread in (editor, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    crowd.over.set()
    crowd.turn.release()
    editor.join()
    return crowd.told


class _Crowd:
    """`turn`: the person saves once for every third write, without waiting for others."""

    def __init__(self, keys: list[str], rounds: int) -> None:
        self.keys, self.rounds, self.told = keys, rounds, Told()
        self.turn, self.over, self.lock = (
            threading.Semaphore(0),
            threading.Event(),
            threading.Lock(),
        )

    def edit(self, path: Path) -> None:
        while self.turn.acquire() and not self.over.is_set():
            self.told.edits += 1
            script = f"1s/.*/# shop, {self.told.edits} edits/"
            subprocess.run(["sed", "-i", script, str(path)], check=True)

    def write(self, key: str, rnd: random.Random) -> None:
        try:
            done = 0
            while done < self.rounds:
                if self._once(key, done, rnd):
                    done += 1
                    if done % 3 == 0:
                        self.turn.release()
        except BaseException as error:
            self.told.failed.append(error)
            raise

    def _once(self, key: str, done: int, rnd: random.Random) -> bool:
        """Whether a write was acknowledged."""
        entry = _checked(self.keys, self.told)
        try:
            if rnd.random() < 0.2:  # a PATCH of the writer's own key, on whatever is there
                store.patch("apps", "shop", {"x-count": {key: done}})
                return True
            _put_or_patch(entry, key, rnd)
        except Conflict as error:
            if error.code != "changed":
                raise
            with self.lock:
                self.told.refused += 1
            return False
        with self.lock:
            self.told.taken[entry.etag or ""] += 1
        return True


def _put_or_patch(entry: Entry, key: str, rnd: random.Random) -> None:
    assert entry.value is not None
    if rnd.random() < 0.5:
        mapping: dict[str, Any] = copy.deepcopy(entry.value)
        mapping["x-count"][key] += 1
        store.put("apps", "shop", mapping, if_match=entry.etag)
    else:
        count = entry.value["x-count"][key] + 1
        store.patch("apps", "shop", {"x-count": {key: count}}, if_match=entry.etag)


def _checked(keys: list[str], told: Told) -> Entry:
    """The file as the daemon sees it; it always parses and has all its comments."""
    entry = store.get("apps", "shop")
    assert entry is not None
    if entry.error is not None:
        told.unread.append(entry.error.message)
    text = layout.place("apps", "shop").path.read_text()
    told.torn += [comment for comment in comments(keys) if comment not in text]
    return entry
