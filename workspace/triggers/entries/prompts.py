"""Prompt files: read fresh at each firing, from their own folder only."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from config.storage import files, paths
from workspace.triggers.entries.schema import Trigger

MOST = 256 * 1024
NAMED = 200  # the most files that names() lists
_REASONS = {
    errno.EFBIG: f"is larger than {MOST // 1024} KiB",
    errno.EINVAL: "is not a regular file",
    errno.ELOOP: "is a symlink that leads nowhere",
}


class BadPrompt(Exception):
    """There is no usable prompt; the text is the reason, without server paths."""


def read(trigger: Trigger, own_dir: Path) -> str:
    """The prompt as written: inline, or the file as it is now. Raises BadPrompt with the reason."""
    if trigger.run.prompt_file is None:
        return trigger.run.prompt or ""
    label = f"prompt file {trigger.prompt_folder}/{trigger.run.prompt_file}"
    data = _bytes(trigger, own_dir, label)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadPrompt(f"{label} is not UTF-8 text") from None
    if not text.strip() or "\0" in text:
        raise BadPrompt(f"{label} {'holds a NUL' if text.strip() else 'is blank'}")
    return text


def names(own_dir: Path, folder: str) -> list[str]:
    """The .md files below the folder, as a trigger names them; none that a link leads out of it."""
    try:
        root = paths.inside(own_dir, folder)
        found = sorted(path for path in root.rglob("*.md") if path.is_file())
    except (paths.UnsafePath, OSError):
        return []
    home = root.resolve()
    inside = [path for path in found if path.resolve().is_relative_to(home)]
    return [path.relative_to(root).as_posix() for path in inside[:NAMED]]


def exists(trigger: Trigger, own_dir: Path) -> bool:
    """Whether the file is there now; True for a trigger that names none."""
    name = trigger.run.prompt_file
    return name is None or (own_dir / trigger.prompt_folder / name).is_file()


def copy(trigger: Trigger, own_dir: Path, target_folder: str) -> bool:
    """Copy the file, if there is one, to another folder. False when other text is there already."""
    if trigger.run.prompt_file is None or not exists(trigger, own_dir):
        return True
    data = _bytes(trigger, own_dir, "prompt file")
    folder = own_dir / target_folder
    target = folder / trigger.run.prompt_file
    present = files.read(target, limit=MOST, within=folder) if target.exists() else None
    if present is not None:
        return present.data == data
    target.parent.mkdir(parents=True, exist_ok=True)
    files.write(target, data, mode=0o644, within=own_dir)
    return True


def _bytes(trigger: Trigger, own_dir: Path, label: str) -> bytes:
    try:
        folder = paths.inside(own_dir, trigger.prompt_folder)
        path = folder / (trigger.run.prompt_file or "")
        found = files.read(path, limit=MOST, within=folder)
    except paths.UnsafePath:
        raise BadPrompt(f"{label} leads outside {trigger.prompt_folder}/") from None
    except OSError as error:
        number = error.errno or 0
        raise BadPrompt(f"{label} {_REASONS.get(number, os.strerror(number))}") from None
    if found is None:
        raise BadPrompt(f"{label} does not exist")
    return found.data
