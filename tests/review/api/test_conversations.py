"""The threads of a whole project over HTTP: where they stand, the stranded, the unreadable."""

from __future__ import annotations

from typing import Any

import pytest

from tests.described import Api
from tests.review.api.served import Project, Served
from tests.review.places import put


def ids(found: dict[str, Any], name: str = "threads") -> list[str]:
    return [thread["id"] for thread in found[name]]


def test_threads_of_all_commits_come_in_the_order_of_reading(api: Api, pay: Project):
    last = api.post(pay.c(2, "/threads"), {"body": "Last"}).json()["id"]
    place = {"path": "src/pay.py", "line": 6}
    first = api.post(pay.c(0, "/threads"), {"body": "*First*", **place}).json()["id"]

    found = api.get(f"{pay.p}/threads?html=1").json()

    assert ids(found) == [first, last]
    thread = found["threads"][0]
    assert (thread["repo"], thread["sha"], thread["short"]) == ("api", pay.shas[0], pay.shas[0][:7])
    assert (thread["title"], thread["path"], thread["line"]) == ("Try again", "src/pay.py", 6)
    assert thread["comments"][0]["body_html"] == "<p><em>First</em></p>\n"
    assert "body_html" not in api.get(f"{pay.p}/threads").json()["threads"][0]["comments"][0]


def test_only_open_threads_are_listed_and_copied_when_asked(api: Api, pay: Project):
    api.post(pay.c(0, "/threads"), {"body": "Open"})
    done = api.post(pay.c(1, "/threads"), {"body": "Done"}).json()["id"]
    api.patch(pay.c(1, f"/threads/{done}"), {"resolved": True})

    listed = api.get(f"{pay.p}/threads?unresolved=1").json()["threads"]
    copied = api.get(f"{pay.p}/threads.md?unresolved=1")

    assert [thread["resolved"] for thread in listed] == [False]
    assert copied.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert "> Open" in copied.text
    assert "Add lines" not in copied.text
    assert "> Done" in api.get(f"{pay.p}/threads.md").text


def test_the_first_threads_alone_come_with_the_number_of_the_others(api: Api, pay: Project):
    said = [api.post(pay.c(n, "/threads"), {"body": f"{n}"}).json()["id"] for n in (0, 0, 1, 2, 2)]
    api.patch(pay.c(1, f"/threads/{said[2]}"), {"resolved": True})

    def first(query: str) -> tuple[list[str], int]:
        found = api.get(f"{pay.p}/threads?{query}").json()
        return ids(found), found["more"]

    assert first("limit=1") == (said[:1], 4)
    assert first("limit=3") == (said[:3], 2)
    assert first("limit=3&unresolved=1") == ([*said[:2], said[3]], 1)
    assert first("limit=9") == (said, 0)


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", "9" * 30, "\u0663"])
def test_a_limit_that_is_none_is_refused_by_its_name(api: Api, pay: Project, limit: str):
    answer = api.get(f"{pay.p}/threads?limit={limit}")

    assert (answer.status_code, answer.json()["error"]) == (
        400, '"limit" must be a whole number, 1 at least',
    )  # fmt: skip


def test_a_project_without_reviews_has_no_threads(api: Api, pay: Project):
    nothing: dict[str, Any] = {"threads": [], "more": 0, "orphaned": [], "unreadable": []}

    assert api.get(f"{pay.p}/threads").json() == nothing
    assert api.get(f"{pay.p}/threads.md").text == "No threads.\n"
    assert api.get("/api/projects/nope/threads").status_code == 404


def test_a_review_without_a_commit_can_be_read(api: Api, pay: Project):
    gone = "0123456789abcdef0123456789abcdef01234567"
    put(
        pay.review(gone),
        b'threads:\n  - {id: a, path: x.py, line: 3, comments: [{author: x, body: "**Why**"}]}\n',
    )

    (found,) = api.get(f"{pay.p}/threads?html=1").json()["orphaned"]

    assert (found["repo"], found["sha"], found["file"]) == ("api", gone, str(pay.review(gone)))
    (thread,) = found["threads"]
    assert (thread["placement"], thread["outdated"], thread["line"]) == ("none", True, None)
    assert (thread["original_path"], thread["original_line"]) == ("x.py", 3)
    assert thread["comments"][0]["body_html"] == "<p><strong>Why</strong></p>\n"
    (listed,) = api.get(pay.p).json()["repos"][0]["orphaned"]
    assert (listed["threads"], listed["unresolved"]) == (1, 1)


@pytest.mark.parametrize("kind", ["reviews", "prs"])
def test_a_file_that_is_not_valid_is_named_with_its_line(api: Api, pay: Project, kind: str):
    put(pay.review(1, kind), b"version: 1\nthreads: [\n")

    (found,) = api.get(f"{pay.p}/threads").json()["unreadable"]

    assert (found["repo"], found["sha"]) == ("api", pay.shas[1])
    assert found["file"] == str(pay.review(1, kind))
    assert found["error"].startswith("line 3, column 1: ")


def test_the_tag_of_the_threads_changes_with_a_comment(api: Api, pay: Project):
    before = api.get(f"{pay.p}/threads").headers["ETag"]

    api.post(pay.c(0, "/threads"), {"body": "New"})

    assert api.get(f"{pay.p}/threads").headers["ETag"] != before


def test_the_intro_and_the_notes_come_rendered_when_asked(served: Served, pay: Project):
    image = f"/api/projects/{pay.slug}/assets/{'a' * 64}.png"
    served.api.put(f"{pay.p}/description", {"description": f"![x]({image}) <b>"})
    served.api.put(f"{pay.p}/repos/api/stacks/1/description", {"description": "*Read*"})

    shown = served.mounted.get(f"{pay.p}?html=1").json()

    assert f'src="/review{image}"' in shown["description_html"]
    assert "&lt;b&gt;" in shown["description_html"]
    notes = [stack["description_html"] for stack in shown["repos"][0]["stacks"]]
    assert notes == ["<p><em>Read</em></p>\n", ""]
    assert "description_html" not in served.mounted.get(pay.p).json()


def test_a_commit_of_the_list_names_its_parents(api: Api, pay: Project):
    commits = api.get(pay.p).json()["repos"][0]["commits"]

    assert [one["parents"] for one in commits[1:]] == [[sha] for sha in pay.shas[:2]]
