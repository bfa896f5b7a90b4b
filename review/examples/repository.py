"""The bare repository that both examples read: a short history with fixed names and dates."""

from __future__ import annotations

import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path

from config.errors import Unavailable
from config.git import command
from config.git.command import GitError
from config.storage import files

HISTORY = Path(__file__).parent / "history.fast-import"
REFS = {
    "refs/heads/payments/errors": "11b9d9bc117997362fa0d3094672c42c87b0953f",
    "refs/heads/payments/main": "8436c977c44e946a234eeea408c2db825ffeb039",
    "refs/heads/payments/notify": "e459ec049c429557520d539dd92a6b6100a898f3",
    "refs/heads/payments/retry": "ed43ec33e6f5c82545d6478d332d66ad4d6217fb",
    "refs/heads/search/fresh": "bb4297cecaeb49b27eaf03bc2f3e6acae56285b3",
    "refs/heads/search/index": "a9ce791cf582b660b9598243be40fd3823b3d8d7",
    "refs/heads/search/main": "e2215058e90e3089a057dba05e9b8833cd3a361c",
    "refs/heads/search/titles": "bb4297cecaeb49b27eaf03bc2f3e6acae56285b3",
    "refs/heads/search/typing": "88e772b6e72e0a4a9ae12e7e6dc8cb63e59796c2",
    "refs/heads/search/web": "9cd0ce2ca3e905c0789d699dd10be3fd8e5f67cd",
    # the commit that was amended: only this ref keeps it
    "refs/rewritten/payments/retry-1": "d528cba070b4c1bd6930d6074b454a9c535790b0",
}


def ensure(path: Path) -> bool:
    """Make sure the repository is there with all its branches. Whether it had to be made.

    Only one call may run at a time: what an interrupted one left is removed. A repository that
    cannot be used is kept beside the new one as `<name>.damaged-<UTC stamp>`.
    """
    if _is_whole(path):
        return False
    for left in path.parent.glob(f".{path.name}-*"):
        shutil.rmtree(left, ignore_errors=True)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    with files.writing(path.name):
        try:
            draft.mkdir(mode=0o700)
            _import(draft)
            if path.exists() or path.is_symlink():
                path.rename(
                    path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
                )
            draft.rename(path)
        except GitError as error:
            raise Unavailable(
                f"The repository of the examples cannot be made: {error.text}"
            ) from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return True


def discard(path: Path) -> None:
    """Remove a repository that was just made."""
    shutil.rmtree(path, ignore_errors=True)


def _is_whole(path: Path) -> bool:
    try:
        listed = command.run(path, "for-each-ref", "--format=%(objecttype) %(refname)")
    except GitError:
        return False
    return {f"commit {ref}" for ref in REFS} <= set(listed.decode(errors="replace").splitlines())


def _import(draft: Path) -> None:
    command.run(
        draft, "init", "--quiet", "--bare", "--template=", "--object-format=sha1",
        "--initial-branch=payments/main",
    )  # fmt: skip
    command.run(draft, "fast-import", "--quiet", stdin=HISTORY.read_bytes())
