"""Which network a turn gets, from instance, project and trigger: the narrower setting wins.

The ports opened on each level add up, and so do `deny` lists; each `allow` list has to match. This
service's own ports stay closed whatever the settings say. The reasons:
docs/design/trust.md#the-narrower-setting-wins.
"""

from __future__ import annotations

from typing import Any

import orjson
from django.conf import settings

from config.network import MODES, BadNetwork, NetworkSetting, read
from workspace.engines.network import Network

GUARDED = "guarded"


def parse_setting(value: Any) -> NetworkSetting:
    """The setting in a project's file. An invalid one counts as `off`: it must open nothing."""
    try:
        return NetworkSetting() if value is None else read(value)
    except BadNetwork:
        return NetworkSetting("off")


def mode(*asked: str | None) -> str:
    """The narrowest mode of the instance and of the levels inside it."""
    words = (settings.SVC.network.mode or GUARDED, *filter(None, asked))
    return min(words, key=MODES.index)


def network(project: NetworkSetting, asked: str = "") -> Network:
    """The network of a turn of this project; `asked` is the mode of its trigger."""
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
    """The ports of this service, with their names: as they are bound, or will be."""
    try:
        told = orjson.loads((settings.DATA_DIR / "state/server.json").read_bytes())
        return {int(port): str(name) for name, port in told["ports"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _wanted_ports()


def _wanted_ports() -> dict[int, str]:
    from config.web.http.serving import listeners  # loads the server; reached only while none runs

    return {found.port: found.name for found in listeners(settings.SVC) if found.port}


def wider(asked: str | None, bound: str, outer: str) -> str:
    """Why an inner level does not get the network it asks for; "" if it does."""
    if asked is None or MODES.index(asked) <= MODES.index(bound):
        return ""
    only = "; only an instance with `engines.network: host` lets a project or trigger have it"
    return f'"{asked}" is wider than the {outer}\'s "{bound}"{only if asked == "host" else ""}'


def own_listed(setting: NetworkSetting) -> list[str]:
    """A sentence for each listed port that stays closed because it is this service's own."""
    own = own_ports() if setting.ports else {}
    return [
        f"hostPorts: {port} is this service's own port ({own[port]}), which nothing opens"
        for port in setting.ports
        if port in own
    ]


def refusals(project: NetworkSetting) -> list[str]:
    """Why a valid value must not be written to a project's file; empty if it may."""
    refused = wider(project.mode, mode(), "instance")
    return [*([refused] if refused else []), *own_listed(project)]


def warnings(value: Any) -> list[str]:
    """A sentence for each part of a hand-written value of a project that has no effect."""
    reasons = refusals(parse_setting(value))
    return unreadable(value) or [f"network: {reason}: not used" for reason in reasons]


def unreadable(value: Any) -> list[str]:
    """The sentence about a hand-written value that cannot be read; empty if it can be."""
    try:
        read(value)
    except BadNetwork as error:
        return [f"network: {error}; until it is mended no turn here has a network (off)"]
    return []


def of_instance() -> list[str]:
    """A sentence for each part of the instance's own setting that has no effect."""
    return [f"engines.network: {reason}: not used" for reason in own_listed(settings.SVC.network)]


def on_host(project: NetworkSetting) -> bool:
    """Whether turns of a project have the machine's own network."""
    return mode(project.mode) == "host"


def host_warning(where: str) -> str:
    """The warning about projects that are `on_host`, for pages and the log."""
    return (
        f"Commands of agents in {where} use this machine's own network (network: host): "
        "they can reach this service and everything that listens here."
    )
