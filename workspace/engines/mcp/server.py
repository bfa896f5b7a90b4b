"""One MCP server as a turn process is given it, and the names of its tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from config.process.light_typing import Any, NamedTuple

PREFIX = "mcp__"
START_S, CALL_S = 30, 60
_NONE: Mapping[str, str] = MappingProxyType({})


class Server(NamedTuple):
    """A server has `command` or `url`. `env` and `headers` hold values, which are secrets. `ours`:
    the instance names it, so the sandbox shows what its arguments name. `expands`: `${NAME}` in it
    stands for a variable of the turn. `lacks`: why it cannot be started, if the service knows a
    reason."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = _NONE
    url: str = ""
    headers: Mapping[str, str] = _NONE
    start_seconds: int = START_S
    call_seconds: int = CALL_S
    ours: bool = False
    expands: bool = False
    lacks: str = ""

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Server:
        return cls(**(fields | {"command": tuple(fields["command"])}))

    def to_json(self) -> dict[str, Any]:
        return self._asdict() | {"env": dict(self.env), "headers": dict(self.headers)}

    @property
    def prefix(self) -> str:
        """The prefix of its tools' names."""
        return f"{PREFIX}{self.name}__"


def every(servers: Iterable[Server]) -> list[str]:
    """The entries of a tool list that grant all tools of these servers."""
    return [f"{server.prefix}*" for server in servers]


def grants(entry: str, prefix: str) -> bool:
    """Whether an entry of a tool list grants a tool whose name begins with `mcp__<server>__`."""
    if entry.endswith("*") and entry.startswith(PREFIX) and prefix.startswith(entry[:-1]):
        return True
    return entry == prefix[:-2] or entry.startswith(prefix)


def owner(tool: str, servers: Iterable[Server]) -> Server | None:
    """The server to which a tool, or an entry that grants all its tools, belongs by name."""
    return next(
        (one for one in servers if tool == one.prefix[:-2] or tool.startswith(one.prefix)), None
    )
