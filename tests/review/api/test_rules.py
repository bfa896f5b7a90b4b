"""Who may ask, in which form, on both mounts."""

from __future__ import annotations

import socket

import httpx
import pytest

from tests.review.api.served import Project, Served
from tests.wire import read_answer, request

MOUNTS = [("review", ""), ("main", "/review")]
HOSTS = {
    "localhost": True,
    "localhost:{port}": True,
    "LOCALHOST.": True,
    "a.b.localhost:1": True,
    "127.0.0.1": True,
    "127.8.9.10:5622": True,
    "[::1]": True,
    "[::1]:{port}": True,
    "": False,
    "evil.example": False,
    "0.0.0.0": False,
    "localhost.evil.com": False,
    "127.0.0.1.nip.io": False,
    "2130706433": False,
    "a@localhost": False,
    "localhost..": False,
    "127.0.0.256": False,
    "127.1": False,
    "[::2]": False,
    "localhost:99999": False,
    "xlocalhost": False,
}
ORIGINS = {
    "http://localhost:3000": True,
    "https://localhost": True,
    "http://127.0.0.1:{port}": True,
    "http://[::1]:{port}": True,
    "HTTP://A.LOCALHOST": True,
    "null": False,
    "": False,
    "file://": False,
    "ws://localhost": False,
    "http://evil.example": False,
    "http://localhost.evil.example": False,
    "http://localhost@evil.example": False,
    "http://evil.example:{port}": False,
}
JSON = "Content-Type: application/json\nContent-Length: 2"


def ask(served: Served, name: str, head: str, body: bytes = b"", *, host: str = "localhost"):
    """Status and body of one raw request."""
    port = served.service.ports[name]
    raw = request(head.replace("{port}", str(port)), body, host=host.replace("{port}", str(port)))
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(raw)
        answer, told = read_answer(connection)
    assert b"access-control" not in answer.lower()
    return int(answer.split()[1]), told.decode()


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_only_hosts_of_this_machine_are_answered(served: Served, name: str, mount: str):
    wrong = {}
    for host, good in HOSTS.items():
        for path in ("/api/health", "/mcp", "/api/events", "/api/projects/x/assets"):
            status, told = ask(
                served, name, f"PATCH {mount}{path} HTTP/1.1\n{JSON}", b"{}", host=host
            )
            refused = "This server only answers requests to localhost" in told
            if (status == 403, refused) != (not good, not good):
                wrong[host, path] = (status, told)

    assert wrong == {}


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
@pytest.mark.parametrize("count", [0, 2])
def test_exactly_one_host_is_named(served: Served, name: str, mount: str, count: int):
    lines = [f"GET {mount}/api/health HTTP/1.1", *(["Host: localhost"] * count), "", ""]
    with socket.create_connection(("127.0.0.1", served.service.ports[name])) as connection:
        connection.sendall("\r\n".join(lines).encode())

        assert b" 403 " in read_answer(connection)[0]


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_only_pages_of_this_machine_write(served: Served, pay: Project, name: str, mount: str):
    wrong = {}
    for origin, good in ORIGINS.items():
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            head = f"{method} {mount}{pay.p} HTTP/1.1\n{JSON}\nOrigin: {origin}"
            status, told = ask(served, name, head, b"{}")
            if status != (405 if good else 403) or (not good and "origin_not_allowed" not in told):
                wrong[origin, method] = (status, told)
        status, _ = ask(served, name, f"GET {mount}/api/health HTTP/1.1\nOrigin: {origin}")
        if status != 200:
            wrong[origin, "GET"] = status

    assert wrong == {}


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_a_write_of_another_site_is_refused(served: Served, pay: Project, name: str, mount: str):
    head = f"PATCH {mount}{pay.p} HTTP/1.1\n{JSON}\nSec-Fetch-Site: "

    for site, expected in (("cross-site", 403), ("same-origin", 405), ("same-site", 405)):
        status, told = ask(served, name, head + site, b"{}")
        assert status == expected
        assert ("cross_site" in told) == (expected == 403)
    twice = "Origin: http://localhost\nOrigin: http://localhost"
    assert ask(served, name, f"PATCH {mount}{pay.p} HTTP/1.1\n{JSON}\n{twice}", b"{}")[0] == 403


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_a_preflight_fails(served: Served, pay: Project, name: str, mount: str):
    head = (
        f"OPTIONS {mount}{pay.c(0, '/threads')} HTTP/1.1\nOrigin: http://localhost:3000\n"
        "Access-Control-Request-Method: POST"
    )

    assert ask(served, name, head)[0] == 405


