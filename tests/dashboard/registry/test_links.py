"""A home behind a link: files name what people type, of a process only the real path is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.files import globs
from tests.dashboard.registry.world import listener, look


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `~` really is."""
    (real := tmp_path / "disk" / "me").mkdir(parents=True)
    (tmp_path / "home").symlink_to(real)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return real


@pytest.mark.parametrize("cwd", ["~/src/shop", "~/src/*", "$HOME/src/sh[o]p"])
def test_an_app_is_recognised_by_a_directory_behind_a_link(real: Path, cwd: str):
    one = listener(3001, f"{real}/src/shop")

    app = look({"shop": f"port: 3000\nmatch: {{cwd: {cwd!r}}}\n"}, one).apps["shop"]

    assert app.sighting is not None
    assert (app.sighting.id, app.port, app.moved_from) == (one.id, 3001, 3000)


def test_a_stranger_in_another_directory_is_still_one(real: Path):
    one = listener(3000, f"{real}/src/other")

    app = look({"shop": "port: 3000\nmatch: {cwd: ~/src/shop}\n"}, one).apps["shop"]

    assert app.stranger is not None


def test_a_directory_behind_a_link_is_ignored_with_all_below_it(real: Path):
    below, beside = listener(3000, f"{real}/scratch/a"), listener(3001, f"{real}/scratches")

    found = look({}, below, beside, ignore="rules: [{dir: ~/scratch}]\n")

    assert [one.id for one in found.ignored] == [below.id]
    assert [one.id for one in found.observed] == [beside.id]


def test_only_the_folders_that_a_glob_names_are_followed(tmp_path: Path):
    (odd := tmp_path / "a[1]*").mkdir()
    (tmp_path / "link").symlink_to(odd)
    (tmp_path / "root").symlink_to("/")
    quoted = f"{tmp_path}/a[[]1][*]"

    assert globs.resolve(f"{tmp_path}/link/x*/y") == f"{quoted}/x*/y"
    assert globs.resolve(f"{tmp_path}/link") == quoted
    assert globs.resolve(quoted) == quoted
    assert globs.fits(globs.resolve(f"{tmp_path}/link/*"), f"{odd}/shop")
    assert globs.resolve(f"{tmp_path}/l*k/x") == f"{tmp_path}/l*k/x"
    assert globs.resolve(f"{tmp_path}/root/srv/*") == "/srv/*"
    assert globs.resolve("/*/x") == "/*/x"
    assert globs.resolve("/") == "/"
    assert globs.resolve(f"{tmp_path}/not/there") == f"{tmp_path}/not/there"
    assert globs.resolve("/\ud800/x") == "/\ud800/x"
