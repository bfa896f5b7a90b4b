"""What the gallery knows of an app, and what it asks of the rest of the daemon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.files.schema.app import Thumb
from dashboard.files.schema.config import Config
from dashboard.health.record import State
from dashboard.rendering.thumbs import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturedApp:
    """An app as its pictures depend on it.

    `html`: whether what `url` answers is HTML, None while that is not known. `repository`: the
    directory that holds its `.git`. `icon`: its file's, an address or `file:` and a path below
    home, in place of its page's. `declared`: pictures of a declared app go when it is removed;
    those of a discovered one wait some days, because it comes back with its listener.
    """

    name: str
    framework: str | None = None
    color: str | None = None
    icon: str | None = None
    thumb: Thumb = field(default_factory=Thumb)
    url: str | None = None
    state: State = State.UNKNOWN
    html: bool | None = None
    repository: Path | None = None
    declared: bool = True

    @property
    def address(self) -> str | None:
        """The page a screenshot shows."""
        return self.thumb.url or self.url

    @property
    def photographed(self) -> bool:
        """Whether it has a page worth a screenshot, and its picture may be one."""
        kind = self.thumb.kind in {"auto", "screenshot"}
        page = self.thumb.url is not None or (self.url is not None and self.html is not False)
        return kind and page

    def subject(self, slug: str) -> Subject:
        return Subject(slug, self.name, self.framework, self.color)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The rest of the daemon, as the gallery needs it; everything is called on its thread.

    `thumb_changed(slug)` and `icon_changed(group)`: another image than before is shown.
    `clients()`: whether a client has the event stream open. `battery()`: no mains power.
    """

    config: Callable[[], Config]
    thumb_changed: Callable[[str], object]
    icon_changed: Callable[[str], object]
    clients: Callable[[], bool]
    battery: Callable[[], bool]
