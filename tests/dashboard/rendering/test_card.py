"""There is always an image: the generated card and the plate of a favicon."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PIL import Image

from dashboard.rendering import card, lettering, palette
from tests.dashboard.rendering import pictures

LIMIT = 300 << 10


def luminance(color: palette.Rgb) -> float:
    parts = [v / 12.92 if (v := c / 255) <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
             for c in color]  # fmt: skip
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_a_card_is_a_png_of_640_by_400_below_the_limit():
    data = card.card("shop", "Shop", framework="Django")

    picture = pictures.read(data)
    assert (picture.format, picture.size) == ("PNG", (640, 400))
    assert len(data) <= LIMIT


def test_the_same_app_has_the_same_bytes_in_another_process():
    here = card.card("shop", "Shop", framework="Django", color="teal")
    code = (
        "import sys; from dashboard.rendering import card;"
        "sys.stdout.buffer.write(card.card('shop', 'Shop', framework='Django', color='teal'))"
    )

    there = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    assert there == here


@pytest.mark.parametrize(
    "other",
    [("shop-2", "Shop", None, None), ("shop", "Shed", None, None),
     ("shop", "Shop", "Vite", None), ("shop", "Shop", None, "gold")],
)  # fmt: skip
def test_slug_name_framework_and_colour_each_change_the_card(other):
    slug, name, framework, color = other

    changed = card.card(slug, name, framework=framework, color=color)

    assert changed != card.card("shop", "Shop")


def test_white_letters_are_readable_on_the_card_of_every_slug_and_colour():
    colors = [palette.gradient(f"app-{n}") for n in range(200)]
    colors += [palette.gradient("x", f"hsl({hue}, 100%, 50%)") for hue in range(0, 360, 5)]
    colors += [palette.gradient("x", name) for name in ("white", "black", "#888", "yellow")]

    worst = max(luminance(end) for pair in colors for end in pair)

    assert 1.05 / (worst + 0.05) >= 4.5


def test_a_colour_nobody_knows_counts_as_none():
    assert card.card("shop", "Shop", color="no-such-colour") == card.card("shop", "Shop")


@pytest.mark.parametrize(
    ("text", "letters"),
    [("Kestrel API", "KA"), ("shop", "S"), ("myApp", "MA"), ("Tallow & Finch", "TF"),
     ("ledger-line_worker", "LL"), ("42 things", "4T"), ("ßtraße", "S"), ("--", "?"), ("", "?")],
)  # fmt: skip
def test_initials_are_those_of_the_first_two_words(text, letters):
    assert lettering.initials(text) == letters


@pytest.mark.parametrize("name", ["日本語", "متجر", "חנות", "🛒🛒", "\u200b\u202e", "  ", "a\x00b"])
def test_a_name_the_fonts_cannot_write_gives_way_to_the_slug(name):
    assert lettering.title(name, "shop") == "shop"


@pytest.mark.parametrize("name", ["Café Δ", "Магазин", "Shop №1 → 2"])
def test_a_name_the_fonts_can_write_stays(name):
    assert lettering.title(name, "shop") == name


def test_long_names_and_frameworks_stay_inside_the_card_and_apart():
    data = card.card("x", "W" * 80, framework="W" * 200)

    face = lettering.font(lettering.REGULAR, card.NAME)
    assert pictures.read(data).size == card.SIZE
    assert face.getlength(lettering.fit("W" * 80, face, 300)) <= 300
    assert lettering.fit("W" * 80, face, 300).endswith("…")


@pytest.mark.parametrize("size", [(48, 48), (512, 512), (20, 200), (300, 30)])
def test_a_plate_shows_the_icon_in_its_middle(size):
    data = card.plate(Image.new("RGBA", size, "#2040c0"))

    picture = pictures.read(data).convert("RGB")
    assert (picture.size, len(data) <= LIMIT) == ((640, 400), True)
    red, green, blue = (int(v) for v in picture.getpixel((320, 200)))  # type: ignore[union-attr]
    assert blue > red + 60
    assert blue > green + 60


@pytest.mark.parametrize("size", [(1, 4000), (4000, 1), (1, 1)])
def test_a_plate_takes_an_icon_of_any_shape(size):
    assert pictures.read(card.plate(Image.new("RGBA", size, "red"))).size == (640, 400)


def test_a_plate_of_a_see_through_icon_is_grey_and_whole():
    assert pictures.read(card.plate(Image.new("RGBA", (64, 64)))).size == (640, 400)


@pytest.mark.parametrize(("color", "square"), [("#ffffff", card.DARK), ("#f0f0f0", card.DARK)])
def test_a_white_icon_stands_on_a_dark_square(color, square):
    icon = pictures.read(pictures.png(64, 64, color))

    plate = pictures.read(card.plate(icon)).convert("RGB")

    corner = plate.getpixel(((card.WIDTH - card.TILE) // 2 + 30, card.HEIGHT // 2))
    assert isinstance(corner, tuple)
    assert max(abs(a - b) for a, b in zip(corner, square, strict=True)) < 30


def test_a_dark_glyph_on_white_keeps_its_white_square():
    icon = Image.new("RGBA", (64, 64), "white")
    icon.paste("#202020", (24, 24, 40, 40))

    plate = pictures.read(card.plate(icon)).convert("RGB")

    corner = plate.getpixel(((card.WIDTH - card.TILE) // 2 + 30, card.HEIGHT // 2))
    assert isinstance(corner, tuple)
    assert min(corner) > 200
