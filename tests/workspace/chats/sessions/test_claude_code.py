"""What Claude Code keeps of a directory, as lists and pages tell it."""

from __future__ import annotations

import errno
import os
import tracemalloc
import uuid
from pathlib import Path
from typing import Any

import pytest

from config.errors import NotFound
from tests.workspace.chats.sessions import kept
from tests.workspace.chats.sessions.kept import model, person
from workspace.chats.sessions import claude_code, reading, records
from workspace.chats.sessions.claude_code import Session
from workspace.projects.sessions import ends


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude" / "projects"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "code.d" / "shop"
    made.mkdir(parents=True)
    return made


def listed(directory: Path) -> list[Session]:
    return claude_code.listing(directory, 50)[0]


def told(path: Path) -> list[list[tuple[str, str]]]:
    """(kind, text) of every record of every turn."""
    return [
        [(kind, str(fields.get("text") or fields.get("tool"))) for kind, fields in turn.records]
        for turn in records.read_turns(path)
    ]


@pytest.mark.parametrize("version", kept.VERSIONS)
def test_a_session_of_this_version_is_listed_and_read(store: Path, directory: Path, version: str):
    path = kept.keep(store, directory, version)

    (session,) = listed(directory)

    assert (session.id, session.title, session.version) == (path.stem, kept.WORDS, version)
    assert session.started.startswith("2026-11-23T20:")
    messages, total, following = reading.page(session)
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert (messages[0]["content"], messages[-1]["content"]) == (
        kept.WORDS,
        "The file says **hello**.",
    )
    read, ran = messages[2]["toolCall"], messages[3]["toolCall"]
    assert (read["name"], read["ok"]) == ("Read", True)
    assert "hello" in str(read["output"])
    assert "system-reminder" not in str(read["output"])
    assert (ran["name"], ran["output"]) == ("Bash", "hi")
    assert (total, following) == (5, None)


def test_pages_go_back_without_a_gap(store: Path, directory: Path):
    kept.keep(store, directory, "2.1.330")
    (session,) = listed(directory)
    whole = reading.page(session)[0]

    last, _, before = reading.page(session, limit=2)
    middle, _, earlier = reading.page(session, limit=2, before=before)
    first, _, none = reading.page(session, limit=2, before=earlier)

    assert [*first, *middle, *last] == whole
    assert none is None


def test_a_long_session_is_read_a_turn_at_a_time_and_a_page_reads_its_own_turns(
    store: Path, directory: Path, monkeypatch
):
    lines = []
    for n in range(0, 400, 2):
        lines.append(kept.person(f"Question {n}", n, n - 1 if n else None))
        lines.append(kept.model({"type": "text", "text": "x" * 100_000}, number=n + 1, after=n))
    kept.write(store, directory, *lines)
    (session,) = listed(directory)
    tracemalloc.start()

    last, total, before = reading.page(session, limit=4)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (total, before, session.bytes > 20_000_000) == (400, 396, True)
    assert peak < 4_000_000
    assert last[0]["content"] == "Question 396"
    monkeypatch.setattr(claude_code, "lines", None)
    middle, _, _ = reading.page(session, limit=3, before=before)
    assert [(one["offset"], one["content"][:12]) for one in middle] == [
        (394, "x" * 12), (395, "Question 394"), (396, "x" * 12),
    ]  # fmt: skip


def test_sessions_of_other_directories_are_not_listed(store: Path, directory: Path):
    """Claude Code gives `code.d/shop` and `code-d/shop` one folder."""
    other = directory.parent.parent / "code-d" / "shop"
    other.mkdir(parents=True)
    path = kept.write(store, directory, person("here", 1))
    there = kept.write(store, other, person("there", 1))

    assert [one.path for one in listed(directory)] == [path]
    assert [one.path for one in listed(other)] == [there]
    with pytest.raises(NotFound):
        claude_code.get(directory, there.stem)


def test_a_directory_is_known_by_every_path_that_leads_to_it(store: Path, directory: Path):
    kept.write(store, directory, person("here", 1))
    link = directory.parent / "link"
    link.symlink_to(directory)

    assert len(listed(link)) == 1


