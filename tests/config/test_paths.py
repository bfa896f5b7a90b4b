"""A name from outside is one segment, a path stays below its root."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.storage.paths import UnsafePath, contains, inside, segment


@pytest.mark.parametrize("name", ["a", "-rf", ".git", "a b", "ü" * 127, "..x", "CON", "a\\b", "~"])
def test_a_plain_name_is_returned_as_it_is(name: str):
    assert segment(name) == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "a/b", "/etc", "a\0", "a\nb", "\x7f", "ü" * 128, "\udcff"]
)
def test_what_is_no_file_name_is_refused(name: str):
    with pytest.raises(UnsafePath):
        segment(name)


@pytest.mark.parametrize(
    "relative", ["../x", "a/../../x", "/etc/passwd", "a//b", "", "a/./b", "a/", "a\0b", ".."]
)
def test_a_join_never_climbs(tmp_path: Path, relative: str):
    with pytest.raises(UnsafePath):
        inside(tmp_path, relative)


def test_a_join_may_name_what_does_not_exist_yet(tmp_path: Path):
    assert inside(tmp_path, "a/b/c.md") == tmp_path / "a/b/c.md"


def test_a_symlink_that_stays_below_is_kept_as_it_is(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert inside(tmp_path, "link/x") == tmp_path / "link/x"


def test_a_root_that_is_itself_a_symlink_is_fine(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")

    assert inside(tmp_path / "root", "x") == tmp_path / "root/x"


def test_symlinks_out_and_loops_are_refused(tmp_path: Path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    (root / "file").touch()

    for relative in ("out", "out/x", "loop", "loop/x", "file/x"):
        with pytest.raises(UnsafePath):
            inside(root, relative)


def test_a_sibling_whose_name_begins_alike_is_outside(tmp_path: Path):
    assert not contains(tmp_path / "ab", tmp_path / "abc")
