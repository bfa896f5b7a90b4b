"""What each file may hold, and the sentence for everything else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from config.storage import yamlio
from dashboard.files import entries
from dashboard.files.fields import Issue
from dashboard.files.layout import DashboardFile
from dashboard.files.schema import (
    DEFAULTS,
    AppFile,
    Config,
    IgnoreRule,
    Link,
    Match,
    Ready,
    Service,
    read_app,
    read_config,
    read_group,
    read_ignore,
    same_rule,
    with_defaults,
)


def app(text: str) -> AppFile:
    """The app in a YAML text without mistakes."""
    document = yamlio.parse(text.encode())
    found, issues = read_app(document.value, document.texts(), slug="shop")
    assert issues == []
    return found


def mistakes(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(issue.where, issue.message) for issue in read_app(value)[1]]


# -- apps -----------------------------------------------------------------------------------------


def test_an_app_of_every_key_is_read():
    found = app("""\
name: Shop
description: The shop
icon: 🛒
color: "#3b82f6"
group: Work
tags: [web, 017]
order: 1.5
links: [{name: Admin, url: http://localhost:3000/admin}]
docs: https://docs.example/
port: 3000
host: shop.localhost
match: {port: 3000, cwd: ~/src/shop*, process: node, command: "*vite*"}
expected: always
health: {type: http, path: /healthz, method: HEAD, status: "200-399,401", headers: {X-A: b},
  interval: 30s, timeout: 500ms, failures: 3, successes: 2, slow: 1, insecure: true}
service:
  command: npm run dev
  cwd: $HOME/src/shop
  env: {NODE_ENV: development, DEBUG: True, VERSION: 1.10, ID: 007}
  envFile: ~/.env
  restart: always
  autostart: true
  stopSignal: SIGINT
  stopTimeout: 3s
  ready: {http: /up, timeout: 1m}
  maxRestarts: 5
thumb: {kind: card, delay: 1s, dark: true}
paused: true
notes: |
  one
  two
x-mine: {a: [1]}
""")
    home = Path.home()

    assert (found.name, found.tags, found.order, found.icon) == ("Shop", ("web", "017"), 1.5, "🛒")
    assert found.links == (Link("Admin", "http://localhost:3000/admin"),)
    assert found.match == Match(3000, f"{home}/src/shop*", "node", "*vite*")
    assert found.health.status == ((200, 399), (401, 401))
    assert (found.health.interval, found.health.timeout, found.health.slow) == (30, 0.5, 1)
    assert found.health.headers == (("X-A", "b"),)
    assert found.service == Service(
        command="npm run dev",
        cwd=f"{home}/src/shop",
        env=(("NODE_ENV", "development"), ("DEBUG", "True"), ("VERSION", "1.10"), ("ID", "007")),
        env_file=f"{home}/.env",
        restart="always",
        autostart=True,
        stop_signal="INT",
        stop_timeout=3,
        ready=Ready(http="/up", timeout=60),
        max_restarts=5,
    )
    assert (found.expected, found.paused, found.notes) == ("always", True, "one\ntwo\n")
    assert found.address == "http://shop.localhost:3000/"


def test_an_app_of_no_key_has_its_defaults():
    found = app("{}")

    assert found == AppFile(name="shop")
    assert (found.address, found.health_type, found.expected) == (None, "none", "sometimes")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("port: 3000", "http"), ("url: https://a.example/", "http"), ("port: 5432", "tcp"),
        ("service: {command: x}", "process"), ("{}", "none"),
        ("port: 5432\nhealth: {type: http}", "http"), ("port: 1\nservice: {command: x}", "http"),
        ("port: 5432\nhealth: {url: http://localhost:9/}", "http"),
    ],
)  # fmt: skip
def test_the_kind_of_probe_follows_from_what_there_is(text: str, kind: str):
    assert app(text).health_type == kind


@pytest.mark.parametrize(
    ("written", "meant"), [("true", "always"), ("false", "sometimes"), ("never", "never")]
)
def test_expected_may_be_true_or_false(written: str, meant: str):
    assert app(f"expected: {written}").expected == meant


@pytest.mark.parametrize(
    ("text", "restart"),
    [
        ("command: x", "no"), ("command: x, autostart: true", "on-failure"),
        ("command: x, restart: no, autostart: true", "no"), ("command: x, restart: false", "no"),
    ],
)  # fmt: skip
def test_a_service_restarts_by_itself_only_when_it_starts_by_itself(text: str, restart: str):
    service = app(f"service: {{{text}}}").service
    assert service is not None
    assert service.restart == restart


def test_a_command_may_be_a_list_of_arguments_as_they_are_written():
    service = app("service: {command: [run, --level, 010, '']}").service
    assert service is not None
    assert service.command == ("run", "--level", "010", "")


@pytest.mark.parametrize(
    ("value", "where", "message"),
    [
        ({"name": "a" * 81}, "name", "must have at most 80 characters, not 81"),
        ({"name": "a\nb"}, "name", "must be one line without control characters"),
        ({"name": []}, "name", "must be text"),
        ({"description": "é" * 501}, "description", "must have at most 500 characters, not 501"),
        ({"port": 65536}, "port", "must be a whole number from 1 to 65535"),
        ({"port": True}, "port", "must be a whole number from 1 to 65535"),
        ({"paused": "yes"}, "paused", "must be true or false"),
        ({"expected": "often"}, "expected", "must be always, sometimes or never"),
        ({"tags": "web"}, "tags", "must be a list of texts"),
        ({"tags": ["a"] * 21}, "tags", "must have at most 20 items, not 21"),
        ({"tags": ["a" * 41]}, "tags[0]", "must have at most 40 characters, not 41"),
        ({"links": {}}, "links", "must be a list"),
        ({"links": [1]}, "links[0]", "must be a mapping"),
        ({"notes": "a" * 8193}, "notes", "must have at most 8192 bytes"),
        ({"url": "ftp://x/"}, "url", "must be a URL that begins with http:, https:"),
        ({"url": "http://"}, "url", "must be a URL that begins with http:, https:"),
        ({"host": "a b"}, "host", "must be a host name or an address, without scheme and port"),
        ({"icon": "shop"}, "icon", "must be an http or https URL, one emoji, or file: and a path"),
        ({"icon": "file:../x"}, "icon", "a file: icon must lie below the dashboard's folder"),
        ({"color": "url(x)"}, "color", "must be a colour such as #3b82f6 or teal"),
        ({"order": "first"}, "order", "must be a number"),
        ({"match": {"cwd": "src"}}, "match.cwd",
         "must be an absolute path, or begin with ~/ or $HOME/"),
        ({"match": {"process": "/bin/sh"}}, "match.process",
         "must be the name of a program, without a folder"),
        ({"health": {"interval": "500ms"}}, "health.interval", "must be from 1s to 24h"),
        ({"health": {"timeout": "61s"}}, "health.timeout", "must be from 100ms to 60s"),
        ({"health": {"failures": 21}}, "health.failures", "must be a whole number from 1 to 20"),
        ({"health": {"interval": "soon"}}, "health.interval",
         "must be a duration such as 500ms, 30s, 5m, 6h or 7d"),
        ({"health": {"headers": {"a b": "c"}}}, "health.headers.a b",
         "is not the name of a header"),
        ({"health": {"headers": {"A": "b\r\nC: d"}}}, "health.headers.A",
         "must be one line without control characters"),
        ({"health": {"path": "up"}}, "health.path", "must begin with / and have no blanks"),
        ({"health": {"method": "HEAD", "body": "x"}}, "health.body",
         "cannot be looked for with method HEAD"),
        ({"service": {"command": " "}}, "service.command",
         "must be a command line, or a list of program and arguments"),
        ({"service": {"command": []}}, "service.command", "must begin with a program"),
        ({"service": {"command": "x", "env": {"A-B": 1}}}, "service.env.A-B",
         "is not the name of a variable"),
        ({"service": {"command": "x", "cwd": "."}}, "service.cwd",
         "must be an absolute path, or begin with ~/ or $HOME/"),
        ({"service": {"command": "x", "user": "root"}}, "service.user",
         "is not supported: services run as the user of the dashboard"),
        ({"service": {"command": "x", "ready": {"port": 1, "log": "y"}}}, "service.ready",
         "must have exactly one of port, log and http"),
        ({"service": {"command": "x", "stopSignal": "SEGV"}}, "service.stopSignal",
         "must be TERM, INT, HUP, QUIT, ALRM, KILL, USR1 or USR2"),
        ({"service": {"command": "x", "ready": {"log": "on (port"}}}, "service.ready.log",
         "must be a regular expression (missing ), unterminated subpattern)"),
    ],
)  # fmt: skip
def test_every_mistake_has_one_sentence(value: dict[str, Any], where: str, message: str):
    assert mistakes(value) == [(where, message)]


def test_an_unknown_key_is_a_warning_with_the_nearest_known_one():
    issues = read_app({"prot": 1, "x-mine": 2, "zzz": 3, "health": {"intervall": "1s"}})[1]

    assert issues == [
        Issue(("health", "intervall"), 'is not a known key; did you mean "interval"?', "warning"),
        Issue(("prot",), 'is not a known key; did you mean "port"?', "warning"),
        Issue(("zzz",), "is not a known key", "warning"),
    ]


def test_a_match_says_of_each_key_whether_it_holds():
    match = Match(cwd="/src/*", process="node", command="*vite*")

    assert (match.fits_cwd("/src/shop"), match.fits_cwd("/other")) == (True, False)
    assert (match.fits_process("", "node"), match.fits_process("sh", "zsh")) == (True, False)
    assert match.fits_command(("sh", "-c"), ("npx", "vite", "x"))
    assert match.fits_command(("sh", "-c")) is False


def test_a_match_does_not_judge_what_is_not_known():
    asked, silent = Match(cwd="/a", process="b", command="c"), Match(port=1)

    assert (asked.fits_cwd(""), asked.fits_process("", ""), asked.fits_command(())) == (None,) * 3
    assert (silent.fits_cwd(""), silent.fits_process(""), silent.fits_command(())) == (True,) * 3


@pytest.mark.parametrize(
    ("cwd", "only"),
    [("/a/b", "/a/b"), ("/a/[[]x[]]", None), ("/a/[[]x[*][?]", "/a/[x*?"), ("/a/*", None),
     ("/a/b?", None), ("/a/[bc]", None)],
)  # fmt: skip
def test_a_match_of_one_directory_is_known_as_such(cwd: str, only: str | None):
    assert Match(cwd=cwd).only_cwd == only
    assert only is None or Match(cwd=cwd).fits_cwd(only)


# -- bookmarks ------------------------------------------------------------------------------------


def test_a_link_is_named_by_its_host_and_told_when_it_is_there_twice():
    links = [{"url": "https://docs.example/a"}, {"name": "Mail", "url": "mailto:a@b.example"},
             {"url": "https://docs.example/a", "hotkey": "d"}]  # fmt: skip
    group, issues = read_group({"links": links, "collapsed": True}, slug="docs")

    assert (group.name, group.collapsed) == ("docs", True)
    assert [link.name for link in group.links] == ["docs.example", "Mail", "docs.example"]
    assert [link.fetchable for link in group.links] == [True, False, True]
    assert issues == [Issue(("links", 2, "url"), "is in this group already", "warning")]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "http://[", "", "/a", "https://a b/"]
)
def test_other_schemes_are_refused(url: str):
    _, issues = read_group({"links": [{"url": url}]})

    assert [issue.where for issue in issues] == ["links[0].url"]


@pytest.mark.parametrize("url", ["ssh://host", "file:///a", "mailto:x@y", "http://[::1]:3/"])
def test_every_listed_scheme_is_taken(url: str):
    assert read_group({"links": [{"url": url}]})[0].links[0].url == url


def test_a_group_has_at_most_200_links():
    _, issues = read_group({"links": [{"url": f"http://a/{number}"} for number in range(201)]})

    assert [issue.message for issue in issues] == ["must have at most 200 items, not 201"]


# -- ignore rules ---------------------------------------------------------------------------------


def test_a_rule_covers_what_all_its_keys_cover():
    (ports, both, below), issues = read_ignore(
        {"rules": [{"port": "5000-5010"}, {"port": 80, "process": "nginx"}, {"dir": "/a/*/b"}]}
    )

    assert issues == []
    assert [ports.covers(port=port, processes=(), cwd="") for port in (4999, 5000, 5010, 5011)] \
        == [False, True, True, False]  # fmt: skip
    assert both.covers(port=80, processes=("", "nginx"), cwd="/")
    assert not both.covers(port=80, processes=("caddy",), cwd="/")
    assert below.covers(port=1, processes=(), cwd="/a/x/b")
    assert below.covers(port=1, processes=(), cwd="/a/x/b/c/d")
    assert not below.covers(port=1, processes=(), cwd="/a/x/bc")
    assert not below.covers(port=1, processes=(), cwd="")


def test_a_rule_for_the_root_covers_every_directory_that_is_known():
    (rule,), _ = read_ignore({"rules": [{"dir": "/"}]})

    assert rule.covers(port=1, processes=(), cwd="/a")
    assert not rule.covers(port=1, processes=(), cwd="")


@pytest.mark.parametrize(
    "rule", [{}, {"reason": "x"}, {"port": "1-"}, {"port": "9-1"}, {"port": "1,2"}, {"dir": "a"},
             {"port": 0}, {"process": ""}]
)  # fmt: skip
def test_a_rule_that_says_nothing_usable_is_an_error(rule: dict[str, Any]):
    assert [issue.level for issue in read_ignore({"rules": [rule]})[1]] == ["error"]


def test_rules_are_the_same_whatever_their_reasons():
    assert same_rule({"port": 5000, "reason": "a"}, {"port": "5000"})
    assert not same_rule({"port": 5000}, {"port": 5000, "process": "x"})
    assert IgnoreRule().covers(port=1, processes=(), cwd="")


# -- config ---------------------------------------------------------------------------------------


def test_config_without_a_file_is_all_defaults():
    config, issues = read_config({})

    assert issues == []
    assert (config.port, config.title, config.scan.interval, config.lost_grace) == (
        4255, "Apps", 2, 120,
    )  # fmt: skip
    assert config.scan.ports == ((80, 80), (443, 443), (1024, 65535))
    assert config.services.log_max_bytes == 10 << 20
    assert config.screenshots.viewport == (1280, 800)
    assert with_defaults({}) == DEFAULTS


def test_config_says_over_its_defaults_and_keeps_what_it_does_not_know():
    source = {"title": "Mine", "port": None, "scan": {"interval": "5s"}, "x-mine": 1,
              "screenshots": {"enabled": False}}  # fmt: skip
    config, issues = read_config(source)

    assert issues == []
    assert (config.title, config.port, config.scan.interval) == ("Mine", 4255, 5)
    assert config.screenshots.enabled is False
    assert with_defaults(source)["scan"] == {**DEFAULTS["scan"], "interval": "5s"}
    assert with_defaults(source)["x-mine"] == 1


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ({"port": "x"}, "port"), ({"scan": []}, "scan"), ({"scan": {"interval": "1ms"}},
        "scan.interval"), ({"fronted": {"scheme": "ftp"}}, "fronted.scheme"),
        ({"health": {"failures": 0}}, "health.failures"),
        ({"history": {"days": 0}}, "history.days"),
        ({"screenshots": {"viewport": "9x9"}}, "screenshots.viewport"),
        ({"screenshots": {"enabled": "maybe"}}, "screenshots.enabled"),
        ({"services": {"logMaxBytes": "1B"}}, "services.logMaxBytes"),
        ({"lost": {"grace": "2h"}}, "lost.grace"), ({"mcp": {"writes": 1}}, "mcp.writes"),
        ({"icons": {"allowPrivate": "yes"}}, "icons.allowPrivate"),
    ],
)  # fmt: skip
def test_a_setting_that_is_wrong_is_named(source: dict[str, Any], where: str):
    config, issues = read_config(source)

    assert [issue.where for issue in issues] == [where]
    assert isinstance(config, Config)


def test_an_unknown_setting_is_a_warning():
    (issue,) = read_config({"scan": {"intervall": "2s"}})[1]

    assert (issue.where, issue.level) == ("scan.intervall", "warning")


# -- the page that tells of them -----------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "dashboard-files.md"
EXAMPLES = re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize(("file", "text"), EXAMPLES)
def test_every_example_of_the_page_is_a_file_without_mistakes(file: str, text: str):
    parts = Path(file).with_suffix("").parts
    found = entries.read(DashboardFile(parts[0], parts[-1]), text.encode())  # type: ignore[arg-type]

    assert found.issues == ()
    assert {file.split("/")[0] for file, _ in EXAMPLES} == {
        "config.yaml", "apps", "bookmarks", "ignore.yaml",
    }  # fmt: skip
