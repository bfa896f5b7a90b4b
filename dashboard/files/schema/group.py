"""bookmarks/<group>.yaml: one group of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from dashboard.files import convert
from dashboard.files.fields import Fields, Issue
from dashboard.files.schema.app import DESCRIPTION, NAME, TAG, TAGS

LINKS = 200
address = convert.url("http", "https", "mailto", "ssh", "file")


@dataclass(frozen=True, slots=True)
class BookmarkLink:
    name: str
    url: str
    description: str | None = None
    icon: str | None = None
    tags: tuple[str, ...] = ()
    hotkey: str | None = None

    @property
    def fetchable(self) -> bool:
        """Whether its icon may be fetched: links to mail, ssh and files are only shown."""
        return urlsplit(self.url).scheme in {"http", "https"}


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    description: str | None = None
    icon: str | None = None
    color: str | None = None
    order: float | None = None
    collapsed: bool = False
    links: tuple[BookmarkLink, ...] = ()


def read_group(
    value: Mapping[str, Any], texts: Mapping[str, Any] | None = None, *, slug: str = ""
) -> tuple[Group, list[Issue]]:
    """The group and the issues of its mapping; the name defaults to the slug."""
    fields = Fields.of(value, texts)
    group = Group(
        name=fields.text("name", convert.text(NAME)) or slug,
        description=fields.text("description", convert.lines(DESCRIPTION)),
        icon=fields.text("icon", convert.icon),
        color=fields.text("color", convert.color),
        order=fields.read("order", convert.number),
        collapsed=fields.read("collapsed", convert.flag) or False,
        links=_links(fields),
    )
    fields.finish()
    return group, fields.issues


def _links(fields: Fields) -> tuple[BookmarkLink, ...]:
    links: list[BookmarkLink] = []
    for row in fields.rows("links", most=LINKS):
        row.need("url")
        name, url = row.text("name", convert.text(NAME)), row.text("url", address)
        description = row.text("description", convert.lines(DESCRIPTION))
        icon = row.text("icon", convert.icon)
        tags = row.texts_of("tags", convert.text(TAG), most=TAGS)
        hotkey = row.text("hotkey", convert.text(1))
        row.finish()
        if url is None:
            continue
        if any(link.url == url for link in links):
            row.wrong("is in this group already", "url", level="warning")
        shown = name or urlsplit(url).hostname or url
        links.append(BookmarkLink(shown, url, description, icon, tags, hotkey))
    return tuple(links)
