"""Drafts that only their author sees, sent with a verdict that stays with its commit."""

from __future__ import annotations

import re
from typing import Any

import pytest

from config import signals
from config.errors import Conflict, Invalid, NotFound
from review import caches, files, reviewer
from review.stacks import changes, conversations, details, taking
from review.stacks import repo as repos
from review.stacks.compared import versions
from review.stacks.pictures import render
from review.threads import drafts, records, verdicts
from tests.review.threads.desk import LINES, Desk, bodies, text
from tests.review.world import World

pytestmark = pytest.mark.django_db
NEW = text([*LINES[:11], "twelve", *LINES[12:]])


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


@pytest.fixture
def sha(desk: Desk) -> str:
    return desk.git.commit({"a.py": NEW}, "Change")


@pytest.fixture
def me() -> str:
    return reviewer.me().id


def draft(sha: str, me: str, body: str = "Not yet", **fields: Any) -> str:
    place: dict[str, Any] = (
        {"path": "a.py", "line": 12, "side": "RIGHT"} if "reply_to" not in fields else {}
    )
    return changes.draft("pay", "api", sha, me=me, body=body, **(place | fields))["id"]


def mine(desk: Desk, sha: str, author: str) -> list[tuple[str, int | None]]:
    target = desk.target(sha)
    found = records.drafts(target, drafts.of(target, author))
    return [(one["comments"][0]["body"], one["line"]) for one in found]


def submit(sha: str, me: str, verdict: str = "approve", **fields: Any) -> dict[str, Any]:
    return dict(changes.submit("pay", "api", sha, me=me, verdict=verdict, **fields))


def judged(desk: Desk, sha: str) -> list[tuple[str, str, bool]]:
    return [(one["author"], one["verdict"], one["changed"]) for one in desk.review(sha)["verdicts"]]


def test_a_draft_is_seen_by_its_author_alone(desk: Desk, sha: str, me: str):
    draft(sha, me)

    assert mine(desk, sha, me) == [("Not yet", 12)]
    assert mine(desk, sha, "agent:claude") == []
    assert desk.review(sha)["threads"] == []
    assert b"Not yet" not in b"".join(desk.world.tree().values())


def test_a_draft_is_edited_and_deleted_and_nobody_elses(desk: Desk, sha: str, me: str):
    name = draft(sha, me)

    changes.edit_draft("pay", "api", sha, name, me=me, body="Better")
    assert mine(desk, sha, me) == [("Better", 12)]
    with pytest.raises(NotFound):
        changes.delete_draft("pay", "api", sha, name, me="ben")
    changes.delete_draft("pay", "api", sha, name, me=me)

    assert mine(desk, sha, me) == []


def test_drafts_survive_a_restart_and_a_rebase(desk: Desk, sha: str, me: str):
    draft(sha, me)
    caches.clear()

    (new,) = desk.moves_on({"a.py": text(["a heading", *LINES])})

    assert mine(desk, new, me) == [("Not yet", 13)]


@pytest.mark.parametrize("lands", ["as it is", "picked", "amended, then as it is"])
def test_drafts_and_verdicts_are_there_when_their_commit_has_landed(
    desk: Desk, sha: str, me: str, lands: str
):
    draft(sha, me)
    if lands.startswith("amended"):
        sha = desk.git.amend({"b.py": "b\n"})
        desk.comment(sha, "On the new one")
        desk.world.put(sha, re.sub(r"(?s)\nthreads:.*", "\n", desk.world.text(sha)))
    desk.git.commit({"c.py": "c\n"}, "Above")
    if lands == "picked":
        desk.git.checkout("main")
        desk.git.commit({"b.py": "b\n"}, "Beside")
        desk.git.cherry_pick(sha)
        desk.git.checkout("topic")
        desk.git.git("rebase", "-q", "main")
    else:
        desk.git.git("branch", "-f", "main", sha)

    assert [one.commit.subject for one in desk.listed().items] == ["Change", "Above"]
    assert desk.listed().by_sha[sha].landed is not None
    assert [body for body, _ in mine(desk, sha, me)] == ["Not yet"]
    submit(sha, me, "comment")
    assert mine(desk, sha, me) == []

    submit(desk.listed().items[-1].commit.sha, me)  # judged without a word
    desk.git.git("branch", "-f", "main", "topic")
    desk.git.commit({"c.py": "c, too\n"}, "Next")
    last = [one for one in desk.listed().items if one.commit.subject == "Above"]
    assert [judged(desk, one.commit.sha) for one in last] == [[(me, "approve", False)]]


