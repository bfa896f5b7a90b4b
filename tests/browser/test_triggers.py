"""The triggers page: what is wrong stands at its field, what is broken is named with its line."""

from __future__ import annotations

import re

import pytest
import yaml
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import Held, Watch
from tests.promises.rings import few
from tests.service import Service, until

ENTRIES = """
triggers:
  good:  # keep me
    trigger: {type: schedule, cron: "0 9 * * 1-5"}
    run: {prompt: "#!runbook\\n```Glob\\n{\\"pattern\\": \\"*\\"}\\n```"}
    enabled: false
  close-books:
    trigger: {type: schedule, cron: "0 0 3 * * *"}
    run: {prompt: x}
schedules:
  old-one: {type: cron, cron: "0 4 * * *", prompt: hello, enabled: true}
"""


@pytest.fixture
def triggers(shared_service: Service, page: Page) -> Page:
    """The page of a project whose file was written by hand."""
    made = shared_service.http.post("/api/projects", json={"name": "Hand made"})
    assert made.status_code in {201, 409}
    path = shared_service.projects / "hand-made" / "project.yaml"
    path.write_text("name: Hand made\n" + ENTRIES)
    page.goto("/projects/hand-made/triggers")
    return page


def row(page: Page, words: str) -> Locator:
    """The row of the list at the left whose name holds these words."""
    rows = page.get_by_role("navigation", name="Triggers of Hand made").get_by_role("link")
    return rows.and_(page.get_by_role("link", name=re.compile(rf"\b{words}\b")))


def stored(service: Service) -> dict[str, dict[str, object]]:
    text = (service.projects / "hand-made" / "project.yaml").read_text()
    entries: dict[str, dict[str, object]] = yaml.safe_load(text)["triggers"]
    return entries


def test_each_error_stands_at_its_field(triggers: Page, watch: Watch) -> None:
    watch.meant.append("400")
    triggers.get_by_role("button", name="New", exact=True).click()
    triggers.get_by_label("Name", exact=True).fill("bad name!")
    triggers.get_by_role("textbox", name="Cron").fill("75 9 * * *")
    triggers.get_by_role("button", name=re.compile("^Save")).click()

    expect(triggers.get_by_text("3 fields need a correction")).to_be_visible()
    cron = triggers.get_by_role("textbox", name="Cron")
    expect(cron).to_have_attribute("aria-invalid", "true")
    expect(cron).to_have_accessible_description(re.compile("75 is not within 0-59"))
    expect(triggers.get_by_label("Name", exact=True)).to_be_focused()


@pytest.mark.slow
def test_a_trigger_is_worked_by_keys_alone(triggers: Page, shared_service: Service) -> None:
    row(triggers, "good").focus()
    triggers.keyboard.press("Enter")
    expect(triggers.get_by_role("switch", name="Enabled")).to_be_focused()

    triggers.keyboard.press("e")
    expect(triggers.get_by_role("switch", name="Enabled")).to_be_checked()
    triggers.keyboard.press("x")
    expect(triggers.get_by_role("complementary", name="Recent runs")).to_contain_text("Completed")
    triggers.keyboard.press("p")
    expect(triggers.get_by_text("The triggers of this project are paused").first).to_be_visible()
    triggers.keyboard.press("p")
    expect(triggers.get_by_text("may fire again")).to_be_visible()
    expect(triggers.locator(".toast", has_text="are paused")).to_have_count(0)
    triggers.keyboard.press("e")
    expect(triggers.get_by_role("switch", name="Enabled")).not_to_be_checked()


