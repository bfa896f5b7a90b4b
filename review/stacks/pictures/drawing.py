"""The pen of the pictures: SVG elements as text, every value escaped, colours by role.

Colours are attributes, so that a page whose policy drops styles still shows the light picture. The
one style sheet only replaces them where a dark page shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

from config.fonts import metrics

LIGHT = {
    "paper": "#ffffff", "line": "#e7e5df", "edge": "#d5d2ca", "chosen": "#edecfb",
    "ink": "#1b1c20", "ink2": "#505259", "ink3": "#64666d", "idle": "#7a7c83",
    "up": "#12805c", "add": "#158a67", "del": "#cf5f0c",
    "addink": "#0b6447", "delink": "#96430a", "warn": "#7a4c00",
    "oldadd": "#b3b1ab", "olddel": "#d5d2ca",
}  # fmt: skip
DARK = {
    "paper": "#1a1c21", "line": "#2a2d34", "edge": "#3a3e47", "chosen": "#2b2a4a",
    "ink": "#ecebe8", "ink2": "#b1b4bc", "ink3": "#9599a3", "idle": "#8b8f99",
    "up": "#3fbf90", "add": "#35b48a", "del": "#ee8a40",
    "addink": "#7adcb7", "delink": "#f8b37d", "warn": "#efc673",
    "oldadd": "#5a5e68", "olddel": "#3a3e47",
}  # fmt: skip
SIZE = 12.0
UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # for XML 1.0
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # changes the direction of the text after it
Value = str | float


def clean(text: str) -> str:
    """The text as one line that XML can hold."""
    return " ".join(UNFIT.sub("\ufffd", TURNING.sub("", text)).split())


def element(name: str, values: Mapping[str, Value], inner: str = "") -> str:
    """One element; `inner` is markup already. Numbers are written without needless digits."""
    attributes = "".join(f" {key}={quoteattr(_value(value))}" for key, value in values.items())
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


def _value(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def fill(role: str) -> dict[str, Value]:
    return {"class": f"f-{role}", "fill": LIGHT[role]}


def stroke(role: str, width: float, dashes: str = "") -> dict[str, Value]:
    paint: dict[str, Value] = {
        "class": f"s-{role}", "fill": "none", "stroke": LIGHT[role], "stroke-width": width,
    }  # fmt: skip
    return paint | ({"stroke-dasharray": dashes} if dashes else {})


def group(*parts: str, hint: str = "") -> str:
    """Parts that belong together; a hint is for pointers and screen readers."""
    title = f"<title>{escape(clean(hint))}</title>" if hint else ""
    return element("g", {}, title + "".join(parts))


def rect(at: tuple[float, float], size: tuple[float, float], radius: float, role: str) -> str:
    shape: dict[str, Value] = {"x": at[0], "y": at[1], "width": size[0], "height": size[1]}
    return element("rect", shape | ({"rx": radius} if radius else {}) | fill(role))


def line(x: float, top: float, bottom: float, paint: Mapping[str, Value]) -> str:
    return element("path", {"d": f"M{x:g} {top:g}V{bottom:g}"} | dict(paint))


def text(
    x: float,
    y: float,
    words: str,
    role: str,
    *,
    size: float = SIZE,
    bold: bool = False,
    end: bool = False,
    mono: bool = False,
) -> str:
    """Words on the baseline `y`; with `end`, they end at `x`."""
    values: dict[str, Value] = {"x": x, "y": y, **fill(role)}
    if size != SIZE:
        values["font-size"] = size
    if bold:
        values["font-weight"] = "bold"
    if end:
        values["text-anchor"] = "end"
    if mono:
        values["font-family"] = metrics.MONO_FAMILY
    return element("text", values, escape(words))


def dot(x: float, y: float, status: str) -> str:
    """The status by shape and colour: dashed ring, ring, disc, disc with a check."""
    place: dict[str, Value] = {"cx": x, "cy": y}
    match status:
        case "published":
            return element("circle", place | {"r": 4.5} | fill("up"))
        case "merged":
            check = f"M{x - 2.2:g} {y + 0.2:g}l1.6 1.6 2.9-3.2"
            return element("circle", place | {"r": 5.0} | fill("idle")) + element(
                "path", {"d": check} | stroke("paper", 1.4)
            )
        case "ready":
            return element("circle", place | {"r": 4.0} | stroke("ink2", 1.5))
        case _:
            return element("circle", place | {"r": 4.0} | stroke("idle", 1.5, "2.2 2"))


def document(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """The whole picture on its own paper, so that it is readable on white and on black."""
    border = element(
        "rect",
        {"x": 0.5, "y": 0.5, "width": width - 1, "height": height - 1, "rx": 10}
        | stroke("line", 1)
        | {"class": "f-paper s-line", "fill": LIGHT["paper"]},
    )
    head: dict[str, Value] = {
        "xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height,
        "viewBox": f"0 0 {width:g} {height:g}", "role": "img", "aria-label": clean(label),
        "font-family": metrics.FAMILY, "font-size": SIZE,
    }  # fmt: skip
    return element("svg", head, "\n" + "\n".join((_dark_sheet(), border, *parts)) + "\n") + "\n"


def _dark_sheet() -> str:
    rules = "".join(
        f".f-{role}{{fill:{colour}}}.s-{role}{{stroke:{colour}}}" for role, colour in DARK.items()
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
