"""What the palette shows of the dashboard: destinations, how many apps need attention, and the
folders of apps. All from memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from config.web.palette import Badge, Destination, Folder
from dashboard.daemon import Views, read


def destinations() -> Iterator[Destination]:
    """The page, its apps, and the bookmarks with their own addresses."""
    names, groups = read(Views.names), read(Views.groups)
    yield Destination("Apps", "part", "/")
    for slug, name, url in names:
        address = url.partition("://")[2].rstrip("/") if url else ""
        yield Destination(name, "app", f"/#app={quote(slug, safe='')}", address, slug)
    for group in groups:
        for link in group["links"]:
            if link["url"].startswith(("http://", "https://")):
                hint = f"Bookmark in {group['name']}"
                yield Destination(link["name"], "bookmark", link["url"], hint, link["url"])


def waiting() -> Badge:
    count = read(Views.attention)
    return Badge(count, "app needs attention" if count == 1 else "apps need attention")


def folders() -> Iterator[Folder]:
    """The folders in which apps run or are started."""
    yield from (Folder(cwd, "apps") for _, _, cwd, _ in read(Views.folders) if cwd != "/")


def around(folder: Path) -> Iterator[Destination]:
    """The apps whose directory is in this folder."""
    for slug, name, cwd, hint in read(Views.folders):
        if Path(cwd).resolve().is_relative_to(folder):
            yield Destination(name, "app", f"/#app={quote(slug, safe='')}", hint)
