"""Every pointer to a document leads to a heading that is there, and none leads out of the tree.

A comment names the reason it stands on as `docs/design/<file>.md#<heading>`, with the heading as
GitHub writes it in an address. Numbers of chapters say nothing to a reader who lacks the document.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("bench", "config", "dashboard", "docs", "review", "templates", "tests", "workspace")
KINDS = {".py", ".js", ".mjs", ".css", ".html", ".md", ".toml", ".yaml", ".in"}
PLAIN = {"Makefile", "Containerfile"}
HERE = "tests/test_pointers.py"

POINTER = re.compile(r"(?<![\w./{-])docs/(?:[\w-]+/)*[\w-]+\.md(?:#[\w-]+)?")
SOURCE = re.compile(
    r"`((?:bench|config|dashboard|review|templates|tests|workspace)/[\w/.-]+\.\w+)(?:::\w+)?`"
)
# A file in what a source says of another: from the root, or from any folder above it.
BESIDE = re.compile(r"(?<![\w./<{*-])((?:[\w-]+/)*[\w-]+\.(?:py|js|mjs|css|html))\b")
EXAMPLES = {"a.py", "b.py", "long.py", "src/a.py", "src/pay.py", "Node.js", "Next.js"}
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s]+)\)")
FENCE = re.compile(r"^( *)(```|~~~).*?^ *\2 *$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)

# Documents that are not here, by their names and the numbers of their chapters.
ABSENT = {
    "a numbered chapter": r"\b(?:workspace|engine|review|dashboard|trust|together)\.md,? "
    r"(?:\d|[A-E]\b|part\b|section\b)",
    "a document that is not here": r"(?<![\w/-])(?:engine|together)\.md\b",
    "a numbered contract": r"\b[Cc]ontract(?:'s)?(?: sections?)? \d",
    "a numbered section": r"\b[Ss]ections? \d",
    "a numbered specification": r"\b[Ss]pec(?:ification)?s? \d",
    "a numbered design": r"\b[Dd]esign \d",
    "a numbered point": r"\bREADME \d",
}
# (3), (6.3, 6.4), (2.4 to 2.6; 12): in comments and docstrings of sources alone.
CHAPTER = r"\d{1,2}(?:\.\d{1,2}){0,2}"
NUMBERS = re.compile(rf"(?<=\s)\({CHAPTER}(?:(?: to |, |; | and |-|\u2013){CHAPTER})*\)")
# Numbers that look alike, and what they are.
NUMBERS_MEANT = {
    ("templates/static/js/dashboard/drawer/screen.js", "(1)"),  # a direction, beside (-1)
    ("templates/static/js/dashboard/grid/grid.js", "(1)"),
    ("templates/static/js/review/commit/stepper.js", "(1)"),
    ("templates/static/js/review/rail.js", "(1)"),
}


def sources() -> Iterator[str]:
    """Every text that people write, as a path from the root."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    files += [path for part in PARTS for path in (ROOT / part).rglob("*") if path.is_file()]
    for path in sorted(files):
        name = path.relative_to(ROOT).as_posix()
        ours = "node_modules" not in path.parts and name != HERE
        if ours and (path.suffix in KINDS or path.name in PLAIN):
            yield name


SOURCES = tuple(sources())
DOCUMENTS = tuple(name for name in SOURCES if name.endswith(".md"))


