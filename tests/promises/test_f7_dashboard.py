"""F7 for the dashboard: a bad file hides nothing, of 21 kinds and in each of its layout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict
from dashboard.files import layout, reading, store
from tests.dashboard.files.world import Home
from tests.promises.test_f7_bad_files import BAD

EARLIER = {"alias of itself": 1, "bomb": 1, "too large": None}  # anchors are refused; 256 KiB
GOOD = "name: Good\nx-kept: 1\n"


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Iterator[Home]:
    settings.DATA_DIR = tmp_path
    reading.clear()
    made = Home(layout.home())
    for file in ("apps/bad.yaml", "apps/fine.yaml", "bookmarks/bad.yaml"):
        made.write(file, GOOD)
    store.look()
    yield made
    reading.clear()


@pytest.mark.promise("F7")
@pytest.mark.parametrize("kind", BAD)
def test_a_broken_file_of_the_dashboard_shows_its_error_and_hides_nothing(home: Home, kind: str):
    data, line = BAD[kind]
    before = {"name": "Good", "x-kept": 1}
    for file in ("apps/bad.yaml", "bookmarks/bad.yaml", "ignore.yaml", "config.yaml"):
        home.write(file, data)

    seen = store.look()

    for entry in (seen.apps["bad"], seen.groups["bad"], seen.ignore, seen.config):
        assert entry.error is not None, entry.name
        assert entry.error.line == EARLIER.get(kind, line), entry.error
    assert (seen.apps["bad"].value, seen.groups["bad"].value) == (before, before)
    assert (seen.apps["fine"].value, seen.apps["fine"].error) == (before, None)
    assert {error.file for error in seen.problems if error.level == "error"} >= {
        "apps/bad.yaml", "bookmarks/bad.yaml", "ignore.yaml", "config.yaml"
    }  # fmt: skip
    with pytest.raises(Conflict) as refused:
        store.patch("apps", "bad", {"name": "new"})
    assert refused.value.code == "invalid_file"
    assert home.read("apps/bad.yaml") == data
