"""The project detail over real repositories and hand-written files."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.git import command
from config.git.command import GitError
from review import caches
from review.files import layout
from review.stacks import conversations, details, items, listing
from review.stacks import repo as repos
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db


@pytest.fixture
def feature(pay: Payments) -> list[str]:
    """Three commits on `feature` above `main`, oldest first."""
    pay.repo.commit({"a.py": "one\ntwo\n", "b.py": "b\n"}, "Base")
    pay.repo.branch("feature")
    pay.repo.commit({"a.py": "one\n2\nthree\n"}, "Change a")
    pay.repo.commit({"b.py": None, "c.py": "c\n"}, "Replace b")
    pay.repo.commit({"d.py": "d\n" * 4}, "Add d", body="Why d.")
    return pay.repo.shas("main..feature")


def rebased(repo: Repo) -> list[str]:
    """The feature on top of one more commit of main, which touches none of its files."""
    repo.checkout("main")
    repo.commit({"other.py": "x\n"}, "On main")
    repo.checkout("feature")
    return repo.rebase("main")


def test_the_project_detail_is_what_the_contract_shows(pay: Payments, feature: list[str]):
    pay.describe(
        description="Why this exists.",
        range="main..feature",
        stacks=[
            {"title": "Schema", "color": "green", "commits": [feature[0][:7], feature[1]]},
            {"title": "Later", "follow_on": True, "description": "Rest."},
        ],
    )
    path = pay.review(feature[0], "Why?", "Done.")
    pay.put(path.relative_to(pay.root / "pay").as_posix(), path.read_text().replace(
        f"- id: t-{feature[0][:4]}-1", f"- resolved: true\n  id: t-{feature[0][:4]}-1")
    )  # fmt: skip
    pay.pr(feature[2], title="D at last", github={"number": 7})

    shown = pay.project()

    assert {key: shown[key] for key in shown if key != "repos"} == {
        "slug": "pay", "title": "Payments", "description": "Why this exists.", "archived": False,
        "example": False, "file": str(pay.root / "pay" / "project.yaml"), "parse_error": None,
    }  # fmt: skip
    (repo,) = shown["repos"]
    commits = repo.pop("commits")
    assert repo == {
        "name": "api", "path": str(pay.repo.path),
        "range": {
            "text": "main..feature", "base": "main", "head": "feature",
            "base_sha": pay.repo.sha("main"), "head_sha": feature[2],
        },
        "trunk": "main", "missing": False, "errors": [], "warnings": [], "orphaned": [],
        "stacks": [
            {
                "n": 1, "title": "Schema", "color": "#009e73", "description": None,
                "commits": feature[:2], "warning": None, "weight": 5,
            },
            {
                "n": 2, "title": "Later", "color": "#e69f00", "description": "Rest.",
                "commits": feature[2:], "warning": None, "follow_on": True, "weight": 4,
            },
        ],
    }  # fmt: skip
    assert commits[0] == {
        "sha": feature[0], "short": feature[0][:7], "subject": "Change a", "author": "Ann Author",
        "authored": "2026-01-05T11:00:00Z", "parents": [pay.repo.sha("main")],
        "additions": 2, "deletions": 1, "files": 1,
        "position": 1, "stack": 1, "pr_title": "Change a", "unresolved": 1, "branch": None,
        "github": None, "status": "draft",
        "progress": {"threads": 2, "resolved": 1, "files": 1, "viewed": 0},
        "proposed": None,
        "verdicts": [],
    }  # fmt: skip
    assert (commits[1]["position"], commits[1]["stack"], commits[1]["files"]) == (2, 1, 2)
    assert commits[2] | {"authored": ""} == {
        "sha": feature[2], "short": feature[2][:7], "subject": "Add d", "author": "Ann Author",
        "authored": "", "parents": [feature[1]],
        "additions": 4, "deletions": 0, "files": 1, "position": 1, "stack": 2,
        "pr_title": "D at last", "unresolved": 0,
        "branch": {"name": "feature", "status": "discovered", "discovered": ["feature"]},
        "github": {"number": 7, "url": ""}, "status": "published",
        "progress": {"threads": 0, "resolved": 0, "files": 1, "viewed": 0},
        "proposed": None,
        "verdicts": [],
    }  # fmt: skip


def test_stacks_reviews_and_records_follow_a_rebase(pay: Payments, feature: list[str]):
    pay.describe(
        range="main..feature",
        stacks=[
            {"title": "Low", "commits": feature[:1]},
            {"title": "High", "commits": feature[1:]},
        ],
    )
    pay.review(feature[1], "Why?")
    pay.pr(feature[1], title="Out with b", branch="topic")
    fresh = rebased(pay.repo)

    repo, commits = pay.shown(), pay.commits()

    assert [stack["commits"] for stack in repo["stacks"]] == [fresh[:1], fresh[1:]]
    assert [stack["warning"] for stack in repo["stacks"]] == [None, None]
    assert (repo["warnings"], repo["orphaned"]) == ([], [])
    assert commits["Replace b"]["pr_title"] == "Out with b"
    assert commits["Replace b"]["unresolved"] == 1
    assert commits["Replace b"]["branch"] == {
        "name": "topic", "status": "missing", "discovered": [],
    }  # fmt: skip


def test_a_dropped_commit_leaves_an_orphan_that_comes_back_by_cherry_pick(
    pay: Payments, feature: list[str]
):
    pay.describe(range="main..feature", stacks=[{"title": "All", "commits": feature}])
    file = pay.review(feature[2], "Why?", "And here?")
    pay.repo.reset(feature[1])

    repo = pay.shown()

    assert repo["orphaned"] == [
        {
            "sha": feature[2], "subject": "Add d", "threads": 2, "unresolved": 2,
            "file": str(file), "candidates": [],
        }
    ]  # fmt: skip
    assert repo["warnings"] == ["1 review matches no commit"]
    assert repo["stacks"][0]["warning"] == (
        f"1 of 3 commits is no longer in the range: {feature[2][:7]}"
    )

    pay.repo.commit({"e.py": "e\n"}, "Between")
    pay.repo.cherry_pick(feature[2])
    repo = pay.shown()

    assert (repo["orphaned"], repo["warnings"]) == ([], [])
    assert pay.commits()["Add d"]["unresolved"] == 2
    assert pay.stacks() == [["Change a", "Replace b", "Add d"], ["Between"]]


@pytest.mark.parametrize("kind", ["digits", "digits with an e"])
def test_short_shas_that_look_like_numbers_are_read_as_text(pay: Payments, kind: str):
    pay.repo.commit({"a": "0"}, "Base")
    pay.repo.branch("feature")
    fits = str.isdigit if kind == "digits" else odd
    sha = pay.mine(lambda sha, before: fits(sha[:7]))[-1]
    pay.store(sha)
    pay.repo.reset(sha)
    pay.put(
        "project.yaml",
        f"repos:\n- path: {pay.repo.path}\n  name: api\n  range: main..feature\n"
        f"  stacks:\n  - title: One\n    commits: [{sha[:7]}]\n",
    )
    pay.review(sha[:7], "Why?")

    found = pay.shown()

    assert found["stacks"][0]["commits"] == [sha]
    assert found["stacks"][0]["warning"] is None
    assert found["commits"][0]["unresolved"] == 1


def odd(text: str) -> bool:
    """Digits, one e, digits: a float to YAML."""
    left, e, right = text.partition("e")
    return bool(e) and left.isdigit() and right.isdigit()


def test_a_repo_that_cannot_be_read_is_listed_and_harms_no_other(pay: Payments, feature: list[str]):
    bare = pay.repo.path.parent / "plain"
    bare.mkdir()
    good = {"name": "api", "path": str(pay.repo.path), "range": "main..feature"}
    pay.put(
        "project.yaml",
        {
            "repos": [
                {"path": "/nowhere/at-all"},
                {"path": str(bare)},
                good | {"name": "odd", "range": "main..nope"},
                good,
                good,
            ]
        },
    )

    repos = pay.project()["repos"]

    assert [len(one["commits"]) for one in repos] == [0, 0, 0, 3, 0]
    assert [one["stacks"] == [] for one in repos] == [True, True, True, False, True]
    assert repos[0]["errors"] == ["No such directory: /nowhere/at-all"]
    assert repos[1]["errors"] == [f"Not a git repository: {bare}"]
    assert repos[2]["errors"] == ["Unknown revision: nope"]
    assert repos[3]["errors"] == []
    assert repos[4]["errors"] == ['The name "api" is used twice']
    assert repos[2]["range"]["text"] == "main..nope"


def test_an_empty_range_is_told(pay: Payments, feature: list[str]):
    pay.describe(range="feature..main")

    repo = pay.shown()

    assert (repo["commits"], repo["stacks"], repo["errors"]) == ([], [], [])
    assert repo["warnings"] == ["The range feature..main is empty"]


def test_that_only_the_last_commits_are_shown_is_told_once(pay: Payments, feature: list[str]):
    pay.repo.checkout("main")
    pay.describe()

    assert pay.shown()["warnings"] == ["The last 20 commits are shown: main has no upstream"]


def test_a_project_that_breaks_goes_on_showing_what_was_read_last(
    pay: Payments, feature: list[str]
):
    pay.describe(range="main..feature")
    before = pay.project()
    pay.put("project.yaml", "repos: [\n")

    after = pay.project()

    assert before["parse_error"] is None
    assert after["parse_error"].startswith("line 2, column 1")
    assert after | {"parse_error": None} == before
    assert details.progress(repos.target_at("pay", "api", feature[0]))["files"] == 1


def test_nothing_is_asked_of_git_again_while_nothing_changes(
    pay: Payments, feature: list[str], monkeypatch: pytest.MonkeyPatch
):
    pay.describe(range="main..feature")
    pay.review(feature[0], "Why?")
    pay.age()
    before = pay.project()
    listing.project_list()
    monkeypatch.setattr(command, "spawn", None)

    assert pay.project() == before
    assert listing.project_list()["projects"][0]["commitCount"] == 3


def test_a_new_comment_costs_no_log(
    pay: Payments, feature: list[str], monkeypatch: pytest.MonkeyPatch
):
    pay.describe(range="main..feature")
    pay.age()
    assert pay.commits()["Change a"]["unresolved"] == 0
    monkeypatch.setattr(command, "spawn", None)
    pay.review(feature[0], "Why?")

    assert pay.commits()["Change a"]["unresolved"] == 1


def test_the_folder_of_reviews_is_not_read_for_each_commit_without_one(
    pay: Payments, feature: list[str], monkeypatch: pytest.MonkeyPatch
):
    pay.describe(range="main..feature")
    pay.review(feature[0], "Why?")
    read: list[Path] = []
    names = layout.list_folder

    def noted(folder: Path) -> list[str]:
        read.append(folder)
        return names(folder)

    monkeypatch.setattr(layout, "list_folder", noted)

    def looks() -> int:
        pay.age()
        caches.clear()
        read.clear()
        details.project("pay")
        conversations.conversations("pay")
        return read.count(pay.root / "pay/reviews/api")

    few = looks()
    for n in range(5):
        pay.repo.commit({f"more{n}": "1\n"}, f"More {n}")

    assert looks() == few


def test_reading_writes_nothing_below_the_projects_directory(pay: Payments, feature: list[str]):
    pay.describe(range="main..feature", stacks=[{"title": "All", "commits": feature}])
    pay.review(feature[1], "Why?")
    pay.pr(feature[1], title="x")
    rebased(pay.repo)
    before = {path: path.read_bytes() for path in pay.root.rglob("*") if path.is_file()}

    for commit in pay.shown()["commits"]:
        details.commit("pay", "api", commit["sha"])
        details.pr("pay", "api", commit["sha"])
    details.project("pay")

    assert {path: path.read_bytes() for path in pay.root.rglob("*") if path.is_file()} == before


def test_a_git_that_took_too_long_once_is_asked_again(
    pay: Payments, feature: list[str], monkeypatch: pytest.MonkeyPatch
):
    pay.describe(range="main..feature")
    pay.age()

    def slow(*_: object) -> None:
        raise GitError("timeout", "git log took more than 20 seconds")

    with monkeypatch.context() as hung:
        hung.setattr(items, "fill", slow)
        first, tag = pay.shown(), details.etag("pay")

    assert first["errors"] == [
        "git log took more than 20 seconds; a shorter range, such as HEAD~50..HEAD, is faster"
    ]
    assert (first["stacks"], first["commits"]) == ([], [])
    assert pay.shown()["errors"] == []
    assert len(pay.shown()["commits"]) == 3
    assert details.etag("pay") != tag
