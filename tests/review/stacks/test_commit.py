"""The commit detail and its files over real repositories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from config.errors import Invalid, NotFound
from config.git import command
from review import caches
from review.git import objects
from review.stacks import details, repo
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db


def detail(sha: str, **asked: Any) -> dict[str, Any]:
    """The commit detail as JSON, whole or streamed."""
    found = details.commit("pay", "api", sha, **asked)
    if isinstance(found, dict):
        made: dict[str, Any] = orjson.loads(orjson.dumps(found))
    else:
        made = orjson.loads(b"".join(found))
    return made


def files(sha: str, **asked: Any) -> dict[str, dict[str, Any]]:
    return {one["path"]: one for one in detail(sha, **asked)["files"]}


@pytest.fixture
def shas(pay: Payments) -> list[str]:
    """Two commits above main."""
    pay.repo.commit({"a.py": "one\ntwo\nthree\n"}, "Base")
    pay.repo.branch("feature")
    pay.repo.commit({"a.py": "one\n2\nthree\nfour\n"}, "Change a", body="Why.\n\nMore.")
    pay.repo.commit({"b.py": "b\n"}, "Add b")
    pay.describe(range="main..feature", stacks=[{"title": "All"}])
    return pay.repo.shas("main..feature")


def test_the_commit_detail_is_what_the_contract_shows(pay: Payments, shas: list[str]):
    pay.review(shas[0], "Why?")
    pay.pr(shas[0], title="A to two")

    shown = detail(shas[0])

    assert shown.pop("review")["threads"][0]["comments"][0]["body"] == "Why?"
    assert shown.pop("pr")["title"] == "A to two"
    (file,) = shown.pop("files")
    assert shown == {
        "sha": shas[0], "short": shas[0][:7], "subject": "Change a", "body": "Why.\n\nMore.",
        "author": {"name": "Ann Author", "email": "ann@example.org"},
        "authored": "2026-01-05T11:00:00Z", "committed": "2026-01-05T11:00:00Z",
        "parents": [pay.repo.sha("main")], "parent": pay.repo.sha("main"),
        "additions": 2, "deletions": 1, "branch": None, "github": None, "status": "draft",
        "progress": {"threads": 1, "resolved": 0, "files": 1, "viewed": 0},
        "landed": None, "tip": None,
        "stack": {"n": 1, "title": "All", "color": "#0072b2", "position": 1, "count": 2},
        "prev": None,
        "next": {"repo": "api", "sha": shas[1], "short": shas[1][:7], "title": "Add b"},
        "truncated": False,
    }  # fmt: skip
    assert file == {
        "path": "a.py", "old_path": None, "status": "modified", "additions": 2, "deletions": 1,
        "binary": False, "generated": False, "old": "one\ntwo\nthree\n",
        "new": "one\n2\nthree\nfour\n", "old_oid": pay.repo.git("rev-parse", "main:a.py"),
        "new_oid": pay.repo.git("rev-parse", f"{shas[0]}:a.py"), "old_mode": "100644",
        "new_mode": "100644", "encoding": "utf-8", "truncated": False,
        "edits": [[2, 1, 2, 1], [3, 0, 4, 1]], "viewed": False, "changed_since_viewed": False,
    }  # fmt: skip


def test_neighbours_lead_through_all_repos_stack_by_stack(pay: Payments, shas: list[str], tmp_path):
    other = Repo(tmp_path / "other")
    other.commit({"x": "x"}, "Only one")
    pay.put(
        "project.yaml",
        {
            "repos": [
                {
                    "name": "api", "path": str(pay.repo.path), "range": "main..feature",
                    "stacks": [{"commits": [shas[1]]}, {"title": "Rest"}],
                },
                {"name": "web", "path": str(other.path), "range": {"base": None, "head": "main"}},
            ]
        },
    )  # fmt: skip

    shown = detail(shas[0])
    only = details.commit("pay", "web", other.sha())

    assert (shown["prev"]["title"], shown["next"]["title"]) == ("Add b", "Only one")
    assert (shown["prev"]["repo"], shown["next"]["repo"]) == ("api", "web")
    assert isinstance(only, dict)
    assert only["prev"]
    assert (only["prev"]["sha"], only["next"]) == (shas[0], None)


def test_only_the_ends_of_a_repo_lead_to_another_one_past_those_without_commits(
    pay: Payments, shas: list[str], tmp_path: Path, runs: list[str]
):
    mid = shas[1]
    last = pay.repo.commit({"c.py": "c\n"}, "Add c")
    other = Repo(tmp_path / "other")
    other.commit({"x": "x"}, "Only one")
    whole = {"name": "web", "path": str(other.path), "range": {"base": None, "head": "main"}}
    api = {"name": "api", "path": str(pay.repo.path), "range": "main..feature"}
    pay.put("project.yaml", {"repos": [api, {**whole, "name": "no", "range": "main..main"}, whole]})
    detail(last)
    caches.clear()
    runs.clear()

    shown = detail(mid)

    assert (shown["prev"]["title"], shown["next"]["title"]) == ("Change a", "Add c")
    assert "log" not in runs  # which reads `web`, whose range has no base
    assert detail(last)["next"]["title"] == "Only one"
    assert "log" in runs


def test_every_kind_of_change_is_told(pay: Payments, shas: list[str]):
    base = pay.repo.commit(
        {
            "gone.txt": "x\n", "moved.txt": "same\n" * 9, "run.sh": "#!\n",
            "latin.txt": b"caf\xe9\n",
            "picture": b"\x89PNG\0\1", "kind": "a\n", "bom.txt": b"\xef\xbb\xbfone\r\n",
        },
        "Before",
    )  # fmt: skip
    pay.repo.git("mv", "moved.txt", "new name.txt")
    (pay.repo.path / "run.sh").chmod(0o755)
    (pay.repo.path / "kind").unlink()
    (pay.repo.path / "kind").symlink_to("a.py")
    pay.repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},sub")
    pay.repo.write(
        {
            "gone.txt": None, "latin.txt": b"caf\xe9s\n", "picture": b"\x89PNG\0\2", "empty": "",
            "bom.txt": b"\xef\xbb\xbftwo\r\n", "no newline": "end",
        }
    )  # fmt: skip
    pay.repo.git("add", "-A", ":!sub")
    pay.repo.git("commit", "-q", "-m", "All kinds")

    found = files(pay.repo.sha())

    def told(path: str, *keys: str) -> list[Any]:
        return [found[path][key] for key in keys]

    assert told("gone.txt", "status", "old", "new", "additions", "deletions") == [
        "deleted", "x\n", None, 0, 1,
    ]  # fmt: skip
    assert told("new name.txt", "status", "old_path", "edits") == ["renamed", "moved.txt", []]
    assert told("run.sh", "status", "old_mode", "new_mode") == ["mode", "100644", "100755"]
    assert told("latin.txt", "old", "new", "encoding") == ["café\n", "cafés\n", "windows-1252"]
    assert told("picture", "binary", "old", "new", "additions", "encoding", "edits") == [
        True, None, None, None, None, [],
    ]  # fmt: skip
    assert told("kind", "status", "new", "new_mode") == ["type", "a.py", "120000"]
    assert told("sub", "status", "binary", "new", "new_oid", "new_mode") == [
        "added", False, None, base, "160000",
    ]  # fmt: skip
    assert told("empty", "status", "old", "new", "additions", "edits") == [
        "added", None, "", 0, [],
    ]  # fmt: skip
    assert told("bom.txt", "new", "encoding") == ["\ufefftwo\r\n", "utf-8"]
    assert told("no newline", "new", "edits") == ["end", [[0, 0, 1, 1]]]
    assert detail(pay.repo.sha())["truncated"] is False


def test_edits_lead_from_the_old_text_to_the_new_one_whatever_the_file_was(
    pay: Payments, shas: list[str]
):
    """Git tells of a submodule as of a line, of a change of type as of two files."""
    base = pay.repo.commit({"file": "1\n2\n", "filled": "", "module": "1\n"}, "Before")
    for path in ("file", "filled"):
        (pay.repo.path / path).unlink()
        (pay.repo.path / path).symlink_to("a.py")
    pay.repo.git("add", "-A")
    for path in ("added", "module"):
        pay.repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},{path}")
    pay.repo.git("commit", "-q", "-m", "Types")

    found = files(pay.repo.sha())

    assert {path: (file["status"], file["edits"]) for path, file in found.items()} == {
        "added": ("added", []),
        "file": ("type", [[1, 2, 1, 1]]),
        "filled": ("type", [[0, 0, 1, 1]]),
        "module": ("type", [[1, 1, 0, 0]]),
    }


def test_names_that_are_no_utf8_come_with_their_bytes_and_are_found_by_them(
    pay: Payments, shas: list[str]
):
    odd, other = (
        name.decode("utf-8", "surrogateescape") for name in (b'caf\xe9 \t\n"x".txt', b"caf\xef")
    )
    pay.repo.commit({odd: "x\n", other: "z\n", "--output=x": "y\n"}, "Odd names")

    found = files(pay.repo.sha())

    shown = 'caf\\xE9 \t\n"x".txt'
    assert set(found) == {shown, "caf\\xEF", "--output=x"}
    assert (found[shown]["new"], found["caf\\xEF"]["new"]) == ("x\n", "z\n")
    assert details.file("pay", "api", pay.repo.sha(), shown)["new"] == "x\n"
    assert details.file("pay", "api", pay.repo.sha(), "--output=x")["additions"] == 1


@pytest.mark.parametrize(
    ("data", "read", "encoding"),
    [
        ("gr\u00fcn \u20ac\n".encode("windows-1252"), "gr\u00fcn \u20ac\n", "windows-1252"),
        ("gr\u00fcn\n".encode() + b"caf\xe9\n", "gr\u00fcn\ncaf\ufffd\n", "unknown"),
        (b"\x81\x8d\n", "\ufffd\ufffd\n", "unknown"),
    ],
)
def test_text_without_a_sign_of_utf8_is_read_as_windows_1252(
    pay: Payments, shas: list[str], data: bytes, read: str, encoding: str
):
    pay.repo.commit({"text": "\u00fc\n"}, "As UTF-8")
    pay.repo.commit({"text": data}, "In an encoding of its own")

    told = files(pay.repo.sha())["text"]

    assert (told["old"], told["new"], told["encoding"]) == ("\u00fc\n", read, encoding)


def test_generated_files_are_told_by_attribute_name_and_header(pay: Payments, shas: list[str]):
    pay.repo.commit(
        {
            ".gitattributes": "gen/* linguist-generated\n", "sub/.gitattributes":
            "go.sum -linguist-generated\n", "gen/a": "a\n", "sub/go.sum": "x\n", "go.sum": "x\n",
            "made.py": "# @generated\n", "hand.py": "x\n",
        },
        "Generated",
    )  # fmt: skip

    found = files(pay.repo.sha())

    bare = files(pay.repo.sha(), contents="none")
    assert {path for path in found if found[path]["generated"]} == {"gen/a", "go.sum", "made.py"}
    assert {path for path in bare if bare[path]["generated"]} == {"gen/a", "go.sum"}


def test_less_than_all_is_told_as_truncated(pay: Payments, shas: list[str]):
    pay.repo.commit({f"f{n}.py": f"{n}\n" for n in range(5)}, "Five")
    sha = pay.repo.sha()

    none, two, more = detail(sha, contents="none"), detail(sha, contents=2), detail(sha, contents=9)

    assert (none["truncated"], two["truncated"], more["truncated"]) == (True, True, False)
    assert [one["new"] for one in two["files"]] == ["0\n", "1\n", None, None, None]
    assert [one["truncated"] for one in two["files"]] == [False, False, True, True, True]
    assert [one["additions"] for one in none["files"]] == [1] * 5
    assert (none["additions"], two["additions"]) == (5, 5)
    assert detail(shas[0], contents=0)["truncated"] is True
    assert more["files"] == detail(sha)["files"]


def test_one_file_is_what_the_whole_answer_says_of_it(pay: Payments, shas: list[str]):
    whole = files(shas[0])["a.py"]

    assert json.loads(json.dumps(details.file("pay", "api", shas[0], "a.py"))) == whole
    for path in ("", "nope", "../a.py", "/etc/passwd", "a.py/", "b.py"):
        with pytest.raises(NotFound):
            details.file("pay", "api", shas[0], path)


def test_empty_commits_have_no_files(pay: Payments, shas: list[str]):
    pay.repo.commit({}, "Nothing")

    shown = detail(pay.repo.sha())

    assert (shown["files"], shown["additions"], shown["truncated"]) == ([], 0, False)


def test_a_viewed_file_is_told_until_it_changes(pay: Payments, shas: list[str]):
    pay.put(f"reviews/api/{shas[0]}.yaml", {"viewed": ["a.py"]})
    assert files(shas[0])["a.py"]["viewed"] is True
    assert detail(shas[0])["progress"]["viewed"] == 1
    pay.put(f"reviews/api/{shas[0]}.yaml", {"viewed": {"a.py": {"diff": "0" * 64}}})

    file = files(shas[0])["a.py"]

    assert (file["viewed"], file["changed_since_viewed"]) == (False, True)


@pytest.fixture
def big(pay: Payments, shas: list[str]) -> str:
    """A commit of 300 files and about 12 MB of text."""
    pay.repo.commit({f"d{n % 7}/f{n}.txt": f"{n} old\n" * 2000 for n in range(300)}, "Before")
    return pay.repo.commit(
        {f"d{n % 7}/f{n}.txt": f"{n} old\n" * 1999 + f"{n} new\n" for n in range(300)}, "Wide"
    )


def test_a_big_answer_comes_in_pieces_and_is_complete(pay: Payments, big: str):
    pieces = details.commit("pay", "api", big)
    assert isinstance(pieces, Iterator)
    sizes, data = [], b""
    for piece in pieces:
        sizes.append(len(piece))
        data += piece

    shown = orjson.loads(data)

    assert max(sizes) < 1 << 20 < 8 << 20 < sum(sizes)
    assert (shown["additions"], shown["deletions"], shown["truncated"]) == (300, 300, False)
    assert [one["path"] for one in shown["files"]] == pay.repo.git(
        "diff-tree", "-r", "--name-only", "--no-commit-id", big
    ).split("\n")
    for one in shown["files"][::50]:
        assert one["new"] == pay.repo.git("show", f"{big}:{one['path']}") + "\n"
        assert one["edits"] == [[2000, 1, 2000, 1]]
    assert shown.keys() == detail(big, contents=3).keys()


def test_a_reader_that_leaves_half_way_harms_nobody(pay: Payments, big: str):
    for _ in range(3):
        pieces = details.commit("pay", "api", big)
        assert isinstance(pieces, Iterator)
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]

    assert len(files(big, contents=8)) == 300


def test_a_first_look_at_a_big_commit_reads_only_what_it_shows(
    pay: Payments, big: str, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []
    real = objects.blobs

    def blobs(repository: Any, oids: list[str]) -> Any:
        asked.extend(oids)
        return real(repository, oids)

    monkeypatch.setattr(objects, "blobs", blobs)
    shown = detail(big, contents=8)

    assert shown["truncated"] is True
    assert len(asked) == 16
    assert [one["truncated"] for one in shown["files"]] == [False] * 8 + [True] * 292


@pytest.mark.parametrize("cut", [4, 7, 12, 40])
def test_a_commit_is_found_by_any_part_of_its_sha(pay: Payments, shas: list[str], cut: int):
    assert detail(shas[0][:cut].upper())["sha"] == shas[0]


@pytest.mark.parametrize("sha", ["abc", "", "zzzz", "a" * 41, "HEAD", "main", "--all", "0" * 40])
def test_what_is_no_sha_of_the_range_is_not_found(pay: Payments, shas: list[str], sha: str):
    with pytest.raises(NotFound) as caught:
        detail(sha)

    assert caught.value.code == "not_in_range"
    assert caught.value.text == (
        f"Commit {sha[:7]} is not in the range of repo api; it may have been rebased away. "
        "Look it up again in the project detail."
    )


def test_a_short_sha_is_ambiguous_only_within_the_range(pay: Payments, shas: list[str]):
    base = pay.repo.sha("main")
    mined = pay.mine(lambda sha, before: any(sha[:4] == one[:4] != base[:4] for one in before))
    other = mined[-1]
    one = next(sha for sha in mined if sha[:4] == other[:4])
    pay.store(one)
    pay.store(other)
    pay.repo.git("update-ref", "refs/heads/feature", one)
    assert detail(one[:4])["sha"] == one  # the other one exists, outside

    merged = pay.repo.git("commit-tree", "-p", one, "-p", other, "-m", "Both", f"{one}^{{tree}}")
    pay.repo.git("update-ref", "refs/heads/feature", merged)

    with pytest.raises(Invalid) as caught:
        detail(one[:4])
    assert caught.value.code == "ambiguous_sha"
    assert caught.value.text == f'Short sha "{one[:4]}" is ambiguous: matches 2 commits'
    shorts = {item["sha"]: item["short"] for item in pay.shown()["commits"]}
    assert detail(shorts[one])["sha"] == one


def test_a_commit_without_its_objects_is_shown_without_its_texts(pay: Payments, shas: list[str]):
    oid = pay.repo.git("rev-parse", f"{shas[0]}:a.py")
    assert pay.commits()["Change a"]["additions"] == 2
    Path(pay.repo.path, ".git", "objects", oid[:2], oid[2:]).unlink()

    found = files(shas[0])["a.py"]

    assert (found["old"], found["new"], found["edits"]) == ("one\ntwo\nthree\n", None, [])


def test_the_tag_of_an_answer_changes_with_what_it_shows(pay: Payments, shas: list[str]):
    pay.age()
    first = details.etag("pay", "commit", shas[0])
    assert details.etag("pay", "commit", shas[0]) == first
    assert details.etag("pay", "commit", shas[1]) != first
    pay.review(shas[0], "Why?")

    assert details.etag("pay", "commit", shas[0]) != first


def test_a_repo_is_loaded_without_counts_first_and_with_them_when_asked(
    pay: Payments, shas: list[str]
):
    pay.age()
    light, whole = pay.load(counts=False), pay.load()

    assert [item.commit.counted for item in light.items] == [False, False]
    assert [stack.weight for stack in light.stacks] == [None]
    assert [item.commit.additions for item in whole.items] == [2, 1]
    assert pay.load(counts=False) is whole
    assert repo.find(whole, shas[0]).shown_commit.counted


def test_a_commit_that_was_shown_costs_no_git(
    pay: Payments, shas: list[str], monkeypatch: pytest.MonkeyPatch
):
    pay.age()
    before = detail(shas[0])
    monkeypatch.setattr(command, "spawn", None)
    monkeypatch.setattr(objects, "blobs", None)

    assert detail(shas[0]) == before

    pay.review(shas[0], "Why?")

    assert detail(shas[0])["progress"]["threads"] == 1
    assert detail(shas[0])["files"] == before["files"]


def test_what_was_missing_once_is_looked_for_again(pay: Payments, shas: list[str]):
    oid = pay.repo.git("rev-parse", f"{shas[0]}:a.py")
    stored = Path(pay.repo.path, ".git", "objects", oid[:2], oid[2:])
    pay.age()
    assert pay.commits()["Change a"]["additions"] == 2
    stored.rename(stored.with_name("away"))
    assert files(shas[0])["a.py"]["new"] is None

    stored.with_name("away").rename(stored)

    assert files(shas[0])["a.py"]["new"] == "one\n2\nthree\nfour\n"