def test_a_new_trigger_is_saved_switched_off(triggers: Page, shared_service: Service) -> None:
    triggers.get_by_role("button", name="New", exact=True).click()
    triggers.get_by_label("Name", exact=True).fill("hourly")
    triggers.get_by_role("group", name="Repeat by").get_by_text("Interval").click()
    triggers.get_by_role("textbox", name="Interval").fill("1h")
    triggers.get_by_role("textbox", name="Prompt", exact=True).fill("Look around")
    triggers.get_by_label("Grep").check()
    expect(triggers.get_by_text("Would fire next, once enabled")).to_be_visible()
    triggers.keyboard.press("Control+s")

    expect(triggers.get_by_text("Saved. It is off until you enable it.")).to_be_visible()
    expect(triggers.get_by_role("switch", name="Enabled")).not_to_be_checked()
    assert stored(shared_service)["hourly"]["run"] == {"prompt": "Look around", "tools": ["Grep"]}


def test_an_invalid_entry_is_listed_with_its_line_and_stays_untouched(
    triggers: Page, shared_service: Service
) -> None:
    row(triggers, "close-books").click()

    expect(triggers.get_by_role("alert")).to_contain_text("Line 8 of project.yaml")
    expect(triggers.get_by_role("alert")).to_contain_text("has 6 fields, 5 are needed")
    assert stored(shared_service)["close-books"]["run"] == {"prompt": "x"}


@pytest.mark.slow
def test_a_trigger_is_enabled_while_it_is_still_being_saved(
    triggers: Page, shared_service: Service
) -> None:
    row(triggers, "good").click()
    triggers.get_by_role("textbox", name="Cron").fill("30 9 * * *")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PUT" and not held:
            held.append(route)
        else:
            route.continue_()

    triggers.route("**/triggers/good", hold)
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    until(lambda: triggers.evaluate("true") and held, what="the save")
    triggers.get_by_role("switch", name="Enabled").click()
    held[0].continue_()

    expect(row(triggers, "Armed good")).to_be_visible()
    good = stored(shared_service)["good"]
    assert (good["trigger"], good["enabled"]) == ({"type": "schedule", "cron": "30 9 * * *"}, True)


def test_a_zone_is_typed_mended_and_said_beside_every_time(
    triggers: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("400")
    row(triggers, "good").click()
    zone = triggers.get_by_label("Time zone", exact=True)
    zone.fill("Asia/Tokio")
    expect(triggers.get_by_text("is not the name of a time zone")).to_be_visible()
    triggers.get_by_role("button", name="Use Asia/Tokyo").click()

    times = triggers.get_by_role("status").filter(has_text="Would fire next")
    expect(times).to_contain_text("At 09:00, Monday to Friday Asia/Tokyo")
    expect(times.get_by_role("listitem").first).to_contain_text("09:00")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_text("Saved.")).to_be_visible()
    assert stored(shared_service)["good"]["trigger"] == {
        "type": "schedule", "cron": "0 9 * * 1-5", "timezone": "Asia/Tokyo",
    }  # fmt: skip

    triggers.get_by_role("switch", name="Enabled").check()
    expect(row(triggers, "Armed good")).to_contain_text("Asia/Tokyo")
    triggers.goto("/projects/hand-made/triggers")
    glance = triggers.get_by_role("row").filter(has_text="good")
    expect(glance).to_contain_text("09:00Asia/Tokyo")
    triggers.goto("/")
    expect(triggers.get_by_role("complementary", name="Now")).to_contain_text("Friday, Asia/Tokyo")


def test_a_pattern_that_is_seldom_meant_so_says_what_it_does(triggers: Page) -> None:
    row(triggers, "good").click()
    triggers.get_by_role("textbox", name="Cron").fill("*/60 * * * *")

    expect(triggers.get_by_text("(minute) is 0 alone")).to_be_visible()


