"""Apply: a suggestion becomes a fixup commit on top of the branch it stands on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict, Invalid, NotFound
from config.git import handover
from config.storage import displaced
from review import caches
from review.stacks import changes, details
from review.stacks.folding import fold as folding
from review.stacks.folding.suggestions import Edit, apply, blocks
from tests.review.repos import Repo
from tests.review.stacks.test_fold import state, subjects, text
from tests.review.stacks.world import Payments


@pytest.fixture
def topic(pay: Payments) -> Payments:
    """`topic`, checked out, with three commits; the one in the middle changes lines 14 to 16."""
    repo = pay.repo
    repo.commit({"src/a": text(), "b": "b\n"}, "Base")
    repo.branch("topic")
    repo.commit({"src/a": text((3, "first"))}, "First")
    repo.commit({"src/a": text((3, "first"), (14, "x"), (15, "y"), (16, "z"))}, "Second")
    repo.commit({"src/a": "top\n" + text((3, "first"), (14, "x"), (15, "y"), (16, "z"))}, "Third")
    return pay


def suggest(pay: Payments, sha: str, *lines: str, line: int = 15, **more: Any) -> str:
    """A thread with a suggestion of these lines; its id."""
    body = "\n".join(["Rather:", "```suggestion", *lines, "```"])
    made = changes.start_thread(
        "pay", "api", sha, me="ann", body=body, path="src/a", line=line, **more
    )
    return str(made["id"])


def take(sha: str, *threads: str, me: str | None = "ann") -> Any:
    wanted = [{"thread": thread} for thread in threads]
    try:
        return changes.apply_suggestions("pay", "api", sha, suggestions=wanted, me=me)
    finally:
        displaced.settle()


def test_a_suggestion_becomes_a_fixup_with_file_and_index(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")

    told = take(sha, thread)

    assert subjects(repo) == ["First", "Second", "Third", "fixup! Second"]
    assert told["sha"] == repo.sha("topic")
    assert (told["branch"], told["files"]) == ("topic", ["src/a"])
    assert repo.git("status", "--short") == ""
    assert (repo.path / "src/a").read_text().splitlines()[15] == "Y"
    assert repo.git("diff", "--stat", "topic~1", "topic").endswith("1 insertion(+), 1 deletion(-)")


def test_the_thread_is_resolved_by_the_person_who_applies_and_by_no_agent(topic: Payments):
    sha = topic.repo.sha("topic~1")
    one, other = suggest(topic, sha, "Y"), suggest(topic, sha, "Z", line=16)

    take(sha, one)
    take(sha, other, me=None)

    shown = details.commit("pay", "api", sha)
    assert isinstance(shown, dict)
    assert {t["id"]: t["resolved"] for t in shown["review"]["threads"]} == {one: True, other: False}


def test_a_commit_that_has_landed_gets_no_fixup(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    topic.describe(range="main..topic")
    thread = suggest(topic, sha, "Y")
    repo.git("branch", "-f", "main", sha)
    tip = repo.sha("topic")

    with pytest.raises(Conflict, match="has landed and takes no more fixups"):
        take(sha, thread)

    assert repo.sha("topic") == tip


@pytest.mark.parametrize("locked", [True, False])
def test_a_branch_of_a_worktree_that_is_not_mounted_now_stays(
    topic: Payments, tmp_path: Path, locked: bool
):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")
    there, away = tmp_path / "there", tmp_path / "away"
    repo.checkout("main")
    repo.git("worktree", "add", "-q", str(there), "topic")
    topic.describe(range="main..topic")
    if locked:
        repo.git("worktree", "lock", str(there))
    there.rename(away)
    tip = repo.sha("topic")

    with pytest.raises(Conflict, match=r"checked out in .*there, which is not there now"):
        take(sha, thread)

    assert repo.sha("topic") == tip
    away.rename(there)
    take(sha, thread)
    assert repo.git("-C", str(there), "status", "--short") == ""


def test_several_are_one_commit(topic: Payments):
    sha = topic.repo.sha("topic~1")
    threads = [
        suggest(topic, sha, "X", "XX", line=14),
        suggest(topic, sha, line=15),
        suggest(topic, sha, "Z", line=16),
    ]

    take(sha, *threads)

    assert subjects(topic.repo) == ["First", "Second", "Third", "fixup! Second"]
    lines = (topic.repo.path / "src/a").read_text().splitlines()
    assert lines[14:17] == ["X", "XX", "Z"]


def test_a_range_is_replaced_whole(topic: Payments):
    sha = topic.repo.sha("topic~1")

    take(sha, suggest(topic, sha, "one", line=16, start_line=14))

    lines = (topic.repo.path / "src/a").read_text().splitlines()
    assert lines[13:16] == ["line 13", "one", "line 17"]


def test_suggestions_that_meet_are_refused(topic: Payments):
    sha = topic.repo.sha("topic~1")
    threads = [suggest(topic, sha, "A", line=16, start_line=14), suggest(topic, sha, "B")]
    before = state(topic.repo)

    with pytest.raises(Conflict, match="Two suggestions change line 17 of src/a"):
        take(sha, *threads)

    assert state(topic.repo) == before


def test_work_in_other_files_and_in_the_index_stays(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    repo.write({"b": "at work\n", "c": "staged\n"})
    repo.git("add", "c")

    take(sha, suggest(topic, sha, "Y"))

    assert repo.git("status", "--short").split("\n") == [" M b", "A  c"]
    assert repo.git("diff", "--name-only", "topic~1", "topic") == "src/a"


@pytest.mark.parametrize("how", ["changed", "staged", "gone", "link"])
def test_a_file_that_is_not_clean_is_named_and_left(topic: Payments, how: str, tmp_path: Path):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")
    path = repo.path / "src/a"
    if how in ("changed", "staged"):
        path.write_text("mine\n")
    if how == "staged":
        repo.git("add", "src/a")
    if how == "gone":
        path.unlink()
    if how == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    before = state(repo)

    with pytest.raises(Conflict, match=r"^src/a ") as told:
        take(sha, thread)

    assert told.value.code == "dirty"
    assert state(repo) == before


def test_a_branch_that_is_not_checked_out_moves_alone(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    topic.describe(range="main..topic")
    thread = suggest(topic, sha, "Y")
    repo.checkout("main")
    repo.write({"src/a": "at work\n"})
    before = state(repo)

    told = take(sha, thread)

    after = state(repo)
    assert after["refs"] != before["refs"]
    assert {key: after[key] for key in ("files", "index", "HEAD")} == {
        key: before[key] for key in ("files", "index", "HEAD")
    }
    assert repo.git("show", f"{told['sha']}:src/a").splitlines()[15] == "Y"


def test_a_linked_worktree_that_has_the_branch_follows(topic: Payments, tmp_path: Path):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    topic.describe(range="main..topic")
    thread = suggest(topic, sha, "Y")
    repo.checkout("main")
    repo.git("worktree", "add", "-q", str(tmp_path / "there"), "topic")

    take(sha, thread)

    assert Repo(tmp_path / "there").git("status", "--short") == ""
    assert (tmp_path / "there/src/a").read_text().splitlines()[15] == "Y"


def test_line_ends_of_a_checkout_stay(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")
    path = repo.path / "src/a"
    repo.config("core.autocrlf", "true")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    take(sha, thread)

    assert path.read_bytes().split(b"\r\n")[15] == b"Y"
    assert b"\r" not in repo.raw("show", "topic:src/a")


def test_lines_that_became_others_are_refused(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")
    lines = (repo.path / "src/a").read_text().splitlines(keepends=True)
    repo.commit({"src/a": "".join([*lines[:15], "other\n", *lines[16:]])}, "Fourth")
    before = state(repo)

    with pytest.raises(Conflict, match="have changed since") as told:
        take(sha, thread)

    assert told.value.code == "outdated"
    assert state(repo) == before


def test_what_is_applied_already_is_said(topic: Payments):
    sha = topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "y")

    with pytest.raises(Conflict, match="applied already"):
        take(sha, thread)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_applied_twice_or_changes_nothing_makes_no_commit(topic: Payments, end: str):
    repo = topic.repo
    sha = repo.commit({"src/a": text().replace("\n", end)}, "Ends")
    same, other = suggest(topic, sha, "line 3", line=3), suggest(topic, sha, "A", "B", line=15)
    with pytest.raises(Conflict, match="applied already"):
        take(sha, same)
    take(sha, other)
    tip = repo.sha("topic")

    with pytest.raises(Conflict, match="applied already"):
        take(sha, other)

    assert repo.sha("topic") == tip


def test_a_thread_without_a_suggestion_has_none_to_apply(topic: Payments):
    sha = topic.repo.sha("topic~1")
    made = changes.start_thread("pay", "api", sha, me="ann", body="Why?", path="src/a", line=15)
    with pytest.raises(NotFound, match="holds no such suggestion"):
        take(sha, made["id"])
    body = "```suggestion\n```"
    old = changes.start_thread(
        "pay", "api", sha, me="ann", body=body, path="src/a", line=15, side="LEFT"
    )
    with pytest.raises(Conflict, match="on no lines of the new text"):
        take(sha, old["id"])


@pytest.mark.parametrize(
    "sent", [None, [], [{}], ["t"], [{"thread": "t", "block": -1}], [{"thread": "t", "comment": 1}]]
)
def test_what_cannot_be_read_names_the_field(topic: Payments, sent: Any):
    with pytest.raises(Invalid, match='"suggestions'):
        changes.apply_suggestions("pay", "api", topic.repo.sha("topic"), suggestions=sent, me="ann")


def test_a_subject_that_means_another_commit_is_named_by_its_sha(topic: Payments):
    repo = topic.repo
    sha = repo.commit({"src/a": "top\n" + text((3, "first"), (15, "late"))}, "First")

    told = take(sha, suggest(topic, sha, "later", line=16))

    assert told["subject"] == f"fixup! {sha}"


def test_applied_and_folded_it_is_the_commit_with_the_suggestion(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")
    kept = changes.start_thread("pay", "api", sha, me="ann", body="?", path="src/a", line=16)
    take(sha, thread)

    folding.fold("pay", "api", 1)

    assert subjects(repo) == ["First", "Second", "Third"]
    shown = details.commit("pay", "api", repo.sha("topic~1"))
    assert isinstance(shown, dict)
    found = {one["id"]: one for one in shown["review"]["threads"]}
    assert (found[thread]["line"], found[thread]["resolved"]) == (15, True)
    assert (found[kept["id"]]["line"], found[kept["id"]]["outdated"]) == (16, False)


def test_an_index_that_is_locked_takes_the_file_back(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread = suggest(topic, sha, "Y")
    before = state(repo)
    (repo.path / ".git/index.lock").touch()

    with pytest.raises(Conflict, match=r"index\.lock"):
        take(sha, thread)

    (repo.path / ".git/index.lock").unlink()
    assert state(repo) == before


def test_nothing_of_ours_lies_beside_the_file_when_it_is_done(topic: Payments):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    wanted = [{"thread": suggest(topic, sha, "Y")}]

    changes.apply_suggestions("pay", "api", sha, suggestions=wanted, me="ann")

    assert [path.name for path in (repo.path / "src").iterdir()] == ["a"]
    repo.git("add", "-A")
    assert repo.git("status", "--short") == ""


def test_a_save_that_comes_meanwhile_stays(topic: Payments, monkeypatch: pytest.MonkeyPatch):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread, whole = suggest(topic, sha, "Y"), handover.run
    before = state(repo)

    def late(job: Any) -> None:
        (repo.path / "src/a").write_text("mine\n")
        whole(job)

    monkeypatch.setattr(handover, "run", late)
    with pytest.raises(Conflict, match="src/a has changed meanwhile"):
        take(sha, thread)

    assert state(repo) == before | {"files": before["files"] | {repo.path / "src/a": b"mine\n"}}


@pytest.mark.parametrize("staged", [False, True])
def test_what_is_applied_in_the_work_tree_alone_is_completed(topic: Payments, staged: bool):
    repo, sha = topic.repo, topic.repo.sha("topic~1")
    thread, tip = suggest(topic, sha, "Y"), repo.sha("topic")
    take(sha, thread)
    repo.git("reset", "-q", "--soft" if staged else "--mixed", tip)
    assert repo.git("diff", "HEAD", "--stat").endswith("1 insertion(+), 1 deletion(-)")

    take(sha, thread)

    assert repo.git("status", "--short") == ""
    assert subjects(repo)[-1] == "fixup! Second"


def test_blocks_are_read_as_markdown_reads_them():
    body = (
        "```suggestion\na\n\nb\n```\n````suggestion\n```\n````\n```python\nno\n```\n~~~ suggestion"
    )

    assert blocks(body) == [("a", "", "b"), ("```",), ()]


def test_ends_of_lines_and_of_the_file_stay():
    def replaced(data: bytes, first: int, last: int, *lines: str) -> bytes:
        return apply(data, [Edit(first, last, lines, "t")], "a")

    assert replaced(b"a\r\nb\r\n", 2, 2, "c", "d") == b"a\r\nc\r\nd\r\n"
    assert replaced(b"a\nb", 2, 2, "c", "d") == b"a\nc\nd"
    assert replaced(b"a\r\nb", 2, 2, "c", "d") == b"a\r\nc\r\nd"
    assert replaced(b"a\nb\n", 1, 2) == b""
    for line in ("c", "\ufeffc"):
        assert replaced(b"\xef\xbb\xbfa\nb\n", 1, 1, line) == b"\xef\xbb\xbfc\nb\n"
    assert replaced(b"\xef\xbb\xbfa\nb\n", 1, 1) == b"\xef\xbb\xbfb\n"
    assert replaced("a\né\n".encode("cp1252"), 1, 1, "ü") == "ü\né\n".encode("cp1252")
    with pytest.raises(Conflict, match="no sign"):
        replaced("a\né\n".encode("cp1252"), 1, 1, "漢")


def test_no_hook_filter_or_monitor_of_the_repository_is_run(topic: Payments, tmp_path: Path):
    repo, sha, ran = topic.repo, topic.repo.sha("topic~1"), tmp_path / "ran"
    thread = suggest(topic, sha, "Y")
    for name in ("post-commit", "pre-commit", "reference-transaction", "post-index-change"):
        hook = repo.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat /proc/$PPID/cmdline >>{ran}\ncat\n")
    program.chmod(0o755)
    for key in ("filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "gpg.program"):
        repo.config(key, str(program))
    repo.config("commit.gpgsign", "true")
    (repo.path / ".git/info/attributes").write_text("* filter=evil\n")

    take(sha, thread)
    folding.fold("pay", "api", 1)

    assert not ran.exists(), ran.read_bytes()
    assert subjects(repo) == ["First", "Second", "Third"]


def test_a_bare_repository_of_sha256_is_applied_to_and_folded(home: Path, tmp_path: Path, db: None):
    caches.clear()
    work = Repo(tmp_path / "work", sha256=True)
    work.commit({"src/a": text()}, "Base")
    work.branch("topic")
    work.commit({"src/a": text((15, "y"))}, "Second")
    work.commit({"b": "b\n"}, "Third")
    work.git("clone", "-q", "--bare", str(work.path), str(tmp_path / "bare.git"))
    pay = Payments(home, Repo(tmp_path / "bare.git", bare=True))
    pay.describe(range="main..topic")
    sha = pay.repo.sha("topic~1")

    take(sha, suggest(pay, sha, "Y"))
    folding.fold("pay", "api", 1)

    assert subjects(pay.repo) == ["Second", "Third"]
    assert pay.repo.git("show", "topic:src/a").splitlines()[14] == "Y"
