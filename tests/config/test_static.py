"""Files of the pages: served as they are now, kept for ever under names that change with them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from config import assets

SCRIPT = b"export const words = 'so long that compressing pays';\n" * 40
Answer = tuple[int, dict[bytes, bytes], bytes]


@pytest.fixture
def folder(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    settings.STATICFILES_DIRS = [tmp_path]
    monkeypatch.setattr(assets, "LOOK_S", 0)
    monkeypatch.setattr(assets, "SHELF", assets.Shelf())
    _anew()
    yield tmp_path
    _anew()


def _anew() -> None:
    cached: Any = finders.get_finder
    cached.cache_clear()


async def otherwise(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"nothing here"})


async def ask(url: str, method: str = "GET", **headers: str) -> Answer:
    """Status, headers and body of what is sent for a name below /static/."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    asked = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    name = url.removeprefix("/static/")
    scope = {"method": method, "headers": asked, "url_route": {"kwargs": {"name": name}}}
    await assets.Files(otherwise)(scope, receive, send)
    start, body = sent
    return start["status"], dict(start["headers"]), body["body"]


def named(name: str) -> str:
    return assets.Storage().url(name)


async def test_a_file_that_an_upgrade_brings_or_makes_longer_is_served_whole(folder: Path) -> None:
    (folder / "page.js").write_bytes(b"old()")

    assert (await ask("page.js"))[::2] == (200, b"old()")
    assert (await ask("new.js"))[::2] == (404, b"nothing here")

    (folder / "page.js").write_bytes(b"new(and, longer)")
    (folder / "new.js").write_bytes(b"1")

    status, headers, body = await ask("page.js")
    assert (status, headers[b"content-length"], body) == (200, b"16", b"new(and, longer)")
    assert (await ask("new.js"))[::2] == (200, b"1")


@pytest.mark.parametrize(
    "name", ["", ".", "../conftest.py", "/etc/passwd", "kit", "kit//a.js", "./page.js", "a\0.js"]
)
async def test_what_is_no_name_of_a_file_is_left_to_the_routes(folder: Path, name: str) -> None:
    (folder / "kit").mkdir()
    (folder / "kit/a.js").write_bytes(b"a()")
    (folder / "page.js").write_bytes(b"page()")

    assert (await ask(name))[0] == 404


async def test_a_file_is_kept_for_ever_under_a_name_that_changes_with_it(folder: Path) -> None:
    (folder / "page.js").write_bytes(b"old()")
    before = named("page.js")
    assert (await ask(before))[1][b"cache-control"] == b"public, max-age=31536000, immutable"

    (folder / "page.js").write_bytes(b"new(and, longer)")

    assert named("page.js") != before
    for name in (before, "page.js"):
        _, headers, body = await ask(name)
        assert (headers[b"cache-control"], body) == (b"no-cache", b"new(and, longer)")


async def test_a_name_is_known_before_any_page_was_made(folder: Path) -> None:
    (folder / "page.css").write_bytes(b"p {}")
    name = assets.Shelf().url("page.css")  # as another process made it

    assert (await ask(name))[1][b"cache-control"] == assets.FOR_EVER


def test_a_name_changes_with_the_content_alone(folder: Path) -> None:
    (folder / "page.css").write_bytes(b"p {}")
    (folder / "other.css").write_bytes(b"q {}")
    before = named("page.css"), named("other.css")

    (folder / "page.css").touch()
    (folder / "other.css").write_bytes(b"q { color: red }")

    assert (named("page.css"), named("other.css") != before[1]) == (before[0], True)


def test_modules_lie_in_one_folder_that_changes_with_any_of_them(folder: Path) -> None:
    (folder / "kit").mkdir()
    for name in ("page.js", "kit/a.js", "page.css"):
        (folder / name).write_bytes(b"")
    page, style = named("page.js"), named("page.css")
    assert named("kit/a.js") == page.replace("page.js", "kit/a.js")

    (folder / "kit/a.js").write_bytes(b"a()")

    assert (named("page.js") != page, named("page.css")) == (True, style)


async def test_a_file_travels_compressed_to_whom_takes_it(folder: Path) -> None:
    (folder / "page.js").write_bytes(SCRIPT)

    for accepted in ("gzip, deflate, br", "br;q=1.0, gzip;q=0.8"):
        _, headers, body = await ask("page.js", accept_encoding=accepted)
        assert (headers[b"content-encoding"], headers[b"vary"]) == (b"gzip", b"accept-encoding")
        assert (gzip.decompress(body), len(body) < len(SCRIPT)) == (SCRIPT, True)
        assert headers[b"content-length"] == b"%d" % len(body)
    for accepted in ("", "br", "gzip;q=0", "deflate, gzip; q=0.0"):
        _, headers, body = await ask("page.js", accept_encoding=accepted)
        assert (b"content-encoding" in headers, headers[b"vary"]) == (False, b"accept-encoding")
        assert body == SCRIPT


