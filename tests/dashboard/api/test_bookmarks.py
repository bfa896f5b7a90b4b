"""Bookmark groups over HTTP: written, bound to a tag, not modified, removed (cases D14, D49)."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from dashboard.files import tags
from tests.dashboard.api.raw import refused
from tests.dashboard.served import Served

DOCS = {"name": "Docs", "links": [{"name": "Here", "url": "http://127.0.0.1:9/"}]}


def path(group: str) -> str:
    return f"/api/bookmarks/{group}"


def file(served: Served, group: str):
    return served.data / "dashboard" / "bookmarks" / f"{group}.yaml"


def test_a_group_is_made_changed_and_removed(served, api, mounted, slug):
    made = api.put(path(slug), DOCS)
    assert made.status_code == 201
    assert made.headers["ETag"] == tags.of(file(served, slug).read_bytes())
    assert made.json()["links"] == [
        {"name": "Here", "url": "http://127.0.0.1:9/", "description": None, "icon": None,
         "tags": [], "hotkey": None}
    ]  # fmt: skip

    changed = mounted.patch(path(slug), {"collapsed": True, "name": None})
    assert (changed.status_code, changed.json()["collapsed"]) == (200, True)
    assert changed.json()["name"] == slug

    removed = api.delete(path(slug)).json()["removed"]
    assert re.fullmatch(rf"backups/removed/bookmarks/{slug}\.\d{{8}}T\d{{6}}Z\.yaml", removed)
    assert refused(api.get(path(slug)), 404, "not_found")["error"] == f'No group "{slug}".'


def test_one_group_brings_the_mapping_of_its_file_and_a_list_does_not(api, slug):
    links = [{"url": "https://u:p@docs.example/", "x-shelf": 3}]
    api.put(path(slug), {"links": links})

    shown = api.get(path(slug)).json()["config"]
    assert shown == {"links": [{"url": "https://***@docs.example/", "x-shelf": 3}]}
    listed = api.get("/api/bookmarks").json()["groups"]
    assert next(one for one in listed if one["group"] == slug)["config"] is None

    shown["links"].append({"url": "https://more.example/"})
    api.patch(path(slug), {"links": shown["links"]})

    text = api.get(f"{path(slug)}?form=yaml").json()["text"]
    kept = ("u:p@docs.example", "x-shelf: 3", "more.example")
    assert [words for words in kept if words not in text] == []


def test_a_change_is_told_with_its_group(served, api, slug):
    with served.events() as stream:
        api.put(path(slug), DOCS)
        stream.has(type="bookmarks", group=slug)


def test_a_group_and_the_list_are_not_modified_until_they_are(api, slug):
    etag = api.put(path(slug), DOCS).headers["ETag"]
    whole = api.get("/api/bookmarks").headers["ETag"]
    assert whole.startswith('W/"')

    for address, tag in ((path(slug), etag), ("/api/bookmarks", whole)):
        for sent in (tag, f'"x", {tag}', f"W/{tag.removeprefix('W/')}", "*"):
            answer = api.get(address, headers={"If-None-Match": sent})
            assert (answer.status_code, answer.headers["ETag"]) == (304, tag)
            assert answer.content == b""

    api.patch(path(slug), {"order": 3})
    for address, tag in ((path(slug), etag), ("/api/bookmarks", whole)):
        assert api.get(address, headers={"If-None-Match": tag}).status_code == 200


def test_the_list_carries_the_tags_that_writes_are_bound_to(api, slug):
    api.put(path(slug), DOCS)
    found = {one["group"]: one for one in api.get("/api/bookmarks").json()["groups"]}
    headers = {"If-Match": found[slug]["etag"]}

    assert api.patch(path(slug), {"order": 1}, headers=headers).status_code == 200
    refused(api.patch(path(slug), {"order": 2}, headers=headers), 409, "changed")
    refused(api.put(path(slug), DOCS, headers=headers), 409, "changed")
    refused(api.delete(path(slug), headers=headers), 409, "changed")
    refused(api.put(path(slug), DOCS, headers={"If-None-Match": "*"}), 409, "exists")


def test_the_text_of_a_group_is_stored_byte_for_byte(served, api, slug):
    text = "# mine\nname:  Docs\nlinks: []\n"

    made = api.put(f"{path(slug)}?form=yaml", {"text": text})

    assert file(served, slug).read_bytes() == text.encode()
    read = api.get(f"{path(slug)}?form=yaml").json()
    assert read == {"group": slug, "text": text, "etag": made.headers["ETag"]}


def test_a_patch_of_no_group_is_404_whatever_it_says(api, slug):
    headers = {"Content-Type": "application/json"}

    refused(api.ask("PATCH", path(slug), content=b"[", headers=headers), 404, "not_found")


def test_an_icon_is_asked_for_by_a_link_of_the_group(api, slug):
    refused(api.get(f"{path(slug)}/icon?url=http://127.0.0.1:9/"), 404, "not_found")
    api.put(path(slug), DOCS)

    told = refused(api.get(f"{path(slug)}/icon"), 400, "bad_query")
    assert told["error"] == 'Query "url" must be a link of the group.'
    refused(api.get(f"{path(slug)}/icon?url=https://elsewhere.example/"), 404, "not_found")
    none = api.client.get(f"{api.base}{path(slug)}/icon?url=http://127.0.0.1:9/")
    assert (none.status_code, none.content) == (204, b"")
    assert none.headers["Cross-Origin-Resource-Policy"] == "same-site"


def test_the_icon_of_a_link_with_a_user_is_asked_for_as_the_link_is_shown(api, slug):
    shown = api.put(path(slug), {"links": [{"url": "http://me:secret@127.0.0.1:9/"}]}).json()
    url = shown["links"][0]["url"]

    assert url == "http://***@127.0.0.1:9/"
    assert api.get(f"{path(slug)}/icon?url={quote(url)}").status_code == 204


@pytest.mark.parametrize("links", [[{"name": "x"}], [{"url": "javascript:alert(1)"}], "x"])
def test_a_link_that_leads_nowhere_is_refused(served, api, slug, links):
    refused(api.put(path(slug), {"links": links}), 400, "invalid")

    assert not file(served, slug).exists()
