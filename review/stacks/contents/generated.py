"""Whether a file was made by a tool: by attribute, by its name, by its first lines.

Attributes are read from the commit's own tree, so the answer for a commit never changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from posixpath import basename

from review.stacks.contents.globs import Glob

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
LARGEST = 1 << 18  # bytes of a .gitattributes; a larger one says nothing
HEAVIEST = 5000  # rules on the way to a file, by what they weigh; of more, the nearest say nothing
FALSE = ("false", "0", "no")

ReadAttributes = Callable[[str], bytes | None]  # the .gitattributes of a folder, "" the root
Rules = tuple[int, tuple[tuple[Glob, bool], ...]]  # length of the folder cut off, glob and value


def by_name(path: str) -> bool:
    name = basename(path)
    return name in LOCKS or NAMED.fullmatch(name) is not None


def by_header(data: bytes) -> bool:
    """`@generated` or `DO NOT EDIT` in one of the first lines."""
    head = b"\n".join(data[:HEADER_BYTES].split(b"\n")[:HEADER_LINES])
    return MARKED.search(head) is not None


class Attributes:
    """What the .gitattributes of one tree say of its files; each folder is looked up once."""

    def __init__(self, read: ReadAttributes) -> None:
        self._read = read
        self._chains: dict[str, tuple[Rules, ...]] = {}

    def generated(self, path: str, *, deep: bool = True) -> bool | None:
        """What the nearest file says that says anything, None where none does.

        Not `deep`, only the root's file is asked, and those that were looked up before.
        """
        folder = path.rpartition("/")[0]
        for depth, rules in self._chain(folder if deep or folder in self._chains else ""):
            below = path[depth:]
            said = [value for glob, value in rules if glob.matches(below)]
            if said:
                return said[-1]  # "!linguist-generated" counts as said: it ends the search
        return None

    def _chain(self, folder: str) -> tuple[Rules, ...]:
        """Where the rules of this folder and those above it begin to count, the nearest first."""
        known = self._chains.get(folder)
        if known is None:
            above = self._chain(folder.rpartition("/")[0]) if folder else ()
            data = self._read(folder) or b""
            rules = _rules(data) if len(data) <= LARGEST else ()
            own = (((len(folder) + 1 if folder else 0), rules),) if rules else ()
            fits = _weight([*own, *above]) <= HEAVIEST
            known = self._chains[folder] = (*own, *above) if fits else above
        return known


def _weight(chain: Sequence[Rules]) -> int:
    return sum(glob.weight for _, rules in chain for glob, _ in rules)


@lru_cache(maxsize=64)
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
