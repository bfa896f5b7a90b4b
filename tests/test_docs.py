"""Whatever a user can set, call or run has its entry in docs/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import find_commands
from django.urls import URLPattern, get_resolver
from drf_spectacular.generators import SchemaGenerator

from config import readers
from config.options import OPTIONS
from dashboard.files.schema.config import DEFAULTS
from dashboard.management.verbs import VERBS
from dashboard.mcp.catalogue import REGISTRY as DASHBOARD_REGISTRY
from review.mcp.catalogue import REGISTRY as REVIEW_REGISTRY
from tests.promises.manifest import PROMISES
from tests.test_cases import functions_of
from workspace.mcp.catalogue import REGISTRY
from workspace.urls import shown

ROOT = Path(__file__).resolve().parent.parent
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
RESULTS = (ROOT / "bench" / "RESULTS.md").read_text()
APPS = ("config", "workspace", "review", "dashboard")
NONE = "\u2013"
PARAMETERS = {"session_id": "id", "message": "messageId", "run_id": "runId"}
P, C = "/api/projects/:slug", "/api/projects/:slug/chats/:id"


def documented_routes(page: str = "api.md", p: str = P, c: str = C) -> set[tuple[str, str]]:
    """(method, path) of every row of the table of a page, its shorthands written out."""
    rows = re.findall(r"^\| ([A-Z ]+?) `([^|]+)` \|", DOCS[page], re.MULTILINE)
    found = set()
    for methods, paths in rows:
        for path in re.split(r"`, `", paths):
            whole = re.sub(r"^C(?=/|$)", c, re.sub(r"^P(?=/|$)", p, path))
            found |= {(method, whole) for method in methods.split()}
    return found


def routes(urlconf: str = "workspace.urls") -> list[tuple[str, str]]:
    """Every (method, path) that the viewsets of a surface answer."""
    found = []
    for pattern in get_resolver(urlconf).url_patterns:
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


@pytest.mark.parametrize("urlconf", ["workspace.urls", "review.urls", "dashboard.urls"])
def test_the_description_of_an_api_can_be_made_without_a_warning(urlconf, capsys):
    """Two kinds of one name would be described as one: clients made of it read the wrong fields."""
    generator = SchemaGenerator(urlconf=urlconf)  # type: ignore[no-untyped-call]
    generator.get_schema(public=True)  # type: ignore[no-untyped-call]

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_a_setting_is_in_the_configuration_reference(name):
    option = OPTIONS[name]
    variable = f"`{option.env}`" if option.env else NONE
    key = f"`{option.key}`" if option.key else NONE

    assert f"| {variable} | {key} |" in DOCS["configuration.md"]


@pytest.mark.parametrize("name", sorted(readers.ENGINES.names()))
def test_a_setting_of_an_engine_is_in_its_reference(name):
    engine, _, key = name.partition(".")
    text = DOCS["engines.md"].partition(f"\n## {engine}\n")[2].partition("\n## ")[0]

    assert f"`{key}`" in text or f"{engine}:\n    {key}:" in text


@pytest.mark.parametrize("name", sorted(readers.TOOLS.names()))
def test_a_setting_of_a_tool_is_in_the_configuration_reference(name):
    assert f"`tools.{name}`" in DOCS["configuration.md"]


@pytest.mark.parametrize(("method", "path"), routes())
def test_a_route_is_in_the_api_reference(method, path):
    assert (method, path) in documented_routes()


def test_the_api_reference_names_no_route_that_is_not_there():
    known = set(routes())
    streams = {"/api/events", "/api/streams", f"{C}/events", "/api/schema", "/api/docs"}
    claimed = {(m, path) for m, path in documented_routes() if path.startswith("/api/")}

    assert {(m, path) for m, path in claimed if path not in streams} == known


def test_every_page_is_in_the_api_reference():
    for page in shown:
        path = re.sub(r"<str:(\w+)>", r":\1", f"/{page.pattern}").replace(":session_id", ":id")
        short = path.replace("/projects/:slug/", "…/")
        assert f"`{short}`" in DOCS["api.md"], path


def test_every_command_is_in_the_command_reference():
    names = {name for app in APPS for name in find_commands(str(ROOT / app / "management"))}

    assert names
    assert {name for name in names if f"| `{name}` |" not in DOCS["commands.md"]} == set()


def test_a_command_that_a_page_offers_to_copy_is_there_and_runs_in_the_checkout():
    scripts = (ROOT / "templates" / "static" / "js").rglob("*.js")
    found = [
        offered
        for script in scripts
        for offered in re.findall(r"(\S*) ?manage\.py (\S+)", script.read_text())
    ]
    names = {name for app in APPS for name in find_commands(str(ROOT / app / "management"))}

    assert found
    assert [name for _, name in found if name not in names] == []
    assert [before for before, _ in found if not before.endswith(".venv/bin/python")] == []


def test_the_review_reference_names_every_route_and_no_other():
    p = "/api/projects/:project"
    machine = {("POST", f"{p}/assets"), ("GET", "/api/events"), ("GET", "/api/streams"),
               ("POST", "/mcp"), ("GET", "/api/schema"), ("GET", "/api/docs")}  # fmt: skip
    claimed = documented_routes("review-api.md", p, f"{p}/repos/:repo/commits/:sha")

    assert claimed == {*routes("review.urls"), *machine}


def test_the_dashboard_reference_names_every_route_and_no_other():
    guide = {("GET", path) for path in ("/llms.txt", "/llms-full.txt", "/agent-guide.md")}
    machine = {("GET", "/api/events"), ("GET", "/api/streams"), ("POST", "/mcp"),
               ("GET", "/api/schema"), ("GET", "/api/docs"), *guide}  # fmt: skip

    assert documented_routes("dashboard-api.md") == {*routes("dashboard.urls"), *machine}


@pytest.mark.parametrize("name", ["SVC_DASHBOARD_PORT", "SVC_FRONTED_HOST"])
def test_the_settings_of_the_dashboard_are_in_its_reference(name):
    assert f"| `{name}` |" in DOCS["dashboard-api.md"]


def test_every_key_of_the_dashboards_config_stands_there_with_its_default():
    said = {True: "true", False: "false", None: "none"}
    rows = {}
    for key, value in DEFAULTS.items():
        table = value if isinstance(value, dict) else {"": value}
        for name, default in table.items():
            shown = said[default] if isinstance(default, bool | None) else str(default)
            mark = shown if default is None else f"`{shown}`"
            rows[f"{key}.{name}".rstrip(".")] = f"| {mark} |"

    page = DOCS["dashboard-files.md"]
    assert [key for key, cell in rows.items() if f"| `{key}` {cell}" not in page] == []


def test_every_verb_of_the_command_line_is_in_its_reference():
    page = DOCS["dashboard-agents.md"]

    assert [verb for verb in (*VERBS, "logs") if f"`{verb}" not in page] == []


@pytest.mark.parametrize("name", ["SVC_PROJECTS_DIR", "SVC_REVIEW_PORT", "SVC_REVIEWER"])
def test_the_settings_of_the_review_part_are_in_its_reference(name):
    assert f"| `{name}` |" in DOCS["review-api.md"]


@pytest.mark.parametrize(
    ("page", "registry"),
    [
        ("mcp.md", REGISTRY),
        ("review-api.md", REVIEW_REGISTRY),
        ("dashboard-agents.md", DASHBOARD_REGISTRY),
    ],
)
def test_every_tool_and_its_arguments_are_in_the_mcp_reference(page, registry):
    missing = []
    for operation in registry:
        rows = [line for line in DOCS[page].splitlines() if f"| `{operation.name}`" in line]
        rows += [line for line in DOCS[page].splitlines() if f", `{operation.name}` |" in line]
        row = next((line for line in rows if line.startswith("| ")), "")
        for argument in operation.arguments:
            mark = "*" if argument.required else ""
            if f"`{argument.name}{mark}`" not in row:
                missing.append((operation.name, argument.name))
        if not row:
            missing.append((operation.name, ""))

    assert missing == []


def test_every_failure_names_the_test_that_makes_it_happen():
    rows = [line for line in DOCS["failures.md"].splitlines() if line.startswith("| ")]
    shown = [re.search(r"`(tests/[\w/]+\.py)::(\w+)` \|$", row) for row in rows]
    heads = {"| failure | what you see | what is kept | shown by |", "| --- | --- | --- | --- |"}

    unnamed = {row for row, found in zip(rows, shown, strict=True) if found is None}
    assert unnamed == heads
    assert [found[0] for found in shown if found and found[2] not in functions_of(found[1])] == []


def test_every_promise_by_store_names_its_test_and_what_was_shown_in_each_mode():
    rows = re.findall(r"^\| ([A-Z]\d+) \| (.+) \|$", DOCS["promises-by-store.md"], re.MULTILINE)
    names = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", "".join(row for _, row in rows))
    benches = re.findall(r"`make bench ARGS=(\w+)`", "".join(row for _, row in rows))
    cells = [cell for _, row in rows for cell in row.split(" | ")[2:]]

    assert [(file, name) for file, name in names if name not in functions_of(file)] == []
    assert [one for one in benches if not (ROOT / f"bench/{one}_bench.py").is_file()] == []
    assert len(names) + len(benches) == len(rows) > 15
    assert {one.id for one in PROMISES} >= {promise for promise, row in rows if "tests/" in row}
    assert {row.count(" | ") for _, row in rows} == {4}
    assert [cell for cell in cells if not re.match(r"(not shown|fast|slow|measured)\b", cell)] == []


def test_what_is_over_its_bound_in_a_mode_of_stores_is_told():
    """Rows that were measured in every mode, bold where one is over, against the cells by store."""
    rows = re.findall(r"^\| ([A-Z]\d+) \|(.+)\|$", RESULTS, re.MULTILINE)
    measured = [(promise, row.split(" | ")[3:]) for promise, row in rows]
    over = {(one, n) for one, cells in measured for n, cell in enumerate(cells) if "**" in cell}
    pages = re.findall(r"^\| ([A-Z]\d+) \| (.+) \|$", DOCS["promises-by-store.md"], re.MULTILINE)
    told = {
        (promise, n)
        for promise, row in pages
        for n, cell in enumerate(row.split(" | ")[2:])
        if ", over: " in cell
    }

    assert told == {(one, n) for one, n in over if one in {promise for promise, _ in pages}}


def test_links_between_the_pages_lead_somewhere():
    broken = [
        (name, target)
        for name, text in DOCS.items()
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text)
        if not (ROOT / "docs" / target).exists()
    ]

    assert broken == []


@pytest.mark.parametrize("name", sorted(DOCS))
def test_a_row_of_a_table_has_as_many_cells_as_its_head(name):
    for table in re.findall(r"(?:^\|.*\n)+", DOCS[name], re.MULTILINE):
        head, *rows = table.splitlines()
        cells = len(re.findall(r"(?<!\\)\|", head))
        assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != cells] == []
