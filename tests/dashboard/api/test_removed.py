"""What was removed over HTTP: listed, and brought back as it was."""

from __future__ import annotations

import pytest

from tests.dashboard.api.raw import refused
from tests.dashboard.served import Served

TEXT = "# mine\nname: 'Shop'   # as it is\nport: 3000\n"


def listed(api, file: str):
    found = api.get("/api/removed").json()["removed"]
    return next((one for one in found if one["file"] == file), None)


def restored(api, file: object):
    return api.post("/api/removed/restore", {"file": file})


def test_a_removed_app_comes_back_byte_for_byte_and_leaves_the_list(served: Served, api, slug):
    path = served.declare(slug, TEXT)
    served.until_state(slug, "stopped")
    removed = api.delete(f"/api/apps/{slug}").json()["removed"]
    shown = listed(api, removed)
    assert (shown["kind"], shown["name"], shown["bytes"]) == ("apps", slug, len(TEXT))
    assert shown["exists"] is False

    answer = restored(api, removed)

    assert answer.json() == {"ok": True, "kind": "apps", "name": slug, "file": f"apps/{slug}.yaml"}
    assert path.read_text() == TEXT
    assert api.get(f"/api/apps/{slug}").json()["name"] == "Shop"
    assert listed(api, removed) is None
    refused(restored(api, removed), 404, "not_found")


def test_a_name_that_is_taken_again_is_not_written_over(served: Served, api, mounted, slug):
    api.put(f"/api/bookmarks/{slug}", {"name": "Old"})
    removed = api.delete(f"/api/bookmarks/{slug}").json()["removed"]
    api.put(f"/api/bookmarks/{slug}", {"name": "New"})
    assert listed(api, removed)["exists"] is True

    refused(restored(mounted, removed), 409, "exists")

    assert api.get(f"/api/bookmarks/{slug}").json()["name"] == "New"
    assert listed(api, removed) is not None


def test_what_was_removed_with_an_error_in_it_stays_where_it_is(served: Served, api, slug):
    path = served.declare(slug, "port: [\n")
    removed = api.delete(f"/api/apps/{slug}").json()["removed"]

    refused(restored(api, removed), 400, "invalid")

    assert not path.exists()
    assert (served.data / "dashboard" / removed).read_text() == "port: [\n"


@pytest.mark.parametrize(
    "file",
    [
        "config.yaml", "backups/removed/apps/../../../config.yaml", "/etc/passwd", "\x00",
        "backups/removed", "backups/removed/apps/a.20261120T115700Z.yaml",
        "backups/removed/config/a.yaml",
    ],
)  # fmt: skip
def test_only_a_removed_file_can_be_brought_back(served: Served, api, file):
    before = (served.data / "dashboard" / "config.yaml").read_bytes()

    refused(restored(api, file), 404, "not_found")

    assert (served.data / "dashboard" / "config.yaml").read_bytes() == before


@pytest.mark.parametrize("file", [None, 3, "", ["a"]])
def test_the_file_must_be_text(api, file):
    assert refused(restored(api, file), 400, "invalid")["issues"][0]["path"] == "file"
