"""`${NAME}` and `${NAME:-default}` in a server of `.mcp.json`: the turn's own variables alone.

A turn's environment contains only what turns may have, so a server may not read a name that is
missing from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from workspace.engines.mcp.server import Server

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Lacking(Exception):
    """The server lacks something, such as a variable of the turn; the text is the reason."""


def expand(server: Server, environ: Mapping[str, str]) -> Server:
    """The server with its variables filled in. Raises Lacking."""
    if not server.expands:
        return server

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in environ:
            return environ[name]
        if default is None:
            text = f"it needs the variable {name}, which turns here do not have"
            raise Lacking(f"{text} (name it in turnEnv of project.yaml)")
        return default

    def fill(text: str) -> str:
        return _VARIABLE.sub(value, text)

    return server._replace(
        command=tuple(fill(word) for word in server.command),
        env={name: fill(text) for name, text in server.env.items()},
        url=fill(server.url),
        headers={name: fill(text) for name, text in server.headers.items()},
    )
