"""Whatever a user can set, call or run has its entry in docs/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import find_commands
from django.urls import URLPattern, get_resolver

from config.options import OPTIONS
from workspace.operations import REGISTRY

ROOT = Path(__file__).resolve().parent.parent
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
APPS = ("config/kernel", "workspace", "review", "dashboard")
NONE = "\u2013"
PARAMETERS = {"session_id": "id", "message": "messageId", "run_id": "runId"}
P, C = "/api/projects/:slug", "/api/projects/:slug/chats/:id"


def documented_routes() -> set[tuple[str, str]]:
    """(method, path) of every row of the table of docs/api.md, its shorthands written out."""
    rows = re.findall(r"^\| ([A-Z ]+?) `([^|]+)` \|", DOCS["api.md"], re.MULTILINE)
    found = set()
    for methods, paths in rows:
        for path in re.split(r"`, `", paths):
            whole = re.sub(r"^C(?=/|$)", C, re.sub(r"^P(?=/|$)", P, path))
            found |= {(method, whole) for method in methods.split()}
    return found


def routes() -> list[tuple[str, str]]:
    """Every (method, path) that the viewsets of the main surface answer."""
    found = []
    for pattern in get_resolver("workspace.urls").url_patterns:
        actions = getattr(getattr(pattern, "callback", None), "actions", None)
        if isinstance(pattern, URLPattern) and actions:
            path = re.sub(r"<str:(\w+)>", r":\1", f"/{pattern.pattern}")
            for name, short in (
                ("session_id", "id"),
                ("message", "messageId"),
                ("run_id", "runId"),
            ):
                path = path.replace(f":{name}", f":{short}")
            found += [(method.upper(), path) for method in actions if method != "head"]
    return found


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_a_setting_is_in_the_configuration_reference(name):
    option = OPTIONS[name]
    variable = f"`{option.env}`" if option.env else NONE
    key = f"`{option.key}`" if option.key else NONE

    assert f"| {variable} | {key} |" in DOCS["configuration.md"]


@pytest.mark.parametrize(("method", "path"), routes())
def test_a_route_is_in_the_api_reference(method, path):
    assert (method, path) in documented_routes()


def test_the_api_reference_names_no_route_that_is_not_there():
    known = set(routes())
    streams = {"/api/events", f"{C}/events", "/api/schema", "/api/docs"}
    claimed = {(m, path) for m, path in documented_routes() if path.startswith("/api/")}

    assert {(m, path) for m, path in claimed if path not in streams} == known


def test_every_command_is_in_the_command_reference():
    names = {name for app in APPS for name in find_commands(str(ROOT / app / "management"))}

    assert names
    assert {name for name in names if f"| `{name}` |" not in DOCS["commands.md"]} == set()


def test_every_tool_and_its_arguments_are_in_the_mcp_reference():
    missing = []
    for operation in REGISTRY:
        rows = [line for line in DOCS["mcp.md"].splitlines() if f"`{operation.name}`" in line]
        row = next((line for line in rows if line.startswith("| ")), "")
        for argument in operation.arguments:
            mark = "*" if argument.required else ""
            if f"`{argument.name}{mark}`" not in row:
                missing.append((operation.name, argument.name))
        if not row:
            missing.append((operation.name, ""))

    assert missing == []


def test_links_between_the_pages_lead_somewhere():
    broken = [
        (name, target)
        for name, text in DOCS.items()
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text)
        if not (ROOT / "docs" / target).exists()
    ]

    assert broken == []
