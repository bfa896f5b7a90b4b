"""Apply, fold and undo over HTTP and MCP, and waiting for what a person writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.described import Api
from tests.review.api.served import Project, Served
from tests.review.api.test_mcp import call

SUGGESTION = "Rather:\n```suggestion\n    for attempt in range(5):\n```"


@pytest.fixture
def asked(api: Api, pay: Project) -> str:
    """A thread with a suggestion on the lowest commit; its id."""
    pay.repo.checkout("feature")
    sent = {"body": SUGGESTION, "path": "src/pay.py", "line": 5}
    return str(api.post(pay.c(0, "/threads"), sent).json()["id"])


def stacks(api: Api, pay: Project) -> Any:
    return api.get(pay.p).json()["repos"][0]["stacks"]


def test_a_suggestion_is_applied_folded_and_taken_back(api: Api, pay: Project, asked: str):
    tip = pay.repo.sha("feature")

    made = api.post(pay.c(0, "/apply"), {"suggestions": [{"thread": asked}]})

    assert made.status_code == 201
    assert made.json()["subject"] == "fixup! Try again"
    assert api.get(pay.c(0, "/review")).json()["threads"][0]["resolved_by"] == "ada"
    assert [stack.get("fixups") for stack in stacks(api, pay)] == [1, None]

    fixed = pay.repo.sha("feature")
    told = api.post(f"{pay.p}/repos/api/stacks/1/fold", {}).json()

    assert told["folded"] == 1
    assert [one["before"] for one in told["branches"]] == [fixed]
    assert "range(5)" in pay.repo.git("show", "feature~2:src/pay.py")
    assert api.get(pay.p).json()["repos"][0]["folded"]["id"] == told["id"]

    back = api.post(f"{pay.p}/repos/api/fold/undo", {"id": told["id"]})

    assert back.status_code == 200
    assert pay.repo.sha("feature") == fixed
    assert pay.repo.sha("feature~1") == tip
    again = api.post(f"{pay.p}/repos/api/fold/undo", {"id": told["id"]})
    assert (again.status_code, again.json()["code"]) == (409, "changed")


@pytest.mark.parametrize(
    ("below", "body", "status", "code"),
    [
        ("/repos/api/stacks/1/fold", {}, 409, "nothing_to_fold"),
        ("/repos/api/stacks/9/fold", {}, 404, "not_found"),
        ("/repos/api/stacks/x/fold", {}, 404, "not_found"),
        ("/repos/none/stacks/1/fold", {}, 404, "not_found"),
        ("/repos/api/fold/undo", {}, 400, "invalid"),
        ("/repos/api/fold/undo", {"id": "x"}, 404, "not_found"),
        ("/repos/api/commits/{sha}/apply", {}, 400, "invalid"),
        ("/repos/api/commits/{sha}/apply", {"suggestions": [{"thread": "t"}]}, 404, "not_found"),
    ],
)
def test_what_cannot_be_done_is_said(
    api: Api, pay: Project, below: str, body: dict[str, Any], status: int, code: str
):
    answer = api.post(pay.p + below.format(sha=pay.shas[0]), body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_an_agent_applies_folds_and_takes_back(served: Served, pay: Project, asked: str):
    place = {"project": pay.slug, "repo": "api"}

    made = call(
        served.api, "apply_suggestions", **place, sha=pay.shas[0], suggestions=[{"thread": asked}]
    )
    told = call(served.api, "fold", **place, stack=1)
    call(served.api, "undo_fold", **place, id=told["id"])

    assert pay.repo.sha("feature") == made["sha"]
    threads = call(served.api, "list_threads", project=pay.slug)["threads"]
    assert [one["resolved"] for one in threads] == [False]


def test_the_next_unanswered_thread_comes_the_moment_it_is_written(served: Served, pay: Project):
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(
            call, served.api, "wait_for_thread", project=pay.slug, repo="api", wait_seconds=60
        )
        asks = {"body": "Why?", "path": "src/pay.py", "line": 5}
        made = served.api.post(pay.c(0, "/threads"), asks).json()
        found = waiting.result(timeout=20)

    assert found["unanswered"] == 1
    assert (found["thread"]["id"], found["thread"]["sha"]) == (made["id"], pay.shas[0])
    assert found["thread"]["anchor_text"] == "    for attempt in range(3):"


def test_a_thread_is_answered_by_an_agent_and_unanswered_again_by_a_person(
    served: Served, pay: Project
):
    def unanswered(**more: Any) -> str | None:
        found = call(served.api, "wait_for_thread", project=pay.slug, wait_seconds=0, **more)[
            "thread"
        ]
        return found and str(found["id"])

    thread = served.api.post(pay.c(0, "/threads"), {"body": "Why?"}).json()["id"]
    assert unanswered() == thread
    assert unanswered(skip=[thread]) is None

    at = {"project": pay.slug, "repo": "api", "sha": pay.shas[0], "thread": thread}
    said = call(served.api, "reply", **at, body="Because.", author="claude")
    assert said["author"] == "agent:claude"
    assert unanswered() is None

    served.api.post(pay.c(0, f"/threads/{thread}/comments"), {"body": "Really?"})
    assert unanswered() == thread
    served.api.patch(pay.c(0, f"/threads/{thread}"), {"resolved": True})
    assert unanswered() is None


@pytest.mark.parametrize("author", ["ada", "Ada", " ada "])
def test_no_agent_signs_as_the_person(served: Served, pay: Project, author: str):
    at = {"project": pay.slug, "repo": "api", "sha": pay.shas[0]}

    made = call(served.api, "add_thread", **at, body="Mine?", author=author)

    assert made["author"] == f"agent:{author.strip()}"
    assert made["comments"][0]["own"] is False


def test_waiting_for_what_is_not_there_is_refused_at_once(served: Served, pay: Project):
    gone = call(served.api, "wait_for_thread", project="nope")
    none = call(served.api, "wait_for_thread", project=pay.slug, repo="nope")

    assert (gone["status"], none["status"]) == (404, 404)


def test_a_thread_put_into_a_file_by_hand_wakes_who_waits(
    served: Served, pay: Project, tmp_path: Path
):
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(call, served.api, "wait_for_thread", project=pay.slug)
        file = pay.review(1)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("threads: [{comments: [{author: ada, body: By hand?}]}]\n")

        assert waiting.result(timeout=20)["thread"]["comments"][0]["body"] == "By hand?"
