"""Apps over HTTP: declared, changed, bound to a tag, removed (cases D9 to D22)."""

from __future__ import annotations

import re

import pytest

from dashboard.files import tags
from tests.dashboard.api.raw import refused
from tests.dashboard.served import Served
from tests.described import Api
from tests.service import until

SHOP = {"name": "Shop", "tags": ["web"], "health": {"type": "none"}}


def path(slug: str) -> str:
    return f"/api/apps/{slug}"


def bytes_of(served: Served, slug: str) -> bytes:
    return served.file(slug).read_bytes()


# -- declaring ------------------------------------------------------------------------------------


def test_a_put_declares_an_app_and_the_same_put_changes_nothing(served, api, mounted, slug):
    made = api.put(path(slug), SHOP)

    assert made.status_code == 201
    assert made.headers["Location"] == path(slug)
    assert made.headers["ETag"] == made.json()["etag"] == tags.of(bytes_of(served, slug))
    assert (made.json()["name"], made.json()["config"]) == ("Shop", SHOP)

    stat = served.file(slug).stat()
    again = mounted.put(path(slug), {**SHOP, "slug": slug})

    assert (again.status_code, again.headers["ETag"]) == (200, made.headers["ETag"])
    assert "Location" not in again.headers
    assert served.file(slug).stat().st_mtime_ns == stat.st_mtime_ns


def test_what_was_put_is_read_by_whoever_asks_next(api, mounted, slug):
    made = api.put(path(slug), SHOP).json()

    assert mounted.get(path(slug)).json()["config"] == SHOP
    assert made["etag"] in {app["etag"] for app in mounted.get("/api/apps").json()["apps"]}
    assert slug in {app["slug"] for app in api.get("/api/state").json()["apps"]}


def test_a_write_is_told_once_and_after_the_answer_is_true(served, api, slug):
    with served.events() as stream:
        api.put(path(slug), SHOP)
        stream.has(type="app", slug=slug, reason="config")
        stream.has(type="apps", reason="added")
        api.put(path(slug), SHOP)
        api.delete(path(slug))
        stream.has(type="app", slug=slug, reason="removed")
        stream.has(type="apps", reason="removed")
        told = [one for one in stream.all if one.get("slug") == slug and one["type"] == "app"]

    assert [one["reason"] for one in told] == ["config", "removed"]


def test_all_that_is_wrong_is_told_at_once(api, slug):
    told = refused(api.put(path(slug), {"port": 0, "links": 5, "paused": "no"}), 400, "invalid")

    assert {issue["path"] for issue in told["issues"]} == {"port", "links", "paused"}
    assert told["error"].startswith("3 values are not valid; first: ")


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ({"slug": "other"}, "slug: must be"),
        ({"port": 99999}, "port: "),
        ({"expected": "often"}, "expected: "),
        ({"service": {"command": "x", "user": "root"}}, "service"),
        ({"match": {}}, "match: must have at least one"),
    ],
)
def test_values_that_cannot_be_are_named_and_nothing_is_written(served, api, slug, body, first):
    told = refused(api.put(path(slug), body), 400, "invalid")

    issue = "{path}: {message}".format(**told["issues"][0])
    assert told["error"] == f"1 value is not valid: {issue}."
    assert issue.startswith(first)
    assert not served.file(slug).exists()


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_an_empty_body_says_nothing_to_write(api, slug, method):
    api.put(path(slug), SHOP)
    headers = {"Content-Type": "application/json"}

    told = refused(api.ask(method, path(slug), headers=headers), 400, "bad_json")

    assert told["error"] == "The body is not valid JSON: it is empty."
    assert (told["line"], told["column"]) == (1, 1)