def test_the_newest_comes_first_and_a_title_that_was_given_is_shown(store: Path, directory: Path):
    old = kept.write(store, directory, person("old", 1), {"type": "summary", "summary": "Old one"})
    new = kept.write(store, directory, person("new", 1))
    os.utime(old, (1, 1))

    assert [(one.id, one.title) for one in listed(directory)] == [
        (new.stem, "new"),
        (old.stem, "Old one"),
    ]
    assert claude_code.listing(directory, 1)[1] == 2


def test_what_only_the_program_said_is_no_session(store: Path, directory: Path):
    meta = person("Caveat: The messages below were generated", 1, isMeta=True)
    agent = person("Warmup", 2) | {"isSidechain": True}
    kept.write(store, directory, meta, agent)

    assert listed(directory) == []


def test_a_road_that_was_left_is_not_told(store: Path, directory: Path):
    path = kept.write(
        store,
        directory,
        person("one", 1),
        model({"type": "text", "text": "first"}, number=2, after=1),
        person("two, regretted", 3, 2),
        model({"type": "text", "text": "gone"}, number=4, after=3),
        person("two", 5, 2),
        model({"type": "text", "text": "second"}, number=6, after=5),
    )

    assert told(path) == [
        [("user", "one"), ("assistant", "first")],
        [("user", "two"), ("assistant", "second")],
    ]


def test_parallel_calls_keep_every_answer(store: Path, directory: Path):
    calls: list[dict[str, object]] = [
        {"type": "tool_use", "id": c, "name": "Read", "input": {}} for c in ("a", "b", "c")
    ]
    answers = [{"type": "tool_result", "tool_use_id": c, "content": c * 3} for c in ("a", "b")]
    path = kept.write(
        store,
        directory,
        person("go", 1),
        model(calls[0], number=2, after=1, id="m"),
        model(calls[1], number=3, after=2, id="m"),
        model(calls[2], number=4, after=3, id="m"),
        person([answers[0]], 5, 2),
        person([answers[1]], 6, 3),
        model({"type": "text", "text": "done"}, number=7, after=6),
    )

    (turn,) = told(path)

    assert [text for kind, text in turn if kind == "tool_result"] == [
        "aaa",
        "bbb",
        records.UNANSWERED,
    ]


def test_commands_are_told_as_they_were_typed_and_their_output_is_not(store: Path, directory: Path):
    typed = "<command-name>/review</command-name>\n<command-args>api</command-args>"
    path = kept.write(
        store,
        directory,
        person(typed, 1),
        person("<local-command-stdout>ok</local-command-stdout>", 2, 1),
        model({"type": "text", "text": "done"}, number=3, after=2),
        person("[Request interrupted by user]", 4, 3),
    )

    assert told(path) == [[("user", "/review api"), ("assistant", "done")]]
    assert next(records.read_turns(path)).stopped


def test_damage_is_passed_over(store: Path, directory: Path):
    path = kept.write(store, directory, person("one", 1))
    good = path.read_text()
    path.write_text(f'{{"torn\n[1]\nnull\n{good}{good[:40]}')
    (store / "x.jsonl").write_text("{}")
    folder = path.parent
    (folder / f"{uuid.uuid4()}.jsonl").mkdir()
    os.mkfifo(folder / f"{uuid.uuid4()}.jsonl")
    (folder / f"{uuid.uuid4()}.jsonl").symlink_to("/etc/passwd")

    assert [one.id for one in listed(directory)] == [path.stem]
    assert told(path) == [[("user", "one")]]


def test_a_file_of_any_content_hides_no_other(store: Path, directory: Path):
    path = kept.write(store, directory, person("one", 1))
    for line in (
        '["user"]',
        '"user"',
        '{"type":"user","message":{"content":"x"},"cwd":"/a\\u0000"}',
    ):
        (path.parent / f"{uuid.uuid4()}.jsonl").write_text(f"{line}\n")

    assert [one.id for one in listed(directory)] == [path.stem]


