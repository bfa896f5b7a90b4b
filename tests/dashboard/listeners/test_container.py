"""Published ports know their container: the engine's socket is asked, briefly."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dashboard.listeners import container, records
from dashboard.listeners.container import Engines, usual_sockets
from dashboard.listeners.identity import Identity, identify
from dashboard.listeners.kinds import kind
from dashboard.listeners.names import name, slug
from dashboard.listeners.processes import Process

SHOP = {
    "Names": ["/acme-web-1"],
    "Image": "docker.io/library/postgres:16@sha256:0",
    "Labels": {"com.docker.compose.project": "acme", "com.docker.compose.service": "web"},
    "Ports": [
        {"PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
        {"PrivatePort": 81},
        {"PrivatePort": 82, "PublicPort": 82, "Type": "udp"},
    ],
}


def answer(body: Any, status: str = "200 OK") -> bytes:
    return f"HTTP/1.0 {status}\r\nContent-Type: application/json\r\n\r\n".encode() + (
        body if isinstance(body, bytes) else json.dumps(body).encode()
    )


@contextmanager
def engine(
    path: Path, *pieces: bytes, then: threading.Event | None = None
) -> Iterator[list[bytes]]:
    """A server that speaks as Docker's does; the requests it was sent."""
    asked: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    link, _ = server.accept()
                except OSError:
                    return
                with link:
                    asked.append(link.recv(65536))
                    for piece in pieces:
                        link.sendall(piece)
                    if then is not None:
                        then.wait(20)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield asked
        finally:
            if then is not None:
                then.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join(20)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "docker.sock"


def test_a_published_port_tells_its_container_and_service(path: Path):
    with engine(path, answer([SHOP])) as asked:
        engines = Engines([path])
        found = engines.publishing(8080)
        assert (engines.publishing(81), engines.publishing(82)) == (None, None)

    assert found is not None
    assert records.identity(Identity(Process(None), "", container=found))["container"] == {
        "runtime": "docker",
        "name": "acme-web-1",
        "image": SHOP["Image"],
        "composeProject": "acme",
        "composeService": "web",
    }
    assert asked == [b"GET /containers/json HTTP/1.0\r\nHost: localhost\r\n\r\n"]


def test_a_listener_that_is_not_told_is_known_by_its_container(path: Path):
    shop = {**SHOP, "Image": "acme/web"}
    with engine(path, answer([shop])):
        found = identify(None, 8080, uid=0, engines=Engines([path]))

    assert (name(found, 8080), slug(found, 8080)) == ("acme-web", "acme-web")
    assert kind(found, 8080) == "dev"


def test_a_container_of_a_database_image_is_a_database(path: Path):
    with engine(path, answer([SHOP])):
        found = identify(None, 8080, uid=0, engines=Engines([path]))

    assert kind(found, 8080) == "database"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", {}, [1, None, "x"], [{}], [{"Ports": 3}], [{"Ports": [{"PublicPort": "x"}]}],
        [{"Ports": [{"PublicPort": 8080}], "Labels": 3}], [{"Ports": [None]}],
    ],
)  # fmt: skip
def test_an_odd_answer_is_no_container(path: Path, body: Any):
    with engine(path, answer(body)):
        assert Engines([path]).publishing(8080) is None


def test_one_odd_container_does_not_hide_the_others(path: Path):
    with engine(path, answer([{"Ports": 1}, SHOP])):
        assert Engines([path]).publishing(8080) is not None


def test_a_refusal_an_absent_and_a_foreign_socket_are_no_container(path: Path, tmp_path: Path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    os.mkfifo(tmp_path / "fifo")
    with engine(path, answer([SHOP], "403 Forbidden")):
        odd = [path, tmp_path / "absent", plain, tmp_path / "fifo", tmp_path / ("x" * 200)]

        assert Engines(odd).publishing(8080) is None


def test_a_silent_engine_is_given_up_after_a_second_and_not_asked_again_at_once(path: Path):
    release = threading.Event()
    with engine(path, then=release) as asked:
        engines = Engines([path])
        began = time.monotonic()
        assert [engines.publishing(port) for port in range(1, 50)] == [None] * 49

        assert time.monotonic() - began < 3
        assert len(asked) == 1


def test_an_answer_that_is_too_long_is_given_up(path: Path, monkeypatch):
    monkeypatch.setattr(container, "LIMIT", 100_000)
    with engine(path, answer(json.dumps([SHOP]).encode() + b" " * 200_000)):
        assert Engines([path]).publishing(8080) is None


def test_the_users_own_engine_is_asked_too(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///tmp/other.sock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")

    assert {str(path) for path in usual_sockets()} >= {
        "/tmp/other.sock", "/run/user/7/podman/podman.sock", "/var/run/docker.sock",
    }  # fmt: skip
    monkeypatch.setenv("DOCKER_HOST", "tcp://example.com:2375")
    assert not any("example" in str(path) for path in usual_sockets())
