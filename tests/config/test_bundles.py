"""The modules of a page as one: each after those that it imports, each line where it was."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from pathlib import Path

import pytest

from config.web import bundles

STATIC = Path(__file__).parents[2] / "templates/static"
DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
NAME = "page/js/page.js"


def joined(files: Mapping[str, str]) -> bundles.Joined:
    return bundles.script(NAME, ["js/page.js"], lambda name: files[name])


def numbers(mapping: str) -> list[int]:
    """What the characters of a source map say."""
    found, value, shift = [], 0, 0
    for digit in map(DIGITS.index, mapping):
        value, shift = value | (digit & 31) << shift, shift + 5
        if not digit & 32:
            found.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return found


def test_a_module_stands_behind_those_that_it_imports_and_once() -> None:
    files = {
        "js/page.js": 'import "./a.js";\nimport "./kit/b.js";\n',
        "js/a.js": 'import "./kit/b.js";\n',
        "js/kit/b.js": "b();\n",
    }

    text = joined(files).text

    order = [line.split('"')[1] for line in text.splitlines() if line.startswith("modules[")]
    assert order == ["js/kit/b.js", "js/a.js", "js/page.js"]


def test_the_map_leads_from_each_line_to_the_one_it_was_made_of() -> None:
    files = {name: (STATIC / name).read_text() for name in ("js/kit/words.js", "js/kit/theme.js")}
    files["js/page.js"] = 'import "./kit/words.js";\nimport "./kit/theme.js";\nx();\n'
    files |= dict.fromkeys(("js/kit/dom.js", "js/kit/palette.js"), "")

    made = joined(files)

    chart = json.loads(made.map)
    source = line = seen = 0
    for text, mapping in zip(made.text.splitlines(), chart["mappings"].split(";"), strict=False):
        if not mapping:
            continue
        column, by, down, start = numbers(mapping)
        source, line, seen = source + by, line + down, seen + 1
        was = files[bundles.below(NAME, chart["sources"][source])].splitlines()[line]
        changed = was.startswith(("import", "export"))
        assert (column, start, changed or text == was) == (0, 0, True), (text, was)
    assert seen == sum(len(text.splitlines()) for text in files.values())


@pytest.mark.parametrize(
    "line",
    [
        "export default function () {}",
        "export let count = 0;",
        "export const { a } = b;",
        'export { a } from "./a.js";',
        'export * from "./a.js";',
        'import a from "./a.js";',
    ],
)
def test_a_module_that_needs_more_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(bundles.NotPlain, match=r"js/page\.js: write '(import|export)"):
        joined({"js/page.js": f"{line}\n", "js/a.js": ""})


def test_modules_that_import_each_other_are_refused() -> None:
    files = {"js/page.js": 'import "./a.js";\n', "js/a.js": 'import "./page.js";\n'}

    with pytest.raises(bundles.NotPlain, match=r"imports itself, by way of js/a\.js"):
        joined(files)


def test_every_module_of_ours_can_be_joined() -> None:
    names = [path.relative_to(STATIC).as_posix() for path in (STATIC / "js").rglob("*.js")]
    texts = {name: (STATIC / name).read_text() for name in names}

    bundles.script(NAME, names, lambda name: texts[name])


def test_a_style_stands_where_it_was_imported() -> None:
    files = {
        "css/pages/home.css": '/* Home. */\n@import "../base.css";\n@import "../home.css";\n',
        "css/base.css": "p {}\n",
        "css/home.css": "q {}\n",
    }

    text = bundles.style("css/pages/home.css", lambda name: files[name])

    assert text.split() == ["/*", "Home.", "*/", "p", "{}", "q", "{}"]
