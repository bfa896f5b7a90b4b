"""The service as a job of the system's supervisor: a user unit of systemd, a job of launchd.

Both run `manage.py up`, and neither ends what the dashboard started: apps survive restarts and
upgrades. A file that the service did not write, or that was changed since, is never overwritten or
removed.
"""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config import written
from config.errors import Conflict, Invalid, printable
from config.storage import files, opening

STOP_S = 20  # our supervisor is done within 10
RETRY_S = 5
REFUSED = 2  # exit code of a start that would be refused again
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
UNSAFE = frozenset("\"'\\$")  # in the path of a program, systemd.service(5)
MARK = "Written by manage.py install-service, sha256 of the rest:"

UNIT = """\
[Unit]
Description=svc: workspace, review and dashboard
After=network.target
StartLimitIntervalSec=0

[Service]
Type=exec
WorkingDirectory={checkout}
ExecStart={command}
Environment={data_dir}
Environment={path}
EnvironmentFile=-{environment}
Restart=on-failure
RestartSec={retry}
RestartPreventExitStatus={refused}
TimeoutStopSec={stop}
# Apps that the dashboard started outlive a restart: only the service itself is told to end, and
# an app that takes all the memory takes nobody along.
KillMode=process
OOMPolicy=continue

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class Job:
    """What to run, and under which name; all paths are absolute."""

    name: str  # of the unit; the label of launchd's job is dev.<name>
    checkout: Path
    data_dir: Path
    python: Path
    path: str  # PATH: where agents find their programs

    @property
    def argv(self) -> list[str]:
        return [str(self.python), str(self.checkout / "manage.py"), "up"]

    @property
    def environment(self) -> Path:
        """The file of settings and tokens, one `NAME=value` per line; it may be missing."""
        return self.data_dir / written.SERVICE_ENV

    @property
    def label(self) -> str:
        return f"dev.{self.name}"


def here(name: str, checkout: Path, data_dir: Path, environ: Mapping[str, str]) -> Job:
    """The job of this interpreter with this checkout, data directory and PATH. Invalid if a name
    or path is unusable."""
    if not NAME.fullmatch(name):
        raise Invalid(f'name: "{printable(name)}" must be letters, digits, - and _, e.g. svc-work')
    for place in (checkout, data_dir, environ.get("PATH", "")):
        if not str(place).isprintable():
            raise Invalid(f"{printable(str(place))}: a path with control characters cannot be used")
    return Job(
        name=name,
        checkout=checkout,
        data_dir=data_dir.absolute(),
        python=Path(sys.executable).absolute(),
        path=environ.get("PATH", os.defpath),
    )


def systemd(job: Job) -> str:
    """The unit file for ~/.config/systemd/user. Invalid if systemd cannot run this Python."""
    if UNSAFE.intersection(str(job.python)):
        raise Invalid(f"{job.python}: systemd runs no program whose path has quotes, $ or \\")
    body = UNIT.format(
        checkout=_escape(job.checkout),
        command=" ".join(_word(part) for part in job.argv),
        data_dir=_word(f"SVC_DATA_DIR={job.data_dir}", dollars=False),
        path=_word(f"PATH={job.path}", dollars=False),
        environment=_escape(re.sub(r"([\\*?\[])", r"\\\1", str(job.environment))),  # a glob
        retry=RETRY_S,
        refused=REFUSED,
        stop=STOP_S,
    )
    return f"# {MARK} {_digest(body)}\n{body}"


def launchd(job: Job) -> str:
    """The property list file for ~/Library/LaunchAgents.

    A shell reads the environment file, for which launchd has no key, and then execs the service.
    """
    script = f'set -a; [ ! -f "$0" ] || . "$0"; exec {shlex.join(job.argv)}'
    log = str(job.data_dir / "logs" / "service.log")
    tree = {
        "Label": job.label,
        "ProgramArguments": ["/bin/sh", "-c", script, str(job.environment)],
        "WorkingDirectory": str(job.checkout),
        "EnvironmentVariables": {"SVC_DATA_DIR": str(job.data_dir), "PATH": job.path},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 30,
        "ExitTimeOut": STOP_S,
        "AbandonProcessGroup": True,  # apps survive
        "ProcessType": "Interactive",  # people wait for turns: not background work
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    head, _, body = plistlib.dumps(tree).decode().partition("\n")
    return f"{head}\n<!-- {MARK} {_digest(body)} -->\n{body}"


KINDS = {"systemd": systemd, "launchd": launchd}


def native() -> str:
    """The kind of job that this machine uses."""
    return "launchd" if shutil.which("launchctl") else "systemd"


def folder(kind: str) -> Path:
    """The directory in which the supervisor looks for jobs of this user."""
    if kind == "launchd":
        return Path.home() / "Library" / "LaunchAgents"
    config = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(config) if config.startswith("/") else Path.home() / ".config"
    return base / "systemd" / "user"


def place(job: Job) -> Path:
    """The path of this job's file on this machine."""
    kind = native()
    return folder(kind) / (f"{job.label}.plist" if kind == "launchd" else f"{job.name}.service")


def write(path: Path, text: str) -> bool:
    """Write the job file; False if it is there with this text already. Conflict if the file is not
    ours, or is the job of another data directory that still exists (one that is gone was moved)."""
    if (found := _read_text(path)) is not None:
        if found == text:
            return False
        refuse_foreign(path, found)
        refuse_other(path, found, text)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, text.encode(), mode=0o644)
    return True


def remove(path: Path) -> bool:
    """Remove the job file; False if there is none. Conflict if it is not ours."""
    if (found := _read_text(path)) is None:
        return False
    refuse_foreign(path, found)
    path.unlink()
    return True


def refuse_foreign(path: Path, text: str) -> None:
    """Conflict unless we wrote the file and nothing below the mark has changed since."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines[:2]) if MARK in line), None)
    if at is None:
        raise Conflict(
            f"{path} was not written by manage.py install-service, and is left alone; "
            "move it away, or give another name with --name"
        )
    said = lines[at].partition(MARK)[2].split()[0:1]
    if said != [_digest("\n".join(lines[at + 1 :]))]:
        raise Conflict(
            f"{path} was changed by hand since it was written, and is left alone; move it away "
            "first (with systemd your own lines are safe in `systemctl --user edit`)"
        )


def refuse_other(path: Path, found: str, text: str) -> None:
    """Conflict if the job in the file is that of another data directory that still exists."""
    theirs, ours = _data_dir(found), _data_dir(text)
    if theirs != ours and Path(theirs).exists():
        raise Conflict(
            f"{path} is the job of another data directory, {printable(theirs)}, and is left alone; "
            "give this one a name of its own with --name"
        )


def _data_dir(text: str) -> str:
    """The data directory of a job that we wrote."""
    if text.startswith("<?xml"):
        variables: dict[str, str] = plistlib.loads(text.encode())["EnvironmentVariables"]
        return variables["SVC_DATA_DIR"]
    line = next(one for one in text.split("\n") if one.startswith('Environment="SVC_DATA_DIR='))
    value = line.removeprefix('Environment="SVC_DATA_DIR=').removesuffix('"')
    return re.sub(r"\\(.)", r"\1", value).replace("%%", "%")


def _read_text(path: Path) -> str | None:
    try:
        return opening.contents(path).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:32]


def _escape(value: object) -> str:
    """A path of a unit, where % begins a specifier."""
    return str(value).replace("%", "%%")


def _word(value: str, *, dollars: bool = True) -> str:
    """One quoted word of a unit; in a command `$` begins a variable too."""
    quoted = _escape(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted.replace("$", "$$") if dollars else quoted}"'
