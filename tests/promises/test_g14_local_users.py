"""G14: other users of this machine are not served: by the kernel's word where nobody signs in, by
the credential of the main port where somebody does, on all three ports.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.promises.rings import few
from tests.service import Service, until

NOBODY = 65534
ROOT_ONLY = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can start a process of another user"
)
READS = (
    ("main", "/"), ("main", "/api/projects"), ("main", "/api/events"), ("main", "/static/icon.svg"),
    ("main", "/review/api/projects"), ("main", "/dashboard/api/state"), ("main", "/admin/"),
    ("review", "/"), ("review", "/api/projects"), ("review", "/api/events"),
    ("review", "/api/health"), ("dashboard", "/"), ("dashboard", "/api/apps"),
    ("dashboard", "/api/events"),
)  # fmt: skip
WRITES = (
    ("main", "/api/pause"), ("main", "/api/demo"), ("main", "/review/api/examples"),
    ("main", "/dashboard/api/scan"), ("review", "/api/examples"), ("review", "/mcp"),
    ("dashboard", "/api/scan"), ("dashboard", "/mcp"),
)  # fmt: skip
# Becomes another user, then sends each line of requests and tells what came back.
CLIENT = """
import json, os, socket, sys
os.setgroups([]); os.setgid(NOBODY); os.setuid(NOBODY)
for line in sys.stdin:
    asked = json.loads(line)
    family = socket.AF_INET6 if ":" in asked["host"] else socket.AF_INET
    with socket.socket(family) as link:
        link.connect((asked["host"], asked["port"]))
        link.setblocking(not asked["rude"])
        link.send(asked["data"].encode() + b"x" * (asked["rude"] and 10_000_000))
        answer = b"" if asked["rude"] else link.recv(65536)
    print(answer.hex(), flush=True)
""".replace("NOBODY", str(NOBODY))


class Stranger:
    """A process of another user of this machine."""

    def __enter__(self) -> Stranger:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_failure: object) -> None:
        self.process.communicate(timeout=20)

    def ask(
        self,
        port: int,
        method: str,
        path: str,
        *,
        host: str = "127.0.0.1",
        rude: bool = False,
        header: str = "",
    ) -> tuple[int, dict[str, Any]]:
        """Status and body. A rude one closes before it is asked for, but the end of what it sent
        is so far away that its request is read like any other."""
        data = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        data += f"{header}\r\n" if header else ""
        data += "Content-Length: 2\r\n\r\n{}" if method == "POST" else "\r\n"
        line = {"host": host, "port": port, "data": data, "rude": rude}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = bytes.fromhex(self.process.stdout.readline()).decode()
        if rude:
            return 0, {}
        body = answer.partition("\r\n\r\n")[2]
        return int(answer.split()[1]), json.loads(body) if body.startswith("{") else {}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("users"), scheduler=False) as running:
        yield running


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    with Stranger() as started:
        yield started


@ROOT_ONLY
@pytest.mark.promise("G14")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_no_port_answers_another_user_of_this_machine(served: Service, stranger: Stranger, host):
    for method, routes in (("GET", READS), ("POST", WRITES)):
        for name, path in routes:
            if host == "::1" and name == "main":
                continue  # it does not listen there
            status, body = stranger.ask(served.ports[name], method, path, host=host)
            assert (status, body["code"]) == (403, "user_not_allowed"), (method, name, path)
            assert f"uid {NOBODY}" in body["error"]


@ROOT_ONLY
@pytest.mark.promise("G14")
def test_what_has_a_gate_of_its_own_or_tells_nothing_stays_open(served, stranger):
    main = served.ports["main"]
    assert stranger.ask(main, "GET", "/api/health")[0] == 200
    assert stranger.ask(main, "GET", "/metrics")[0] == 200
    assert stranger.ask(main, "POST", "/mcp") == (404, {"error": "not found"})
    assert stranger.ask(main, "GET", "/.well-known/oauth-protected-resource")[0] == 404


def connections(port: int) -> set[Any]:
    """The other ends' ports of what is open at `port`."""
    open_ones = ("ESTABLISHED", "CLOSE_WAIT")
    found = [one for one in psutil.net_connections("tcp") if one.status in open_ones]
    ends = [(tuple(one.laddr), tuple(one.raddr)) for one in found]
    return {there[1] for here, there in ends if here[1] == port}


@ROOT_ONLY
@pytest.mark.promise("G14")
def test_who_closes_before_being_asked_for_is_nobody_and_not_root(served, stranger):
    before = connections(served.ports["main"])
    os.kill(served.pid, signal.SIGSTOP)  # so that it finds connections that were closed already
    try:
        for _ in range(20):
            stranger.ask(served.ports["main"], "POST", "/api/pause", rude=True)
    finally:
        os.kill(served.pid, signal.SIGCONT)
    until(lambda: connections(served.ports["main"]) <= before, what="all were answered")

    assert served.http.get("/api/pause").json()["paused"] is None


