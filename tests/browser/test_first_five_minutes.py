"""The README's first five minutes, in the browser, in its order and with its words."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.service import Service, until

SECOND_MESSAGE = '#!runbook\n```Glob\n{"pattern": "*.py"}\n```\n'


@pytest.fixture
def shared_service(service: Service) -> Service:
    """Nothing is there yet: the page's service is one of its own."""
    return service


@pytest.mark.slow
def test_a_person_gets_from_nothing_to_a_run_of_a_trigger(
    page: Page, shared_service: Service
) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
    expect(page.get_by_text("Coding agents work here.")).to_be_visible()
    expect(page.locator("#first > section")).to_have_count(3)

    page.get_by_role("button", name="Make the demo project").click()
    expect(page.get_by_role("heading", name="Demo", exact=True)).to_be_visible()

    _looks_at_the_first_chat(page)
    _writes_a_message_and_allows_its_command(page)
    _arms_runs_and_disarms_the_trigger(page, shared_service)


def _looks_at_the_first_chat(page: Page) -> None:
    page.get_by_role("link", name="First look around").click()
    calls = page.get_by_text("3 tool calls")
    expect(calls).to_be_visible()
    calls.click()
    page.get_by_text("TODO|FIXME", exact=True).click()
    expect(page.get_by_label("Output of Grep")).to_contain_text("TODO: times after midnight")


def _writes_a_message_and_allows_its_command(page: Page) -> None:
    page.get_by_role("button", name="Runbook", exact=True).click()
    page.get_by_role("button", name=re.compile("^Send")).click()

    question = page.get_by_role("group", name="Bash asks to run")
    expect(question).to_contain_text("git status --short")
    page.get_by_role("textbox", name="Message").fill(
        '#!runbook\n```Glob\n{"pattern": "*.py"}\n```\n'
    )
    page.get_by_role("button", name=re.compile("^Queue")).click()
    expect(page.get_by_role("list", name="Queue, 1 message")).to_contain_text("#!runbook")

    question.get_by_role("button", name=re.compile("^Allow once")).click()

    expect(page.get_by_text("You allowed Bash")).to_be_visible()
    expect(page.get_by_text("1 tool call", exact=True)).to_have_count(3)
    expect(page.get_by_role("list", name=re.compile("^Queue"))).to_be_hidden()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def _arms_runs_and_disarms_the_trigger(page: Page, service: Service) -> None:
    page.locator("body").press("Escape")
    page.get_by_label("Transcript").focus()
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.get_by_role("link", name="nightly-check", exact=True).click()
    expect(page.get_by_text("at 02:30, every day").last).to_be_visible()
    expect(page.get_by_text("Would fire next, once enabled")).to_be_visible()

    page.get_by_role("switch", name="Enabled").check()
    expect(page.get_by_role("heading", name="Next three times")).to_be_visible()
    expect(page.locator("ol.times > li")).to_have_count(3)

    page.get_by_role("button", name="Run now").click()
    page.get_by_role("button", name="Open chat").click()
    expect(page.get_by_text("Report written; tests ended with 0.")).to_be_visible()
    reports = service.projects / "demo" / "reports"
    assert until(lambda: list(reports.glob("*.md")), what="the report")

    page.go_back()
    expect(page.get_by_role("complementary", name="Recent runs")).to_contain_text("Completed")
    page.get_by_role("switch", name="Enabled").uncheck()
    expect(page.get_by_text("Would fire next, once enabled")).to_be_visible()
    stored = service.http.get("/api/projects/demo/triggers/nightly-check").json()["trigger"]
    assert stored["enabled"] is False
