"""What a claim writes reads back as what was meant, whatever a listener calls itself."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.files import entries, store
from dashboard.files.layout import DashboardFile
from dashboard.listeners.container import Container
from dashboard.listeners.observed import Sighting
from dashboard.listeners.processes import Parent
from dashboard.registry import claim
from tests.dashboard.registry.world import SHOP, listener, look
from tests.promises.rings import ring

HOSTILE = ["\n", "\x85", "\u2028", "\u2029", "\ufeff", "\x00", "\udcff", "'", '"', "#", ": ", "- ",
           "[", "*", "?", "]", "{", "&a", "!x", "%", "\t", " ", "é", "😀", "\x1b[31m", "\u202e",
           "***", "http://u:p@h/", "null", "~", "\r", "=", "--token", "a"]  # fmt: skip
TEXT = st.lists(
    st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"]), max_size=8
).map("".join)
CHECKED = settings(
    max_examples=ring(fast=80, slow=2000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def read(text: str) -> entries.Entry:
    return entries.entry(DashboardFile("apps", "shop"), text.encode())


def test_a_claim_writes_what_the_listener_is():
    text = claim.text(listener(5173, argv=("node", "server.js", "a b")), "shop", expected="always")

    assert text == (
        "name: shop\n"
        "port: 5173\n"
        "expected: always\n"
        "match:\n"
        "  cwd: /src/shop\n"
        "health:\n"
        "  type: http\n"
        "# To start and stop it from here, uncomment these lines:\n"
        "# service:\n"
        "#   command: [node, server.js, a b]\n"
        "#   cwd: /src/shop\n"
    )


def test_the_suggestion_is_the_command_that_was_typed_and_works_when_uncommented():
    text = claim.text(listener(parents=(Parent(6, "npm", ("npm", "run", "dev")),)), "shop")

    uncommented = "".join(
        line.removeprefix("# ")
        for line in text.splitlines(keepends=True)
        if "uncomment" not in line
    )
    entry = read(uncommented)
    assert entry.file_errors == ()
    assert entry.parsed.service.command == ("npm", "run", "dev")
    assert entry.parsed.service.cwd == SHOP


def test_the_name_and_expectation_of_the_caller_are_written():
    value = read(claim.text(listener(), "shop", name="My: shop #1", expected="never")).value

    assert value is not None
    assert (value["name"], value["expected"]) == ("My: shop #1", "never")


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (listener(3000, speaks="https"),
         {"url": "https://localhost:3000/", "port": 3000, "health": {"type": "http"}}),
        (listener(3000, speaks="tcp"), {"port": 3000, "health": {"type": "tcp"}}),
        (listener(3000, speaks=None), {"port": 3000}),
        (listener(3000, ips=("0.0.0.0",)), {"port": 3000, "health": {"type": "http"}}),
        (listener(3000, ips=("::",)), {"port": 3000, "health": {"type": "http"}}),
        (listener(3000, ips=("10.0.0.2",)),
         {"port": 3000, "host": "10.0.0.2", "health": {"type": "http"}}),
        (listener(3000, ips=("fd00::1",), speaks="https"),
         {"url": "https://[fd00::1]:3000/", "port": 3000, "health": {"type": "http"}}),
    ],
)  # fmt: skip
def test_it_is_declared_where_and_how_it_was_heard(one: Sighting, said: dict[str, object]):
    value = dict(claim.mapping(one, "shop"))

    assert value.pop("name") == "shop"
    assert value.pop("match") == {"cwd": SHOP}
    assert value == said


@pytest.mark.parametrize("cwd", ["", "/", "relative", "/a\udcffb", "/a\x00b"])
def test_a_directory_that_says_nothing_or_fits_no_file_is_no_match(cwd: str):
    assert "match" not in claim.mapping(listener(cwd=cwd), "shop")


def test_a_containers_proxy_tells_neither_directory_nor_command_of_the_app():
    container = Container("docker", "web", "web:1", "acme", "web")
    proxy = listener(cwd="/root", argv=("rootlessport", "-proto", "tcp"), container=container)

    assert "match" not in claim.mapping(proxy, "shop")
    assert "rootlessport" not in claim.text(proxy, "shop")


def test_the_directory_is_matched_to_the_letter():
    one = listener(3000, "/src/[a]*?")

    found = look({"shop": claim.text(one, "shop")}, one, listener(4000, "/src/abb"))

    assert found.apps["shop"].sighting is one
    assert found.apps["shop"].file is not None
    assert found.apps["shop"].file.match is not None
    assert found.apps["shop"].file.match.only_cwd == "/src/[a]*?"


def test_no_secret_of_the_command_is_written_down():
    text = claim.text(
        listener(argv=("node", "x", "--api-key", "hunter2", "http://bob:hunter2@db/")), "shop"
    )

    assert "hunter2" not in text
    assert claim.LOST in text


def test_a_name_with_a_masked_secret_is_no_name():
    one = listener(cwd="/", title="http://bob:hunter2@db/")
    one = replace(one, identity=replace(one.identity, git=None))

    assert claim.mapping(one, "web")["name"] == "web"


def test_a_command_of_a_page_and_more_is_not_suggested():
    assert "#" not in claim.text(listener(argv=("sh", "-c", "x" * 5000)), "shop")


@CHECKED
@given(
    cwd=TEXT.map(lambda text: os.path.normpath(f"/src/{text}")),  # as the kernel tells them
    argv=st.lists(TEXT, max_size=4),
    title=TEXT,
    exe=TEXT,
    speaks=st.sampled_from(["http", "https", "tcp", None]),
)
def test_whatever_it_is_called_the_file_says_what_was_meant(
    cwd: str, argv: list[str], title: str, exe: str, speaks: str | None
):
    one = listener(5173, cwd, argv=tuple(argv), title=title, exe=exe, speaks=speaks)
    one = replace(one, identity=replace(one.identity, git=None))

    text = claim.text(one, "shop")

    entry = read(text)
    assert entry.file_errors == ()
    assert entry.value == claim.mapping(one, "shop", expected="sometimes")
    match = entry.parsed.match
    assert match is None or match.only_cwd == cwd


def test_the_file_of_a_claim_is_taken_by_the_store_and_ends_the_discovery():
    one = listener(5173, "/src/it's [odd] #1")

    entry, created = store.put_text("apps", "odd", claim.text(one, "odd"))

    found = look({"odd": entry}, one)
    assert created
    assert [(app.slug, app.source) for app in found.apps.values()] == [("odd", "declared")]
    assert found.observed == ()


def test_a_patch_of_a_discovered_app_can_be_put_beside_what_it_is():
    one = listener(5173)

    entry, _ = store.put("apps", "shop", {**claim.mapping(one, "shop"), "tags": ["web"]})

    assert entry.parsed.port == 5173
    assert entry.parsed.tags == ("web",)
