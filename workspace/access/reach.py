"""Which network a turn gets: instance, project and trigger together, the narrower one wins.

The ports that people open on each level add up, and so do `deny` lists; of `allow` lists each has
to match. This service's own ports stay closed whatever is written. The reasons:
docs/design/trust.md#the-narrower-setting-wins.
"""

from __future__ import annotations

from typing import Any

import orjson
from django.conf import settings

from config.network import MODES, BadNetwork, NetworkSetting, read
from workspace.engines.network import Network

GUARDED = "guarded"


def written(value: Any) -> NetworkSetting:
    """What a project's file says. A mistake in it is no network: it must not open one."""
    try:
        return NetworkSetting() if value is None else read(value)
    except BadNetwork:
        return NetworkSetting("off")


def mode(*asked: str | None) -> str:
    """The narrowest of what the instance and the levels inside it ask for."""
    words = (settings.SVC.network.mode or GUARDED, *filter(None, asked))
    return min(words, key=MODES.index)


def network(project: NetworkSetting, asked: str = "") -> Network:
    """The network of a turn of this project; `asked` is what its trigger says."""
    levels = (settings.SVC.network, project)
    listed = {port for level in levels for port in level.ports}
    own = own_ports()
    return Network(
        mode=mode(project.mode, asked),
        ports=tuple(sorted(listed - own.keys())),
        allow=tuple(level.allow for level in levels if level.allow is not None),
        deny=tuple(dict.fromkeys(host for level in levels for host in level.deny)),
        own=tuple(sorted(own)),
    )


def own_ports() -> dict[int, str]:
    """The ports this service listens on, with their names: as they are bound, or will be."""
    try:
        told = orjson.loads((settings.DATA_DIR / "state/server.json").read_bytes())
        return {int(port): str(name) for name, port in told["ports"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _wanted_ports()


def _wanted_ports() -> dict[int, str]:
    from config.web.http.serving import listeners  # loads the server: only while none runs

    return {found.port: found.name for found in listeners(settings.SVC) if found.port}


def wider(asked: str | None, bound: str, outer: str) -> str:
    """Why an inner level does not get the network it asks for; empty when it does."""
    if asked is None or MODES.index(asked) <= MODES.index(bound):
        return ""
    only = "; only an instance with `engines.network: host` lets a project or trigger have it"
    return f'"{asked}" is wider than the {outer}\'s "{bound}"{only if asked == "host" else ""}'


def own_listed(setting: NetworkSetting) -> list[str]:
    """Why a port of this service that is listed stays closed, one sentence each."""
    own = own_ports() if setting.ports else {}
    return [
        f"hostPorts: {port} is this service's own port ({own[port]}), which nothing opens"
        for port in setting.ports
        if port in own
    ]


def refusals(project: NetworkSetting) -> list[str]:
    """Why a value that can be read is not written to a project's file."""
    refused = wider(project.mode, mode(), "instance")
    return [*([refused] if refused else []), *own_listed(project)]


def warnings(value: Any) -> list[str]:
    """What in a hand-written value of a project has no effect, one sentence each."""
    try:
        reasons = refusals(read(value))
    except BadNetwork as error:
        return [f"network: {error}; until it is mended no turn here has a network (off)"]
    return [f"network: {reason}: not used" for reason in reasons]


def of_instance() -> list[str]:
    """What in the instance's own setting has no effect."""
    return [f"engines.network: {reason}: not used" for reason in own_listed(settings.SVC.network)]


def on_host(project: NetworkSetting) -> bool:
    """Whether turns of a project have the machine's own network."""
    return mode(project.mode) == "host"


def red(where: str) -> str:
    """What it means to be `on_host`, for pages and the log."""
    return (
        f"Commands of agents in {where} use this machine's own network (network: host): "
        "they can reach this service and everything that listens here."
    )
