"""What the server says of itself at its start."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from config.web.connections import local, peers
from config.web.http import serving

ONLY_MCP = (
    "{} is bound with auth mode none: other machines reach only /mcp, discovery and health; "
    "set SVC_AUTH_MODE to admit browsers"
)
OPEN = (
    "SECURITY: open instance: {} is bound with auth mode none; "
    "whoever reaches this port can run code as this user"
)


@dataclass
class Settings:
    host: str = "127.0.0.1"
    tls_host: str = "127.0.0.1"
    tls_port: int | None = None
    auth_mode: str = "none"
    allow_open: bool = False
    local_users: frozenset[int] | None = frozenset()
    local_ports: str = "guarded"


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        (Settings(), []),
        (Settings(host="::1"), []),
        (Settings(host="127.0.0.9"), []),
        (Settings(host="0.0.0.0"), [ONLY_MCP.format("0.0.0.0")]),
        (Settings(host="::", allow_open=True), [OPEN.format("::")]),
        (Settings(host="0.0.0.0", auth_mode="jwt"), []),
        (Settings(tls_host="0.0.0.0"), []),
        (Settings(tls_host="0.0.0.0", tls_port=8443), [ONLY_MCP.format("0.0.0.0")]),
        (Settings(tls_host="10.0.0.5", tls_port=8443, allow_open=True), [OPEN.format("10.0.0.5")]),
        (
            Settings(host="0.0.0.0", tls_host="::", tls_port=8443),
            [ONLY_MCP.format("0.0.0.0"), ONLY_MCP.format("::")],
        ),
        (Settings(host="::", tls_host="::", tls_port=8443), [ONLY_MCP.format("::")]),
    ],
)
def test_every_address_that_others_can_reach_is_warned_about(settings: Settings, lines: list[str]):
    assert serving.exposure_warnings(settings) == lines


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        (Settings(), []),
        (Settings(auth_mode="jwt"), []),
        (Settings(local_ports="open"), []),
        (Settings(local_users=None), [local.EVERYBODY]),
        (Settings(auth_mode="jwt", local_users=None), []),
        (Settings(auth_mode="jwt", local_ports="open"), [local.LOGIN_FREE]),
        (
            Settings(auth_mode="trusted-header", local_ports="open", local_users=None),
            [local.LOGIN_FREE, local.EVERYBODY],
        ),
    ],
)
def test_whoever_is_served_without_a_login_is_said(settings: Settings, lines: list[str]):
    assert local.warnings(settings) == lines


def test_root_and_the_service_s_own_user_are_always_served(monkeypatch):
    monkeypatch.setattr(peers, "ASKED", True)
    assert local.users(Settings()) == frozenset({0, os.geteuid()})
    assert local.users(Settings(local_users=frozenset({33}))) == frozenset({0, os.geteuid(), 33})
    assert local.users(Settings(local_users=None)) is None
    monkeypatch.setattr(peers, "ASKED", False)
    assert local.users(Settings()) is None
