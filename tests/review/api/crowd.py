"""Clients that all write at once over HTTP, each over a connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from config.storage import yamlio
from tests.review.api.served import Project, Served

CLIENTS = 8


def at_once(served: Served, act: Callable[[int, httpx.Client], object], clients: int) -> None:
    """Run `act(number, client)` for each, every other one under /review; all must succeed."""
    bases = (served.api.base, served.mounted.base)

    def one(number: int) -> None:
        base = bases[number % 2]
        with httpx.Client(base_url=base, timeout=60, trust_env=False) as client:
            act(number, client)

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(one, range(clients)))


def all_reply(served: Served, pay: Project, *, replies: int) -> None:
    """8 clients reply so often to one thread; every reply is there, once, in valid YAML."""
    tid = served.api.post(pay.c(0, "/threads"), {"body": "first"}).json()["id"]
    told: dict[str, str] = {}

    def reply(number: int, client: httpx.Client) -> None:
        for n in range(replies):
            body = f"reply {n} of {number}"
            answer = client.post(pay.c(0, f"/threads/{tid}/comments"), json={"body": body})
            assert answer.status_code == 201, answer.text
            told[answer.json()["id"]] = body

    at_once(served, reply, CLIENTS)

    (thread,) = served.api.get(pay.c(0, "/review")).json()["threads"]
    assert len(told) == CLIENTS * replies
    assert {one["id"]: one["body"] for one in thread["comments"][1:]} == told
    assert len(thread["comments"]) == 1 + len(told)
    assert {one["id"]: one["body"] for one in stored(pay)["threads"][0]["comments"][1:]} == told


def stored(pay: Project) -> dict[str, Any]:
    """The review file of the first commit, which must be valid."""
    found: dict[str, Any] = yamlio.parse(pay.review().read_bytes(), nodes=100_000).texts()
    return found
