"""Full-text search: what is found, where, how it is shown, and that no query is too strange."""

from __future__ import annotations

import itertools
import os
import random
import string
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from config.errors import Invalid
from tests.workspace.chats.world import USER, World
from workspace import reindex
from workspace.chats import actions, forks, index, messages, transcript, trash
from workspace.chats.search import folding, fts5, indexing, search, store, trigrams
from workspace.models import Passage, Searched
from workspace.projects import store as projects

CODE = "Look at src/app/main.py: get_user_name() calls getUserName, see #42 and C++."


def told(world: World, *texts: str, name: str | None = None) -> str:
    chat = world.chat(name=name).chat.id
    world.finish(chat, *(texts or (CODE,)))
    return chat


def look(world: World, query: str, **asked: Any) -> search.Hits:
    values = {"only": None, "limit": 20, "before": None} | asked
    return search.search(projects.all(), query, **values)


def found(world: World, query: str, **asked: Any) -> list[str]:
    return [hit.found.chat for hit in look(world, query, **asked).hits]


def shown(hit: search.Hit) -> str:
    """The snippet with its marks in brackets."""
    return "".join(f"[{one.text}]" if one.marked else one.text for one in hit.snippet)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (CODE, "user_na"),
        (CODE, "USER name"),
        (CODE, "app/main"),
        (CODE, "main.py"),
        (CODE, "erNam"),
        (CODE, "C++"),
        (CODE, "#42"),
        (CODE, '"see #42"'),
        ("Der Größenwahn im Café", "grossenwahn cafe"),
        ("Straße", "STRASSE"),
        ("東京都の天気予報", "天気"),
        ("한국어 문장", "국어"),
        ("שלום עולם", "עולם"),
        ("مرحبا بالعالم", "بالعالم"),
        ("Ship it 🚀 now", "🚀"),
        ("ﬁle ﬂow", "file flow"),
        ("two\n   lines\tapart", '"two lines apart"'),
        ("say \"hello\" to 'them'", "'them' hello\""),
        ("50% of a_b\\c * (x OR y) NEAR", "50% a_b\\c * (x OR NEAR"),
        ("no", "NO"),
    ],
)
def test_parts_of_words_are_found_in_any_case_with_and_without_accents(world: World, text, query):
    chat = told(world, text)
    told(world, "something else entirely")

    assert found(world, query) == [chat]


@pytest.mark.parametrize("query", ["user absent", '"name get"', "xyz", "main.pyc", "42#"])
def test_every_word_must_be_there_and_a_quoted_one_as_it_stands(world: World, query):
    told(world)

    assert found(world, query) == []


def test_a_hit_leads_to_its_message_and_marks_what_was_looked_for(world: World):
    chat = told(
        world, "Please explain", f"{'x ' * 100}The Café is open; the CAFE is full. {'y ' * 100}"
    )

    [hit] = look(world, "cafe open").hits

    [message] = [one for one in messages.page(world.project, chat)[0] if one["role"] == "assistant"]
    assert (hit.found.offset, hit.shown["uuid"]) == (message["offset"], message["uuid"])
    assert (hit.found.project, hit.found.name, hit.found.archived) == (
        "alpha",
        "Please explain",
        False,
    )
    text = shown(hit)
    assert text.startswith("…x x ")
    assert "The [Café] is [open]; the [CAFE] is full. y y" in text
    assert text.endswith("…")
    assert len(text) < search.BEFORE + search.AFTER + 20


def test_a_snippet_reads_as_its_markdown_does_once_it_is_drawn():
    text = "# Rates\n`**and then**` the sum\n| rate | before |\n| --- | --- |\n| [a](b) | 2 |\n"
    shown = " ".join(search.plain(text).split())
    assert shown == "Rates and then the sum rate · before a · 2"


def test_markup_in_a_snippet_stays_text(world: World):
    told(world, "<b>bold</b> <script>alert(1)</script>")

    [hit] = look(world, "script").hits

    assert shown(hit) == "<b>bold</b> <[script]>alert(1)</[script]>"


def test_a_tool_is_found_by_its_command_and_its_output(world: World):
    chat = world.chat().chat.id
    use = {"tool": "Bash", "call": "1", "input": {"command": "npm run verify"}, "target": "npm"}
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("tool_use", "msg_1", **use)
        writer.append("tool_result", "msg_1", call="1", is_error=False, text="17 verified", ms=1)
        writer.append("engine", "msg_1", engine="x", state="hidden needle")
        writer.append("thinking", "msg_1", block="1", text="hidden needle")

    for query in ("run verify", "17 verified"):
        [hit] = look(world, query).hits
        assert hit.shown["role"] == "tool"
    assert found(world, "needle") == []


def test_the_newest_come_first_and_pages_join_without_a_gap(world: World):
    made = [told(world, f"needle {number}") for number in range(5)]
    pages, before = [], None
    while True:
        page = look(world, "needle", limit=2, before=before)
        pages += [hit.found.chat for hit in page.hits]
        before = page.next
        if before is None:
            break

    assert pages == made[::-1]


