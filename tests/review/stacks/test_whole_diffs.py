"""A stack read as one diff, and text found in the whole diff of a commit or a stack."""

from __future__ import annotations

from typing import Any

import pytest

from config.errors import Invalid, NotFound
from review.stacks.compared import finding, stack
from tests.review.places import put
from tests.review.threads.desk import LINES, Desk, text
from tests.review.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def lines(n: int, new: str) -> str:
    return text([*LINES[: n - 1], new, *LINES[n:]])


def found(answer: finding.Search) -> list[tuple[Any, ...]]:
    return [(one["path"], one["side"], one["line"], one["kind"]) for one in answer["lines"]]


def stacks(desk: Desk, *groups: list[str]) -> None:
    """project.yaml with these commits as stacks."""
    listed = [{"title": f"s{n}", "commits": shas} for n, shas in enumerate(groups, 1)]
    entry = {"name": "api", "path": str(desk.git.path), "range": "main..topic", "stacks": listed}
    put(desk.world.home / "pay" / "project.yaml", f"repos: [{entry}]\n".encode())


def test_a_stack_is_one_diff_from_its_base_to_its_top(desk: Desk):
    one = desk.git.commit({"a.py": lines(5, "once")}, "One")
    two = desk.git.commit({"a.py": lines(5, "twice"), "new.py": "new\n"}, "Two")

    told = stack.whole("pay", "api", "1")

    assert (told["base"], told["tip"]) == (desk.git.sha("main"), two)
    assert (told["commits"], told["others"]) == ([one, two], [])
    assert [(file["path"], *map(tuple, file["edits"])) for file in told["files"]] == [
        ("a.py", (5, 1, 5, 1)),
        ("new.py", (0, 0, 1, 1)),
    ]
    assert told["files"][0]["new"] == lines(5, "twice")
    assert stack.file("pay", "api", "1", "a.py") == told["files"][0]
    assert (told["additions"], told["deletions"]) == (2, 1)


def test_what_a_merge_brought_of_the_trunk_is_not_the_stacks(desk: Desk):
    one = desk.git.commit({"t1": "t1\n"}, "One")
    desk.git.checkout("main")
    desk.git.commit({"m1": "secret\n"}, "Trunk")
    merged = desk.git.sha("main")
    desk.git.checkout("topic")
    merge = desk.git.merge("main")
    two = desk.git.commit({"t2": "t2\n"}, "Two")
    desk.git.checkout("main")
    desk.git.commit({"m2": "m2\n"}, "Trunk goes on")

    told = stack.whole("pay", "api", "1")
    assert (told["base"], told["tip"], told["trunk"]) == (merged, two, False)
    assert [file["path"] for file in told["files"]] == ["t1", "t2"]
    assert finding.in_stack("pay", "api", "1", "secret")["lines"] == []

    stacks(desk, [one], [merge, two])
    assert stack.whole("pay", "api", "1")["base"] == desk.git.sha("main~2")
    upper = stack.whole("pay", "api", "2")
    assert (upper["base"], upper["trunk"]) == (one, True)
    assert [file["path"] for file in upper["files"]] == ["m1", "t2"]


def test_a_merge_of_a_branch_of_its_own_leaves_the_base_as_it_is(desk: Desk):
    base = desk.git.sha("main")
    desk.git.branch("side")
    desk.git.commit({"s": "s\n"}, "Side")
    desk.git.checkout("topic")
    desk.git.commit({"t1": "t1\n"}, "One")
    desk.git.merge("side")

    told = stack.whole("pay", "api", "1")
    assert (told["base"], told["trunk"]) == (base, False)
    assert [file["path"] for file in told["files"]] == ["s", "t1"]


def test_commits_of_other_stacks_between_are_named(desk: Desk):
    one, two, three = (desk.git.commit({f"{n}.py": "x\n"}, n) for n in ("1", "2", "3"))
    stacks(desk, [one, three], [two])

    assert stack.whole("pay", "api", "1")["others"] == [two]
    assert stack.whole("pay", "api", "2")["others"] == []
    assert [file["path"] for file in stack.whole("pay", "api", "2")["files"]] == ["2.py"]
    with pytest.raises(NotFound, match="No such stack: 3"):
        stack.whole("pay", "api", "3")


def test_text_is_found_in_what_changes_and_around_it(desk: Desk):
    sha = desk.git.commit({"a.py": lines(5, "needle"), "b.py": lines(9, "a Needle")}, "Change")

    assert found(finding.in_commit("pay", "api", sha, "needle")) == [
        ("a.py", "RIGHT", 5, "added"),
        ("b.py", "RIGHT", 9, "added"),
    ]
    assert found(finding.in_commit("pay", "api", sha, "Needle")) == [("b.py", "RIGHT", 9, "added")]
    assert found(finding.in_commit("pay", "api", sha, "line 5 of")) == [
        ("a.py", "LEFT", 5, "removed")
    ]
    assert found(finding.in_commit("pay", "api", sha, "line 8 of")) == [
        ("a.py", "RIGHT", 8, "same"),
        ("b.py", "RIGHT", 8, "same"),
    ]
    assert found(finding.in_commit("pay", "api", sha, "line 20 of")) == []


def test_lines_are_those_of_their_hunk_and_its_heading_is_none(desk: Desk):
    long = ["def needle():", *(f"    step({n})" for n in range(40))]
    desk.git.commit({"c.py": text(long)}, "Before")
    long[20], long[30] = "    needle(20)", "    needle(30)"
    sha = desk.git.commit({"c.py": text(long)}, "After")

    assert found(finding.in_commit("pay", "api", sha, "needle")) == [
        ("c.py", "RIGHT", 21, "added"),
        ("c.py", "RIGHT", 31, "added"),
    ]


def test_text_is_found_in_the_whole_of_a_stack(desk: Desk):
    desk.git.commit({"a.py": lines(5, "needle, gone again")}, "One")
    desk.git.commit({"a.py": lines(5, "needle, to stay")}, "Two")

    (only,) = finding.in_stack("pay", "api", "1", "needle")["lines"]

    assert (only["text"], only["at"]) == ("needle, to stay", 0)


def test_an_answer_is_bounded_and_says_so(desk: Desk):
    sha = desk.git.commit({"big.txt": "x" * 1000 + "needle" + "y" * 1000 + "\n"}, "Long")
    many = desk.git.commit({"many.txt": "needle\n" * 600}, "Many")

    (long,) = finding.in_commit("pay", "api", sha, "needle")["lines"]
    told = finding.in_commit("pay", "api", many, "needle")

    assert (len(long["text"]), long["text"][long["at"] :][:7]) == (240, "needley")
    assert (len(told["lines"]), told["truncated"]) == (500, True)


@pytest.mark.parametrize("query", [None, "", "  ", "x" * 201, "a\nb"])
def test_a_query_that_makes_no_sense_is_refused(desk: Desk, query: Any):
    sha = desk.git.commit({"a.py": "x\n"}, "Change")

    with pytest.raises(Invalid, match='"q"'):
        finding.in_commit("pay", "api", sha, query)
