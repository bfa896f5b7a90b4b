"""Chats over REST: without a worker, so that a message stays where the queue put it."""

from __future__ import annotations

import uuid

import pytest

from workspace.chats import files, transcript
from workspace.models import Turn
from workspace.projects import store


def say(path: str, turn: str, text: str, *, answer: str = "fine") -> None:
    """Write a finished turn into the transcript, as a turn process would."""
    slug, session_id = path.split("/")[3], path.split("/")[5]
    writer = transcript.Writer(str(files.transcript_path(store.get(slug), session_id)))
    try:
        writer.append("turn_start", turn, engine="runbook", model=None)
        writer.append("user", turn, text=text, sender={"kind": "user", "id": "anonymous"})
        writer.append(
            "tool_use", turn, tool="Bash", call="c1", input={"command": "ls"}, target="ls"
        )
        writer.append("tool_result", turn, call="c1", is_error=False, text="a\nb", ms=3)
        writer.append("assistant", turn, text=answer, block="b1")
        writer.append("turn_end", turn, status="ok", reason=None, text=None, turns=1,
                      usage={"inputTokens": 3, "outputTokens": 4}, cost=None, ms=9)  # fmt: skip
    finally:
        writer.close()


def test_a_chat_and_the_end_of_its_turn_tell_what_was_reached(api, chat):
    slug, session_id = chat.split("/")[3], chat.split("/")[5]
    told = [{"host": "127.0.0.1", "port": 8000, "refused": True}]
    path = files.transcript_path(store.get(slug), session_id)
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_end", "msg_1", status="ok", reason=None, text=None, hosts=told)

    assert api.get(chat).json()["chat"]["hosts"] == told
    assert api.get(f"{chat}/messages?turns=1").json()["turns"][-1]["hosts"] == told
    assert "hosts" not in api.get(chat.rpartition("/")[0]).json()["chats"][0]


def test_an_empty_chat_has_no_message_and_no_state(api, alpha):
    answer = api.post("/api/projects/alpha/chats")

    assert answer.status_code == 201
    body = answer.json()
    assert (body["messageId"], body["state"]) == (None, None)
    chat = body["chat"]
    assert chat["name"] == chat["sessionId"][:8]
    assert chat["provenance"] == {"origin": "human", "depth": 0}
    assert (chat["running"], chat["turn"], chat["lastTurn"], chat["trigger"]) == (
        False, None, None, None,
    )  # fmt: skip


def test_a_chat_with_a_prompt_starts_its_first_turn(api, alpha):
    body = api.post("/api/projects/alpha/chats", {"prompt": "#!runbook\nhello"}).json()

    assert body["state"] == "started"
    assert body["messageId"].startswith("msg_")
    page = api.get(f"/api/projects/alpha/chats/{body['chat']['sessionId']}").json()
    assert [row["id"] for row in page["queue"]] == [body["messageId"]]
    assert page["queue"][0]["sender"] == {"kind": "user", "id": "anonymous"}
    assert page["chat"]["queued"] == 1


def test_messages_of_one_chat_wait_in_order(api, chat):
    sent = [api.post(f"{chat}/messages", {"prompt": f"n{n}"}) for n in range(3)]

    assert [answer.status_code for answer in sent] == [202, 202, 202]
    assert [answer.json()["position"] for answer in sent] == [0, 1, 2]
    assert [answer.json()["state"] for answer in sent] == ["started", "queued", "queued"]
    queue = api.get(chat).json()["queue"]
    assert [row["prompt"] for row in queue] == ["n0", "n1", "n2"]


def test_the_fifty_first_waiting_message_is_refused(api, chat):
    for _ in range(50):
        api.post(f"{chat}/messages", {"prompt": "x"})

    answer = api.post(f"{chat}/messages", {"prompt": "x"})

    assert answer.status_code == 409
    assert answer.json() == {
        "error": "Queue full: 50 messages already wait in this chat",
        "code": "queue_full",
    }


@pytest.mark.parametrize(
    "body", [{}] + [{"prompt": bad} for bad in ("", " \n", "a\0b", "x" * 100_001, 7, None, ["x"])]
)
def test_a_prompt_that_is_none_is_refused_by_name(api, chat, body):
    answer = api.post(f"{chat}/messages", body)

    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid"
    assert answer.json()["error"].startswith("prompt: ")
    assert Turn.objects.count() == 0


def test_a_lone_surrogate_in_a_prompt_becomes_the_replacement_character(api, chat):
    answer = api.ask("POST", f"{chat}/messages", b'{"prompt":"a\\ud800b"}')

    assert answer.status_code == 202
    assert Turn.objects.get().prompt == "a\ufffdb"


