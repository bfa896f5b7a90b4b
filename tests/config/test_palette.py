"""What the palette finds: the order, the addresses on each port, and whom it is told."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml
from django.test import RequestFactory
from rest_framework.request import Request
from rest_framework.test import APIClient

from config.errors import Unavailable
from config.web import palette, surfaces
from config.web.palette import MOST, MOST_ALIKE, Badge, Destination, rank
from dashboard import palette as dashboard_palette
from tests.review.repos import Repo
from tests.service import Service, until

ZWJ, NUL = "\u200d", "\x00"


def labels(q: str, *offered: str) -> list[str]:
    given = [("main", Destination(one, one, "/")) for one in offered]
    return [place.label for _, place in rank(given, q)]


def test_the_beginning_of_a_label_goes_before_a_word_that_before_the_middle_and_letters_last():
    offered = ["fleeting note", "release", "Old lease", "lease", "lease of land"]

    assert labels("lease", *offered) == ["lease", "lease of land", "Old lease", "release"]
    assert labels("fn", "half nine", "fleeting note") == ["fleeting note"]


def test_every_word_must_be_found_in_any_order_and_the_hint_counts_when_no_label_fits_as_well():
    shop = Destination("Settings", "page", "/s", "Shop")
    own = Destination("Shop", "project", "/p")

    assert [one for _, one in rank([("main", shop), ("main", own)], "shop")] == [own]
    assert [one for _, one in rank([("main", shop), ("main", own)], "shop sett")] == [shop]
    assert rank([("main", shop)], "shop nothing") == []


def test_case_and_accents_make_no_difference():
    assert labels("RESUME", "Presume", "Résumé of May") == ["Résumé of May", "Presume"]
    assert labels("Łódź 東京", "łódź to 東京") == ["łódź to 東京"]


def test_terms_are_found_though_they_are_not_shown():
    commit = Destination("Fix it", "commit", "/", terms="a1b2c3d4e5f6")

    assert rank([("review", commit)], "a1b2c3d4") == [("review", commit)]


def test_many_of_one_kind_leave_room_for_the_others():
    chats = [("main", Destination(f"Release {n}", "chat", "/")) for n in range(100)]
    app = ("dashboard", Destination("Other release", "app", "/"))
    found = rank([*chats, app], "release")

    assert [place.kind for _, place in found].count("chat") == MOST_ALIKE
    assert found[-1] == app


def test_without_words_each_part_shows_what_it_names_first():
    offered = [
        (part, Destination(f"{n}", "x", "/")) for part in ("main", "review") for n in range(99)
    ]
    found = rank(offered, "  ")

    assert len(found) == MOST
    assert [place.label for part, place in found if part == "review"][:2] == ["0", "1"]


def test_ten_thousand_destinations_are_ranked_in_a_blink():
    offered = [
        ("main", Destination(f"Chat number {n} about things", "chat", "/")) for n in range(10_000)
    ]
    begun = time.process_time()
    rank(offered, "zebra crossing number things 77")

    assert time.process_time() - begun < 1


@pytest.fixture
def api(db) -> APIClient:
    return APIClient(headers={"Host": "localhost"})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A project under review with one commit, the demo, an app and a bookmark."""
    home = tmp_path_factory.mktemp("places")
    repo = Repo(home / "repo")
    repo.commit({"a.txt": "one\n"}, "Begin")
    repo.commit({"a.txt": "two\n"}, "Store refunds beside payments")
    with Service(home, scheduler=False) as running:
        running.http.post("/api/demo").raise_for_status()
        folder = running.projects / "ledgerline"
        folder.mkdir()
        repos = [{"name": "app", "path": str(repo.path), "range": "HEAD~1..HEAD"}]
        (folder / "project.yaml").write_text(yaml.safe_dump({"name": "Ledgerline", "repos": repos}))
        put = {"name": "Tide gauge", "port": 4173}
        running.http.put("/dashboard/api/apps/tide", json=put).raise_for_status()
        group = {"name": "House", "links": [{"name": "Router", "url": "http://192.0.2.1/?a=b"}]}
        running.http.put("/dashboard/api/bookmarks/house", json=group).raise_for_status()
        running.http.get("/review/api/projects").raise_for_status()
        yield running