@cache
def text_of(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


def prose_of(name: str) -> str:
    """A document without its blocks of code."""
    return FENCE.sub("", text_of(name))


def links_of(name: str) -> list[str]:
    """The targets of its links that are no addresses; code is none."""
    return LINK.findall(re.sub(r"`[^`\n]+`", "", prose_of(name)))


@cache
def headings_of(name: str) -> tuple[str, ...]:
    """The anchors of a document, as GitHub makes them of its headings."""
    seen: Counter[str] = Counter()
    anchors = []
    for heading in HEADING.findall(prose_of(name)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        anchors.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return tuple(anchors)


def leads_somewhere(name: str, anchor: str) -> bool:
    if not (ROOT / name).exists():
        return False
    return not anchor or not name.endswith(".md") or anchor in headings_of(name)


def remarks_of(name: str) -> str:
    """What a source says to its readers: comments, and in Python docstrings."""
    text = text_of(name)
    if name.endswith(".py"):
        tree = ast.parse(text)
        owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = [ast.get_docstring(one) or "" for one in ast.walk(tree) if isinstance(one, owners)]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found += [token.string for token in tokens if token.type == tokenize.COMMENT]
        return "\n".join(found)
    if name.endswith((".js", ".mjs", ".css")):
        return "\n".join(re.findall(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", text, re.DOTALL))
    if name.endswith(".html"):
        return "\n".join(re.findall(r"<!--.*?-->|\{#.*?#\}", text, re.DOTALL))
    return ""


def test_every_document_that_a_source_names_is_there_with_its_heading():
    named = [(name, found) for name in SOURCES for found in POINTER.findall(text_of(name))]

    assert [f"{name}: {found}" for name, found in named if not leads_somewhere(*split(found))] == []
    assert any("#" in found for _, found in named)


def test_every_link_between_documents_leads_to_a_file_and_a_heading():
    broken = []
    for name in DOCUMENTS:
        for link in links_of(name):
            target, anchor = split(link)
            whole = (ROOT / name).parent / target if target else ROOT / name
            place = whole.resolve()
            inside = place.is_relative_to(ROOT)
            if not inside or not leads_somewhere(place.relative_to(ROOT).as_posix(), anchor):
                broken.append(f"{name}: {link}")

    assert broken == []


def test_every_source_that_a_document_names_is_there():
    assert [
        f"{name}: {found}"
        for name in DOCUMENTS
        if name != "CHANGELOG.md"
        for found in SOURCE.findall(text_of(name))
        if not (ROOT / found).exists()
    ] == []


def test_every_source_that_a_comment_names_is_there():
    ends = {name[at:] for name in SOURCES for at in starts(name)}
    named = {(name, hit) for name in SOURCES for hit in BESIDE.findall(remarks_of(name))}

    assert sorted(one for one in named if one[1] not in ends | EXAMPLES) == []
    assert EXAMPLES - {hit for _, hit in named} == set(), "an example that is nowhere any more"


def starts(name: str) -> list[int]:
    """Where a path and each of its parts begin."""
    return [0, *(at + 1 for at, letter in enumerate(name) if letter == "/")]


def test_headings_of_the_design_can_be_pointed_at():
    """One of two equal headings would get a number, and another one when a third is added."""
    pages = {
        name: HEADING.findall(prose_of(name))
        for name in DOCUMENTS
        if name.startswith("docs/design/")
    }

    assert pages
    assert [
        (name, heading)
        for name, said in pages.items()
        for heading, count in Counter(one.lower() for one in said).items()
        if count > 1 or re.match(r"\d", heading)
    ] == []


def test_every_page_stands_in_the_index_of_its_folder():
    for index in ("docs/README.md", "docs/design/README.md"):
        folder = (ROOT / index).parent
        linked = {split(link)[0] for link in links_of(index)}

        assert {page.name for page in folder.glob("*.md")} - linked - {"README.md"} == set()


def test_no_source_points_to_a_document_that_is_not_here():
    found = [
        f"{name}: {hit.group()} ({kind})"
        for name in SOURCES
        for kind, form in ABSENT.items()
        for hit in re.finditer(form, text_of(name))
    ]

    assert found == []


def test_no_comment_points_by_the_number_of_a_chapter():
    suspects = [name for name in SOURCES if NUMBERS.search(f" {text_of(name)}")]
    found = {(name, hit) for name in suspects for hit in NUMBERS.findall(f" {remarks_of(name)}")}

    assert sorted(found - NUMBERS_MEANT) == []
    assert NUMBERS_MEANT - found == set(), "an exception that nothing needs any more"


def split(link: str) -> tuple[str, str]:
    """The file and the anchor of a link."""
    name, _, anchor = link.partition("#")
    return name, anchor


def test_a_step_of_a_walk_names_what_its_files_define():
    """`Exchange._call`, `sync`: of a file in the left cell, or of one that is named beside it."""
    walks, absent = text_of("docs/design/walks.md"), []
    for places, deeds in re.findall(r"^\| (`.+) \| (.+) \|$", walks, re.MULTILINE):
        folder, code = "", ""
        for told in re.findall(r"`([\w./]+\.(?:py|js))`", places + deeds):
            folder = told.rpartition("/")[0] or folder
            code += text_of(f"{folder}/{told.rpartition('/')[2]}")
        for name in re.findall(r"`((?:[A-Z]\w*\.)?_?[a-zA-Z_]{4,})`", deeds):
            owner, _, own = name.rpartition(".")
            for one, words in ((own, r"(?:def|class) {}\b"), (owner, r"(?:class {0}\b|{0} = )")):
                pattern = rf"^ *(?:async )?{words.format(one)}"
                if one and name != "turns" and not re.search(pattern, code, re.MULTILINE):
                    absent.append((places, name))

    assert absent == []
