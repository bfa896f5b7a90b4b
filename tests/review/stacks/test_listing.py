"""The list of projects: what it counts, and what it costs."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.git import command
from config.storage import yamlio
from review import caches
from review.models import RepoRow
from review.stacks import listing
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db


def listed() -> dict[str, dict[str, Any]]:
    return {one["slug"]: dict(one) for one in listing.project_list()["projects"]}


def forget() -> None:
    """As another process would start: memory gone, rows kept."""
    for each in caches._forget:
        each()


@pytest.fixture
def feature(pay: Payments) -> list[str]:
    pay.repo.commit({"a": "0"}, "Base")
    pay.repo.branch("feature")
    for n in range(4):
        pay.repo.commit({f"f{n}": f"{n}\n"}, f"Commit {n}")
    return pay.repo.shas("main..feature")


def test_the_list_is_what_the_contract_shows(pay: Payments, feature: list[str], settings):
    pay.describe(
        range=f"{pay.repo.sha('main')}..feature",
        trunk="main",
        archived=True,
        stacks=[
            {"title": "Now", "commits": feature[:2]},
            {"title": "Later", "follow_on": True, "commits": feature[2:]},
        ],
    )
    pay.review(feature[3], "Why?", "What?")
    pay.repo.git("branch", "-f", "main", feature[0])
    pay.age()

    found = listing.project_list()

    newest = max(
        (pay.root / "pay" / name).stat().st_mtime
        for name in ("project.yaml", f"reviews/api/{feature[3]}.yaml")
    )
    one = found["projects"][0]
    assert {**found, "projects": []} == {
        "projectsDir": str(settings.PROJECTS_DIR), "home": str(Path.home()), "examples": "none",
        "projects": [],
    }  # fmt: skip
    assert one == {
        "slug": "pay", "title": "Payments", "repos": ["api"], "repoCount": 1, "commitCount": 1,
        "followOnCount": 2, "mergedCount": 1, "archived": True, "example": False, "unresolved": 2,
        "lastModified": one["lastModified"], "error": None, "unreadable": [],
    }  # fmt: skip
    assert one["lastModified"] == time_text(newest)


def time_text(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_the_head_of_a_range_may_be_the_newest_thing(pay: Payments, feature: list[str]):
    pay.describe(range="main..feature")
    pay.repo.git("commit", "-q", "--amend", "--no-edit", GIT_COMMITTER_DATE="@4102444800 +0000")

    assert listed()["pay"]["lastModified"] == "2100-01-01T00:00:00Z"


def test_bad_projects_are_listed_and_harm_no_other(pay: Payments, feature: list[str]):
    pay.describe(range="main..feature")
    for slug, text in {
        "empty": "", "broken": "a: [\n", "bare": "repos: []\n", "list": "- a\n",
        "gone": "repos:\n- path: /nowhere\n", "twice": "repos: [{path: /a/x}, {path: /b/x}]\n",
    }.items():  # fmt: skip
        (pay.root / slug).mkdir()
        (pay.root / slug / "project.yaml").write_text(text)
    (pay.root / "no-project").mkdir()

    found = listed()

    assert sorted(found) == ["bare", "broken", "empty", "gone", "list", "pay", "twice"]
    assert found["broken"]["error"].startswith("line 2, column 1")
    assert found["list"]["error"] is not None
    assert [found[slug]["repoCount"] for slug in ("bare", "gone", "twice", "pay")] == [0, 1, 2, 1]
    assert [slug for slug in found if found[slug]["commitCount"]] == ["pay"]
    assert found["gone"]["unreadable"] == [
        {"repo": "nowhere", "error": "No such directory: /nowhere"}
    ]
    assert found["twice"]["unreadable"]
    assert [slug for slug in ("bare", "pay") if found[slug]["unreadable"]] == []


@pytest.fixture
def many(pay: Payments, feature: list[str], tmp_path: Path) -> int:
    """Fifty projects over three repositories, one of them broken, all files a minute old."""
    others = [Repo(tmp_path / f"other{n}") for n in range(2)]
    for other in others:
        other.commit({"x": "x"}, "Only one")
    paths = [pay.repo.path, *(other.path for other in others)]
    for n in range(49):
        folder = pay.root / f"p{n}"
        folder.mkdir()
        (folder / "project.yaml").write_text(
            f"repos:\n- path: {paths[n % 3]}\n  name: r\n" if n else "repos: [\n"
        )
    pay.review(feature[0], "Why?")
    pay.age()
    for other in others:
        for path in (other.path / ".git").rglob("*"):
            os.utime(path, (1_700_000_000, 1_700_000_000))
    return 50


@pytest.mark.parametrize("restarted", [False, True])
def test_fifty_unchanged_projects_cost_no_parse_and_no_process(
    many: int, restarted: bool, monkeypatch: pytest.MonkeyPatch
):
    before = listed()
    if restarted:
        forget()
        monkeypatch.setattr(command, "spawn", None)
        listing.project_list()
    monkeypatch.setattr(command, "spawn", None)
    monkeypatch.setattr(yamlio, "parse", None)

    after = listed()

    assert after == before
    assert len(after) == many
    assert after["pay"]["unresolved"] == 1


def test_a_change_is_seen_in_the_list(pay: Payments, many: int, feature: list[str]):
    before = listed()["pay"]
    pay.review(feature[1], "And here?")
    assert listed()["pay"]["unresolved"] == before["unresolved"] + 1
    pay.repo.commit({"y": "y"}, "One more")
    assert listed()["pay"]["commitCount"] == before["commitCount"] + 1


def test_a_row_that_lies_is_made_again(pay: Payments, many: int):
    before = listed()["pay"]
    RepoRow.objects.filter(pk="pay/api").update(data={"summary": {"nonsense": 1}})
    forget()

    assert listed()["pay"] == before
    RepoRow.objects.filter(pk="pay/api").update(data=[], stamp="x")
    forget()
    assert listed()["pay"] == before
