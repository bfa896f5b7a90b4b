"""What runs here? Asked with the path a shell shows, which may lead through a link."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard import daemon as daemons
from dashboard.daemon import Daemon
from dashboard.operations.finding import find_app

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_app_is_found_by_either_name_of_its_directory(
    daemon: Daemon, home: Path, tmp_path: Path
) -> None:
    (real := tmp_path / "disk" / "shop").mkdir(parents=True)
    (link := tmp_path / "work").symlink_to(tmp_path / "disk")
    (home / "config.yaml").write_text("screenshots: {enabled: false}\nscan: {enabled: false}\n")
    for slug, cwd in (("by-link", link / "shop"), ("by-place", real)):
        text = f"service: {{command: x, cwd: {cwd}}}\nhealth: {{type: none}}\n"
        (home / "apps" / f"{slug}.yaml").write_text(text)
    daemon.start()
    assert daemon.loaded.wait(10)
    daemons.serve(daemon)

    for asked in (real, link / "shop", link):
        found = find_app(cwd=str(asked))["apps"]
        assert [app["slug"] for app in found] == ["by-link", "by-place"]
    assert find_app(cwd=str(tmp_path / "elsewhere"))["apps"] == []
