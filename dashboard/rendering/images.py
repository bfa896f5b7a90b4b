"""Untrusted bytes become our own pixels: type by magic bytes, size bounded before decoding.

The results are newly encoded PNG or WebP; nothing of the original file is passed on.
"""

from __future__ import annotations

import io
import warnings

from PIL import IcoImagePlugin, Image, WebPImagePlugin

from dashboard.rendering import svg

PIXELS = 16 << 20  # of one image; a bomb is recognised by its header, before a byte is unpacked
Image.MAX_IMAGE_PIXELS = PIXELS // 2  # Pillow refuses twice this, also in the frames of an ICO
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP")
BLANK = 0.995  # the share of equal pixels from which a picture counts as blank
NEAR = 3  # by how much, of 255, a channel may differ from the prevailing colour
LIMIT = 300 << 10
_QUALITIES = (84, 70, 50, 30)
# Imported by name: for the first format that it does not know Pillow would load all forty.
_PLUGINS = (IcoImagePlugin, WebPImagePlugin)


class NoImage(Exception):
    """The bytes are not an image that is accepted; the sentence says why."""


def read(data: bytes, *, side: int) -> Image.Image:
    """The image as RGBA, at most `side` pixels wide and high; an SVG is drawn at that size.

    An SVG takes up to 3 s in another process: call it in a thread.
    """
    if svg.looks_like(data):
        try:
            data = svg.draw(data, side)
        except svg.NotDrawn as error:
            raise NoImage(str(error)) from error
    picture = _open(data)
    if picture.getchannel("A").getbbox() is None:
        raise NoImage("it is fully transparent")
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    return picture


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def shot(data: bytes, size: tuple[int, int]) -> bytes:
    """A screenshot as WebP of exactly this size, at most 300 KiB. NoImage if it is blank."""
    picture = _open(data).convert("RGB")
    if blank(picture):
        raise NoImage("the page is blank")
    picture = _covering(picture, size)
    for quality in _QUALITIES:
        out = io.BytesIO()
        picture.save(out, "WEBP", quality=quality, method=4)
        if out.tell() <= LIMIT:
            break
    return out.getvalue()


def blank(picture: Image.Image) -> bool:
    """Whether one colour fills more than 99.5 % of the picture."""
    rgb = picture.convert("RGB")
    colors = rgb.getcolors(rgb.width * rgb.height) or []
    _, prevailing = max(colors)
    assert isinstance(prevailing, tuple)
    same = sum(
        count
        for count, color in colors
        if isinstance(color, tuple)
        and all(abs(a - b) <= NEAR for a, b in zip(color, prevailing, strict=True))
    )
    return same > BLANK * rgb.width * rgb.height


def _open(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata, and of images above half the limit
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
            picture.load()
            return picture.convert("RGBA")
    except Image.DecompressionBombError as error:
        raise NoImage(f"it has too many pixels: more than {PIXELS}") from error
    except Exception as error:  # given arbitrary bytes, a decoder may raise anything
        raise NoImage(f"it is not an image: {type(error).__name__}") from error


def _covering(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture scaled to cover `size`, with the surplus cut off at the bottom and equally at
    the sides."""
    factor = max(size[0] / picture.width, size[1] / picture.height)
    width, height = size[0] / factor, size[1] / factor
    left = (picture.width - width) / 2
    return picture.resize(
        size, Image.Resampling.LANCZOS, box=(left, 0, left + width, height), reducing_gap=2.0
    )
