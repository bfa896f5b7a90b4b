"""The page of a project and the search over all of them, by mouse and by keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Watch
from tests.promises.rings import few
from tests.service import Service, until
from tests.workspace.chats.sessions import kept

SAYS = "#!runbook\nThe rounding of {word} follows the law.\n"


def ended(served: Service, chat: str) -> Any:
    """How the last turn of a chat ended; None while it has not."""
    return served.http.get(chat).json()["chat"]["lastTurn"]


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A project with three chats, one of them archived, notes, a trigger; and a second project."""
    with Service(tmp_path_factory.mktemp("project")) as running:
        for name in ("Ledgerline", "Marl"):
            running.http.post("/api/projects", json={"name": name}).raise_for_status()
        folder = running.projects / "ledgerline"
        (folder / "OVERVIEW.md").write_text("# What it is\n\nInvoices, **on time**.\n")
        (folder / "CHANGELOG.md").write_text("# Changes\n\n- Totals are rounded once.\n")
        running.http.put(
            "/api/projects/ledgerline/triggers/nightly",
            json={
                "trigger": {"type": "schedule", "cron": "0 3 * * *"},
                "run": {"prompt": "#!runbook\nGood night.\n"},
                "enabled": True,
            },
        ).raise_for_status()
        for project, name, word in (
            ("ledgerline", "VAT totals", "vat_total"),
            ("ledgerline", "Second letter", "reminders"),
            ("ledgerline", "Old plan", "nothing"),
            ("marl", "Rule MD041", "vat_total"),
        ):
            body = {"name": name, "prompt": SAYS.format(word=word)}
            made = running.http.post(f"/api/projects/{project}/chats", json=body).json()["chat"]
            chat = f"/api/projects/{project}/chats/{made['sessionId']}"
            until(
                partial(ended, running, chat),
                what=f"the turn of {name}",
            )
            if name == "Old plan":
                running.http.post(f"{chat}/archive").raise_for_status()
        yield running


def test_a_project_shows_chats_notes_triggers_and_what_is_unread(
    page: Page, shared_service: Service
) -> None:
    page.goto("/projects/ledgerline")

    chats = page.get_by_role("region", name="Chats")
    expect(chats.locator(".chats a.over")).to_have_text(["Second letter", "VAT totals"])
    expect(chats.locator(".chats").get_by_text("unread", exact=True)).to_have_count(2)
    archived = chats.get_by_text("Archived")
    archived.click()
    expect(chats.get_by_role("link", name="Old plan")).to_be_visible()
    expect(page.get_by_role("heading", name="What it is")).to_be_visible()
    page.get_by_text("CHANGELOG.md").click()
    expect(page.get_by_text("Totals are rounded once.")).to_be_visible()
    side = page.get_by_role("complementary", name="Triggers and runs")
    expect(side.get_by_role("link", name="nightly")).to_be_visible()

    side.get_by_role("button", name="Pause the triggers of this project").click()
    expect(page.get_by_text("The triggers of this project are paused, since")).to_be_visible()
    expect(side.get_by_role("img", name="Paused")).to_be_visible()
    assert shared_service.http.get("/api/projects/ledgerline").json()["project"]["paused"]
    page.locator("body").press("p")
    expect(side.get_by_role("img", name="Armed")).to_be_visible()


