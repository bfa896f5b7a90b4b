"""Many who write at once over HTTP, both parts on one file, and a kill."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from config.storage import yamlio
from tests.promises.rings import ring
from tests.review.api.crowd import all_reply, at_once, stored
from tests.review.api.served import Project, Served
from tests.review.places import put
from tests.service import Service

TIMES = ring(fast=30, slow=100)  # of each part
FOREIGN = b"""\
%YAML 1.2
--- # of the workspace
'name' :   "Pay"   # odd quotes
triggers:
    nightly: {trigger: {type: schedule, cron: '0 9 * * *'}, enabled: no}   # why

    weekly:
        run:
            prompt: |
                one
                  two # text
        trigger:   {type: "schedule", interval: 7d}
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_eight_clients_write_many_replies_each(served: Served, pay: Project):
    all_reply(served, pay, replies=ring(fast=15, slow=50))


@pytest.mark.slow
def test_both_parts_write_one_project_file_many_times_and_lose_nothing(
    served: Served, pay: Project
):
    put(pay.file, FOREIGN)

    def review(number: int, client: httpx.Client) -> None:
        sent = {"name": f"repo-{number}", "path": str(pay.repo.path)}
        done = (
            client.put(f"{pay.p}/description", json={"description": f"take {number}\nof many"})
            if number % 2
            else client.post(f"{pay.p}/repos", json=sent)
        )
        assert done.status_code in (200, 201), done.text

    def workspace(number: int, _: httpx.Client) -> None:
        trigger = {"trigger": {"type": "schedule", "interval": "7d"}, "run": {"prompt": "x"}}
        url = f"{pay.p}/triggers/theirs-{number}"
        done = served.service.http.put(url, json=trigger | {"enabled": False})
        assert done.status_code in (200, 201), done.text

    def write(who: int, client: httpx.Client) -> None:
        for number in range(TIMES):
            (review, workspace)[who](number, client)

    at_once(served, write, 2)

    text = pay.file.read_bytes()
    found = yamlio.parse(text).texts()
    added = iter(text.splitlines(keepends=True))
    assert all(line in added for line in FOREIGN.splitlines(keepends=True))  # in this order
    assert found["triggers"].keys() == {"nightly", "weekly", *(f"theirs-{n}" for n in range(TIMES))}
    assert [entry["name"] for entry in found["repos"]] == [f"repo-{n}" for n in range(0, TIMES, 2)]
    assert found["description"] == f"take {TIMES - 1}\nof many"
    assert list(pay.file.parent.glob("*.conflict-*")) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_service_killed_under_eight_writers_has_kept_all_it_acknowledged(tmp_path: Path):
    service = Service(tmp_path, scheduler=False).start()
    served = Served(service)
    pay = served.project(tmp_path)
    tid = served.api.post(pay.c(0, "/threads"), {"body": "first"}).json()["id"]
    told: set[str] = set()
    began = threading.Semaphore(0)

    def reply_until_it_dies(_: int, client: httpx.Client) -> None:
        try:
            while True:
                sent = {"body": "a reply\nof two lines"}
                answer = client.post(pay.c(0, f"/threads/{tid}/comments"), json=sent)
                told.add(answer.json()["id"])
                began.release()
        except httpx.TransportError:
            pass

    for _killed in range(ring(fast=1, slow=20)):
        crowd = threading.Thread(target=at_once, args=(served, reply_until_it_dies, 8))
        crowd.start()
        for _ in range(20):
            assert began.acquire(timeout=30)
        service.kill9()
        crowd.join()
        service.start()

        (thread,) = served.api.get(pay.c(0, "/review")).json()["threads"]
        found = {one["id"] for one in thread["comments"]}
        assert told <= found
        assert len(found - told) <= 1 + 8  # the first, and those killed before they were told
        assert len({one["id"] for one in stored(pay)["threads"][0]["comments"]}) == len(found)
        assert list(service.projects.rglob(".svc-tmp-*")) == []
        told |= found
    served.close()
    service.stop()
    service.http.close()