def test_a_secret_is_whole_in_the_detail_and_masked_elsewhere(served, api, slug):
    service = {"command": "true", "env": {"API_KEY": "hush", "MODE": "x"}}
    made = api.put(path(slug), {"service": service})

    assert made.json()["config"]["service"]["env"] == {"API_KEY": "***", "MODE": "x"}
    listed = [app for app in api.get("/api/apps").json()["apps"] if app["slug"] == slug]
    assert listed[0]["config"]["service"]["env"]["API_KEY"] == "***"
    assert api.get(path(slug)).json()["config"]["service"] == service

    api.put(path(slug), {**made.json()["config"], "name": "Kept"})

    assert "hush" in bytes_of(served, slug).decode()


# -- patching -------------------------------------------------------------------------------------


def test_a_patch_merges_and_null_removes_while_comments_stay(served, api, slug):
    api.put(path(slug), SHOP)
    text = "# mine\nname: Shop  # the name\ntags: [web]\nhealth: {type: none}\n"
    served.file(slug).write_text(text)

    done = api.patch(path(slug), {"tags": None, "notes": "open", "health": {"path": "/x"}})

    assert done.status_code == 200
    assert done.json()["config"] == {
        "name": "Shop",
        "health": {"type": "none", "path": "/x"},
        "notes": "open",
    }
    assert bytes_of(served, slug).decode().startswith("# mine\nname: Shop  # the name\n")


def test_a_patch_of_nothing_is_404_whatever_it_says(api, slug):
    assert refused(api.patch(path(slug), {"port": -1}), 404, "not_found")["error"] == (
        f'No app "{slug}".'
    )
    headers = {"Content-Type": "application/json"}
    refused(api.ask("PATCH", path(slug), content=b"{", headers=headers), 404, "not_found")


def test_a_patch_of_a_discovered_app_declares_it(served, api, slug):
    dev = served.dev_server(slug)
    served.seen(dev)
    served.until_state(slug, "up", seconds=20)
    found = api.get(path(slug))
    assert (found.json()["source"], found.headers.get("ETag")) == ("discovered", None)

    done = api.patch(path(slug), {"tags": ["mine"], "name": None})

    assert done.status_code == 201
    assert done.headers["Location"] == path(slug)
    assert done.json()["source"] == "declared"
    config = done.json()["config"]
    assert (config["port"], config["tags"]) == (dev.port, ["mine"])
    assert config["match"] == {"cwd": str(dev.cwd)}
    assert "name" not in config
    assert api.patch(path(slug), {"tags": []}).status_code == 200


def test_a_discovered_app_is_not_deleted(served, api, slug):
    served.seen(served.dev_server(slug))
    served.until_state(slug, "up", seconds=20)

    told = refused(api.delete(path(slug)), 404, "not_found")

    assert told["error"].endswith("claim or ignore it.")


# -- tags -----------------------------------------------------------------------------------------

STALE = '"00000000000000000000000000000000"'


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    ("match", "status", "code"),
    [
        ("*", 200, None),
        ("{etag}", 200, None),
        (f"{STALE}, {{etag}}", 200, None),
        (STALE, 409, "changed"),
        ("W/{etag}", 409, "changed"),
        ("bare", 400, "bad_etag"),
        ('"open', 400, "bad_etag"),
        ("", 400, "bad_etag"),
    ],
)
def test_a_write_may_be_bound_to_what_was_read(served, api, slug, method, match, status, code):
    etag = api.put(path(slug), SHOP).headers["ETag"]
    before = bytes_of(served, slug)
    headers = {"If-Match": match.format(etag=etag)}
    body = {} if method == "DELETE" else {"json": {"name": "New"}}

    answer = api.ask(method, path(slug), headers=headers, **body)

    if code is None:
        assert answer.status_code == status
    else:
        told = refused(answer, status, code)
        assert bytes_of(served, slug) == before
        if code == "changed":
            assert told["etag"] == etag
            assert told["error"] == (
                f"apps/{slug}.yaml has changed since you read it. "
                "Read it again and repeat the change."
            )


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("match", ["*", STALE])
def test_a_file_that_is_not_there_matches_nothing(served, api, slug, method, match):
    body = {} if method == "DELETE" else {"json": {"name": "New"}}

    told = refused(api.ask(method, path(slug), headers={"If-Match": match}, **body), 409, "changed")

    assert told["etag"] is None
    assert not served.file(slug).exists()