def test_chats_are_found_by_name_and_by_text_and_the_message_is_a_jump_away(page: Page) -> None:
    page.goto("/projects/ledgerline")
    expect(page.locator(".chats a.over")).to_have_count(2)

    page.locator("body").press("/")
    page.keyboard.type("letter")
    expect(page.locator(".chats a.over")).to_have_text(["Second letter"])
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("t_total")
    hits = page.get_by_role("region", name="In messages")
    expect(hits.get_by_role("link", name="VAT totals")).to_be_visible()
    expect(hits.locator("mark").first).to_have_text("t_total")
    expect(page.locator(".chats a.over")).to_have_text(["VAT totals"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/chats/[0-9a-f-]+#m\d+$"))
    expect(page.get_by_label("Transcript")).to_contain_text("vat_total")


@pytest.mark.slow
def test_a_chat_is_deleted_undone_deleted_again_and_restored_from_the_list(page: Page) -> None:
    page.goto("/projects/ledgerline")
    expect(page.locator(".chats a.over")).to_have_count(2)

    page.get_by_role("button", name="More for Second letter").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.locator(".chats a.over")).to_have_text(["VAT totals"])
    page.get_by_role("button", name="Undo").last.click()
    expect(page.locator(".chats a.over")).to_have_count(2)

    page.get_by_role("button", name="More for Second letter").press("ArrowDown")
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    expect(page.locator(".chats a.over")).to_have_count(1)
    page.get_by_role("region", name="Chats").get_by_text("Deleted").click()
    page.get_by_role("button", name="Restore Second letter").click()
    expect(page.locator(".chats a.over")).to_have_count(2)


def test_a_chat_is_started_and_the_text_survives_a_reload(page: Page) -> None:
    page.goto("/projects/marl")
    expect(page.locator(".chats a.over")).to_have_text(["Rule MD041"])
    page.locator("body").press("c")
    page.keyboard.type("#!runbook")
    page.keyboard.press("Enter")
    page.keyboard.type("Hello there.")
    page.get_by_role("textbox", name="Message").blur()
    page.reload()
    box = page.get_by_role("textbox", name="Message")
    expect(box).to_have_value("#!runbook\nHello there.")

    box.press("Control+Enter")

    expect(page).to_have_url(re.compile("/chats/"))
    expect(page.get_by_label("Transcript")).to_contain_text("Hello there.")


@pytest.mark.slow
def test_messages_of_all_projects_are_searched(page: Page) -> None:
    page.goto("/")
    expect(page.locator(".home a.over")).to_have_count(2)
    page.locator("body").press("g")
    page.keyboard.press("s")
    box = page.get_by_role("searchbox", name="Words")
    expect(box).to_be_focused()
    box.fill("vat_total law")
    found = page.get_by_role("region", name="Messages")
    expect(found.get_by_role("link")).to_have_count(2)
    expect(found).to_contain_text("Marl · ")
    expect(page).to_have_url(re.compile("q=vat_total"))

    page.get_by_role("combobox", name="Project").select_option("Marl")
    expect(found.get_by_role("link")).to_have_count(1)
    page.reload()
    expect(found.get_by_role("link")).to_have_count(1)
    box.fill("zebra")
    expect(page.get_by_text("No message holds “zebra”.")).to_be_visible()
    page.get_by_role("combobox", name="Project").select_option("All projects")
    box.fill("vat_total")
    expect(found.get_by_role("link")).to_have_count(2)
    box.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Transcript")).to_contain_text("vat_total")


@pytest.mark.parametrize("name", few(["/triggers", "", "/settings", "/runs", "/chats"], 1))
def test_an_open_page_of_a_project_says_that_the_project_was_deleted_and_restores_it(
    page: Page, shared_service: Service, watch: Watch, name: str
) -> None:
    watch.meant.append("404")
    page.goto(f"/projects/marl{name}")
    expect(page.get_by_role("img", name="Live")).to_be_visible()

    shared_service.http.request("DELETE", "/api/projects/marl", json={}).raise_for_status()
    bar = page.get_by_role("alert").filter(has_text="This project is deleted")
    expect(bar).to_be_visible()
    bar.get_by_role("button", name="Restore").click()

    expect(bar).to_have_count(0)
    shared_service.http.get("/api/projects/marl").raise_for_status()


def test_settings_say_what_is_inherited_and_a_save_can_be_undone(
    page: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.extend(["400", "412"])
    page.goto("/projects/marl/settings")
    turns = page.get_by_label("Turn limit")
    expect(turns).to_have_value("")
    expect(turns).to_have_attribute("placeholder", "200")
    expect(page.get_by_text("Inherited: 200, the built-in value.")).to_be_visible()
    expect(page.get_by_text("from the instance (SVC_MAX_SPAWN_DEPTH)")).to_be_visible()

    turns.fill("0")
    turns.press("Control+Enter")
    expect(page.get_by_text(re.compile("from 1 to 1000"))).to_be_visible()
    expect(turns).to_be_focused()
    turns.fill("50")
    page.get_by_label("Agents may edit triggers").select_option("true")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    file = shared_service.projects / "marl" / "project.yaml"
    assert "maxTurns: 50" in file.read_text()
    assert "hooksMcpEnabled: true" in file.read_text()
    assert "permissionMode" not in file.read_text()

    page.get_by_role("button", name="Undo").click()
    expect(turns).to_have_value("")
    assert "maxTurns" not in file.read_text()

    page.get_by_label("Summary").fill("Mine")
    file.write_text(file.read_text() + "model: haiku\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The file has changed since")).to_be_visible()
    page.get_by_role("button", name="Take the new state of the file").click()
    expect(page.get_by_label("Summary")).to_have_value("Mine")
    expect(page.get_by_label("Model", exact=True)).to_have_value("haiku")


def test_what_is_typed_into_settings_and_not_saved_is_there_after_a_reload(
    page: Page, shared_service: Service
) -> None:
    shared_service.http.post("/api/projects", json={"name": "Typed"})
    page.goto("/projects/typed/settings")
    instructions, turns = page.get_by_label("Instructions"), page.get_by_label("Turn limit")
    instructions.fill("Write the tests first.")
    turns.fill("60")
    page.reload()

    expect(instructions).to_have_value("Write the tests first.")
    expect(page.get_by_text("Not saved yet; back from before the reload")).to_be_visible()
    page.get_by_role("button", name="Discard changes").click()
    expect(instructions).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(turns).to_have_value("60")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_text("Not saved yet")).to_be_hidden()
    page.reload()
    expect(instructions).to_have_value("Write the tests first.")
    expect(page.get_by_text("Not saved yet")).to_be_hidden()
    assert "maxTurns: 60" in (shared_service.projects / "typed" / "project.yaml").read_text()


