"""The image of each app: its screenshot, its favicon on a plate, or its card.

Files: thumbs/<slug>.webp is the last good screenshot, thumbs/<slug>.png the favicon's plate. The
card is drawn when asked for. There is always an image, even after the cache was deleted. A card's
entity tag is made from what it shows and our version, not from its bytes, so that it is known
without drawing 500 cards, and changes exactly when the image may.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from PIL import Image

from config import __version__
from config.storage import files, opening
from dashboard.files import layout
from dashboard.files.schema.app import ThumbKind
from dashboard.rendering import card, favicon, images
from dashboard.rendering.fetch import AddressRefused, NoAnswer
from dashboard.rendering.images import NoImage

log = logging.getLogger(__name__)

Kind = Literal["favicon", "screenshot", "card"]
FAVICON_BYTES = 512 << 10
SIDE = 2 * card.ICON
LEAST = 48  # the least pixels of a favicon for a plate
_SUFFIX: dict[Kind, str] = {"screenshot": ".webp", "favicon": ".png"}
_TYPE: dict[Kind, str] = {"screenshot": "image/webp", "favicon": "image/png", "card": "image/png"}
_ORDER: dict[ThumbKind, tuple[Kind, ...]] = {
    "auto": ("screenshot", "favicon"),
    "screenshot": ("screenshot",),
    "favicon": ("favicon",),
    "card": (),
}


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of 640x400, at most 300 KiB; `etag` with its quotes."""

    kind: Kind
    data: bytes
    etag: str

    @property
    def type(self) -> str:
        return _TYPE[self.kind]


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts about an app that its picture may show; `color` as its file has it."""

    slug: str
    name: str
    framework: str | None = None
    color: str | None = None


@dataclass(frozen=True, slots=True)
class CachedImage:
    """A cached image: its entity tag, and when it was made, in Unix seconds."""

    etag: str
    at: float


@dataclass(frozen=True, slots=True)
class CachedImages:
    """The images of an app in the cache."""

    screenshot: CachedImage | None = None
    favicon: CachedImage | None = None

    def choice(
        self, subject: Subject, kind: ThumbKind = "auto", *, screenshots: bool = True
    ) -> tuple[Kind, str]:
        """The kind of image shown and its entity tag; the same that `picture` would return."""
        for wanted in _ORDER[kind]:
            held = self.screenshot if wanted == "screenshot" else self.favicon
            if held is not None and (screenshots or wanted != "screenshot"):
                return wanted, held.etag
        return "card", card_tag(subject)


def read_cached(slug: str) -> CachedImages:
    """The cached images of an app. Reads and hashes up to two files: call it in a thread."""
    return CachedImages(
        _cached_image(_path(slug, "screenshot")), _cached_image(_path(slug, "favicon"))
    )


def all_kept() -> dict[str, CachedImages]:
    """The cached images of every app. Reads and hashes the whole cache: call it in a thread."""
    names = {path.stem for path in _folder().glob("*") if path.suffix in _SUFFIX.values()}
    return {name: read_cached(name) for name in names if layout.SLUG.fullmatch(name)}


def picture(subject: Subject, *, kind: ThumbKind = "auto", screenshots: bool = True) -> Picture:
    """The app's image of the wanted kind; without `screenshots` a cached screenshot is not shown.

    Reads one or two files, or draws a card in about 20 ms: call it in a thread.
    """
    for wanted in _ORDER[kind]:
        if wanted == "screenshot" and not screenshots:
            continue
        if (found := _stored_picture(subject.slug, wanted)) is not None:
            return found
    return _card(subject)


def keep(slug: str, kind: Kind, data: bytes) -> bool:
    """Cache the image. Returns whether it differs from the one before. Raises CannotWrite."""
    path = _path(slug, kind)
    with files.writing(path.name):
        path.parent.mkdir(mode=0o700, exist_ok=True)
    before = _stored_picture(slug, kind)
    files.write(path, data)
    return before is None or before.data != data


def forget(slug: str) -> None:
    """Delete the cached images of an app that is gone; files that cannot be deleted stay."""
    for kind in _SUFFIX:
        try:
            _path(slug, kind).unlink(missing_ok=True)
        except OSError as error:
            log.warning("a picture stays in the cache", extra={"slug": slug, "why": str(error)})


async def refresh_favicon(slug: str, url: str) -> bool:
    """Fetch the app's favicon again; a failure keeps the old one. Returns whether one was found.

    The app's own server may be private; its page may not name another private one.
    """
    icon = await _icon(slug, _find_favicon(url, private=True))
    return icon is not None and max(icon.size) >= LEAST and await _keep_plate(slug, icon)


async def refresh_icon(slug: str, icon: str, *, private: bool) -> bool:
    """Fetch the icon that the app's file names, of any size: from an address, whose server may
    only be private with `private`, or from `file:` and a path below the dashboard's home."""
    named = icon.removeprefix("file:")
    work = (
        _find_favicon(icon, private=private) if named == icon else asyncio.to_thread(_lying, named)
    )
    found = await _icon(slug, work)
    return found is not None and await _keep_plate(slug, found)


async def _icon(slug: str, work: Awaitable[Image.Image]) -> Image.Image | None:
    try:
        return await work
    except (AddressRefused, NoAnswer, NoImage) as error:
        log.debug("no favicon", extra={"slug": slug, "why": str(error)})
        return None


async def _find_favicon(url: str, *, private: bool) -> Image.Image:
    return await favicon.find(url, private=private, most=FAVICON_BYTES, side=SIDE, least=LEAST)


def _lying(path: str) -> Image.Image:
    home = layout.home()
    try:
        data = opening.contents(home / path, limit=FAVICON_BYTES, within=home)
    except OSError as error:
        raise NoImage(f"{path} cannot be read: {error.strerror}") from error
    return images.read(data, side=SIDE)


async def _keep_plate(slug: str, icon: Image.Image) -> bool:
    await asyncio.to_thread(lambda: keep(slug, "favicon", card.plate(icon)))
    return True


def keep_screenshot(slug: str, png: bytes) -> bool:
    """Store a screenshot, scaled. NoImage for a blank page; then the old one stays."""
    return keep(slug, "screenshot", images.shot(png, card.SIZE))


def _stored_picture(slug: str, kind: Kind) -> Picture | None:
    try:
        found = files.read(_path(slug, kind))
    except OSError:
        return None
    if found is None or not found.data:
        return None
    return Picture(kind, found.data, _quote_etag(found.etag))


def _cached_image(path: Path) -> CachedImage | None:
    try:
        found = files.read(path)
        if found is None or not found.data:
            return None
        return CachedImage(_quote_etag(found.etag), path.stat().st_mtime)
    except OSError:
        return None


def _quote_etag(digest: str) -> str:
    return f'"{digest[:32]}"'


@lru_cache(maxsize=5000)
def card_tag(subject: Subject) -> str:
    """The entity tag of the card, from everything that decides how it looks."""
    inputs = (__version__, subject.slug, subject.name, subject.framework, subject.color)
    return _quote_etag(hashlib.sha256(repr(inputs).encode()).hexdigest())


@lru_cache(maxsize=64)
def _card(subject: Subject) -> Picture:
    data = card.card(subject.slug, subject.name, framework=subject.framework, color=subject.color)
    return Picture("card", data, card_tag(subject))


def _folder() -> Path:
    return layout.cache_dir() / "thumbs"


def _path(slug: str, kind: Kind) -> Path:
    place = layout.place("apps", slug)  # refuses a name that is not a slug
    return _folder() / f"{place.name}{_SUFFIX[kind]}"
