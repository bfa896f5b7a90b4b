"""A repository that is not where project.yaml says takes nothing of what was said with it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict, Invalid, NotFound
from review import projects
from review.stacks import changes, conversations, details, listing, moving, repo, wire
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

ME = "ann"


@pytest.fixture
def topic(pay: Payments) -> Payments:
    """Two commits on `topic`: two threads on the first, one of them resolved; one on the other."""
    pay.repo.commit({"a": "base\n"}, "Base")
    pay.repo.branch("topic")
    first, second = pay.repo.commit({"a": "1\n"}, "First"), pay.repo.commit({"a": "2\n"}, "Second")
    place: dict[str, Any] = {"project": "pay", "repo": "api"}
    changes.start_thread(me=ME, sha=first, body="Why?", path="a", line=1, **place)
    done = changes.start_thread(me=ME, sha=first, body="Done?", **place)["id"]
    changes.resolve_thread(me=ME, sha=first, thread=done, **place)
    pay.review(second, "By hand")
    return pay


def away(pay: Payments) -> Path:
    """Move the repository; where it is now."""
    return Path(shutil.move(pay.repo.path, pay.repo.path.with_name("elsewhere")))


def back(pay: Payments) -> None:
    shutil.move(pay.repo.path.with_name("elsewhere"), pay.repo.path)


def listed() -> dict[str, Any]:
    (found,) = listing.project_list()["projects"]
    return dict(found)


def moved(path: Any, **more: Any) -> wire.Repo:
    return moving.move_repo("pay", "api", path=path, **more)


def test_open_threads_are_counted_and_told_with_the_reason(topic: Payments):
    away(topic)
    reason = f"No such directory: {topic.repo.path}"

    assert listed()["unresolved"] == 2
    shown = topic.shown()
    assert (shown["missing"], shown["errors"], shown["commits"]) == (True, [reason], [])
    assert {one["subject"]: (one["threads"], one["unresolved"]) for one in shown["orphaned"]} == {
        "First": (2, 1),
        None: (1, 1),
    }
    found = conversations.conversations("pay")
    assert (found["threads"], found["unreadable"]) == ([], [])
    assert {one["reason"] for one in found["orphaned"]} == {reason}
    bodies = [
        thread["comments"][0]["body"] for one in found["orphaned"] for thread in one["threads"]
    ]
    assert sorted(bodies) == ["By hand", "Done?", "Why?"]
    assert conversations.markdown("pay") == (
        f"Repo api cannot be read ({reason}): 3 threads, 2 unresolved, are not shown.\n"
    )


def test_everything_is_as_before_when_it_is_back(topic: Payments):
    before = topic.project(), listed(), conversations.conversations("pay")
    away(topic)
    assert topic.project() != before[0]
    back(topic)

    assert (topic.project(), listed(), conversations.conversations("pay")) == before


def test_what_a_hand_writes_meanwhile_is_counted(topic: Payments):
    away(topic)
    assert listed()["unresolved"] == 2
    topic.review("0123456789abcdef0123456789abcdef01234567", "Meanwhile", "And this")

    assert listed()["unresolved"] == 4


@pytest.mark.parametrize("sha", ["first", "0123456"])
def test_a_commit_names_the_directory_that_is_missing(topic: Payments, sha: str):
    sha = topic.repo.sha("topic~1") if sha == "first" else sha
    away(topic)
    place: dict[str, Any] = {"project": "pay", "repo": "api", "sha": sha}

    for ask in (details.commit, repo.target_at, details.pr):
        with pytest.raises(NotFound) as refused:
            ask(**place)
        assert refused.value.code == "unreadable"
        assert refused.value.text == (
            f"Commit {sha[:7]} of repo api cannot be shown: No such directory: "
            f"{topic.repo.path}. Put it back, or give its new path on the page of the project."
        )


def test_a_branch_that_is_gone_hides_no_thread_either(topic: Payments):
    topic.describe(range="main..deleted")

    assert listed()["unresolved"] == 2
    shown = topic.shown()
    assert (shown["missing"], shown["errors"]) == (False, ["Unknown revision: deleted"])
    assert {one["reason"] for one in shown["orphaned"]} == {"Unknown revision: deleted"}
    with pytest.raises(NotFound, match=r"cannot be shown: Unknown revision: deleted\.$"):
        repo.target_at("pay", "api", topic.repo.sha("topic"))


def test_a_thread_that_was_carried_over_is_counted_once(topic: Payments):
    topic.repo.checkout("topic~1")
    topic.repo.git("branch", "-f", "topic", "HEAD")
    topic.repo.checkout("topic")
    first = topic.repo.amend({}, "First, reworded")
    changes.set_pr("pay", "api", first, {"title": "T"})
    changes.start_thread(me=ME, project="pay", repo="api", sha=first, body="One more")
    away(topic)

    assert listed()["unresolved"] == 3
    assert sorted(one["threads"] for one in topic.shown()["orphaned"]) == [1, 3]


def test_a_short_name_whose_commit_has_a_whole_one_counts_once(topic: Payments):
    second = topic.repo.sha("topic")
    file = topic.root / "pay/reviews/api" / f"{second}.yaml"
    file.rename(file.with_name(f"{second[:8]}.yaml"))
    changes.start_thread(me=ME, project="pay", repo="api", sha=second, body="One more")
    away(topic)

    assert listed()["unresolved"] == 3


def test_files_that_are_broken_too_are_named(topic: Payments):
    file = topic.put(f"reviews/api/{topic.repo.sha('topic')}.yaml", "threads: [\n")
    topic.put(f"prs/api/{topic.repo.sha('topic')}.yaml", "title: [\n")
    away(topic)

    found = conversations.conversations("pay")["unreadable"]

    assert [one["file"].rsplit("/", 3)[1:] for one in found] == [
        ["reviews", "api", file.name],
        ["prs", "api", file.name],
    ]
    assert all(one["error"].startswith("line 2, column 1: ") for one in found)


def test_the_new_path_brings_everything_back(topic: Payments):
    before = topic.shown()
    text = (topic.root / "pay/project.yaml").read_text()
    place = away(topic)

    shown = moved(str(place))

    assert shown == before | {"path": str(place)}
    assert (topic.root / "pay/project.yaml").read_text() == text.replace(
        str(topic.repo.path), str(place)
    )


def test_a_repo_without_a_written_name_keeps_the_one_its_reviews_are_under(topic: Payments):
    topic.put("project.yaml", f"repos:\n  - path: {topic.repo.path}  # here\n")
    place = away(topic)

    assert len(moved(str(place))["commits"]) == 2
    assert (topic.root / "pay/project.yaml").read_text() == (
        f"repos:\n  - path: {place}  # here\n    name: api\n"
    )


def test_what_is_no_repository_is_refused(topic: Payments, tmp_path: Path):
    away(topic)
    before = (topic.root / "pay/project.yaml").read_bytes()

    for path, why in {
        str(tmp_path / "nowhere"): f"Not a git repository: {tmp_path}/nowhere",
        str(topic.root): f"Not a git repository: {topic.root}",
        " ": '"path" is required: the folder in which the repository is now',
        None: '"path" is required: the folder in which the repository is now',
        5: '"path" must be a string',
    }.items():
        with pytest.raises(Invalid) as refused:
            moved(path)
        assert refused.value.text == why
    with pytest.raises(Invalid, match='"confirm" must be true or false'):
        moved(str(topic.repo.path), confirm="yes")
    with pytest.raises(NotFound, match="No such repo: web"):
        moving.move_repo("pay", "web", path=str(topic.root))
    assert (topic.root / "pay/project.yaml").read_bytes() == before


def test_another_repository_is_taken_only_when_that_is_meant(topic: Payments, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.commit({"a": "1\n"}, "Something else")
    away(topic)

    with pytest.raises(Conflict) as refused:
        moved(str(other.path))

    assert refused.value.code == "other_repository"
    assert refused.value.text == (
        f"{other.path} holds no commit that was reviewed in repo api (2); it may be another "
        'repository. Send "confirm": true to use it anyway.'
    )
    assert projects.get("pay").repos[0].path == topic.repo.path
    assert moved(str(other.path), confirm=True)["path"] == str(other.path)


def test_another_repository_at_the_old_place_is_not_taken_for_the_old_one(topic: Payments):
    topic.repo.amend({"a": "3\n"})
    assert topic.shown()["commits"][1]["unresolved"] == 1  # the amended one was found
    away(topic)
    Repo(topic.repo.path).commit({"a": "1\n"}, "Something else")

    with pytest.raises(Conflict, match="it may be another repository"):
        moved(str(topic.repo.path))


def test_a_repo_without_any_review_goes_where_it_is_told(pay: Payments, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.commit({"a": "1\n"}, "Something else")

    assert [one["subject"] for one in moved(str(other.path))["commits"]] == ["Something else"]
