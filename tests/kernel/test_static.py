"""Files of the pages are served as they are now, however long the service has been running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from whitenoise.middleware import WhiteNoiseMiddleware


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Iterator[Path]:
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
    served = WhiteNoiseMiddleware(nothing)

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