def test_drafts_of_a_commit_that_is_gone_are_told_to_their_author_with_its_review(
    desk: Desk, sha: str, me: str
):
    draft(sha, me)
    desk.git.reset("main")
    assert [one["drafted"] for one in details.repo_of("pay", "api")["orphaned"]] == [True]

    def told(**asked: Any) -> list[list[tuple[str, str | None, bool]]]:
        return [
            [(one["comments"][0]["body"], one["path"], one["draft"]) for one in orphan["drafts"]]
            for orphan in conversations.conversations("pay", **asked)["orphaned"]
        ]

    assert told(drafts_of=me) == [[("Not yet", "a.py", True)]]
    assert told(drafts_of="ben") == [[]]
    assert told() == [[]]
    desk.git.path.rename(desk.git.path.with_name("away"))
    caches.clear()
    assert told(drafts_of=me) == [[("Not yet", "a.py", True)]]


def test_a_draft_on_a_commit_that_is_gone_is_deleted_or_sent_where_a_person_says(
    desk: Desk, sha: str, me: str
):
    gone, kept = draft(sha, me, "Not this"), draft(sha, me, "But this")
    desk.git.reset("main")
    other = desk.git.commit({"z.py": "z\n"}, "Something else")

    def left() -> list[str]:
        (orphan,) = conversations.conversations("pay", drafts_of=me)["orphaned"]
        return [one["comments"][0]["body"] for one in orphan["drafts"]]

    assert left() == ["Not this", "But this"]
    with pytest.raises(NotFound):
        changes.delete_draft("pay", "api", sha, gone, me="ben")
    before = repos.look_up_repo("pay", "api").stamp
    changes.delete_draft("pay", "api", sha, gone, me=me)
    assert left() == ["But this"]
    assert repos.look_up_repo("pay", "api").stamp != before

    taking.take("pay", "api", other, sha)

    changes.edit_draft("pay", "api", other, kept, me=me, body="But this, edited")
    assert [one["comments"][0]["body"] for one in submit(other, me)["threads"]] == [
        "But this, edited"
    ]


def test_submitting_sends_all_drafts_with_the_verdict_in_one_write(desk: Desk, sha: str, me: str):
    thread = desk.comment(sha, "Said before", "a.py", 3)
    draft(sha, me, "On twelve")
    draft(sha, me, "In reply", reply_to=thread)
    told: list[Any] = []
    signals.thread_written.connect(
        receiver := lambda happening, **_: told.append((happening.act, happening.text))
    )

    done = submit(sha, me, "changes", body="In general")
    signals.thread_written.disconnect(receiver)

    assert bodies(desk.review(sha)) == ["Said before", "In reply", "On twelve", "In general"]
    assert mine(desk, sha, me) == []
    assert judged(desk, sha) == [(me, "changes", False)]
    assert len(done["threads"]) == 3
    assert told == [("opened", "On twelve"), ("replied", "In reply"), ("opened", "In general")]


def test_a_draft_written_before_a_rebase_is_sent_to_its_line(desk: Desk, sha: str, me: str):
    draft(sha, me)
    (new,) = desk.moves_on({"a.py": text(["a heading", *LINES])})

    submit(new, me)

    (thread,) = desk.review(new)["threads"]
    assert (thread["line"], thread["placement"], thread["outdated"]) == (13, "moved", False)


