"""Which apps there are, and which image of each is shown. No disk access: tags are kept in
memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from dashboard.files import errors
from dashboard.pictures.app import PicturedApp
from dashboard.pictures.due import Due
from dashboard.rendering.thumbs import CachedImage, CachedImages, Kind


@dataclass(slots=True)
class AlbumEntry:
    """One app: its last reported form, when its pictures are due, and the commit they show."""

    shown: PicturedApp
    screenshot: Due = field(default_factory=Due)
    favicon: Due = field(default_factory=Due)
    head: str | None = None


class Album:
    """Belongs to the daemon's thread. Calls `changed(slug)` when a different image is shown."""

    def __init__(self, changed: Callable[[str], object]) -> None:
        self._changed = changed
        self._entries: dict[str, AlbumEntry] = {}
        self._kept: dict[str, CachedImages] = {}
        self._screenshots = False

    def __iter__(self) -> Iterator[tuple[str, AlbumEntry]]:
        return iter(self._entries.items())

    def get(self, slug: str) -> AlbumEntry | None:
        return self._entries.get(slug)

    def need(self, slug: str) -> AlbumEntry:
        """The entry of the app. NotFound if there is none of that name."""
        entry = self._entries.get(slug)
        if entry is None:
            raise errors.not_found("apps", slug)
        return entry

    def put(self, slug: str, shown: PicturedApp) -> AlbumEntry:
        entry = self._entries.get(slug)
        if entry is None:
            kept = self._kept.get(slug, CachedImages())
            entry = self._entries[slug] = AlbumEntry(
                shown, Due(last=_moment(kept.screenshot)), Due(last=_moment(kept.favicon))
            )
        elif entry.shown != shown:
            with self._telling(slug):
                entry.shown = shown
        return entry

    def drop(self, slug: str) -> AlbumEntry | None:
        return self._entries.pop(slug, None)

    def load(self, kept: Mapping[str, CachedImages]) -> None:
        """Load the images that the cache has at the start, also for apps that are already
        known."""
        for slug, one in kept.items():
            self.keep(slug, one)
            if (entry := self._entries.get(slug)) is not None:
                entry.screenshot.last = entry.screenshot.last or _moment(one.screenshot)
                entry.favicon.last = entry.favicon.last or _moment(one.favicon)

    def keep(self, slug: str, kept: CachedImages) -> None:
        """Set the images that the cache has of the app."""
        with self._telling(slug):
            self._kept[slug] = kept

    def forget(self, slug: str) -> None:
        self._kept.pop(slug, None)

    def unused_slugs(self, before: float) -> list[str]:
        """The slugs without an app whose images are all older than `before` (Unix seconds)."""
        return [
            slug
            for slug, kept in self._kept.items()
            if slug not in self._entries
            and all(held is None or held.at < before for held in (kept.screenshot, kept.favicon))
        ]

    def switch(self, on: bool) -> None:
        """Set whether screenshots are shown at all."""
        if on == self._screenshots:
            return
        before = {slug: self.choice(slug) for slug in self._entries}
        self._screenshots = on
        for slug, choice in before.items():
            if self.choice(slug) != choice:
                self._changed(slug)

    @property
    def screenshots(self) -> bool:
        return self._screenshots

    def choice(self, slug: str) -> tuple[Kind, str]:
        """The kind of the image shown and its entity tag. NotFound if there is no such app."""
        shown = self.need(slug).shown
        return self._kept.get(slug, CachedImages()).choice(
            shown.subject(slug), shown.thumb.kind, screenshots=self._screenshots
        )

    @contextmanager
    def _telling(self, slug: str) -> Iterator[None]:
        before = self.choice(slug) if slug in self._entries else None
        yield
        if before is not None and self.choice(slug) != before:
            self._changed(slug)


def _moment(held: CachedImage | None) -> float | None:
    """When the image was made, in monotonic seconds; a time in the future counts as now."""
    return None if held is None else time.monotonic() - max(0.0, time.time() - held.at)
