"""What the palette finds of the dashboard, and how many apps need attention: from memory."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from config.web.places import Place, Waiting
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
