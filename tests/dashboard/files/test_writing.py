"""A write changes what it says and nothing else, on the file as it is at that moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict, Invalid, NotFound, SvcError, TooLarge, Unavailable
from config.storage import displaced, files, syscalls
from dashboard.files import layout, store
from dashboard.files.errors import BadValues
from tests.dashboard.files.world import Home, aged, tag

SHOP = b"""\
# the shop
name: Shop   # what it is called
port: 3000

# how it is asked
health: {path: /healthz,   interval: 30s}  # often
tags: [web]
"""


def code_of(call: Any, *args: Any, **kwargs: Any) -> SvcError:
    with pytest.raises(SvcError) as caught:
        call(*args, **kwargs)
    return caught.value


# -- PUT (case D9) ---------------------------------------------------------------------------------


def test_a_new_file_is_private_and_its_etag_is_the_hash_of_its_bytes(home: Home):
    entry, created = store.put("apps", "shop", {"name": "Shop", "port": 3000})

    assert created
    assert home.read("apps/shop.yaml") == b"name: Shop\nport: 3000\n"
    assert entry.etag == tag(b"name: Shop\nport: 3000\n")
    assert (entry.parsed.port, entry.error) == (3000, None)
    assert (home.path / "apps" / "shop.yaml").stat().st_mode & 0o777 == 0o600
    assert (home.path / "apps").stat().st_mode & 0o777 == 0o700


def test_the_same_put_again_does_not_touch_the_file(home: Home):
    value = {"name": "Shop", "port": 3000, "health": {"interval": "30s", "path": "/healthz"},
             "tags": ["web"]}  # fmt: skip
    path = home.write("apps/shop.yaml", SHOP)
    before = files.stat_of(path)

    entry, created = store.put("apps", "shop", value)

    assert not created
    assert files.stat_of(path) == before
    assert entry.etag == tag(SHOP)


def test_a_put_changes_only_what_differs_from_the_file(home: Home):
    home.write("apps/shop.yaml", SHOP)
    value = {"port": 3001, "health": {"path": "/up", "interval": "30s"}, "tags": ["web", "no"],
             "name": "Shop", "expected": "always"}  # fmt: skip

    store.put("apps", "shop", value)

    assert home.read("apps/shop.yaml") == (
        SHOP.replace(b"3000", b"3001").replace(b"/healthz", b"/up")
        .replace(b"[web]", b'[web, "no"]') + b"expected: always\n"
    )  # fmt: skip


def test_the_name_in_a_body_is_that_of_the_path_and_is_not_written(home: Home):
    store.put("apps", "shop", {"slug": "shop", "port": 1})
    store.put("bookmarks", "docs", {"group": "docs", "links": []})

    assert home.read("apps/shop.yaml") == b"port: 1\n"
    assert home.read("bookmarks/docs.yaml") == b"links: []\n"
    error = code_of(store.put, "apps", "shop", {"slug": "other"})
    assert error.text == '1 value is not valid: slug: must be "shop", the name in the path.'


@pytest.mark.parametrize("body", [[], None, "text", 1, True])
def test_a_body_that_is_no_object_is_refused(home: Home, body: Any):
    for call in (store.put, store.patch):
        error = code_of(call, "apps", "shop", body)
        assert (error.status, error.code) == (400, "invalid")
    assert home.tree() == {}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"port": 0}, "port"), ({"port": "3000"}, "port"), ({"tags": ["a", {}]}, "tags"),
        ({"links": [{"name": "a"}]}, "links[0].url"), ({"x-a": "\ud800"}, "x-a"),
        ({"x-a": 2**63}, "x-a"), ({"x-a": float("inf")}, "x-a"), ({"k" * 501: 1}, "body"),
        ({"service": {"command": "x", "user": "root"}}, "service.user"),
        ({"match": {}}, "match"), ({"health": {"status": "200-"}}, "health.status"),
    ],
)  # fmt: skip
def test_a_value_that_is_wrong_is_named_and_nothing_is_written(
    home: Home, body: dict[str, Any], where: str
):
    error = code_of(store.put, "apps", "shop", body)

    assert isinstance(error, BadValues)
    assert (error.status, error.code) == (400, "invalid")
    assert [one["path"] for one in error.extra["issues"]] == [where]
    assert error.text.startswith(f"1 value is not valid: {where}: ")
    assert not home.path.exists()


def test_several_mistakes_are_counted_and_all_told():
    error = code_of(store.put, "apps", "shop", {"port": 0, "url": "ftp://x", "expected": "yes"})

    assert error.text.startswith("3 values are not valid; first: url: must be a URL")
    assert [one["path"] for one in error.extra["issues"]] == ["url", "port", "expected"]


def test_bodies_may_be_nested_32_deep_and_no_deeper():
    def nested(depth: int) -> dict[str, Any]:
        return {} if depth == 1 else {"x-a": nested(depth - 1)}

    store.put("apps", "shop", nested(32))
    with pytest.raises(BadValues, match="nested deeper than 32 levels"):
        store.put("apps", "shop", nested(33))
    with pytest.raises(BadValues, match="nested deeper than 32 levels"):
        store.put("apps", "shop", nested(900))


def test_a_file_never_grows_over_256_kib(home: Home):
    store.put("apps", "shop", {"x-a": "a" * 200_000})
    before = home.tree()

    with pytest.raises(TooLarge, match="larger than 256 KiB"):
        store.patch("apps", "shop", {"x-b": "b" * 100_000})
    with pytest.raises(TooLarge):
        store.put("apps", "other", {"x-a": "a" * 300_000})
    assert home.tree() == before


# -- PATCH (case D10) ------------------------------------------------------------------------------

ODD = (
    b"\xef\xbb\xbf# top\r\n"
    b"'name'  :   \"Shop\"   # called\r\n"
    b"\r\n"
    b"service:   # how\r\n"
    b"       # the command\r\n"
    b"       command:   npm run dev   # dev\r\n"
    b"       env: { NODE_ENV: development,  A: 'b' , }   # two\r\n"
    b"       # gone soon\r\n"
    b"       cwd: ~/src/shop   # where\r\n"
    b"\r\n"
    b"# end of service\r\n"
    b"tags:\r\n"
    b"- web   # one\r\n"
    b"-   api\r\n"
    b"x-Mine: [ 1,2 ,\r\n"
    b"   3 ]   # odd\r\n"
    b"# tail"
)


def test_a_patch_leaves_every_other_byte_of_an_odd_file_alone(home: Home):
    home.write("apps/shop.yaml", ODD)

    store.patch("apps", "shop", {"service": {"command": "make run", "cwd": None}})
    assert home.read("apps/shop.yaml") == ODD.replace(b"npm run dev", b"make run").replace(
        b"       cwd: ~/src/shop   # where\r\n", b""
    )

    home.write("apps/shop.yaml", ODD)
    store.patch("apps", "shop", {"service": {"env": {"A": "no", "NODE_ENV": None}}})
    assert home.read("apps/shop.yaml") == ODD.replace(
        b"{ NODE_ENV: development,  A: 'b' , }", b'{ A: "no" , }'
    )

    home.write("apps/shop.yaml", ODD)
    store.patch("apps", "shop", {"tags": ["web", "api", "2026-11-20"], "port": 1})
    assert home.read("apps/shop.yaml") == ODD.replace(
        b"-   api\r\n", b'-   api\r\n- "2026-11-20"\r\n'
    ).replace(b"# odd\r\n", b"# odd\r\nport: 1\r\n")


def test_a_patch_merges_mappings_replaces_lists_and_null_removes(home: Home):
    home.write("apps/shop.yaml", SHOP)
    entry = store.patch(
        "apps", "shop",
        {"health": {"interval": None, "type": "http"}, "tags": ["a"], "name": None,
         "match": {"port": 3000, "cwd": None}},
    )  # fmt: skip

    assert entry.value == {
        "port": 3000, "health": {"path": "/healthz", "type": "http"}, "tags": ["a"],
        "match": {"port": 3000},
    }  # fmt: skip


def test_a_patch_of_nothing_writes_nothing_and_of_no_file_is_not_found(home: Home):
    path = home.write("apps/shop.yaml", SHOP)
    before = files.stat_of(path)
    store.patch("apps", "shop", {})
    store.patch("apps", "shop", {"port": 3000, "x-none": None})

    assert files.stat_of(path) == before
    assert code_of(store.patch, "apps", "none", {"port": 1}).text == 'No app "none".'
    assert code_of(store.patch, "bookmarks", "none", {}).text == 'No group "none".'
    assert not (home.path / "bookmarks").exists()


def test_a_patch_that_makes_the_whole_invalid_is_refused(home: Home):
    home.write("apps/shop.yaml", "service:\n  command: x\n  cwd: ~/x\n")

    with pytest.raises(BadValues, match=r"service\.command"):
        store.patch("apps", "shop", {"service": {"command": None}})
    assert home.read("apps/shop.yaml") == b"service:\n  command: x\n  cwd: ~/x\n"


@pytest.mark.parametrize("empty", [b"", b"# nothing\n", b"---\n", b"{}\n", b"\xef\xbb\xbf", b"# x"])
def test_an_empty_file_can_be_filled_and_emptied(home: Home, empty: bytes):
    home.write("apps/shop.yaml", empty)
    assert store.put("apps", "shop", {})[0].value == {}
    assert home.read("apps/shop.yaml") == empty

    assert store.patch("apps", "shop", {"port": 1}).value == {"port": 1}
    assert store.patch("apps", "shop", {"port": None}).value == {}
    comment = empty if b"#" in empty else b""
    assert home.read("apps/shop.yaml").startswith(comment)


# -- If-Match (cases D11 to D13) -------------------------------------------------------------------


def test_a_stale_tag_is_refused_with_the_present_one(home: Home):
    home.write("apps/shop.yaml", SHOP)
    home.write("ignore.yaml", "rules: []\n")
    before = home.tree()
    stale = tag(b"other")

    for refused in (
        code_of(store.put, "apps", "shop", {}, if_match=stale),
        code_of(store.patch, "apps", "shop", {}, if_match=stale),
        code_of(store.remove, "apps", "shop", if_match=stale),
        code_of(store.put_text, "apps", "shop", "port: 1\n", if_match=stale),
        code_of(store.patch, "apps", "shop", {"port": 1}, if_match=f"W/{tag(SHOP)}"),
    ):
        assert refused.body() == {
            "error": "apps/shop.yaml has changed since you read it. "
            "Read it again and repeat the change.",
            "code": "changed",
            "etag": tag(SHOP),
        }
    refused = code_of(store.add_ignore, {"port": 1}, if_match=stale)
    assert refused.extra["etag"] == tag(b"rules: []\n")
    assert home.tree() == before


@pytest.mark.parametrize("sent", ["*", "{}", '"other", {}', "W/{}, {}", " {} ,"])
def test_a_matching_tag_passes(home: Home, sent: str):
    home.write("apps/shop.yaml", SHOP)

    sent = sent.replace("{}", tag(SHOP))
    assert store.patch("apps", "shop", {"port": 1}, if_match=sent).parsed.port == 1


@pytest.mark.parametrize("sent", ["abc", "", '"a', 'a"', '"a" "b"', "*, *", '"a",b', '"a\n"'])
def test_what_is_no_tag_is_refused(home: Home, sent: str):
    home.write("apps/shop.yaml", SHOP)

    for call in (store.put, store.patch):
        error = code_of(call, "apps", "shop", {}, if_match=sent)
        assert (error.status, error.code) == (400, "bad_etag")
        assert error.text.startswith(f"If-Match {sent} is not an entity tag; send the ETag as")
    assert code_of(store.remove, "apps", "shop", if_match=sent).code == "bad_etag"


@pytest.mark.parametrize("sent", ["*", tag(SHOP)])
def test_a_tag_never_matches_a_missing_file(home: Home, sent: str):
    for call in (store.put, store.patch):
        assert code_of(call, "apps", "none", {}, if_match=sent).body()["etag"] is None
    assert code_of(store.remove, "apps", "none", if_match=sent).code == "changed"
    assert code_of(store.add_ignore, {"port": 1}, if_match=sent).extra["etag"] == '"absent"'
    assert not home.path.exists()


def test_create_only_refuses_a_file_that_is_there(home: Home):
    home.write("apps/shop.yaml", SHOP)

    error = code_of(store.put, "apps", "shop", {"port": 1}, if_none_match=True)
    assert error.body() == {
        "error": "apps/shop.yaml exists already.", "code": "exists", "etag": tag(SHOP)
    }  # fmt: skip
    assert code_of(store.put_text, "apps", "shop", "", if_none_match=True).code == "exists"
    assert store.put("apps", "new", {"port": 1}, if_none_match=True)[1]


# -- a save that slips in (case D15) ---------------------------------------------------------------


class SlipIn:
    """An editor's save between the writer's check and its swap, once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path, data: bytes) -> None:
        self.path, self.data = path, data
        self.swap = syscalls.exchange
        monkeypatch.setattr(syscalls, "exchange", self)

    def __call__(self, one: str, other: str, folder: int) -> None:
        if self.data:
            data, self.data = self.data, b""
            draft = self.path.with_name(".draft")
            draft.write_bytes(data)
            draft.replace(self.path)
        self.swap(one, other, folder)


