"""Join the modules of a page, and its stylesheets (docs/design/pages.md#how-files-are-served).

There is no build step: bundles are made from the files when a page is first requested. Each module
becomes a function that runs once, after those it imports, and returns its exports. This is what
browsers do with modules that have no import cycle and export no variable that changes; a module
that needs more of the language is refused. A source map gives each module its own name and lines.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_STYLE = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)
_IMPORT = re.compile(r'^import\s+(?:(\{[^{}]*\}|\* as \w+)\s+from\s+)?"(\.[^"]+)";', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_LIST = re.compile(r"^export \{([\w,\s]*)\};", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
Read = Callable[[str], str]  # returns the text of the file with that name


class NotPlain(Exception):
    """A file that cannot be joined with others; the text says where, and why."""


@dataclass(frozen=True, slots=True)
class Joined:
    text: str
    map: str


def below(name: str, path: str) -> str:
    """The name of the file that file `name` refers to by the relative `path`."""
    return posixpath.normpath(f"{posixpath.dirname(name)}/{path}")


def style(name: str, read: Read) -> str:
    """A stylesheet with its imports replaced by their text; missing files are left out."""
    try:
        text = read(name)
    except NotPlain:
        return ""
    return _STYLE.sub(lambda found: style(below(name, found[1]), read), text)


def apart(name: str, roots: Iterable[str]) -> Joined:
    """A script that imports the modules one by one, used if they cannot be joined."""
    folder = posixpath.dirname(name)
    return Joined("".join(f'import "{posixpath.relpath(one, folder)}";\n' for one in roots), "{}")


def script(name: str, roots: Iterable[str], read: Read) -> Joined:
    """Join these modules and all that they import, in the order in which a browser runs them.

    The bundle exports them by name, for code that needs the same instances as the page.
    """
    texts: dict[str, str] = {}
    for root in roots:
        _gather(root, read, texts, ())
    lines, mapped = ["export const modules = {};"], [""]
    source = line = 0  # of the last mapping: the map holds differences
    for n, (one, text) in enumerate(texts.items()):
        lines.append(f"modules[{json.dumps(one)}] = (() => {{")
        mapped.append("")
        for at, written in enumerate(_body(name, one, text).splitlines()):
            lines.append(written)
            mapped.append("A" + _vlq(n - source) + _vlq(at - line) + "A")
            source, line = n, at
        lines.append(
            f"return {{ {', '.join(_EXPORT.findall(text) + _LIST.findall(text))} }};\n}})();"
        )
        mapped += ["", ""]
    lines.append(f"//# sourceMappingURL={posixpath.basename(name)}.map\n")
    sources = [posixpath.relpath(one, posixpath.dirname(name)) for one in texts]
    chart = {"version": 3, "sources": sources, "names": [], "mappings": ";".join(mapped)}
    return Joined("\n".join(lines), json.dumps(chart))


def _gather(name: str, read: Read, texts: dict[str, str], above: tuple[str, ...]) -> None:
    """Append a module to `texts`, after the modules that it imports."""
    if name in above:
        raise NotPlain(f"{name} imports itself, by way of {above[-1]}: take out what both need.")
    if name in texts:
        return
    text = read(name)
    for _, path in _IMPORT.findall(text):
        _gather(below(name, path), read, texts, (*above, name))
    texts[name] = text


def _body(bundle: str, name: str, text: str) -> str:
    """A module as the body of a function, with the same lines."""

    def replace_import(found: re.Match[str]) -> str:
        what, path = found.groups()
        if what is None:
            return ""
        taken = what.removeprefix("* as ").replace(" as ", ": ")
        return f"const {taken} = modules[{json.dumps(below(name, path))}];"

    body = _LIST.sub("", _EXPORT.sub("", _IMPORT.sub(replace_import, text)))
    if left := _UNKNOWN.search(body):
        raise NotPlain(
            f"{name}: write {left[0]!r} as import {{ … }} from, or export before a name."
        )
    own = json.dumps(posixpath.relpath(name, posixpath.dirname(bundle)))
    return body.replace("import.meta.url", f"new URL({own}, import.meta.url)")


def _vlq(number: int) -> str:
    """A number as source maps encode it: groups of five bits, lowest first, sign included."""
    rest = abs(number) << 1 | (number < 0)
    digits = ""
    while True:
        group, rest = rest & 31, rest >> 5
        digits += _DIGITS[group | (32 if rest else 0)]
        if not rest:
            return digits
