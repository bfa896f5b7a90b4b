"""Whether a file was made by a tool: by attribute, by its name, by its first lines (contract 8.2).

Attributes are read from the commit's own tree, so the answer for a commit never changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from posixpath import basename

from review.stacks.globs import Glob

LOCKS = frozenset(
    (
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
        "bun.lockb", "deno.lock", "Cargo.lock", "Gemfile.lock", "Pipfile.lock", "poetry.lock",
        "uv.lock", "pdm.lock", "composer.lock", "go.sum", "mix.lock", "pubspec.lock",
        "Podfile.lock", "Package.resolved", "packages.lock.json", "flake.lock", "buf.lock",
        "gradle.lockfile", "conan.lock", ".terraform.lock.hcl",
    )
)  # fmt: skip
NAMED = re.compile(r".*(\.min\..*|_pb2(_grpc)?\.pyi?)")
MARKED = re.compile(rb"@generated|DO NOT EDIT")
HEADER_LINES = 10
HEADER_BYTES = 4096
ATTRIBUTE = "linguist-generated"
FALSE = ("false", "0", "no")

ReadAttributes = Callable[[str], bytes | None]  # the .gitattributes of a folder, "" the root


def by_name(path: str) -> bool:
    name = basename(path)
    return name in LOCKS or NAMED.fullmatch(name) is not None


def by_header(data: bytes) -> bool:
    """`@generated` or `DO NOT EDIT` in one of the first lines."""
    head = b"\n".join(data[:HEADER_BYTES].split(b"\n")[:HEADER_LINES])
    return MARKED.search(head) is not None


def by_attribute(path: str, read: ReadAttributes) -> bool | None:
    """What the nearest .gitattributes says of the file, None where none says anything."""
    for folder in _folders(path):
        below = path[len(folder) + 1 :] if folder else path
        if data := read(folder):
            said = [value for glob, value in _rules(data) if glob.matches(below)]
            if said:
                return said[-1]  # "!linguist-generated" counts as said: it ends the search
    return None


def _folders(path: str) -> Iterator[str]:
    """The folders above a file, the nearest first, the root as ""."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    yield ""


@lru_cache(maxsize=512)
def _rules(data: bytes) -> tuple[tuple[Glob, bool], ...]:
    """Pattern and value of every line that says something of the attribute, in file order."""
    found = []
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        words = line.split()
        if len(words) < 2 or words[0].startswith(("#", "[attr]", "!", '"')):
            continue
        for word in words[1:]:
            name, _, value = word.lstrip("-!").partition("=")
            if name == ATTRIBUTE:
                negated = word.startswith(("-", "!")) or value.lower() in FALSE
                found.append((Glob(words[0]), not negated))
    return tuple(found)
