"""The two colours of a card, chosen in OKLCH, where all hues look equally bright."""

from __future__ import annotations

import hashlib
import math

from PIL import ImageColor

Rgb = tuple[int, int, int]

TURN = 30.0  # degrees of hue between the two ends of the gradient
ARC = (185, 345)  # hues for slugs: teal over blue to pink, none that stands for a state
LIGHT, DARK = 0.53, 0.37  # white letters keep a contrast of 4.5:1 on both
CHROMA = 0.115
GREY = 0.02  # a colour with less chroma counts as grey


def gradient(slug: str, color: str | None = None) -> tuple[Rgb, Rgb]:
    """The light and the dark end: the hue of `color` (CSS) if valid, else one by the slug."""
    hue, chroma = _hue_and_chroma(color) or (_slug_hue(slug), CHROMA)
    return rgb(LIGHT, chroma, hue), rgb(DARK, chroma, hue + (TURN if chroma else 0))


def tint(color: Rgb) -> tuple[Rgb, Rgb]:
    """Two pale shades of a colour, for the background of an icon."""
    chroma, hue = _polar(color)
    chroma = min(chroma, 0.045)
    return rgb(0.95, chroma, hue), rgb(0.87, chroma, hue)


def rgb(lightness: float, chroma: float, hue: float) -> Rgb:
    """OKLCH (hue in degrees) as sRGB; colours outside sRGB are clipped."""
    a = chroma * math.cos(math.radians(hue))
    b = chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        _encode_channel(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
        _encode_channel(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
        _encode_channel(-0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short),
    )


def _hue_and_chroma(color: str | None) -> tuple[float, float] | None:
    """(hue, chroma) of a CSS colour; None if there is none or it is unknown."""
    try:
        chroma, hue = _polar(ImageColor.getrgb(color or "")[:3])
    except ValueError:
        return None
    return hue, CHROMA if chroma > GREY else 0.0


def _slug_hue(slug: str) -> float:
    return ARC[0] + int.from_bytes(hashlib.sha256(slug.encode()).digest()[:4], "big") % (
        ARC[1] - ARC[0]
    )


def _polar(color: Rgb) -> tuple[float, float]:
    """(chroma, hue in degrees) of an sRGB colour."""
    red, green, blue = (_linear(value / 255) for value in color)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return math.hypot(a, b), math.degrees(math.atan2(b, a))


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _encode_channel(value: float) -> int:
    value = min(1.0, max(0.0, value))
    curved = 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
    return round(255 * curved)
