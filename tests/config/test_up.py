"""`manage.py up` and `runserver` as a person meets them: start, refuse, restart, stop."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import ssl
from pathlib import Path

import httpx
import psutil
import pytest

from tests.promises.rings import few
from tests.service import Service, still_running, until
from tests.wire import make_certificate


@pytest.fixture
def stopped(stopped_service: Service) -> Service:
    return stopped_service


def test_up_makes_the_database_prints_three_addresses_and_stops_on_a_signal(stopped):
    stopped._use_template = lambda: None
    stopped.start()

    out = until(lambda: stopped.output() if "dashboard" in stopped.output() else "")
    assert "database made" in out
    for name, port in zip(
        ("workspace", "review", "dashboard"), stopped.ports.values(), strict=True
    ):
        assert f"{name:10} http://localhost:{port}" in out
    assert (stopped.data / "svc.sqlite3").stat().st_mode & 0o077 == 0
    stopped.stop()
    assert not (stopped.data / "state" / "server.json").exists()


def test_every_part_answers_on_its_own_port_and_under_its_prefix(shared_service):
    get = shared_service.http.get
    main, review, dashboard = (
        shared_service.url,
        shared_service.review_url,
        shared_service.dashboard_url,
    )

    assert get(f"{main}/api/health").json().keys() == {"ok", "version"}
    assert get(f"{review}/api/health").json() == {"ok": True}
    assert get(f"{main}/review/api/health").json() == {"ok": True}
    assert get(f"{dashboard}/api/health").json() == get(f"{main}/dashboard/api/health").json()
    for url in (main, review, dashboard, f"{main}/review", f"{main}/dashboard/"):
        page = get(f"{url}")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "default-src 'self'" in page.headers["content-security-policy"]
        assert get(httpx_join(url, "/static/icon.svg")).status_code == 200


def httpx_join(url: str, path: str) -> str:
    return "/".join(url.split("/")[:3]) + path


def test_one_part_does_not_serve_the_routes_of_another(shared_service):
    get = shared_service.http.get

    for path in ("/api/runs", "/review/api/health", "/dashboard/", "/_svc/mcp", "/admin/"):
        answer = get(shared_service.review_url + path)
        assert answer.status_code == 404
        assert answer.json() == {"error": "Not found", "code": "not_found"}


def test_every_answer_carries_an_id_and_is_never_sniffed_or_framed(shared_service):
    for path in ("/api/health", "/", "/nothing.txt", "/mcp", "/static/icon.svg", "/review/"):
        headers = shared_service.http.get(path).headers
        assert len(headers["x-request-id"]) == 16
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", ["/", "/review/", "/api/health", "/admin/"])
@pytest.mark.parametrize("method", ["OPTIONS", "POST", "PUT", "TRACE"])
def test_what_is_only_read_refuses_every_other_method_in_json(shared_service, path, method):
    answer = shared_service.http.request(method, path, headers={"Content-Type": "application/json"})

    assert answer.status_code == 405
    assert answer.json()["code"] == "method_not_allowed"
    assert "GET" in answer.headers["allow"]
    assert "OPTIONS" not in answer.headers["allow"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/x", "/mcpfoo", "/.well-known/x", "//mcp"])
def test_machine_paths_that_nobody_serves_are_a_bare_404(shared_service, path):
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        answer = shared_service.http.request(method, shared_service.url + path)
        assert (answer.status_code, answer.content) == (404, b'{"error":"not found"}')


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what a process maps, on Linux")
def test_a_server_loads_no_library_that_its_settings_do_not_ask_for(stopped):
    stopped.start().http.get("/").raise_for_status()

    mapped = Path(f"/proc/{stopped.pid}/maps").read_text()

    assert "/orjson/" in mapped
    assert "/cryptography/" not in mapped
    assert ("/psycopg" in mapped) == ("SVC_DATABASE_URL" in stopped.env)


@pytest.mark.slow
def test_a_second_start_names_the_first_and_ends_with_2(shared_service):
    for command in (["up"], ["runserver", "--noreload"]):
        second = shared_service.run(*command)

        assert second.returncode == 2
        assert second.stderr.startswith("not starting: another svc serves ")
        assert f"pid {shared_service.pid}, port {shared_service.ports['main']}" in second.stderr
        assert second.stderr.count("\n") == 1


def test_a_taken_main_port_ends_the_start_with_2_and_one_line(stopped):
    with socket.create_server(("127.0.0.1", stopped.ports["main"])):
        stopped._use_template()
        ended = stopped.run("up")

    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        f"not starting: port {stopped.ports['main']} on 127.0.0.1 is already in use"
    )
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_taken_review_port_is_named_with_its_holder_and_given_up_alone(stopped):
    port = stopped.ports["review"]
    with socket.create_server(("127.0.0.1", port)):
        stopped.start()

        line = (
            f"review: port {port} is held by {psutil.Process().name()} (pid {os.getpid()}); "
            "serving only /review on the main port"
        )
        assert line in stopped.log()
        assert stopped.http.get("/review/api/health").json() == {"ok": True}
        assert stopped.http.get(f"{stopped.dashboard_url}/api/health").status_code == 200
        assert f"review     http://localhost:{stopped.ports['main']}/review/" in stopped.output()
        stopped.stop()


def test_ctrl_c_in_a_terminal_stops_everything(stopped):
    stopped.start()
    family = stopped.family()

    os.killpg(stopped.process.pid, signal.SIGINT)

    assert stopped.process.wait(10) == 0
    assert still_running(family, 1) == []


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(stopped):
    stopped._use_template()
    with sqlite3.connect(stopped.data / "svc.sqlite3") as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('workspace', '0999_later', '2030-01-01')"
        )
    for command in (["up"], ["runserver", "--noreload"]):
        ended = stopped.run(*command)

        assert ended.returncode == 2
        assert "workspace.0999_later is unknown to svc " in ended.stderr


@pytest.mark.slow
def test_up_copies_a_database_before_it_migrates_it(stopped):
    stopped._use_template()
    with sqlite3.connect(stopped.data / "svc.sqlite3") as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'workspace'")
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'workspace_%'"
            " ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'"  # which take their own tables along
        ).fetchall()
        database.executescript("".join(f"DROP TABLE IF EXISTS {name};" for (name,) in tables))
    stopped.start()

    assert "migrated workspace.0001_initial" in stopped.output()
    (copy,) = (stopped.data / "state").glob("before-migrate-*.sqlite3")
    with sqlite3.connect(copy) as kept:
        names = kept.execute("SELECT name FROM sqlite_master").fetchall()
    assert ("django_q_ormq",) in names
    assert ("workspace_turn",) not in names
    stopped.stop()


def test_a_migration_that_fails_ends_the_start_and_says_why(stopped):
    stopped._use_template()
    with sqlite3.connect(stopped.data / "svc.sqlite3") as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'workspace'")

    ended = stopped.run("up")

    assert ended.returncode == 1
    assert "already exists" in ended.stderr
    assert "Ctrl-C stops everything" not in ended.stdout


def test_ctrl_c_before_anything_is_served_ends_without_a_traceback(stopped):
    stopped._use_template()
    process = stopped.spawn("up")
    until((stopped.data / "state" / "up.lock").exists)

    os.killpg(process.pid, signal.SIGINT)

    out, _ = process.communicate(timeout=10)
    assert process.returncode in (0, -signal.SIGINT)  # 0: it was watching already
    assert "Traceback" not in out


@pytest.mark.slow
def test_runserver_alone_names_pending_migrations_and_serves(stopped):
    stopped._use_template = lambda: None
    stopped.start("runserver")  # with its reloader

    assert "pending migrations: " in stopped.output()
    assert "workspace.0001_initial" in stopped.output()
    stopped.kill9()


def test_an_unusable_setting_is_one_line_and_exit_2(stopped):
    stopped.env["SVC_PORT"] = "99999"

    ended = stopped.run("up")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        'not starting: SVC_PORT has the value "99999"; allowed: a whole number from 0 to 65535\n'
    )


@pytest.mark.parametrize("name", ["SVC_DATA_DIR", "SVC_PROJECTS_DIR"])
@pytest.mark.parametrize("place", few(["taken/below", "taken", "/proc/nowhere"], 1))
def test_a_directory_that_cannot_be_made_is_one_line_and_exit_2(stopped, tmp_path, name, place):
    (tmp_path / "taken").touch()
    stopped.env[name] = str(tmp_path / place)

    ended = stopped.run("up")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith(
        f'not starting: {name} has the value "{tmp_path / place}"; '
        "allowed: a directory this user can make ("
    )


@pytest.mark.slow
def test_a_second_data_directory_on_the_same_projects_is_told_who_has_them(stopped, tmp_path):
    if "SVC_DATABASE_URL" in stopped.env:
        pytest.skip("the store is PostgreSQL")
    second = Service(tmp_path / "second", env={"SVC_PROJECTS_DIR": str(stopped.projects)})
    stopped.start()
    sentence = f"another svc serves the projects in {stopped.projects} already"

    for command in ("up", "qcluster", "runserver"):
        ended = second.run(command)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert f"not starting: {sentence} (data directory {stopped.data}, pid " in ended.stderr
        assert ended.stderr.endswith("stop it, or set SVC_PROJECTS_DIR to another directory\n")
    assert sentence in second.run("doctor").stdout
    assert sentence not in stopped.run("doctor").stdout
    assert list(stopped.projects.iterdir()) == []

    stopped.restart()
    stopped.stop()
    with second:
        pass


@pytest.mark.slow
def test_a_relative_path_means_the_same_to_every_process(stopped):
    stopped.env["SVC_PROJECTS_DIR"] = "mine"  # it is started in its data directory
    stopped.start()

    assert stopped.http.post("/api/projects", json={"name": "Alpha"}).status_code == 201
    assert (stopped.data / "mine" / "alpha" / "project.yaml").is_file()
    stopped.stop()


@pytest.mark.slow
def test_an_unreadable_certificate_ends_the_start(stopped, tmp_path):
    stopped.env |= {
        "SVC_TLS_PORT": "0",
        "SVC_TLS_CERT": str(tmp_path / "none.pem"),
        "SVC_TLS_KEY": str(tmp_path / "none.key"),
    }

    ended = stopped.run("up")

    assert ended.returncode == 2
    assert "not starting: SVC_TLS_CERT and SVC_TLS_KEY: " in ended.stderr


@pytest.mark.slow
def test_off_closes_a_part_s_own_port_and_tls_opens_one_more(stopped, tmp_path):
    certificate, key = make_certificate(tmp_path)
    stopped.env |= {"SVC_REVIEW_PORT": "off", "SVC_DASHBOARD_PORT": "off"}
    stopped.env |= {"SVC_TLS_PORT": "0", "SVC_TLS_CERT": str(certificate), "SVC_TLS_KEY": str(key)}
    stopped.start()

    ports = stopped.facts()["ports"]
    assert ports.keys() == {"main", "tls"}
    trusted = ssl.create_default_context(cafile=str(certificate))
    with httpx.Client(verify=trusted, trust_env=False) as client:
        url = f"https://localhost:{ports['tls']}"
        assert client.get(f"{url}/api/health").json() == stopped.http.get("/api/health").json()
        assert client.get(f"{url}/review/api/health").json() == {"ok": True}
    warned = [line for line in stopped.log().splitlines() if '"level":"warn"' in line]
    assert [line for line in warned if "agent" not in line.lower()] == []  # root, no sandbox
    stopped.stop()


@pytest.mark.slow
def test_runserver_with_its_reloader_refuses_in_one_line_too(stopped):
    stopped._use_template()
    with socket.create_server(("127.0.0.1", stopped.ports["main"])):
        ended = stopped.run("runserver")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"not starting: port {stopped.ports['main']} on 127.0.0.1 is already in use\n"
    )


def test_a_dead_server_is_started_again_and_nothing_outlives_a_killed_up(stopped):
    stopped.start()
    first = stopped.pid

    os.kill(first, signal.SIGKILL)

    until(lambda: stopped.facts().get("pid") not in (None, first), seconds=20)
    until(stopped._healthy)
    assert "server ended (signal 9); starting again in 0.5 s" in stopped.output()

    until(lambda: len(stopped.family()) == 2)  # it tries the sandbox at its start
    family = stopped.family()
    os.kill(stopped.process.pid, signal.SIGKILL)

    assert still_running(family, 10) == []
    second = stopped.run("doctor")  # the locks died with their holders
    assert "server           not running" in second.stdout