def test_create_only_refuses_a_name_that_is_taken(served, api, slug):
    headers = {"If-None-Match": "*"}

    assert api.put(path(slug), SHOP, headers=headers).status_code == 201
    told = refused(api.put(path(slug), {"name": "Mine"}, headers=headers), 409, "exists")
    assert told["error"] == f"apps/{slug}.yaml exists already."
    assert told["etag"] == tags.of(bytes_of(served, slug))


def test_an_app_is_never_not_modified_because_its_state_is_not_in_its_file(api, slug):
    etag = api.put(path(slug), SHOP).headers["ETag"]

    assert api.get(path(slug), headers={"If-None-Match": etag}).status_code == 200


# -- files ----------------------------------------------------------------------------------------


def test_an_invalid_file_is_named_refuses_writes_and_can_be_removed(served, api, slug):
    api.put(path(slug), SHOP)
    with served.events() as stream:
        served.file(slug).write_text("name: Shop\nport: 3000\nport: 3001\n")
        stream.has(type="app", slug=slug, reason="error")
        app = api.get(path(slug)).json()
        assert app["config"] == SHOP
        assert [(one["line"], one["level"]) for one in app["fileErrors"]] == [(3, "error")]
        listed = api.get("/api/apps").json()["fileErrors"]
        assert f"apps/{slug}.yaml" in {one["file"] for one in listed}

        told = refused(api.patch(path(slug), {"name": "x"}), 409, "invalid_file")
        assert (told["file"], told["line"]) == (f"apps/{slug}.yaml", 3)
        assert re.fullmatch(
            rf"apps/{slug}\.yaml is not valid \(line 3: .*\)\. Nothing was written; "
            r"fix it by hand or in the editor\.",
            told["error"],
        )

        served.file(slug).write_text("name: Healed\n")
        until(lambda: api.get(path(slug)).json()["name"] == "Healed", seconds=5)
        served.file(slug).write_text("- no mapping\n")
        assert api.delete(path(slug)).status_code == 200


def test_a_file_that_lies_elsewhere_is_read_and_never_written(served, api, slug, tmp_path):
    elsewhere = tmp_path / "theirs.yaml"
    elsewhere.write_text("name: Theirs\n")
    served.file(slug).parent.mkdir(exist_ok=True)
    served.file(slug).symlink_to(elsewhere)
    until(lambda: served.app(slug).get("name") == "Theirs")

    answer = api.patch(path(slug), {"name": "Mine"})

    told = refused(answer, 503, "read_only")
    assert answer.headers["Retry-After"] == "1"
    assert told["error"].startswith("The disk refused the write: ")
    assert told["error"].endswith(". Nothing was changed.")
    assert elsewhere.read_text() == "name: Theirs\n"


def test_a_removed_app_lies_among_the_removed_ones_and_may_return(served, api, slug):
    api.put(path(slug), SHOP)
    text = bytes_of(served, slug)

    answer = api.delete(path(slug)).json()

    assert answer["ok"] is True
    assert re.fullmatch(rf"backups/removed/apps/{slug}\.\d{{8}}T\d{{6}}Z\.yaml", answer["removed"])
    assert (served.data / "dashboard" / answer["removed"]).read_bytes() == text
    refused(api.get(path(slug)), 404, "not_found")
    refused(api.delete(path(slug)), 404, "not_found")
    assert api.get(f"{path(slug)}/history").status_code == 200
    assert api.put(path(slug), SHOP).status_code == 201