def test_a_waiting_message_can_be_withdrawn_once(api, chat):
    api.post(f"{chat}/messages", {"prompt": "one"})
    second = api.post(f"{chat}/messages", {"prompt": "two"}).json()["messageId"]

    gone, again = api.delete(f"{chat}/queue/{second}"), api.delete(f"{chat}/queue/{second}")

    assert (gone.status_code, gone.json()) == (200, {"ok": True})
    assert again.status_code == 404
    assert api.delete(f"{chat}/queue/msg_nope").status_code == 404


def test_a_running_message_is_no_longer_in_the_queue(api, chat):
    sent = api.post(f"{chat}/messages", {"prompt": "one"}).json()["messageId"]
    Turn.objects.filter(id=sent).update(state="running")

    answer = api.delete(f"{chat}/queue/{sent}")

    assert (answer.status_code, answer.json()["code"]) == (409, "not_queued")


def test_held_messages_are_resumed_in_their_order(api, chat):
    for n in range(2):
        api.post(f"{chat}/messages", {"prompt": f"n{n}"})
    Turn.objects.update(state="held")

    answer = api.post(f"{chat}/queue/resume")

    assert answer.json() == {"ok": True, "resumed": 2}
    assert [row["state"] for row in api.get(chat).json()["queue"]] == ["queued", "queued"]


def test_a_message_that_was_taken_out_is_put_back_as_it_was(api, chat):
    ids = [
        api.post(f"{chat}/messages", {"prompt": f"n{n}", "model": "runbook"}).json()["messageId"]
        for n in range(2)
    ]
    Turn.objects.update(state="held", reason="the turn before it: stopped by a user")
    before = api.get(chat).json()["queue"]
    api.delete(f"{chat}/queue/{ids[0]}")

    answer = api.post(f"{chat}/queue/{ids[0]}/restore")
    twice = api.post(f"{chat}/queue/{ids[0]}/restore")

    assert answer.json() == {"ok": True, "state": "held"}
    assert (twice.status_code, api.get(chat).json()["queue"]) == (409, before)
    assert api.post(f"{chat}/queue/msg_nope/restore").status_code == 404


def test_a_turn_that_is_over_is_asked_for_again(api, chat):
    sent = api.post(f"{chat}/messages", {"prompt": "Go", "model": "acp:x"}).json()["messageId"]
    early = api.post(f"{chat}/turns/{sent}/again")
    Turn.objects.update(state="failed", message="In front. Go")

    answer = api.post(f"{chat}/turns/{sent}/again")

    assert (early.status_code, early.json()["code"]) == (409, "busy")
    assert answer.status_code == 202
    made = Turn.objects.get(id=answer.json()["messageId"])
    assert (made.prompt, made.message, made.model) == ("Go", "In front. Go", "acp:x")
    [row] = api.get(chat).json()["queue"]
    assert (row["id"], answer.json()["state"]) == (made.id, "started")
    assert api.post(f"{chat}/turns/msg_nope/again").status_code == 404


def test_stop_without_anything_running_says_so(api, chat):
    assert api.post(f"{chat}/stop").json() == {"ok": True, "stopped": False}


def test_archiving_twice_changes_once(api, chat):
    first, second = api.post(f"{chat}/archive"), api.post(f"{chat}/archive", {"archived": True})
    back = api.post(f"{chat}/archive", {"archived": False})

    assert first.json() == {"ok": True, "archived": True, "changed": True}
    assert second.json() == {"ok": True, "archived": True, "changed": False}
    assert back.json() == {"ok": True, "archived": False, "changed": True}


def test_lists_leave_archived_chats_out_and_count_them(api, chat):
    api.post(f"{chat}/archive")
    api.post("/api/projects/alpha/chats", {"name": "Second"})

    open_ones = api.get("/api/projects/alpha/chats").json()
    archived = api.get("/api/projects/alpha/chats?archived=1").json()
    everything = api.get("/api/projects/alpha/chats?archived=all").json()

    assert [one["name"] for one in open_ones["chats"]] == ["Second"]
    assert open_ones["omittedArchived"] == 1
    assert [one["name"] for one in archived["chats"]] == ["First"]
    assert {one["name"] for one in everything["chats"]} == {"First", "Second"}


def test_a_list_is_paged_without_a_gap_or_a_repeat(api, alpha):
    names = {f"chat {n}" for n in range(7)}
    for name in sorted(names):
        api.post("/api/projects/alpha/chats", {"name": name})

    seen, before = [], ""
    for _ in range(10):
        page = api.get(f"/api/projects/alpha/chats?limit=3&before={before}").json()
        seen += [chat["name"] for chat in page["chats"]]
        before = page["next"]
        if before is None:
            break

    assert len(seen) == 7
    assert set(seen) == names


