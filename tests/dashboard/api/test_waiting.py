"""Who waits for a service holds a thread: never so many that nothing else is answered."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from dashboard.operations.common import MOST
from tests.service import until

SLOW = """
health: {{type: none}}
service:
  command: until [ -e {go} ]; do sleep 0.05; done; echo ready; exec sleep 600
  ready: {{log: ready, timeout: 60s}}
"""
STARTS = 40


@pytest.mark.slow
def test_forty_slow_starts_leave_threads_for_everything_else(served):
    go = served.tmp / "go"
    slugs = [f"slow-{number}" for number in range(STARTS)]
    for slug in slugs:
        served.declare(slug, SLOW.format(go=go))
    until(lambda: served.app(slugs[-1]), what="declared")
    answers: list[httpx.Response] = []

    def start(slug: str) -> None:
        url = f"{served.dashboard_url}/api/apps/{slug}/service/start"
        answers.append(httpx.post(url, json={}, timeout=60, trust_env=False))

    with ThreadPoolExecutor(STARTS) as pool:
        asked = [pool.submit(start, slug) for slug in slugs]
        try:
            until(lambda: len(answers) >= STARTS - MOST, seconds=30, what="the refusals")
            begun = time.monotonic()
            assert served.api.get("/api/state").status_code == 200
            assert time.monotonic() - begun < 3
        finally:
            go.touch()
    for one in asked:
        one.result()

    assert Counter(answer.status_code for answer in answers) == {200: MOST, 409: STARTS - MOST}
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {one["code"] for one in refused} == {"busy"}
    assert refused[0]["error"] == "16 actions on services are under way; try again soon."
    assert all(answer.json()["ok"] for answer in answers if answer.status_code == 200)
    assert served.act(slugs[0], "start")["ok"], "there is room again"
    for slug in slugs:
        if served.app(slug)["service"]["status"] == "running":
            served.act(slug, "stop")
        served.file(slug).unlink()
