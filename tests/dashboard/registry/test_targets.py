"""What a file's words make health ask, and how it judges the answer."""

from __future__ import annotations

import pytest

from dashboard.health.record import Policy
from dashboard.health.target import Target
from tests.dashboard.registry.world import TICKS, listener, shop


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("port: 3000\n", "http localhost:3000/"),
        ("port: 3000\nhost: 192.168.1.9\n", "http 192.168.1.9:3000/"),
        ("port: 3000\nhost: '[::1]'\n", "http ::1:3000/"),
        ("port: 3000\nhealth: {path: /healthz?a=b}\n", "http localhost:3000/healthz?a=b"),
        ("port: 3000\nhealth: {path: /über}\n", "http localhost:3000/%C3%BCber"),
        ("port: 5432\n", "tcp localhost:5432/"),
        ("port: 5432\nhealth: {type: http}\n", "http localhost:5432/"),
        ("port: 3000\nhealth: {type: tcp}\n", "tcp localhost:3000/"),
        ("url: https://example.com/app\n", "https example.com:443/"),
        ("url: https://example.com/app\nhealth: {path: /up}\n", "https example.com:443/up"),
        ("url: https://localhost:3000/\nport: 3000\n", "https localhost:3000/"),
        ("url: https://shop.localhost/\nport: 3000\n", "http localhost:3000/"),
        ("url: http://bob:pw@example.com/\n", "http example.com:80/"),
        ("port: 3000\nhealth: {url: 'http://localhost:9000/h'}\n", "http localhost:9000/h"),
        ("health: {url: 'http://localhost:9000/h'}\n", "http localhost:9000/h"),
        ("name: x\n", "process localhost:80/"),
        ("port: 3000\nhealth: {type: process}\n", "process localhost:80/"),
    ],
)
def test_what_is_asked(text: str, asked: str):
    target = shop(text).target

    assert f"{target.scheme} {target.host}:{target.port}{target.path}" == asked


@pytest.mark.parametrize(
    ("text", "url", "local"),
    [
        ("", "http://localhost:3001/", "http://localhost:3001/"),
        ("host: '::1'\n", "http://[::1]:3001/", "http://[::1]:3001/"),
        ("url: http://localhost:3000/a?b#c\n", "http://localhost:3001/a?b#c",
         "http://localhost:3001/a?b#c"),
        ("url: http://u:p@[::1]:3000/a\n", "http://u:p@[::1]:3001/a", "http://u:p@[::1]:3001/a"),
        ("url: https://shop.localhost/\n", "https://shop.localhost/", "http://localhost:3001/"),
    ],
)  # fmt: skip
def test_the_address_follows_the_app_when_it_names_its_port(text: str, url: str, local: str):
    app = shop(f"port: 3000\n{text}match: {{cwd: /src/shop}}\n", listener(3001))

    assert (app.url, app.local_url) == (url, local)


def test_a_health_url_on_the_apps_port_follows_it():
    text = "port: 3000\nmatch: {cwd: /src/shop}\nhealth: {url: 'http://localhost:3000/h'}\n"

    assert shop(text, listener(3001)).target.port == 3001


def test_all_that_the_health_block_says_is_asked():
    target = shop(
        "port: 3000\nhealth: {method: HEAD, status: '200,300-399', headers: {x-a: b}, timeout: 2s,"
        " insecure: true}\n"
    ).target

    assert target == Target(
        port=3000, method="HEAD", statuses=((200, 200), (300, 399)), headers={"x-a": "b"},
        timeout=2, insecure=True,
    )  # fmt: skip


def test_the_file_comes_before_config_and_config_before_the_defaults():
    config = "health: {interval: 20s, timeout: 4s, failures: 5, successes: 2, slow: 1s}\n"
    own = "health: {interval: 10s, failures: 7, slow: 100ms}\n"

    assert shop("port: 1\n").policy == Policy()
    assert shop("port: 1\n", config=config).policy == Policy(
        interval=20, failures=5, successes=2, slow=1
    )
    assert shop(f"port: 1\n{own}", config=config).policy == Policy(
        interval=10, failures=7, successes=2, slow=0.1
    )
    assert shop("port: 1\n", config=config).target.timeout == 4


@pytest.mark.parametrize(
    ("text", "running", "always", "should_run"),
    [
        ("expected: always\n", False, True, False), ("expected: true\n", False, True, False),
        ("expected: sometimes\n", False, False, False), ("expected: never\n", False, False, False),
        ("service: {command: x, autostart: true}\n", False, False, False),
        ("service: {command: x}\n", True, False, True),
    ],
)  # fmt: skip
def test_who_should_be_running(text: str, running: bool, always: bool, should_run: bool):
    policy = shop(f"port: 3000\n{text}", pids={5} if running else set()).policy

    assert (policy.always, policy.should_run) == (always, should_run)


def test_the_start_grace_is_that_of_the_service():
    ready = "service: {command: x, ready: {port: 1, timeout: 5s}}\n"

    assert (shop(f"port: 1\n{ready}").policy.grace, shop("port: 1\n").policy.grace) == (5, 60)


def test_health_type_none_is_not_probed():
    assert not shop("port: 3000\nhealth: {type: none}\n").policy.probed
    assert not shop("name: x\n").policy.probed


# -- processes ------------------------------------------------------------------------------------


def test_a_service_without_a_port_is_asked_for_by_its_process():
    app = shop("service: {command: work}\n", pids={5}, process=(5, 1000))

    assert (app.target.scheme, app.target.process) == ("process", (5, 1000))
    assert app.policy.probed


def test_health_type_process_without_a_service_means_the_process_that_listens():
    app = shop("port: 3000\nhealth: {type: process}\n", listener(3000))

    assert app.target.process == (7, TICKS)
    gone = listener(3000, present=False)
    assert shop("port: 3000\nhealth: {type: process}\n", gone).target.process is None


# -- what cannot be asked -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("health: {type: http}\n", "it has neither port nor url"),
        ("service: {command: x}\nhealth: {type: tcp}\n", "it has neither port nor url"),
        ("url: 'http://exa%mple.com/'\n", "host 'exa%mple.com' is not a host name or address"),
        (f"url: 'http://{'ü' * 80}.com/'\n", "encoding with 'idna' codec failed"),
    ],
)
def test_what_cannot_be_asked_is_said_and_stops_nothing(text: str, why: str):
    app = shop(text)

    assert app.policy.probed is False
    assert app.trouble is not None
    assert app.trouble.startswith(f"cannot be asked: {why}")