def test_with_if_match_the_editor_wins(home: Home, monkeypatch: pytest.MonkeyPatch):
    path = home.write("apps/shop.yaml", SHOP)
    edited = SHOP.replace(b"Shop ", b"Store ")
    SlipIn(monkeypatch, path, edited)

    error = code_of(store.patch, "apps", "shop", {"port": 1}, if_match=tag(SHOP))
    assert (error.code, error.extra["etag"]) == ("changed", tag(edited))
    displaced.settle()
    assert home.tree() == {"apps/shop.yaml": edited}


def test_without_if_match_both_changes_are_there(home: Home, monkeypatch: pytest.MonkeyPatch):
    path = home.write("apps/shop.yaml", SHOP)
    SlipIn(monkeypatch, path, SHOP.replace(b"Shop ", b"Store "))

    store.patch("apps", "shop", {"port": 1})
    assert home.read("apps/shop.yaml") == SHOP.replace(b"Shop ", b"Store ").replace(b"3000", b"1")


# -- files that must not be written ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"port: 1\nport: 2\n", 2, 'the key "port" is given twice'),
        (b"name: a\nport: x\n", 2, "port: must be a whole number"),
        (b"x-a: &a 1\n", 1, "anchors are not supported"),
    ],
)
def test_a_broken_file_refuses_every_change_but_another_app_does_not(
    home: Home, data: bytes, line: int, reason: str
):
    home.write("apps/shop.yaml", data)
    home.write("apps/other.yaml", "port: 1\n")

    for refused in (
        code_of(store.put, "apps", "shop", {"port": 1}),
        code_of(store.patch, "apps", "shop", {"port": 1}),
        code_of(store.put_text, "apps", "shop", "port: 1\n"),
    ):
        assert (refused.status, refused.code) == (409, "invalid_file")
        assert refused.text.startswith(f"apps/shop.yaml is not valid (line {line}: {reason}")
        assert refused.text.endswith("Nothing was written; fix it by hand or in the editor.")
        assert refused.extra["file"] == "apps/shop.yaml"
        assert refused.extra["line"] == line
    assert home.read("apps/shop.yaml") == data
    assert store.remove("apps", "other").startswith("backups/removed/apps/other.")


