"""Answers are kept as they were sent; none is sent once more after something it shows changed."""

from __future__ import annotations

from tests.described import Api
from tests.review.api.served import Project


def test_what_was_kept_is_the_same_answer(api: Api, pay: Project):
    for path in (pay.p, pay.c(), pay.c(0, "/review"), f"{pay.p}/stack.svg", f"{pay.p}/stack.png"):
        first, kept = api.get(path), api.get(path)

        assert kept.content == first.content
        assert kept.headers["Content-Type"] == first.headers["Content-Type"]


def test_an_answer_that_was_kept_is_not_sent_after_a_change(api: Api, pay: Project):
    paths = (pay.p, pay.c(), pay.c(0, "/review"), pay.c(0, "/pr"))
    for path in paths * 2:
        api.get(path)

    api.post(pay.c(0, "/threads"), {"body": "Why?"})
    api.put(pay.c(0, "/pr"), {"title": "Retried"})
    project, commit, review, pr = (api.get(path).json() for path in paths)

    assert project["repos"][0]["commits"][0]["unresolved"] == 1
    assert [len(one["threads"]) for one in (commit["review"], review)] == [1, 1]
    assert commit["pr"]["title"] == pr["title"] == "Retried"
    pay.repo.commit({"x": "1\n"}, "One more")
    assert len(api.get(pay.p).json()["repos"][0]["commits"]) == len(pay.shas) + 1


def test_a_change_by_hand_is_seen_in_the_next_answer(api: Api, pay: Project):
    path = pay.c(0, "/review")
    for number in range(5):
        pay.review().parent.mkdir(parents=True, exist_ok=True)
        pay.review().write_text(f"threads: [{{comments: [{{author: x, body: b{number}}}]}}]\n")

        for _ in range(2):
            (thread,) = api.get(path).json()["threads"]
            assert thread["comments"][0]["body"] == f"b{number}"
