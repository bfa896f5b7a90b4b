"""What the server says of itself at its start (workspace.md D)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from config.kernel.web import serving

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
    assert serving.exposed(settings) == lines