def test_what_grew_is_found_at_once_and_only_that_was_read(world: World, monkeypatch):
    chat = told(world, "first needle")
    assert found(world, "needle") == [chat]
    starts: list[int] = []
    scan = transcript.Scan

    def noted(path: str, start: int = 0, end: int | None = None, **how: Any) -> transcript.Scan:
        starts.append(start)
        return scan(path, start, end, **how)

    world.finish(chat, "second haystack")
    monkeypatch.setattr(transcript, "Scan", noted)

    assert found(world, "haystack") == [chat]
    assert starts
    assert all(start > 0 for start in starts)
    assert Passage.objects.count() == 2


def test_a_project_can_be_named(world: World):
    told(world, "needle")
    world.write("name: Beta\n", "beta")
    beta = actions.create(principal=USER, project=projects.get("beta")).chat.id
    with transcript.Writer(str(world.folder / "beta" / ".chats" / f"{beta}.jsonl")) as writer:
        writer.append("user", "msg_1", text="needle", sender={"kind": "user", "id": "kim"})

    assert found(world, "needle", only="beta") == [beta]
    assert len(found(world, "needle")) == 2


def test_a_deleted_chat_is_not_found_until_it_is_back(world: World):
    chat = told(world, "needle")
    assert found(world, "needle") == [chat]

    trash.delete(project=world.project, session_id=chat)
    assert found(world, "needle") == []
    assert (Passage.objects.count(), Searched.objects.count()) == (0, 0)
    if connection.vendor == "sqlite":  # elsewhere the index is the table's own
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM workspace_passage_text WHERE text MATCH 'needle'")
            assert cursor.fetchone() == (0,)

    trash.restore(project=world.project, session_id=chat)
    assert found(world, "needle") == [chat]


def test_archived_chats_and_forks_are_found(world: World):
    chat = told(world, "needle")
    fork = forks.fork(principal=USER, project=world.project, session_id=chat).chat.id
    actions.archive(principal=USER, project=world.project, session_id=chat, archived=True)

    hits = {hit.found.chat: hit.found.archived for hit in look(world, "needle").hits}

    assert hits == {chat: True, fork: False}


def test_a_transcript_that_was_replaced_is_read_anew(world: World):
    chat = told(world, "needle")
    assert found(world, "needle") == [chat]
    path = world.transcript(chat)
    draft = path.with_name("draft")
    draft.write_text(path.read_text().replace("needle", "thread"))
    draft.replace(path)

    assert found(world, "needle") == []
    assert found(world, "thread") == [chat]
    assert Passage.objects.count() == 1


def test_what_the_file_no_longer_says_is_left_out(world: World):
    """Edited in place, of which no event tells: the index finds it, the file decides."""
    chat = told(world, "needle")
    assert found(world, "needle") == [chat]
    path = world.transcript(chat)
    data = path.read_bytes().replace(b"needle", b"straws")
    with path.open("r+b") as file:
        file.write(data)

    assert found(world, "needle") == []


def test_reindex_makes_the_search_anew(world: World):
    chat = told(world, "needle")
    assert found(world, "needle") == [chat]
    Passage.objects.all().delete()
    assert found(world, "needle") == []

    reindex.reindex()

    assert Passage.objects.count() == 1
    assert found(world, "needle") == [chat]


def test_many_indexers_at_once_take_each_message_once(world: World):
    chat = told(world, *(f"needle {number}" for number in range(1200)))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            indexing.catch_up(world.project, chat)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    indexing.catch_up(world.project, chat)
    assert errors == []
    assert Passage.objects.filter(chat=chat).count() == 1200
    assert [*indexing.behind([world.project])] == []


def test_many_projects_cost_a_search_no_more_queries_than_one(world: World):
    told(world)
    with CaptureQueriesContext(connection) as one:
        assert len(found(world, "user_name")) == 1
    for number in range(20):
        world.write("name: Other\n", slug=f"other-{number}")
    for file in world.folder.glob("*/project.yaml"):
        os.utime(file, (1, 1))  # saved long ago: none is read again for having changed just now
    projects.all()  # their rows are made

    with CaptureQueriesContext(connection) as many:
        assert len(found(world, "user_name")) == 1

    assert len(many) <= len(one)


