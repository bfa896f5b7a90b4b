"""What happens to files is known and told at once, whatever did it."""

from __future__ import annotations

import subprocess
import time

import pytest

from tests.dashboard.served import Served
from tests.service import until

APP = "name: {name}\nport: 9\nexpected: sometimes\n"


def test_a_new_file_is_an_app_that_is_told_as_added(served: Served) -> None:
    with served.events() as stream:
        served.declare("added", APP.format(name="Added"))

        stream.has(type="app", slug="added", reason="config")
        stream.has(type="apps", reason="added")

        assert served.app("added")["name"] == "Added"


def test_an_edit_by_sed_is_an_event_and_the_refetch_sees_it(served: Served) -> None:
    with served.events() as stream:
        path = served.declare("edited", APP.format(name="Before"))
        stream.has(type="app", slug="edited", reason="config")

    for turn in range(5):
        with served.events() as stream:
            subprocess.run(["sed", "-i", f"s/^name: .*/name: After {turn}/", str(path)], check=True)
            begun = time.monotonic()

            told = stream.has(type="app", slug="edited", reason="config")

            assert served.app("edited")["name"] == f"After {turn}"
            if told["at"] - begun < 0.2:
                return
    pytest.fail("no event of five came within 200 ms")


def test_an_invalid_file_is_told_and_listed_while_its_last_good_version_runs(
    served: Served,
) -> None:
    path = served.declare("broken", APP.format(name="Good"))
    until(lambda: served.app("broken"))
    with served.events() as stream:
        path.write_text("name: Good\nport: 9\nport: 10\n")

        stream.has(type="app", slug="broken", reason="error")

        errors = [
            one for one in served.state()["fileErrors"] if one["file"].endswith("broken.yaml")
        ]
        assert [(one["line"], one["level"]) for one in errors] == [(3, "error")]
        assert served.app("broken")["port"] == 9

    with served.events() as stream:
        path.write_text(APP.format(name="Better"))

        stream.has(type="app", slug="broken", reason="config")

        assert served.app("broken")["fileErrors"] == []
        assert served.app("broken")["name"] == "Better"


def test_a_file_that_was_never_valid_is_an_unknown_app_without_a_config(served: Served) -> None:
    served.declare("hopeless", "port: [\n")

    found = served.until_state("hopeless", "unknown")

    assert (found["reason"], found["config"]) == ("invalid-file", None)


def test_a_removed_file_is_told_as_removed_and_its_app_is_gone(served: Served) -> None:
    path = served.declare("leaving", APP.format(name="Leaving"))
    until(lambda: served.app("leaving"))
    with served.events() as stream:
        path.unlink()

        stream.has(type="app", slug="leaving", reason="removed")
        stream.has(type="apps", reason="removed")

        assert served.app("leaving") == {}


def test_what_the_api_has_written_is_there_when_it_answers_and_told_after(
    served: Served,
) -> None:
    with served.events() as stream:
        made = served.api.put("/api/apps/written", json={"name": "Written", "port": 9})

        assert made.status_code == 201
        assert served.app("written")["name"] == "Written"
        stream.has(type="app", slug="written", reason="config")


def test_a_burst_of_writes_is_one_event_or_two(served: Served) -> None:
    path = served.declare("burst", APP.format(name="Burst"))
    until(lambda: served.app("burst"))
    with served.events() as stream:
        for number in range(100):
            path.write_text(APP.format(name=f"Burst {number}"))
        served.declare("after-burst", APP.format(name="After"))
        stream.has(type="app", slug="after-burst")
        until(lambda: served.app("burst")["name"] == "Burst 99")

        told = [one for one in stream.all if (one.get("type"), one.get("slug")) == ("app", "burst")]

        assert 1 <= len(told) <= 2


def test_a_bookmark_file_and_the_settings_are_told_by_their_kind(served: Served) -> None:
    home = served.data / "dashboard"
    with served.events() as stream:
        (home / "bookmarks").mkdir(exist_ok=True)
        (home / "bookmarks" / "docs.yaml").write_text("name: Docs\nlinks: []\n")
        stream.has(type="bookmarks", group="docs")

        text = (home / "config.yaml").read_text()
        (home / "config.yaml").write_text(f"{text}title: Mine\n")
        stream.has(type="config")

        assert served.state()["config"]["title"] == "Mine"
        (home / "config.yaml").write_text(text)


def test_a_port_that_only_a_restart_would_change_is_named(served: Served) -> None:
    """The environment decides the port of this service, so nothing needs a restart."""
    path = served.data / "dashboard" / "config.yaml"
    text = path.read_text()
    with served.events() as stream:
        path.write_text(f"{text}port: 4999\n")
        stream.has(type="config")

        assert served.api.get("/api/config").json()["restartNeeded"] == []
        path.write_text(text)


def test_a_broken_file_name_is_listed_and_the_list_is_told(served: Served) -> None:
    path = served.data / "dashboard" / "apps" / "No Slug.yaml"
    with served.events() as stream:
        path.write_text("name: x\n")
        stream.has(type="apps", reason="resync")

        files = [one["file"] for one in served.state()["fileErrors"]]

        assert "apps/No Slug.yaml" in files
        path.unlink()
