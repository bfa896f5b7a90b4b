"""A service as its app's file declares it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from dashboard.files.schema import service as schema
from dashboard.services.definition import GRACE_S, Ready, Service


def test_a_block_of_a_file_becomes_what_is_run():
    block = schema.Service(
        "npm run dev",
        cwd="/src/shop",
        env=(("A", "1"),),
        env_file="/src/shop/.env",
        restart="always",
        ready=schema.Ready(log="up"),
    )

    assert Service.of(block, 3000, "localhost") == Service(
        "npm run dev",
        cwd=Path("/src/shop"),
        env={"A": "1"},
        env_file=Path("/src/shop/.env"),
        restart="always",
        ready=Ready(log="up", timeout=GRACE_S),
        port=3000,
    )


@pytest.mark.parametrize(
    ("host", "port", "address"),
    [("127.0.0.2", 3000, "127.0.0.2"), ("[fd00::1]", 3000, "fd00::1"), ("127.0.0.2", None, None)]
    + [(usual, 3000, None) for usual in (None, "localhost", "shop.localhost", "127.0.0.1", "::1",
       "0.0.0.0", "[::]")],
)  # fmt: skip
def test_an_address_beside_those_of_localhost_is_known_by_the_host(
    host: str | None, port: int | None, address: str | None
):
    assert Service.of(schema.Service("x"), port, host).address == address


def test_a_text_goes_to_a_shell_and_a_list_does_not():
    assert Service("a | b").argv == ["/bin/sh", "-c", "a | b"]
    assert Service(("a", "|")).argv == ["a", "|"]


@pytest.mark.parametrize(("name", "number"), [("TERM", 15), ("SIGINT", 2), ("hup", 1)])
def test_a_stop_signal_is_known_by_its_names(name: str, number: int):
    assert Service("x", stop_signal=name).signal == signal.Signals(number)


def test_only_what_a_process_was_started_with_makes_it_stale():
    base = Service("x", env={"A": "1", "B": "2"})

    assert base.fingerprint == Service("x", env={"B": "2", "A": "1"}, restart="no").fingerprint
    assert base.fingerprint != Service("x", env={"A": "1"}).fingerprint
    assert base.fingerprint != Service("x", cwd=Path("/"), env=base.env).fingerprint
    assert base.fingerprint != Service(("x",), env=base.env).fingerprint
    assert base.fingerprint != Service("x", env=base.env, port=3000).fingerprint


def test_a_run_that_an_older_version_recorded_without_its_port_is_not_stale():
    service = Service("x", port=3000)

    assert service.started_as(service.fingerprint.removesuffix(":3000"))
    assert not service.started_as(Service("x").fingerprint)
    assert not service.started_as(Service("x", port=300).fingerprint)
