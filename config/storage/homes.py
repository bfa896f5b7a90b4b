"""The home: the identity of a projects directory, by which hosts on one database know their rows.

Hosts that see the same directory read the same id and share its rows and queues. On SQLite there is
one host, and the home is "" (docs/stores.md#several-servers).
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from config.readers import OptionError
from config.storage import opening

FOLDER, FILE = ".svc", "home"  # below the projects directory; never part of a backup
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
_ID = re.compile(rf"[{LETTERS}]{{{LENGTH}}}")


def home() -> str:
    """The home of the projects directory of this service."""
    return str(settings.SVC_HOME)


def mine() -> Q:
    """Rows of this home: what this host may claim, change and remove. On SQLite, all rows."""
    return Q(home=home()) if home() else Q()


def is_mine(of: str) -> bool:
    """Whether rows of the home `of` belong to this one."""
    return of == home() or not home()


def adoptable() -> Q:
    """Rows of this home, and those from before the database had homes."""
    return Q(home__in=("", home())) if home() else Q()


def queue(name: str, of: str | None = None) -> str:
    """The name of a home's queue: only hosts that see its projects take tasks from it."""
    at = home() if of is None else of
    return f"{name}-{at}" if at else name


def queue_for(name: str, row: str) -> str:
    """The queue for a row of the home `row`. On SQLite all rows are this host's."""
    return queue(name, row if home() else "")


def read_or_make(projects_dir: Path) -> str:
    """The id in the directory's file, created at the first start. Of two first starts one wins.

    Raises OptionError for a file that cannot be read or created, or that holds something else.
    """
    path = projects_dir / FOLDER / FILE
    try:
        if not path.exists():
            path.parent.mkdir(exist_ok=True, mode=0o755)
            _make(path)
        text = opening.contents(path).decode("ascii", "replace").strip()
    except OSError as error:
        raise OptionError(
            f"{path} cannot be read or made: {error.strerror}; hosts on one database know each "
            "other's projects by it"
        ) from None
    if not _ID.fullmatch(text):
        raise OptionError(
            f"{path} must hold one id of {LENGTH} letters and digits; write back the one it had, "
            "or remove the file where no other host uses this directory"
        )
    return text


def _make(path: Path) -> None:
    """Create the file, never partial for another host; of two at once, link() lets one win."""
    draft = path.with_name(f".svc-tmp-home-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write("".join(secrets.choice(LETTERS) for _ in range(LENGTH)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another host was first; its id is the id
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
