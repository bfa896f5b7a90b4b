"""The text form stores what the editor holds, and repairs what a hand broke (case D18)."""

from __future__ import annotations

from typing import Any

import pytest

from config.errors import Conflict, NotFound, TooLarge
from config.storage import displaced, files
from dashboard.files import store
from dashboard.files.errors import BadValues
from tests.dashboard.files.world import Home, tag

ODD = "\ufeff# odd\r\nname :   'Shop'\r\n\r\n\r\nport: 0o17 # fifteen\r\nx-mine: {a: 1,\r\n b: 2}"


def test_odd_text_is_stored_byte_for_byte(home: Home):
    entry, created = store.put_text("apps", "shop", ODD)

    assert created
    assert home.read("apps/shop.yaml") == ODD.encode()
    assert store.text("apps", "shop") == (ODD, entry.etag)
    assert entry.parsed.port == 15


def test_the_same_text_again_writes_nothing(home: Home):
    path = home.write("apps/shop.yaml", ODD)
    before = files.stat_of(path)
    store.put_text("apps", "shop", ODD)

    assert files.stat_of(path) == before


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("port: 1\nname: [\n", 3, 1, "text: line 3, column 1: "),
        ("a: 1\na: 2\n", 2, 1, 'text: line 2, column 1: the key "a" is given twice'),
        ("name: a\nport: x\n", 2, 7, "port: must be a whole number from 1 to 65535"),
        ("\x01", 1, 1, "text: line 1, column 1: the character U+0001 is not allowed"),
    ],
)
def test_broken_text_is_refused_with_its_line(
    home: Home, text: str, line: int, column: int, message: str
):
    with pytest.raises(BadValues) as caught:
        store.put_text("apps", "shop", text)

    assert (caught.value.extra["line"], caught.value.extra["column"]) == (line, column)
    assert message in caught.value.text
    assert not home.path.exists()


@pytest.mark.parametrize("text", [None, 1, [], b"port: 1", "\ud800"])
def test_what_is_no_text_is_refused(text: Any):
    with pytest.raises(BadValues, match="text: must be text"):
        store.put_text("apps", "shop", text)


def test_too_much_text_is_refused():
    with pytest.raises(TooLarge):
        store.put_text("apps", "shop", "#" * (256 * 1024 + 1))


def test_an_invalid_file_is_repaired_with_its_tag_and_not_without(home: Home):
    data = b"port: 1\nport: 2\n"
    home.write("apps/shop.yaml", data)
    text, etag = store.text("apps", "shop")
    assert (text, etag) == (data.decode(), tag(data))

    with pytest.raises(Conflict) as caught:
        store.put_text("apps", "shop", "port: 2\n")
    assert caught.value.code == "invalid_file"

    entry, created = store.put_text("apps", "shop", "port: 2\n", if_match=etag)
    assert (entry.parsed.port, entry.error, created) == (2, None, False)


def test_bytes_that_no_text_can_show_are_kept_when_they_are_replaced(home: Home):
    data = b"name: \xff\xfe\n"
    home.write("apps/shop.yaml", data)
    store.put_text("apps", "shop", "name: a\n", if_match=store.text("apps", "shop")[1])
    displaced.settle()

    kept = [one for file, one in home.tree().items() if file.startswith("backups/removed/apps/")]
    assert kept == [data]


def test_a_group_has_a_text_too_and_what_is_not_there_has_none(home: Home):
    store.put_text("bookmarks", "docs", "links: []  # none\n")

    assert store.text("bookmarks", "docs")[0] == "links: []  # none\n"
    with pytest.raises(NotFound, match='No app "none"'):
        store.text("apps", "none")


def test_a_save_through_an_old_handle_is_not_lost_in_a_new_text(home: Home):
    path = home.write("apps/shop.yaml", "port: 1\n")
    with path.open("ab") as editor:
        store.put_text("apps", "shop", "port: 2\n")
        editor.write(b"name: late\n")
    displaced.settle()

    assert home.read("apps/shop.yaml") == b"port: 2\n"
    beside = {file: data for file, data in home.tree().items() if ".conflict-" in file}
    assert list(beside.values()) == [b"port: 1\nname: late\n"]


def test_a_save_through_an_old_handle_is_merged_with_a_patch(home: Home):
    path = home.write("apps/shop.yaml", "port: 1\n")
    with path.open("ab") as editor:
        store.patch("apps", "shop", {"port": 2})
        editor.write(b"name: late\n")
    displaced.settle()

    assert home.tree() == {"apps/shop.yaml": b"port: 2\nname: late\n"}
