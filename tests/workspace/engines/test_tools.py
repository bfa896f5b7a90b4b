"""Our tools on real files: answers, limits, errors, and races with symlinks."""

from __future__ import annotations

import json
import os
import select
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import Hands, World
from workspace.engines.tools import ToolError, opening, search


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def hands(world: World) -> Hands:
    return Hands(world.job("x", mode="acceptEdits"))


@pytest.fixture
def here(world: World) -> Path:
    return world.project


def test_read_numbers_lines_from_an_offset(hands, here):
    (here / "a.txt").write_text("one\r\ntwo\nthree")
    assert hands.ok("Read", file_path="a.txt") == "1\tone\n2\ttwo\n3\tthree"
    assert hands.ok("Read", file_path=str(here / "a.txt"), offset=2, limit=1) == "2\ttwo"
    assert hands.ok("Read", file_path="a.txt", offset=9) == ""


def test_read_cuts_long_lines_and_stops_at_2000(hands, here):
    (here / "a.txt").write_text("x" * 50_000 + "\n" + "y\n" * 5000)
    lines = hands.ok("Read", file_path="a.txt").split("\n")
    assert len(lines) == 2000
    assert lines[0] == "1\t" + "x" * 2000
    assert lines[1] == "2\ty"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: path.write_bytes(b"\x89PNG\0\0"), "not a text file"),
        (lambda path: path.mkdir(), "not a regular file: x"),
        (os.mkfifo, "not a regular file: x"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links: x"),
        (lambda path: None, "file not found: x"),
    ],
)
def test_read_refuses_what_is_no_text_file(hands, here, make, text):
    make(here / "x")
    assert hands.fails("Read", file_path="x") == text


@pytest.mark.parametrize("path", ["a\0b", "x" * 300, "\ud800"])
def test_impossible_names_are_tool_errors(hands, path):
    assert hands.fails("Read", file_path=path)
    assert hands.fails("Write", file_path=path, content="")


def test_write_makes_parents_and_keeps_the_mode(hands, here):
    hands.ok("Write", file_path="a/b/run.sh", content="one")
    (here / "a/b/run.sh").chmod(0o750)
    hands.ok("Write", file_path="a/b/run.sh", content="två")

    assert (here / "a/b/run.sh").read_text() == "två"
    assert (here / "a/b/run.sh").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in (here / "a/b").iterdir()] == ["run.sh"]


def test_write_goes_through_a_link_that_stays_inside(hands, here):
    (here / "real.txt").write_text("old")
    (here / "link.txt").symlink_to("real.txt")
    hands.ok("Write", file_path="link.txt", content="new")
    assert (here / "real.txt").read_text() == "new"
    assert (here / "link.txt").is_symlink()


def test_write_over_a_folder_or_below_a_file_fails_and_leaves_nothing(hands, here):
    (here / "folder").mkdir()
    (here / "file").write_text("")
    hands.fails("Write", file_path="folder", content="x")
    hands.fails("Write", file_path="file/x", content="x")
    assert sorted(path.name for path in here.rglob("*") if ".chats" not in path.parts) == [
        "file",
        "folder",
    ]


