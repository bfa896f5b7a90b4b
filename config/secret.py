"""The Django secret: made once in the data directory, the same for every process."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from config.storage import opening


def read_or_make(data_dir: Path) -> str:
    """The secret of this data directory. Of two first starts at once, link() lets one win."""
    path = data_dir / "state" / "secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".svc-tmp-secret-{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first; its secret is the secret
        finally:
            draft.unlink()
    return opening.contents(path).decode()