def test_a_text_that_was_cut_within_an_emoji_ends_no_session(store: Path, directory: Path):
    half = {"type": "text", "text": "cut \ud83d"}
    path = kept.write(
        store, directory, person("first \ud83d", 1), model(half, number=2, after=1),
        person("second", 3, 2), {"type": "custom-title", "customTitle": "Named \ud83d"},
    )  # fmt: skip

    assert told(path) == [
        [("user", "first \ufffd"), ("assistant", "cut \ufffd")], [("user", "second")],
    ]  # fmt: skip
    assert listed(directory)[0].title == "Named \ufffd"


def test_what_nothing_leads_to_is_said_to_be_missing(store: Path, directory: Path):
    text = {"type": "text", "text": "an answer"}
    path = kept.write(
        store, directory, person("one", 1), model(text, number=2, after=1), person("two", 3, 2),
        model(text, number=4, after=3), person("three", 5, 4), model(text, number=6, after=5),
    )  # fmt: skip
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:3], lines[3][:50] + "\n", *lines[4:]]))

    (session,) = listed(directory)
    whole, total, _ = reading.page(session)
    last, _, before = reading.page(session, limit=2)
    first, _, _ = reading.page(session, limit=2, before=before)

    assert told(path) == [[("user", "three"), ("assistant", "an answer")]]
    assert (total, [one["role"] for one in whole]) == (3, ["notice", "user", "assistant"])
    assert whole[0]["content"].startswith("4 earlier lines")
    assert [*first, *last] == whole


@pytest.mark.parametrize("content", [None, 5, {}, [], [None], [{"type": "text"}], [{"text": 5}]])
def test_a_message_of_any_form_is_read_or_left_out(store: Path, directory: Path, content: object):
    path = kept.write(
        store, directory, person("one", 1), person(content, 2, 1), person("two", 3, 2)
    )

    assert [turn[0] for turn in told(path)] == [("user", "one"), ("user", "two")]


def test_a_list_reads_a_file_again_only_when_it_changed(store: Path, directory: Path):
    path = kept.write(store, directory, person("one", 1))
    assert listed(directory)[0].title == "one"

    with path.open("a") as file:
        file.write(kept.written({"type": "custom-title", "customTitle": "Named"}))

    assert listed(directory)[0].title == "Named"
    first, second = listed(directory)[0], listed(directory)[0]
    assert first is second


def test_a_session_that_could_not_be_read_for_a_moment_is_in_the_next_list(
    store: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
):
    kept.write(store, directory, person("one", 1))

    def refused(*_: object, **__: object) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as full:
        full.setattr(claude_code, "ends", refused)
        assert listed(directory) == []

    assert [session.title for session in listed(directory)] == ["one"]


def test_a_session_that_begins_with_a_long_message_is_listed_with_its_title(
    store: Path, directory: Path
):
    answers = [
        model({"type": "text", "text": "y" * 1000}, number=n, after=n - 1) for n in range(2, 300)
    ]
    title = {"type": "summary", "summary": "Long one"}
    kept.write(store, directory, title, person("x" * 20_000, 1), *answers)

    (session,) = listed(directory)

    assert (session.title, session.bytes > 2 * claude_code.BEGINS) == ("Long one", True)


def test_titles_are_read_with_the_rest_of_those_sessions_alone_that_are_shown(
    store: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
):
    for n in range(5):
        title = {"type": "summary", "summary": f"Title {n}"}
        os.utime(kept.write(store, directory, person(f"Said {n}", 1), title), (n, n))
    read: list[bool] = []

    def counted(path: str, *size: int, **more: Any) -> tuple[bytes, bytes]:
        read.append(bool(size))  # its other end, too
        return ends(path, *size, **more)

    monkeypatch.setattr(claude_code, "ends", counted)

    shown, total = claude_code.listing(directory, 2)

    assert ([one.title for one in shown], total) == (["Title 4", "Title 3"], 5)
    assert read == [True, True, False, False, False]  # each is opened once
    assert [one.title for one in listed(directory)] == [f"Title {n}" for n in (4, 3, 2, 1, 0)]
