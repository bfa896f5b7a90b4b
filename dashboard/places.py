"""What the palette finds of the dashboard, how many apps need attention, and where they run: from
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from config.web.places import Folder, Place, Waiting
from dashboard.daemon import Views, read


def places() -> Iterator[Place]:
    """The page, its apps, and the bookmarks at their own addresses."""
    names, groups = read(Views.names), read(Views.groups)
    yield Place("Apps", "part", "/")
    for slug, name, url in names:
        address = url.partition("://")[2].rstrip("/") if url else ""
        yield Place(name, "app", f"/#app={quote(slug, safe='')}", address, slug)
    for group in groups:
        for link in group["links"]:
            if link["url"].startswith(("http://", "https://")):
                hint = f"Bookmark in {group['name']}"
                yield Place(link["name"], "bookmark", link["url"], hint, link["url"])


def waiting() -> Waiting:
    count = read(Views.attention)
    return Waiting(count, "app needs attention" if count == 1 else "apps need attention")


def folders() -> Iterator[Folder]:
    """Where apps run, or are started."""
    yield from (Folder(cwd, "apps") for _, _, cwd, _ in read(Views.folders) if cwd != "/")


def around(folder: Path) -> Iterator[Place]:
    """The apps whose directory lies in this one."""
    for slug, name, cwd, hint in read(Views.folders):
        if Path(cwd).resolve().is_relative_to(folder):
            yield Place(name, "app", f"/#app={quote(slug, safe='')}", hint)
