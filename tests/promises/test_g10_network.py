"""G10: a sandboxed turn reaches nothing of this service, and nothing of this machine that was not
listed, whatever engine runs it and however a program asks; other machines it reaches."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.far import HERE, THERE, far
from tests.network import SKIPPED, possible
from tests.promises.rings import few
from tests.workspace.chats.turns.world import World, book, fence, only
from tests.workspace.engines.conformance.drivers import ALL, Use, driving
from tests.workspace.engines.test_sandbox import confined, inside
from workspace.engines.network import Network

pytestmark = [pytest.mark.promise("G10"), inside]

# These have a program of their own in the sandbox, which reaches its model without a network.
WITH_A_MODEL = ("claude",)

# What a program in the sandbox tries: every address form, every way through the proxy.
ATTACK = r"""
import http.client, json, os, socket, sys
ports = json.loads(sys.argv[1])
forms = ["127.0.0.1", "localhost", "localhost.", "127.1", "0", "0.0.0.0", "2130706433",
         "0x7f000001", "0177.0.0.1", "127.8.9.10", "::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1",
         "64:ff9b::127.0.0.1", "2002:7f00:1::", socket.gethostname(), *sys.argv[2:]]
proxy = ("127.0.0.1", 42128)
reached, statuses = [], set()

def talk(address, data, why):
    try:
        with socket.create_connection(address, timeout=5) as link:
            link.settimeout(5)
            link.sendall(data)
            answer = link.recv(4096)
    except OSError:
        return
    if b"MARK" in answer:
        reached.append(why)
    statuses.add(answer[:12].decode("latin-1"))

