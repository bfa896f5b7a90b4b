"""Runs, audit and clients: filtered, unfolded, followed to their chat, live. By mouse and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.service import Service, until

WORKS = '#!runbook\n```Glob\n{"pattern": "*.md"}\n```\nAll is well.\n'
FAILS = '#!runbook\n```Read\n{"file_path": "nope.txt"}\n```\n'
WAITS = "#!runbook\n```Bash timeout=120\nsleep 100\n```\n"
TOKEN = "svc_home_" + "0123456789abcdef" * 3


def fire(service: Service, name: str) -> None:
    service.http.post(f"/api/projects/ledgerline/triggers/{name}/run").raise_for_status()


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Three triggers, two of them run; a client that may come in and one that may not."""
    scope = {"projects": ["ledgerline"], "allow": ["list_*", "read_chat", "send_message"]}
    config = {
        "managementApi": {
            "publicUrl": "http://127.0.0.1:9",
            "instanceId": "home",
            "clients": {
                "ci": {"auth": {"type": "token", "ref": "env:SVC_TOKEN_CI"}, "scope": scope},
                "lost": {"auth": {"type": "token", "ref": "env:SVC_TOKEN_LOST"}, "scope": scope},
            },
        }
    }
    folder = tmp_path_factory.mktemp("records")
    with Service(folder, config=config, env={"SVC_TOKEN_CI": TOKEN}) as running:
        running.http.post("/api/projects", json={"name": "Ledgerline"}).raise_for_status()
        for name, prompt in (("works", WORKS), ("fails", FAILS), ("waits", WAITS)):
            running.http.put(
                f"/api/projects/ledgerline/triggers/{name}",
                json={
                    "trigger": {"type": "schedule", "cron": "0 3 * * *"},
                    "run": {"prompt": prompt, "tools": ["Bash", "Glob", "Read"]},
                    "enabled": False,
                },
            ).raise_for_status()
        fire(running, "works")
        fire(running, "fails")
        until(
            lambda: all(run["finishedAt"] for run in running.http.get("/api/runs").json()["runs"]),
            what="both runs",
        )
        yield running


def test_runs_are_filtered_and_the_address_keeps_the_filters(page: Page) -> None:
    page.goto("/runs")
    lines = page.locator(".ledger summary")
    expect(lines).to_have_count(2)

    page.get_by_label("Status").select_option("failed")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("nope.txt")
    page.reload()
    expect(lines).to_have_count(1)
    page.get_by_label("Status").select_option("skipped")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(lines).to_have_count(2)

    page.locator("body").press("/")
    page.keyboard.type("nope step_1")
    expect(lines).to_have_count(1)
    page.get_by_label("When").select_option("last 24 hours")
    page.get_by_label("Project").select_option("Ledgerline")
    expect(lines).to_have_count(1)
    expect(page).to_have_url(re.compile("q=nope.*project=ledgerline.*days=1"))


@pytest.mark.slow
def test_on_a_phone_filters_can_be_used_and_a_line_names_project_cause_and_reason(
    page: Page,
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/runs", "/audit"):
        page.goto(address)
        fields = page.get_by_role("form", name="Filter").locator("input, select")
        expect(fields.first).to_be_visible()
        assert all(field.bounding_box()["width"] >= 120 for field in fields.all())  # type: ignore[index]

    page.goto("/runs?status=failed")
    line = page.locator(".ledger summary", has_text="fails")
    for words in ("Ledgerline · manual", "nope.txt"):
        expect(line.get_by_text(words)).to_be_visible()


def test_a_run_unfolds_to_its_record_and_leads_to_its_chat(page: Page) -> None:
    page.goto("/projects/ledgerline/runs?trigger=fails")
    expect(page.locator(".ledger summary")).to_have_count(1)

    page.locator("body").press("j")
    page.keyboard.press("Enter")
    record = page.locator(".ledger details[open]")
    expect(record).to_contain_text("Read step_1 failed: file not found: nope.txt")
    expect(record).to_contain_text("runbook")
    expect(record).to_contain_text(re.compile("Read . 1"))
    record.get_by_role("link", name="Open chat").click()
    expect(page.get_by_label("Transcript")).to_contain_text("nope.txt")


@pytest.mark.slow
def test_a_run_comes_in_live_and_is_cancelled_while_its_line_stays_open(
    page: Page, shared_service: Service
) -> None:
    page.goto("/projects/ledgerline/runs?trigger=waits")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()

    fire(shared_service, "waits")
    line = page.locator(".ledger summary", has_text="Running")
    line.click()
    page.get_by_role("button", name="Cancel run").click()

    expect(page.locator(".ledger details[open]")).to_contain_text("Cancelled")
    run = shared_service.http.get("/api/runs?trigger=waits").json()["runs"][0]
    assert run["status"] == "cancelled"


def test_clients_show_what_they_may_do_and_how_they_connect(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/clients")
    ci = page.get_by_role("region", name="Client ci")
    expect(ci).to_contain_text("list_projects")
    expect(ci).to_contain_text("svc:read, svc:write")
    expect(ci).to_contain_text("can run code")
    lost = page.get_by_role("region", name="Client lost")
    expect(lost).to_contain_text("SVC_TOKEN_LOST is unset")

    ci.get_by_role("button", name="Copy: for Claude Code").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("claude mcp add --transport http svc http://127.0.0.1:9/mcp")
    ci.get_by_text("Cursor", exact=True).click()
    expect(ci.get_by_label("For Cursor", exact=True)).to_contain_text('"mcpServers"')
    page.keyboard.press("ArrowRight")
    expect(ci.get_by_label("For curl", exact=True)).to_contain_text("curl")


def test_calls_on_the_endpoint_stand_in_the_audit(page: Page, shared_service: Service) -> None:
    refused = shared_service.http.post("/mcp", headers={"Authorization": "Bearer nope"})
    assert refused.status_code == 401
    page.goto("/audit")
    lines = page.locator(".ledger summary")
    expect(lines.first).to_contain_text("no valid token")
    lines.first.click()
    expect(page.locator(".ledger details[open]")).to_contain_text("auth_failed")
    page.get_by_label("Outcome").select_option("went through")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