@pytest.mark.promise("G14")
def test_the_user_of_the_service_is_served(served):
    for name, path in READS:
        if not path.endswith("events"):
            assert httpx.get(f"http://localhost:{served.ports[name]}{path}").status_code < 400


@ROOT_ONLY
@pytest.mark.promise("G14")
@pytest.mark.parametrize(
    ("settings", "main", "others"),
    few(
        [
            ({"SVC_LOCAL_USERS": str(NOBODY)}, 200, 200),
            ({"SVC_MANAGEMENT_TRUSTED_PROXIES": "10.0.0.1"}, 403, 403),
            ({"SVC_MANAGEMENT_TRUSTED_PROXIES": "loopback"}, 200, 403),
            ({"SVC_DANGEROUSLY_ALLOW_OPEN": "1"}, 200, 403),
            ({"SVC_LOCAL_USERS": "*"}, 200, 200),
        ],
        2,
    ),
    ids=few(["named", "proxy elsewhere", "proxy here", "open", "all"], 2),
)
def test_only_the_operator_admits_another_user(tmp_path: Path, stranger, settings, main, others):
    with Service(tmp_path, env=settings, scheduler=False) as served:
        ports = served.ports
        assert stranger.ask(ports["main"], "GET", "/api/projects")[0] == main
        assert stranger.ask(ports["main"], "GET", "/review/api/projects")[0] == others
        assert stranger.ask(ports["review"], "GET", "/api/projects")[0] == others
        assert stranger.ask(ports["dashboard"], "GET", "/api/apps")[0] == others
        red = settings.get("SVC_LOCAL_USERS") == "*"
        assert ("Every user of this machine is served" in served.log()) == red


JWT = {"SVC_AUTH_MODE": "jwt", "SVC_AUTH_JWKS_URL": "http://localhost:9/keys"}
HEADER = {"SVC_AUTH_MODE": "trusted-header"}


@pytest.mark.promise("G14")
@pytest.mark.parametrize("mode", few([HEADER, JWT], 1), ids=few(["trusted-header", "jwt"], 1))
def test_a_login_is_asked_for_on_all_three_ports(tmp_path: Path, mode: dict[str, str]):
    with Service(tmp_path, env=mode, scheduler=False) as served:
        assert served.http.get("/static/icon.svg").status_code == 200
        for name, path in READS:
            if path != "/static/icon.svg":
                answer = httpx.get(f"http://localhost:{served.ports[name]}{path}")
                assert (answer.status_code, answer.json()["code"]) == (401, "auth_required"), path
        for name, path in WRITES:
            answer = httpx.post(f"http://localhost:{served.ports[name]}{path}", json={})
            assert (answer.status_code, answer.json()["code"]) == (401, "auth_required"), path
        if mode is HEADER:
            ada = {"X-Forwarded-User": "ada"}
            for base in (served.url, served.review_url, served.dashboard_url):
                assert httpx.get(f"{base}/api/places", headers=ada).status_code == 200


@pytest.mark.promise("G14")
@ROOT_ONLY
@pytest.mark.parametrize("named", [False, True], ids=["a stranger", "the proxy's user"])
def test_the_headers_of_a_proxy_are_believed_from_its_own_user_alone(
    tmp_path: Path, stranger: Stranger, named: bool
):
    env = HEADER | ({"SVC_LOCAL_USERS": str(NOBODY)} if named else {})
    with Service(tmp_path, env=env, scheduler=False) as served:
        for name in served.ports:
            mallory = "X-Forwarded-User: mallory"
            status, body = stranger.ask(served.ports[name], "GET", "/api/places", header=mallory)
            assert status == (200 if named else 403), name
            if not named:
                assert body["code"] == "user_not_allowed"
                assert "SVC_LOCAL_USERS" in body["error"]


@pytest.mark.slow
@pytest.mark.promise("G14")
@pytest.mark.parametrize("mode", few([JWT, HEADER], 1), ids=few(["jwt", "trusted-header"], 1))
def test_ports_that_stay_open_are_said_in_red(tmp_path: Path, mode: dict[str, str]):
    said = "The ports of review and dashboard ask for no login (SVC_LOCAL_PORTS is open)"
    with Service(tmp_path, env=mode | {"SVC_LOCAL_PORTS": "open"}, scheduler=False) as served:
        assert httpx.get(f"{served.url}/api/projects").status_code == 401
        assert httpx.get(f"{served.url}/review/api/projects").status_code == 401
        for base in (served.review_url, served.dashboard_url):
            page = httpx.get(f"{base}/")
            assert page.status_code == 200
            assert said in page.text
        assert said in served.log()
        assert [fault for fault in served.faults() if said in fault]
        if os.geteuid() == 0:
            with Stranger() as stranger:
                for name in ("review", "dashboard"):
                    assert stranger.ask(served.ports[name], "GET", "/api/places")[0] == 403
