"""The picture of an app that has none: a 640x400 card; and the plate under a favicon.

A card depends on nothing but the arguments: an app has the same bytes on every start. A tile shows
the band from y = 86 to 314, so the initials are inside it and the small print is below it.
"""

from __future__ import annotations

import io
from functools import cache

from PIL import Image, ImageDraw

from dashboard.rendering import lettering, palette
from dashboard.rendering.palette import Rgb

WIDTH, HEIGHT = 640, 400
SIZE = (WIDTH, HEIGHT)
MARGIN = 48
SMOOTH = 3  # circles are drawn this many times larger, then scaled down
WHITE = (255, 255, 255)
DARK = (38, 42, 51)  # under an icon that is itself white
ICON = 128  # maximum pixels of an icon on its plate; it is enlarged twice at most
COMPRESS = 3  # half the time of the default for a tenth more bytes
TILE = 208  # the white square under the icon
PALE = 215  # of 255: a colour with all channels above it is hardly visible on white
NAME, MARK, INITIALS = 24, 18, 104  # font sizes in pixels


def card(slug: str, name: str, *, framework: str | None = None, color: str | None = None) -> bytes:
    """A PNG of 640x400: gradient by `color` or the slug, initials, name, the framework's name."""
    picture = _draw_gradient(*palette.gradient(slug, color))
    picture.paste(WHITE, mask=_rings())
    draw = ImageDraw.Draw(picture, "RGBA")
    title = lettering.title(name, slug)
    letters = lettering.initials(title)
    large = lettering.font(lettering.BOLD, INITIALS)
    left = MARGIN - large.getbbox(letters, anchor="lm")[0]  # the ink begins at the margin
    draw.text((left, HEIGHT // 2), letters, (*WHITE, 255), large, anchor="lm")
    base = HEIGHT - 42
    room = WIDTH - 2 * MARGIN
    if framework and all(map(lettering.drawable, framework)):
        room -= _mark(draw, framework, base) + 24
    face = lettering.font(lettering.REGULAR, NAME)
    draw.text((MARGIN, base), lettering.fit(title, face, room), (*WHITE, 235), face, anchor="lm")
    return encode(picture)


def plate(icon: Image.Image) -> bytes:
    """A PNG of 640x400: the icon on a white square, on a pale shade of its own colour.

    A white icon gets a dark square.
    """
    icon = _scale(icon.convert("RGBA"))
    picture = _draw_gradient(*palette.tint(_prevailing(icon)))
    picture.paste(DARK if _white(icon) else WHITE, mask=_square())
    place = ((WIDTH - icon.width) // 2, (HEIGHT - icon.height) // 2)
    picture.paste(icon, place, icon)
    return encode(picture)


def encode(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=COMPRESS)
    return out.getvalue()


def _draw_gradient(start: Rgb, end: Rgb) -> Image.Image:
    """A gradient from the upper left to the lower right corner."""
    across, down = 255 * 0.45 / WIDTH, 255 * 0.55 / HEIGHT
    slope = Image.linear_gradient("L").transform(
        SIZE, Image.Transform.AFFINE, (0, 0, 128, across, down, 0), Image.Resampling.BILINEAR
    )
    return Image.composite(Image.new("RGB", SIZE, end), Image.new("RGB", SIZE, start), slope)


@cache
def _rings() -> Image.Image:
    """How much white is added by the two large discs on the right."""
    mask = Image.new("L", (WIDTH * SMOOTH, HEIGHT * SMOOTH))
    draw = ImageDraw.Draw(mask)
    draw.circle((500 * SMOOTH, 110 * SMOOTH), 190 * SMOOTH, fill=15)
    draw.circle((610 * SMOOTH, 300 * SMOOTH), 150 * SMOOTH, fill=26)
    return mask.resize(SIZE, Image.Resampling.BOX)


def _mark(draw: ImageDraw.ImageDraw, framework: str, base: int) -> int:
    """Draw the framework's name in a pill at the right edge. Returns its width in pixels."""
    face = lettering.font(lettering.BOLD, MARK)
    text = lettering.fit(framework, face, 200)
    width = round(face.getlength(text)) + 32
    left = WIDTH - MARGIN - width
    draw.rounded_rectangle((left, base - 18, WIDTH - MARGIN, base + 18), 18, fill=(*WHITE, 44))
    draw.text((left + width / 2, base), text, (*WHITE, 245), face, anchor="mm")
    return width


@cache
def _square() -> Image.Image:
    mask = Image.new("L", (WIDTH * SMOOTH, HEIGHT * SMOOTH))
    left, top = (WIDTH - TILE) // 2 * SMOOTH, (HEIGHT - TILE) // 2 * SMOOTH
    side = TILE * SMOOTH
    ImageDraw.Draw(mask).rounded_rectangle(
        (left, top, left + side, top + side), 44 * SMOOTH, fill=235
    )
    return mask.resize(SIZE, Image.Resampling.BOX)


def _scale(icon: Image.Image) -> Image.Image:
    factor = min(2.0, ICON / max(icon.size))
    size = (max(1, round(icon.width * factor)), max(1, round(icon.height * factor)))
    return icon.resize(size, Image.Resampling.LANCZOS)


def _white(icon: Image.Image) -> bool:
    """Whether almost nothing of the icon would be visible on white."""
    small = icon.resize((16, 16), Image.Resampling.BOX)
    pixels = small.tobytes()
    opaque = [pixels[at : at + 3] for at in range(0, len(pixels), 4) if pixels[at + 3] > 127]
    seen = sum(min(pixel) < PALE for pixel in opaque)
    return seen < len(opaque) * 0.05


def _prevailing(icon: Image.Image) -> Rgb:
    """The mean colour of the opaque pixels; grey if there are none."""
    small = icon.resize((16, 16), Image.Resampling.BOX)
    weight = [0, 0, 0, 0]
    pixels = small.tobytes()
    for at in range(0, len(pixels), 4):
        red, green, blue, alpha = pixels[at : at + 4]
        strong = alpha * (8 + max(red, green, blue) - min(red, green, blue))
        for channel, value in enumerate((red, green, blue)):
            weight[channel] += value * strong
        weight[3] += strong
    red, green, blue = (value // weight[3] if weight[3] else 128 for value in weight[:3])
    return red, green, blue
