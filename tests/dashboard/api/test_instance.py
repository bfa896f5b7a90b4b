"""State, settings, pictures, the lost notice over HTTP; what is said before the daemon stands."""

from __future__ import annotations

import json

import pytest
import yaml
from django.test import RequestFactory

from config.errors import SvcError
from dashboard.api.apps import AppViewSet
from dashboard.api.instance import InstanceViewSet
from dashboard.consumers import DashboardEndpoint
from dashboard.files import tags
from tests.dashboard.api.raw import refused
from tests.dashboard.served import Served
from tests.described import Api
from tests.service import until

STATES = {"unknown", "starting", "up", "degraded", "down", "stopped", "stopping"}


def test_the_state_is_not_modified_until_something_changes(api: Api, mounted: Api, slug):
    def unchanged() -> bool:
        etag = api.get("/api/state").headers["ETag"]
        assert etag.startswith('W/"')
        answer = mounted.get("/api/state", headers={"If-None-Match": etag})
        return answer.status_code == 304 and answer.headers["ETag"] == etag

    until(unchanged, seconds=20, what="two reads between two probes")
    before = api.get("/api/state")

    api.put(f"/api/apps/{slug}", {"health": {"type": "none"}})

    headers = {"If-None-Match": before.headers["ETag"]}
    after = api.get("/api/state", headers=headers)
    assert after.status_code == 200
    assert after.json()["rev"] > before.json()["rev"]
    assert after.headers["ETag"] == f'W/"{after.json()["boot"]}-{after.json()["rev"]}"'
    assert set(after.json()["counts"]) == STATES


def test_the_settings_are_shown_and_never_written(served: Served, api: Api):
    answer = api.get("/api/config")
    found = answer.json()

    file = served.data / "dashboard" / "config.yaml"
    assert found["path"] == str(file)
    assert found["etag"] == answer.headers["ETag"] == tags.of(file.read_bytes())
    assert found["config"]["health"] == found["defaults"]["health"]
    assert found["source"] == yaml.safe_load(file.read_bytes())
    assert found["source"]["screenshots"] == {"enabled": False}
    again = api.get("/api/config", headers={"If-None-Match": found["etag"]})
    assert again.status_code == 200
    put = api.client.put(f"{api.base}/api/config", json={})
    refused(put, 405, "method_not_allowed")
    assert put.headers["Allow"] == "GET, HEAD"


def test_every_app_has_a_picture_that_is_asked_for_anew(api: Api, slug):
    refused(api.get(f"/api/apps/{slug}/thumb"), 404, "not_found")
    app = api.put(f"/api/apps/{slug}", {"health": {"type": "none"}}).json()

    image = api.get(f"/api/apps/{slug}/thumb")

    assert image.headers["Content-Type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    assert (image.headers["X-Thumb-Kind"], app["thumbKind"]) == ("card", "card")
    assert image.headers["ETag"] == app["thumbEtag"]
    told = {"Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "same-site"}
    again = api.get(f"/api/apps/{slug}/thumb", headers={"If-None-Match": app["thumbEtag"]})
    assert (again.status_code, again.content) == (304, b"")
    for answer in (image, again):
        assert {name: answer.headers[name] for name in told} == told


def test_no_pictures_are_taken_while_screenshots_are_off(api: Api, slug):
    told = refused(api.post("/api/thumbs/refresh"), 409, "screenshots_off")
    assert told["error"] == "Screenshots are off: screenshots.enabled is false in config.yaml."
    refused(api.post("/api/thumbs/refresh", {"slug": slug}), 404, "not_found")
    refused(api.post("/api/thumbs/refresh", {"slug": 5}), 400, "invalid")
    refused(api.post("/api/thumbs/refresh", {"slug": "No"}), 400, "bad_slug")
    refused(api.post("/api/thumbs/refresh", {"all": True}), 400, "invalid")


def test_nothing_was_lost_without_a_reboot(api: Api):
    assert api.get("/api/lost").json() == {"lost": None}
    for action in ("restart", "service", "dismiss"):
        told = refused(api.post(f"/api/lost/o-none/{action}"), 404, "not_found")
        assert told["error"] == 'No lost app "o-none".'
    assert api.post("/api/lost/dismiss").json() == {"lost": None}
    assert api.post("/api/lost/dismiss").json() == {"lost": None}


def test_a_post_without_a_body_says_nothing_more(api: Api):
    headers = {"Content-Type": "application/json"}

    assert api.ask("POST", "/api/lost/dismiss", headers=headers).status_code == 200
    assert api.ask("POST", "/api/scan", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/api/scan", "/api/lost/dismiss", "/api/thumbs/refresh"])
def test_a_body_that_is_no_object_is_refused_where_none_is_needed(api: Api, path):
    headers = {"Content-Type": "application/json"}

    told = refused(api.ask("POST", path, content=b"[]", headers=headers), 400, "bad_json")

    assert told["error"] == "The body is not valid JSON: it must be an object."


def test_until_the_daemon_stands_only_health_answers():
    get = RequestFactory().get("/api/apps")

    answer = AppViewSet.as_view({"get": "list"})(get)
    answer.render()
    health = InstanceViewSet.as_view({"get": "health"})(get)

    assert health.status_code == 200
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert json.loads(answer.content) == {
        "error": "The daemon is still starting; try again in a second.",
        "code": "starting",
    }


def test_a_defect_is_told_by_its_number_alone(monkeypatch, caplog):
    monkeypatch.setattr("dashboard.operations.apps.list_apps", lambda *_args, **_kwargs: 1 / 0)
    request = RequestFactory().get("/api/apps")
    request.request_id = "00ff00ff00ff00ff"  # type: ignore[attr-defined]

    answer = AppViewSet.as_view({"get": "list"})(request)
    answer.render()

    assert answer.status_code == 500
    assert json.loads(answer.content) == {
        "error": "Something failed here (id 00ff00ff00ff00ff); the server log has it.",
        "code": "internal",
        "id": "00ff00ff00ff00ff",
    }
    assert [record.requestId for record in caplog.records] == ["00ff00ff00ff00ff"]


def test_a_defect_of_a_tool_is_told_by_its_number_too():
    endpoint = DashboardEndpoint()
    endpoint.scope = {"request_id": "00ff00ff00ff00ff"}

    told = endpoint.failure(SvcError("internal error"))

    assert told["isError"] is True
    assert told["structuredContent"] == {
        "error": "Something failed here (id 00ff00ff00ff00ff); the server log has it.",
        "code": "internal",
        "id": "00ff00ff00ff00ff",
        "status": 500,
    }
