"""The PR record of a commit: partial writes, the rules of its status, its file."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from config.errors import Conflict, Invalid
from review import files
from review.stacks import status
from review.stacks.prs import pr_files
from review.stacks.prs.pr_files import PrFile
from review.threads.carry.traces import Match
from tests.review.world import World

pytestmark = pytest.mark.django_db
OLD = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def sha(world: World) -> str:
    return world.repo.commit({"a.py": "one\n"}, "Add a", body="Because.")


def put(world: World, sha: str, landed: str | None = None, was: Any = None, **patch: Any) -> bool:
    """A PUT on a commit that has its own record, or none."""
    own = pr_files.read("pay", "api", sha)
    return pr_files.set_pr(
        world.target(sha),
        patch,
        landed_sha=landed,
        pr=own or PrFile(),
        source_sha=sha if own else None,
        was=was,
    )


@pytest.mark.parametrize(
    ("name", "read", "theirs", "mine"),
    [
        ("title", "Add a", "Theirs", "Mine"),
        ("title", None, "Theirs", None),
        ("body", "Because.", "Theirs", ""),
        ("branch", None, "theirs", "mine"),
        ("github", None, 7, "https://example.org/x/pull/8"),
        ("status", None, "ready", "draft"),
    ],
)
def test_a_field_that_another_window_changed_is_not_replaced_unseen(
    world: World, sha: str, name: str, read: Any, theirs: Any, mine: Any
):
    assert put(world, sha, **{name: theirs}, was={name: read})
    before = stored(sha)

    with pytest.raises(Conflict, match=f'"{name}" was changed meanwhile') as refused:
        put(world, sha, **{name: mine}, was={name: read})

    assert refused.value.code == "changed"
    assert stored(sha) == before
    assert not put(world, sha, **{name: theirs}, was={name: read}), "it says that already"
    assert put(world, sha, **{name: mine}, was={name: shown(world, sha)[name]})


def test_what_was_read_of_a_field_that_is_not_set_is_nobodys_business(world: World, sha: str):
    put(world, sha, title="Theirs")

    assert put(world, sha, body="Mine", was={"title": "Add a", "body": "Because.", "file": "x"})
    assert (stored(sha).title, stored(sha).body) == ("Theirs", "Mine")


@pytest.mark.parametrize("was", ["Add a", {"title": 5}, {"status": ["ready"]}])
def test_what_was_read_is_an_object_of_fields(world: World, sha: str, was: Any):
    with pytest.raises(Invalid, match=r"was"):
        put(world, sha, title="Mine", status="ready", was=was)


def stored(sha: str) -> PrFile:
    found = pr_files.read("pay", "api", sha)
    assert found is not None
    return found


def shown(world: World, sha: str) -> dict[str, Any]:
    own = pr_files.read("pay", "api", sha)
    return dict(
        pr_files.record(world.target(sha), own or PrFile(), source_sha=sha if own else None)
    )


# -- what is shown ---------------------------------------------------------------------------------


def test_without_a_record_the_commit_speaks(world: World, sha: str):
    assert shown(world, sha) == {
        "title": "Add a",
        "body": "Because.",
        "title_source": "commit",
        "body_source": "commit",
        "commit_subject": "Add a",
        "commit_body": "Because.",
        "branch": None,
        "branch_source": None,
        "github": None,
        "status": None,
        "landed": None,
        "file": str(world.file(sha, "prs")),
        "matched_from": None,
        "matched_by": None,
        "carried_over": False,
        "parse_error": None,
    }


def test_a_field_of_the_file_overrides_even_when_it_equals_the_commit(world: World, sha: str):
    put(world, sha, title="Add a", body="")

    record = shown(world, sha)
    assert (record["title"], record["title_source"]) == ("Add a", "override")
    assert (record["body"], record["body_source"]) == ("", "override")


def test_unknown_keys_are_returned_under_their_own_names(world: World, sha: str):
    world.put(sha, "mood: good\nfile: mine\n", "prs")

    record = shown(world, sha)
    assert record["mood"] == "good"
    assert record["file"] == str(world.file(sha, "prs"))


def test_what_is_of_the_wrong_type_by_hand_is_absent():
    pr = pr_files.parse(
        {"title": ["x"], "body": {}, "branch": "a..b", "status": "merged", "github": "no",
         "landed": {"sha": "HEAD"}, "status_over": "x", "carried_from": "y"}
    )  # fmt: skip

    assert pr.empty
    assert pr.carried_from is None


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("12", {"url": "", "number": 12}),
        ("https://h/o/r/pull/7", {"url": "https://h/o/r/pull/7", "number": 7}),
        (
            {"number": "x", "url": "https://h/1", "state": "OPEN"},
            {"url": "https://h/1", "state": "OPEN"},
        ),
        ({"url": "javascript:alert(1)", "number": "3"}, {"url": "", "number": 3}),
        ({"url": ["https://h/o/r/pull/7"], "number": "3"}, {"url": "", "number": 3}),
        ({"url": {"href": "https://h/1"}}, {"url": ""}),
        ([], None),
        ({}, {"url": ""}),
    ],
)
def test_a_github_written_by_hand_is_read_kindly(written: Any, wanted: Any):
    assert pr_files.parse({"github": written}).github == wanted


# -- partial writes --------------------------------------------------------------------------------


def test_a_put_sets_only_what_it_names(world: World, sha: str):
    put(world, sha, title="  A title  ", branch="refs/heads/topic/a")
    put(world, sha, body="Line\r\nline\n")

    pr = stored(sha)
    assert (pr.title, pr.branch, pr.body) == ("A title", "topic/a", "Line\nline")
    assert pr.commit is not None
    assert (pr.commit.sha, pr.commit.subject) == (sha, "Add a")


def test_null_gives_a_field_back_to_the_commit(world: World, sha: str):
    put(world, sha, title="Mine", branch="topic")
    put(world, sha, title=None)

    assert stored(sha).title is None
    assert shown(world, sha)["title"] == "Add a"


def test_what_stands_around_the_change_stays_as_it_is(world: World, sha: str):
    before = "# mine\ncommit: {subject: x}\ntitle: 'Old'   # keep\nmood: no\n\nbranch: x\n"
    world.put(sha, before, "prs")

    put(world, sha, branch="topic")

    assert world.text(sha, "prs") == before.replace("branch: x", "branch: topic")


@pytest.mark.parametrize(
    ("github", "wanted"),
    [
        (12, {"number": 12, "url": ""}),
        ("https://github.com/o/r/pull/12", {"number": 12, "url": "https://github.com/o/r/pull/12"}),
        ({"url": "https://h/o/r/pull/3"}, {"number": 3, "url": "https://h/o/r/pull/3"}),
        (
            {"number": 4, "branch": "refs/heads/b", "base": "main", "created": "2026-11-20 10:00",
             "stack": "s1", "stacked_on": 3},
            {"number": 4, "url": "", "branch": "b", "base": "main",
             "created": "2026-11-20T10:00:00Z", "stack": "s1", "stacked_on": 3},
        ),
    ],
)  # fmt: skip
def test_a_pull_request_is_kept_as_one_object(
    world: World, sha: str, github: Any, wanted: dict[str, Any]
):
    put(world, sha, github={"number": 99, "branch": "other"})
    put(world, sha, github=github)

    assert shown(world, sha)["github"] == wanted


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"titel": "x"}, 'Unknown field "titel"'),
        ({"title": " \n"}, '"title" must not be blank'),
        ({"title": ""}, '"title" must not be blank'),
        ({"title": 5}, '"title" must be a string or null'),
        ({"title": "a\nb"}, '"title" must be one line'),
        ({"title": "x" * 257}, '"title" must be at most 256 characters'),
        ({"body": "x" * 65_537}, '"body" must be at most 65,536 characters'),
        ({"body": ["x"]}, '"body" must be a string or null'),
        ({"branch": "a..b"}, '"branch" is not a valid branch name: a..b'),
        ({"branch": "-x"}, '"branch" is not a valid branch name: -x'),
        ({"branch": ""}, '"branch" is not a valid branch name: '),
        ({"branch": "b" * 245}, f'"branch" is not a valid branch name: {"b" * 100}'),
        ({"github": {"url": f"https://h/{'x' * 2048}"}},
         '"github.url" must be an http or https URL'),
        ({"status": "published"}, '"status" must be "draft", "ready" or null'),
        ({"status": "merged"}, '"status" must be "draft", "ready" or null'),
        ({"status": ["draft"]}, '"status" must be "draft", "ready" or null'),
        ({"github": "o/r#3"}, '"github" must be a number, a URL ending /pull/N or an object'),
        ({"github": 0}, '"github" must be a number, a URL ending /pull/N or an object'),
        ({"github": True}, '"github" must be a number, a URL ending /pull/N or an object'),
        ({"github": {}}, '"github" needs a "number" or a "url"'),
        ({"github": {"nummer": 3}}, 'Unknown field "github.nummer"'),
        ({"github": {"number": "x"}}, '"github.number" must be a number from 1'),
        ({"github": {"url": "javascript:x"}}, '"github.url" must be an http or https URL'),
        ({"github": {"url": ["https://h/1"]}}, '"github.url" must be an http or https URL'),
        ({"github": {"number": 1, "created": "now"}},
         '"github.created" must be a time such as 2026-11-20T10:00:00Z'),
        ({"github": {"number": 1, "stacked_on": [2]}},
         '"github.stacked_on" must be a number from 1'),
    ],
)  # fmt: skip
def test_a_bad_field_is_told_and_nothing_is_written(
    world: World, sha: str, patch: dict[str, Any], text: str
):
    before = world.tree()

    with pytest.raises(Invalid) as caught:
        put(world, sha, **({"title": "fine"} | patch))

    assert caught.value.text == text
    assert world.tree() == before


def test_read_only_fields_of_the_record_may_be_sent_back(world: World, sha: str):
    put(world, sha, **(shown(world, sha) | {"title": "Mine"}))

    assert stored(sha).title == "Mine"
    assert stored(sha).landed is None


def test_a_put_of_what_is_there_writes_nothing(world: World, sha: str):
    assert put(world, sha, title="Mine", github=3)
    before = world.version(sha, "prs")

    assert not put(world, sha, title=" Mine ", github={"number": 3})
    assert not put(world, sha)

    assert world.version(sha, "prs") == before


def test_clearing_a_record_that_is_not_there_makes_no_file(world: World, sha: str):
    assert not put(world, sha, title=None, status=None)

    assert not world.file(sha, "prs").exists()


def test_an_empty_record_removes_its_file_and_keeps_a_backup(world: World, sha: str):
    put(world, sha, title="Mine")
    text = world.text(sha, "prs")

    assert put(world, sha, title=None)

    assert not world.file(sha, "prs").exists()
    assert world.backups(sha, "prs") == [text]


def test_a_record_that_holds_a_key_of_the_user_is_not_empty(world: World, sha: str):
    world.put(sha, "commit: {subject: x}\ntitle: x\nmood: good\n", "prs")

    put(world, sha, title=None)

    assert world.text(sha, "prs") == "commit: {subject: x}\nmood: good\n"


@pytest.mark.django_db(transaction=True)
def test_puts_of_different_fields_at_once_are_all_kept(world: World, sha: str):
    target = world.target(sha)
    patches = [{"title": "T"}, {"body": "B"}, {"branch": "b"}, {"github": 3}, {"status": "ready"}]

    def one(patch: dict[str, Any]) -> None:
        pr_files.set_pr(target, patch, landed_sha=None, pr=PrFile(), source_sha=None)

    at_once = [threading.Thread(target=one, args=(patch,)) for patch in patches]
    for thread in at_once:
        thread.start()
    for thread in at_once:
        thread.join()

    pr = stored(sha)
    assert (pr.title, pr.body, pr.branch) == ("T", "B", "b")
    assert (pr.github or {})["number"] == 3
    assert world.text(sha, "prs").count("version:") == 1


def test_a_broken_file_is_read_as_it_was_and_not_written(world: World, sha: str):
    put(world, sha, title="Mine")
    assert shown(world, sha)["title"] == "Mine"
    world.put(sha, "title: [\n", "prs")

    record = shown(world, sha)
    assert record["title"] == "Mine"
    assert record["parse_error"].startswith("line 2, column 1")
    with pytest.raises(Conflict) as caught:
        put(world, sha, title="New")
    assert caught.value.code == "invalid_file"
    assert world.text(sha, "prs") == "title: [\n"


# -- status ----------------------------------------------------------------------------------------


def effective(sha: str, landed: str | None = None) -> str:
    pr = pr_files.read("pay", "api", sha) or PrFile()
    return status.effective(
        pr.status, status_over=pr.status_over, github=pr.github, landed_sha=landed
    )


def test_an_explicit_status_wins_at_once_and_null_clears_it(world: World, sha: str):
    put(world, sha, status="ready")
    assert effective(sha) == "ready"
    put(world, sha, status="draft")
    assert effective(sha) == "draft"
    put(world, sha, github=3, status="draft")
    assert effective(sha) == "draft"
    put(world, sha, status=None)
    assert effective(sha) == "published"


def test_a_pull_request_without_a_status_publishes(world: World, sha: str):
    put(world, sha, status="draft")
    put(world, sha, github=3)

    assert effective(sha) == "published"
    assert shown(world, sha)["status"] is None


def test_a_pull_request_taken_away_leaves_a_draft(world: World, sha: str):
    put(world, sha, github=3)
    put(world, sha, github=None)

    assert effective(sha) == "draft"
    assert not world.file(sha, "prs").exists()


def test_a_ready_set_before_the_landing_does_not_hide_it(world: World, sha: str):
    put(world, sha, status="ready")

    assert effective(sha, landed=OLD) == "merged"


def test_a_ready_set_after_the_landing_stays_until_the_next_one(world: World, sha: str):
    put(world, sha, landed=OLD, status="ready")

    assert effective(sha, landed=OLD) == "ready"
    assert effective(sha, landed=OLD[::-1]) == "merged"
    put(world, sha, landed=OLD, status=None)
    assert effective(sha, landed=OLD) == "merged"
    assert not world.file(sha, "prs").exists()


def test_the_same_status_again_after_a_landing_overrules_it(world: World, sha: str):
    put(world, sha, status="ready")

    assert put(world, sha, landed=OLD, status="ready")

    assert effective(sha, landed=OLD) == "ready"


# -- carry-over ------------------------------------------------------------------------------------


def carried(world: World, sha: str, by: str = "patch-id", **patch: Any) -> bool:
    """A PUT on a commit that is shown with the record of OLD."""
    source = pr_files.read("pay", "api", OLD)
    assert source is not None
    target = world.target(sha, Match(OLD, by))
    return pr_files.set_pr(target, patch, landed_sha=None, pr=source, source_sha=OLD)


SOURCE = 'title: Old title # mine\nbranch: topic\ngithub: {number: 5}\nmood: "no"\n'


def test_the_record_of_the_old_commit_is_shown_until_it_is_taken_over(world: World, sha: str):
    world.put(OLD, SOURCE, "prs")
    source = stored(OLD)

    record = pr_files.record(world.target(sha, Match(OLD, "patch-id")), source, source_sha=OLD)

    assert (record["title"], record["matched_from"], record["matched_by"]) == (
        "Old title", OLD, "patch-id",
    )  # fmt: skip
    assert record["carried_over"]
    assert record["file"] == str(world.file(sha, "prs"))


def test_the_first_write_takes_the_whole_record_over(world: World, sha: str):
    world.put(OLD, SOURCE, "prs")

    assert carried(world, sha, body="New body")

    pr = stored(sha)
    assert (pr.title, pr.branch, pr.body) == ("Old title", "topic", "New body")
    assert (pr.github, pr.extra) == ({"number": 5, "url": ""}, {"mood": "no"})
    assert pr.carried_from is not None
    assert (pr.carried_from.sha, pr.carried_from.by) == (OLD, "patch-id")
    assert len(pr.carried_from.at) == len("2026-11-20T10:00:00.000Z")
    assert world.text(OLD, "prs") == SOURCE
    assert (shown(world, sha)["matched_from"], shown(world, sha)["carried_over"]) == (OLD, False)


def test_a_file_that_appears_meanwhile_keeps_its_words(
    world: World, sha: str, monkeypatch: pytest.MonkeyPatch
):
    world.put(OLD, SOURCE, "prs")
    real = files.change

    def late(*args: Any, **kwargs: Any) -> None:
        world.put(sha, "title: By hand\n", "prs")
        real(*args, **kwargs)

    monkeypatch.setattr(files, "change", late)

    assert carried(world, sha, body="New body")

    assert (stored(sha).title, stored(sha).body) == ("By hand", "New body")


def test_a_put_of_what_is_shown_takes_nothing_over(world: World, sha: str):
    world.put(OLD, SOURCE, "prs")

    assert not carried(world, sha, title="Old title")

    assert not world.file(sha, "prs").exists()


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("title: [\n", "invalid_file", f"prs/api/{OLD}.yaml is not valid YAML (line 2, column 1)"),
        ("version: 2\ntitle: x\n", "newer_file", f"prs/api/{OLD}.yaml was written by a newer"),
        ("#" * (9 << 20), "invalid_file", f"prs/api/{OLD}.yaml cannot be read: larger than "),
    ],
    ids=["broken", "of a newer version", "too large"],
)
def test_a_record_that_cannot_be_read_whole_is_not_taken_over(
    world: World, sha: str, text: str, code: str, told: str
):
    world.put(OLD, SOURCE, "prs")
    assert stored(OLD).title == "Old title"
    world.put(OLD, text, "prs")

    with pytest.raises(Conflict, match=re.escape(told)) as caught:
        carried(world, sha, body="New")

    assert caught.value.code == code
    assert not world.file(sha, "prs").exists()


def test_a_record_emptied_after_carry_over_stays_empty(world: World, sha: str):
    world.put(OLD, "title: Old\n", "prs")

    assert carried(world, sha, title=None)
    assert stored(sha).empty
    assert stored(sha).carried_from is not None
    put(world, sha, title="x")
    put(world, sha, title=None)

    assert stored(sha).empty


def test_going_back_replaces_the_own_record_and_keeps_a_backup(world: World, sha: str):
    world.put(sha, "title: Stale\nbody: Stale\nkeep: me # yes\n", "prs")
    world.put(OLD, SOURCE, "prs")

    assert carried(world, sha, by="lineage", branch="b")

    pr = stored(sha)
    assert (pr.title, pr.body, pr.branch) == ("Old title", None, "b")
    assert "keep: me # yes" in world.text(sha, "prs")
    assert world.backups(sha, "prs") == ["title: Stale\nbody: Stale\nkeep: me # yes\n"]
    assert pr.carried_from is not None
    assert pr.carried_from.by == "lineage"


def test_a_record_under_a_short_name_is_taken_over_and_left_alone(world: World, sha: str):
    world.put(sha[:9], "title: Short\nbranch: b\n", "prs")
    short = pr_files.read("pay", "api", sha[:9])
    assert short is not None

    pr_files.set_pr(world.target(sha), {"branch": None}, landed_sha=None, pr=short, source_sha=sha)
    pr_files.set_pr(
        world.target(sha), {"title": None}, landed_sha=None, pr=stored(sha), source_sha=sha
    )

    assert stored(sha).empty
    assert stored(sha).carried_from is None
    assert world.text(sha[:9], "prs") == "title: Short\nbranch: b\n"