def test_a_verdict_says_what_changed_since(desk: Desk, sha: str, me: str):
    submit(sha, me)

    (rebased,) = desk.moves_on({"a.py": text(["a heading", *LINES])})
    assert judged(desk, rebased) == [(me, "approve", False)]
    desk.comment(rebased, "Written on the new one")
    amended = desk.git.amend({"b.py": text(["b", *LINES])})

    assert judged(desk, amended) == [(me, "approve", True)]
    submit(amended, me)
    assert judged(desk, amended) == [(me, "approve", False)]


def test_no_diff_is_made_to_say_that_an_approval_holds_for_the_same_contents(
    desk: Desk, sha: str, me: str, runs: list[str]
):
    submit(sha, me)
    (rebased,) = desk.moves_on({"beside.py": "new\n"})
    listed = desk.listed()
    runs.clear()

    given = verdicts.of(repos.target(listed, listed.by_sha[rebased]))

    assert [one["changed"] for one in given] == [False]
    assert runs == []


@pytest.mark.parametrize(
    ("approved", "then"),
    [
        ("rm -rf /tmp/x y\n", "rm -rf / tmp/x y\n"),
        ("if admin:\n    log()\n    grant()\n", "if admin:\n    log()\ngrant()\n"),
    ],
)
@pytest.mark.parametrize("written_by", ["this release", "an earlier one"])
def test_an_approval_says_so_when_blanks_alone_changed(
    desk: Desk, me: str, approved: str, then: str, written_by: str
):
    sha = desk.git.commit({"new": approved, "other": "said\n"}, "Change")
    submit(sha, me)
    if written_by != "this release":
        desk.world.put(sha, re.sub(r"\n    diff: .*", "", desk.world.text(sha)))
        assert "diff:" not in desk.world.text(sha)
    new = desk.git.amend({"new": then})

    assert judged(desk, new) == [(me, "approve", True)]
    since = versions.versions("pay", "api", new)["since"]
    assert since is not None
    assert since["changed"]


def test_an_approval_says_so_when_another_change_landed(desk: Desk, me: str):
    trailers = {"Change-Id": "I0123"}
    sha = desk.git.commit({"a.py": NEW}, "Change", trailers=trailers)
    submit(sha, me)
    assert judged(desk, sha) == [(me, "approve", False)]
    desk.git.checkout("main")
    desk.git.commit({"a.py": NEW.replace("twelve", "evil")}, "Change", trailers=trailers)
    desk.git.checkout("topic")

    assert judged(desk, sha) == [(me, "approve", True)]
    assert versions.versions("pay", "api", sha)["since"] == {"sha": sha, "n": 1, "changed": True}
    submit(sha, me)
    assert judged(desk, sha) == [(me, "approve", False)]
    assert versions.versions("pay", "api", sha)["since"] is None


def test_an_approval_holds_where_just_that_change_landed(desk: Desk, sha: str, me: str):
    submit(sha, me)
    desk.git.checkout("main")
    desk.git.commit({"a.py": text(["a heading", *LINES])}, "Beside")
    desk.git.cherry_pick(sha)
    desk.git.checkout("topic")

    assert desk.listed().by_sha[sha].landed is not None
    assert judged(desk, sha) == [(me, "approve", False)]


def test_a_verdict_is_in_the_list_the_record_and_the_picture(desk: Desk, sha: str, me: str):
    submit(sha, me)

    (listed,) = details.repo_of("pay", "api")["commits"]
    assert [one["verdict"] for one in listed["verdicts"]] == ["approve"]
    assert [one["verdict"] for one in details.pr("pay", "api", sha)["verdicts"]] == ["approve"]
    assert "approved" in render.svg(details.project("pay"))
    desk.git.amend({"b.py": "b\n"})
    assert "approved, changed since" in render.svg(details.project("pay"))


def test_a_comment_leaves_an_approval_and_a_verdict_is_withdrawn(desk: Desk, sha: str, me: str):
    submit(sha, me)
    submit(sha, me, "comment", body="One more thing")

    assert judged(desk, sha) == [(me, "approve", False)]
    changes.withdraw("pay", "api", sha, me=me)
    assert judged(desk, sha) == []