def test_edit_replaces_one_place_and_no_other_byte(hands, here):
    (here / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo \xff\r\nthree")
    hands.ok("Edit", file_path="a.txt", old_string="two", new_string="2")
    assert (here / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\n2 \xff\r\nthree"


def test_edit_takes_lines_as_read_shows_them_in_a_file_with_crlf(hands, here):
    (here / "a.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert hands.ok("Read", file_path="a.txt") == "1\tone\n2\ttwo\n3\tthree"
    hands.ok("Edit", file_path="a.txt", old_string="one\ntwo", new_string="1\n2\n2.5")
    assert (here / "a.txt").read_bytes() == b"1\r\n2\r\n2.5\r\nthree\r\n"


def test_lines_that_edit_adds_to_a_file_with_crlf_end_as_its_others_do(hands, here):
    (here / "a.txt").write_bytes(b"one\r\ntwo\r\nthree")
    hands.ok("Edit", file_path="a.txt", old_string="two", new_string="2\n2.5")
    assert (here / "a.txt").read_bytes() == b"one\r\n2\r\n2.5\r\nthree"

    (here / "mixed.txt").write_bytes(b"one\r\ntwo\nthree")
    hands.ok("Edit", file_path="mixed.txt", old_string="two\nthree", new_string="2\n3")
    assert (here / "mixed.txt").read_bytes() == b"one\r\n2\n3"


def test_edit_tells_why_it_cannot(hands, here):
    (here / "a.txt").write_text("x x x")
    assert (
        hands.fails("Edit", file_path="a.txt", old_string="y", new_string="")
        == "old_string not found"
    )
    assert (
        hands.fails("Edit", file_path="a.txt", old_string="", new_string="y")
        == "old_string is empty"
    )
    assert hands.fails("Edit", file_path="a.txt", old_string="x", new_string="y") == (
        "old_string is not unique (3 matches)"
    )
    assert (
        hands.fails("Edit", file_path="b.txt", old_string="x", new_string="y")
        == "file not found: b.txt"
    )
    hands.ok("Edit", file_path="a.txt", old_string="x", new_string="y", replace_all=True)
    assert (here / "a.txt").read_text() == "y y y"


def test_glob_lists_by_name_without_git_and_chats(hands, here):
    for name in (
        "b.py",
        "a.py",
        "src/c.py",
        "src/deep/d.py",
        ".git/e.py",
        ".chats/f.py",
        ".hidden.py",
    ):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")

    assert hands.ok("Glob", pattern="**/*.py").split() == [
        ".hidden.py", "a.py", "b.py", "src/c.py", "src/deep/d.py",
    ]  # fmt: skip
    assert hands.ok("Glob", pattern="*.py", path="src") == "src/c.py"
    assert hands.ok("Glob", pattern="{a,b}.py").split() == ["a.py", "b.py"]
    assert hands.ok("Glob", pattern="src/*/[!a].p?") == "src/deep/d.py"
    assert hands.ok("Glob", pattern="*.rs") == "No files found"


def test_glob_stops_at_500(hands, here):
    for number in range(510):
        (here / f"{number:03}").touch()
    lines = hands.ok("Glob", pattern="*").split("\n")
    assert (len(lines), lines[-1]) == (501, "[10 paths left out]")


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../../*"])
def test_patterns_stay_below_their_folder(hands, pattern):
    assert "relative" in hands.fails("Glob", pattern=pattern)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**", "a/b", True), ("**/x", "x", True), ("a/**/x", "a/x", True), ("a**", "a/b", True),
        ("*", "a/b", False), ("a.c", "abc", False), ("[]a]", "a", True), ("[a", "[a", True),
        ("{a,{b,c}}", "c", True), ("a,b", "a,b", True), ("{a", "a", True), ("}", "}", False),
        ("[!a]", "b", True), ("[!a]", "/", False), ("[a-c]x", "bx", True), ("[!]]", "]", False),
    ],
)  # fmt: skip
def test_globs_mean_what_they_say(pattern, path, expected):
    try:
        assert bool(search.translate(pattern).fullmatch(path)) is expected
    except ToolError:
        assert not expected


def test_links_to_folders_are_not_entered(hands, here, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("TODO")
    (here / "link").symlink_to(tmp_path / "outside")
    (here / "loop").symlink_to(".")
    (here / "file").symlink_to(tmp_path / "outside" / "secret.txt")
    assert hands.ok("Glob", pattern="**/secret.txt") == "No files found"
    assert hands.ok("Grep", pattern="TODO") == "No matches found"


@pytest.mark.parametrize("tool", ["Glob", "Grep"])
def test_a_folder_that_is_not_there_or_outside_is_told(hands, tool):
    assert hands.fails(tool, pattern="x", path="gone") == "No such file or directory: gone"
    assert "outside the project" in hands.fails(tool, pattern="x", path="/etc")


@pytest.fixture
def code(here):
    (here / "a.py").write_text("import os\n# TODO one\nx = 1\n# todo two\n")
    (here / "sub").mkdir()
    (here / "sub/b.py").write_text("y\n" * 10 + "# TODO three\n")
    (here / "c.bin").write_bytes(b"TODO\0")
    (here / "big.py").write_text("TODO\n" * 500_000)


@pytest.mark.usefixtures("code")
def test_grep_has_three_forms(hands):
    assert hands.ok("Grep", pattern="TODO") == "a.py\nsub/b.py"
    assert (
        hands.ok("Grep", pattern="todo", **{"-i": True}, output_mode="count")
        == "a.py:2\nsub/b.py:1"
    )
    assert hands.ok("Grep", pattern="TODO", output_mode="content", path="a.py", **{"-n": True}) == (
        "a.py:2:# TODO one"
    )
    assert hands.ok("Grep", pattern="TODO", glob="*.py", path="sub") == "sub/b.py"
    assert hands.ok("Grep", pattern="TODO", glob="sub/*.py") == "sub/b.py"
    assert hands.ok("Grep", pattern="nothing") == "No matches found"


@pytest.mark.usefixtures("code")
def test_grep_shows_what_is_around(hands):
    text = hands.ok(
        "Grep",
        pattern="todo",
        path="a.py",
        output_mode="content",
        **{"-i": True, "-A": 1, "-n": True},
    )
    assert text == "a.py:2:# TODO one\na.py-3-x = 1\na.py:4:# todo two\na.py-5-"
    text = hands.ok("Grep", pattern="import|two", path="a.py", output_mode="content", **{"-C": 0})
    assert text == "a.py:import os\na.py:# todo two"


@pytest.mark.usefixtures("code")
def test_grep_looks_over_lines_when_asked(hands):
    text = hands.ok(
        "Grep", pattern=r"one\n.*= 1", multiline=True, output_mode="content", **{"-n": True}
    )
    assert text == "a.py:2:# TODO one\na.py:3:x = 1"


def test_grep_stops_at_its_head_limit(hands, here):
    (here / "a").write_text("x\n" * 300)
    assert len(hands.ok("Grep", pattern="x", output_mode="content").split("\n")) == 201
    text = hands.ok("Grep", pattern="x", output_mode="content", head_limit=2)
    assert text == "a:x\na:x\n[more than 2 lines]"


def test_a_runaway_pattern_is_interrupted(hands, here, monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 0.2)
    (here / "a").write_text("a" * 40 + "b")
    began = time.monotonic()
    assert hands.fails("Grep", pattern="(a+)+$") == "the search took longer than 0.2 s"
    (here / ("a" * 200)).touch()
    assert hands.fails("Glob", pattern="*a" * 20 + "b") == "the search took longer than 0.2 s"
    assert time.monotonic() - began < 5


def test_an_unreadable_pattern_is_told(hands):
    assert hands.fails("Grep", pattern="(").startswith("unreadable pattern: ")


def test_todos_are_checked_and_kept_nowhere(hands, here):
    assert hands.ok("TodoWrite", todos=[{"content": "a", "status": "pending"}]) == "1 todos noted"
    assert "entry 1 needs content" in hands.fails("TodoWrite", todos=["a"])
    assert "status is one of" in hands.fails("TodoWrite", todos=[{"content": "a", "status": "x"}])
    assert [path.name for path in here.iterdir()] == [".chats"]


NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {"x": 1}, "source": ["# é\n", "b"]},
        {"cell_type": "code", "id": "b", "metadata": {}, "source": "1", "execution_count": 3,
         "outputs": [{"output_type": "stream"}]},
    ],
    "metadata": {"kernelspec": {}}, "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip


