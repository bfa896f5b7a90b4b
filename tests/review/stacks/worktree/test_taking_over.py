"""Threads and viewed marks on what is not committed, and the commit that takes them over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict, NotFound
from config.storage import files as storage
from review import files
from review.files import times
from review.stacks import changes, conversations, listing
from review.stacks.asking import turns
from review.stacks.asking.since import since
from review.stacks.worktree import looks, reviewed, taking_over
from review.threads import asking, commenting
from review.threads.writing import writes
from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.worktree.desk import PLACE
from tests.review.stacks.worktree.said import LINES, Said, edited, ids

pytestmark = pytest.mark.process


def test_a_thread_stands_on_its_line_and_goes_with_it_to_the_commit(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    assert said.lines() == {tid: ("a.py", "RIGHT", 3, "exact")}
    said.repo.write({"a.py": edited({1: "one\nand a half", 3: "three, new"})})
    assert said.lines() == {tid: ("a.py", "RIGHT", 4, "moved")}

    sha = said.commit()

    assert said.lines() == {}
    assert said.lines(sha) == {tid: ("a.py", "RIGHT", 4, "exact")}
    assert said.everywhere() == {tid: [sha]}


def test_a_commit_by_hand_and_an_amended_one_take_over_what_they_commit(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    first = said.thread("a.py", 3)
    sha = said.repo.commit()
    assert said.everywhere() == {first: [sha]}

    said.repo.write({"a.py": edited({3: "three, new", 20: "twenty, new"}), "b.py": "b, new\n"})
    second, other = said.thread("a.py", 20), said.thread("b.py", 1)
    said.repo.git("add", "a.py")
    said.repo.git("commit", "-q", "--amend", "--no-edit")
    amended = said.repo.sha()

    assert said.everywhere() == {first: [amended], second: [amended], other: ["WORKTREE"]}
    assert said.lines(amended)[second] == ("a.py", "RIGHT", 20, "exact")


def test_of_a_partial_commit_the_rest_keeps_its_threads(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    said.repo.git("add", "a.py")
    said.repo.write({"a.py": edited({3: "three, new", 20: "twenty, new"})})
    taken, left, whole = said.thread("a.py", 3), said.thread("a.py", 20), said.thread("a.py")
    old = said.thread("a.py", 20, "LEFT")

    said.repo.git("commit", "-q", "-m", "the third")
    sha = said.repo.sha()

    assert said.everywhere() == {
        taken: [sha], left: ["WORKTREE"], whole: ["WORKTREE"], old: ["WORKTREE"],
    }  # fmt: skip
    assert said.lines() == {
        left: ("a.py", "RIGHT", 20, "exact"),
        whole: ("a.py", "RIGHT", None, "file"),
        old: ("a.py", "LEFT", 20, "exact"),
    }
    last = said.commit()
    assert said.everywhere() == {taken: [sha], left: [last], whole: [last], old: [last]}


def test_several_commits_at_once_each_take_their_own(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"}), "b.py": "b, new\n", "c.py": "c\n"})
    threads = [said.thread("a.py", 3), said.thread("b.py", 1), said.thread("c.py", 1)]
    shas = []
    for path in ("a.py", "b.py"):
        said.repo.git("add", path)
        said.repo.git("commit", "-q", "-m", path)
        shas.append(said.repo.sha())

    assert said.everywhere() == {
        threads[0]: [shas[0]], threads[1]: [shas[1]], threads[2]: ["WORKTREE"],
    }  # fmt: skip


def test_deleted_lines_and_files_take_their_threads_along(said: Said):
    said.repo.write({"a.py": "".join(f"{line}\n" for line in LINES[5:]), "b.py": None})
    line, file = said.thread("a.py", 2, "LEFT"), said.thread("b.py", 1)

    sha = said.commit()

    assert said.lines(sha) == {
        line: ("a.py", "LEFT", 2, "exact"),
        file: ("b.py", "LEFT", 1, "exact"),
    }


def test_a_thread_whose_lines_are_gone_is_outdated_here_and_not_lost(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)

    said.repo.git("checkout", "-q", "a.py")
    sha = said.repo.commit({"b.py": "b, new\n"})

    (shown,) = said.review()["threads"]
    assert (shown["outdated"], shown["placement"], shown["anchor_text"]) == (
        True, "nearest", "three, new",
    )  # fmt: skip
    assert said.everywhere() == {tid: ["WORKTREE"]}
    assert said.lines(sha) == {}


def test_what_was_rewritten_after_the_comment_goes_with_its_file_marked_outdated(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid, about = said.thread("a.py", 3), said.thread()
    said.repo.write({"a.py": edited({3: "as was asked for"})})

    sha = said.commit()

    shown = {one["id"]: one for one in said.review(sha)["threads"]}
    assert (shown[tid]["outdated"], shown[tid]["anchor_text"]) == (True, "three, new")
    assert shown[about]["placement"] == "general"
    assert said.everywhere() == {tid: [sha], about: [sha]}


def test_lines_are_found_by_their_text_when_the_look_is_thrown_away(
    said: Said, monkeypatch: pytest.MonkeyPatch
):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    said.repo.write({"a.py": edited({1: "one\nand a half", 3: "three, new"})})
    monkeypatch.setattr(looks, "FRESH_S", 0)

    assert said.lines() == {tid: ("a.py", "RIGHT", 4, "text")}
    sha = said.commit()
    assert said.lines(sha) == {tid: ("a.py", "RIGHT", 4, "exact")}


def test_another_branch_and_what_is_not_under_review_take_nothing(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    said.repo.git("checkout", "-q", "-b", "other")
    assert said.everywhere() == {tid: ["WORKTREE"]}
    put(
        said.home / "pay" / "project.yaml",
        f"repos: [{{name: api, path: {said.repo.path}, range: main..topic}}]\n".encode(),
    )

    said.repo.commit()

    assert said.everywhere() == {tid: ["WORKTREE"]}


@pytest.mark.parametrize("begins_at", ["beside it", "at its base"])
def test_a_branch_that_is_checked_out_takes_nothing_and_the_thread_is_there_on_the_way_back(
    said: Said, begins_at: str
):
    repo = said.repo
    put(
        said.home / "pay" / "project.yaml",
        f"repos: [{{name: api, path: {repo.path}}}]\n".encode(),
    )
    repo.commit({"a.py": edited({21: "twenty-one, theirs"})}, "Topic change")
    repo.git("checkout", "-q", "-b", "mine", "topic^")
    if begins_at == "beside it":
        repo.commit({"b.py": "b, mine\n"}, "Mine")
    repo.write({"a.py": edited({19: "nineteen, mine"})})
    tid = said.thread("a.py", 20)

    repo.git("stash", "-q")
    repo.checkout("topic")
    assert said.everywhere() == {tid: ["WORKTREE"]}
    repo.checkout("mine")
    repo.git("stash", "pop", "-q")

    assert said.everywhere() == {tid: ["WORKTREE"]}
    assert said.lines() == {tid: ("a.py", "RIGHT", 20, "exact")}
    sha = repo.commit(subject="Mine, in the end")
    assert said.everywhere() == {tid: [sha]}


def test_what_was_committed_unseen_before_another_branch_was_checked_out_is_taken(said: Said):
    repo = said.repo
    repo.write({"a.py": edited({3: "three, new"}), "b.py": "b, new\n"})
    first, second = said.thread("a.py", 3), said.thread("b.py", 1)
    repo.git("commit", "-q", "-m", "First", "a.py")
    one = repo.sha()
    repo.git("checkout", "-q", "-b", "other")
    repo.git("commit", "-q", "-m", "Second", "b.py")

    assert said.everywhere() == {first: [one], second: [repo.sha()]}


def test_the_first_commit_of_a_branch_without_a_past_takes_over_what_it_commits(said: Said):
    put(
        said.home / "pay" / "project.yaml",
        f"repos: [{{name: api, path: {said.repo.path}, range: HEAD}}]\n".encode(),
    )
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    said.repo.git("checkout", "-q", "--orphan", "fresh")
    said.repo.git("commit", "-q", "-a", "-m", "Anew")

    assert said.everywhere() == {tid: [said.repo.sha()]}


def test_a_rebase_takes_nothing_of_what_it_is_based_on(said: Said):
    repo = said.repo
    repo.commit({"b.py": "b, new\n"}, "Mine")
    repo.git("branch", "base", "main")
    repo.checkout("base")
    base = repo.commit({"a.py": edited({3: "three, theirs"})}, "Theirs")
    repo.checkout("topic")
    repo.write({"a.py": edited({19: "nineteen, mine"})})
    here, gone = said.thread("a.py", 19), said.thread("a.py", 4)

    repo.git("-c", "rebase.autoStash=true", "rebase", "-q", "base")

    assert said.everywhere() == {here: ["WORKTREE"], gone: ["WORKTREE"]}
    assert base not in {sha for shas in said.everywhere().values() for sha in shas}


@pytest.mark.parametrize("act", ["commit", "amend"])
def test_where_no_reflog_is_kept_only_what_stands_on_the_old_head_takes(said: Said, act: str):
    repo = said.repo
    repo.config("core.logAllRefUpdates", "false")
    for log in sorted((repo.path / ".git" / "logs").rglob("*")):
        if log.is_file():
            log.unlink()
    repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    repo.git(
        "commit", "-q", "-a", *(["-m", "New"] if act == "commit" else ["--amend", "--no-edit"])
    )

    assert said.everywhere() == {tid: [repo.sha() if act == "commit" else "WORKTREE"]}


def test_nothing_moves_in_the_middle_of_a_merge(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    said.repo.commit()
    (said.repo.path / ".git" / "MERGE_HEAD").write_text(f"{said.repo.sha()}\n")
    assert said.everywhere() == {tid: ["WORKTREE"]}

    (said.repo.path / ".git" / "MERGE_HEAD").unlink()
    assert said.everywhere() == {tid: [said.repo.sha()]}


@pytest.mark.parametrize("reflog", ["true", "false"])
@pytest.mark.parametrize("by", ["page", "hand"])
def test_the_first_commit_and_those_after_it_take_over_what_was_said_before(
    db, home: Path, tmp_path: Path, by: str, reflog: str
):
    repo = Repo(tmp_path / "new")
    for name, value in (
        ("user.name", "Ada"), ("user.email", "ada@a"), ("core.logAllRefUpdates", reflog),
    ):  # fmt: skip
        repo.config(name, value)
    put(home / "pay" / "project.yaml", f"repos: [{{name: api, path: {repo.path}}}]\n".encode())
    said = Said(repo, home)
    repo.write({"a.py": "a\n", "b.py": "b\n"})
    tid = said.thread("a.py", 1)
    assert changes.mark_viewed(**PLACE, sha="WORKTREE", path="b.py", viewed=True)["viewed"]
    assert said.lines() == {tid: ("a.py", "RIGHT", 1, "exact")}

    first = said.commit() if by == "page" else repo.commit()
    assert said.lines(first) == {tid: ("a.py", "RIGHT", 1, "exact")}
    assert said.marks(first) == (["b.py"], [])

    repo.write({"a.py": "a\nmore\n"})
    later = said.thread("a.py", 2)
    second = said.commit() if by == "page" else repo.commit()
    assert said.everywhere() == {tid: [first], later: [second]}


def test_two_commits_before_anybody_looked_take_over_what_was_said_before_the_first(
    db, home: Path, tmp_path: Path
):
    repo = Repo(tmp_path / "new")
    put(home / "pay" / "project.yaml", f"repos: [{{name: api, path: {repo.path}}}]\n".encode())
    said = Said(repo, home)
    repo.write({"a.py": "a\n", "b.py": "b\n"})
    one, other = said.thread("a.py", 1), said.thread("b.py", 1)

    repo.git("add", "a.py")
    repo.git("commit", "-q", "-m", "a")
    first = repo.sha()

    second = repo.commit()
    assert said.everywhere() == {one: [first], other: [second]}


def test_a_viewed_mark_stays_with_the_change_that_was_seen(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"}), "b.py": "b, new\n", "c.py": "c\n"})
    for path in ("a.py", "b.py", "c.py"):
        assert changes.mark_viewed(**PLACE, sha="WORKTREE", path=path, viewed=True)["viewed"]
    said.repo.write({"b.py": "b, newer\n"})
    assert said.marks() == (["a.py", "c.py"], ["b.py"])

    sha = said.commit("a.py", "b.py")

    assert said.marks(sha) == (["a.py"], [])
    assert said.marks() == (["c.py"], [])
    said.repo.write({"b.py": "b, newest\n"})
    assert said.marks() == (["c.py"], [])


def test_whatever_can_be_done_with_a_thread_can_be_done_here_and_follows_it(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    at: dict[str, Any] = {**PLACE, "sha": "WORKTREE", "thread": tid}
    made = changes.reply(**at, me="ann", body="And?")
    changes.edit_comment(**at, comment=made["id"], me="ann", body="And so?")
    assert changes.resolve_thread(**at, me="ann")["resolved"]
    sha = said.commit()

    assert changes.reply(**at, me="bob", body="Done")["thread_id"] == tid
    assert not changes.resolve_thread(**at, me="ann", resolved=False)["resolved"]
    (shown,) = said.review(sha)["threads"]
    assert [one["body"] for one in shown["comments"]] == ["Why?", "And so?", "Done"]
    with pytest.raises(NotFound, match="commit it first"):
        changes.draft(**PLACE, sha="WORKTREE", me="ann", body="Later")
    with pytest.raises(NotFound, match="commit it first"):
        changes.submit(**PLACE, sha="WORKTREE", me="ann", verdict="approve")


def test_what_is_said_while_a_thread_moves_is_not_lost(said: Said, monkeypatch: pytest.MonkeyPatch):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    at = writes.write
    late: list[str] = []

    def write(target, operation, **more):
        if target.uncommitted and not late:
            late.append("said")
            monkeypatch.setattr(writes, "write", at)
            commenting.reply(target, tid, body="Wait", author="bob")
        return at(target, operation, **more)

    monkeypatch.setattr(writes, "write", write)
    sha = said.commit()

    (shown,) = said.review(sha)["threads"]
    assert [one["body"] for one in shown["comments"]] == ["Why?", "Wait"]
    assert said.everywhere() == {tid: [sha]}


def test_a_file_that_cannot_be_written_leaves_its_threads_here_until_it_can(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"}), "b.py": "b, new\n"})
    broken, other = said.thread("a.py", 3), said.thread("b.py", 1)
    said.repo.git("add", "a.py")
    said.repo.git("commit", "-q", "-m", "a")
    first = said.repo.sha()
    place = said.home / "pay" / "reviews" / "api" / f"{first}.yaml"
    put(place, b"threads: [\n")
    last = said.repo.commit()
    assert said.everywhere() == {broken: ["WORKTREE"], other: [last]}

    place.unlink()
    assert said.everywhere() == {broken: [first], other: [last]}


def test_a_file_of_the_work_tree_that_is_broken_moves_nothing_and_says_so(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    said.thread("a.py", 3)
    place = files.path("pay", "reviews", "api", "WORKTREE.yaml")
    whole = place.read_bytes()
    put(place, whole + b"\n- [\n")
    sha = said.commit()
    assert said.review()["parse_error"]
    assert said.lines(sha) == {}
    assert [one["sha"] for one in conversations.conversations("pay")["unreadable"]] == ["WORKTREE"]
    with pytest.raises(Conflict):
        said.thread("a.py", 3)

    put(place, whole)
    assert len(said.lines(sha)) == 1


def test_threads_of_a_repository_that_is_away_are_told_as_the_file_has_them(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    said.repo.path.rename(said.repo.path.with_name("away"))

    (away,) = conversations.conversations("pay")["orphaned"]

    assert (away["sha"], away["subject"], ids(away)) == ("WORKTREE", "Not committed", [tid])
    taking_over.settle("pay", "api")
    assert storage.read(files.path("pay", "reviews", "api", "WORKTREE.yaml")) is not None


def test_a_turn_lists_and_reads_it_and_answers_also_once_it_is_committed(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid, root = said.thread("a.py", 3), said.repo.path

    (row,) = turns.list_threads(root, commit="WORKTREE", state="open", project=None)["threads"]
    assert (row["thread"], row["commit"], row["title"]) == (tid, "WORKTREE", "Not committed")
    assert turns.read_thread(root, thread=tid, project=None)["anchor_text"] == "three, new"
    turns.reply(root, thread=tid, body="Done", author="agent:claude", project=None)
    sha = said.repo.commit()
    now = turns.propose_resolved(root, thread=tid, author="agent:claude", project=None)

    assert now["commit"] == sha
    (listed,) = turns.list_threads(root, commit=None, state="all", project=None)["threads"]
    assert (listed["thread"], listed["said_last"]) == (tid, "Done")


def test_what_changed_since_an_agent_was_asked_is_told_before_the_commit_and_after_it(said: Said):
    said.repo.write({"a.py": edited({3: "three, new"})})
    tid = said.thread("a.py", 3)
    target = reviewed.at(**PLACE, sha="WORKTREE")
    asking.mark_asked(
        target, [tid], asking.Chat("pay", "c1"), by="ann", at=times.now_exact(), tip=None
    )
    said.repo.write({"a.py": edited({3: "three, new", 4: "four, new"})})

    found = since(**PLACE, sha="WORKTREE", thread=tid)
    assert (found["where"], found["to"]) == ("worktree", "WORKTREE")
    assert "+four, new" in found["text"]
    sha = said.commit()
    found = since(**PLACE, sha=sha, thread=tid)
    assert (found["where"], found["to"]) == ("commit", sha)
    assert "+four, new" in found["text"]


def test_the_list_of_projects_counts_the_open_threads_wherever_they_are(said: Said):
    def counted() -> int:
        (one,) = listing.project_list()["projects"]
        return one["unresolved"]

    said.repo.write({"a.py": edited({3: "three, new", 20: "twenty, new"})})
    assert counted() == 0
    first, _second = said.thread("a.py", 3), said.thread("a.py", 20)
    assert counted() == 2
    changes.resolve_thread(**PLACE, sha="WORKTREE", me="ann", thread=first, resolved=True)
    assert counted() == 1
    said.commit()
    assert counted() == 1
    said.repo.path.rename(said.repo.path.with_name("elsewhere"))
    assert counted() == 1
