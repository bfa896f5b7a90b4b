"""Images of strangers: type by magic bytes, bombs bounded, SVG drawn where it can open nothing."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from dashboard.rendering import images
from dashboard.rendering.images import NoImage
from tests.dashboard.rendering import pictures

SVG = '<svg xmlns="http://www.w3.org/2000/svg" {}</svg>'
SQUARE = SVG.format('viewBox="0 0 9 9"><rect width="9" height="9" fill="lime"/>').encode()


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and has next to no data."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + data + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP"])
def test_the_usual_kinds_are_read_by_their_magic_bytes(kind):
    data = pictures.saved(Image.new("RGB", (64, 64), "#3050d0"), kind)

    picture = images.read(data, side=128)

    assert (picture.mode, picture.size) == ("RGBA", (64, 64))


def test_a_picture_is_read_and_made_with_the_plugins_of_the_kinds_we_take_alone():
    script = """
import io, sys
from PIL import Image
from dashboard.rendering import images
for kind in ("PNG", "ICO"):
    file = io.BytesIO()
    Image.linear_gradient("L").convert("RGBA").save(file, kind)
    images.read(file.getvalue(), side=32)
    images.shot(file.getvalue(), (16, 16))
print("PIL.WmfImagePlugin" in sys.modules)
"""
    run = [sys.executable, "-c", script]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "False\n"


def test_the_largest_frame_of_an_ico_counts_and_is_scaled_to_the_side():
    out = io.BytesIO()
    Image.new("RGBA", (256, 256), "red").save(out, "ICO", sizes=[(16, 16), (256, 256)])

    assert images.read(out.getvalue(), side=128).size == (128, 128)


@pytest.mark.parametrize("data", [SQUARE, b"\xef\xbb\xbf" + SQUARE, gzip.compress(SQUARE),
    b'<?xml version="1.0"?>\n<!-- logo -->\n' + SQUARE,
    b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">' + SQUARE])  # fmt: skip
def test_an_svg_is_drawn_at_the_side(data):
    picture = images.read(data, side=96)

    assert picture.size == (96, 96)
    assert picture.getpixel((48, 48)) == (0, 255, 0, 255)


def test_a_tall_svg_stays_within_the_side():
    tall = SVG.format('viewBox="0 0 1 8"><rect width="1" height="8"/>').encode()

    assert images.read(tall, side=96).size == (12, 96)


def test_an_svg_cannot_show_a_file_of_this_machine(tmp_path: Path):
    (tmp_path / "secret.png").write_bytes(pictures.png(50, 50))
    spy = SVG.format(
        f'width="50" height="50"><image href="{tmp_path}/secret.png" width="50" height="50"/>'
    )

    with pytest.raises(NoImage, match="transparent"):
        images.read(spy.encode(), side=64)


@pytest.mark.parametrize("letter", ["S", "⚡", "&#9889;", "&#x26a1;\ufe0f", "&amp;"])
def test_an_svg_of_a_letter_or_sign_is_drawn(letter):
    icon = SVG.format(f'viewBox="0 0 100 100"><text y=".9em" font-size="90">{letter}</text>')

    left, top, right, bottom = images.read(icon.encode(), side=96).getbbox() or (0, 0, 0, 0)

    assert (right - left) * (bottom - top) > 900


@pytest.mark.parametrize("letter", ["\U000f1234", "&#983604;", "\U000f1234\u200d\U000f1235"])
def test_an_svg_of_a_sign_that_no_font_has_is_no_picture_of_a_box(letter):
    icon = SVG.format(f'viewBox="0 0 100 100"><text y=".9em" font-size="90">{letter}</text>')

    with pytest.raises(NoImage, match="cannot be drawn"):
        images.read(icon.encode(), side=96)


def test_an_svg_with_letters_cannot_show_a_file_either(tmp_path: Path):
    (tmp_path / "secret.png").write_bytes(pictures.png(50, 50))
    name = f'"{tmp_path}/secret.png"'
    for said in (f"href={name}", f'xlink:href={name} xmlns:xlink="http://www.w3.org/1999/xlink"'):
        spy = SVG.format(
            f'width="50" height="50"><image {said} width="50" height="50"/><text y="20">a</text>'
        )

        with pytest.raises(NoImage, match="transparent"):
            images.read(spy.encode(), side=64)


def test_svg_bombs_end_within_their_bounds():
    uses = "".join(f'<g id="a{n}">{f"""<use href="#a{n - 1}"/>""" * 10}</g>' for n in range(1, 12))
    laughs = SVG.format(
        f'viewBox="0 0 9 9"><defs><g id="a0"><rect width="5" height="5"/></g>{uses}</defs>'
        '<use href="#a11"/>'
    )
    tall = SVG.format('width="1" height="100000000"><rect width="9" height="9"/>')

    for bomb in (laughs, tall):
        with pytest.raises(NoImage):
            images.read(bomb.encode(), side=64)


def test_an_svgz_that_inflates_beyond_measure_is_refused():
    with pytest.raises(NoImage, match="1 MiB"):
        images.read(gzip.compress(SQUARE + b" " * (32 << 20)), side=64)


@pytest.mark.parametrize("size", [(50_000, 50_000), (4097, 4096), (2**31 - 1, 1)])
def test_an_image_bomb_is_refused_by_its_header(size):
    with pytest.raises(NoImage, match="too many"):
        images.read(png_header(*size), side=128)


def test_a_bomb_inside_an_ico_is_refused_too():
    frame = png_header(12_000, 12_000)
    directory = struct.pack("<HHHBBBBHHII", 0, 1, 1, 0, 0, 0, 0, 1, 32, len(frame), 22)

    with pytest.raises(NoImage, match="too many"):
        images.read(directory + frame, side=128)


@pytest.mark.parametrize("data", [b"", b"<html></html>", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF",
    b"\0\0\1\0\1\0", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"<svg ", pictures.png(64, 64)[:60],
    b"\xff\xd8\xff\xe0" + b"\0" * 99, png_header(100, 100)])  # fmt: skip
def test_what_is_no_whole_image_is_refused(data):
    with pytest.raises(NoImage):
        images.read(data, side=128)


def test_an_image_without_a_visible_pixel_is_refused():
    with pytest.raises(NoImage, match="transparent"):
        images.read(pictures.saved(Image.new("RGBA", (64, 64)), "PNG"), side=128)


def page(filled: float) -> bytes:
    """A white page of 400x250 with that share of its pixels black."""
    picture = Image.new("RGB", (400, 250), "white")
    ImageDraw.Draw(picture).rectangle((0, 0, 399, round(250 * filled) - 1), fill="black")
    return pictures.saved(picture, "PNG")


def test_a_page_of_one_colour_is_blank_and_one_with_a_line_on_it_is_not():
    with pytest.raises(NoImage, match="blank"):
        images.shot(pictures.saved(Image.new("RGB", (400, 250), "#fdfdfd"), "PNG"), (640, 400))
    with pytest.raises(NoImage, match="blank"):
        images.shot(page(0.004), (640, 400))

    assert pictures.read(images.shot(page(0.008), (640, 400))).size == (640, 400)


def test_the_noisiest_screenshot_stays_below_300_kib():
    noise = Image.effect_noise((1280, 800), 120).convert("RGB")

    data = images.shot(pictures.saved(noise, "PNG"), (640, 400))

    assert len(data) <= 300 << 10
    assert pictures.read(data).format == "WEBP"


def test_a_tall_viewport_is_cut_at_the_bottom():
    tall = Image.new("RGB", (640, 1600), "blue")
    ImageDraw.Draw(tall).rectangle((0, 0, 640, 300), fill="red")

    shot = pictures.read(images.shot(pictures.saved(tall, "PNG"), (640, 400))).convert("RGB")

    assert shot.size == (640, 400)
    top, bottom = shot.getpixel((320, 20)), shot.getpixel((320, 390))
    assert isinstance(top, tuple)
    assert isinstance(bottom, tuple)
    assert top[0] > 200
    assert bottom[2] > 200
