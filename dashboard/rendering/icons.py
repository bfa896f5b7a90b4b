"""The icons of bookmarks, fetched after the first request and kept in the cache.

Files: icons/<sha256 of the address>.bin is a PNG; the .json beside it says when the last try was
and how it ended. A failed try leaves an older icon in use.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from config.errors import NotFound, printable
from config.storage import files
from dashboard.files import layout
from dashboard.files.schema.group import BookmarkLink, Group
from dashboard.rendering import favicon, images
from dashboard.rendering.fetch import AddressRefused, NoAnswer
from dashboard.rendering.images import NoImage

log = logging.getLogger(__name__)

FRESH_S, RETRY_S = 7 * 86_400, 6 * 3600
AT_ONCE = 4
WAITING = 256  # waiting fetches; beyond that, the next GET asks again
_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class Icon:
    """A PNG and its entity tag, including quotes."""

    data: bytes
    etag: str
    type: str = "image/png"


@dataclass(frozen=True, slots=True)
class Record:
    """The last try; `sha256` is that of the present icon, if there is one."""

    url: str
    at: float  # Unix seconds
    ok: bool
    private: bool
    sha256: str | None = None
    error: str | None = None

    def due(self, now: float, *, private: bool) -> bool:
        """Whether to try again: also if the permission has changed since a failure."""
        if not self.ok and private != self.private:
            return True
        return not 0 <= now - self.at < (FRESH_S if self.ok else RETRY_S)


def link_of(group: Group, url: str) -> BookmarkLink:
    """The http(s) link of the group with this address, compared normalised. NotFound if none."""
    wanted = normal(url)
    for link in group.links:
        if link.fetchable and normal(link.url) == wanted:
            return link
    raise NotFound(f'No web link "{printable(url)}" in group "{group.name}".')


def source(link: BookmarkLink) -> str:
    """Where the icon of a link comes from: its `icon` if that is an address, else its page."""
    icon = link.icon or ""
    return icon if icon.startswith(("http://", "https://")) else link.url


def normal(url: str) -> str:
    """The address with scheme and host in lower case, no default port, no fragment, no user.

    A user is shown masked and never sent, so addresses that only differ in it are the same.
    """
    try:
        parts = urlsplit(url.strip())
        host = parts.netloc.rpartition("@")[2].lower()
        netloc = host.removesuffix(_PORTS.get(parts.scheme, " "))
    except ValueError:
        return url
    return parts._replace(netloc=netloc, path=parts.path or "/", fragment="").geturl()


class Icons:
    """The cache and the fetches for it. Belongs to one event loop."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._fetching: dict[str, asyncio.Task[None]] = {}

    async def get(self, url: str, *, private: bool, then: Callable[[], object]) -> Icon | None:
        """The cached icon, None if there is none yet.

        If it is due, a fetch begins in the background; `then` is called in the loop if that brings
        a different icon.
        """
        url = normal(url)
        icon, record = await asyncio.to_thread(_read, url)
        due = record is None or record.due(self._clock(), private=private)
        if due and url not in self._fetching and len(self._fetching) < WAITING:
            task = asyncio.create_task(self._fetch(url, icon, private, then))
            self._fetching[url] = task
            task.add_done_callback(lambda _: self._fetching.pop(url, None))
        return icon

    async def close(self) -> None:
        """Cancel the running fetches."""
        tasks = list(self._fetching.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(
        self, url: str, old: Icon | None, private: bool, then: Callable[[], object]
    ) -> None:
        async with self._slots:
            data, error = old.data if old else None, None
            try:
                data = await asyncio.to_thread(images.png, await favicon.find(url, private=private))
            except (AddressRefused, NoAnswer, NoImage) as failure:
                error = str(failure)
        digest = hashlib.sha256(data).hexdigest() if data else None
        record = Record(url, self._clock(), error is None, private, digest, error)
        try:
            await asyncio.to_thread(_write, record, data)
        except files.CannotWrite as failure:
            log.warning("an icon is not kept", extra={"url": url, "why": str(failure)})
            return
        if data is not None and (old is None or data != old.data):
            then()


def _paths(url: str) -> tuple[Path, Path]:
    stem = layout.cache_dir() / "icons" / hashlib.sha256(url.encode()).hexdigest()
    return stem.with_suffix(".bin"), stem.with_suffix(".json")


def _read(url: str) -> tuple[Icon | None, Record | None]:
    """What the cache has; files that do not match each other count as none."""
    image, about = _paths(url)
    try:
        told = files.read(about)
        record = Record(**json.loads(told.data)) if told else None
        found = files.read(image) if record and record.sha256 else None
    except (OSError, ValueError, TypeError):
        return None, None
    if record is None or (found.etag if found else None) != record.sha256:
        return None, None
    return (Icon(found.data, f'"{found.etag[:32]}"') if found else None), record


def _write(record: Record, data: bytes | None) -> None:
    image, about = _paths(record.url)
    with files.writing(image.name):
        image.parent.mkdir(mode=0o700, exist_ok=True)
    if data is not None:
        files.write(image, data)
    files.write(about, json.dumps(asdict(record)).encode())
