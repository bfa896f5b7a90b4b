"""What a running turn may do with the review of its repository, and that it ends there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.errors import Invalid, NotFound
from review.stacks.asking import turns, wall
from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.asking.conftest import Desk, worktree
from workspace.engines import select
from workspace.engines.sandbox import Sandbox

NOWHERE: dict[str, Any] = {"commit": None, "state": "unresolved", "project": None}


def test_a_turn_reads_the_threads_the_stack_and_the_diff_of_its_repository(desk: Desk):
    here = desk.repo.path

    (row,) = turns.list_threads(here, **NOWHERE)["threads"]
    (stack,) = turns.list_stacks(here, project=None)["stacks"]
    diff = turns.read_diff(here, commit=desk.low[:8], path=None, project=None)
    read = turns.read_thread(here, thread=desk.thread, project=None)

    assert (row["thread"], row["state"], row["commit"]) == (desk.thread, "open", desk.low)
    assert (row["path"], row["line"], row["said_last"]) == ("a.py", 2, "Sum in cents, please.")
    counts = {one["title"]: one["unresolved"] for one in stack["commits"]}
    assert counts == {"Add the total": 1, "Print": 0}
    assert "+    return sum(items)" in diff["diff"]
    assert diff["message"] == "Add the total"
    assert read["anchor_text"] == "    return sum(items)"
    assert read["comments"][0]["body"] == "Sum in cents, please."


def test_a_turn_reads_the_change_of_one_file_of_a_commit(desk: Desk):
    repo = desk.repo
    repo.write({"b.py": None})
    odd = "a[1] caf\udce9.py"
    sha = repo.commit({odd: "odd\n", "c.py": "print(1)\n", "a.py": "a = 1\n"}, "Several")

    def read(path: str) -> str:
        return str(turns.read_diff(repo.path, commit=sha, path=path, project=None)["diff"])

    assert read("a.py").count("diff --git") == 1
    assert "+a = 1" in read("a.py")
    assert "+odd" in read("a[1] caf\\xE9.py")
    assert "a = 1" not in read("a[1] caf\\xE9.py")
    for name in ("b.py", "c.py"):
        assert "rename from b.py\nrename to c.py" in read(name)
    with pytest.raises(NotFound, match='"path" is not a file changed'):
        read("a*")


def test_its_answer_is_signed_by_its_engine_and_a_proposal_leaves_the_thread_unresolved(desk: Desk):
    said = turns.reply(
        desk.repo.path, thread=desk.thread, body="Done.", author="agent:claude", project=None
    )
    proposed = turns.propose_resolved(
        desk.repo.path, thread=desk.thread, author="agent:claude", project=None
    )

    shown = desk.shown()
    assert said["state"] == "open"  # nobody asked an agent
    assert shown["comments"][-1]["author"] == "agent:claude"
    assert shown["proposed"]["by"] == "agent:claude"
    assert (proposed["state"], shown["resolved"]) == ("answered", False)


@pytest.mark.parametrize(
    ("instance", "project", "resolved"),
    [(False, None, False), (True, None, True), (True, False, False), (False, True, True)],
)
def test_agents_resolve_only_where_the_project_or_else_the_instance_says_so(
    desk: Desk, settings, instance: bool, project: bool | None, resolved: bool
):
    settings.SVC = replace(settings.SVC, agents_resolve=instance)
    if project is not None:
        desk.pay.describe(review={"agentsResolve": project})

    turns.propose_resolved(desk.repo.path, thread=desk.thread, author="agent:claude", project=None)

    assert desk.shown()["resolved"] is resolved


def test_another_worktree_and_a_folder_above_reach_the_same_review(desk: Desk, tmp_path: Path):
    beside = worktree(desk.repo, tmp_path / "beside")

    for here in (beside, desk.repo.path / "deep", desk.repo.path.parent):
        here.mkdir(exist_ok=True)
        assert len(turns.list_threads(here, **NOWHERE)["threads"]) == 1


def test_what_lies_in_another_repository_is_refused_with_a_sentence(desk: Desk, stranger: Path):
    before = turns.list_threads(stranger, **NOWHERE)["threads"][0]
    here = desk.repo.path

    refused: list[Callable[[], Any]] = [
        lambda: turns.read_thread(here, thread="t-other", project=None),
        lambda: turns.reply(here, thread="t-other", body="x", author="agent:x", project=None),
        lambda: turns.propose_resolved(here, thread="t-other", author="agent:x", project=None),
        lambda: turns.read_thread(here, thread="t-other", project="other"),
        lambda: turns.list_threads(here, commit=None, state="all", project="other"),
        lambda: turns.list_stacks(here, project="other"),
        lambda: turns.read_diff(here, commit=before["commit"], path=None, project=None),
    ]
    said = []
    for call in refused:
        with pytest.raises(NotFound) as caught:
            call()
        said.append(caught.value.text)

    assert said[0] == (
        f"No thread t-other in the review of {here}; a turn reaches the threads of the repository "
        "it works in and of no other. list_threads names them."
    )
    assert said[3] == (
        "The project other does not review a repository of this chat; a turn reaches pay alone."
    )
    assert "Secret" not in "".join(said)
    assert turns.list_threads(stranger, **NOWHERE)["threads"] == [before]


def test_a_directory_without_a_review_says_how_to_get_one(desk: Desk, tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()

    with pytest.raises(NotFound, match="No repository that this chat works in is under review"):
        turns.list_threads(empty, **NOWHERE)


def redirected(here: Path, stranger: Path) -> None:
    (here / ".git").write_text(f"gitdir: {stranger}/.git\n")


def a_part_of_it(here: Path, stranger: Path) -> None:
    Repo(here)
    (here / ".git/commondir").write_text(f"{stranger}/.git\n")


def a_link(here: Path, stranger: Path) -> None:
    (here / ".git").symlink_to(stranger / ".git")


@pytest.mark.parametrize("forge", [redirected, a_part_of_it, a_link])
@pytest.mark.parametrize("below", ["", "deep"])
def test_a_git_directory_that_a_turn_made_leads_into_no_other_review(
    desk: Desk, stranger: Path, tmp_path: Path, below: str, forge: Callable[[Path, Path], None]
):
    here = tmp_path / "alpha"
    (here / "deep").mkdir(parents=True)
    said = desk.pay.root / "alpha/project.yaml"
    put(said, f"repos: [{{name: own, path: {here / below}}}]\n".encode())

    forge(here / below, stranger)

    for directory in (here, here / "deep"):
        with pytest.raises(NotFound) as caught:
            turns.list_threads(directory, **NOWHERE)
        assert caught.value.text == wall.NONE
    assert len(turns.list_threads(stranger, **NOWHERE)["threads"]) == 1


def test_objects_are_not_borrowed_from_where_the_turn_cannot_read(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    walls = Sandbox("bwrap", hide=(str(tmp_path),))
    monkeypatch.setattr(select, "confinement", lambda: walls)
    here, mirror = desk.repo.path, tmp_path / "mirror"
    desk.repo.git("clone", "-q", "--bare", ".", str(mirror))
    alternates = here / ".git/objects/info/alternates"
    alternates.write_text(f"{mirror}/objects\n")

    with pytest.raises(NotFound) as caught:
        turns.list_threads(here, **NOWHERE)
    assert caught.value.text == wall.NONE
    assert len(desk.pay.shown()["commits"]) == 2  # a person's own review goes on

    monkeypatch.setattr(select, "confinement", Sandbox)
    assert len(turns.list_threads(here, **NOWHERE)["threads"]) == 1
    monkeypatch.setattr(select, "confinement", lambda: walls)
    mirror.rename(here / "mirror")
    alternates.write_text(f"{here}/mirror/objects\n")
    assert len(turns.list_threads(here, **NOWHERE)["threads"]) == 1


def test_a_state_that_does_not_exist_is_named_with_those_that_do(desk: Desk):
    with pytest.raises(Invalid, match='"state" is one of open, asked'):
        turns.list_threads(desk.repo.path, commit=None, state="new", project=None)
