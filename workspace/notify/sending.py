"""Send one message to one channel; return why it was not taken. Never raises, never takes long.

A command gets JSON on standard input, a scrubbed environment and no shell; it is killed with its
process group when its time is over. A URL gets JSON by POST; redirects are not followed, and
addresses that nothing of this service may reach are refused here too.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings

from config import __version__
from config.errors import printable
from workspace.access import reach, variables
from workspace.chats.turns.recorder import scrub
from workspace.notify import setting
from workspace.notify.setting import BadChannel, Channel

COMMAND_S, URL_S, APPRISE_S = 30.0, 10.0, 25.0
ERROR = 300  # characters
PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "SHELL")
# What a program needs to reach the desktop of its user.
DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
NOT_INSTALLED = "apprise is not installed (make apprise)"


class NotTaken(Exception):
    """A message was not taken; the text is the reason."""


def send(channel: Channel, message: Mapping[str, Any]) -> str:
    """The reason why the channel did not take the message; "" if it did."""
    try:
        if why := lacks(channel):
            raise NotTaken(why)
        if channel.kind == "command":
            _run(channel.command, message, COMMAND_S, _environment(channel))
        elif channel.kind == "url":
            _post(channel, message)
        else:
            _apprise(channel, message)
    except NotTaken as error:
        return printable(scrub(str(error), _secrets(channel)), ERROR)
    except Exception as error:  # a channel is someone else's program and may fail in any way
        return printable(scrub(f"{type(error).__name__}: {error}", _secrets(channel)), ERROR)
    return ""


def lacks(channel: Channel) -> str:
    """What prevents a channel from working at all; "" if nothing does."""
    values = variables.without_secrets(channel.variables)
    if missing := [name for name in channel.variables if not values.get(name, "").strip()]:
        return f"it needs the variable {missing[0]}, which the service does not have"
    if channel.reference:
        try:
            setting.check_address(channel.kind, values[channel.reference])
        except BadChannel as error:
            return f"{channel.reference}: {str(error).partition(': ')[2]}"
    if channel.kind == "apprise" and not has_apprise():
        return NOT_INSTALLED
    return ""


def has_apprise() -> bool:
    return importlib.util.find_spec("apprise") is not None


def _address(channel: Channel) -> str:
    return os.environ[channel.reference] if channel.reference else channel.address


def _secrets(channel: Channel) -> tuple[str, ...]:
    """What no error may repeat: the values of its variables, its address and the path in that."""
    values = [*variables.without_secrets(channel.variables).values()]
    addresses = [channel.address, *values] if channel.kind != "command" else values
    parts = [urlsplit(one) for one in addresses if "://" in one]
    behind = [one.path for one in parts]
    if channel.kind == "apprise":  # its services put tokens in place of a host
        behind += [part for one in parts for part in (one.netloc, *one.path.split("/"))]
    return tuple(filter(None, [*addresses, *behind]))


def _environment(channel: Channel) -> dict[str, str]:
    kept = {name: os.environ[name] for name in (*PASSED, *DESKTOP) if name in os.environ}
    return kept | variables.without_secrets(channel.env)


def _run(
    argv: Sequence[str],
    message: Mapping[str, Any],
    seconds: float,
    env: Mapping[str, str],
    cwd: Path | None = None,
) -> None:
    """Run the program. Raises NotTaken. Files replace pipes, so that nothing waits for a reader."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(orjson.dumps(message) + b"\n")
        given.seek(0)
        try:
            process = subprocess.Popen(
                argv, stdin=given, stdout=subprocess.DEVNULL, stderr=said, env=dict(env),
                cwd=cwd or Path(settings.DATA_DIR), start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise NotTaken(f"{argv[0]} cannot be started: {why}") from None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise NotTaken(f"{argv[0]} did not end within {seconds:.0f} s") from None
        finally:
            _end(process)
        if code:
            size = said.seek(0, os.SEEK_END)
            said.seek(max(0, size - 4096))
            lines = said.read().decode(errors="replace").strip().splitlines()
            ended = f"exit code {code}" if code > 0 else f"signal {-code}"
            raise NotTaken(f"{ended}{f': {lines[-1]}' if lines else ''}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole process group, with anything that the command left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _post(channel: Channel, message: Mapping[str, Any]) -> None:
    """POST the message. Raises NotTaken, or any error of the connection."""
    values = variables.without_secrets(channel.variables)
    headers = {name: f"{before}{values[of]}" for name, (before, of) in channel.headers.items()}
    try:
        status = asyncio.run(
            asyncio.wait_for(_status(_address(channel), headers, orjson.dumps(message)), URL_S)
        )
    except TimeoutError:
        raise NotTaken(f"no answer within {URL_S:.0f} s") from None
    if 300 <= status < 400:
        raise NotTaken(f"it redirects ({status}), which is not followed: write where it leads")
    if not 200 <= status < 300:
        raise NotTaken(f"it answered {status}")


async def _status(address: str, headers: Mapping[str, str], body: bytes) -> int:
    """The status of the response; its body is not read."""
    import httpx2

    from workspace.engines.mcp.judged import Judged
    from workspace.engines.network import Network
    from workspace.engines.proxy.rules import ConnectionNotAllowed, Rules

    rules = Rules(Network(own=tuple(reach.own_ports())), anywhere=True)
    own = {"content-type": "application/json", "user-agent": f"svc/{__version__}"}
    transport = Judged(rules, lambda *_: None)
    async with httpx2.AsyncClient(transport=transport, trust_env=False, timeout=URL_S) as client:
        try:
            sent = client.stream("POST", address, content=body, headers={**own, **headers})
            async with sent as answer:
                return answer.status_code
        except ConnectionNotAllowed as error:
            raise NotTaken(
                str(error).replace("no turn reaches it", "nothing is sent there")
            ) from None
        except httpx2.TransportError as error:
            raise NotTaken(f"no connection: {error}") from None


def _apprise(channel: Channel, message: Mapping[str, Any]) -> None:
    """Run Apprise in a process of its own: the library is large, and the address is a secret that
    no other process may see."""
    argv = [sys.executable, "-m", "workspace.notify.with_apprise"]
    given = {"address": _address(channel), **message}
    _run(argv, given, APPRISE_S, _environment(channel), Path(settings.BASE_DIR))
