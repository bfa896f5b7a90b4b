"""Secrets are shown as ***, and what was shown can be sent back without harm."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.files import masks, store
from dashboard.files.errors import BadValues
from tests.dashboard.files.world import Home

SHOP: dict[str, Any] = {
    "name": "Shop",
    "url": "http://me:secret@localhost:3000/",
    "health": {"headers": {"Authorization": "Bearer x", "X-Token": "t", "Accept": "a"}},
    "service": {
        "command": ["run", "--token", "abc", "--api-key=def", "-v", "postgres://u:p@h/db"],
        "env": {"API_KEY": "k1", "db_password": "p1", "MODE": "dev", "URL": "http://u:p@h/"},
    },
}
SHOWN: dict[str, Any] = {
    "name": "Shop",
    "url": "http://***@localhost:3000/",
    "health": {"headers": {"Authorization": "***", "X-Token": "***", "Accept": "a"}},
    "service": {
        "command": ["run", "--token", "***", "--api-key=***", "-v", "postgres://***@h/db"],
        "env": {"API_KEY": "***", "db_password": "***", "MODE": "dev", "URL": "http://***@h/"},
    },
}


def test_values_named_as_secrets_and_the_users_of_urls_are_masked():
    assert masks.mapping(SHOP) == SHOWN


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("npm run dev", "npm run dev"),
        ("API_KEY=abc npm start", "API_KEY=*** npm start"),
        ("run --token abc  --x", "run --token ***  --x"),
        ("run --password 'a b' c", "run --password *** c"),
        ('X_SECRET="a b" run', "X_SECRET=*** run"),
        ("psql postgres://u:p@h/db?x=1", "psql postgres://***@h/db?x=1"),
        ("run --token --x abc", "run --token *** abc"),
        ('sh -c "cd x; TOKEN=abc run"', 'sh -c "cd x; TOKEN=*** run"'),
        ("run 'https://x/?api_key=abc&a=1'", "run 'https://x/?api_key=***&a=1'"),
        ("cat /keys/a=b", "cat /keys/a=b"),
        ("mail a@b.example", "mail a@b.example"),
        ("'unclosed --token abc", "'unclosed --token ***"),
    ],
)
def test_a_command_line_is_masked_word_by_word(line: str, shown: str):
    assert masks.command(line) == shown


@pytest.mark.parametrize("piece", ["key", "'\"", '"\\', "a://", "key=", "@"])
def test_a_long_line_is_masked_in_time_that_grows_with_its_length(piece: str):
    begun = time.process_time()
    masks.command(piece * 50_000)

    assert time.process_time() - begun < 5


@given(st.text(alphabet="ab=- '\"/:@key", max_size=40))
def test_a_line_without_secrets_keeps_its_blanks_and_a_mask_is_stable(line: str):
    shown = masks.command(line)

    assert masks.command(shown) == shown
    if "key" not in line and "@" not in line:
        assert shown == line


def test_what_was_shown_and_sent_back_keeps_what_is_stored(home: Home):
    store.put("apps", "shop", SHOP)
    before = home.tree()

    store.put("apps", "shop", SHOWN)
    assert home.tree() == before

    entry = store.put("apps", "shop", {**SHOWN, "name": "Store"})[0]
    assert entry.value == {**SHOP, "name": "Store"}


def test_a_patch_with_a_mask_keeps_the_stored_value_and_a_new_value_replaces_it(home: Home):
    store.put("apps", "shop", SHOP)
    patch = {"service": {"env": {"API_KEY": "***", "db_password": "new"}}}
    entry = store.patch("apps", "shop", patch)

    assert entry.value is not None
    assert entry.value["service"]["env"] == {**SHOP["service"]["env"], "db_password": "new"}


def test_arguments_may_move_as_long_as_it_is_clear_what_each_stands_for(home: Home):
    store.put("apps", "shop", SHOP)
    command = ["run", "-x", "--api-key=***", "--token", "***", "-v", "postgres://***@h/db"]

    entry = store.patch("apps", "shop", {"service": {"command": command}})

    assert entry.value is not None
    assert entry.value["service"]["command"] == [
        "run", "-x", "--api-key=def", "--token", "abc", "-v", "postgres://u:p@h/db"
    ]  # fmt: skip


def test_a_mask_that_stands_for_nothing_is_refused(home: Home):
    with pytest.raises(BadValues, match=r'service\.env\.NEW_KEY: the mask "\*\*\*" stands for a'):
        store.put("apps", "new", {"service": {"command": "x", "env": {"NEW_KEY": "***"}}})
    assert not home.path.exists()

    swapped = {"service": {"command": ["run", "--key", "k", "--token", "t"]}}
    store.put("apps", "shop", swapped)
    before = home.tree()
    unclear = ["run", "--token", "***", "--key", "***", "-x"]
    with pytest.raises(BadValues):
        store.patch("apps", "shop", {"service": {"command": unclear}})
    assert home.tree() == before


def test_three_stars_that_hide_nothing_are_three_stars(home: Home):
    value = {"description": "rated ***", "service": {"command": "x", "env": {"STARS": "***"}}}

    assert store.put("apps", "shop", value)[0].value == value
