"""The editor of a YAML file in the drawer: saved, refused at its line, kept, and in conflict."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.toasts import undo
from tests.dashboard.served import Served
from tests.promises.rings import few
from tests.service import QUIET, until

BEGUN = "# mine\nname: Vault # its name\npaused: true\n"
TYPED = BEGUN + "tags: [typed]\n"
ELSEWHERE = BEGUN.replace("Vault", "Elsewhere")
CHANGED = "The file changed on disk."
# The window that was left is another to the next until the browser has ended it.
LET_GO = """async () => {
  const { held } = await navigator.locks.query();
  return !held.some(({ name }) => name.startsWith("svc.draft."));
}"""


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("editor"), dashboard=QUIET) as running:
        yield running


@pytest.fixture
def slug(shared_service: Served, request: pytest.FixtureRequest) -> str:
    """An app of this test alone."""
    slug = re.sub("[^a-z0-9]", "-", request.node.name.lower())[-40:].strip("-")  # its case, too
    shared_service.declare(slug, BEGUN)
    until(lambda: shared_service.app(slug), what="the app")
    return slug


def editor(page: Page, slug: str) -> Locator:
    page.goto(f"/dashboard/#app={slug}&tab=config")
    field = page.get_by_label(f"Text of apps/{slug}.yaml")
    expect(field).to_have_value(re.compile("# mine"))
    return field


def button(page: Page, name: str) -> Locator:
    return page.locator("#drawer").get_by_role("button", name=name, exact=True)


def changed_elsewhere(served: Served, slug: str, text: str = ELSEWHERE) -> None:
    served.declare(slug, text)
    name = text.split("name: ")[1].split(" ", maxsplit=1)[0]
    until(lambda: served.app(slug)["name"] == name, what="the other name")


def test_a_text_is_saved_byte_for_byte_and_undone(
    page: Page, shared_service: Served, slug: str
) -> None:
    field = editor(page, slug)
    field.fill(TYPED)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    field.press("Control+s")
    expect(page.get_by_text(f"Saved apps/{slug}.yaml.")).to_be_visible()
    assert shared_service.file(slug).read_text() == TYPED

    undo(page, f"Saved apps/{slug}.yaml.")

    until(lambda: shared_service.file(slug).read_text() == BEGUN, what="the text before")
    expect(field).to_have_value(BEGUN)


def test_a_low_window_as_one_that_is_magnified_has_room_for_the_text_and_the_tabs(
    page: Page, slug: str
) -> None:
    page.set_viewport_size({"width": 720, "height": 450})
    field = editor(page, slug)

    for part, least in ((page.get_by_role("tab", name="Config"), 36), (field, 100)):
        box = part.bounding_box()
        assert box is not None
        assert box["height"] >= least
    button(page, "Save").scroll_into_view_if_needed()
    expect(button(page, "Save")).to_be_in_viewport(ratio=1)


def test_a_mistake_is_told_at_its_line_and_nothing_is_written(
    page: Page, shared_service: Served, slug: str, watch: Watch
) -> None:
    watch.meant.append("400")
    field = editor(page, slug)
    field.fill(BEGUN + "health:\n  interval: never\n")
    button(page, "Save").click()
    told = page.get_by_role("listitem").filter(has_text="health.interval")
    expect(told).to_contain_text("Line 5")
    expect(page.locator(".gutter .wrong")).to_have_text("5")
    expect(field).to_be_focused()
    assert shared_service.file(slug).read_text() == BEGUN

    field.fill("name: [\n")
    button(page, "Save").click()
    expect(page.locator(".faultlist li")).to_have_count(1)
    page.locator("body").click(position={"x": 5, "y": 5})
    page.get_by_role("button", name=re.compile("^Line [0-9]")).press("Enter")
    expect(field).to_be_focused()


def test_what_is_typed_is_back_after_a_reload_and_can_be_discarded_and_had_back(
    page: Page, slug: str
) -> None:
    field = editor(page, slug)
    field.fill(TYPED)
    field.blur()
    page.reload()
    expect(field).to_have_value(TYPED)
    expect(page.get_by_text("Not saved yet")).to_be_visible()

    button(page, "Discard changes").click()
    expect(field).to_have_value(BEGUN)
    undo(page, "Your changes are gone from here.")

    expect(field).to_have_value(TYPED)


def test_two_windows_on_one_file_keep_what_is_typed_in_each(
    page: Page, context: BrowserContext, slug: str
) -> None:
    field, other = editor(page, slug), context.new_page()
    field.fill(TYPED)
    field.blur()
    others = editor(other, slug)
    expect(others).to_have_value(BEGUN)
    others.fill(BEGUN + "tags: [other]\n")
    others.blur()

    page.reload()
    other.reload()
    expect(field).to_have_value(TYPED)
    expect(others).to_have_value(BEGUN + "tags: [other]\n")
    button(other, "Discard changes").click()
    page.reload()
    expect(field).to_have_value(TYPED)
    page.close()
    other.close()

    expect(editor(context.new_page(), slug)).to_have_value(TYPED)


@pytest.mark.slow
def test_a_file_that_changes_is_read_anew_only_while_nothing_is_typed(
    page: Page, shared_service: Served, slug: str
) -> None:
    field = editor(page, slug)
    changed_elsewhere(shared_service, slug)
    expect(field).to_have_value(ELSEWHERE)

    field.fill(TYPED)
    changed_elsewhere(shared_service, slug, BEGUN.replace("Vault", "Again"))
    expect(page.locator("#drawer").get_by_text(CHANGED)).to_be_visible()
    expect(field).to_have_value(TYPED)


@pytest.mark.slow
def test_no_banner_and_no_mistake_moves_what_saves(
    page: Page, shared_service: Served, slug: str, watch: Watch
) -> None:
    watch.meant.append("400")
    field, save = editor(page, slug), button(page, "Save")
    field.fill(BEGUN + "health:\n  interval: never\n")
    before = save.bounding_box()
    save.click()
    expect(page.locator("#editor-faults")).to_contain_text("interval")
    assert save.bounding_box() == before

    changed_elsewhere(shared_service, slug)
    expect(page.locator("#drawer").get_by_text(CHANGED)).to_be_visible()
    assert save.bounding_box() == before


@pytest.mark.parametrize("choice", few(["Take theirs", "Save mine over it", "Keep editing"], 1))
def test_a_conflict_shows_both_texts_and_loses_neither(
    page: Page, shared_service: Served, slug: str, watch: Watch, choice: str
) -> None:
    watch.meant.append("409")
    field = editor(page, slug)
    field.fill(TYPED)
    changed_elsewhere(shared_service, slug)
    button(page, "Save").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name=CHANGED)).to_be_visible()
    expect(dialog.get_by_role("region", name="On disk")).to_contain_text("Elsewhere")
    expect(dialog.get_by_role("region", name="Yours").locator(".add")).to_have_count(2)

    dialog.get_by_role("button", name=choice).press("Enter")

    expect(dialog).to_be_hidden()
    if choice == "Save mine over it":
        expect(page.get_by_text(f"Saved apps/{slug}.yaml.")).to_be_visible()
        assert shared_service.file(slug).read_text() == TYPED
        return
    assert shared_service.file(slug).read_text() == ELSEWHERE
    expect(field).to_have_value(ELSEWHERE if choice == "Take theirs" else TYPED)
    if choice == "Take theirs":
        undo(page, "The text on disk is here now.")
        expect(field).to_have_value(TYPED)


@pytest.mark.slow
def test_a_file_that_is_gone_is_made_anew_with_what_was_typed(
    page: Page, shared_service: Served, watch: Watch
) -> None:
    watch.meant += ["404", "412", "409"]
    body = {"name": "Gone", "links": []}
    shared_service.api.put("/api/bookmarks/gone", json=body).raise_for_status()
    group = shared_service.data / "dashboard" / "bookmarks" / "gone.yaml"
    page.goto("/dashboard/#file=bookmarks%2Fgone")
    field = page.get_by_label("Text of bookmarks/gone.yaml")
    expect(field).to_have_value(re.compile("Gone"))
    field.fill("name: Mine\nlinks: []\n")
    group.unlink()

    field.press("Control+s")
    page.get_by_role("button", name=re.compile("Save mine")).click()

    until(lambda: group.exists() and "Mine" in group.read_text(), what="the file made anew")


@pytest.mark.slow
def test_the_ends_of_lines_stay_as_the_file_has_them(
    page: Page, shared_service: Served, slug: str
) -> None:
    shared_service.declare(slug, BEGUN.replace("\n", "\r\n"))
    field = editor(page, slug)
    expect(field).to_have_value(BEGUN)
    expect(page.get_by_text("Not saved yet")).to_be_hidden()

    field.fill(TYPED)
    field.press("Control+s")
    expect(page.get_by_text(f"Saved apps/{slug}.yaml.")).to_be_visible()

    assert shared_service.file(slug).read_bytes() == TYPED.replace("\n", "\r\n").encode()


@pytest.mark.slow
def test_what_is_typed_after_a_save_outlives_its_undo(
    page: Page, shared_service: Served, slug: str
) -> None:
    field = editor(page, slug)
    field.fill(TYPED)
    field.press("Control+s")
    expect(page.get_by_text(f"Saved apps/{slug}.yaml.")).to_be_visible()
    field.fill(f"{TYPED}links: []\n")

    undo(page, f"Saved apps/{slug}.yaml.")

    until(lambda: shared_service.file(slug).read_text() == BEGUN, what="the text before")
    expect(field).to_have_value(f"{TYPED}links: []\n")
    expect(page.get_by_text("Not saved yet")).to_be_visible()


@pytest.mark.slow
def test_a_draft_begun_on_an_older_file_still_meets_the_comparison(
    page: Page, shared_service: Served, slug: str, watch: Watch
) -> None:
    watch.meant.append("409")
    field = editor(page, slug)
    field.fill(TYPED)
    field.blur()
    page.goto("/settings")
    page.wait_for_function(LET_GO)
    changed_elsewhere(shared_service, slug)

    field = editor(page, slug)
    expect(page.locator("#drawer").get_by_text(CHANGED)).to_be_visible()
    button(page, "Save").click()

    expect(page.get_by_role("dialog")).to_contain_text("Elsewhere")
    assert shared_service.file(slug).read_text() == ELSEWHERE


@pytest.mark.slow
def test_a_broken_file_is_mended_in_the_editor(
    page: Page, shared_service: Served, slug: str
) -> None:
    shared_service.declare(slug, "# mine\nname: Vault\nport: 1\nport: 2\n")
    until(lambda: shared_service.app(slug)["fileErrors"], what="the error")
    field = editor(page, slug)
    expect(page.locator(".faultlist")).to_contain_text("Line 4")
    field.fill(BEGUN)
    button(page, "Save").click()

    expect(page.locator(".faultlist li")).to_have_count(0)
    assert shared_service.app(slug)["fileErrors"] == []


@pytest.mark.slow
def test_a_group_is_edited_as_a_file_and_settings_say_where_they_lie(
    page: Page, shared_service: Served
) -> None:
    body = {"name": "Books", "links": [{"name": "Django", "url": "https://docs.djangoproject.com"}]}
    shared_service.api.put("/api/bookmarks/books", json=body).raise_for_status()
    page.goto("/dashboard/#file=bookmarks%2Fbooks")
    field = page.get_by_label("Text of bookmarks/books.yaml")
    expect(field).to_have_value(re.compile("Django"))
    link = "{name: Django, url: https://docs.djangoproject.com}"  # the page asks for its icon
    field.fill(f"name: Papers\nlinks: [{link}]\n")
    field.press("Control+s")
    expect(page.get_by_text("Saved bookmarks/books.yaml.")).to_be_visible()
    page.goto("about:blank")

    page.goto("/dashboard/#file=config")

    expect(page.locator("#drawer")).to_contain_text(
        str(shared_service.data / "dashboard" / "config.yaml")
    )


@pytest.mark.slow
def test_rules_of_what_is_ignored_are_edited_as_a_file(
    page: Page, shared_service: Served, watch: Watch
) -> None:
    watch.meant += ["400", "409"]
    path = shared_service.data / "dashboard" / "ignore.yaml"
    page.goto("/dashboard/")
    page.get_by_role("button", name="More of this page").press("Enter")
    page.get_by_role("menuitem", name="Edit ignore.yaml").press("Enter")
    field = page.get_by_label("Text of ignore.yaml")
    expect(field).to_have_value("")
    field.fill("rules:\n- {prt: 5000}\n")
    field.press("Control+s")
    expect(page.locator(".faultlist")).to_contain_text("Line 2")
    assert not path.exists()

    field.fill("rules:\n- {port: 5000} # mine\n")
    field.press("Control+s")
    expect(page.get_by_text("Saved ignore.yaml.")).to_be_visible()
    path.write_text("rules: []\n")
    expect(field).to_have_value("rules: []\n")
    field.fill("rules: [] # typed\n")
    path.write_text("# elsewhere\n")
    expect(page.locator("#drawer").get_by_text(CHANGED)).to_be_visible()
    button(page, "Save").click()
    page.get_by_role("dialog").get_by_role("button", name="Save mine over it").click()

    until(lambda: path.read_text() == "rules: [] # typed\n", what="the text of this page")
