"""Places for tests that write thousands of files: memory where there is some, else the disk. And
whom the permissions of files bind."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")  # knows RENAME_EXCHANGE; fsync costs nothing


@contextmanager
def quick_folder() -> Iterator[Path]:
    base = MEMORY if MEMORY.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="svc-tests-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ordinary_user() -> int:
    """Whom permissions bind: nobody when the tests run as root."""
    return os.getuid() or 65534


def as_ordinary_user(act: Callable[[], None]) -> int:
    """Exit status of a child that does it."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.setuid(ordinary_user())
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