@pytest.mark.slow
def test_what_nobody_can_be_asked_for_is_warned_of_at_save_with_its_fixes_as_buttons(
    triggers: Page, shared_service: Service
) -> None:
    triggers.get_by_role("button", name="New", exact=True).click()
    triggers.get_by_label("Name", exact=True).fill("tests")
    prompt = triggers.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("#!runbook\n```Bash\ntrue\n```\nDone.")
    triggers.keyboard.press("Control+s")
    warning = triggers.get_by_text("permission mode acceptEdits denies Bash;")
    expect(warning).to_be_visible()

    triggers.get_by_role("button", name="Everything unasked").click()
    expect(triggers.get_by_label("Permission")).to_have_value("bypassPermissions")
    triggers.get_by_role("button", name="Discard changes").click()
    triggers.get_by_role("button", name="Wait for a person").click()
    expect(triggers.get_by_label("What needs a person's yes")).to_have_value("wait")
    triggers.get_by_role("button", name="Discard changes").click()
    triggers.get_by_role("button", name="Name Bash").click()
    expect(triggers.get_by_role("checkbox", name="Bash")).to_be_checked()
    triggers.keyboard.press("Control+s")

    expect(warning).to_be_hidden()
    assert "'tools': ['Bash']" in str(stored(shared_service)["tests"])


@pytest.mark.slow
def test_a_pattern_of_commands_is_told_of_and_mended_by_its_button(
    triggers: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("400")
    row(triggers, "good").click()
    triggers.get_by_label("Further tool names").fill("Bash(git status), Grep")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_text("not patterns of commands")).to_be_visible()

    triggers.get_by_role("button", name="Use Bash").click()
    triggers.get_by_role("button", name=re.compile("^Save")).click()

    expect(triggers.get_by_text("Saved.")).to_be_visible()
    assert "'tools': ['Bash', 'Grep']" in str(stored(shared_service)["good"])


def test_a_deleted_trigger_comes_back_with_undo(triggers: Page, shared_service: Service) -> None:
    row(triggers, "good").click()
    triggers.get_by_role("button", name="Delete").click()
    expect(row(triggers, "good")).to_be_hidden()
    assert "good" not in stored(shared_service)

    triggers.get_by_role("button", name="Undo").last.click()

    expect(row(triggers, "good")).to_be_visible()
    assert stored(shared_service)["good"]["trigger"] == {"type": "schedule", "cron": "0 9 * * 1-5"}


@pytest.mark.slow
def test_a_trigger_is_deleted_after_what_was_asked_of_it_is_answered(triggers: Page) -> None:
    """Else the question finds nothing, and the page looks broken to whoever reads its log."""
    held = Held(triggers, "**/triggers/good")
    row(triggers, "good").click()
    triggers.get_by_role("button", name="Delete").click()
    triggers.evaluate("fetch('/api/health')")
    assert {route.request.method for route in held.routes} == {"GET"}

    held.release()
    expect(row(triggers, "good")).to_be_hidden()


@pytest.mark.slow
def test_a_trigger_of_a_client_says_so_until_a_person_saves_it(
    triggers: Page, shared_service: Service
) -> None:
    path = shared_service.projects / "hand-made" / "project.yaml"
    path.write_text(path.read_text().replace("enabled: false", "enabled: false\n    clients: [ci]"))
    triggers.reload()
    row(triggers, "good").click()
    said = triggers.get_by_text("Stored by client ci: its turns stay within that client's scope.")
    expect(said).to_be_visible()

    triggers.get_by_role("button", name="Delete").click()
    expect(row(triggers, "good")).to_be_hidden()
    triggers.get_by_role("button", name="Undo").last.click()
    expect(said).to_be_visible()

    with triggers.expect_response(lambda answer: answer.request.method == "PUT"):
        triggers.get_by_role("switch", name="Enabled").check()
    assert stored(shared_service)["good"]["clients"] == ["ci"]
    assert stored(shared_service)["good"]["enabled"] is True

    triggers.reload()
    triggers.get_by_role("textbox", name="Cron").press("Control+s")
    expect(said).to_be_hidden()
    assert "clients" not in stored(shared_service)["good"]


def test_a_legacy_schedule_is_converted_with_one_click(
    triggers: Page, shared_service: Service
) -> None:
    row(triggers, "old-one").click()
    expect(triggers.get_by_role("textbox", name="Cron")).to_be_disabled()
    triggers.get_by_role("button", name="Convert").click()

    expect(triggers.get_by_role("switch", name="Enabled")).to_be_checked()
    expect(triggers.get_by_role("heading", name="Next three times")).to_be_visible()
    assert stored(shared_service)["old-one"]["enabled"] is True