def test_a_forwarded_request_is_not_local_under_the_mount_and_nothing_on_the_port(served: Served):
    for header in ("Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: e.x"):
        assert ask(served, "main", f"GET /review/api/health HTTP/1.1\n{header}")[0] == 403
        assert ask(served, "review", f"GET /api/health HTTP/1.1\n{header}")[0] == 200


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (None, 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonx", 415),
        ("application/json", 201),
        ("Application/JSON; charset=utf-8", 201),
    ],
)
def test_a_write_is_json(served: Served, pay: Project, kind: str | None, status: int):
    headers = {"Content-Type": kind} if kind else {}

    for api in (served.api, served.mounted):
        answer = api.ask("POST", pay.c(0, "/threads"), content=b'{"body": "x"}', headers=headers)

        assert answer.status_code == status
        if status == 415:
            assert answer.json() == {
                "error": "Content-Type must be application/json",
                "code": "unsupported_media_type",
            }


def test_a_delete_needs_no_type_and_no_body(served: Served, pay: Project):
    for number, content in enumerate((b"", b"not json at all")):
        made = served.api.post(pay.c(0, "/threads"), {"body": f"{number}"}).json()
        comment = f"/threads/{made['id']}/comments/{made['comments'][0]['id']}"

        assert served.api.delete(pay.c(0, comment), content=content).status_code == 200


def test_a_body_over_a_megabyte_is_too_large(served: Served, pay: Project):
    content = b'{"body": "' + b"x" * (1 << 20) + b'"}'
    headers = {"Content-Type": "application/json"}

    for sent in (content, iter([content])):
        answer = served.api.ask("POST", pay.c(0, "/threads"), content=sent, headers=headers)

        assert (answer.status_code, answer.json()) == (
            413,
            {"error": "Body is larger than 1 MB", "code": "too_large"},
        )


def test_the_first_rule_that_is_broken_is_told(served: Served, pay: Project):
    """403, 415, 413, then the path, the method, the JSON, the resource, the fields."""

    def status(path: str, content: bytes, **headers: str) -> int:
        sent = {"Content-Type": "application/json", **headers}
        return served.api.ask("POST", path, content=content, headers=sent).status_code

    big, threads = b" " * (2 << 20), pay.c(0, "/threads")
    assert status("/api/nope", big, **{"Origin": "null", "Content-Type": "x"}) == 403
    assert status("/api/nope", big, **{"Content-Type": "x"}) == 415
    assert status("/api/nope", big) == 413
    assert status("/api/nope", b"{") == 404
    assert status(pay.p, b"{") == 405
    assert status(pay.c("abcdefa", "/threads"), b"{") == 400
    assert status(pay.c("abcdefa", "/threads"), b"{}") == 404
    assert status(threads, b"{}") == 400


def test_every_answer_carries_the_fixed_headers(served: Served, pay: Project):
    for api in (served.api, served.mounted):
        for path in ("/api/health", pay.p, "/api/nope", f"{pay.p}/stack.svg", "/"):
            headers = api.get(path).headers
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["X-Frame-Options"] == "DENY"


def test_another_method_is_told_which_are_allowed(served: Served, pay: Project):
    for method, path, allow in (
        ("PUT", "/api/projects", "GET"),
        ("GET", "/api/examples", "POST"),
        ("POST", "/api/events", "GET"),
        ("GET", f"{pay.p}/assets", "POST"),
        ("DELETE", pay.c(0, "/pr"), "GET"),
    ):
        answer = served.api.ask(method, path, headers={"Content-Type": "application/json"})

        told = {"error": "Method not allowed", "code": "method_not_allowed"}
        assert (answer.status_code, answer.json()) == (405, told)
        assert allow in answer.headers["Allow"].split(", ")


def test_a_stranger_to_the_machine_is_never_asked_for(served: Served):
    """Both sockets of the port are loopback ones."""
    port = served.service.ports["review"]
    assert httpx.get(f"http://127.0.0.1:{port}/api/health", trust_env=False).status_code == 200
    with pytest.raises(OSError):
        socket.create_connection((_own_address(), port), timeout=2)


def _own_address() -> str:
    """An address of this machine that others could reach, else one that no machine has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return "192.0.2.1"
        return str(probe.getsockname()[0])
