"""Files of the pages: served as they are now, kept for ever under names that change with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from config import assets


@pytest.fixture
def folder(db: None, settings: Any, tmp_path: Path) -> Iterator[Path]:
    settings.STATICFILES_DIRS = [tmp_path]
    _anew()
    yield tmp_path
    _anew()


def _anew() -> None:
    cached: Any = finders.get_finder
    cached.cache_clear()


def nothing(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=404)


def test_a_file_that_an_upgrade_brings_or_makes_longer_is_served_whole(folder: Path) -> None:
    (folder / "page.js").write_bytes(b"old()")
    served = assets.Middleware(nothing)

    def get(name: str) -> tuple[int, str, bytes]:
        answer = served(RequestFactory().get(f"/static/{name}"))
        if answer.status_code != 200:
            return answer.status_code, "", b""
        body = b"".join(answer.streaming_content)
        answer.close()
        return answer.status_code, answer["Content-Length"], body

    assert get("page.js") == (200, "5", b"old()")
    assert get("new.js")[0] == 404

    (folder / "page.js").write_bytes(b"new(and, longer)")
    (folder / "new.js").write_bytes(b"1")

    assert get("page.js") == (200, "16", b"new(and, longer)")
    assert get("new.js") == (200, "1", b"1")
    assert get("../conftest.py")[0] == 404


def test_a_file_is_kept_for_ever_under_a_name_that_changes_with_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "LOOK_S", 0)
    (folder / "page.js").write_bytes(b"old()")
    served = assets.Middleware(nothing)
    before = assets.Storage().url("page.js")
    answer = served(RequestFactory().get(before))
    assert "immutable" in answer["Cache-Control"]
    answer.close()

    (folder / "page.js").write_bytes(b"new(and, longer)")

    assert assets.Storage().url("page.js") != before
    for name in (before, "/static/page.js"):
        answer = served(RequestFactory().get(name))
        assert answer["Cache-Control"] == "max-age=60, public"
        answer.close()


def test_a_page_names_every_module_that_its_script_imports(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "LOOK_S", 0)
    (folder / "kit").mkdir()
    (folder / "page.js").write_text('import { a } from "./kit/a.js";\nimport "./kit/b.js";\n')
    (folder / "kit/a.js").write_text('import {\n  one,\n} from "./b.js";\n')
    (folder / "kit/b.js").write_text("export const one = 1;\n")

    lines = assets.module("page.js").splitlines()

    hints = [line for line in lines if "modulepreload" in line]
    assert ["kit/a.js" in hints[0], "kit/b.js" in hints[1], len(hints)] == [True, True, 2]
    assert lines[-1].startswith('<script type="module" src="/static/')
