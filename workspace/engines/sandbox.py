"""How commands of agents are confined: the bubblewrap prefix and its probe.

If a required sandbox is missing, or one that exists could not show in time whether it works, turns
do not run without it: the mode is `unavailable` and no turn runs. What it shows and hides:
docs/design/trust.md#what-the-sandbox-shows.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Sequence

from config.process import prctl
from config.process.light_typing import Any, NamedTuple
from workspace.engines import sockets
from workspace.engines.proxy import gateway

PROBE_S = 20
PAUSES_S = (0.05, 0.2)  # before another try
# How bubblewrap reports a path that has changed since the prefix was made, such as a socket that
# was closed since then. With a newly made prefix it may work.
MOVED = "bwrap: Can't "
# How it reports that the machine lacks resources at this moment.
SCARCE = tuple(map(os.strerror, (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)))
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
LOOKED_FOR = {".rustup": "RUSTUP_HOME", ".volta": "VOLTA_HOME", ".asdf": "ASDF_DATA_DIR",
              ".pyenv": "PYENV_ROOT", ".rbenv": "RBENV_ROOT"}  # fmt: skip
SCRIPT = os.path.join(_HERE, "inside.py")
MACHINE = tuple(f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus"))
# The code of the first process and the tools, wherever this service is installed.
OURS = (os.path.join(_ROOT, "workspace"), os.path.join(_ROOT, "config"))


class Sandbox(NamedTuple):
    """`mode` is bwrap, off or unavailable, `reason` is why it is not bwrap, `hide` what it hides,
    `shown` what stays visible nevertheless (`engines.reads`)."""

    mode: str = "off"
    requested: str = "off"
    reason: str | None = None
    hide: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Sandbox:
        paths = {name: tuple(fields[name]) for name in ("hide", "shown")}
        return cls(**(fields | paths))


class _Lacking(NamedTuple):
    """Why there is no sandbox. `passing`: it may work in a moment. `again`: it counts only if a
    second try fails too."""

    reason: str
    passing: bool = False
    again: bool = False


def probe(requested: str, *, hide: tuple[str, ...], scratch: str) -> Sandbox:
    """What SVC_SANDBOX gives on this machine; runs the real prefix with /bin/true. A single failure
    does not decide, because a mount may come or go at that moment."""
    found = Sandbox("bwrap", requested, None, hide)
    if requested == "off":
        return found._replace(mode="off", reason="switched off by SVC_SANDBOX")
    lacking = _try(found, scratch)
    for pause in PAUSES_S:
        if lacking is None or not lacking.again:
            break
        time.sleep(pause)
        lacking = _try(found, scratch)
    if lacking is None:
        return found
    refused = requested == "bwrap" or lacking.passing
    return found._replace(mode="unavailable" if refused else "off", reason=lacking.reason)


def _try(sandbox: Sandbox, scratch: str) -> _Lacking | None:
    import subprocess

    # A socket that is closed at this moment must not look like a machine without bubblewrap.
    argv = wrap(["/bin/true"], sandbox, cwd=scratch, writable=[scratch], covered=False)
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_S,
            check=False,
        )
    except FileNotFoundError:
        return _Lacking("bubblewrap is not installed" if prctl.KNOWN else _no_bubblewrap())
    except subprocess.TimeoutExpired:
        return _Lacking(f"bubblewrap did not answer within {PROBE_S} s", passing=True)
    except OSError as error:
        text = f"bubblewrap could not be started: {error.strerror}"
        return _Lacking(text, passing=error.strerror in SCARCE)
    if done.returncode == 0:
        return None
    line = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    passing = done.returncode < 0 or line.endswith(SCARCE)
    return _Lacking(f"bubblewrap does not work here: {line[:200]}", passing, again=not passing)


def _no_bubblewrap() -> str:
    return f"bubblewrap runs on Linux alone, and this is {os.uname().sysname}"


def wrap(
    argv: list[str],
    sandbox: Sandbox,
    *,
    cwd: str,
    writable: Sequence[str],
    read_only: Sequence[str] = (),
    needed: Sequence[str] = (),
    network: bool = False,
    door: str = "",
    plan: bool = False,
    covered: bool = True,
) -> list[str]:
    """`argv` behind the prefix; `read_only` lies inside what is writable.

    `needed`: what the command has to read although a folder above it is hidden. `network`: it has
    the machine's network; otherwise it has only a loopback, and with `covered` no unix socket but
    the turn's own. `door`: the unix socket through which the sandbox passes out its listening
    sockets (proxy/gateway.py); the proxy is then in the environment.
    """
    if sandbox.mode != "bwrap":
        return argv
    apart = [] if network else ["--unshare-net"]
    away, needed = hidden(sandbox), [*needed, *sandbox.shown]
    prefix = [
        "bwrap", *apart, "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL", "--ro-bind", "/", "/",
        "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    for path in MACHINE:  # root may write these without any capability
        prefix += ["--ro-bind-try", path, path]
    for folder in away:
        prefix += ["--tmpfs", folder]
    for path in _needed_paths(away, needed):
        link = os.path.islink(path)  # what it leads to is among the needed paths, or not hidden
        prefix += ["--symlink" if link else "--ro-bind", os.path.realpath(path), path]
    cwd = os.path.realpath(cwd)
    if not network and covered:
        shown = [sys.prefix, sys.base_prefix, *needed]
        prefix += sockets.covers(away, shown, [cwd, *writable])
    prefix += ["--ro-bind" if plan else "--bind", cwd, cwd]
    for path in writable:
        prefix += ["--bind", path, path]
    for path in read_only:
        if os.path.exists(path):
            prefix += ["--ro-bind", path, path]
    return [*prefix, *_variables(sandbox.shown), *_handed_out(door), "--chdir", cwd, "--", *argv]


def _variables(shown: Sequence[str]) -> list[str]:
    """Variables that name folders which programs expect in the home: the turn has another."""
    named = ((LOOKED_FOR.get(os.path.basename(path)), path) for path in shown)
    return [word for name, path in named if name for word in ("--setenv", name, path)]


def _handed_out(door: str) -> list[str]:
    if not door:
        return []
    given = [word for one in gateway.ENVIRONMENT.items() for word in ("--setenv", *one)]
    return ["--ro-bind", door, gateway.MOUNTED, *given]


def says_moved(said: str) -> bool:
    """Whether a sandbox failed to start for a reason that a newly made prefix may remove."""
    return said.startswith(MOVED)


def inside(program: Sequence[str], addresses: Sequence[str], door: str) -> list[str]:
    """The command of the first process in a sandbox (workspace/engines/inside.py)."""
    mounted = gateway.MOUNTED if door else "-"
    return [sys.executable, "-I", "-S", SCRIPT, mounted, ",".join(addresses), *program]


def hidden(sandbox: Sandbox) -> list[str]:
    """What the sandbox hides: the folders that exist, as real paths. The root cannot be hidden."""
    real = dict.fromkeys(os.path.realpath(folder) for folder in sandbox.hide)
    there = [folder for folder in real if folder != "/" and os.path.isdir(folder)]
    return ["/tmp", "/run", *there]  # noqa: S108 - covered, not used


def sees(sandbox: Sandbox, path: str) -> bool:
    """Whether a turn can see what is at this path."""
    away = hidden(sandbox)
    shown = _needed_paths(away, sandbox.shown)
    return not _below(path, away) or path in shown or _below(path, shown)


def _needed_paths(hidden: list[str], more: Sequence[str]) -> list[str]:
    """Hidden paths that commands need: this Python, and the resolver's real file. A path below
    another of them is left out, as it comes with that one."""
    resolver = os.path.realpath("/etc/resolv.conf")
    wanted = dict.fromkeys([sys.prefix, sys.base_prefix, resolver, *more])
    found = [path for path in wanted if os.path.exists(path) and _below(path, hidden)]
    return [path for path in found if not _below(path, found)]


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
