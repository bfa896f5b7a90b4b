"""Images pasted into reviews: checked, named by their contents, kept.

A name always means the same image, so a browser may keep it permanently. Nothing is deleted here.
Why only signatures are checked: docs/design/review.md#pasted-images.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TypedDict
from xml.parsers import expat

from config.errors import Invalid, NotFound, TooLarge, UnsupportedMedia
from config.storage import files
from config.storage.paths import UnsafePath, contains
from review import events, projects
from review.files import expect

FOLDER = "assets"
LIMIT = 5 * 1024 * 1024
SERVED = 16 * 1024 * 1024  # largest image that is served, if it was put there by hand
TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
SUFFIXES = {kind: suffix for suffix, kind in TYPES.items()}
NAME = re.compile(r"[0-9a-f]{64}\.(?:png|jpg|gif|webp|svg)")
SIGNATURES = {
    ".png": ("a PNG image", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ".jpg": ("a JPEG image", re.compile(rb"\xff\xd8\xff")),
    ".gif": ("a GIF image", re.compile(rb"GIF8[79]a")),
    ".webp": ("a WebP image", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    ".svg": ("an SVG image", None),
}
SVG = "http://www.w3.org/2000/svg svg"
# HTML elements that lead away from an opened image even though its policy forbids everything
LEADING = {f"http://www.w3.org/1999/xhtml {name}" for name in ("meta", "link")}
DEEPEST = 256
MOST_TAGS, MOST_QUOTES = 200_000, 400_000  # limits for a parser, and later a browser
ALT_LENGTH = 300
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Disposition": "inline",
}


class Stored(TypedDict):
    name: str
    markdown: str
    created: bool


def store(slug: str, data: bytes, content_type: str, alt: str = "") -> Stored:
    """Keep an image: `{name, markdown, created}`; `created` is False if it is already there.

    Raises NotFound for the project, then UnsupportedMedia for the type, Invalid when empty,
    TooLarge over 5 MB, UnsupportedMedia for contents of another type. Before that nothing is
    written.
    """
    folder = projects.get(slug).dir / FOLDER
    suffix = _suffix_of(data, content_type)
    name = hashlib.sha256(data).hexdigest() + suffix
    if created := _keep(folder, name, data):
        events.project(slug, "assets")
    return {"name": name, "markdown": markdown(slug, name, alt), "created": created}


def find(slug: str, name: str) -> Path:
    """The path of the image. NotFound if it is missing, or its name is not one of ours."""
    folder = projects.get(slug).dir / FOLDER
    if not NAME.fullmatch(name) or not _is_ours(folder / name):
        raise NotFound("No such asset")
    return folder / name


def read(slug: str, name: str) -> bytes:
    """The bytes of the image. An SVG that was put there by hand is checked like an upload."""
    path = find(slug, name)
    try:
        found = files.read(path, limit=SERVED, within=path.parent.parent)
    except (OSError, UnsafePath):
        found = None
    if found is None or (path.suffix == ".svg" and svg_fault(found.data)):
        raise NotFound("No such asset")
    return found.data


def markdown(slug: str, name: str, alt: str) -> str:
    """The Markdown that shows the image in a comment."""
    words = " ".join(alt.encode(errors="replace").decode().split())[:ALT_LENGTH].rstrip()
    escaped = re.sub(r"([\[\]\\])", r"\\\1", words or "image")
    return f"![{escaped}](/api/projects/{slug}/assets/{name})"


def kind_of(data: bytes) -> str | None:
    """The content type of an image that may be shown, by its signature; None for other bytes."""
    for suffix, (_name, signature) in SIGNATURES.items():
        if signature is not None and signature.match(data):
            return TYPES[suffix]
    return TYPES[".svg"] if b"<svg" in data and svg_fault(data) is None else None


def svg_fault(data: bytes) -> str | None:
    """Why these bytes are not an SVG image that may be opened; None if they are."""
    try:
        _SvgCheck().run(data)
    except _BadSvg as fault:
        return str(fault)
    except expat.ExpatError as error:
        return f"line {error.lineno}: {expat.errors.messages[error.code]}"
    except (LookupError, ValueError):
        return "its encoding is not known"
    return None


def _is_ours(path: Path) -> bool:
    """Whether this is a file of the project, even if its folder was replaced by a link."""
    try:
        return path.is_file() and contains(path.parent.parent, path)
    except OSError:
        return False


def _suffix_of(data: bytes, content_type: str) -> str:
    """The suffix for an image of this type. Raises as `store` does."""
    suffix = SUFFIXES.get(content_type)
    if suffix is None:
        raise UnsupportedMedia(f"Unsupported image type: {content_type[:100]}")
    if not data:
        raise Invalid("Upload is empty")
    if len(data) > LIMIT:
        raise TooLarge("Image is larger than 5 MB")
    kind, signature = SIGNATURES[suffix]
    fault = None if signature else svg_fault(data)
    if fault or (signature and not signature.match(data)):
        reason = {"reason": fault} if fault else {}
        raise UnsupportedMedia(f"Contents are not {kind}", extra=reason)
    return suffix


def _keep(folder: Path, name: str, data: bytes) -> bool:
    """Write the image. Whether the file is new or held something other than these bytes."""
    known = False

    def edit(now: bytes | None) -> bytes:
        nonlocal known
        known = now == data
        return data

    with files.writing(name):
        folder.mkdir(exist_ok=True)
        expect(folder / name, data)
        files.change(folder / name, edit, mode=0o666, within=folder.parent)
    return not known


class _BadSvg(Exception):
    """Its text says what is wrong with the image."""


class _SvgCheck:
    """Checks the XML in one pass, without expanding, fetching or keeping anything."""

    def __init__(self) -> None:
        self.depth = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype

    def run(self, data: bytes) -> None:
        if data.count(b"<") > MOST_TAGS or data.count(b'"') + data.count(b"'") > MOST_QUOTES:
            raise _BadSvg("it holds too many elements or attributes")
        self.parser.Parse(data, True)

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth == 1 and name != SVG:
            raise _BadSvg("its root is not <svg> in the namespace of SVG")
        if name in LEADING:
            raise _BadSvg(f"it holds <{name.split()[1]}> of HTML, which leads away from the image")
        if self.depth > DEEPEST:
            raise _BadSvg(f"it is nested deeper than {DEEPEST}")

    def _end(self, _name: str) -> None:
        self.depth -= 1

    def _doctype(self, _name: str, _system: object, _public: object, declares: bool) -> None:
        """Refuse declarations, which grow: entities by reference, attributes with every element."""
        if declares:
            raise _BadSvg("its DOCTYPE declares entities or attributes")