def test_a_list_is_searched_by_name(api, alpha):
    for name in ("Fix the build", "Write docs"):
        api.post("/api/projects/alpha/chats", {"name": name})

    (found,) = api.get("/api/projects/alpha/chats?q=BUILD").json()["chats"]

    assert found["name"] == "Fix the build"


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "archived=2", "before=x"])
def test_a_query_outside_its_set_is_refused(api, alpha, query):
    assert api.get(f"/api/projects/alpha/chats?{query}").status_code == 400


def test_a_chat_is_renamed_and_null_gives_the_automatic_name_back(api, chat):
    named = api.patch(chat, {"name": "Better"}).json()["chat"]
    automatic = api.patch(chat, {"name": None}).json()["chat"]

    assert named["name"] == "Better"
    assert automatic["name"] == automatic["sessionId"][:8]


def test_a_chat_sent_back_whole_is_only_renamed(api, chat):
    whole = api.get(chat).json()["chat"] | {"name": "Again", "bogus": 1}

    answer = api.patch(chat, whole).json()

    assert answer["chat"]["name"] == "Again"
    assert answer["warnings"] == ['unknown key "bogus" ignored']


def test_messages_are_read_newest_page_first_each_page_oldest_first(api, chat):
    for n in range(3):
        say(chat, f"msg_{n}", f"question {n}", answer=f"answer {n}")

    last = api.get(f"{chat}/messages?limit=4").json()
    before = api.get(f"{chat}/messages?limit=4&before={last['next']}").json()

    assert last["total"] == 9
    assert [one["role"] for one in last["messages"]] == ["assistant", "user", "tool", "assistant"]
    assert last["messages"][2]["toolCall"]["name"] == "Bash"
    assert last["messages"][2]["toolCall"]["output"] == "a\nb"
    offsets = [one["offset"] for one in before["messages"] + last["messages"]]
    assert offsets == sorted(set(offsets))


def test_the_lines_around_turns_are_told_on_exactly_one_page(api, chat):
    for n in range(3):
        say(chat, f"msg_{n}", f"question {n}")

    pages = [api.get(f"{chat}/messages?limit=4&turns=1").json()]
    while following := pages[-1]["next"]:
        pages.append(api.get(f"{chat}/messages?limit=4&turns=1&before={following}").json())

    told = [(line["turnId"], line["state"]) for page in pages[::-1] for line in page["turns"]]
    assert told == [(f"msg_{n}", state) for n in range(3) for state in ("started", "completed")]
    assert [len(page["messages"]) for page in pages] == [4, 4, 1]
    assert "turns" not in api.get(f"{chat}/messages").json()


def test_a_finished_turn_is_told_in_the_chat(api, chat):
    say(chat, "msg_1", "What is new?")

    shown = api.get(chat).json()["chat"]

    assert shown["lastTurn"]["status"] == "completed"
    assert shown["usage"]["inputTokens"] == 3
    assert shown["preview"] == "fine"
    assert shown["messages"] == 3


def test_a_fork_holds_the_finished_turns_and_names_its_source(api, chat):
    say(chat, "msg_1", "What is new?")

    answer = api.post(f"{chat}/fork", {"name": "Copy"})

    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {"chat"}
    fork = body["chat"]
    assert fork["provenance"]["parentSessionId"] == chat.split("/")[5]
    copied = api.get(f"/api/projects/alpha/chats/{fork['sessionId']}/messages").json()["messages"]
    assert copied == api.get(f"{chat}/messages").json()["messages"]


def test_a_fork_from_a_turn_leaves_out_what_came_after_it(api, chat):
    say(chat, "msg_1", "What is new?")
    say(chat, "msg_2", "And now?")

    fork = api.post(f"{chat}/fork", {"turn": "msg_1"}).json()["chat"]
    refused = api.post(f"{chat}/fork", {"turn": "msg_9"})

    copied = api.get(f"/api/projects/alpha/chats/{fork['sessionId']}/messages").json()["messages"]
    assert {message["turnId"] for message in copied} == {"msg_1"}
    assert refused.status_code == 409
    assert refused.json()["error"] == "turn msg_9 is not a finished turn of this chat"


def test_a_fork_with_a_prompt_starts_with_it(api, chat):
    body = api.post(f"{chat}/fork", {"prompt": "go on"}).json()

    assert body["state"] == "started"
    assert body["messageId"].startswith("msg_")