@pytest.mark.slow
def test_settings_typed_in_two_windows_and_changed_in_the_file_lose_no_text(
    page: Page, context: BrowserContext, shared_service: Service
) -> None:
    shared_service.http.post("/api/projects", json={"name": "Clash"})
    file = shared_service.projects / "clash" / "project.yaml"
    file.write_text("name: Clash\ninstructions: as it was\n")
    other = context.new_page()
    for window in (other, page):
        window.goto("/projects/clash/settings")
        expect(window.get_by_label("Instructions", exact=True)).to_have_value("as it was")
    for window, text in ((other, "theirs"), (page, "mine")):
        window.get_by_label("Instructions", exact=True).fill(text)
    context.new_page().goto("/projects/clash/settings")  # one that only looks takes nothing over
    other.goto("about:blank")
    other.close()
    file.write_text("name: Clash\ninstructions: by an agent\n")
    page.reload()

    instructions = page.get_by_label("Instructions", exact=True)
    left = page.get_by_role("group", name="Text of a window that was closed")
    expect(instructions).to_have_value("mine")
    expect(page.get_by_text("changed meanwhile to “by an agent”")).to_be_visible()
    expect(left).to_contain_text("Instructions: theirs")
    left.get_by_role("button", name="Put it here").click()
    expect(instructions).to_have_value("theirs")
    expect(left).to_contain_text("Instructions: mine")
    page.get_by_role("button", name="Take theirs").click()
    expect(instructions).to_have_value("by an agent")
    expect(page.get_by_text("Not saved yet")).to_be_hidden()


@pytest.mark.slow
def test_a_session_of_claude_code_is_read_and_continued_as_a_chat(
    page: Page, shared_service: Service
) -> None:
    folder = shared_service.projects / "marl"
    path = kept.keep(shared_service.home / ".claude" / "projects", folder, "2.1.330")
    before = path.read_bytes()
    page.goto("/projects/marl")
    page.get_by_text("Sessions of Claude Code").click()
    page.get_by_role("button", name=kept.WORDS, exact=True).click()

    sheet = page.get_by_role("dialog", name=kept.WORDS)
    expect(sheet.get_by_text("The file says hello.")).to_be_visible()
    expect(sheet.get_by_text("2 tool calls")).to_be_visible()
    sheet.get_by_role("button", name="Continue here").click()

    expect(page).to_have_url(re.compile("/projects/marl/chats/"))
    expect(page.get_by_text("The file says hello.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    assert path.read_bytes() == before


@pytest.mark.slow
def test_what_claude_code_keeps_is_asked_for_once_and_not_at_each_event(
    page: Page, shared_service: Service
) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto("/projects/marl")
    expect(page.get_by_role("region", name="Chats")).to_be_visible()
    shared_service.http.post("/api/projects/marl/chats", json={"name": "Told by an event"})
    expect(page.get_by_role("link", name="Told by an event")).to_be_visible()

    assert len([url for url in asked if "/projects/marl/sessions" in url]) == 1


def test_a_long_or_turning_name_stays_within_its_page_and_is_seen(
    page: Page, shared_service: Service
) -> None:
    made = {"name": "Unbroken" * 14, "slug": "unbroken", "summary": "x" * 300}
    shared_service.http.post("/api/projects", json=made).raise_for_status()
    chats = "/api/projects/unbroken/chats"
    answer = shared_service.http.post(chats, json={"name": "\u202eback"}).raise_for_status()
    page.set_viewport_size({"width": 360, "height": 800})

    for address in ("/projects/unbroken", "/projects/unbroken/settings"):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert page.locator("h1").evaluate("(one) => one.scrollWidth <= one.clientWidth")

    page.goto(f"/projects/unbroken/chats/{answer.json()['chat']['sessionId']}")
    expect(page.locator("#here")).to_have_text("«U+202E»back")
    expect(page).to_have_title(re.compile(r"«U\+202E»back · Workspace"))
