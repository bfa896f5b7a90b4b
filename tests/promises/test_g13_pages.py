"""G13: a page of another origin changes nothing, on any port: a dev server's page, for one.

Every write of the three parts is sent as a form or a `no-cors` script can send it, by hand and by
a Chromium, from a page of another port of this machine.
"""

from __future__ import annotations

import functools
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, MISSING, launched
from tests.service import Service

PAGE = {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}
BY_FORM = (
    None,
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
)
FILLED = {"slug": "demo", "project": "demo", "name": "nightly-check", "action": "start"}
# what ASGI answers itself
BESIDE = {"review": [("POST", "/mcp"), ("POST", "/api/projects/demo/assets")],
          "dashboard": [("POST", "/mcp")]}  # fmt: skip
# how a script of the page sends it; the last two ask the server first
SCRIPT = """async (routes) => {
  const bodies = [undefined, "x", new URLSearchParams("a=b"), new FormData(),
                  new Blob(["{}"], { type: "application/json" })];
  const sent = [];
  for (const [method, url] of routes) {
    if (method === "POST") {
      for (const body of bodies) sent.push(fetch(url, { method, body, mode: "no-cors" }));
      navigator.sendBeacon(url, "{}");
    }
    const headers = { "Content-Type": "application/json" };
    sent.push(fetch(url, { method, body: "{}", headers }), fetch(url, { method }));
  }
  const done = await Promise.allSettled(sent);
  return done.filter(({ status }) => status === "fulfilled").length;
}"""


def writes(part: str) -> Iterator[tuple[str, str]]:
    """Method and path of every write, from the routes themselves."""

    def walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in patterns:
            route = f"{prefix}{pattern.pattern}"
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            elif isinstance(pattern, URLPattern):
                path = re.sub(r"<str:(\w+)>", lambda found: FILLED.get(found[1], "x"), route)
                for method in getattr(pattern.callback, "actions", None) or ():
                    if method not in ("get", "head"):
                        yield method.upper(), f"/{path}"

    yield from walk(get_resolver(f"config.urls.{part}").url_patterns, "")
    yield from BESIDE.get(part, [])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("pages"), scheduler=False) as running:
        running.http.post("/api/demo").raise_for_status()
        yield running


def everywhere(service: Service) -> list[tuple[str, str]]:
    """Method and address of every write, on the parts' own ports and under their mounts."""
    bases = {
        "main": [service.url],
        "review": [service.review_url, f"{service.url}/review"],
        "dashboard": [service.dashboard_url, f"{service.url}/dashboard"],
    }
    return [
        (method, f"{base}{path}")
        for part, known in bases.items()
        for method, path in writes(part)
        for base in known
    ]


def state(service: Service) -> dict[str, Any]:
    """What a write that passes would change."""
    get = service.http.get
    told = {path: get(path).json() for path in ("/api/projects", "/api/pause", "/api/runs")}
    roots = (service.projects, service.data / "dashboard")
    files = sorted(str(path) for root in roots for path in root.rglob("*") if path.is_file())
    return told | {
        "files": [path for path in files if "/state" not in path and "/.svc-tmp" not in path]
    }


@pytest.mark.promise("G13")
def test_every_write_that_a_page_can_send_unasked_is_refused(served: Service):
    before, passed = state(served), []
    routes = [route for route in everywhere(served) if route[0] != "DELETE"]
    with httpx.Client(trust_env=False, timeout=30) as client:
        for method, url in routes:
            for kind in BY_FORM:
                for body in (b"", b"{}"):
                    headers = PAGE | ({"Content-Type": kind} if kind else {})
                    answer = client.request(method, url, content=body, headers=headers)
                    if answer.status_code != 415:
                        passed.append((method, url, kind, body, answer.status_code))

    assert len(routes) > 70
    assert passed == []
    assert state(served) == before


@pytest.mark.promise("G13")
@pytest.mark.parametrize(
    "header", [{"Origin": "http://localhost:3000"}, {"Sec-Fetch-Site": "same-site"}]
)
def test_either_header_of_a_browser_tells_a_foreign_page(served: Service, header):
    pause = functools.partial(served.http.post, "/api/pause")
    assert pause(headers=header).status_code == 415
    assert pause(headers=header, content=b"{}").status_code == 415
    path = "/api/projects/demo/attachments?name=a.txt"
    assert served.http.post(path, content=b"x", headers=header).status_code == 415
    assert served.http.get("/api/pause").json()["paused"] is None


@pytest.mark.promise("G13")
def test_no_preflight_is_answered_so_that_no_page_sends_json(served: Service):
    ask = {"Access-Control-Request-Headers": "content-type"}
    with httpx.Client(trust_env=False, timeout=30) as client:
        for method, url in everywhere(served):
            headers = PAGE | ask | {"Access-Control-Request-Method": method}
            answer = client.options(url, headers=headers)
            assert answer.status_code == 405, url
            assert not [name for name in answer.headers if name.startswith("access-control")], url


@pytest.mark.promise("G13")
def test_the_service_s_own_pages_programs_and_scripts_still_write(served: Service):
    own = {"Origin": f"http://localhost:{served.ports['main']}", "Sec-Fetch-Site": "same-origin"}
    http, host = served.http, {"Host": f"localhost:{served.ports['main']}"}
    for headers in (own | host, {"Sec-Fetch-Site": "none"}, {}):
        assert http.post("/api/pause", headers=headers).status_code == 200
        again = http.post("/api/pause", json={"paused": False}, headers=headers)
        assert again.status_code == 200
    path = "/api/projects/demo/attachments?name=a.txt"
    for number, headers in enumerate((own | host, {})):
        text = {"Content-Type": "text/plain"}
        sent = http.post(path, content=b"%d" % number, headers=headers | text)
        assert sent.status_code == 201
    named = http.post(
        path, content=b"2", headers=PAGE | {"Content-Type": "application/octet-stream"}
    )
    assert named.status_code == 201  # a type that a page of elsewhere has to ask for


@pytest.fixture
def page(tmp_path: Path) -> Iterator[str]:
    """A dev server on a port of its own, with one page."""
    (tmp_path / "index.html").write_text('<!doctype html><link rel="icon" href="data:,">')
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.func.log_message = lambda *_args: None  # type: ignore[attr-defined]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


@pytest.mark.promise("G13")
@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_nothing_that_a_page_of_a_dev_server_sends_in_chromium_arrives(served: Service, page: str):
    before = state(served)
    routes = [(method, url.replace("127.0.0.1", "localhost")) for method, url in everywhere(served)]
    with sync_playwright() as playwright:
        browser = launched(playwright, CHROMIUM)
        opened = browser.new_page()
        opened.goto(page)
        answers: Counter[int] = Counter()
        network = opened.context.new_cdp_session(opened)
        network.on(
            "Network.responseReceivedExtraInfo", lambda told: answers.update([told["statusCode"]])
        )
        network.send("Network.enable")
        fulfilled = opened.evaluate(SCRIPT, routes)
        browser.close()

    assert fulfilled == 0
    assert set(answers) <= {403, 405, 415}, answers
    assert answers[415] > 100, answers  # they did arrive at the ports
    assert json.dumps(state(served)) == json.dumps(before)
