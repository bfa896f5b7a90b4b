"""A full or read-only disk: a clear error, old files intact, and all well once it has room."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from config.storage import displaced, files, yamlio
from config.storage.files import CannotWrite
from tests.config.disks import as_ordinary_user, ordinary_user, quick_folder
from tests.service import ROOT

OLD = b"name: Old\n"


def on_a_full_disk() -> None:
    """Run in a process whose data directory lies on a disk of 4 MiB."""
    from django.conf import settings
    from django.core.management import call_command

    from workspace.projects import store

    call_command("migrate", verbosity=0)
    path = settings.PROJECTS_DIR / "alpha/project.yaml"
    path.parent.mkdir()
    files.write(path, OLD)
    assert store.get("alpha").data == {"name": "Old"}
    filler = settings.DATA_DIR / "filler"
    fill(filler)

    for _ in range(3):
        with pytest.raises(
            CannotWrite, match=r"Cannot write project\.yaml: No space left on device"
        ):
            store.update("alpha", {"summary": "x" * 1_500})
        assert path.read_bytes() == OLD
    path.write_bytes(b"name: N\n")  # by hand; the database has no room for it
    assert store.get("alpha").data == {"name": "N"}
    assert litter(settings.PROJECTS_DIR) == []

    filler.unlink()
    store.update("alpha", {"summary": "room again"})
    assert store.get("alpha").data["summary"] == "room again"


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as stream:
        for size in (1 << 16, 4096, 1):
            with contextlib.suppress(OSError):
                while stream.write(b"x" * size):
                    pass


def litter(folder: Path) -> list[Path]:
    displaced.settle()
    return list(folder.rglob(".svc-tmp-*"))


@pytest.mark.promise("R3")
def test_a_full_disk_is_told_and_harms_nothing(tmp_path: Path):
    code = f"import django; django.setup(); from {__name__} import on_a_full_disk; on_a_full_disk()"
    script = 'mount -t tmpfs -o size=4m none "$SVC_DATA_DIR" || exit 77; exec "$0" -c "$1"'
    flags = "-rm" if os.geteuid() else "-m"  # root as it is: it has to reach the store of this run
    done = subprocess.run(
        ["unshare", flags, "sh", "-c", script, sys.executable, code],
        cwd=ROOT,
        env=os.environ | {"SVC_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no small disk can be mounted here (unshare -rm is not allowed)")
    assert done.returncode == 0, done.stderr


@pytest.mark.promise("R3")
def test_a_read_only_folder_is_told_and_heals_without_a_restart(settings: Any):
    with quick_folder() as folder:
        settings.DATA_DIR = folder
        (folder / "state/locks").mkdir(parents=True)
        path = folder / "project/project.yaml"
        path.parent.mkdir()
        path.write_bytes(OLD)
        for place in (folder, folder / "state/locks", path.parent, path):
            os.chown(place, ordinary_user(), -1)

        def in_child() -> None:
            path.parent.chmod(0o555)
            for _ in range(3):
                with pytest.raises(
                    CannotWrite, match=r"Cannot write project\.yaml: Permission denied"
                ):
                    files.change(path, lambda now: yamlio.set_entry(now or b"", ("name",), "New"))
            assert path.read_bytes() == OLD
            path.parent.chmod(0o755)
            files.change(path, lambda now: yamlio.set_entry(now or b"", ("name",), "New"))
            assert litter(folder) == []

        assert as_ordinary_user(in_child) == 0
        assert path.read_bytes() == b"name: New\n"