def ask(url: str, q: str, **headers: str) -> list[dict[str, Any]]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = httpx.get(f"{url}/api/places", params={"q": q}, headers=names, trust_env=False)
    answer.raise_for_status()
    found: list[dict[str, Any]] = answer.json()["places"]
    return found


@pytest.mark.slow
def test_a_project_finds_the_stacks_and_apps_of_its_folder_and_its_folder_is_known(served):
    listed = served.http.get("/review/api/projects/ledgerline").json()
    folder = str(Path(listed["repos"][0]["path"]).expanduser())
    service = {"command": "true", "cwd": f"{folder}/"}
    app = {"name": "Till", "port": 4199, "service": service}
    served.http.put("/dashboard/api/apps/till", json=app).raise_for_status()
    body = {"name": "Till work", "path": folder}
    served.http.post("/api/projects", json=body).raise_for_status()

    around = served.http.get("/api/projects/till-work/around").json()["places"]
    known = served.http.get("/api/folders").json()["folders"]

    assert [(one["label"], one["part"], one["url"]) for one in around] == [
        ("Changes", "review", "/review/p/ledgerline/app/WORKTREE"),
        ("app", "review", "/review/p/ledgerline"),
        ("Till", "dashboard", "/dashboard/#app=till"),
    ]
    assert [one["hint"] for one in around[:2]] == ["all committed", "1 commit"]
    (mine,) = [one for one in known if one["project"] == "till-work"]
    assert (mine["sources"], mine["repository"]) == (["review", "apps"], True)
    served.http.delete("/api/projects/till-work").raise_for_status()


def test_a_place_of_every_kind_is_found_by_its_name(served):
    def first(q: str) -> dict[str, Any]:
        return ask(served.url, q)[0]

    until(lambda: ask(served.url, "refunds"), what="the commit is listed")
    assert first("demo")["url"] == "/projects/demo"
    assert first("demo trig")["url"] == "/projects/demo/triggers"
    assert first("nightly")["url"] == "/projects/demo/triggers?name=nightly-check"
    assert first("first look")["url"].startswith("/projects/demo/chats/")
    assert first("ledger rev") == {
        "label": "Ledgerline", "kind": "review", "part": "review",
        "url": "/review/p/ledgerline", "hint": "Review",
    }  # fmt: skip
    assert first("refunds")["url"].startswith("/review/p/ledgerline/app/")
    assert first("tide")["url"] == "/dashboard/#app=tide"
    assert first("router")["url"] == "http://192.0.2.1/?a=b"


def test_an_address_leads_to_its_part_from_every_port(served):
    by_port = {
        url: {place["part"]: place["url"] for place in ask(url, "") if place["kind"] == "part"}
        for url in (served.review_url, served.dashboard_url)
    }

    main, review = served.ports["main"], served.ports["review"]
    assert by_port[served.review_url]["main"] == f"http://localhost:{main}/"
    assert by_port[served.review_url]["review"] == "/"
    assert by_port[served.dashboard_url]["review"] == f"http://localhost:{review}/"
    assert ask(served.dashboard_url, "")[0]["part"] == "dashboard", "its own part comes first"
    assert ask(f"{served.url}/review", "tide")[0]["url"] == "/dashboard/#app=tide"


def test_a_caller_behind_a_proxy_hears_only_of_the_part_it_was_let_into(served):
    found = ask(served.review_url, "", x_forwarded_for="192.0.2.9")

    assert {place["part"] for place in found} == {"review"}
    badges = httpx.get(
        f"{served.dashboard_url}/api/badges", headers={"X-Forwarded-For": "192.0.2.9"}
    ).json()["badges"]
    assert [badge["part"] for badge in badges] == ["dashboard"]


def test_on_the_main_port_only_this_machine_is_led_to_the_other_parts(served):
    """As their guards decide it: no page, place or badge leads to a refusal."""

    def parts(**headers: str) -> list[set[str]]:
        def get(path: str) -> Any:
            return served.http.get(path, headers=headers).raise_for_status()

        rail = re.findall(r'data-part="(\w+)"', get("/").text)
        badges = get("/api/badges").json()["badges"]
        places = get("/api/places").json()["places"]
        return [set(rail), *({one["part"] for one in found} for found in (badges, places))]

    assert parts() == [{"main", "review", "dashboard"}] * 3
    assert parts(Forwarded="for=192.0.2.9") == [{"main"}] * 3
    assert parts(**{"X-Forwarded-User": "ann"}) == [{"main"}] * 3


