"""Threads and comments over HTTP: create, reply, resolve, edit, delete."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.described import Api
from tests.review.api.served import Project, Served
from tests.review.places import put

OWN = "Only your own comments can be edited or deleted"


def test_a_thread_on_a_range_stands_where_it_was_put(api: Api, pay: Project):
    place = {"path": "src/pay.py", "side": "RIGHT", "line": 6, "start_line": 5}

    made = api.post(pay.c(0, "/threads"), {"body": " Why three? \r\n", **place})

    thread = made.json()
    assert made.status_code == 201
    assert re.fullmatch("t-[0-9a-z]{8}", thread["id"])
    assert thread | place == thread
    assert (thread["placement"], thread["outdated"], thread["resolved"]) == ("exact", False, False)
    assert thread["anchor_text"].startswith("    for attempt in range(3):\n")
    (comment,) = thread["comments"]
    assert (comment["body"], comment["author"], comment["own"]) == ("Why three?", "ada", True)
    assert comment["author_name"] == "Ada"
    assert api.get(pay.c(0, "/review")).json()["threads"] == [thread]


def test_a_thread_without_a_path_is_a_general_one(api: Api, pay: Project):
    thread = api.post(pay.c(0, "/threads"), {"body": "Nice", "author": "bot"}).json()

    assert (thread["placement"], thread["path"], thread["line"]) == ("general", None, None)
    assert (thread["author"], thread["comments"][0]["own"]) == ("bot", False)


def test_a_whole_conversation(api: Api, pay: Project):
    tid = api.post(pay.c(0, "/threads"), {"body": "One"}).json()["id"]
    thread = pay.c(0, f"/threads/{tid}")

    reply = api.post(f"{thread}/comments", {"body": "Two"})
    resolved = api.patch(thread, {"resolved": True}).json()
    edited = api.patch(f"{thread}/comments/{reply.json()['id']}", {"body": "Zwei"}).json()
    first = resolved["comments"][0]["id"]
    deleted = api.delete(f"{thread}/comments/{first}").json()
    last = api.delete(f"{thread}/comments/{reply.json()['id']}").json()

    assert (reply.status_code, reply.json()["thread_id"]) == (201, tid)
    assert (resolved["resolved"], resolved["resolved_by"]) == (True, "ada")
    assert resolved["resolved_by_name"] == "Ada"
    assert (edited["body"], edited["updated_at"] is not None) == ("Zwei", True)
    assert (deleted["ok"], deleted["deleted"]) == (True, first)
    assert [one["body"] for one in deleted["thread"]["comments"]] == ["Zwei"]
    assert (last["ok"], last["thread"]) == (True, None)
    assert api.get(pay.c(0, "/review")).json()["threads"] == []


def test_progress_counts_conversations(api: Api, pay: Project):
    tid = api.post(pay.c(0, "/threads"), {"body": "One"}).json()["id"]
    api.post(pay.c(0, "/threads"), {"body": "Two"})
    api.patch(pay.c(0, f"/threads/{tid}"), {"resolved": True})

    (repo,) = api.get(pay.p).json()["repos"]
    commit = repo["commits"][0]

    assert commit["progress"] == {"threads": 2, "resolved": 1, "files": 1, "viewed": 0}
    assert commit["unresolved"] == 1
    assert api.get(pay.c()).json()["progress"] == commit["progress"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, '"body" is required'),
        ({"body": ""}, '"body" is required'),
        ({"body": " \n"}, '"body" is required'),
        ({"body": 5}, '"body" must be a string'),
        ({"body": "x" * 65_537}, '"body" must be at most 65,536 characters'),
        ({"body": "x", "line": 4}, '"line" needs "path"'),
        ({"body": "x", "side": "LEFT"}, '"side" needs "path"'),
        ({"body": "x", "path": "src/pay.py", "line": "4"}, '"line" must be a whole number'),
        *(
            (
                {"body": "x", "path": "src/pay.py", "line": line},
                '"line" must be between 1 and 8 for src/pay.py',
            )
            for line in (0, 240)
        ),
        (
            {"body": "x", "path": "src/pay.py", "line": 3, "start_line": 4},
            '"start_line" must not be after "line"',
        ),
        ({"body": "x", "path": "src/pay.py", "side": "UP"}, '"side" must be LEFT or RIGHT'),
        ({"body": "x", "path": "src/x.py"}, "No such file in this commit: src/x.py"),
        ({"body": "x", "path": "../../etc/passwd"}, "No such file in this commit:"),
        ({"body": "x", "author": ""}, '"author" must be 1 to 128 printable characters'),
    ],
)
def test_a_bad_thread_is_refused_and_nothing_is_written(api: Api, pay: Project, body, text: str):
    before = pay.tree()

    answer = api.post(pay.c(0, "/threads"), body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["error"].startswith(text)
    assert pay.tree() == before


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "Body is not valid JSON"),
        (b"{", "Body is not valid JSON"),
        (b'{"body": NaN}', "Body is not valid JSON"),
        (b'{"body": 1e999}', "Body is not valid JSON"),
        (b'{"body": ' + b"[" * 65 + b"]" * 65 + b"}", "Body is not valid JSON"),
        (b"\xff", "Body is not valid JSON"),
        (b'{"body": "\\ud800"}', "Body is not valid JSON"),
        (b"[]", "Body must be a JSON object"),
        (b"null", "Body must be a JSON object"),
    ],
)
def test_a_body_is_looked_at_before_what_it_is_for(api: Api, pay: Project, content, text: str):
    for path in (pay.c(0, "/threads"), "/api/projects/nope/repos/x/commits/x/threads"):
        answer = api.ask(
            "POST", path, content=content, headers={"Content-Type": "application/json"}
        )

        assert (answer.status_code, answer.json()) == (400, {"error": text, "code": "bad_json"})


def test_what_is_not_there_comes_before_what_is_wrong(api: Api, pay: Project):
    tid = api.post(pay.c(0, "/threads"), {"body": "x"}).json()["id"]
    threads = pay.c(0, "/threads")

    answers = [
        api.post(f"{threads}/t-none/comments", {"body": ""}),
        api.patch(f"{threads}/t-none", {"resolved": 5}),
        api.patch(f"{threads}/{tid}/comments/c-none", {"body": ""}),
        api.delete(f"{threads}/{tid}/comments/c-none"),
        api.delete(f"{threads}/t-none/comments/c-none"),
    ]

    assert [(one.status_code, one.json()["error"]) for one in answers] == [
        (404, "No such thread"),
        (404, "No such thread"),
        (404, "No such comment"),
        (404, "No such comment"),
        (404, "No such thread"),
    ]


def test_resolved_is_a_boolean(api: Api, pay: Project):
    tid = api.post(pay.c(0, "/threads"), {"body": "x"}).json()["id"]

    for body in ({}, {"resolved": None}, {"resolved": "true"}, {"resolved": 1}):
        answer = api.patch(pay.c(0, f"/threads/{tid}"), body)

        assert (answer.status_code, answer.json()["error"]) == (
            400,
            '"resolved" must be true or false',
        )


@pytest.mark.parametrize("draft", [False, True])
def test_a_text_that_another_window_changed_is_not_replaced_unseen(
    api: Api, pay: Project, draft: bool
):
    thread = api.post(pay.c(0, "/threads"), {"body": "One", "draft": draft}).json()
    comment = f"/threads/{thread['id']}/comments/{thread['comments'][0]['id']}"
    at = pay.c(0, f"/drafts/{thread['id']}" if draft else comment)
    first = api.patch(at, {"body": "Two", "was": "One"})

    late = api.patch(at, {"body": "Three", "was": "One"})

    assert first.status_code == 200
    assert (late.status_code, late.json()["code"]) == (409, "changed")
    same = api.patch(at, {"body": "Two", "was": "Two"}).json()
    assert (same["comments"][0] if draft else same)["body"] == "Two"
    assert api.patch(at, {"body": "Three"}).status_code == 200


def test_only_own_comments_are_edited_and_deleted(api: Api, pay: Project):
    threads = [
        api.post(pay.c(0, "/threads"), {"body": "x", "author": author}).json()
        for author in ("agent", "ADA", "ada")
    ]
    text = yaml.safe_load(pay.review().read_text())
    del text["threads"][2]["comments"][0]["author"]
    put(pay.review(), yaml.safe_dump(text).encode())
    before = pay.tree()

    for thread in threads:
        comment = pay.c(0, f"/threads/{thread['id']}/comments/{thread['comments'][0]['id']}")
        for answer in (api.patch(comment, {"body": "y"}), api.delete(comment)):
            assert (answer.status_code, answer.json()) == (403, {"error": OWN, "code": "not_own"})
    assert pay.tree() == before


def test_a_broken_review_file_is_shown_and_left_alone(api: Api, pay: Project):
    tid = api.post(pay.c(0, "/threads"), {"body": "x"}).json()["id"]
    api.get(pay.c(0, "/review"))
    put(pay.review(), pay.review().read_bytes() + b"<<<<<<< HEAD\n")
    before = pay.tree()

    shown = api.get(pay.c(0, "/review")).json()
    refused = api.post(pay.c(0, f"/threads/{tid}/comments"), {"body": "y"})

    assert re.match(r"line \d+, column \d+: ", shown["parse_error"])
    assert [thread["id"] for thread in shown["threads"]] == [tid]
    assert refused.status_code == 409
    assert re.fullmatch(
        rf"reviews/api/{pay.shas[0]}.yaml is not valid YAML \(line \d+, column \d+\). "
        "Fix the file by hand; nothing was changed.",
        refused.json()["error"],
    )
    assert pay.tree() == before


def test_a_file_of_a_newer_version_is_not_written(api: Api, pay: Project):
    put(pay.review(), b"version: 2\nthreads: []\n")

    answer = api.post(pay.c(0, "/threads"), {"body": "x"})

    text = f"reviews/api/{pay.shas[0]}.yaml was written by a newer version; nothing was changed."
    assert (answer.status_code, answer.json()) == (409, {"error": text, "code": "newer_file"})


def test_comments_are_shown_as_html_for_the_mount_that_asks(served, pay: Project):
    served.api.post(pay.c(0, "/threads"), {"body": f"**x** ![a]({pay.p}/assets/{'0' * 64}.png)"})

    def html(api: Api) -> str:
        (thread,) = api.get(pay.c(0, "/review?html=1")).json()["threads"]
        return str(thread["comments"][0]["body_html"])

    assert "<strong>x</strong>" in html(served.api)
    assert f'src="/review{pay.p}/assets/' in html(served.mounted)
    plain = served.api.get(pay.c(0, "/review?html=0")).json()["threads"][0]["comments"][0]
    assert "body_html" not in plain


def test_a_commit_brings_as_many_threads_as_html_as_are_asked_for_from_its_top(
    served: Served, pay: Project
):
    place = {"path": "src/pay.py"}
    for body, where in (("low", {"line": 6}), ("high", {"line": 5}), ("above", {})):
        served.api.post(pay.c(0, "/threads"), {"body": f"*{body}*", **(where and place | where)})

    def html(query: str, api: Api = served.api) -> list[str]:
        threads = api.get(pay.c(0, query)).json()["review"]["threads"]
        comments = [comment for thread in threads for comment in thread["comments"]]
        return [one["body"] for one in comments if "body_html" in one]

    assert html("") == []
    assert html("?rendered=1") == ["*above*"]
    assert html("?rendered=2&contents=1") == ["*high*", "*above*"]
    assert html("?rendered=40") == ["*low*", "*high*", "*above*"]
    whole = served.mounted.get(pay.c(0, "?rendered=3")).json()["review"]
    assert whole == served.mounted.get(pay.c(0, "/review?html=1")).json()
    for wrong in ("0", "-1", "many"):
        assert served.api.get(pay.c(0, f"?rendered={wrong}")).status_code == 400


def test_threads_are_copied_as_markdown(api: Api, pay: Project):
    place = {"path": "src/pay.py", "line": 6, "start_line": 5}
    open_one = api.post(pay.c(0, "/threads"), {"body": "Why?\n# three", **place}).json()
    done = api.post(pay.c(0, "/threads"), {"body": "Done"}).json()
    api.patch(pay.c(0, f"/threads/{done['id']}"), {"resolved": True})

    whole = api.get(pay.c(0, "/threads.md"))
    text = api.get(pay.c(0, "/threads.md?unresolved=1")).text

    assert whole.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert f"Thread `{done['id']}`, resolved" in whole.text
    assert done["id"] not in text
    assert "## src/pay.py:5-6\n" in text
    assert f"Thread `{open_one['id']}`, open" in text
    assert "```\n    for attempt in range(3):\n" in text
    assert "> Why?\n> # three\n" in text


def test_copied_threads_name_what_would_turn_their_order(api: Api, pay: Project):
    api.post(pay.c(0, "/threads"), {"body": "Why \u202eso?"})

    for path in (pay.c(0, "/threads.md"), f"{pay.p}/threads.md"):
        assert "> Why «U+202E»so?\n" in api.get(path).text


def test_the_threads_of_one_file_or_one_thread_are_copied_alone(api: Api, pay: Project):
    place = {"path": "src/pay.py", "line": 6}
    here = api.post(pay.c(0, "/threads"), {"body": "Here", **place}).json()["id"]
    api.post(pay.c(0, "/threads"), {"body": "In general"})

    of_file = api.get(pay.c(0, "/threads.md?path=src/pay.py")).text
    alone = api.get(pay.c(0, f"/threads.md?thread={here}")).text
    missing = api.get(pay.c(0, "/threads.md?thread=t-nothere"))

    assert "> Here" in of_file
    assert of_file == alone
    assert "In general" not in alone
    assert (missing.status_code, missing.json()["error"]) == (404, "No such thread")
    assert api.get(pay.c(0, "/threads.md?path=none.py")).text.endswith("\n\nNo threads.\n")
