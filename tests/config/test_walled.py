"""What is read behind a wall lies within it, wherever links lead."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from config.git import walled
from config.git.pool import Pool
from config.git.walled import Wall


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    """Around `shown`, beside which there is a `HEAD` that is not."""
    (tmp_path / "shown/git").mkdir(parents=True)
    (tmp_path / "shown/git/HEAD").write_bytes(b"own")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/HEAD").write_bytes(b"other")
    made = walled.around(["env"], [f"{tmp_path}/shown", f"{tmp_path}/shown/git"])
    assert made
    return made


def refused(path: Path) -> bool:
    for read in (lambda: walled.contents(path, limit=10), lambda: walled.reading(path)):
        with pytest.raises(OSError, match=r"is not shown|Not a directory|levels of|whole path"):
            read()
    return True


def test_no_link_leads_a_read_out_of_the_wall(wall: Wall, tmp_path: Path):
    git = tmp_path / "shown/git"
    with walled.behind(wall):
        assert walled.contents(git / "HEAD", limit=10) == b"own"
        assert refused(tmp_path / "other/HEAD")
        assert refused(tmp_path / "shown/../other/HEAD")
        git.rename(tmp_path / "shown/was")
        git.symlink_to(tmp_path / "other")
        assert refused(git / "HEAD")
        (tmp_path / "shown").rename(tmp_path / "was")
        (tmp_path / "shown").symlink_to(tmp_path)
        assert refused(tmp_path / "shown/other/HEAD")

    assert walled.contents(tmp_path / "shown/other/HEAD", limit=10) == b"other"


def test_what_was_exchanged_before_a_sandbox_showed_it_is_not_read(wall: Wall, tmp_path: Path):
    def said() -> str:
        argv = ["/bin/sh", "-c", wall.check, "sh", "echo", "read"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    before = said()
    (tmp_path / "shown/git").rename(tmp_path / "was")
    (tmp_path / "shown/git").symlink_to(tmp_path / "other")

    assert before == "read\n"
    assert said() == f"fatal: {walled.EXCHANGED}\n"
    with pytest.raises(OSError, match=r"Not a directory|levels of"):
        walled.around(["env"], (*wall.roots, f"{tmp_path}/shown/git/HEAD"))


def test_a_wall_holds_what_lies_in_its_folders_alone(wall: Wall, tmp_path: Path):
    assert wall.holds(tmp_path / "shown")
    assert wall.holds(tmp_path / "shown/git")
    assert not wall.holds(tmp_path / "shown-not")
    assert not wall.holds(tmp_path)


def test_a_wall_ends_with_what_is_done_behind_it(wall: Wall):
    with walled.behind(wall):
        with walled.behind(None):
            assert walled.place() == ()
        assert walled.place() == wall.roots
        with Pool(1) as pool:
            assert pool.submit(walled.standing).result() == wall
    assert walled.standing() is None


def test_where_nobody_is_confined_there_is_no_wall(tmp_path: Path):
    assert walled.around([], [str(tmp_path)]) is None