def test_a_large_chat_is_read_in_parts_between_which_others_write(world: World, monkeypatch):
    """The text of one transaction is bounded: who writes, as a fork does, waits for it."""
    texts = [f"part{n} " + "word " * (indexing.PART_TEXT // 10) for n in range(8)]
    chat = told(world, *texts)
    taken: list[int] = []
    create = type(Passage.objects).bulk_create

    def counted(self: Any, rows: list[Passage], **how: Any) -> list[Passage]:
        taken.append(sum(len(row.text) for row in rows))
        return create(self, rows, **how)

    monkeypatch.setattr(type(Passage.objects), "bulk_create", counted)

    indexing.catch_up(world.project, chat, rest=lambda: True)

    assert len(taken) >= 4
    assert max(taken) <= 2 * indexing.PART_TEXT
    assert [found(world, f"part{n}") for n in range(8)] == [[chat]] * 8


def test_a_search_ends_in_time_within_a_large_chat_and_says_that_it_is_not_all(
    world: World, monkeypatch
):
    chat = told(world, *(f"word {n} of many" for n in range(4 * indexing.PART)))
    index.get(world.project, chat)
    looks = itertools.count(step=0.03)  # each look at the clock is later than the one before
    monkeypatch.setattr(indexing, "time", SimpleNamespace(monotonic=lambda: next(looks)))

    assert not indexing.catch_up_all([world.project], within_s=0.1)
    read = Searched.objects.get(chat=chat).upto
    assert indexing.catch_up_all([world.project])

    assert 0 < read < index.get(world.project, chat).offset


def test_what_another_process_reads_is_not_said_to_be_read(world: World, monkeypatch):
    chat = told(world)
    monkeypatch.setattr(indexing, "_claim", lambda *_: False)  # the other one was faster
    Searched.objects.filter(chat=chat).delete()
    Searched.objects.create(chat_id=chat, inode=1, upto=1)

    assert look(world, "app/main").indexing


def test_a_search_that_takes_too_long_is_given_up_with_a_sentence(world: World, monkeypatch):
    told(world, *(f"needle {number}" for number in range(300)))
    assert found(world, "needle")
    budget = 0.001 if connection.vendor == "postgresql" else 0.0  # whose least is a millisecond
    monkeypatch.setattr(store, "BUDGET_S", budget)
    monkeypatch.setattr(fts5, "STEPS", 10)
    monkeypatch.setattr(trigrams, "HOLDS", "strpos(p.text, %s) > 0 AND pg_sleep(0.01) IS NOT NULL")

    with pytest.raises(Invalid, match="add a rarer word"):
        look(world, "needle ee", limit=500)

    monkeypatch.undo()
    assert found(world, "needle")


def test_chats_that_wait_to_be_indexed_are_said(world: World, monkeypatch):
    told(world, "needle")
    monkeypatch.setattr(search, "CATCH_UP_S", -1.0)

    assert look(world, "needle").indexing

    monkeypatch.undo()
    assert not look(world, "needle").indexing


HOSTILE = st.text(st.characters(), max_size=200) | st.text(
    "\"'*():^-+{}\\%_ \0ANDORNEAR", max_size=200
)


@settings(max_examples=80, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(query=HOSTILE)
@example(query='"')
@example(query='" OR 1=1 --')
@example(query="text:needle")
@example(query="NEAR(a b, 2)")
@example(query="\0")
@example(query="a\0b")
@example(query="\ud800")
@example(query="\u202e\u0301")
@example(query="x" * 200)
def test_no_query_is_anything_but_words(world: World, query: str):
    refusals: set[str] = set()
    if not index.entries(world.project):
        told(world)
    try:
        hits = look(world, query).hits
    except Invalid as refused:
        refusals.add(refused.problems[0].field)
        return
    finally:
        assert refusals <= {"q"}
    for hit in hits:
        assert any(piece.marked for piece in hit.snippet)


@settings(max_examples=40, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(text=st.text(min_size=1, max_size=80), data=st.data())
def test_whatever_was_said_is_found_by_any_part_of_it(world: World, text: str, data):
    chat = world.chat().chat.id
    world.finish(chat, text)
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : start + data.draw(st.integers(1, 30))].replace('"', " ")
    if not folding.fold(part).strip():
        return

    if len(search.terms_of(part)) <= search.MOST_TERMS:
        assert chat in found(world, part, limit=100)
    trash.delete(project=world.project, session_id=chat)


@given(text=st.text(max_size=200))
def test_positions_tell_the_same_text_and_lead_back_into_it(text: str):
    folded, origins = folding.positions(text)

    assert folded == folding.fold(text)
    assert len(origins) == len(folded)
    assert all(0 <= origin < len(text) for origin in origins)
    assert origins == sorted(origins)


@given(text=st.text(max_size=300), terms=st.lists(st.text(min_size=1, max_size=5), max_size=4))
def test_a_snippet_is_a_part_of_the_text(text: str, terms: list[str]):
    folded = [term for one in terms if (term := folding.fold(one).strip())]
    pieces = search.snip(text, folded) if folded else []

    plain = "".join(piece.text for piece in pieces)
    assert search._line(plain.strip("…")).strip() in search._line(text) or "…" in text
    assert all(piece.text for piece in pieces)


def test_ten_thousand_messages_are_searched_without_waiting(world: World):
    words = [
        "".join(random.Random(seed).choices(string.ascii_lowercase, k=6)) for seed in range(500)
    ]
    pick = random.Random(1)
    texts = [" ".join(pick.choices(words, k=40)) for _ in range(2000)]
    told(world, *texts)
    indexing.catch_up_all([world.project])

    for query in ("e", "ee e", words[7], f"{words[7]} {words[8]}", "zzzzzz qqqqqq", "the " * 12):
        started = time.monotonic()
        look(world, query)
        assert time.monotonic() - started < store.BUDGET_S + search.CATCH_UP_S + 5
