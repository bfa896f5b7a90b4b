"""Places for tests that write thousands of files: memory where there is some, else the disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
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
