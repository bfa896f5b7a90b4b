"""The contents of svc.config.yaml and service.env: nothing if there is no file, and a refused start
if a file cannot be read, since it may hold the restrictions. An unknown key or variable is a
warning that names the nearest known one."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, MutableMapping, Set
from pathlib import Path
from typing import Any

from config import readers
from config.readers import OptionError, refusal
from config.storage import opening, yamlio

SHOWN = 100
REFERENCE = re.compile(r"\benv:(\w+)")
# Variables that are not settings: given to turns, apps and servers of tools, from which a service
# may be started; or read by the commands of the dashboard, by compose, and by tests.
OTHERS = {
    "SVC_TURN_ID", "SVC_CHAT_ID", "SVC_PROJECT", "SVC_TRIGGER", "SVC_EVENT", "SVC_EVENT_CHAT",
    "SVC_EVENT_JSON", "SVC_APP", "SVC_RUN", "SVC_SERVER_ENV", "SVC_DASHBOARD_URL",
    "SVC_IMAGE_EXTRAS", "SVC_POSTGRES_PASSWORD",
}  # fmt: skip
OF_OTHERS = ("SVC_STEP_", "SVC_TEST_")
DATA_DIR, SERVICE_ENV = "~/.svc", "service.env"
LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)=\s*(.*?)\s*", re.ASCII)
QUOTED = re.compile(r"^(['\"])(.*)\1$")


def adopt(environ: MutableMapping[str, str]) -> None:
    """Add the variables of service.env to the environment, without replacing any.

    The job of install-service starts with them (config/process/units.py). Without them, a backup,
    doctor or test of a channel run in a shell would use another database and lack the service's
    tokens and keys.
    """
    place = environ.get("SVC_DATA_DIR", "").strip() or DATA_DIR
    for name, value in variables_of(readers.folder("SVC_DATA_DIR", place) / SERVICE_ENV).items():
        environ.setdefault(name, value)


def variables_of(path: Path) -> dict[str, str]:
    """The lines `NAME=value` of a file, without quotes; empty if there is no file."""
    try:
        text = os.fsdecode(opening.contents(path)).replace("\0", "")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise OptionError(f"{path} cannot be read: {error.strerror or error}") from None
    lines = filter(None, map(LINE.fullmatch, text.split("\n")))
    return {line[1]: QUOTED.sub(r"\2", line[2]) for line in lines}


def read(path: Path, *, asked: bool) -> dict[str, Any]:
    """The mapping in the file. `asked`: the file was named explicitly, so it must exist."""
    if _absent(path):
        if asked:
            raise refusal("SVC_CONFIG", path, "the path of an existing file")
        return {}
    try:
        data = opening.contents(path)
    except FileNotFoundError:
        raise OptionError(f"{path}:1:1: a link that leads to no file") from None
    except OSError as error:
        raise OptionError(f"{path}:1:1: {error.strerror or error}") from None
    return parse(data, path)


def parse(data: bytes, path: Path) -> dict[str, Any]:
    """The mapping that the bytes of a file hold; `path` is its name in a refusal."""
    try:
        tree = yamlio.parse(data).value
    except yamlio.YamlError as error:
        raise OptionError(f"{path}:{error.line}:{error.column}: {error.reason}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise OptionError(f"{path}:1:1: the file must hold a mapping of settings")
    return tree


def _absent(path: Path) -> bool:
    """Whether nothing is there, not even a link. False if that cannot be determined."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def warnings(tree: Mapping[str, Any], known: Set[str], place: str = "") -> list[str]:
    """One line for each key of `tree` that is neither a dotted key of `known` nor a section of one;
    `place` is the prefix of the keys of `tree`.

    Raises OptionError for a section that is not a mapping: what it was meant to set must not be
    guessed.
    """
    sections = {name for key in known for name in _above(key)}
    found: list[str] = []
    for key, value in tree.items():
        name = f"{place}{key}"
        if name in sections:
            inner = {} if value is None else readers.mapping(name, value)
            found += warnings(inner, known, f"{name}.")
        elif name not in known:
            near = (one for one in known | sections if one.startswith(place))
            found.append(f'config: unknown key "{name[:SHOWN]}" ignored{_hint(name, near)}')
    return found


def variables(environ: Iterable[str], tree: Mapping[str, Any], known: Set[str]) -> list[str]:
    """One line for each SVC_ variable that is not a setting and that nothing in `tree` refers to. A
    value may be a secret, so none is repeated."""
    expected = known | set(REFERENCE.findall(str(tree)))
    ours = (name for name in sorted(environ) if name.startswith("SVC_"))
    return [
        f'environment: unknown variable "{name[:SHOWN]}" ignored{_hint(name, expected)}'
        for name in ours
        if name not in expected | OTHERS and not name.startswith(OF_OTHERS)
    ]


def _above(key: str) -> list[str]:
    """The sections that contain a dotted key."""
    parts = key.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts))]


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name[:SHOWN], sorted(known), n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""
