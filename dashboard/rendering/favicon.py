"""The icon of a web page: named in its head, in its manifest, or at /favicon.ico."""

from __future__ import annotations

import asyncio
import base64
import binascii
import html
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes, urljoin

from PIL import Image

from dashboard.rendering import fetch, images, svg
from dashboard.rendering.fetch import AddressRefused, NoAnswer, Permission, Rules
from dashboard.rendering.images import NoImage

HEAD = 64 << 10  # bytes of a page within which its icons must be named
TRIES = 6  # icons fetched for one page
ANY = 1024  # the size that an SVG counts as, in pixels
UNSAID = 32
# possessive, so that hostile pages cost at most one pass from each start
_TAG = re.compile(r"""<(link|base)(\s(?:[^<>"']|"[^"]{0,8000}+"|'[^']{0,8000}+')*+)>""", re.I)
_ATTRIBUTE = re.compile(
    r"""([a-z-]{1,20})\s{0,9}=\s{0,9}(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.I
)
_SIZE = re.compile(r"(\d{1,5})x\d{1,5}", re.I)
_DATA = re.compile(r"data:image/[a-z0-9.+-]{1,40}((?:;[^;,]{0,40}){0,4}),(.*)", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Named:
    """The icons named in the head of a page, in the order to try; `manifest` for those it
    lists."""

    icons: tuple[str, ...]
    manifest: str | None
    touch: tuple[str, ...]


async def find(
    url: str, *, private: bool, most: int = fetch.BYTES, side: int = 128, least: int = 32
) -> Image.Image:
    """The first icon of at least `least` pixels, else the largest; within 5 s in all.

    `url` may be a page or an image. AddressRefused, NoAnswer or NoImage if there is none.
    """
    try:
        async with asyncio.timeout(fetch.SECONDS):
            return await _find(url, Permission(private), most, side, least)
    except TimeoutError as error:
        raise NoAnswer(f"no icon within {fetch.SECONDS:g} s") from error


async def _find(url: str, permission: Permission, most: int, side: int, least: int) -> Image.Image:
    page_url, page, inner = url, b"", Permission(permission.private, fetch.origin(url))
    try:
        got = await fetch.get(url, Rules(permission, most=most, cut=True))
        page_url, page = got.url, got.data
        inner = Permission(permission.private and not got.public, fetch.origin(page_url))
    except NoAnswer:  # a page that requires a login still has an icon
        pass
    else:
        if got.type.startswith("image/") or svg.looks_like(page):
            return await asyncio.to_thread(images.read, page, side=side)
    rules = Rules(inner, most=most)
    best: Image.Image | None = None
    tried = 0
    async for candidate in _candidates(page, page_url, rules):
        tried += 1
        try:
            picture = await asyncio.to_thread(
                images.read, await _bytes(candidate, rules), side=side
            )
        except (NoAnswer, AddressRefused, NoImage):
            picture = None
        if picture and max(picture.size) >= least:
            return picture
        if picture and (best is None or picture.width > best.width):
            best = picture
        if tried == TRIES:
            break
    if best is None:
        raise NoImage("the page has no icon")
    return best


async def _candidates(page: bytes, url: str, rules: Rules) -> AsyncIterator[str]:
    """The addresses of icons, best first; the manifest is only fetched when its turn comes."""
    named = await asyncio.to_thread(read, page[:HEAD], url)
    for one in (*named.icons, *named.touch):
        yield one
    if named.manifest:
        for one in await _manifest_icons(named.manifest, rules):
            yield one
    yield urljoin(url, "/favicon.ico")


def read(page: bytes, url: str) -> Named:
    """What the head of the page names; relative addresses are joined to its own or its <base>."""
    text = page.decode("utf-8", errors="replace")
    icons: list[tuple[int, str]] = []
    touch: list[tuple[int, str]] = []
    manifest = None
    base = url
    for tag, attributes in _tags(text):
        target = _join(base, attributes.get("href", ""))
        kinds = attributes.get("rel", "").lower().split()
        if not target:
            continue
        if tag == "base":
            base = target
        elif "icon" in kinds:
            icons.append((_weight(attributes, target), target))
        elif "apple-touch-icon" in kinds or "apple-touch-icon-precomposed" in kinds:
            touch.append((_weight(attributes, target), target))
        elif "manifest" in kinds and manifest is None:
            manifest = target
    return Named(_largest_first(icons), manifest, _largest_first(touch))


def _largest_first(found: list[tuple[int, str]]) -> tuple[str, ...]:
    ordered = sorted(found, key=lambda one: -one[0])
    return tuple(dict.fromkeys(target for _, target in ordered))


def _tags(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for tag in _TAG.finditer(text):
        attributes: dict[str, str] = {}
        for found in _ATTRIBUTE.finditer(tag[2]):
            attributes.setdefault(
                found[1].lower(), html.unescape(found[2] or found[3] or found[4] or "")
            )
        yield tag[1].lower(), attributes


def _weight(attributes: dict[str, str], target: str) -> int:
    """The largest size in pixels that the link states; an SVG counts more than any PNG."""
    kind = attributes.get("type", "").lower()
    if "svg" in kind or target.partition("?")[0].lower().endswith(".svg"):
        return ANY
    return _largest(attributes.get("sizes", ""))


def _largest(sizes: str) -> int:
    if "any" in sizes.lower().split():
        return ANY
    return max((min(ANY - 1, int(size)) for size in _SIZE.findall(sizes)), default=UNSAID)


async def _manifest_icons(manifest: str, rules: Rules) -> tuple[str, ...]:
    """The icons of a web app manifest, largest first; none if it cannot be read."""
    try:
        got = await fetch.get(manifest, rules)
        icons = json.loads(got.data)["icons"]
        rows = [row for row in icons if isinstance(row, dict) and isinstance(row.get("src"), str)]
        return _largest_first(
            [(_largest(str(row.get("sizes", ""))), _join(got.url, row["src"])) for row in rows]
        )
    except (NoAnswer, AddressRefused, ValueError, KeyError, TypeError, RecursionError):
        return ()


def _join(base: str, target: str) -> str:
    try:
        return urljoin(base, target.strip()) if target.strip() else ""
    except ValueError:
        return ""


async def _bytes(target: str, rules: Rules) -> bytes:
    found = _DATA.fullmatch(target)
    if found is None:
        return (await fetch.get(target, rules)).data
    try:
        plain = unquote_to_bytes(found[2])
        return base64.b64decode(plain) if ";base64" in found[1].lower() else plain
    except (binascii.Error, ValueError) as error:
        raise NoImage("its data: address is malformed") from error
