"""Every edge case of docs/design/ is shown by a test that exists, or says what it waits for."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.cases import CASES, EVERY, LATER

ROOT = Path(__file__).parent.parent


@cache
def functions_of(file: str) -> frozenset[str]:
    """The names of the tests of one file; none when there is no such file."""
    path = ROOT / file
    if path.suffix == ".js":
        return frozenset(re.findall(r'^test\("(.+?)", ', path.read_text(), re.MULTILINE))
    tree = ast.parse(path.read_text()) if path.is_file() else ast.Module([], [])
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def test_every_case_of_the_contracts_is_named():
    assert set(EVERY) == CASES.keys() | LATER.keys()
    assert [name for name, said in (CASES | LATER).items() if not said] == []


def test_every_test_of_a_case_exists():
    named = {test for tests in CASES.values() for test in tests}
    split = {test: test.split("::") for test in named}

    assert [test for test, (file, name) in split.items() if name not in functions_of(file)] == []
