"""Services over HTTP: actions, refusals, logs (cases D40, D46)."""

from __future__ import annotations

import sys

import pytest

from tests.dashboard.api.raw import refused
from tests.dashboard.served import Served
from tests.described import Api
from tests.service import free_port, until

SERVE = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1"]


def declare(served: Served, api: Api, slug: str, **service: object) -> int:
    """An app with a service; its port."""
    port = free_port()
    cwd = served.tmp / slug
    cwd.mkdir(exist_ok=True)
    block = {"command": [*SERVE, str(port)], "cwd": str(cwd), **service}
    assert api.put(f"/api/apps/{slug}", {"port": port, "service": block}).status_code == 201
    return port


def act(api: Api, slug: str, action: str):
    return api.post(f"/api/apps/{slug}/service/{action}")


def test_a_service_is_started_restarted_and_stopped(served, api, mounted, slug):
    declare(served, api, slug)

    first, second = act(api, slug, "start").json(), act(mounted, slug, "start").json()
    assert (first["ok"], first["already"], first["status"]) == (True, False, "running")
    assert (second["ok"], second["already"], second["pid"]) == (True, True, first["pid"])
    assert first["app"]["slug"] == slug
    assert first["app"]["service"]["status"] == "running"

    again = act(api, slug, "restart").json()
    assert again["ok"] is True
    assert again["pid"] != first["pid"]

    told = refused(api.delete(f"/api/apps/{slug}"), 409, "running")
    assert told["error"] == f'Service "{slug}" is running. Stop it first, or send ?stop=true.'
    assert served.file(slug).exists()

    done, over = act(api, slug, "stop").json(), act(api, slug, "stop").json()
    assert (done["ok"], done["already"], done["status"]) == (True, False, "stopped")
    assert (over["ok"], over["already"]) == (True, True)
    assert api.delete(f"/api/apps/{slug}").status_code == 200


def test_a_running_app_is_removed_when_its_service_may_be_stopped(served, api, slug):
    declare(served, api, slug)
    act(api, slug, "start")

    refused(api.delete(f"/api/apps/{slug}?stop=maybe"), 400, "bad_query")
    stale = {"If-Match": '"x"'}
    refused(api.delete(f"/api/apps/{slug}?stop=true", headers=stale), 409, "changed")
    assert served.app(slug)["service"]["status"] == "running"
    assert api.delete(f"/api/apps/{slug}?stop=true").status_code == 200
    assert not served.file(slug).exists()
    assert slug not in {app["slug"] for app in api.get("/api/apps?source=declared").json()["apps"]}


def test_a_command_that_dies_is_told_with_its_last_lines(served, api, slug):
    declare(served, api, slug, command="echo no such thing; exit 3", restart="no")

    done = act(api, slug, "start")

    assert (done.status_code, done.json()["ok"]) == (200, False)
    assert done.json()["log"][-1] == "no such thing"


def test_a_port_that_is_held_is_told_with_its_holder(served, api, slug):
    port = declare(served, api, slug)
    dev = served.dev_server(slug, port)
    until(lambda: served.observed(port) or served.app(slug)["observedId"], seconds=15)

    told = refused(act(api, slug, "start"), 409, "port_in_use")

    assert told["holder"]["pid"] == dev.process.pid
    dev.kill()


def test_what_has_no_service_or_no_name_has_no_actions(api, slug):
    api.put(f"/api/apps/{slug}", {"health": {"type": "none"}})

    told = refused(act(api, slug, "start"), 409, "not_managed")
    assert told["error"] == f'App "{slug}" has no service; add service.command to apps/{slug}.yaml.'
    refused(act(api, slug, "kill"), 404, "not_found")
    refused(act(api, f"{slug}-x", "start"), 404, "not_found")
    logs = refused(api.get(f"/api/apps/{slug}/logs"), 404, "not_managed")
    assert logs["error"] == told["error"]
    refused(api.get(f"/api/apps/{slug}-x/logs?lines=0"), 404, "not_found")


def test_services_that_are_off_are_not_started(served, api, slug):
    declare(served, api, slug)
    config = served.data / "dashboard" / "config.yaml"
    before = config.read_text()
    config.write_text(before + "services: {enabled: false}\n")
    try:
        until(lambda: api.get("/api/config").json()["config"]["services"]["enabled"] is False)
        told = refused(act(api, slug, "start"), 409, "services_off")
        assert told["error"] == "Services are off (services.enabled in config.yaml)."
    finally:
        config.write_text(before)


def test_logs_are_lines_or_text_and_go_on_where_they_ended(served, api, slug):
    script = "printf 'one\\ntwo \\377\\n\\033[1mthree\\033[0m\\nfour'; exec sleep 600"
    declare(served, api, slug, command=script, ready={"log": "three", "timeout": "5s"})
    act(api, slug, "start")
    logs = f"/api/apps/{slug}/logs"
    until(lambda: api.get(logs).json()["partial"] == "four")

    whole = api.get(logs).json()
    assert whole["lines"] == ["one", "two \ufffd", "\x1b[1mthree\x1b[0m"]
    assert (whole["slug"], whole["from"], whole["truncated"]) == (slug, 0, False)
    last = api.get(f"{logs}?lines=1").json()
    assert (last["lines"], last["truncated"]) == (["\x1b[1mthree\x1b[0m"], True)
    assert api.get(f"{logs}?after={whole['bytes']}").json()["lines"] == []
    older = api.get(f"{logs}?lines=1&before={last['from']}").json()
    assert (older["lines"], older["bytes"]) == (["two \ufffd"], last["from"])

    text = api.client.get(f"{api.base}{logs}", headers={"Accept": "text/plain"})
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.text == "one\ntwo \ufffd\n\x1b[1mthree\x1b[0m\nfour"
    act(api, slug, "stop")


@pytest.mark.parametrize("query", ["lines=0", "lines=5001", "lines=x", "lines=", "lines=1&lines=2"])
def test_lines_are_1_to_5000(served, api, slug, query):
    declare(served, api, slug)

    told = refused(api.get(f"/api/apps/{slug}/logs?{query}"), 400, "bad_query")

    assert told["error"] == 'Query "lines" must be 1 to 5000.'
    refused(api.get(f"/api/apps/{slug}/logs?after=-1"), 400, "bad_query")
