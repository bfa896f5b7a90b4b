"""Files are read by one strict grammar, and a broken one never stops anything."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from config.storage import files
from dashboard.files import layout, store
from dashboard.files.entries import Entry
from dashboard.files.records import file_error
from tests.dashboard.files.world import Home, aged, tag


def app(name: str = "shop") -> Entry:
    found = store.get("apps", name)
    assert found is not None
    return found


# -- values (case D19) --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("1:30", "1:30"), ("017", 17), ("08", 8), ("0o17", 15),
        ("1_000", "1_000"), ("2026-11-20", "2026-11-20"), ("=", "="), ("<<", "<<"), ("~", None),
        ("TRUE", True), ("yes", "yes"),
    ],
)  # fmt: skip
def test_a_scalar_means_what_yaml_1_2_says(home: Home, text: str, value: Any):
    home.write("apps/shop.yaml", f"x-mine: {text}\n")

    assert app().value == {"x-mine": value}


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        ("port: 1\nname: a\nport: 2\n", 3, 'the key "port" is given twice (first in line 1)'),
        ("x-a: &a [1]\nx-b: *a\n", 1, "anchors are not supported in this file"),
        ("name: a\nx-a: !mine 1\n", 2, "the tag !mine is not supported"),
        ("name: a\norder: .inf\n", 2, ".inf has no place in these files"),
        ("name: a\n1: b\n", 2, "the key 1 is not text; quote it"),
        ("- a\n", 1, "the file must hold a mapping"),
        ("a: 1\n---\nb: 2\n", 2, "a second document begins here"),
        ("x-a: " + "[" * 33 + "]" * 33, 1, "nested deeper than 32 levels"),
        ("name: a\nport: x\n", 2, "port: must be a whole number from 1 to 65535"),
        ("service:\n  cwd: ~/x\n", 1, "service.command: must be a command line"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_app_is_listed(
    home: Home, data: str, line: int, reason: str
):
    home.write("apps/shop.yaml", data)

    entry = app()
    assert entry.error is not None
    assert (entry.error.file, entry.error.line) == ("apps/shop.yaml", line)
    assert entry.error.message.startswith(reason)
    assert (entry.value, entry.parsed) == (None, None)
    assert store.apps()["shop"].error == entry.error


def test_the_column_of_a_wrong_value_is_where_it_begins(home: Home):
    home.write("apps/shop.yaml", "name: a\nservice:\n  command: x\n  ready: {port: none}\n")

    error = app().error
    assert error is not None
    assert (error.line, error.column) == (4, 17)


def test_an_alias_bomb_is_one_error_and_no_work(home: Home):
    lines = ["x-a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"x-a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    home.write("apps/shop.yaml", "\n".join(lines))

    assert app().error is not None


def test_a_file_over_256_kib_is_an_error(home: Home):
    home.write("apps/shop.yaml", "x-a: " + "a" * (256 * 1024))

    assert "larger than 262144 bytes" in app().error.message  # type: ignore[union-attr]


def test_bytes_that_are_no_text_are_an_error_with_a_line(home: Home):
    home.write("apps/shop.yaml", b"name: a\nx-b: \xff\n")

    error = app().error
    assert error is not None
    assert (error.line, error.message) == (2, "not valid UTF-8")


def test_an_empty_file_is_an_app_without_keys(home: Home):
    home.write("apps/shop.yaml", "# nothing yet\n")

    assert (app().value, app().parsed.name, app().error) == ({}, "shop", None)


# -- the last good version (case D17) -------------------------------------------------------------


def test_the_last_good_version_runs_on_until_the_file_is_valid_again(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    assert app().parsed.port == 3000

    home.write("apps/shop.yaml", "port: 3001\nport: 3002\n")
    broken = app()
    assert (broken.parsed.port, broken.value) == (3000, {"port": 3000})
    assert broken.error is not None
    assert broken.error.line == 2
    assert broken.etag == tag(home.read("apps/shop.yaml"))

    home.write("apps/shop.yaml", "port: 3003\n")
    assert (app().parsed.port, app().error) == (3003, None)


def test_a_known_error_keeps_the_time_it_was_first_seen(home: Home):
    home.write("apps/shop.yaml", "port: x\n")
    first = app().error
    home.write("apps/shop.yaml", "port: x\n# touched\n")

    second = app().error
    assert first is not None
    assert second is not None
    assert second.since == first.since
    assert file_error(second)["since"].endswith("Z")
    assert len(file_error(second)["since"]) == 24


def test_a_half_saved_file_is_not_taken_for_its_value(home: Home):
    path = home.write("apps/shop.yaml", "port: 3000\n")
    assert app().parsed.port == 3000
    seen: list[Any] = []

    path.write_bytes(b"")  # an editor truncates, then writes
    reader = threading.Thread(target=lambda: seen.append(app().parsed.port))
    reader.start()
    path.write_bytes(b"port: 3001\n")
    reader.join()

    assert seen == [3001]


def test_a_save_of_the_same_length_is_seen(home: Home):
    path = home.write("apps/shop.yaml", "port: 3000\n")
    for port in range(3001, 3040):
        assert app().parsed.port == port - 1
        path.write_text(f"port: {port}\n")

    assert app().parsed.port == 3039


@pytest.mark.parametrize("file", ["config.yaml", "apps/shop.yaml"])
def test_a_file_that_is_removed_between_the_look_and_the_read_is_no_longer_there(
    home: Home, monkeypatch: pytest.MonkeyPatch, file: str
):
    path, read = home.write(file, "x-mine: 1\n"), files.read

    def late(*args: Any, **kwargs: Any) -> Any:
        path.unlink(missing_ok=True)
        return read(*args, **kwargs)

    monkeypatch.setattr(files, "read", late)
    found = store.look()

    assert found.apps == {}
    assert found.config.value == {}


def test_a_second_save_within_the_same_tick_of_the_clock_is_seen(home: Home):
    path = home.write("apps/shop.yaml", "port: 3000\n")
    tick = time.time_ns() + 10_000_000_000  # the file stays young, however slow this machine is
    os.utime(path, ns=(tick, tick))
    assert app().parsed.port == 3000

    path.write_text("port: 3001\n")
    os.utime(path, ns=(tick, tick))
    assert app().parsed.port == 3001
    assert store.apps()["shop"].parsed.port == 3001


@pytest.mark.parametrize("name", ["apps/shop.yaml", "config.yaml"])
def test_an_error_says_whether_a_good_version_is_in_use(home: Home, name: str):
    def told(text: str) -> list[bool]:
        home.write(name, text)
        return [one.kept for one in store.problems()]

    assert told("health: {interval: x}\n") == told("a: 1\na: 2\n") == [False]
    assert told("health: {interval: 20s}\n") == []
    assert told("a: 1\na: 2\n") == [True]
    if name != "config.yaml":  # of which only the wrong value is not in use
        assert told("health: {interval: x}\n") == [True]


WRONG = "title: 1.10\nhealth: {interval: 1ms, timeout: 2s}\nmcp: {writes: false}\n"


@pytest.mark.parametrize("before", ["", "title: Mine\nhealth: {interval: 20s}\n"])
def test_a_wrong_value_of_config_leaves_the_others_in_use(home: Home, before: str):
    if before:
        home.write("config.yaml", before)
        store.config()

    home.write("config.yaml", WRONG)

    found = store.config()
    assert [error.message.split(":")[0] for error in found.errors] == ["health.interval"]
    assert (found.parsed.title, found.parsed.mcp_writes) == ("1.10", False)
    assert (found.parsed.health.interval, found.parsed.health.timeout) == (30, 2)
    assert found.value == {"title": 1.1, "health": {"timeout": "2s"}, "mcp": {"writes": False}}


@pytest.mark.parametrize("text", ["mcp: {writes: no}", "mcp: false", "mcp: {writes: false}\na: ["])
def test_what_cannot_be_read_lets_no_agent_write(home: Home, text: str):
    home.write("config.yaml", f"{text}\n")

    assert store.config().error is not None
    assert store.config().parsed.mcp_writes is False


def test_what_permits_something_is_off_while_its_value_is_wrong(home: Home):
    home.write("config.yaml", "services: {enabled: no, logKeep: 3}\nicons: {allowPrivate: 0}\n")

    found = store.config().parsed
    assert (found.services.enabled, found.services.log_keep) == (False, 3)
    assert (found.icons_allow_private, found.mcp_writes) == (False, True)


def test_config_has_its_defaults_while_it_is_absent_or_broken(home: Home):
    assert store.config().etag == '"absent"'
    assert store.config().parsed.health.interval == 30

    home.write("config.yaml", "title: [\n")
    assert store.config().error is not None
    assert (store.config().parsed.title, store.config().etag) == ("Apps", tag(b"title: [\n"))

    home.write("config.yaml", "title: Mine\nhealth: {interval: 20s}\n")
    assert (store.config().parsed.title, store.config().parsed.health.interval) == ("Mine", 20)


def test_a_removed_file_is_gone_and_forgotten(home: Home):
    path = home.write("apps/shop.yaml", "port: 3000\n")
    assert app().parsed.port == 3000
    path.unlink()
    assert store.get("apps", "shop") is None

    home.write("apps/shop.yaml", "port: x\n")
    assert app().parsed is None


# -- names (case D8) --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["A", "a.b", "..", "-a", "a-", "a" * 64, "a%2Fb", "a/b", "a\0", "", "é", "a\n", "٣", "."],
)
def test_only_a_slug_names_a_file(home: Home, name: str):
    for call in (store.get, store.text, store.remove):
        with pytest.raises(Exception, match="is not a valid name: use 1 to 63 of") as caught:
            call("apps", name)
        assert caught.value.code == "bad_slug"  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="is not a valid name"):
        store.put("bookmarks", name, {})

    assert home.tree() == {}


@pytest.mark.parametrize("name", ["a", "0", "a-b", "a" * 63, "a--b"])
def test_every_slug_names_a_file(home: Home, name: str):
    assert store.get("apps", name) is None


def test_droppings_of_editors_are_passed_over_and_bad_names_are_told(home: Home):
    for name in (".shop.yaml.swp", "#shop.yaml#", "shop.yaml~", "shop.tmp", "shop.bak",
                 ".#shop.yaml", "4913", "README.md", ".svc-tmp-1-2"):  # fmt: skip
        home.write(f"apps/{name}", "port: 1\n")
    for name in ("Shop.yaml", "a b.yaml", "shop.YAML", "-.yml"):
        home.write(f"apps/{name}", "port: 1\n")

    assert store.apps() == {}
    told = {error.file: error.message for error in store.problems()}
    assert set(told) == {"apps/Shop.yaml", "apps/a b.yaml", "apps/shop.YAML", "apps/-.yml"}
    assert told["apps/Shop.yaml"].startswith('"Shop" is not a valid name: use 1 to 63')
    assert told["apps/shop.YAML"] == 'the name must end in .yaml, not in ".YAML"'


def test_a_name_that_is_no_text_is_told_and_stops_nothing(home: Home):
    home.write("apps/shop.yaml", "port: 1\n")
    Path(os.fsdecode(os.fsencode(home.path / "apps") + b"/\xff.yaml")).write_bytes(b"")

    assert list(store.apps()) == ["shop"]
    assert [error.file for error in store.problems()] == ["apps/�.yaml"]


def test_yml_is_read_and_yaml_wins_over_it(home: Home):
    home.write("apps/shop.yml", "port: 1\n")
    assert (app().parsed.port, app().file) == (1, "apps/shop.yml")

    home.write("apps/shop.yaml", "port: 2\n")
    assert (app().parsed.port, app().file) == (2, "apps/shop.yaml")
    assert [(error.file, error.message.split(" ")[0]) for error in store.problems()] == [
        ("apps/shop.yml", "shop.yaml")
    ]


def test_more_files_than_allowed_are_told_and_not_loaded(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(layout.MOST, "bookmarks", 2)
    for name in "abc":
        home.write(f"bookmarks/{name}.yaml", "links: []\n")

    assert list(store.groups()) == ["a", "b"]
    assert [error.file for error in store.problems()] == ["bookmarks/c.yaml"]
    with pytest.raises(Exception, match="there are 2 bookmarks; no more fit"):
        store.put("bookmarks", "d", {})


# -- what is no plain file -----------------------------------------------------------------------


def test_a_symlinked_file_is_read_from_its_target(home: Home):
    target = Path.home() / "dotfiles.yaml"
    target.write_text("port: 3000\n")
    aged(target)
    (home.path / "apps").mkdir(parents=True)
    (home.path / "apps" / "shop.yaml").symlink_to(target)

    assert app().parsed.port == 3000
    target.write_text("port: 3001\n")
    aged(target)
    assert app().parsed.port == 3001


def test_pipes_folders_loops_and_dangling_links_are_errors_and_stop_nothing(home: Home):
    apps = home.path / "apps"
    home.write("apps/good.yaml", "port: 1\n")
    os.mkfifo(apps / "pipe.yaml")
    (apps / "folder.yaml").mkdir()
    (apps / "loop.yaml").symlink_to("loop.yaml")
    (apps / "nowhere.yaml").symlink_to("/nonexistent/x")

    found = store.apps()
    assert {name: bool(entry.error) for name, entry in found.items()} == {
        "folder": True, "good": False, "loop": True, "nowhere": True, "pipe": True,
    }  # fmt: skip
    assert "symlink to nothing" in found["nowhere"].error.message  # type: ignore[union-attr]
    assert len(store.problems()) == 4


@pytest.mark.parametrize("name", ["config", "ignore"])
def test_a_single_file_that_could_never_be_read_has_its_defaults(home: Home, name: str):
    (home.path / f"{name}.yaml").mkdir(parents=True)

    found = store.config() if name == "config" else store.ignore()

    assert found.error
    assert found.parsed is not None


def test_a_folder_that_cannot_be_read_is_told_and_the_apps_run_on(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    assert store.apps()["shop"].parsed.port == 3000
    apps = home.path / "apps"
    apps.rename(home.path / "moved")
    apps.write_text("no folder")

    assert store.apps()["shop"].parsed.port == 3000
    assert [(error.file, error.message) for error in store.problems()] == [
        ("apps", "the folder cannot be read: Not a directory")
    ]


def test_a_save_that_could_not_be_merged_is_told(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    home.write("apps/shop.yaml.conflict-20261120T115700Z-2", "port: 1\n")

    assert list(store.apps()) == ["shop"]
    (told,) = store.problems()
    assert (told.file, told.level) == ("apps/shop.yaml.conflict-20261120T115700Z-2", "warning")
    assert store.problems() == [told]
