"""Threads and viewed marks on what is not committed, over HTTP."""

from __future__ import annotations

from typing import Any

from tests.described import Api
from tests.review.api.served import RETRY, Project, Served

AT = "/repos/api/commits/WORKTREE"


def opened(api: Api, pay: Project, **place: Any) -> dict[str, Any]:
    pay.repo.config("user.name", "Ada")
    pay.repo.config("user.email", "ada@example.org")
    pay.repo.write({"src/pay.py": f"{RETRY}one more\n"})
    line = len(f"{RETRY}one more\n".splitlines())
    body = {"body": "Why?", "path": "src/pay.py", "side": "RIGHT", "line": line, **place}
    answer = api.post(f"{pay.p}{AT}/threads", body)
    assert answer.status_code == 201, answer.json()
    made: dict[str, Any] = answer.json()
    return made


def review(api: Api, pay: Project, at: str) -> dict[str, Any]:
    answer = api.get(f"{at}/review")
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def test_a_thread_is_kept_in_a_file_of_the_work_tree_and_told_by_an_event(
    api: Api, pay: Project, served: Served
):
    with served.listening() as events:
        made = opened(api, pay)
        events.until({"type": "review", "project": pay.slug, "repo": "api", "sha": "WORKTREE"})
    assert (made["placement"], made["anchor_text"]) == ("exact", "one more")
    found = review(api, pay, f"{pay.p}{AT}")
    assert found["target_file"].endswith("/reviews/api/WORKTREE.yaml")
    assert [one["id"] for one in found["threads"]] == [made["id"]]
    text = api.get(f"{pay.p}{AT}/threads.md").text
    assert text.startswith("# Not committed\n\nOf repo api\n\n## src/pay.py:")
    (listed,) = api.get(f"{pay.p}/threads").json()["threads"]
    assert (listed["sha"], listed["short"], listed["title"]) == (
        "WORKTREE", "WORKTREE", "Not committed",
    )  # fmt: skip


def test_the_list_of_the_project_follows_the_lines_of_the_work_tree(api: Api, pay: Project):
    line = opened(api, pay)["line"]
    pay.repo.write({"src/pay.py": f"first\n{RETRY}one more\n"})

    (listed,) = api.get(f"{pay.p}/threads").json()["threads"]

    assert (listed["line"], listed["placement"]) == (line + 1, "moved")


def test_a_line_that_was_seen_at_a_look_is_commented_only_while_its_file_is_as_it_was_then(
    api: Api, pay: Project
):
    made = opened(api, pay)
    at = f"{pay.p}{AT}"
    look = api.get(f"{at}?contents=none").json()["look"]
    body = {"body": "And this?", "path": "src/pay.py", "side": "RIGHT", "line": made["line"]}
    body["look"] = look
    pay.repo.write({"elsewhere.txt": "of no matter\n"})
    assert api.post(f"{at}/threads", body).status_code == 201
    before = review(api, pay, at)["threads"]

    pay.repo.write({"src/pay.py": f"first\n{RETRY}one more\n"})
    late = api.post(f"{at}/threads", body)
    mark = api.put(f"{at}/viewed", {"path": "src/pay.py", "viewed": True, "look": look})

    for answer in (late, mark):
        assert (answer.status_code, answer.json()["code"]) == (409, "changed")
        assert answer.json()["error"] == "src/pay.py has changed since you looked; look again"
    after = review(api, pay, at)
    assert [one["id"] for one in after["threads"]] == [one["id"] for one in before]
    assert after["viewed"] == []


def test_a_line_of_a_file_that_was_discarded_since_the_look_is_not_commented(
    api: Api, pay: Project
):
    before = (pay.repo.path / "src/pay.py").read_text()
    opened(api, pay)
    at = f"{pay.p}{AT}"
    look = api.get(f"{at}?contents=none").json()["look"]
    pay.repo.write({"src/pay.py": before})

    late = api.post(
        f"{at}/threads",
        {"body": "Of a line that is gone", "path": "src/pay.py", "side": "RIGHT", "line": 1}
        | {"look": look},
    )

    assert (late.status_code, late.json()["code"]) == (409, "changed")


def test_a_look_is_refused_where_it_means_nothing(api: Api, pay: Project):
    opened(api, pay)
    body = {"body": "Why?", "look": "0" * 40}
    odd = api.post(f"{pay.p}{AT}/threads", body | {"look": 5})
    commit = api.post(f"{pay.c(pay.repo.git('rev-parse', 'HEAD'))}/threads", body)
    assert (odd.status_code, odd.json()["error"]) == (
        400, '"look" must be the "look" of an answer about WORKTREE',
    )  # fmt: skip
    assert (commit.status_code, commit.json()["error"]) == (
        400, '"look" belongs to WORKTREE; leave it out for a commit',
    )  # fmt: skip


def test_everything_that_is_done_with_a_thread_is_done_by_the_routes_of_a_commit(
    api: Api, pay: Project
):
    made = opened(api, pay)
    at = f"{pay.p}{AT}"
    thread = f"{at}/threads/{made['id']}"
    reply = api.post(f"{thread}/comments", {"body": "And?"})
    assert (reply.status_code, reply.json()["thread_id"]) == (201, made["id"])
    comment = f"{thread}/comments/{reply.json()['id']}"
    assert api.patch(comment, {"body": "And so?"}).json()["body"] == "And so?"
    assert api.delete(comment).json()["thread"]["id"] == made["id"]
    assert api.patch(thread, {"resolved": True}).json()["resolved"]
    marked = api.put(f"{at}/viewed", {"path": "src/pay.py", "viewed": True}).json()
    assert marked["progress"] == {"threads": 1, "resolved": 1, "files": 1, "viewed": 1}

    sha = api.post(f"{at}/commit", {"message": "Once more"}).json()["sha"]

    assert review(api, pay, at)["threads"] == review(api, pay, at)["viewed"] == []
    there = review(api, pay, pay.c(sha))
    assert (there["threads"][0]["id"], there["viewed"]) == (made["id"], ["src/pay.py"])
    late = api.post(f"{thread}/comments", {"body": "Seen from an older page"})
    assert late.status_code == 201
    assert len(review(api, pay, pay.c(sha))["threads"][0]["comments"]) == 2


def test_what_belongs_to_a_commit_alone_is_refused_with_a_sentence(api: Api, pay: Project):
    opened(api, pay)
    at = f"{pay.p}{AT}"
    refused = [
        api.post(f"{at}/threads", {"body": "Later", "draft": True}),
        api.post(f"{at}/verdict", {"verdict": "approve"}),
        api.post(f"{at}/apply", {"suggestions": [{"thread": "t"}]}),
        api.put(f"{at}/pr", {"title": "x"}),
        api.get(f"{at}/versions"),
    ]
    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (404, "not_committed")
    ] * len(refused)
    assert "commit it first" in refused[0].json()["error"]


def test_an_agent_is_asked_about_it_as_about_a_commit(api: Api, pay: Project):
    made = opened(api, pay)
    offer = api.get(f"{pay.p}/ask", params={"repo": "api", "sha": "WORKTREE"}).json()
    assert offer["threads"] == [{"repo": "api", "sha": "WORKTREE", "thread": made["id"]}]
    assert "## Not committed" in offer["message"]
    assert "do not commit them" in offer["message"]
    assert "one more" in offer["message"]