def test_a_hand_edit_appears_while_typed_text_stays(
    triggers: Page, shared_service: Service
) -> None:
    row(triggers, "good").click()
    prompt = triggers.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("half a thought")
    path = shared_service.projects / "hand-made" / "project.yaml"
    path.write_text(path.read_text().replace("  close-books:", "  renamed-by-hand:"))

    expect(row(triggers, "renamed-by-hand")).to_be_visible()
    expect(prompt).to_have_value("half a thought")


@pytest.mark.slow
def test_the_switch_keeps_what_is_typed(triggers: Page, shared_service: Service) -> None:
    row(triggers, "good").click()
    prompt = triggers.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("half a thought")
    with triggers.expect_response("**/triggers/good"):
        triggers.get_by_role("switch", name="Enabled").check()
    expect(row(triggers, "Armed good")).to_be_visible()

    expect(prompt).to_have_value("half a thought")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_text("Saved.")).to_be_visible()
    assert stored(shared_service)["good"]["run"] == {"prompt": "half a thought"}


def test_an_entry_changed_by_hand_is_not_overwritten_unseen(
    triggers: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("412")
    with triggers.expect_response("**/triggers/good"):
        row(triggers, "good").click()
    triggers.get_by_role("textbox", name="Prompt", exact=True).fill("mine")
    path = shared_service.projects / "hand-made" / "project.yaml"
    path.write_text(path.read_text().replace("0 9 * * 1-5", "0 8 * * 1-5"))
    triggers.get_by_role("button", name=re.compile("^Save")).click()

    expect(triggers.get_by_text("The entry has changed since")).to_be_visible()
    assert stored(shared_service)["good"]["trigger"] == {"type": "schedule", "cron": "0 8 * * 1-5"}
    shown = triggers.get_by_label("The entry in the file")
    expect(shown).to_contain_text("0 8 * * 1-5")
    path.write_text(path.read_text().replace("0 8 * * 1-5", "0 7 * * 1-5"))
    triggers.get_by_role("button", name=re.compile("^Save")).click()

    expect(shown).to_contain_text("0 7 * * 1-5")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_text("Saved.")).to_be_visible()
    assert stored(shared_service)["good"]["run"] == {"prompt": "mine"}


def test_a_new_trigger_takes_the_place_of_none_that_another_window_made(
    triggers: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("409")
    triggers.get_by_role("button", name="New", exact=True).click()
    name = triggers.get_by_label("Name", exact=True)
    name.fill("good")
    triggers.get_by_role("textbox", name="Prompt", exact=True).fill("mine")
    before = stored(shared_service)["good"]
    triggers.get_by_role("button", name=re.compile("^Save")).click()

    expect(triggers.get_by_text("There is now a trigger of this name")).to_be_visible()
    assert stored(shared_service)["good"] == before
    name.fill("better")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_text("Saved. It is off")).to_be_visible()
    assert stored(shared_service)["better"]["run"] == {"prompt": "mine"}