@pytest.fixture
def notebook(here):
    path = here / "n.ipynb"
    path.write_text(json.dumps(NOTEBOOK))
    return path


def test_one_cell_of_a_notebook_changes(hands, notebook):
    hands.ok("NotebookEdit", notebook_path="n.ipynb", cell_id="b", new_source="2")
    book = json.loads(notebook.read_text())
    assert book["cells"][0] == NOTEBOOK["cells"][0]
    assert (book["cells"][1]["source"], book["cells"][1]["outputs"]) == ("2", [])
    assert book["metadata"] == NOTEBOOK["metadata"]

    hands.ok("NotebookEdit", notebook_path="n.ipynb", edit_mode="insert", new_source="0")
    hands.ok(
        "NotebookEdit", notebook_path="n.ipynb", edit_mode="insert", cell_id="a", new_source="1.5",
        cell_type="markdown",
    )  # fmt: skip
    hands.ok(
        "NotebookEdit", notebook_path="n.ipynb", edit_mode="delete", cell_id="b", new_source=""
    )
    cells = json.loads(notebook.read_text())["cells"]
    assert [cell["source"] for cell in cells] == ["0", ["# é\n", "b"], "1.5"]
    assert [cell["cell_type"] for cell in cells] == ["code", "markdown", "markdown"]
    assert "outputs" not in cells[2]


def test_a_notebook_edit_tells_why_it_cannot(hands, notebook, here):
    (here / "x.ipynb").write_text("[]")
    assert "cell_id is required" in hands.fails(
        "NotebookEdit", notebook_path="n.ipynb", new_source=""
    )
    assert hands.fails(
        "NotebookEdit", notebook_path="n.ipynb", new_source="", cell_id="z"
    ) == "no cell has the id z"  # fmt: skip
    assert "not a notebook" in hands.fails(
        "NotebookEdit", notebook_path="x.ipynb", cell_id="a", new_source=""
    )
    assert json.loads(notebook.read_text()) == NOTEBOOK


