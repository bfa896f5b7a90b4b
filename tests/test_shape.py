"""The budgets of the house: short files, short functions, imports that only point downward."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_FILES = 20
PACKAGES = ("config", "workspace", "review", "dashboard")
FILES = sorted(
    path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def functions(path: Path) -> list[tuple[str, int]]:
    """Name and length in lines of every function, its docstring not counted."""
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (node.end_lineno or 0) - body[0].lineno + 2 if body else 1
            found.append((f"{path.relative_to(ROOT)}:{node.name}", lines))
    return found


def test_no_file_is_longer_than_400_lines():
    assert [
        f"{path.relative_to(ROOT)}" for path in FILES if len(path.read_text().splitlines()) > 400
    ] == []


def test_no_function_is_longer_than_50_lines():
    assert [(name, size) for path in FILES for name, size in functions(path) if size > 50] == []


def test_half_of_all_files_and_functions_are_short():
    assert (
        median(len(path.read_text().splitlines()) for path in FILES if path.stat().st_size) <= 120
    )
    assert median(size for path in FILES for _, size in functions(path)) <= 8


def test_every_module_says_what_it_is_for():
    silent = [
        str(path.relative_to(ROOT))
        for path in FILES
        if path.stat().st_size and not ast.get_docstring(parsed(path))
    ]
    assert silent == []


def test_folders_are_at_most_three_deep_below_a_package():
    assert [path for path in FILES if len(path.relative_to(ROOT).parts) > 5] == []


@pytest.mark.timeout(120)
def test_imports_follow_the_arrows():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout[-3000:]


def test_no_folder_holds_more_files_than_a_reader_takes_in():
    rooms = {path.parent for path in FILES}
    crowded = {
        str(room.relative_to(ROOT)): count
        for room in rooms
        if (count := len([p for p in room.glob("*.py") if p.name != "__init__.py"])) > MOST_FILES
    }

    assert crowded == {}


def test_no_test_replaces_what_finds_the_time_zone():
    """A test names a zone, or starts a process with one: what is replaced is not shown to work."""
    replaced = re.compile(r"setattr\([^)]*(?:\bzones\b|_zone\b|zone_name|tzlocal)", re.DOTALL)
    tests = sorted((ROOT / "tests").rglob("*.py"))

    assert [str(path) for path in tests if replaced.search(path.read_text())] == []
