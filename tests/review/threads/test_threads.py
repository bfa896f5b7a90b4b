"""Threads and comments on real commits: what is checked, what is written, what is left alone."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import Any

import pytest

from config.errors import Conflict, Denied, Invalid, NotFound, SvcError
from config.storage import syscalls, yamlio
from review.threads import commenting, records
from tests.review.world import World

pytestmark = pytest.mark.django_db
TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def sha(world: World) -> str:
    """A commit that adds, changes, renames and deletes files."""
    world.repo.commit(
        {"kept.py": TEN, "changed.py": TEN, "old.py": TEN * 3, "gone.py": "one\ntwo\n"}, "Base"
    )
    world.repo.git("mv", "old.py", "new.py")
    return world.repo.commit(
        {
            "changed.py": TEN.replace("line 5", "line five"),
            "gone.py": None,
            "added.py": "a\nb\nc",
            "picture.bin": b"\x00\x01",
            "empty.txt": "",
        },
        "Change",
    )


def create(world: World, sha: str, body: Any = "Why?", author: Any = "ann", **place: Any) -> str:
    return commenting.create(world.target(sha), body=body, author=author, **place)


def shown(world: World, sha: str, tid: str) -> dict[str, Any]:
    return dict(records.thread(world.target(sha), tid))


def values(world: World, sha: str) -> Any:
    return yamlio.parse(world.file(sha).read_bytes()).texts()


# -- new threads -----------------------------------------------------------------------------------


def test_a_file_whose_name_is_no_utf_8_is_commented_by_the_name_that_is_shown(world: World):
    name = b"caf\xe9.py".decode(errors="surrogateescape")
    world.repo.commit({name: TEN}, "Base")
    one = world.repo.commit({name: TEN.replace("5", "five")}, "Change")

    tid = create(world, one, path="caf\\xE9.py", line=5)
    left = create(world, one, path="caf\\xE9.py", line=5, side="LEFT")

    found = shown(world, one, tid)
    assert (found["path"], found["line"], found["placement"]) == ("caf\\xE9.py", 5, "exact")
    assert found["anchor_text"] == "line five"
    assert shown(world, one, left)["anchor_text"] == "line 5"
    with pytest.raises(Invalid, match="No such file"):
        create(world, one, path="caf\ufffd.py", line=5)


def test_a_thread_by_hand_without_a_side_stands_on_the_old_text_of_a_deleted_file(
    world: World, sha: str
):
    world.put(
        sha,
        "threads:\n"
        "- {id: gone, path: gone.py, line: 2, comments: [{body: Why?}]}\n"
        "- {id: kept, path: changed.py, line: 5, comments: [{body: Why?}]}\n"
        "- {id: new, path: gone.py, side: RIGHT, line: 2, comments: [{body: Why?}]}\n",
    )

    found = [shown(world, sha, tid) for tid in ("gone", "kept", "new")]

    assert [one["side"] for one in found] == ["LEFT", "RIGHT", "RIGHT"]
    assert (found[0]["placement"], found[0]["line"]) == ("exact", 2)


def test_so_does_one_on_a_deleted_file_whose_name_is_no_utf_8(world: World):
    name = b"caf\xe9.py".decode(errors="surrogateescape")
    world.repo.commit({name: TEN}, "Base")
    gone = world.repo.commit({name: None}, "Delete it")
    world.put(
        gone, r"threads: [{id: gone, path: 'caf\xE9.py', line: 2, comments: [{body: Why?}]}]" "\n"
    )

    found = shown(world, gone, "gone")

    assert (found["side"], found["placement"], found["line"]) == ("LEFT", "exact", 2)


def test_a_thread_on_a_line_is_written_as_the_contract_shows(world: World, sha: str):
    tid = create(world, sha, "First\nsecond", path="changed.py", side="RIGHT", line=5, start_line=4)

    (thread,) = values(world, sha)["threads"]
    assert re.fullmatch(r"t-[0-9a-z]{8}", tid)
    assert (thread["id"], thread["path"], thread["side"]) == (tid, "changed.py", "RIGHT")
    assert (thread["line"], thread["start_line"]) == ("5", "4")
    assert thread["anchor"]["commit"] == sha
    assert thread["anchor"]["blob"] == world.repo.git("rev-parse", f"{sha}:changed.py")
    assert thread["anchor"]["text"] == "line 4\nline five"
    assert thread["anchor"]["before"] == "line 1\nline 2\nline 3"
    assert thread["anchor"]["after"] == "line 6\nline 7\nline 8"
    (comment,) = thread["comments"]
    assert re.fullmatch(r"c-[0-9a-z]{8}", comment["id"])
    assert (comment["author"], comment["body"].strip()) == ("ann", "First\nsecond")
    assert values(world, sha)["version"] == "1"
    assert values(world, sha)["commit"]["sha"] == sha
    assert values(world, sha)["commit"]["patch_id"]


def test_shas_ids_and_times_are_quoted_and_bodies_are_blocks(world: World, sha: str):
    create(world, sha, "One line", path="kept.py", line=1)
    create(world, sha, "Two\nlines")

    text = world.text(sha)
    assert f'sha: "{sha}"' in text
    assert re.search(r'id: "t-[0-9a-z]{8}"', text)
    assert re.search(r'created_at: "20[0-9T:.-]+Z"', text)
    assert re.search(r"body: \|-?\n +One line\n", text)
    assert re.search(r"body: \|-?\n +Two\n +lines\n", text)


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ({}, (None, None, None, "general")),
        ({"path": "kept.py"}, ("kept.py", "RIGHT", None, "file")),
        ({"path": "kept.py", "line": 10}, ("kept.py", "RIGHT", 10, "exact")),
        ({"path": "kept.py", "line": 3, "side": "LEFT"}, ("kept.py", "LEFT", 3, "exact")),
        ({"path": "changed.py", "line": 5, "side": "old"}, ("changed.py", "old", 5, "exact")),
        ({"path": "gone.py", "line": 2}, ("gone.py", "LEFT", 2, "exact")),
        ({"path": "new.py", "line": 30, "side": "base"}, ("new.py", "base", 30, "exact")),
        ({"path": "old.py", "line": 30, "side": "LEFT"}, ("new.py", "LEFT", 30, "exact")),
        ({"path": "added.py", "line": 3}, ("added.py", "RIGHT", 3, "exact")),
        ({"path": "picture.bin"}, ("picture.bin", "RIGHT", None, "file")),
        ({"path": "empty.txt"}, ("empty.txt", "RIGHT", None, "file")),
    ],
)
def test_a_thread_may_stand_anywhere_in_the_trees_of_the_commit(
    world: World, sha: str, place: dict[str, Any], wanted: tuple[object, ...]
):
    tid = create(world, sha, **place)

    found = shown(world, sha, tid)
    assert (found["path"], found["side"], found["line"], found["placement"]) == wanted
    assert not found["outdated"]


def test_a_range_may_lead_from_the_old_side_to_the_new_one(world: World, sha: str):
    tid = create(
        world, sha, path="changed.py", side="RIGHT", line=2, start_line=9, start_side="LEFT"
    )

    found = shown(world, sha, tid)
    assert (found["start_line"], found["start_side"], found["line"]) == (9, "LEFT", 2)


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"body": None}, '"body" is required'),
        ({"body": " \r\n"}, '"body" is required'),
        ({"body": 5}, '"body" must be a string'),
        ({"body": "x" * 65_537}, '"body" must be at most 65,536 characters'),
        ({"author": ""}, '"author" must be 1 to 128 printable characters'),
        ({"author": "x" * 129}, '"author" must be 1 to 128 printable characters'),
        ({"author": "a\nb"}, '"author" must be 1 to 128 printable characters'),
        ({"line": 1}, '"line" needs "path"'),
        ({"side": "RIGHT"}, '"side" needs "path"'),
        ({"path": "kept.py", "start_line": 1}, '"start_line" needs "line"'),
        ({"path": "kept.py", "line": 1, "start_side": "LEFT"}, '"start_side" needs "start_line"'),
        ({"path": "kept.py", "side": "up"}, '"side" must be LEFT or RIGHT'),
        ({"path": "kept.py", "side": 1}, '"side" must be LEFT or RIGHT'),
        ({"path": "kept.py", "line": 0}, '"line" must be between 1 and 10 for kept.py'),
        ({"path": "kept.py", "line": -1}, '"line" must be between 1 and 10 for kept.py'),
        ({"path": "kept.py", "line": 10**30}, '"line" must be between 1 and 10 for kept.py'),
        ({"path": "kept.py", "line": "1"}, '"line" must be a whole number'),
        ({"path": "kept.py", "line": 1.0}, '"line" must be a whole number'),
        ({"path": "kept.py", "line": True}, '"line" must be a whole number'),
        (
            {"path": "kept.py", "line": 2, "start_line": 0},
            '"start_line" must be between 1 and 10 for kept.py',
        ),
        ({"path": "kept.py", "line": 11}, '"line" must be between 1 and 10 for kept.py'),
        ({"path": "added.py", "line": 4}, '"line" must be between 1 and 3 for added.py'),
        ({"path": "kept.py", "line": 2, "start_line": 3}, '"start_line" must not be after "line"'),
        (
            {"path": "kept.py", "line": 2, "start_line": 11, "start_side": "LEFT"},
            '"start_line" must be between 1 and 10 for kept.py',
        ),
        ({"path": "nope.py"}, "No such file in this commit: nope.py"),
        ({"path": "gone.py", "side": "RIGHT"}, "No such file in this commit: gone.py"),
        ({"path": "added.py", "side": "LEFT"}, "No such file in this commit: added.py"),
        ({"path": "old.py"}, "No such file in this commit: old.py"),
        ({"path": "../kept.py"}, "No such file in this commit: ../kept.py"),
        ({"path": ""}, "No such file in this commit: "),
        ({"path": "kept.py\n"}, "No such file in this commit: kept.py\ufffd"),
        ({"path": "a\udc80"}, '"path" must be a string'),
        ({"path": ["kept.py"]}, '"path" must be a string'),
        (
            {"path": "picture.bin", "line": 1},
            '"line" cannot be given: picture.bin is a binary file',
        ),
        ({"path": "empty.txt", "line": 1}, '"line" cannot be given: empty.txt is empty'),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    world: World, sha: str, sent: dict[str, Any], text: str
):
    before = world.tree()

    with pytest.raises(Invalid) as caught:
        create(world, sha, **sent)

    assert caught.value.text == text
    assert world.tree() == before


def test_bodies_are_trimmed_and_get_plain_line_ends(world: World, sha: str):
    tid = create(world, sha, "\r\n a\r\nb \n\n")

    assert shown(world, sha, tid)["comments"][0]["body"] == "a\nb"


@pytest.mark.parametrize(
    "body",
    [
        "x" * 65_536, "- a\n  - b", "# no comment", "'\"", "a: b", "|", "---\na", "a\n\n\nb",
        "tab\tin", "\ttab", "\x07 bell", "\u2028 line\u2029", "\U0001f600", "\ufeffbom", "no",
        "1:30", "a\rb", "  indented\nless", "x \n y", "%YAML", "<<",
        "*alias", "&anchor", "null", "~",
    ],
)  # fmt: skip
def test_every_body_comes_back_as_it_was_sent(world: World, sha: str, body: str):
    tid = create(world, sha, body)
    cid = commenting.reply(world.target(sha), tid, body=body, author="bob")

    found = shown(world, sha, tid)["comments"]
    assert [one["body"] for one in found] == [body.strip()] * 2
    assert found[1]["id"] == cid


def test_a_review_holds_at_most_5000_threads(world: World, sha: str):
    world.put(sha, "threads:\n" + "- comments: [{body: x}]\n" * 5000)
    before = world.tree()

    with pytest.raises(Invalid) as caught:
        create(world, sha)

    assert caught.value.text == "A review holds at most 5,000 threads"
    assert world.tree() == before


def test_a_file_does_not_grow_over_its_limit(world: World, sha: str):
    big = "".join(f"- comments: [{{body: '{'x' * 60_000}'}}]\n" for _ in range(139))
    world.put(sha, f"threads:\n{big}")
    before = world.tree()

    with pytest.raises(Invalid) as caught:
        create(world, sha, "y" * 65_000)

    assert caught.value.text == "The file would be larger than 8 MB"
    assert world.tree() == before


# -- replies, resolving ----------------------------------------------------------------------------


def test_a_reply_comes_last_and_does_not_reopen(world: World, sha: str):
    tid = create(world, sha)
    commenting.resolve(world.target(sha), tid, True, "ann")

    cid = commenting.reply(world.target(sha), tid, body="Done", author="agent")

    found = shown(world, sha, tid)
    assert found["comments"][-1]["id"] == cid
    assert found["comments"][-1]["author"] == "agent"
    assert (found["resolved"], found["resolved_by"]) == (True, "ann")
    assert found["resolved_at"].endswith("Z")


def test_reopening_takes_away_who_resolved_it(world: World, sha: str):
    tid = create(world, sha)
    target = world.target(sha)

    assert commenting.resolve(target, tid, True, "ann")
    assert commenting.resolve(target, tid, False, "ann")

    (thread,) = values(world, sha)["threads"]
    assert thread["resolved"] == "false"
    assert not {"resolved_by", "resolved_at"} & thread.keys()


def test_what_is_so_already_is_not_written(world: World, sha: str):
    tid = create(world, sha, "Same", author="me")
    target = world.target(sha)
    cid = shown(world, sha, tid)["comments"][0]["id"]
    commenting.resolve(target, tid, True, "me")
    before = world.version(sha)

    assert not commenting.resolve(target, tid, True, "other")
    assert not commenting.edit(target, tid, cid, " Same\n", "me")

    assert world.version(sha) == before


def test_nothing_is_taken_over_by_a_patch_to_the_value_already_there(world: World, sha: str):
    world.put(sha, "threads: [{id: a, resolved: yes, comments: [{author: x, body: y}]}]")
    before = world.tree()

    assert not commenting.resolve(world.target(sha), "a", False, "me")

    assert world.tree() == before


@pytest.mark.parametrize("resolved", [None, "true", 1, []])
def test_resolved_is_a_boolean(world: World, sha: str, resolved: Any):
    tid = create(world, sha)

    with pytest.raises(Invalid, match='"resolved" must be true or false'):
        commenting.resolve(world.target(sha), tid, resolved, "me")


def test_who_is_not_there_is_told_before_what_is_wrong(world: World, sha: str):
    tid = create(world, sha)
    target = world.target(sha)

    calls: list[Callable[[], object]] = [
        lambda: commenting.reply(target, "t-none", body="", author="x"),
        lambda: commenting.resolve(target, "t-none", None, "x"),
        lambda: commenting.edit(target, "t-none", "c", "", "x"),
        lambda: commenting.delete(target, "t-none", "c", "x"),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="No such thread"):
            call()
    calls = [
        lambda: commenting.edit(target, tid, "c-none", "", "x"),
        lambda: commenting.delete(target, tid, "c-none", "x"),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="No such comment"):
            call()


# -- one's own comments ----------------------------------------------------------------------------

KNOWN = "commit: {subject: x}\n"  # nothing is added to a file that knows its commit
OTHERS = """
threads:
- id: a
  comments:
  - {id: mine, author: me, body: Mine}
  - {id: agent, author: agent, body: Not mine}
  - {id: nobody, body: Nobody's}
"""


def test_an_own_comment_is_edited_in_place(world: World, sha: str):
    world.put(sha, OTHERS)

    assert commenting.edit(world.target(sha), "a", "mine", "Better\nso", "me")

    assert "  - {id: agent, author: agent, body: Not mine}\n" in world.text(sha)
    first = shown(world, sha, "a")["comments"][0]
    assert (first["id"], first["body"], first["created_at"]) == ("mine", "Better\nso", None)
    assert first["updated_at"].endswith("Z")


@pytest.mark.parametrize("cid", ["agent", "nobody"])
def test_other_comments_are_neither_edited_nor_deleted(world: World, sha: str, cid: str):
    world.put(sha, OTHERS)
    before = world.tree()

    calls: list[Callable[[], object]] = [
        lambda: commenting.edit(world.target(sha), "a", cid, "x", "me"),
        lambda: commenting.delete(world.target(sha), "a", cid, "me"),
    ]
    for call in calls:
        with pytest.raises(Denied) as caught:
            call()
        assert caught.value.text == "Only your own comments can be edited or deleted"
        assert caught.value.code == "not_own"
    assert world.tree() == before


def test_a_comment_is_deleted_alone_and_the_text_before_is_kept(world: World, sha: str):
    text = KNOWN + OTHERS
    world.put(sha, text)

    assert not commenting.delete(world.target(sha), "a", "mine", "me")

    assert world.text(sha) == text.replace("  - {id: mine, author: me, body: Mine}\n", "")
    assert world.backups(sha) == [text]


def test_the_last_comment_takes_its_thread_along(world: World, sha: str):
    keep, gone = create(world, sha, "Keep", author="me"), create(world, sha, "Go", author="me")
    cid = shown(world, sha, gone)["comments"][0]["id"]
    text = world.text(sha)

    assert commenting.delete(world.target(sha), gone, cid, "me")

    assert [thread["id"] for thread in values(world, sha)["threads"]] == [keep]
    assert world.backups(sha) == [text]
    with pytest.raises(NotFound, match="No such thread"):
        shown(world, sha, gone)


def test_the_last_thread_leaves_a_file_without_threads(world: World, sha: str):
    tid = create(world, sha, author="me")
    cid = shown(world, sha, tid)["comments"][0]["id"]

    assert commenting.delete(world.target(sha), tid, cid, "me")

    assert records.review(world.target(sha))["threads"] == []
    assert create(world, sha, "Again") != tid


# -- files that people write -----------------------------------------------------------------------


def test_missing_ids_are_written_down_and_stay(world: World, sha: str):
    world.put(sha, "threads:\n- comments:\n  - author: me\n    body: A\n  - body: B\n")
    (before,) = records.review(world.target(sha))["threads"]
    ids = [comment["id"] for comment in before["comments"]]

    commenting.edit(world.target(sha), before["id"], ids[0], "Changed", "me")

    (after,) = records.review(world.target(sha))["threads"]
    assert after["id"] == before["id"]
    assert [comment["id"] for comment in after["comments"]] == ids
    assert [c["id"] for c in values(world, sha)["threads"][0]["comments"]] == ids


def test_the_second_of_two_equal_ids_can_be_addressed(world: World, sha: str):
    world.put(sha, "threads:\n- {id: a, comments: [{body: 1}]}\n- {id: a, comments: [{body: 2}]}\n")

    commenting.reply(world.target(sha), "a~2", body="Here", author="x")

    one, two = records.review(world.target(sha))["threads"]
    assert [len(one["comments"]), len(two["comments"])] == [1, 2]
    assert (one["id"], two["id"]) == ("a", "a~2")


HAND = (
    "\ufeff# Review notes\t(tabs\there)\r\n"
    "mood: 'good'   # why not\r\n"
    "\r\n"
    "threads:\r\n"
    '  - id: "t-1"\r\n'
    "    side:   head   # spelled so\r\n"
    "    path: kept.py\r\n"
    "    line: 0x3\r\n"
    "    comments:\r\n"
    "      - id: c-1\r\n"
    "        author: me\r\n"
    '        body: "Smile \U0001f600 and\u2028more"\r\n'
    "      # behind the last comment\r\n"
    "    # behind the last thread\r\n"
    "# at the end\r\n"
)


def test_only_the_touched_node_of_a_hand_made_file_changes(world: World, sha: str):
    hand = KNOWN.replace("\n", "\r\n") + HAND.replace("    line: 0x3\r\n", "")
    world.put(sha, hand)

    commenting.reply(world.target(sha), "t-1", body="Line one\nline two", author="bob")

    text = world.text(sha)
    added = [line for line in text.split("\r\n") if line not in hand.split("\r\n")]
    assert re.sub(r'".*?"', '""', "\n".join(line.strip() for line in added)) in {
        '- id: ""\nauthor: bob\nbody: |-\nLine one\nline two\ncreated_at: ""',
        '- id: ""\nauthor: bob\nbody: |\nLine one\nline two\ncreated_at: ""',
    }
    kept = [line for line in text.split("\r\n") if line not in added]
    assert kept == hand.split("\r\n")
    assert "\n" not in text.replace("\r\n", "")


def test_comments_in_the_file_stay_where_they_are_after_an_append(world: World, sha: str):
    world.put(sha, "threads:\n- id: a\n  comments:\n  - {id: b, body: c}\n# behind\n")

    create(world, sha)

    text = world.text(sha)
    assert text.startswith("threads:\n- id: a\n  comments:\n  - {id: b, body: c}\n")
    assert text.endswith("# behind\n")


def test_a_file_written_on_one_line_can_be_replied_to(world: World, sha: str):
    world.put(sha, "threads: [{comments: [{author: x, body: y}]}]\n")
    (thread,) = records.review(world.target(sha))["threads"]

    commenting.reply(world.target(sha), thread["id"], body="Two\nlines", author="bob")
    tid = create(world, sha, "Three")

    found = records.review(world.target(sha))["threads"]
    assert [one["id"] for one in found] == [thread["id"], tid]
    assert found[0]["comments"][1]["body"] == "Two\nlines"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "threads:\n", "mood: good\n", "{}\n"])
def test_a_file_that_holds_no_thread_takes_one(world: World, sha: str, text: str):
    world.put(sha, text)

    tid = create(world, sha)

    assert [one["id"] for one in records.review(world.target(sha))["threads"]] == [tid]
    assert text.strip("{}\n") in world.text(sha)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("threads: [\n", "line 2, column 1"),
        ("threads: []\nthreads: []\n", "line 2, column 1"),
        ("<<<<<<< ours\nthreads: []\n", "line 2, column"),
        ("threads: {}\n", "line 1, column 10"),
        ("threads:\n- comments: {}\n", "line 2, column 13"),
        ("[]\n", "line 1, column 1"),
        ("[" * 100_000, "line 1, column 65"),
        ("a: &a [x]\nb: *a\n", "line 1, column"),
    ],
)
def test_a_broken_file_shows_the_last_good_review_and_is_not_written(
    world: World, sha: str, text: str, where: str
):
    tid = create(world, sha, author="me")
    cid = shown(world, sha, tid)["comments"][0]["id"]
    target = world.target(sha)
    world.put(sha, text)

    review = records.review(target)

    assert (review["parse_error"] or "").startswith(where)
    assert [one["id"] for one in review["threads"]] == [tid]
    calls: list[Callable[[], object]] = [
        lambda: create(world, sha),
        lambda: commenting.reply(target, tid, body="x", author="me"),
        lambda: commenting.resolve(target, tid, True, "me"),
        lambda: commenting.edit(target, tid, cid, "x", "me"),
        lambda: commenting.delete(target, tid, cid, "me"),
    ]
    for call in calls:
        with pytest.raises(Conflict) as caught:
            call()
        assert caught.value.code == "invalid_file"
        assert f"reviews/api/{sha}.yaml is not valid YAML (line " in caught.value.text
    assert world.text(sha) == text


def test_a_file_of_a_newer_version_is_read_and_not_written(world: World, sha: str):
    text = "version: 2\nnews: [1]\nthreads: [{id: a, comments: [{body: x}]}]\n"
    world.put(sha, text)

    assert records.review(world.target(sha))["version"] == 2
    with pytest.raises(Conflict) as caught:
        commenting.reply(world.target(sha), "a", body="x", author="me")
    assert caught.value.code == "newer_file"
    assert world.text(sha) == text


def test_a_symlinked_review_is_written_through(world: World, sha: str):
    real = world.put(sha, "threads: [{id: a, comments: [{body: x}]}]\n")
    elsewhere = real.parents[2] / "elsewhere.yaml"
    real.rename(elsewhere)
    real.symlink_to(elsewhere)

    commenting.reply(world.target(sha), "a", body="Through", author="me")

    assert real.is_symlink()
    assert b"Through" in elsewhere.read_bytes()


def test_what_the_disk_refuses_is_told_and_changes_nothing(
    world: World, sha: str, monkeypatch: pytest.MonkeyPatch
):
    world.put(sha, "threads: [{id: a, comments: [{body: x}]}]\n")
    before = world.tree()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(syscalls, "exchange", refuse)

    with pytest.raises(SvcError, match=f"Cannot write reviews/api/{sha}.yaml: No space left"):
        commenting.reply(world.target(sha), "a", body="x", author="me")

    assert world.tree() == before