async def test_a_file_that_compressing_makes_longer_travels_as_it_is(folder: Path) -> None:
    (folder / "dot.svg").write_bytes(b"<svg/>")

    _, headers, body = await ask("dot.svg", accept_encoding="gzip")

    assert (b"content-encoding" in headers, b"vary" in headers, body) == (False, False, b"<svg/>")
    assert headers[b"content-type"] == b"image/svg+xml"


async def test_who_has_a_file_is_told_that_it_is_the_same(folder: Path) -> None:
    (folder / "page.js").write_bytes(SCRIPT)
    tag = (await ask("page.js"))[1][b"etag"].decode()

    status, headers, body = await ask("page.js", if_none_match=f'"else", {tag}')
    assert (status, headers[b"etag"].decode(), body) == (304, tag, b"")

    (folder / "page.js").write_bytes(b"new()")
    assert (await ask("page.js", if_none_match=tag))[::2] == (200, b"new()")


async def test_a_file_is_only_read(folder: Path) -> None:
    (folder / "page.js").write_bytes(b"page()")

    status, headers, body = await ask("page.js", "HEAD")
    assert (status, headers[b"content-length"], body) == (200, b"6", b"")
    status, headers, _ = await ask("page.js", "POST")
    assert (status, headers[b"allow"]) == (405, b"GET, HEAD")


@pytest.mark.parametrize(
    "name",
    ["admin/css/base.css", "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"],
)
async def test_files_of_libraries_are_served_likewise(folder: Path, name: str) -> None:
    _, headers, body = await ask(named(name), accept_encoding="gzip")

    assert headers[b"cache-control"] == assets.FOR_EVER
    assert len(gzip.decompress(body)) > len(body)
    assert (await ask(name))[1][b"cache-control"] == b"no-cache"


async def test_a_script_and_a_style_stand_whole_in_one_file_each(folder: Path) -> None:
    for name in ("js/kit", "js/home", "css/pages"):
        (folder / name).mkdir(parents=True)
    (folder / "js/kit/shell.js").write_text('export const name = "shell";\n')
    page = 'import { name } from "../kit/shell.js";\nshow(name);\n'
    (folder / "js/home/page.js").write_text(page)
    (folder / "css/pages/home.css").write_text('@import "../base.css";\nq { color: red }\n')
    (folder / "css/base.css").write_text("p { color: green }\n")
    script, styles = named("page/js/home/page.js"), named("page/css/pages/home.css")

    _, headers, body = await ask(script)
    assert (headers[b"cache-control"], body.count(b'"shell"')) == (assets.FOR_EVER, 1)
    assert b"show(name);" in body
    assert (await ask(styles))[2] == b"p { color: green }\nq { color: red }\n"
    assert script.split("/")[2] == named("js/kit/shell.js").split("/")[2]  # where its workers are
    assert (await ask(f"{script}.map"))[1][b"content-type"] == b"application/json"

    (folder / "js/kit/shell.js").write_text('export const name = "the frame";\n')
    (folder / "css/base.css").write_text("p { color: blue }\n")

    assert named("page/js/home/page.js") != script
    assert named("page/css/pages/home.css") != styles
    for old, new in ((script, b"the frame"), (styles, b"blue")):
        _, headers, body = await ask(old)
        assert (headers[b"cache-control"], new in body) == (b"no-cache", True)


async def test_a_whole_is_known_before_any_page_was_made(folder: Path) -> None:
    (folder / "css").mkdir()
    (folder / "css/page.css").write_bytes(b"p {}")
    name = assets.Shelf().url("page/css/page.css")  # as another process made it

    assert (await ask(name))[1][b"cache-control"] == assets.FOR_EVER


@pytest.mark.parametrize("name", ["page/", "page/js/none.js", "page/../a.css", "page/dot.svg"])
async def test_what_has_no_whole_is_left_to_the_routes(folder: Path, name: str) -> None:
    (folder / "a.css").write_bytes(b"p {}")
    (folder / "dot.svg").write_bytes(b"<svg/>")

    assert (await ask(name))[0] == 404


@pytest.mark.parametrize("line", ["export let count = 0;", 'import "./missing.js";'])
async def test_modules_that_cannot_be_joined_are_loaded_one_by_one(
    folder: Path, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "js/kit").mkdir(parents=True)
    (folder / "js/kit/shell.js").write_bytes(b"")
    (folder / "js/page.js").write_text(f"{line}\n")

    _, _, body = await ask(named("page/js/page.js"))

    assert body.decode() == 'import "../../js/kit/shell.js";\nimport "../../js/page.js";\n'
    assert "one by one: js/" in caplog.text


async def test_a_style_that_is_not_there_is_left_out(folder: Path) -> None:
    (folder / "page.css").write_text('@import "gone.css";\nq {}\n')

    assert (await ask(named("page/page.css")))[2] == b"q {}\n"