def test_a_page_leads_where_the_host_it_was_reached_by_is_answered(tmp_path):
    env = {"SVC_ALLOWED_HOSTS": "svc.example,apps.example", "SVC_FRONTED_HOST": "apps.example"}
    with Service(tmp_path, env=env, scheduler=False) as running:

        def led_to(url: str, host: str) -> list[str]:
            page = httpx.get(f"{url}/", headers={"Host": host}, trust_env=False)
            return re.findall(r'data-part="(\w+)"', page.raise_for_status().text)

        assert led_to(running.url, "svc.example") == ["main"]
        assert led_to(running.url, "apps.example") == ["main", "dashboard"]
        assert led_to(running.dashboard_url, "apps.example") == ["dashboard"]
        assert led_to(running.dashboard_url, "localhost") == ["main", "review", "dashboard"]


@pytest.mark.slow
def test_folders_of_the_other_parts_are_offered_through_a_proxy_too(served):
    headers = {"X-Forwarded-For": "192.0.2.9"}

    near, far = (
        served.http.get("/api/folders", headers=one).json()["folders"] for one in ({}, headers)
    )

    assert "review" in near[0]["sources"]
    assert far == near


@pytest.mark.parametrize(("mode", "told"), [("none", 3), ("jwt", 1)])
def test_where_people_sign_in_the_port_of_a_part_tells_of_that_part_alone(
    settings, monkeypatch, mode, told
):
    monkeypatch.setattr(surfaces, "_ports", {"main": 8000, "review": 5622})
    settings.SVC = SimpleNamespace(auth_mode=mode)
    asked: Any = RequestFactory().get("/api/badges", headers={"Host": "localhost:5622"})
    asked.scope = {"server": ["127.0.0.1", 5622], "path": "/api/badges"}
    asked.surface = surfaces.REVIEW
    monkeypatch.setattr(palette, "_waiting", lambda part: Badge(1, part))

    found = [one["part"] for one in palette.badges(Request(asked))["badges"]]

    assert found[0] == "review"
    assert len(found) == told


@pytest.mark.parametrize("q", ["a b", "%", "'\"*(", "..", f"👩{ZWJ}💻", "مرحبا", "x" * 200])
def test_odd_words_find_something_or_nothing(served, q):
    assert isinstance(ask(served.dashboard_url, q), list)


@pytest.mark.parametrize("mount", ["", "/review", "/dashboard"])
def test_too_many_words_are_refused_with_the_field_and_the_limit(served, mount):
    answer = served.http.get(f"{mount}/api/places", params={"q": "x" * 201})

    assert answer.status_code == 400
    assert "at most 200 characters" in answer.text


def test_badges_count_what_waits(served):
    answer = served.http.get("/api/badges").json()

    assert [badge["part"] for badge in answer["badges"]] == ["main", "review", "dashboard"]
    assert answer["badges"][1] == {
        "part": "review",
        "count": 0,
        "label": "unresolved threads",
        "urgent": False,
    }


def test_a_part_that_fails_is_left_out_and_the_others_answer(api, monkeypatch, caplog):
    def broken() -> None:
        raise RuntimeError("the sensor is off")

    monkeypatch.setattr(dashboard_palette, "destinations", broken)
    monkeypatch.setattr(dashboard_palette, "waiting", broken)

    found = api.get("/api/places").json()["places"]
    badges = api.get("/api/badges").json()["badges"]

    assert {place["part"] for place in found} == {"main", "review"}
    assert [badge["part"] for badge in badges] == ["main", "review"]
    assert "the sensor is off" in caplog.text


def test_a_part_that_is_still_starting_is_left_out_in_silence(api, monkeypatch, caplog):
    def starting() -> None:
        raise Unavailable("The daemon is still starting; try again in a second.", code="starting")

    monkeypatch.setattr(dashboard_palette, "destinations", starting)
    monkeypatch.setattr(dashboard_palette, "waiting", starting)

    found = api.get("/api/places").json()["places"]
    badges = api.get("/api/badges").json()["badges"]

    assert {place["part"] for place in found} == {"main", "review"}
    assert [badge["part"] for badge in badges] == ["main", "review"]
    assert "left out" not in caplog.text