def test_each_person_has_a_verdict_and_what_a_hand_wrote_is_kept(desk: Desk, sha: str, me: str):
    desk.world.put(sha, "verdicts:\n  ben: approve\n  cas:\n    verdict: changes\n    why: mine\n")

    submit(sha, me)

    assert judged(desk, sha) == [
        ("ben", "approve", False),
        ("cas", "changes", False),
        (me, "approve", False),
    ]
    assert "ben: approve\n" in desk.world.text(sha)
    assert "why: mine" in desk.world.text(sha)


@pytest.mark.parametrize("of", ["short", "tree", "gone"])
def test_a_verdict_of_what_is_no_full_commit_counts_as_one_of_another_change(
    desk: Desk, sha: str, of: str
):
    named = {
        "short": sha[:9],
        "tree": desk.git.git("rev-parse", f"{sha}^{{tree}}"),
        "gone": "1" * 40,
    }
    new = desk.git.amend({"a.py": NEW})
    desk.world.put(new, f'verdicts: {{ann: {{verdict: approve, sha: "{named[of]}"}}}}\n')

    assert judged(desk, new) == [("ann", "approve", True)]


@pytest.mark.parametrize("written", ["[approve]", "approve", "12"])
def test_verdicts_that_are_no_mapping_count_as_none(desk: Desk, sha: str, me: str, written: str):
    desk.world.put(sha, f"verdicts: {written}\n")

    changes.withdraw("pay", "api", sha, me=me)
    assert judged(desk, sha) == []
    submit(sha, me)

    assert judged(desk, sha) == [(me, "approve", False)]


@pytest.mark.parametrize("written", ["threads: [\n", "threads: 5\n", "- x\n"])
def test_drafts_that_cannot_be_read_are_named_and_stay(desk: Desk, sha: str, me: str, written: str):
    draft(sha, me)
    (file,) = (files.state_dir() / "drafts").rglob("*.yaml")
    file.write_text(written)

    mine, error = drafts.readable(desk.target(sha), me)
    assert mine == []
    assert error is not None
    assert error.startswith(f"Your drafts in {file} are not valid YAML (line ")
    for write in (lambda: submit(sha, me), lambda: draft(sha, me, "Another")):
        with pytest.raises(Conflict, match="are not valid YAML"):
            write()

    assert file.read_text() == written
    assert judged(desk, sha) == []


def test_what_was_judged_of_a_folded_commit_is_not_judged_of_the_other(desk: Desk, me: str):
    base = desk.git.sha("main")
    kept = desk.git.commit({"a.py": NEW}, "Change")
    folded = desk.git.commit({"b.py": text(["b", *LINES])}, "fixup! Change")
    desk.comment(kept, "Said", "a.py", 12)
    submit(folded, me)

    (new,) = desk.git.rebase_todo(base, [f"pick {kept}", f"fixup {folded}"])

    assert judged(desk, new) == []


def test_nothing_is_sent_while_the_thread_of_a_reply_is_gone(desk: Desk, sha: str, me: str):
    thread = desk.comment(sha, "Said before", "a.py", 3)
    draft(sha, me, "On twelve")
    draft(sha, me, "In reply", reply_to=thread)
    desk.world.put(sha, "threads: []\n")

    with pytest.raises(Conflict, match='your draft "In reply" answers is gone'):
        submit(sha, me)

    assert bodies(desk.review(sha)) == []
    assert len(mine(desk, sha, me)) == 2


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"verdict": "lgtm"}, '"verdict" must be approve, changes or comment'),
        ({"verdict": None}, '"verdict" must be approve, changes or comment'),
        ({"verdict": "comment"}, "There is nothing to submit"),
        ({"verdict": "approve", "body": 7}, '"body" must be a string'),
    ],
)
def test_what_makes_no_sense_is_refused(
    desk: Desk, sha: str, me: str, fields: dict[str, Any], why: str
):
    with pytest.raises(Invalid, match=why):
        submit(sha, me, **fields)

    assert not desk.world.file(sha).exists()