def test_bash_merges_output_and_tells_its_status(hands):
    assert hands.ok("Bash", command="echo out; echo err >&2") == "out\nerr"
    assert hands.ok("Bash", command="true") == ""
    output = hands.use("Bash", command="echo x; exit 3")
    assert (output.text, output.status, output.raw) == ("x\n[exit status 3]", 3, "x")
    assert hands.use("Bash", command="kill -9 $$").status == 137
    assert hands.use("Bash", command="exit 124").text == "[exit status 124]"
    assert hands.use("Bash", command="no\0such").status == 126


def test_bash_output_is_cut_at_30000_characters(hands):
    text = hands.ok("Bash", command="head -c 200000 /dev/zero | tr '\\0' x; printf 'äö'")
    assert text == "x" * 30_000 + "\n[170004 bytes left out]"


def test_bash_counts_the_bytes_that_it_leaves_out_also_of_what_is_no_text(hands):
    text = hands.ok("Bash", command="head -c 100000 /dev/zero | tr '\\0' '\\377'")
    assert text == "\ufffd" * 30_000 + "\n[70000 bytes left out]"


def test_a_command_that_never_stops_writing_is_ended_in_time(hands):
    began = time.monotonic()
    output = hands.use("Bash", seconds=0.3, command="yes")
    assert time.monotonic() - began < 5
    assert output.status == 124
    assert output.text.endswith("[timed out after 0.3 s; the process tree was killed]")


def test_a_command_is_waited_for_in_short_looks(hands, monkeypatch):
    """A stop that comes just before the kernel is asked to wait would be heard at its end only."""
    hands.ok("Bash", command="true")  # the first one tries the sandbox, and waits for that
    asked: list[float] = []
    poll, ours = select.poll, threading.get_ident()

    class Recorded:
        def __init__(self) -> None:
            self.inner = poll()
            self.register, self.unregister = self.inner.register, self.inner.unregister

        def poll(self, milliseconds: float) -> list[tuple[int, int]]:
            if threading.get_ident() == ours:  # a watcher of another test may wait, too
                asked.append(milliseconds)
            return self.inner.poll(milliseconds)

    monkeypatch.setattr(select, "poll", Recorded)
    hands.ok("Bash", command="sleep 0.5; echo x")
    assert len(asked) >= 2
    assert max(asked) <= 200


def test_bash_runs_in_the_project(hands, here):
    assert hands.ok("Bash", command="pwd -P") == str(here)


def swap(link: Path, targets: list[Path], stop: threading.Event) -> None:
    while not stop.is_set():
        for target in targets:
            draft = link.with_name("draft")
            draft.symlink_to(target)
            draft.rename(link)


def test_a_link_swapped_between_check_and_open_leads_nowhere(world, here, tmp_path):
    """The gate is asked each time, as in a turn; a writer of links tries to get in between."""
    outside, inside = tmp_path / "outside", here / "inside"
    for folder, text in ((outside, "secret"), (inside, "public")):
        folder.mkdir()
        (folder / "f").write_text(text)
    hands = Hands(world.job("x", mode="acceptEdits"))
    stop = threading.Event()
    swapper = threading.Thread(target=swap, args=(here / "link", [inside, outside], stop))
    (here / "link").symlink_to(inside)
    swapper.start()
    seen = set()
    try:
        for number in range(400):
            if hands.gate.decide("Read", {"file_path": "link/f"}) == "":
                seen.add(hands.use("Read", file_path="link/f").text)
            if hands.gate.decide("Write", {"file_path": "link/g", "content": ""}) == "":
                hands.use("Write", file_path="link/g", content=str(number))
    finally:
        stop.set()
        swapper.join()
    assert "1\tpublic" in seen
    assert not any("secret" in text for text in seen)
    assert [path.name for path in outside.iterdir()] == ["f"]


def test_the_folder_of_a_swapped_link_is_judged_when_it_is_open(hands, here, tmp_path, monkeypatch):
    """The race above, won by the attacker at the worst moment."""
    (tmp_path / "outside").mkdir()
    (here / "folder").mkdir()
    real = opening.real

    def late(path: str, cwd: str) -> str:
        found = real(path, cwd)
        (here / "folder").rmdir()
        (here / "folder").symlink_to(tmp_path / "outside")
        return found

    monkeypatch.setattr(opening, "real", late)
    hands.fails("Write", file_path="folder/x", content="x")
    assert list((tmp_path / "outside").iterdir()) == []
