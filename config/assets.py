"""Scripts and styles under names that change with their content, served from memory.

The hash is a folder of the name, `/static/<hash>/js/…`. It is the file's own hash, but for a module
it is the hash of all modules, since a browser requests what a module imports by a relative path in
the same folder (docs/design/pages.md#how-files-are-served). Under `page/` a script or style is
joined with all that it imports into one file: `/static/<hash>/page/js/…`.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import posixpath
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.exceptions import SuspiciousFileOperation

from config.errors import MethodNotAllowed
from config.web import bundles
from config.web.answers import App, Header, Receive, Send, refusal, refuse
from config.web.http import threads

log = logging.getLogger(__name__)
LOOK_S = 1.0  # the most seconds a name may be out of date: files may change while the service runs
TOKEN = re.compile(r"^[0-9a-f]{12}/")
FOR_EVER = b"public, max-age=31536000, immutable"
# A fixed list: Python's own differs by machine, and `nosniff` forgives no wrong type.
KINDS = {
    ".css": b"text/css; charset=utf-8",
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".map": b"application/json",
    ".png": b"image/png",
    ".svg": b"image/svg+xml",
    ".ttf": b"font/ttf",
    ".txt": b"text/plain; charset=utf-8",
    ".woff": b"font/woff",
    ".woff2": b"font/woff2",
}
SHELL = "js/kit/shell.js"  # runs first on every page
WHOLE = "page/"  # prefix of the name of a script or style that is joined with its imports


@dataclass(frozen=True, slots=True)
class File:
    """One file as it is served. `body` is compressed (`packed`) if that makes it shorter."""

    stamp: tuple[int, int]  # time and size: while they are the same, so is the content
    digest: str
    body: bytes
    packed: bool


class Shelf:
    """The files in memory: ours, and the joined files and library files that were requested."""

    def __init__(self) -> None:
        self.kept: Mapping[str, File] = {}  # by `<hash>/<name>`: may be cached forever
        self._files: Mapping[str, File] = {}  # by name
        self._urls: Mapping[str, str] = {}  # name -> `<hash>/<name>`
        self._single: Mapping[str, File] = {}  # `_files` without the joined ones
        self._together = ""  # the hash of all modules
        self._others: dict[str, Path] = {}
        self._at = float("-inf")
        self._lock = threading.Lock()

    def find(self, name: str) -> File | None:
        """The current content of the file; None if there is no such file."""
        self.url(name)
        return self._files.get(name)

    def url(self, name: str) -> str:
        """`<hash>/<name>` of the current content; the bare name if there is no such file."""
        self.look()
        if name.startswith(WHOLE):
            with self._lock:
                self._join(name)
        elif name not in self._files and (path := _foreign(name)):
            self._others[name] = path
            self.look(at_once=True)
        return self._urls.get(name, name)

    def look(self, *, at_once: bool = False) -> None:
        """Read the files that are new or have changed."""
        with self._lock:
            now = time.monotonic()
            if at_once or now - self._at >= LOOK_S:
                self._renew()
                self._at = now

    def _renew(self) -> None:
        root = Path(settings.STATICFILES_DIRS[0])
        own = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*"))}
        files = {
            name: file
            for name, path in {**self._others, **own}.items()
            if (file := _read(path, self._single.get(name)))
        }
        if files == self._single:
            return
        modules = [name for name in own if name.endswith(".js") and name in files]
        self._together = _digest(
            "".join(f"{name} {files[name].digest}\n" for name in modules).encode()
        )
        hashes = {name: file.digest for name, file in files.items()} | dict.fromkeys(
            modules, self._together
        )
        self._urls = {name: f"{found}/{name}" for name, found in hashes.items()}
        self.kept = {self._urls[name]: file for name, file in files.items()}
        self._single = self._files = files

    def _join(self, name: str) -> None:
        """Make the joined form of a script, with its map, or of a style, unless it exists."""
        script = name.removesuffix(".map")
        root = script.removeprefix(WHOLE)
        if name in self._files or root not in self._single:
            return
        # Scripts go into the folder of the modules, since they start workers from there.
        if root.endswith(".js"):
            made = self._bundle(script, root)
            self._add(script, made.text, self._together)
            self._add(f"{script}.map", made.map, self._together)
        elif name.endswith(".css"):
            self._add(name, bundles.style(root, self._text))

    def _bundle(self, name: str, root: str) -> bundles.Joined:
        """The joined script; one that imports the modules one by one if one cannot be joined, as
        while someone works on it."""
        roots = (SHELL, root)
        try:
            return bundles.script(name, roots, self._text)
        except bundles.NotPlain as error:
            log.warning("this page loads its modules one by one: %s", error)
            return bundles.apart(name, roots)

    def _add(self, name: str, text: str, folder: str = "") -> None:
        file = _file(text.encode())
        url = f"{folder or file.digest}/{name}"
        self._urls = {**self._urls, name: url}
        self.kept = {**self.kept, url: file}
        self._files = {**self._files, name: file}

    def _text(self, name: str) -> str:
        file = self._single.get(name)
        if file is None:
            raise bundles.NotPlain(f"{name} is imported and not there.")
        return (gzip.decompress(file.body) if file.packed else file.body).decode()


SHELF = Shelf()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _read(path: Path, known: File | None) -> File | None:
    """The file at a path, or None. It is read and compressed again only if its stamp changed."""
    try:
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size)
        if known and known.stamp == stamp:
            return known
        content = path.read_bytes()
    except OSError:  # a folder, or an upgrade is removing the file
        return None
    return _file(content, stamp)


def _file(content: bytes, stamp: tuple[int, int] = (0, 0)) -> File:
    packed = gzip.compress(content, mtime=0)
    shorter = len(packed) < len(content)
    return File(stamp, _digest(content), packed if shorter else content, shorter)


def _foreign(name: str) -> Path | None:
    """The path of a static file of a library, such as the admin or Swagger UI."""
    if posixpath.normpath(name) != name:  # each file has one name only
        return None
    try:
        path = finders.find(name)
    except (SuspiciousFileOperation, ValueError):  # outside of its folder, or no path at all
        return None
    return Path(path) if isinstance(path, str) and Path(path).is_file() else None


class Files:
    """ASGI app for the files. A name with a current hash is answered on the event loop.

    A bare name, or one with an outdated hash, is answered with the current file, to be revalidated
    each time. A name of no file goes to `otherwise`.
    """

    def __init__(self, otherwise: App) -> None:
        self._otherwise = otherwise

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        asked: str = scope["url_route"]["kwargs"]["name"]
        file = SHELF.kept.get(asked)
        if file is None:
            file = await threads.run(SHELF.find, TOKEN.sub("", asked))
        if file is None:
            await self._otherwise(scope, receive, send)
            return
        if scope["method"] not in ("GET", "HEAD"):
            refused = MethodNotAllowed("method not allowed")
            await refuse(send, refusal(refused, (b"allow", b"GET, HEAD")))
            return
        status, headers, body = _answer(asked, file, dict(scope["headers"]))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        shown = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": shown})


def _answer(
    asked: str, file: File, wanted: Mapping[bytes, bytes]
) -> tuple[int, list[Header], bytes]:
    """Status, headers and body for a client whose request headers say what it has and accepts."""
    for_ever = SHELF.kept.get(asked) is file
    tag = b'W/"%s"' % file.digest.encode()  # weak: the same for both forms
    headers: list[Header] = [
        (b"cache-control", FOR_EVER if for_ever else b"no-cache"),
        (b"etag", tag),
    ]
    if file.packed:
        headers.append((b"vary", b"accept-encoding"))
    if file.digest.encode() in wanted.get(b"if-none-match", b""):
        return 304, headers, b""
    body = file.body
    if file.packed and _takes_gzip(wanted.get(b"accept-encoding", b"")):
        headers.append((b"content-encoding", b"gzip"))
    elif file.packed:
        body = gzip.decompress(body)
    kind = KINDS.get(posixpath.splitext(asked)[1], b"application/octet-stream")
    return 200, [*headers, (b"content-type", kind), (b"content-length", b"%d" % len(body))], body


def _takes_gzip(accepted: bytes) -> bool:
    for one in accepted.lower().replace(b" ", b"").split(b","):
        coding, _, quality = one.partition(b";q=")
        if coding == b"gzip":
            return not quality or quality.strip(b"0.") != b""
    return False


class Storage(StaticFilesStorage):
    """Makes `{% static %}` use the name with the hash."""

    def url(self, name: str | None) -> str:
        return super().url(SHELF.url(name or ""))


class Packing:
    """One of settings.SVC_BACKGROUND: compresses our files before the first page requests them."""

    def start(self) -> None:
        SHELF.look()

    def stop(self) -> None:
        """Does nothing: nothing runs in the background."""