def test_the_text_of_a_file_is_read_and_stored_byte_for_byte(served, api, slug):
    text = "# odd\r\nname:   'Shop'   # why\r\n\r\n\r\ntags: [ web,\r\n   x ]\r\n"

    made = api.put(f"{path(slug)}?form=yaml", {"text": text})
    assert made.status_code == 201
    assert bytes_of(served, slug) == text.encode()

    read = api.get(f"{path(slug)}?form=yaml")
    assert read.json() == {"slug": slug, "text": text, "etag": made.headers["ETag"]}
    assert read.headers["ETag"] == made.headers["ETag"]
    same = api.put(f"{path(slug)}?form=yaml", read.json())
    assert (same.status_code, same.headers["ETag"]) == (200, made.headers["ETag"])


def test_a_broken_text_is_refused_with_its_line_and_a_good_one_repairs_the_file(served, api, slug):
    api.put(path(slug), SHOP)
    told = refused(api.put(f"{path(slug)}?form=yaml", {"text": "a: 1\nb: [\n"}), 400, "invalid")
    assert told["line"] in (2, 3)

    served.file(slug).write_text("name: [\n")
    etag = tags.of(bytes_of(served, slug))
    good = {"text": "name: Good\n"}
    refused(api.put(f"{path(slug)}?form=yaml", good), 409, "invalid_file")
    done = api.put(f"{path(slug)}?form=yaml", good, headers={"If-Match": etag})
    assert (done.status_code, done.json()["name"]) == (200, "Good")


@pytest.mark.parametrize(
    ("query", "body", "code"),
    [
        ("form=yaml", {"text": 5}, "invalid"),
        ("form=yaml", {}, "invalid"),
        ("form=yaml", {"text": "a: 1", "name": "x"}, "invalid"),
        ("form=json", {}, "bad_query"),
        ("form=yaml&form=yaml", {}, "bad_query"),
    ],
)
def test_the_text_form_takes_a_text_and_nothing_else(served, api, slug, query, body, code):
    refused(api.put(f"{path(slug)}?{query}", body), 400, code)

    assert not served.file(slug).exists()


# -- lists and history ----------------------------------------------------------------------------


def test_the_list_is_filtered_and_other_words_are_ignored(api: Api, slug):
    api.put(path(slug), {**SHOP, "tags": [f"t-{slug}"]})

    def slugs(query: str) -> set[str]:
        return {app["slug"] for app in api.get(f"/api/apps?{query}").json()["apps"]}

    assert slugs(f"tag=t-{slug}") == {slug}
    assert slugs(f"tag=t-{slug}&source=declared&nonsense=1&query=zzz") == {slug}
    assert slugs(f"tag=t-{slug}&source=discovered") == set()
    assert slugs(f"tag=t-{slug}&state=up") == set()


@pytest.mark.parametrize(
    "query", ["state=fine", "state=up&state=down", "source=x", "tag=a&tag=b", "state="]
)
def test_a_filter_that_nothing_can_fit_is_refused(api, query):
    refused(api.get(f"/api/apps?{query}"), 400, "bad_query")


@pytest.mark.parametrize(
    ("query", "buckets"), [("", 96), ("window=24h", 96), ("window=7d", 168), ("window=90d", 90)]
)
def test_history_has_its_buckets_also_when_it_is_empty(api, slug, query, buckets):
    api.put(path(slug), SHOP)

    found = api.get(f"{path(slug)}/history?{query}").json()

    assert len(found["buckets"]) == buckets
    assert (found["slug"], found["uptime"], found["latency"]) == (slug, None, None)


@pytest.mark.parametrize("query", ["window=1y", "window=", "window=7d&window=7d"])
def test_another_window_is_refused_after_an_app_that_is_not_there(api, slug, query):
    refused(api.get(f"{path(slug)}/history?{query}"), 404, "not_found")
    api.put(path(slug), SHOP)

    told = refused(api.get(f"{path(slug)}/history?{query}"), 400, "bad_query")

    assert told["error"] == 'Query "window" must be 24h, 7d or 90d.'
