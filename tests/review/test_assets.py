"""Images: what is taken, what it is called, where it lies, and what is refused."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.errors import Invalid, NotFound, SvcError, TooLarge, UnsupportedMedia
from config.storage.files import CannotWrite
from config.storage.paths import UnsafePath
from review import assets
from tests.review.bombs import ACTIVE, LEADING, opened
from tests.review.places import put

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
IMAGES = {
    "image/png": (PNG, "png"),
    "image/jpeg": (b"\xff\xd8\xff\xe0rest", "jpg"),
    "image/gif": (b"GIF89arest", "gif"),
    "image/webp": (b"RIFF\x0a\x00\x00\x00WEBPVP8 ", "webp"),
    "image/svg+xml": (SVG, "svg"),
}


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_is_kept_under_the_hash_of_its_bytes(home: Path, kind: str):
    data, suffix = IMAGES[kind]
    name = f"{hashlib.sha256(data).hexdigest()}.{suffix}"

    stored = assets.store("pay", data, kind)

    assert stored == {
        "name": name,
        "markdown": f"![image](/api/projects/pay/assets/{name})",
        "created": True,
    }
    assert (home / "pay" / "assets" / name).read_bytes() == data
    assert assets.find("pay", name) == home / "pay" / "assets" / name
    assert assets.read("pay", name) == data
    assert assets.TYPES[f".{suffix}"] == kind


def test_the_same_image_again_is_not_created(home: Path):
    first = assets.store("pay", PNG, "image/png", "one")
    kept = home / "pay" / "assets" / first["name"]
    before = (kept.stat().st_mtime_ns, kept.stat().st_ino)
    again = assets.store("pay", PNG, "image/png", "two")

    assert (again["created"], again["name"]) == (False, first["name"])
    assert (kept.stat().st_mtime_ns, kept.stat().st_ino) == before


def test_other_kinds_of_one_signature_are_known(home: Path):
    assert assets.store("pay", b"GIF87a...", "image/gif")["created"]
    assert assets.store("pay", b"\xff\xd8\xff\xdb...", "image/jpeg")["created"]


def test_a_new_image_is_as_readable_as_the_umask_says(home: Path):
    before = os.umask(0o027)
    try:
        name = assets.store("pay", PNG, "image/png")["name"]
    finally:
        os.umask(before)

    assert (home / "pay" / "assets" / name).stat().st_mode & 0o777 == 0o640


def test_a_damaged_image_is_put_right(home: Path):
    name = assets.store("pay", PNG, "image/png")["name"]
    (home / "pay" / "assets" / name).write_bytes(b"")

    assert assets.store("pay", PNG, "image/png")["created"]
    assert assets.read("pay", name) == PNG


@pytest.mark.parametrize("kind", ["image/jpg", "text/html", "", "image/PNG", "image/x-icon"])
def test_other_types_are_refused(home: Path, kind: str):
    with pytest.raises(UnsupportedMedia) as refused:
        assets.store("pay", PNG, kind)

    assert refused.value.text == f"Unsupported image type: {kind}"
    assert not (home / "pay" / "assets").exists()


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("image/png", "a PNG image"),
        ("image/jpeg", "a JPEG image"),
        ("image/gif", "a GIF image"),
        ("image/webp", "a WebP image"),
        ("image/svg+xml", "an SVG image"),
    ],
)
def test_contents_of_another_type_are_refused(home: Path, kind: str, named: str):
    for other, (data, _) in IMAGES.items():
        if other != kind:
            with pytest.raises(UnsupportedMedia) as refused:
                assets.store("pay", data, kind)
            assert refused.value.text == f"Contents are not {named}"
    with pytest.raises(UnsupportedMedia):
        assets.store("pay", b"x", kind)
    assert not (home / "pay" / "assets").exists()


def test_an_empty_upload_is_refused(home: Path):
    with pytest.raises(Invalid, match="Upload is empty"):
        assets.store("pay", b"", "image/png")


def test_five_megabytes_are_taken_and_a_byte_more_is_not(home: Path):
    most = PNG + b"x" * (5_242_880 - len(PNG))

    assert assets.store("pay", most, "image/png")["created"]
    with pytest.raises(TooLarge) as refused:
        assets.store("pay", most + b"x", "image/png")
    assert refused.value.text == "Image is larger than 5 MB"
    assert len(tree(home / "pay" / "assets")) == 1


def test_an_unknown_project_comes_before_everything_else(home: Path):
    with pytest.raises(NotFound, match="No such project: nope"):
        assets.store("nope", b"", "text/plain")
    with pytest.raises(NotFound, match="No such project"):
        assets.find("../pay", "0" * 64 + ".png")


@pytest.mark.parametrize(
    ("alt", "shown"),
    [
        ("", "image"),
        ("  \n ", "image"),
        ("a]b[c\\d", r"a\]b\[c\\d"),
        ("two\r\nlines\tand a tab", "two lines and a tab"),
        ("x" * 400, "x" * 300),
        ("]" * 400, r"\]" * 300),
        ("half \ud83d", "half ?"),
        ("ünï 漢字", "ünï 漢字"),
    ],
)
def test_the_markdown_holds_the_alt_text(home: Path, alt: str, shown: str):
    stored = assets.store("pay", PNG, "image/png", alt)

    assert stored["markdown"] == f"![{shown}](/api/projects/pay/assets/{stored['name']})"


NAME = hashlib.sha256(PNG).hexdigest()


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../project.yaml", "..%2fproject.yaml", "project.yaml", NAME, f"{NAME}.",
        f"{NAME}.PNG", f"{NAME.upper()}.png", f"{NAME[:-1]}.png", f"{NAME}0.png", f"{NAME}.jpeg",
        f"{NAME}.png\n", f"{NAME}.png/", f"./{NAME}.png", f"../assets/{NAME}.png", f"{NAME}.png\0",
        f"{NAME}.html", "x" * 5000, "\u0660" * 64 + ".png", "\udcff",
    ],
)  # fmt: skip
def test_other_names_are_not_found(home: Path, name: str):
    assets.store("pay", PNG, "image/png")

    for look in (assets.find, assets.read):
        with pytest.raises(NotFound) as refused:
            look("pay", name)
        assert refused.value.text == "No such asset"


def test_an_image_of_one_project_is_not_one_of_another(home: Path):
    put(home / "other" / "project.yaml", b"title: Other\n")
    name = assets.store("pay", PNG, "image/png")["name"]

    with pytest.raises(NotFound):
        assets.find("other", name)


@pytest.mark.parametrize("trap", ["link", "pipe", "folder", "loop", "dangling"])
def test_what_only_bears_the_name_is_not_served(home: Path, tmp_path: Path, trap: str):
    put(tmp_path / "secret.png", PNG)
    place = home / "pay" / "assets" / f"{'0' * 64}.png"
    place.parent.mkdir()
    if trap == "pipe":
        os.mkfifo(place)
    elif trap == "folder":
        place.mkdir()
    else:
        targets = {"link": tmp_path / "secret.png", "loop": place, "dangling": tmp_path / "none"}
        place.symlink_to(targets[trap])

    for look in (assets.find, assets.read):
        with pytest.raises(NotFound):
            look("pay", place.name)


def test_a_link_that_comes_after_the_look_is_not_followed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = home / "pay" / "assets" / f"{NAME}.png"
    place.parent.mkdir()
    place.symlink_to(put(tmp_path / "secret.png", PNG))
    monkeypatch.setattr(assets, "_is_ours", lambda _path: True)

    with pytest.raises(NotFound):
        assets.read("pay", place.name)


def test_an_assets_folder_that_leads_away_is_neither_read_nor_written(home: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    put(outside / f"{NAME}.png", PNG)
    (home / "pay" / "assets").symlink_to(outside)

    with pytest.raises(NotFound):
        assets.read("pay", f"{NAME}.png")
    with pytest.raises(UnsafePath):
        assets.store("pay", b"GIF89a", "image/gif")
    assert tree(outside) == [f"{NAME}.png"]


def test_a_disk_that_refuses_leaves_nothing_behind(home: Path):
    put(home / "pay" / "assets", b"a file in the way")

    with pytest.raises(CannotWrite, match=r"Cannot write .*\.png: "):
        assets.store("pay", PNG, "image/png")
    assert tree(home / "pay") == ["assets", "project.yaml"]


@pytest.mark.django_db(transaction=True)
def test_many_uploads_of_one_image_at_once_create_one_file(home: Path):
    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(lambda _: assets.store("pay", PNG, "image/png"), range(32)))

    assert sum(one["created"] for one in stored) == 1
    assert tree(home / "pay" / "assets") == [f"{NAME}.png"]


@pytest.mark.parametrize(
    "data",
    [
        SVG,
        b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?>\n<!-- drawn by hand -->' + SVG,
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://localhost/svg11.dtd">' + SVG,
        b'<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:g/></s:svg>',
        SVG.decode().encode("utf-16"),
        opened('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>', ""),
    ],
)  # fmt: skip
def test_svg_as_programs_write_it_is_taken(home: Path, data: bytes):
    assert assets.store("pay", data, "image/svg+xml")["created"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<svg/>", "root"),
        (b'<svg xmlns="http://www.w3.org/2000/SVG"/>', "root"),
        (b'<html xmlns="http://www.w3.org/1999/xhtml">' + SVG + b"</html>", "root"),
        (SVG[:-2], "line 1"),
        (SVG + SVG, "line 1"),
        (b'<svg xmlns="http://www.w3.org/2000/svg" a="1" a="2"/>', "line 1"),
        (b"", None),
        (opened("<g>" * 256 + "</g>" * 256, ""), "deeper than 256"),
        (b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG, "DOCTYPE"),
        (b'<!DOCTYPE svg [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>' + SVG, "DOCTYPE"),
        (b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + SVG, "DOCTYPE"),
        (b'<!DOCTYPE svg [<!ATTLIST svg onload CDATA "alert(1)">]>' + SVG, "DOCTYPE"),
        (b'<?xml version="1.0" encoding="x-none"?>' + SVG, "encoding"),
        (b"\x1f\x8b\x08\x00compressed", "line 1"),
        (b"\0" * 100, "line 1"),
        *((opened(inner, "http://localhost"), "leads away") for inner in LEADING.values()),
    ],
)  # fmt: skip
def test_svg_that_is_none_or_leads_away_is_refused(home: Path, data: bytes, reason: str | None):
    with pytest.raises(SvcError) as refused:
        assets.store("pay", data, "image/svg+xml")

    assert refused.value.text in {"Contents are not an SVG image", "Upload is empty"}
    assert reason is None or reason in refused.value.extra["reason"]
    assert not (home / "pay" / "assets").exists()


def test_an_svg_put_there_by_hand_is_not_served_if_it_leads_away(home: Path):
    bad = opened(LEADING["refresh"], "http://localhost")
    names = [f"{digit * 64}.svg" for digit in "ab"]
    put(home / "pay" / "assets" / names[0], bad)
    put(home / "pay" / "assets" / names[1], SVG)

    with pytest.raises(NotFound):
        assets.read("pay", names[0])
    assert assets.read("pay", names[1]) == SVG


def test_the_active_ones_are_kept_as_images_are(home: Path):
    """What they hold runs nowhere: the headers they are served with see to that."""
    for inner in ACTIVE.values():
        assert assets.store("pay", opened(inner, "http://localhost"), "image/svg+xml")["created"]