@pytest.mark.slow
def test_an_entry_that_was_deleted_meanwhile_is_said_to_be_and_can_be_made_anew(
    triggers: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant += ["412", "404"]
    with triggers.expect_response("**/triggers/good"):
        row(triggers, "good").click()
    triggers.get_by_role("textbox", name="Prompt", exact=True).fill("mine")
    shared_service.http.delete("/api/projects/hand-made/triggers/good").raise_for_status()
    save = triggers.get_by_role("button", name=re.compile("^Save"))
    save.click()

    expect(triggers.get_by_text("The trigger was deleted meanwhile")).to_be_visible()
    assert "good" not in stored(shared_service)
    save.click()
    expect(triggers.get_by_text("Saved.")).to_be_visible()
    assert stored(shared_service)["good"]["run"] == {"prompt": "mine"}


def test_a_schedule_explains_itself_and_says_what_is_wrong_as_one_types(
    triggers: Page, watch: Watch
) -> None:
    watch.meant.append("400")
    row(triggers, "good").click()
    cron = triggers.get_by_role("textbox", name="Cron")
    cron.fill("15 7 * * 1")
    expect(triggers.get_by_text("At 07:15, on Monday")).to_be_visible()
    expect(triggers.locator(".times li")).to_have_count(3)

    cron.fill("99 7 * * 1")
    expect(cron).to_have_accessible_description(re.compile("99 is not within 0-59"))
    triggers.get_by_role("button", name="Use 0 9 * * 1-5").click()

    expect(cron).to_have_value("0 9 * * 1-5")
    expect(cron).not_to_have_attribute("aria-invalid", "true")


def test_what_is_typed_survives_a_reload_and_is_said_to_be_unsaved(triggers: Page) -> None:
    row(triggers, "good").click()
    prompt = triggers.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("half a thought")
    expect(triggers.get_by_text("Not saved yet")).to_be_visible()
    triggers.reload()
    expect(prompt).to_have_value("half a thought")
    expect(triggers.get_by_text("back from before the reload")).to_be_visible()

    triggers.get_by_role("button", name="Discard changes").click()
    expect(prompt).to_have_value(re.compile("^#!runbook"))
    triggers.get_by_role("button", name="Undo").last.click()

    expect(prompt).to_have_value("half a thought")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "good"], ids=["new", "stored"])
def test_what_a_closed_window_had_typed_is_offered_and_changes_places_with_what_is_here(
    triggers: Page, context: BrowserContext, name: str
) -> None:
    other = context.new_page()
    for window, text in ((other, "theirs"), (triggers, "mine")):
        window.goto(f"/projects/hand-made/triggers?name={name}")
        window.get_by_role("textbox", name="Prompt", exact=True).fill(text)
        window.wait_for_function("text => JSON.stringify(localStorage).includes(text)", arg=text)
    other.goto("about:blank")
    other.close()
    triggers.reload()

    prompt = triggers.get_by_role("textbox", name="Prompt", exact=True)
    left = triggers.get_by_role("group", name="Text of a window that was closed")
    for here, there in (("mine", "theirs"), ("theirs", "mine")):
        expect(prompt).to_have_value(here)
        expect(left).to_contain_text(there)
        left.get_by_role("button", name="Put it here").click()
    left.get_by_role("button", name="Forget it").click()
    expect(left).to_have_count(0)
    triggers.reload()
    expect(prompt).to_have_value("mine")
    expect(left).to_have_count(0)


@pytest.mark.slow
def test_what_was_typed_before_the_entry_changed_or_went_says_so_and_is_not_lost(
    triggers: Page, shared_service: Service
) -> None:
    path = shared_service.projects / "hand-made" / "project.yaml"
    row(triggers, "good").click()
    prompt = triggers.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("half a thought")
    triggers.goto("about:blank")
    path.write_text(path.read_text().replace("0 9 * * 1-5", "0 7 * * 1-5"))
    triggers.goto("/projects/hand-made/triggers?name=good")

    shown = triggers.get_by_label("The entry in the file")
    expect(triggers.get_by_text("has changed since this was typed")).to_be_visible()
    expect(shown).to_contain_text("0 7 * * 1-5")
    expect(prompt).to_have_value("half a thought")
    shared_service.http.delete("/api/projects/hand-made/triggers/good").raise_for_status()
    triggers.reload()
    expect(triggers.get_by_text("The trigger was deleted meanwhile")).to_be_visible()
    expect(prompt).to_have_value("half a thought")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_text("Saved. It is off")).to_be_visible()
    assert stored(shared_service)["good"]["run"] == {"prompt": "half a thought"}


def test_pausing_is_said_in_the_list_and_ends_with_undo(triggers: Page) -> None:
    expect(row(triggers, "good")).to_be_visible()
    triggers.get_by_role("button", name="More for all triggers").click()
    triggers.get_by_role("menuitem", name="Pause triggers of this project").click()
    expect(triggers.get_by_text("Paused in this project")).to_be_visible()

    triggers.get_by_role("button", name="Undo").last.click()

    expect(triggers.get_by_text("Paused in this project")).to_be_hidden()