def ask_for_bash(path: str, turn: str) -> None:
    """A running turn that waits for an answer."""
    slug, session_id = path.split("/")[3], path.split("/")[5]
    writer = transcript.Writer(str(files.transcript_path(store.get(slug), session_id)))
    try:
        writer.append(
            "permission", turn, call="c1", tool="Bash", input={}, state="asked", by="policy"
        )
    finally:
        writer.close()
    Turn.objects.filter(id=turn).update(state="running")


def test_a_permission_question_is_answered_once(api, chat):
    turn = api.post(f"{chat}/messages", {"prompt": "go"}).json()["messageId"]
    ask_for_bash(chat, turn)

    first = api.post(f"{chat}/permissions/c1", {"allow": True})
    second = api.post(f"{chat}/permissions/c1", {"allow": False})

    assert (first.status_code, first.json()) == (200, {"ok": True, "allow": True})
    assert (second.status_code, second.json()["code"]) == (409, "not_pending")
    assert Turn.objects.get(id=turn).answers == [{"call": "c1", "allow": True}]


def test_stopping_a_chat_still_starting_ends_its_message_and_holds_the_rest(api, chat):
    for n in range(2):
        api.post(f"{chat}/messages", {"prompt": f"n{n}"})

    answer = api.post(f"{chat}/stop")

    assert answer.json() == {"ok": True, "stopped": True}
    assert [row["state"] for row in api.get(chat).json()["queue"]] == ["held"]
    assert api.get(chat).json()["chat"]["held"] == 1


def test_a_permission_that_was_never_asked_is_not_found(api, chat):
    assert api.post(f"{chat}/permissions/c1", {"allow": True}).status_code == 404
    assert api.post(f"{chat}/permissions/c1", {}).status_code == 400


@pytest.mark.parametrize(("method", "rest"), [
    ("GET", ""), ("PATCH", ""), ("GET", "/messages"), ("POST", "/messages"), ("POST", "/stop"),
    ("POST", "/queue/resume"), ("DELETE", "/queue/msg_1"), ("POST", "/archive"), ("POST", "/fork"),
    ("POST", "/permissions/c1"), ("POST", "/queue/msg_1/restore"), ("POST", "/turns/msg_1/again"),
])  # fmt: skip
def test_a_chat_that_is_not_there_is_not_found_on_every_route(api, alpha, method, rest):
    bodies = {"/messages": {"prompt": "x"}, "/permissions/c1": {"allow": True}, "": {"name": "x"}}
    before = sorted(str(path) for path in alpha.rglob("*"))
    for session_id in (str(uuid.uuid4()), "nope", "%2e%2e%2f%2e%2e", "a%00b", "x" * 400):
        body = bodies.get(rest, {}) if method in ("POST", "PATCH") else None

        answer = api.ask(method, f"/api/projects/alpha/chats/{session_id}{rest}", body)

        assert answer.status_code == 404, (method, rest, answer.content)
        assert answer.json()["error"].startswith("Chat not found: ") or "%2f" in session_id
    assert sorted(str(path) for path in alpha.rglob("*")) == before


def test_another_projects_chat_is_not_found(api, chat):
    api.post("/api/projects", {"name": "Beta"})

    answer = api.get(chat.replace("/alpha/", "/beta/"))

    assert answer.status_code == 404
    assert answer.json()["error"].endswith("in project beta")


def test_a_request_that_is_sent_again_under_its_key_gets_the_first_answer(api, chat):
    key = {"Idempotency-Key": '"k1"'}
    first = api.post(f"{chat}/messages", {"prompt": "n"}, **key).json()

    again = api.post(f"{chat}/messages", {"prompt": "n"}, **key)
    other = api.post(f"{chat}/messages", {"prompt": "m"}, **key)

    assert again.status_code == 202
    assert again.json() == first | {"repeated": True}
    assert (other.status_code, other.json()["code"]) == (409, "key_reused")
    started = [api.post("/api/projects/alpha/chats", {"prompt": "n"}, **key) for _ in range(2)]
    assert [answer.status_code for answer in started] == [201, 201]
    assert started[1].json() == started[0].json() | {"repeated": True}


def test_the_description_names_the_key_of_what_can_be_sent_again(api):
    paths = api.get("/api/schema").json()["paths"]

    keyed = {
        path
        for path, methods in paths.items()
        for one in methods.values()
        if any(each["name"] == "Idempotency-Key" for each in one.get("parameters", ()))
    }
    assert keyed == {
        "/api/projects/{slug}/chats",
        "/api/projects/{slug}/chats/{session_id}/messages",
    }
