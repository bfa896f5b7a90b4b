"""Pictures as the tests of looks make and read them."""

from __future__ import annotations

import io

from PIL import Image


def read(data: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


def png(width: int, height: int, color: str = "#d04020") -> bytes:
    return saved(Image.new("RGBA", (width, height), color), "PNG")


def saved(picture: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()
