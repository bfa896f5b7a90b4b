"""What the commands of a turn may reach over the network, as a turn process gets it.

`off` is nothing, `guarded` goes out through the turn's proxy (proxy/), `host` is the machine's own
network. Without a sandbox nothing enforces it.
"""

from __future__ import annotations

from config.process.light_typing import Any, NamedTuple

MODES = ("off", "guarded", "host")  # from the narrowest to the widest


class Network(NamedTuple):
    """`ports`: ports of this machine that a setting opens. `allow`: lists of host patterns; a host
    has to match each list. `deny`: host patterns. `own`: the service's own ports, which nothing
    opens."""

    mode: str = "guarded"
    ports: tuple[int, ...] = ()
    allow: tuple[tuple[str, ...], ...] = ()
    deny: tuple[str, ...] = ()
    own: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Network:
        return cls(
            fields["mode"],
            tuple(fields["ports"]),
            tuple(tuple(patterns) for patterns in fields["allow"]),
            tuple(fields["deny"]),
            tuple(fields["own"]),
        )
