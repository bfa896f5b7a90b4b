"""Commits as git knows them: files, counts, messages, names and times of every odd kind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from config.git.command import GitError
from review import caches
from review.git.commits import Changed, Commit
from review.git.log import history, rows
from review.git.output import NEVER
from review.git.repository import Repository, open_repository
from review.models import CommitRow
from tests.review.git.world import read, span, subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


def only(repo: Repo, sha: str) -> Commit:
    return history.commit(open_repository(repo.path), sha)


def files(repo: Repo, sha: str) -> dict[str, Changed]:
    return {file.path: file for file in only(repo, sha).files}


def odd_commit(repo: Repo, headers: bytes, message: bytes) -> str:
    """A commit object with exactly these lines between its parent and its message."""
    tree, parent = repo.git("rev-parse", "HEAD^{tree}"), repo.sha()
    data = b"tree %s\nparent %s\n%s\n%s" % (tree.encode(), parent.encode(), headers, message)
    return repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=data)


def who(author: bytes = b"A <a@b> 1767600000 +0000") -> bytes:
    return b"author %s\ncommitter C <c@d> 1767603600 -0130\n" % author


def merged(repo: Repo) -> None:
    """`merged`: topic, and a merge of one more commit on it, so that a range needs a walk."""
    repo.branch("merged")
    repo.checkout("topic")
    repo.commit({"d": "1\n"}, "beside")
    repo.checkout("merged")
    repo.merge("topic")


def test_a_commit_tells_its_message_people_times_and_files(repo: Repo):
    parent = repo.sha()
    sha = repo.commit(
        {"a.txt": "one\n2\n3\nfour\n"}, "A subject", "Bö <bo@example.org>",
        "2026-03-01T01:30:00+0230", {"Change-Id": "I123"}, body="Why.\n\n    code",
    )  # fmt: skip

    commit = only(repo, sha)

    assert (commit.subject, commit.body) == ("A subject", "Why.\n\n    code\n\nChange-Id: I123")
    assert (commit.author_name, commit.author_email) == ("Bö", "bo@example.org")
    assert (commit.authored, commit.committed) == ("2026-02-28T23:00:00Z", "2026-01-05T13:00:00Z")
    assert (commit.parents, commit.parent, commit.change_id) == ((parent,), parent, "I123")
    assert (commit.additions, commit.deletions) == (3, 2)


def test_a_range_is_oldest_first_and_its_root_adds_every_file(repo: Repo):
    commits, warnings = read(repo, {"base": None, "head": "topic"})

    assert [commit.subject for commit in commits] == ["base", "first", "second"]
    assert commits[0].parent is None
    assert [(file.path, file.status, file.additions) for file in commits[0].files] == [
        ("a.txt", "added", 3)
    ]
    assert warnings == []


def test_every_kind_of_change_has_its_status(repo: Repo, tmp_path: Path):
    text = "".join(f"line {number}\n" for number in range(50))
    repo.commit(
        {"mode": "x\n", "kind": "x\n", "gone": "x\n", "long": text, "bin": b"\0\1", "both": "1\n"}
    )
    (repo.path / "mode").chmod(0o755)
    (repo.path / "both").chmod(0o755)
    (repo.path / "kind").unlink()
    (repo.path / "kind").symlink_to("mode")
    sha = repo.commit(
        {"gone": None, "long": None, "moved": text + "more\n", "bin": b"\0\2", "empty": "",
         "both": "2\n", "bare": "no line feed", "dos": "1\r\n2\r\n"}
    )  # fmt: skip

    found = files(repo, sha)

    assert {path: file.status for path, file in found.items()} == {
        "mode": "mode", "kind": "type", "gone": "deleted", "moved": "renamed", "bin": "modified",
        "empty": "added", "both": "modified", "bare": "added", "dos": "added",
    }  # fmt: skip
    assert {path: (file.additions, file.deletions) for path, file in found.items()} == {
        "mode": (0, 0), "kind": (1, 1), "gone": (0, 1), "moved": (1, 0), "bin": (None, None),
        "empty": (0, 0), "both": (1, 1), "bare": (1, 0), "dos": (2, 0),
    }  # fmt: skip
    assert found["moved"].old_path == "long"
    assert (found["kind"].old_mode, found["kind"].new_mode) == ("100644", "120000")
    assert (found["gone"].new_oid, found["gone"].new_mode) == (None, None)
    assert (found["empty"].old_oid, found["empty"].old_mode) == (None, None)
    assert found["mode"].old_oid == found["mode"].new_oid


def test_a_submodule_has_no_counts(repo: Repo):
    for value in ("1" * 40, "2" * 40):
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{value},lib")
        repo.git("commit", "-q", "-m", "submodule")

    module = files(repo, repo.sha())["lib"]

    assert (module.status, module.old_oid, module.new_oid) == ("modified", "1" * 40, "2" * 40)
    assert (module.additions, module.deletions, module.new_mode) == (None, None, "160000")


@pytest.mark.parametrize(
    "name",
    ["a b", "tab\there", "new\nline", 'quo"te', "back\\slash", "-dash", "ümlaut", "\udcff\udcfe",
     " ", "commit 1234", ":100644", ":(top)", "0\t0\tx", "x" * 200, "deep/er/still"],
)  # fmt: skip
def test_a_file_may_have_any_name(repo: Repo, name: str):
    sha = repo.commit({name: "1\n"})
    moved = repo.commit({name: None, f"{name}2": "1\n"})

    assert list(files(repo, sha)) == [name]
    assert files(repo, moved)[f"{name}2"].old_path == name
    caches.clear()
    assert [file.path for commit in read(repo)[0] for file in commit.files][-2:] == [
        name, f"{name}2",
    ]  # fmt: skip
    history._found.clear()
    assert read(repo)[0][-1].files[0].old_path == name, "as its row has it"


def test_a_message_of_another_encoding_is_read_as_what_it_says(repo: Repo):
    latin = odd_commit(
        repo,
        who("Bö <b@x> 1 +0000".encode("latin-1")) + b"encoding ISO-8859-1\n",
        "Grüße\n\nfür".encode("latin-1"),
    )
    broken = odd_commit(repo, who(), b"Gr\xfc\xdfe")

    assert (only(repo, latin).subject, only(repo, latin).body) == ("Grüße", "für")
    assert only(repo, latin).author_name == "Bö"
    assert only(repo, broken).subject == "Gr\ufffd\ufffde"


@pytest.mark.parametrize(
    ("message", "subject", "body"),
    [
        (b"", "", ""),
        (b"\n\n\n", "", ""),
        (b"one", "one", ""),
        (b"one\ntwo\n\nthree\n", "one two", "three"),
        (b"\n\none\n\n\n\ntwo\n\n", "one", "two"),
        (b"one\n\n    four blanks\n\ttab\n", "one", "    four blanks\n\ttab"),
        (b"commit 123\n\ncommit 456\n:100644 x", "commit 123", "commit 456\n:100644 x"),
        (b"one\r\n\r\ntwo\r\n", "one", "two"),
        (b"diff --git a/x b/x", "diff --git a/x b/x", ""),
    ],
)
def test_a_message_may_have_any_shape(repo: Repo, message: bytes, subject: str, body: str):
    commit = only(repo, odd_commit(repo, who(), message))

    assert (commit.subject, commit.body.replace("\r", "")) == (subject, body)


@pytest.mark.parametrize(
    ("author", "name", "email", "authored"),
    [
        (b"A B <a@b> 1767600000 +1400", "A B", "a@b", "2026-01-05T08:00:00Z"),
        (b"A <a@b> 1767600000 -9999", "A", "a@b", "2026-01-05T08:00:00Z"),
        (b"A <a@b> 1767600000", "A", "a@b", "2026-01-05T08:00:00Z"),
        (b"A <a@b> -1 +0000", "A", "a@b", "1969-12-31T23:59:59Z"),
        (b"A <a@b> -60000000000 +0000", "A", "a@b", "0068-09-03T13:20:00Z"),
        (b"A <a@b> 99999999999999999999 +0000", "A", "a@b", NEVER),
        (b"A <a@b> soon", "A", "a@b", NEVER),
        (b" <> 0 +0000", "", "", "1970-01-01T00:00:00Z"),
        (b"nobody", "nobody", "", NEVER),
        (b"", "", "", NEVER),
    ],
)
def test_odd_people_and_times_are_read(
    repo: Repo, author: bytes, name: str, email: str, authored: str
):
    commit = only(repo, odd_commit(repo, who(author), b"x"))

    assert (commit.author_name, commit.author_email, commit.authored) == (name, email, authored)
    assert commit.committed == "2026-01-05T09:00:00Z"


def test_a_change_id_is_a_trailer_or_a_header(repo: Repo):
    header = b"change-id kqyzmvw\n"

    assert only(repo, odd_commit(repo, who() + header, b"x")).change_id == "kqyzmvw"
    both = odd_commit(repo, who() + header, b"x\n\nChange-Id: Iabc\n")
    assert only(repo, both).change_id == "Iabc"
    inside = odd_commit(repo, who(), b"x\n\nChange-Id: Iold\n\nSigned-off-by: me\n")
    assert only(repo, inside).change_id is None


def test_a_signed_commit_reads_like_any_other(repo: Repo):
    signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n author X <x@y> 1 +0000\n -----END\n"

    commit = only(repo, odd_commit(repo, who() + signature, b"signed"))

    assert (commit.subject, commit.author_name) == ("signed", "A")


def test_a_merge_is_diffed_against_its_first_parent_without_a_warning(repo: Repo):
    repo.checkout("main")
    repo.commit({"m.txt": "1\n"}, "on main")
    repo.branch("both")
    sha = repo.merge("topic", "join")

    commits, warnings = read(repo, "main..both")

    assert [file.path for file in commits[-1].files] == ["a.txt", "b/c.txt"]
    assert len(commits[-1].parents) == 2
    assert warnings == []  # the page says so on the commit
    assert only(repo, sha) == commits[-1]


def test_an_empty_commit_has_no_files(repo: Repo):
    sha = repo.commit({}, "empty")

    assert only(repo, sha).files == ()
    assert only(repo, sha).counted
    assert subjects(repo, "main..topic") == ["first", "second", "empty"]


def test_an_empty_range_says_so(repo: Repo):
    assert read(repo, "topic..main") == ([], ["The range topic..main is empty"])
    repo.git("branch", "other", "main")
    assert read(repo, "topic..other") == ([], ["The range topic..other is empty"])


def test_only_the_newest_2000_commits_of_a_range_are_read(repo: Repo):
    parts = [b"reset refs/heads/long\nfrom refs/heads/topic\n\n"]
    for number in range(2005):
        parts.append(
            b"commit refs/heads/long\ncommitter C <c@d> %d +0000\ndata <<.\nn%d\n.\n"
            b"M 644 inline n\ndata <<.\n%d\n.\n\n" % (1767600000 + number, number, number)
        )
    repo.git("fast-import", "--quiet", stdin=b"".join(parts))

    commits, warnings = read(repo, "topic..long")

    assert [commits[0].subject, commits[-1].subject, len(commits)] == ["n5", "n2004", 2000]
    assert warnings == ["Only the newest 2,000 commits of the range are shown"]
    history._found.clear()
    assert read(repo, "topic..long") == (commits, warnings), "as the rows have it"


def test_a_range_that_was_seen_runs_nothing(repo: Repo, runs: list[str]):
    first = read(repo, "main..topic")
    repository, same = open_repository(repo.path), span(repo, "main..topic")
    runs.clear()

    assert history.commits(repository, same) == first
    assert runs == []


def test_after_a_restart_rows_spare_the_log(repo: Repo, runs: list[str]):
    merged(repo)
    first = read(repo, "main..merged")
    history._found.clear()
    runs.clear()

    assert read(repo, "main..merged") == first
    assert runs == ["rev-list"]


def test_of_a_range_seen_in_part_only_the_news_are_read(repo: Repo):
    first = read(repo, "main..topic")[0]
    head = repo.commit({"n": "1\n"}, "third")
    repository = open_repository(repo.path)
    rows.put(repository, [only(repo, head)])
    CommitRow.objects.filter(key__startswith=repository.key(first[0].sha)).delete()

    commits, _ = history.commits(repository, span(repo, "main..topic"))

    assert [commit.subject for commit in commits] == ["first", "second", "third"]
    assert commits[:2] == first


def test_what_is_committed_or_amended_on_commits_that_were_counted_is_counted_alone(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
):
    first, _ = read(repo, "main..topic")
    of_shas, counted = history._of_shas, []

    def noted(repository: Repository, shas: list[str], **how: Any) -> list[Commit]:
        counted.extend(shas)
        return of_shas(repository, shas, **how)

    monkeypatch.setattr(history, "_of_shas", noted)

    amended = repo.amend({"b/c.txt": "newer\n"})
    assert read(repo, "main..topic")[0][0] == first[0]
    third = repo.commit({"n": "1\n"}, "third")
    assert [commit.additions for commit in read(repo, "main..topic")[0]] == [1, 1, 1]
    assert counted == [amended, third]


def test_without_counts_the_files_come_and_nothing_is_kept(repo: Repo):
    repository, wanted = open_repository(repo.path), span(repo, "main..topic")

    quick, _ = history.commits(repository, wanted, counts=False)

    assert [[file.path for file in commit.files] for commit in quick] == [["a.txt"], ["b/c.txt"]]
    assert not any(commit.counted for commit in quick)
    assert CommitRow.objects.count() == 0
    counted, _ = history.commits(repository, wanted)
    assert all(commit.counted for commit in counted)
    assert history.commits(repository, wanted, counts=False)[0] == counted


def test_clearing_the_caches_forgets_rows_and_memory(repo: Repo):
    first = read(repo, "main..topic")
    caches.clear()

    assert CommitRow.objects.count() == 0
    assert read(repo, "main..topic") == first
    assert CommitRow.objects.count() == 2


def test_a_commit_may_be_compared_with_any_other(repo: Repo):
    base, head = repo.sha("main"), repo.sha("topic")
    repository = open_repository(repo.path)

    against = history.commit(repository, head, base)
    alone = history.commit(repository, head, None)

    assert (against.parent, [file.path for file in against.files]) == (base, ["a.txt", "b/c.txt"])
    assert (alone.parent, {file.status for file in alone.files}) == (None, {"added"})


@pytest.mark.parametrize("sha", ["1" * 40, "HEAD", "main", "--all", "x", "", "1" * 39, "é"])
def test_a_commit_that_is_not_here_is_an_unknown_revision(repo: Repo, sha: str):
    with pytest.raises(GitError) as told:
        only(repo, sha)

    assert (told.value.kind, told.value.text) == ("revision", f"Unknown revision: {sha}")


def test_a_file_or_a_tree_is_no_commit(repo: Repo):
    for sha in (repo.git("rev-parse", "HEAD^{tree}"), repo.git("rev-parse", "HEAD:a.txt")):
        with pytest.raises(GitError, match="Unknown revision"):
            only(repo, sha)


def test_the_edge_of_a_shallow_clone_is_told_and_not_kept(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone", "--depth=1")
    head = repo.sha()

    commits, warnings = read(clone, {"base": None, "head": "topic"})

    assert [(commit.sha, commit.parent) for commit in commits] == [(head, None)]
    assert warnings == [
        f"The clone is shallow: it has no older commits; {head[:7]} only seems to add every file"
    ]
    assert CommitRow.objects.count() == 0
    clone.git("fetch", "-q", "--unshallow")
    assert [file.path for file in only(clone, head).files] == ["b/c.txt"]


def test_a_clone_without_blobs_shows_what_it_has(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")

    commits, warnings = read(clone, "origin/main..origin/topic")

    named = ", ".join(commit.sha[:7] for commit in commits)
    assert warnings == [f"Objects are missing here, so counts are incomplete: {named}"]
    assert [[file.path for file in commit.files] for commit in commits] == [["a.txt"], ["b/c.txt"]]
    assert CommitRow.objects.count() == 0


def test_a_clone_that_has_some_blobs_counts_those_commits(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    clone.git("cat-file", "blob", "origin/topic:b/c.txt")

    commits, _ = read(clone, "origin/main..origin/topic")

    assert [commit.counted for commit in commits] == [False, True]
    assert commits[1].additions == 1


def test_a_clone_without_trees_shows_its_commits(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone", "--filter=tree:0", "--no-checkout")

    commits, warnings = read(clone, "origin/main..origin/topic")

    assert [(commit.subject, commit.files) for commit in commits] == [("first", ()), ("second", ())]
    assert len(warnings) == 1
    assert not only(clone, commits[0].sha).counted


def test_a_full_disk_costs_the_rows_and_nothing_else(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def full(*_args, **_kwargs):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(CommitRow._default_manager, "bulk_create", full)

    assert subjects(repo, "main..topic") == ["first", "second"]
    assert "rows of commits lag" in caplog.text


def test_a_slow_log_is_a_timeout(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    merged(repo)
    wanted = span(repo, "main..merged")
    repository = open_repository(repo.path)
    script = tmp_path / "git"
    slow = 'case " $* " in *" log "*) exec sleep 600 ;; esac'
    script.write_text(f'#!/bin/sh\n{slow}\nexec {shutil.which("git")} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(type(repository), "run", short_run(type(repository).run))

    with pytest.raises(GitError) as told:
        history.commits(repository, wanted)

    assert told.value.kind == "timeout"


def short_run(run: Any) -> Any:
    def hurried(repository, *args, **kwargs):
        return run(repository, *args, **{**kwargs, "timeout": 0.3})

    return hurried


def test_a_partial_clone_is_read_once_until_objects_arrive(
    repo: Repo, tmp_path: Path, runs: list[str]
):
    clone = repo.clone(tmp_path / "clone", "--filter=tree:0", "--no-checkout")
    wanted, repository = span(clone, "origin/main..origin/topic"), open_repository(clone.path)
    history.commits(repository, wanted)
    runs.clear()
    history.commits(repository, wanted)
    assert runs == []

    clone.git("log", "-p", "origin/topic")

    commits, warnings = history.commits(repository, wanted)
    assert [commit.additions for commit in commits] == [1, 1]
    assert warnings == []


def test_listed_commits_of_a_partial_clone_come_without_counts(repo: Repo, tmp_path: Path):
    shas = repo.shas("main..topic")
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")

    found = history.commits_by_sha(open_repository(clone.path), shas, counts=True)

    assert [(found[sha].subject, found[sha].counted) for sha in shas] == [
        ("first", False), ("second", False),
    ]  # fmt: skip
