"""The version that last used a data directory: an older one must not write what it cannot read.

The format of files and rows changes at most with a minor version, so patch releases are compatible
both ways.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import orjson

from config import __version__
from config.options import OptionError
from config.storage import opening

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})(?:\.\d.*)?")


def stamp(data_dir: Path) -> None:
    """Record that this version uses it, whatever is recorded: call `refuse_newer` before."""
    if last_version(data_dir) == __version__:
        return
    path = _file(data_dir)
    draft = path.with_name(f".svc-tmp-release-{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_bytes(orjson.dumps({"version": __version__}))
    draft.replace(path)


def last_version(data_dir: Path) -> str | None:
    """The version that used it last; None if none is recorded."""
    try:
        version = orjson.loads(opening.contents(_file(data_dir)))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


def newer(version: str | None, than: str = __version__) -> bool:
    """Whether files of this version may be unknown to `than`."""
    given, ours = _VERSION.fullmatch(version or ""), _VERSION.fullmatch(than)
    return bool(given and ours and _pair(given) > _pair(ours))


def refuse_newer(data_dir: Path) -> None:
    """Raise OptionError for a data directory that a newer version has used."""
    version = last_version(data_dir)
    if newer(version):
        raise OptionError(
            f"{data_dir} was used by svc {version}, and this is {__version__}, which may not know "
            f"what that version wrote; install svc {version} or newer, or restore a backup made "
            "before the upgrade into another SVC_DATA_DIR"
        )


def _file(data_dir: Path) -> Path:
    return data_dir / "state" / "release.json"


def _pair(found: re.Match[str]) -> tuple[int, int]:
    return int(found[1]), int(found[2])
