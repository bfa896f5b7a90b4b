"""Scripts and styles under names that change with them, so that a browser may keep them.

The name is a folder, `/static/<hash of all files>/js/…`: what a module imports by a relative path
lies in the same folder, so the files need no rewriting. A page also lists every module that its
script will ask for, which are then fetched at once and not one import after the other.
"""

from __future__ import annotations

import contextlib
import hashlib
import posixpath
import re
import time
from functools import cache
from pathlib import Path
from typing import Any

import django
from django import template
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from whitenoise.middleware import WhiteNoiseMiddleware

from config import __version__

LOOK_S = 1.0  # how old the hash may be: files that change under a running service get another
TOKEN = re.compile(r"^([0-9a-f]{12})/")
_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?"(\.[^"]+\.js)";', re.MULTILINE)
register = template.Library()


class _Looked:
    at = float("-inf")
    token = ""


def token() -> str:
    """The hash of what is served now: every file by its time and size, and what others bring."""
    now = time.monotonic()
    if now - _Looked.at >= LOOK_S:
        found = hashlib.sha256(f"{__version__} {django.__version__}".encode())
        for path in sorted(Path(settings.STATICFILES_DIRS[0]).rglob("*")):
            with contextlib.suppress(OSError):  # an upgrade may be taking it away
                stat = path.stat()
                found.update(f"{path} {stat.st_mtime_ns} {stat.st_size}\n".encode())
        _Looked.at, _Looked.token = now, found.hexdigest()[:12]
    return _Looked.token


class Storage(StaticFilesStorage):
    """`{% static %}` names a file in the folder of the present hash."""

    def url(self, name: str | None) -> str:
        return super().url(f"{token()}/{name}")


class Middleware(WhiteNoiseMiddleware):  # type: ignore[misc] # it brings no types
    """Serves a file in the folder of any hash, and under its bare name."""

    def candidate_paths_for_url(self, url: str) -> Any:
        prefix: str = self.static_prefix
        name = TOKEN.sub("", url.removeprefix(prefix))
        return super().candidate_paths_for_url(prefix + name if url.startswith(prefix) else url)

    def immutable_file_test(self, path: str, url: str) -> bool:
        found = TOKEN.match(url.removeprefix(self.static_prefix))
        return bool(found and found[1] == token())


@register.simple_tag
def module(name: str) -> SafeString:
    """The script of a page, and a hint for each module that it imports, by however many steps."""
    hints = format_html_join(
        "\n",
        '<link rel="modulepreload" href="{}">',
        ((static(one),) for one in _graph(name, token())),
    )
    return format_html('{}\n<script type="module" src="{}"></script>', hints, static(name))


@cache
def _graph(name: str, _: str) -> tuple[str, ...]:
    """The modules below one, in the order in which they are met."""
    root = Path(settings.STATICFILES_DIRS[0])
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop(0)
        text = (root / one).read_text(encoding="utf-8")
        for path in _IMPORT.findall(text):
            below = posixpath.normpath(f"{posixpath.dirname(one)}/{path}").lstrip("/")
            if below not in found:
                found[below] = None
                waiting.append(below)
    return tuple(found)