@pytest.mark.slow
def test_a_project_that_is_over_says_that_its_triggers_do_not_fire(
    triggers: Page, shared_service: Service
) -> None:
    path = shared_service.projects / "hand-made" / "project.yaml"
    path.write_text("status: abandoned\n" + path.read_text())
    triggers.reload()
    said = triggers.get_by_text("This project is abandoned: its triggers do not fire by themselves")
    expect(said.first).to_be_visible()

    triggers.goto("/projects/hand-made")
    expect(said.first).to_be_visible()


@pytest.mark.slow
def test_triggers_that_a_missing_folder_holds_are_not_said_to_fire_again(
    triggers: Page, shared_service: Service
) -> None:
    path = shared_service.projects / "hand-made" / "project.yaml"
    path.write_text(f"path: {shared_service.home}/is-gone\n" + path.read_text())
    triggers.reload()
    expect(triggers.get_by_text("Its folder cannot be used: nothing fires")).to_be_visible()
    triggers.get_by_role("button", name="More for all triggers").click()
    expect(triggers.get_by_role("menuitem", name="Resume triggers")).to_have_count(0)

    triggers.keyboard.press("Escape")
    triggers.keyboard.press("p")
    expect(triggers.get_by_text("The triggers of this project are paused").first).to_be_visible()
    triggers.keyboard.press("p")
    expect(triggers.get_by_text("Its folder cannot be used: nothing fires")).to_be_visible()


@pytest.mark.slow
def test_what_has_the_focus_is_not_behind_the_bar_of_save(triggers: Page) -> None:
    row(triggers, "good").click()
    expect(triggers.get_by_role("heading", name="good", exact=True)).to_be_visible()
    triggers.get_by_label("Name", exact=True).focus()
    bar = triggers.locator(".savebar").bounding_box()
    assert bar is not None
    within = "node => node.closest('form') && node.getBoundingClientRect().bottom"
    for _ in range(40):
        triggers.keyboard.press("Tab")
        bottom = triggers.locator(":focus").evaluate(within)
        if not bottom:
            break
        assert bottom <= bar["y"]
    assert triggers.locator(":focus").evaluate("node => !node.closest('form')")


def test_a_message_lies_over_no_bar_of_save(triggers: Page) -> None:
    row(triggers, "good").click()
    triggers.get_by_role("textbox", name="Prompt", exact=True).fill("half a thought")
    triggers.get_by_role("button", name="Discard changes").click()

    toast = triggers.locator(".toast", has_text="discarded")
    expect(toast).to_be_visible()
    said, bar = toast.bounding_box(), triggers.locator(".savebar").bounding_box()
    assert said
    assert bar
    assert said["y"] + said["height"] <= bar["y"]


def test_triggers_are_used_by_keyboard_alone(triggers: Page, shared_service: Service) -> None:
    expect(row(triggers, "good")).to_be_visible()
    triggers.keyboard.press("/")
    triggers.keyboard.type("goo")
    expect(row(triggers, "old-one")).to_be_hidden()
    triggers.keyboard.press("Escape")
    triggers.keyboard.press("Escape")
    triggers.keyboard.press("j")
    triggers.keyboard.press("Enter")
    expect(triggers.get_by_role("heading", name="good", exact=True)).to_be_visible()
    triggers.get_by_label("Turn limit").focus()
    triggers.keyboard.type("7")
    triggers.keyboard.press("Control+s")
    expect(triggers.get_by_text("Saved.")).to_be_visible()
    run = stored(shared_service)["good"]["run"]
    assert isinstance(run, dict)
    assert run["maxTurns"] == 7

    expect(triggers.get_by_label("Turn limit")).not_to_be_focused()  # drawn anew, as saved
    triggers.keyboard.press("n")
    expect(triggers.get_by_label("Name", exact=True)).to_be_focused()
    triggers.keyboard.press("Escape")
    triggers.keyboard.press("Escape")
    expect(triggers.get_by_role("heading", name="Triggers", exact=True).last).to_be_visible()