def test_a_linked_file_is_written_through_and_the_link_stays(home: Home):
    target = Path.home() / "shop.yaml"
    target.write_bytes(SHOP)
    (home.path / "apps").mkdir(parents=True)
    link = home.path / "apps" / "shop.yaml"
    link.symlink_to(target)
    aged(target)

    store.patch("apps", "shop", {"port": 1})

    assert link.is_symlink()
    assert target.read_bytes() == SHOP.replace(b"3000", b"1")


def test_a_link_that_leaves_the_home_directory_is_read_only(home: Home, tmp_path: Path):
    target = tmp_path / "elsewhere.yaml"
    target.write_bytes(SHOP)
    (home.path / "apps").mkdir(parents=True)
    (home.path / "apps" / "shop.yaml").symlink_to(target)
    aged(target)

    assert store.apps()["shop"].parsed.port == 3000
    for call in (store.put, store.patch):
        error = code_of(call, "apps", "shop", {"port": 1})
        assert (error.status, error.code) == (503, "read_only")
        assert error.text.endswith("Nothing was changed.")
    assert target.read_bytes() == SHOP


def test_a_disk_that_refuses_is_told_and_nothing_changed(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    home.write("apps/shop.yaml", SHOP)

    def full(fd: int, data: memoryview) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(syscalls, "write", full)
    for call, arguments in (
        (store.put, ("apps", "shop", {})), (store.patch, ("apps", "shop", {"port": 1})),
        (store.put, ("apps", "new", {})), (store.remove, ("apps", "shop")),
    ):  # fmt: skip
        error = code_of(call, *arguments)
        assert isinstance(error, Unavailable)
        assert error.code == "read_only"
        assert error.text == (
            "The disk refused the write: No space left on device. Nothing was changed."
        )
    assert home.tree() == {"apps/shop.yaml": SHOP}


def test_the_file_keeps_its_mode(home: Home):
    path = home.write("apps/shop.yaml", SHOP)
    path.chmod(0o640)
    store.patch("apps", "shop", {"port": 1})

    assert path.stat().st_mode & 0o777 == 0o640


# -- ignore rules --------------------------------------------------------------------------


def test_a_rule_is_added_once_and_the_comments_stay(home: Home):
    home.write("ignore.yaml", "# noise\nrules:\n  - {port: 5000, reason: AirPlay}  # apple\n")

    entry, rule = store.add_ignore({"process": "rapportd", "reason": "Apple"})
    again, same = store.add_ignore({"process": "rapportd"})

    assert [one.process for one in entry.parsed] == [None, "rapportd"]
    assert (again.etag, same) == (entry.etag, rule)
    assert rule["reason"] == "Apple"
    text = home.read("ignore.yaml").decode()
    assert text.startswith("# noise\nrules:\n  - {port: 5000, reason: AirPlay}  # apple\n")
    assert f'at: "{rule["at"]}"' in text


@pytest.mark.parametrize("data", [None, b"", b"# none\n", b"rules:\n", b"rules: []\n", b"x-a: 1\n"])
def test_the_first_rule_finds_its_place(home: Home, data: bytes | None):
    if data is not None:
        home.write("ignore.yaml", data)

    store.add_ignore({"port": 5000}, if_match=None if data is not None else '"absent"')
    entry, _ = store.add_ignore({"dir": "~/scratch"})

    assert [rule.ports for rule in entry.parsed] == [(5000, 5000), None]
    assert entry.parsed[1].dir == str(Path.home() / "scratch")


def test_a_rule_without_a_datum_is_refused(home: Home):
    with pytest.raises(Invalid, match="must have at least one of port, process and dir"):
        store.add_ignore({"reason": "x"})
    with pytest.raises(NotFound):
        store.text("apps", "none")
    assert not home.path.exists()


def test_home_state_and_cache_lie_in_the_data_directory(tmp_path: Path):
    assert layout.home() == tmp_path / "data" / "dashboard"
    assert layout.state_dir().is_dir()
    assert layout.cache_dir() == tmp_path / "data" / "cache" / "dashboard"
    with pytest.raises(Conflict):
        store.put("apps", "shop", {}, if_match="*")
