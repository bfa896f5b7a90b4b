"""No name, symlink or race leads a read or a write out of its folder."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from config.errors import SvcError
from config.storage import files
from config.storage.paths import UnsafePath, inside
from tests.config.disks import quick_folder
from tests.promises.rings import ring, seeded

PIECES = (
    *(
        "..",
        ".",
        "",
        "a",
        "-rf",
        ".git",
        "~",
        "$HOME",
        "%2e%2e",
        "\\..\\",
        "etc",
        "..;",
        "...",
        " ",
    ),
    *("out", "loop", "pipe", "null", "a\0b", "a\nb", "x" * 256, "ü" * 128, "\udcff"),
)


@pytest.fixture
def places() -> Iterator[tuple[Path, Path]]:
    """A root to stay in, and an outside with something to find."""
    with quick_folder() as folder:
        root, outside = folder / "root", folder / "outside"
        root.mkdir()
        (root / "a").mkdir()
        outside.mkdir()
        (outside / "secret").write_bytes(b"secret")
        (root / "out").symlink_to(outside)
        (root / "loop").symlink_to("loop")
        os.mkfifo(root / "pipe")
        (root / "null").symlink_to("/dev/null")
        yield root, outside


def untouched(outside: Path) -> bool:
    return {p.name: p.read_bytes() for p in outside.iterdir()} == {"secret": b"secret"}


@pytest.mark.promise("G6")
def test_no_combination_of_hostile_names_leaves_the_root(places: tuple[Path, Path]):
    root, outside = places
    rng = seeded()
    written = 0
    for _ in range(ring(fast=600, slow=100_000)):
        name = rng.choice(["", "/", "//"]) + "/".join(rng.choices(PIECES, k=rng.randrange(1, 5)))
        with contextlib.suppress(SvcError, OSError):
            path = inside(root, name)
            found = files.read(path)
            assert found is None or found.data != b"secret"
            files.write(path, b"hostile")
            written += 1

    assert untouched(outside)
    assert written > 10
    assert (root / "null").is_symlink()


@pytest.mark.promise("G6")
def test_a_folder_swapped_under_a_write_or_read_leads_nowhere(places: tuple[Path, Path]):
    root, outside = places
    sub, spare = root / "sub", root / "spare"
    sub.mkdir()
    spare.symlink_to(outside)
    (sub / "secret").write_bytes(b"own")
    stop = threading.Event()
    swapper = threading.Thread(target=swap_for_ever, args=[root, stop])
    swapper.start()
    outcomes: set[object] = set()
    both, least, number = {UnsafePath, b"own"}, ring(fast=200, slow=10_000), 0
    try:
        while number < least or (not both <= outcomes and number < 100 * least):
            number += 1
            new = b"%d" % number
            outcomes.add(outcome(partial(files.write, root / "sub/new", new, within=root)))
            found = outcome(lambda: files.read(root / "sub/secret", within=root))
            assert found != b"secret"
            outcomes.add(found)
    finally:
        stop.set()
        swapper.join()

    assert untouched(outside)
    assert both <= outcomes


def swap_for_ever(root: Path, stop: threading.Event) -> None:
    """`sub` is now a folder, now a symlink to the outside."""
    while not stop.is_set():
        for old, new in (("sub", "x"), ("spare", "sub"), ("x", "spare")):
            with contextlib.suppress(OSError):
                (root / old).rename(root / new)


def outcome(act: Callable[[], files.Snapshot | None]) -> object:
    try:
        found = act()
    except (SvcError, OSError) as error:
        return type(error)
    return found.data if found and not found.data.isdigit() else None


@pytest.mark.promise("G6")
def test_pipes_devices_and_loops_neither_hang_nor_open(places: tuple[Path, Path]):
    root, _ = places

    for name in ("pipe", "null", "loop"):
        with pytest.raises((SvcError, OSError)):
            files.write(root / name, b"x", within=root)
        with pytest.raises((SvcError, OSError)):
            files.read(root / name, within=root)