for port in ports:
    for host in forms:
        shown = f"[{host}]" if ":" in host else host
        hello = b"GET / HTTP/1.0\r\n\r\n"
        talk((host, port), hello, f"direct {host}")
        for head in (
            f"CONNECT {shown}:{port} HTTP/1.1\r\nHost: {shown}:{port}\r\n\r\n",
            f"GET http://{shown}:{port}/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
            f"GET http://example.com@{shown}:{port}/ HTTP/1.1\r\nHost: {shown}\r\n\r\n",
            f"POST http://{shown}:{port}/_svc/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        ):
            talk(proxy, head.encode(), head.splitlines()[0])
for head in (
    "GET /api/projects HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /_svc/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
    "POST /_svc/mcp HTTP/1.1\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n",
    "POST /_svc/mcp/review HTTP/1.1\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n",
    "POST /_svc/mcp/../../api/pause HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", "CONNECT [fe80::1]:80 HTTP/1.1\r\n\r\n",
    "CONNECT 100.100.100.200:80 HTTP/1.1\r\n\r\n", "CONNECT 224.0.0.1:80 HTTP/1.1\r\n\r\n",
    "CONNECT 127.0.0.1:42128 HTTP/1.1\r\n\r\n",
):
    talk(proxy, head.encode(), head.splitlines()[0])
print(json.dumps({"reached": reached, "statuses": sorted(statuses)}))
"""


class Service:
    """Something of this machine that must not be reached: it listens on every address it has."""

    def __init__(self) -> None:
        self.server = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port = int(self.server.getsockname()[1])
        self.met = 0
        threading.Thread(target=self._meet, daemon=True).start()

    def _meet(self) -> None:
        while True:
            try:
                peer = self.server.accept()[0]
            except OSError:
                return
            self.met += 1
            with peer:
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nMARK")


@pytest.fixture
def services() -> Iterator[tuple[Service, Service]]:
    """This service, and another program of this machine."""
    pair = (Service(), Service())
    yield pair
    for one in pair:
        one.server.close()


def command(world: World, ports: list[int]) -> str:
    (world.project / "attack.py").write_text(ATTACK)
    own = [row[4][0] for row in socket.getaddrinfo(socket.gethostname(), None)]
    return f"{sys.executable} attack.py '{json.dumps(ports)}' {' '.join(map(str, own))}"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("mode", few(["guarded", "off"], 1))
def test_no_program_of_a_turn_reaches_this_service(name, mode, services, tmp_path):
    if missing := ALL[name].missing():
        pytest.skip(missing)
    service, neighbour = services
    with driving(name, tmp_path) as driver:
        ports = [service.port, neighbour.port]
        driver.expect(Use("Bash", {"command": command(driver.world, ports)}))
        network = Network(mode, own=(service.port,))

        records = driver.run(**around(driver.world), network=network, attended=False)

    found = told(records)
    assert found["reached"] == []
    assert ("HTTP/1.1 403" in found["statuses"]) == (mode == "guarded" or name in WITH_A_MODEL)
    assert (service.met, neighbour.met) == (0, 0)


def around(world: World) -> dict[str, Any]:
    return {**confined(world), "mode": "bypassPermissions"}


def told(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What the attack printed, wherever the engine shows it."""
    said = "\n".join(str(record.get("text", "")) for record in records)
    found: dict[str, Any] = json.JSONDecoder().raw_decode(said, said.index('{"reached"'))[0]
    return found


def test_a_listed_port_is_reached_and_the_service_never(services, tmp_path):
    service, neighbour = services
    world = World(tmp_path)
    network = Network(ports=(neighbour.port, service.port), own=(service.port,))
    ask = "exec 3<>/dev/tcp/127.0.0.1/%d && cat <&3 | tail -c 4"
    steps = [fence("Bash", ask % one.port, "allow_failure") for one in (neighbour, service)]

    records = world.run(book(*steps), **confined(world), network=network)

    results = [record["text"] for record in records if record["type"] == "tool_result"]
    assert results[0] == "MARK"
    assert "MARK" not in results[1]
    assert service.met == 0


def test_every_host_is_told_once_with_what_became_of_it(services, tmp_path):
    service, neighbour = services
    world = World(tmp_path)
    network = Network(ports=(neighbour.port,), own=(service.port,))
    ask = "for i in 1 2; do curl -s -o /dev/null --noproxy '' http://localhost:%d/; done; true"
    steps = [fence("Bash", ask % one.port) for one in (neighbour, service)]

    end = only(world.run(book(*steps), **confined(world), network=network), "turn_end")

    assert end["hosts"] == [
        {"host": "localhost", "port": neighbour.port, "refused": False},
        {"host": "localhost", "port": service.port, "refused": True},
    ]


def test_a_flood_of_connections_costs_the_turn_nothing_but_these(tmp_path):
    """Each would take descriptors of the turn process, which has to write its transcript."""
    world = World(tmp_path)
    flood = (
        "import socket, sys\n"
        "held = [socket.create_connection(('127.0.0.1', 42128)) for _ in range(600)]\n"
        "print('flooded', len(held))"
    )
    (world.project / "flood.py").write_text(flood)
    steps = [fence("Bash", f"{sys.executable} flood.py"), fence("Bash", "echo on")]

    records = world.run(book(*steps), **confined(world))

    results = [record["text"] for record in records if record["type"] == "tool_result"]
    assert results == ["flooded 600", "on"]


@pytest.mark.skipif(not possible(), reason=SKIPPED)
class TestOtherMachines:
    """Ordinary work goes on, as far as the lists of hosts let it."""

    @pytest.fixture
    def page(self, tmp_path: Path) -> Iterator[str]:
        with ExitStack() as stack:
            machine = stack.enter_context(far())
            (tmp_path / "www").mkdir()
            (tmp_path / "www" / "index.html").write_text("MARK")
            serve = [sys.executable, "-u", "-m", "http.server", "8080", "--bind", THERE]
            machine.start(*serve, says="Serving", cwd=tmp_path / "www")
            yield f"http://{THERE}:8080/"

    @pytest.mark.parametrize(
        ("network", "answer"),
        [
            (Network(), "MARK"),
            (Network(allow=(("10.78.0.0/16", "pypi.org"),)), "MARK"),
            (Network(allow=(("*.example.com",),)), f"{THERE} is not in network.allow"),
            (Network(allow=((THERE,), ("pypi.org",))), f"{THERE} is not in network.allow"),
            (Network(deny=(f"{THERE}/32",)), f"{THERE} is denied by network.deny"),
            (Network("off"), "000"),
            (Network("host"), "MARK"),
        ],
    )
    def test_another_machine_is_reached_as_the_lists_say(self, page, network, answer, tmp_path):
        world = World(tmp_path / "world")
        steps = book(fence("Bash", f"curl -sS -w ' %{{http_code}}' {page} || true"))

        records = world.run(steps, **confined(world), network=network)

        assert answer in only(records, "tool_result")["text"]

    def test_an_own_address_of_this_machine_is_no_other_machine(self, page, services, tmp_path):
        service, neighbour = services
        world = World(tmp_path / "world")
        ask = "curl -s http://%s:%d/; true"
        steps = [fence("Bash", ask % (HERE, one.port)) for one in (service, neighbour)]

        records = world.run(book(*steps), **confined(world), network=Network(own=(service.port,)))

        results = [record["text"] for record in records if record["type"] == "tool_result"]
        assert "is this service" in results[0]
        assert f"network.hostPorts: [{neighbour.port}]" in results[1]
        assert (service.met, neighbour.met) == (0, 0)
