"""Branches of chats stand beside the range, each as a stack, as long as nothing else has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict
from review import projects
from review.stacks import changes, details, moving, notes
from review.stacks.folding import fold
from tests.review.repos import Repo
from tests.review.stacks.world import Payments


@pytest.fixture
def fix(pay: Payments) -> str:
    """One commit on main, one on top of it on svc/fix; the sha of that."""
    pay.repo.commit({"a": "1\n"}, "First")
    pay.repo.git("checkout", "-q", "-b", "svc/fix")
    sha = pay.repo.commit({"b": "2\n"}, "Fix")
    pay.repo.git("checkout", "-q", "main")
    return sha


def shown(n: int = 0) -> list[dict[str, Any]]:
    """The stacks of a repo, with subjects in place of shas."""
    repo = details.project("pay")["repos"][n]
    subjects = {one["sha"]: one["subject"] for one in repo["commits"]}
    return [
        {**stack, "commits": [subjects[sha] for sha in stack["commits"]]}
        for stack in repo["stacks"]
    ]


def test_a_branch_of_a_chat_is_a_stack_behind_the_others(pay: Payments, fix: str):
    rest, agents = shown()

    assert (rest["n"], rest["commits"]) == (1, ["First"])
    assert "branch" not in rest
    assert (agents["n"], agents["title"], agents["branch"]) == (2, "svc/fix", "svc/fix")
    assert agents["commits"] == ["Fix"]
    assert details.commit("pay", "api", fix)["stack"]["title"] == "svc/fix"  # type: ignore[index]


def test_what_is_on_the_trunk_by_now_is_in_no_stack_of_a_chat(pay: Payments, fix: str):
    pay.repo.git("merge", "-q", "--ff-only", "svc/fix")

    (rest,) = shown()

    assert rest["commits"] == ["First", "Fix"]


def test_a_review_written_on_the_branch_follows_a_rebase_onto_the_trunk(pay: Payments, fix: str):
    pay.review(fix, "Why?")
    pay.repo.commit({"c": "3\n"}, "Meanwhile")
    pay.repo.git("checkout", "-q", "svc/fix")
    pay.repo.git("rebase", "-q", "main")
    pay.repo.git("checkout", "-q", "main")
    pay.repo.git("merge", "-q", "--ff-only", "svc/fix")

    (repo,) = details.project("pay")["repos"]

    counts = {one["subject"]: one["unresolved"] for one in repo["commits"]}
    assert counts == {"First": 0, "Meanwhile": 0, "Fix": 1}


def test_a_review_follows_what_is_rewritten_whole_in_the_worktree_of_the_chat(
    pay: Payments, tmp_path: Path
):
    """There the checkout under review has never been: only the branch remembers what it was."""
    pay.repo.commit({"a": "1\n"}, "First")
    pay.repo.git("worktree", "add", "-q", "-b", "svc/fix", str(tmp_path / "there"))
    there = Repo(tmp_path / "there")
    pay.review(there.commit({"b": "2\n"}, "Fix"), "Why?")

    there.amend({"b": "other\nlines\n"})

    (repo,) = details.project("pay")["repos"]
    assert {one["subject"]: one["unresolved"] for one in repo["commits"]} == {"First": 0, "Fix": 1}
    assert repo["orphaned"] == []


def test_a_stack_entry_takes_such_a_commit_as_any_other(pay: Payments, fix: str):
    pay.describe(stacks=[{"title": "Mine", "commits": [fix]}])

    assert [(one["title"], one["commits"]) for one in shown()] == [
        ("Mine", ["Fix"]), (None, ["First"]),
    ]  # fmt: skip


def test_of_two_entries_of_one_repository_the_first_shows_them(pay: Payments, fix: str):
    one = {"name": "one", "path": str(pay.repo.path), "range": {"base": None, "head": "main"}}
    pay.put("project.yaml", {"repos": [one, {**one, "name": "two"}]})

    assert [[stack["title"] for stack in shown(n)] for n in (0, 1)] == [[None, "svc/fix"], [None]]


def test_such_a_stack_has_no_note(pay: Payments, fix: str):
    before = (pay.root / "pay/project.yaml").read_bytes()

    with pytest.raises(Conflict, match="branch svc/fix of a chat"):
        notes.set_note("pay", "api", "2", description="x")

    assert (pay.root / "pay/project.yaml").read_bytes() == before


def test_a_repository_is_put_under_review_once(pay: Payments, fix: str, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.commit({"a": "1\n"}, "First")

    for top in (pay.repo.path, other.path, other.path):
        moving.ensure("pay", top)
    moving.ensure("nowhere", other.path)

    found = [(one.name, one.range) for one in projects.get("pay").repos]
    assert found == [("api", None), ("other", None)]


def test_suggestions_and_fixups_stay_on_the_branch_of_the_chat(
    pay: Payments, fix: str, tmp_path: Path
):
    repo, there = pay.repo, tmp_path / "there"
    repo.git("worktree", "add", "-q", str(there), "svc/fix")
    body = "```suggestion\n3\n```"
    made = changes.start_thread("pay", "api", fix, me="ann", body=body, path="b", line=1)
    main = repo.sha("main")

    wanted = [{"thread": made["id"]}]
    changes.apply_suggestions("pay", "api", fix, suggestions=wanted, me="ann")

    assert (there / "b").read_text() == "3\n"
    assert shown()[1]["fixups"] == 1
    told = fold.fold("pay", "api", 2)
    assert shown()[1]["commits"] == ["Fix"]
    assert Repo(there).git("status", "--short", "--untracked-files=no") == ""
    fold.undo("pay", "api", told["id"])
    assert shown()[1]["commits"] == ["Fix", "fixup! Fix"]
    assert repo.sha("main") == main