@pytest.mark.slow
def test_a_prompt_file_that_is_not_there_has_the_near_one_as_a_button(
    triggers: Page, shared_service: Service
) -> None:
    folder = shared_service.projects / "hand-made" / ".svc" / "triggers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dependency-check.md").write_text("Check.")
    triggers.reload()
    row(triggers, "good").click()
    triggers.get_by_role("group", name="Instruction from").get_by_text("File").click()
    file = triggers.get_by_role("combobox", name="Prompt file")
    file.fill("dependancy-check.md")

    triggers.get_by_role("button", name="Use dependency-check.md").click()

    expect(file).to_have_value("dependency-check.md")
    expect(file).not_to_have_attribute("aria-invalid", "true")


def test_an_event_says_what_its_turn_is_told_and_keeps_what_counts(
    triggers: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("400")
    triggers.get_by_role("button", name="New", exact=True).click()
    triggers.get_by_label("Name", exact=True).fill("mend")
    triggers.get_by_role("group", name="Starts").get_by_text("Event").click()
    expect(triggers.get_by_label("Gather for")).to_be_hidden()
    triggers.get_by_role("combobox", name="Event").select_option("onAppDown")
    expect(triggers.get_by_label("Example")).to_contain_text('"reason": "exited"')
    triggers.get_by_label("Only", exact=True).fill("shop, blog-*")
    triggers.get_by_label("Gather for").fill("2 hours")
    triggers.get_by_role("textbox", name="Prompt", exact=True).fill("Mend it")
    triggers.get_by_role("button", name=re.compile("^Save")).click()

    expect(triggers.get_by_label("Gather for")).to_have_attribute("aria-invalid", "true")
    triggers.get_by_label("Gather for").fill("2m")
    triggers.get_by_role("button", name=re.compile("^Save")).click()
    expect(triggers.get_by_role("heading", name="mend")).to_be_visible()
    expect(row(triggers, "mend")).to_contain_text("when an app falls")

    assert stored(shared_service)["mend"]["run"] == {
        "prompt": "Mend it",
        "debounce": "2m",
        "match": ["shop", "blog-*"],
    }
    triggers.reload()
    expect(triggers.get_by_label("Only", exact=True)).to_have_value("shop, blog-*")


@pytest.mark.slow
@pytest.mark.slow
def test_a_long_name_in_one_word_stays_within_a_narrow_window(
    triggers: Page, shared_service: Service
) -> None:
    name = "summarise_all_new_issues_of_the_week_" * 2
    entry = {"trigger": {"type": "schedule", "cron": "0 3 * * *"}, "run": {"prompt": "x"}}
    route = f"/api/projects/hand-made/triggers/{name[:64]}"
    shared_service.http.put(route, json=entry).raise_for_status()
    triggers.set_viewport_size({"width": 390, "height": 844})

    triggers.goto(f"/projects/hand-made/triggers?name={name[:64]}")

    expect(triggers.get_by_role("heading", name=name[:64])).to_be_visible()
    editor = triggers.locator(".editor")
    assert editor.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0


@pytest.mark.parametrize("width", few([360, 1100, 1280, 1440], 2))
def test_every_choice_of_how_it_starts_is_seen_whole(triggers: Page, width: int) -> None:
    triggers.set_viewport_size({"width": width, "height": 800})
    triggers.get_by_role("button", name="New", exact=True).click()
    starts = triggers.get_by_role("group", name="Starts")
    expect(starts).to_be_visible()

    place, column = starts.bounding_box(), starts.locator("..").bounding_box()
    assert place is not None
    assert column is not None
    assert place["x"] + place["width"] <= column["x"] + column["width"] + 1
    assert starts.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0
    for choice in starts.locator("label").all():
        assert choice.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0
