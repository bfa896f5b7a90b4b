"""What the system says of a process."""

from __future__ import annotations

from pathlib import Path


def is_gone(pid: int) -> bool:
    """Ended, whether or not the process that adopted it has asked for its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
