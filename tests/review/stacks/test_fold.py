"""Fold: fixups become part of what they mend, and nothing else changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from config.errors import Conflict, NotFound
from review.git.repository import open_repository
from review.git.rewriting import keeping
from review.stacks import details
from review.stacks.folding import fold as folding
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

LINES = [f"line {n}\n" for n in range(1, 31)]


def text(*changes: tuple[int, str]) -> str:
    """Thirty lines, some of them others."""
    lines = list(LINES)
    for at, words in changes:
        lines[at - 1] = f"{words}\n"
    return "".join(lines)


@pytest.fixture
def topic(pay: Payments) -> Payments:
    """`topic` with three commits and a fixup of each of the first two; the range is computed."""
    repo = pay.repo
    repo.commit({"a": text(), "b": "b\n"}, "Base")
    repo.branch("topic")
    repo.commit({"a": text((3, "first"))}, "First", body="Why.")
    repo.commit({"a": text((3, "first"), (15, "second"))}, "Second")
    repo.commit({"b": "third\n"}, "Third")
    repo.commit({"a": text((3, "FIRST"), (15, "second"))}, "fixup! First")
    repo.commit({"a": text((3, "FIRST"), (15, "SECOND"))}, "fixup! Second")
    return pay


def subjects(repo: Repo, span: str = "main..topic") -> list[str]:
    return repo.git("log", "--reverse", "--format=%s", span).split("\n")


def state(repo: Repo) -> dict[str, Any]:
    """All that a person would miss: files, index, HEAD, stash, branches."""
    git = repo.path / ".git"
    files = [path for path in repo.path.rglob("*") if path.is_file() and git not in path.parents]
    return {
        "files": {path: path.read_bytes() for path in files},
        "index": (git / "index").read_bytes(),
        "HEAD": (git / "HEAD").read_bytes(),
        "refs": repo.git("for-each-ref"),
    }


def fixups(pay: Payments) -> int:
    return sum(stack.get("fixups", 0) for stack in pay.shown()["stacks"])


def test_fixups_become_part_of_the_commits_they_amend(topic: Payments):
    before = topic.repo.git("rev-parse", "topic^{tree}")

    told = folding.fold("pay", "api", 1)

    assert told["folded"] == 2
    assert subjects(topic.repo) == ["First", "Second", "Third"]
    assert topic.repo.git("rev-parse", "topic^{tree}") == before
    assert topic.repo.git("show", "topic~2:a") + "\n" == text((3, "FIRST"))
    assert topic.repo.git("log", "-1", "--format=%an %ae %B", "topic~2") == (
        "Ann Author ann@example.org First\n\nWhy.\n"
    ).rstrip("\n")


def test_files_index_head_and_stash_are_as_they_were_also_when_not_clean(topic: Payments):
    repo = topic.repo
    repo.write({"a": text((30, "kept aside"))})
    repo.git("stash")
    repo.write({"a": text((3, "FIRST"), (15, "SECOND"), (20, "at work")), "new": "new\n"})
    repo.git("add", "new")
    before = state(repo)

    folding.fold("pay", "api", 1)

    after = state(repo)
    assert {key: after[key] for key in ("files", "index", "HEAD")} == {
        key: before[key] for key in ("files", "index", "HEAD")
    }
    assert repo.git("status", "--short").split("\n") == [" M a", "A  new"]
    assert repo.git("stash", "list").count("\n") == 0


def test_a_conflict_names_commit_and_files_and_changes_nothing(topic: Payments):
    repo = topic.repo
    repo.commit({"a": text((3, "FIRST"), (15, "anew"))}, "Fourth")
    repo.commit({"a": text((3, "FIRST"), (15, "again"))}, "fixup! Second")
    before = state(repo)

    with pytest.raises(Conflict) as told:
        folding.fold("pay", "api", 1)

    assert told.value.code == "fold_conflict"
    assert told.value.extra["files"] == ["a"]
    assert "conflicts in a" in told.value.text
    assert state(repo) == before


def test_lower_branches_of_a_stack_follow(topic: Payments):
    repo = topic.repo
    repo.git("branch", "lower", "topic~3")
    repo.git("branch", "below", "main")

    told = folding.fold("pay", "api", 1)

    assert [move["branch"] for move in told["branches"]] == ["lower", "topic"]
    assert repo.sha("lower") == repo.sha("topic~1")
    assert repo.sha("below") == repo.sha("main")


def test_a_branch_that_ends_at_a_fixup_ends_below_it(topic: Payments):
    topic.repo.git("branch", "lower", "topic~1")

    folding.fold("pay", "api", 1)

    assert topic.repo.sha("lower") == topic.repo.sha("topic")


@pytest.mark.parametrize("trunk", ["main is there", "main has gone on", "only origin/main is"])
def test_what_has_landed_is_not_made_again_and_the_trunk_stays(topic: Payments, trunk: str):
    repo, first = topic.repo, topic.repo.sha("topic~4")
    topic.describe(range="main..topic")
    topic.review(first, "Late.")
    repo.git("update-ref", "refs/remotes/origin/main", first)
    if trunk != "only origin/main is":
        repo.git("branch", "-f", "main", first)
    if trunk == "main has gone on":
        repo.checkout("main")
        repo.commit({"m": "m\n"}, "Main goes on")
        repo.checkout("topic")
    main = repo.sha("main")
    assert topic.commits()["First"]["status"] == "merged"
    assert fixups(topic) == 1

    told = folding.fold("pay", "api", 1)

    assert [move["branch"] for move in told["branches"]] == ["topic"]
    assert repo.sha("main") == main
    assert repo.sha("topic~3") == first
    assert subjects(repo, f"{first}..topic") == ["Second", "Third", "fixup! First"]
    assert fixups(topic) == 0
    with pytest.raises(Conflict, match="or to what has landed"):
        folding.fold("pay", "api", 1)


def test_a_lower_branch_that_is_checked_out_elsewhere_is_not_changed_under_its_files(
    topic: Payments, tmp_path: Path
):
    topic.repo.git("worktree", "add", "-q", "-b", "lower", str(tmp_path / "there"), "topic~3")
    before = state(topic.repo)

    with pytest.raises(Conflict, match=r"Branch lower is checked out in .*there"):
        folding.fold("pay", "api", 1)

    assert state(topic.repo) == before


def test_a_lower_branch_of_a_worktree_that_is_not_mounted_now_holds_the_fold_up(
    topic: Payments, tmp_path: Path
):
    there = tmp_path / "there"
    topic.repo.git("worktree", "add", "-q", "-b", "lower", str(there), "topic~3")
    there.rename(tmp_path / "away")
    before = state(topic.repo)

    with pytest.raises(Conflict, match=r"Branch lower is checked out in .*which is not there now"):
        folding.fold("pay", "api", 1)

    assert state(topic.repo) == before
    topic.repo.git("worktree", "prune")
    assert folding.fold("pay", "api", 1)["folded"] == 2


def test_a_rebase_in_a_worktree_that_is_not_mounted_now_holds_its_branch(
    topic: Payments, tmp_path: Path
):
    there = tmp_path / "there"
    topic.describe(range="main..topic")
    topic.repo.checkout("main")
    topic.repo.git("worktree", "add", "-q", str(there), "topic")
    edits = "sed -i 1s/pick/edit/"
    topic.repo.git("-C", str(there), "rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR=edits)
    there.rename(tmp_path / "away")

    with pytest.raises(Conflict, match=r"A rebase of topic is in progress in .*there"):
        folding.fold("pay", "api", 1)


def test_a_fold_is_undone_in_one_step(topic: Payments):
    tip = topic.repo.sha()
    topic.repo.git("branch", "lower", "topic~3")
    low = topic.repo.sha("lower")
    told = folding.fold("pay", "api", 1)
    assert topic.shown()["folded"]["id"] == told["id"]
    assert fixups(topic) == 0

    folding.undo("pay", "api", told["id"])

    assert (topic.repo.sha("topic"), topic.repo.sha("lower")) == (tip, low)
    assert "folded" not in topic.shown()
    assert fixups(topic) == 2


def test_a_branch_that_moved_on_is_not_taken_back(topic: Payments):
    tip = topic.repo.sha()
    told = folding.fold("pay", "api", 1)
    topic.repo.commit({"c": "c\n"}, "Fourth")
    before = state(topic.repo)

    with pytest.raises(Conflict, match="Branch topic moved on since the fold") as refused:
        folding.undo("pay", "api", told["id"])

    ref = f"refs/svc/before/topic/{told['id']}"
    assert ref in refused.value.text
    assert topic.repo.sha(ref) == tip
    assert state(topic.repo) == before
    assert "folded" not in topic.shown()


def test_what_is_no_fold_is_not_undone(topic: Payments):
    with pytest.raises(NotFound):
        folding.undo("pay", "api", "20200101T000000000Z")


@pytest.mark.parametrize(
    ("prefix", "body", "message"),
    [
        ("squash! ", "And more.", "First\n\nWhy.\n\nAnd more."),
        ("amend! ", "Once\n\nBecause.", "Once\n\nBecause."),
        ("fixup! fixup! ", "Not kept.", "First\n\nWhy."),
    ],
)
def test_the_prefix_says_what_becomes_of_the_message(
    topic: Payments, prefix: str, body: str, message: str
):
    topic.repo.commit({"c": "late\n"}, f"{prefix}First", body=body)

    folding.fold("pay", "api", 1)

    assert topic.repo.git("log", "-1", "--format=%B", "topic~2").strip() == message


def test_a_fixup_may_name_its_commit_by_the_sha(topic: Payments):
    topic.repo.commit({"c": "c\n"}, f"fixup! {topic.repo.sha('topic~3')[:8]}")

    folding.fold("pay", "api", 1)

    assert topic.repo.git("show", "topic~1:c") == "c"  # that of Second, named by its sha


def test_headers_that_are_not_ours_to_change_stay(pay: Payments):
    repo = pay.repo
    repo.commit({"a": "a\n"}, "Base")
    repo.branch("topic")
    made = repo.commit({"a": "b\n"}, "First")
    raw = repo.raw("cat-file", "commit", made)
    head, _, message = raw.partition(b"\n\n")
    odd = head + b"\nencoding ISO-8859-1\nchange-id kkmpptxz\n\n" + message + b"\xe9\n"
    first = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=odd)
    repo.reset(first)
    repo.commit({"a": "c\n"}, "fixup! First")

    folding.fold("pay", "api", 1)

    made_raw = repo.raw("cat-file", "commit", "topic")
    assert b"\nencoding ISO-8859-1\nchange-id kkmpptxz\n" in made_raw
    assert made_raw.endswith(b"\xe9\n")


@pytest.mark.parametrize("act", ["rebase", "merge"])
def test_what_is_under_way_on_the_branch_refuses(topic: Payments, act: str):
    repo = topic.repo
    if act == "rebase":
        repo.git("rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/")
    else:
        other = repo.git("commit-tree", "main^{tree}", "-m", "Other")
        how = ("--no-commit", "--no-ff", "-s", "ours", "--allow-unrelated-histories")
        repo.git("merge", "-q", *how, other)
    before = state(repo)

    with pytest.raises(Conflict, match=f"A {act} of topic is in progress") as told:
        folding.fold("pay", "api", 1)

    assert told.value.code == "under_way"
    assert state(repo) == before


def test_nothing_to_fold_is_said(pay: Payments):
    pay.repo.commit({"a": "a\n"}, "Base")
    pay.repo.branch("topic")
    pay.repo.commit({"a": "b\n"}, "First")
    with pytest.raises(Conflict, match="there is nothing to fold"):
        folding.fold("pay", "api", 1)

    pay.repo.commit({"a": "c\n"}, "fixup! Elsewhere")
    with pytest.raises(Conflict, match='"fixup! Elsewhere" amends no commit below it'):
        folding.fold("pay", "api", 1)


def test_what_lies_below_a_merge_stays(topic: Payments):
    repo = topic.repo
    repo.git("branch", "side", "main")
    repo.checkout("side")
    repo.commit({"c": "c\n"}, "Side")
    repo.checkout("topic")
    repo.merge("side")
    repo.commit({"b": "late\n"}, "Late")
    repo.commit({"b": "later\n"}, "fixup! Late")
    repo.commit({"b": "latest\n"}, "fixup! Third")
    merge = repo.sha("topic~3")

    folding.fold("pay", "api", 1)

    assert subjects(repo, f"{merge}..topic") == ["Late", "fixup! Third"]
    assert repo.sha("topic~2") == merge


def test_hooks_and_commands_of_the_repository_are_not_run(topic: Payments, tmp_path: Path):
    repo, ran = topic.repo, tmp_path / "ran"
    for name in ("reference-transaction", "post-rewrite", "pre-rebase", "post-index-change"):
        hook = repo.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    repo.config("merge.evil.driver", f"touch {ran}")
    repo.config("gpg.program", f"{tmp_path}/none")
    repo.config("commit.gpgsign", "true")
    (repo.path / ".git/info/attributes").write_text("* merge=evil\n")

    folding.fold("pay", "api", 1)

    assert subjects(repo) == ["First", "Second", "Third"]
    assert not ran.exists()


def test_what_a_fold_keeps_is_dropped_by_its_age(topic: Payments):
    tip = topic.repo.sha()
    told = folding.fold("pay", "api", 1)
    repository = open_repository(topic.repo.path)
    old = "20200101T000000000Z"
    keeping.keep(repository, old, [keeping.Move("refs/heads/topic", tip, tip)])

    folding.drop_old(["gone", "pay"])

    assert list(keeping.moves_by_fold(repository)) == [told["id"]]


def test_threads_of_the_middle_commit_stand_right_after_a_fold(topic: Payments):
    from review.stacks import changes

    repo = topic.repo
    second = repo.sha("topic~3")
    kept = changes.start_thread("pay", "api", second, me="ann", body="?", path="a", line=14)
    hit = changes.start_thread("pay", "api", second, me="ann", body="!", path="a", line=15)

    folding.fold("pay", "api", 1)

    shown = details.commit("pay", "api", repo.sha("topic~1"))
    assert isinstance(shown, dict)
    threads = {one["id"]: one for one in shown["review"]["threads"]}
    assert (threads[kept["id"]]["line"], threads[kept["id"]]["outdated"]) == (14, False)
    assert (threads[hit["id"]]["line"], threads[hit["id"]]["outdated"]) == (15, True)
    assert topic.shown()["orphaned"] == []


def test_of_two_folds_at_once_one_folds_and_one_finds_nothing_left(topic: Payments):
    def fold(_: int) -> str:
        try:
            folding.fold("pay", "api", 1)
        except Conflict as error:
            return error.code
        finally:
            connections.close_all()
        return "folded"

    topic.shown()
    with ThreadPoolExecutor(2) as pool:
        told = sorted(pool.map(fold, range(2)))

    assert told == ["folded", "nothing_to_fold"]
    assert subjects(topic.repo) == ["First", "Second", "Third"]
