"""G2: only a configured credential opens /mcp, and no token is seen anywhere else."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.clients.conftest import CONFIG, TOKENS
from tests.config.mcp_world import call
from tests.promises.rings import ring, seeded
from tests.service import Service, until

TOKEN = TOKENS["ADMIN"]
CALL = json.dumps(call("create_project", name="Intruder", slug="intruder")).encode()
pytestmark = pytest.mark.promise("G2")


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("bearer")
    with Service(folder, env=TOKENS, config=CONFIG, scheduler=False) as service:
        yield service


def send(service: Service, *lines: bytes, target: bytes = b"/mcp", body: bytes = CALL) -> int:
    """The status of one raw POST with these header lines; 0 when the connection just ended."""
    head = [
        b"POST " + target + b" HTTP/1.1",
        b"Host: localhost",
        b"Accept: application/json, text/event-stream",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        *lines,
    ]
    with socket.create_connection(("127.0.0.1", service.ports["main"]), 10) as wire:
        answer = b""
        try:
            wire.sendall(b"\r\n".join(head) + b"\r\n\r\n" + body)
            while b"\r\n" not in answer and (data := wire.recv(4096)):
                answer += data
        except ConnectionError:
            pass
    return int(answer.split(b" ", 2)[1]) if answer else 0


def bearer(token: bytes | str) -> bytes:
    return b"Authorization: Bearer " + (token if isinstance(token, bytes) else token.encode())


WRONG: dict[str, tuple[bytes, ...]] = {
    "missing": (),
    "empty": (b"Authorization: ",),
    "no token": (b"Authorization: Bearer",),
    "basic": (b"Authorization: Basic " + TOKEN.encode(),),
    "bare": (b"Authorization: " + TOKEN.encode(),),
    "wrong": (bearer("svc_home_" + "00" * 24),),
    "short": (bearer("x"),),
    "cut": (bearer(TOKEN[:-1]),),
    "long": (bearer(TOKEN + "0"),),
    "twice": (bearer(TOKEN), bearer(TOKEN)),
    "twice in one": (bearer(f"{TOKEN}, Bearer {TOKEN}"),),
    "non-ascii": (bearer(TOKEN.encode() + b"\xc3\xa9"),),
    "other instance": (bearer(TOKEN.replace("svc_home_", "svc_away_")),),
    "proxy header": (b"Proxy-Authorization: Bearer " + TOKEN.encode(),),
    "cookie": (b"Cookie: token=" + TOKEN.encode(),),
}
# No HTTP header at all: the server may also refuse it as that.
MALFORMED: dict[str, tuple[bytes, ...]] = {
    "nul": (bearer(TOKEN.encode() + b"\0"),),
    "1 MB": (bearer("x" * 1_000_000),),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_credential_is_401(managed: Service, name: str):
    assert send(managed, *WRONG[name]) == 401


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_header_is_refused_too(managed: Service, name: str):
    assert send(managed, *MALFORMED[name]) in (0, 400, 401, 431)


def test_a_token_in_the_query_or_the_body_is_never_looked_at(managed: Service):
    query = b"/mcp?access_token=" + TOKEN.encode()
    body = json.dumps(json.loads(CALL) | {"access_token": TOKEN}).encode()

    assert send(managed, target=query) == 401
    assert send(managed, body=body) == 401


def test_changed_tokens_never_open_it(managed: Service):
    random = seeded()
    for _ in range(ring(fast=100, slow=20_000)):
        token = bytearray(TOKEN.encode())
        place = random.randrange(len(token))
        token[place] = random.choice([c for c in b"0123456789abcdefSVC_" if c != token[place]])
        status = send(managed, bearer(bytes(token)))

        assert status == 401, bytes(token)


def test_nothing_was_done_and_no_token_is_anywhere_to_be_seen(managed: Service):
    for lines in (*WRONG.values(), *MALFORMED.values()):
        send(managed, *lines)
    assert send(managed, bearer(TOKEN), body=json.dumps(call("list_projects")).encode()) == 200
    until(lambda: '"msg":"mcp call"' in managed.log(), what="the call in the log")

    assert not (managed.projects / "intruder").exists()
    assert seen(managed) == []


def seen(service: Service) -> list[str]:
    """The places that show any of the tokens, or a recognisable part of one."""
    pages = ["/", "/clients", "/audit", "/api/clients", "/api/audit", "/api/me", "/admin/"]
    texts = {path: service.http.get(path, follow_redirects=True).text for path in pages}
    texts |= {str(path): path.read_text("latin1") for path in files(service.data)}
    for process in psutil.process_iter(["cmdline"]):
        texts[f"process {process.pid}"] = " ".join(process.info["cmdline"] or [])
    secrets = [token[9:25] for token in TOKENS.values()]
    return [place for place, text in texts.items() if any(secret in text for secret in secrets)]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
