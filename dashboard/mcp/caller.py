"""The caller over /mcp: an agent on this machine; there is no credential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from config.mcp.operations import Operation, Unrestricted


@dataclass(frozen=True, slots=True)
class Agent(Unrestricted):
    """An agent that reached this part at `base`."""

    base: str
    writes: bool = True  # mcp.writes of config.yaml: without it there are no writing tools
    name: str = "agent"
    defaults: Mapping[str, str] = field(default_factory=dict)

    def grants(self, operation: Operation) -> bool:
        return self.writes or operation.group == "read"
