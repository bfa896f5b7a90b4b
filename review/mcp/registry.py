"""The registry for the tools of /mcp and of turns. Kept light, as workers of turns load it too."""

from __future__ import annotations

from typing import Any

from config.mcp.operations import Principal, Registry
from review.refusals import failures_as_500


class Tools(Registry):
    """The operations of this surface; errors of git and of the disk are worded as over REST."""

    @failures_as_500()
    def run(self, name: str, principal: Principal, /, **arguments: Any) -> Any:
        return super().run(name, principal, **arguments)
