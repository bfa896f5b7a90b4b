"""G1: no foreign host, origin or site gets past the guard, on any surface, by any method."""

from __future__ import annotations

import itertools
import socket

import httpx
import pytest

from tests.promises.rings import SLOW
from tests.service import Service
from tests.wire import read_answer, request

HOSTS = {
    "localhost:{port}": True,
    "127.0.0.1:{port}": True,
    "[::1]:{port}": True,
    "a.localhost": True,
    "LOCALHOST.": True,
    "evil.example": False,
    "localhost.evil.example": False,
    "127.0.0.1.nip.io": False,
    "a@localhost": False,
    "0.0.0.0": False,
    "2130706433": False,
    "": False,
}
ORIGINS = {
    None: True,
    "http://localhost:{port}": True,
    "http://localhost:3000": True,
    "https://evil.example": False,
    "http://localhost.evil.example": False,
    "http://evil.example:{port}": False,
    "null": False,
    "file://": False,
}
SITES = {None: True, "same-site": True, "cross-site": False}
METHODS = ["GET", "POST", "DELETE"]
if SLOW:
    SITES |= {"same-origin": True, "none": True, "Cross-Site": False}
    METHODS += ["PUT", "PATCH"]
SURFACES = [("main", ""), ("main", "/review"), ("main", "/dashboard")]
SURFACES += [("review", ""), ("dashboard", "")]


SURFACE_PATHS = [(name, f"{mount}/api/projects/none") for name, mount in SURFACES]
for mount in (("main", "/review"), ("review", "")):  # machine paths with rules of their own
    SURFACE_PATHS += [(mount[0], mount[1] + path) for path in ("/mcp", "/api/projects/none/assets")]


@pytest.mark.promise("G1")
@pytest.mark.parametrize(("name", "path"), SURFACE_PATHS)
def test_only_this_machine_s_pages_and_programs_reach_a_handler(shared_service, name, path):
    port = shared_service.ports[name]
    wrong = []
    cells = itertools.product(HOSTS, ORIGINS, SITES, METHODS)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for host, origin, site, method in cells:
            good = HOSTS[host] and (method == "GET" or (ORIGINS[origin] and SITES[site]))
            head = f"{method} {path} HTTP/1.1\nContent-Type: application/json"
            head += f"\nOrigin: {origin.format(port=port)}" if origin else ""
            head += f"\nSec-Fetch-Site: {site}" if site else ""
            body = b"{}" if method != "GET" else b""
            head += f"\nContent-Length: {len(body)}"
            connection.sendall(request(head, body, host=host.format(port=port)))
            answer = read_answer(connection)[0]
            if (b" 403 " in answer.splitlines()[0]) == good or b"Access-Control" in answer:
                wrong.append((method, host, origin, site, answer.splitlines()[0]))

    assert wrong == []


@pytest.mark.promise("G1")
@pytest.mark.parametrize("hosts", [[], ["localhost", "localhost"], ["localhost", "evil.example"]])
@pytest.mark.parametrize(("name", "mount"), SURFACES)
def test_exactly_one_host_is_named(shared_service, name, mount, hosts):
    lines = [f"GET {mount}/api/projects HTTP/1.1", *(f"Host: {host}" for host in hosts), "", ""]
    with socket.create_connection(
        ("127.0.0.1", shared_service.ports[name]), timeout=10
    ) as connection:
        connection.sendall("\r\n".join(lines).encode())

        assert b" 403 " in read_answer(connection)[0]


@pytest.mark.promise("G1")
def test_a_refused_write_changes_nothing(shared_service: Service):
    before = shared_service.http.get("/api/projects").json()
    for headers in (
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        answer = shared_service.http.post("/api/projects", json={"name": "Evil"}, headers=headers)
        assert answer.status_code == 403

    assert shared_service.http.get("/api/projects").json() == before


@pytest.mark.promise("G1")
@pytest.mark.parametrize("mount", ["port", "mount"])
def test_a_refused_write_of_the_review_part_changes_nothing(shared_service: Service, mount: str):
    base = shared_service.review_url if mount == "port" else f"{shared_service.url}/review"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "set_pr"}}
    with httpx.Client(base_url=base, trust_env=False) as client:
        for headers in (
            {"Host": "evil.example"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            for path, body in (("/api/examples", {}), ("/mcp", call)):
                answer = client.post(path, json=body, headers=headers)
                assert (answer.status_code, list(answer.json())) == (403, ["error", "code"])

        assert client.get("/api/projects").json()["examples"] == "none"


@pytest.mark.promise("G1")
@pytest.mark.parametrize("method", ["post", "Post", "pATCH"])
def test_a_write_in_lower_case_is_no_way_around_the_guard(shared_service: Service, method: str):
    headers = "Host: localhost\r\nOrigin: https://evil.example\r\nContent-Type: application/json"
    body = b'{"name": "smuggled"}'
    head = f"{method} /api/projects HTTP/1.1\r\n{headers}\r\nContent-Length: {len(body)}"
    with socket.create_connection(("127.0.0.1", shared_service.ports["main"])) as connection:
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        answer = read_answer(connection)

    assert answer[0].startswith(b"HTTP/1.1 403 "), answer
    assert not (shared_service.projects / "smuggled").exists()


@pytest.mark.promise("G1")
@pytest.mark.parametrize("part", ["review", "dashboard"])
@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto"])
def test_a_proxied_request_reaches_only_the_workspace(shared_service, part, name):
    get = shared_service.http.get
    headers = {name: "for=127.0.0.1"}

    refused = get(f"/{part}/api/health", headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (403, "host_not_allowed")
    assert f"came through a proxy (it has the header {name.lower()})" in refused.json()["error"]
    assert get("/api/health", headers=headers).status_code == 200
    assert get("/api/projects", headers=headers).status_code == 200


@pytest.mark.promise("G1")
def test_health_and_discovery_answer_whatever_host_is_named(shared_service):
    get = shared_service.http.get
    headers = {"Host": "svc.example"}

    assert get("/api/health", headers=headers).status_code == 200
    assert get("/mcp", headers=headers).status_code == 404
    path = "/.well-known/oauth-protected-resource"
    assert get(path, headers=headers).json() == {"error": "not found"}


@pytest.mark.promise("G1")
def test_a_run_is_started_by_this_machine_and_not_by_a_foreign_page(shared_service: Service):
    http, triggers = shared_service.http, "/api/projects/alpha/triggers"
    http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    prompt = "#!runbook\n```Glob pattern=*\n```\n"
    body = {"trigger": {"type": "schedule", "interval": "1d"}, "run": {"prompt": prompt}}
    http.put(f"{triggers}/t", json=body).raise_for_status()

    foreign = http.post(f"{triggers}/t/run", headers={"Origin": "https://evil.example"})
    renamed = http.post(f"{triggers}/t/run", headers={"Host": "evil.example"})
    assert (foreign.status_code, foreign.json()["code"]) == (403, "origin_not_allowed")
    assert (renamed.status_code, renamed.json()["code"]) == (403, "host_not_allowed")
    assert http.get("/api/runs").json()["runs"] == []

    assert http.post(f"{triggers}/t/run").status_code == 202
    assert len(http.get("/api/runs").json()["runs"]) == 1
