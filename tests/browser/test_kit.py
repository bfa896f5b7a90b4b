"""What every page has: the palette, the keys, the theme, badges, and a word when it failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import LOOK_IDS, LOOKS, MODULES, Watch
from tests.review.repos import Repo
from tests.service import Service, free_port, until

GO = "Search or jump to"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The demo, a project under review, an app that is down, and a bookmark."""
    home = tmp_path_factory.mktemp("kit")
    repo = Repo(home / "repo")
    repo.commit({"a.txt": "one\n"}, "Begin")
    repo.commit({"a.txt": "two\n"}, "Store refunds beside payments")
    with Service(home, scheduler=False) as running:
        running.http.post("/api/demo").raise_for_status()
        folder = running.projects / "ledgerline"
        folder.mkdir()
        repos = [{"name": "app", "path": str(repo.path), "range": "HEAD~1..HEAD"}]
        (folder / "project.yaml").write_text(yaml.safe_dump({"name": "Ledgerline", "repos": repos}))
        app = {"name": "Tide gauge", "port": free_port(), "expected": "always"}
        running.http.put("/dashboard/api/apps/tide", json=app).raise_for_status()
        running.http.get("/review/api/projects").raise_for_status()
        until(lambda: _badge(running, "dashboard"), seconds=30, what="the app is down")
        yield running


WITH_DRAFTS = "/projects/demo/chats"  # a page that has the module of drafts


def _badge(world: Service, part: str) -> int:
    badges = world.http.get("/api/badges").json()["badges"]
    return next((int(one["count"]) for one in badges if one["part"] == part), 0)


@pytest.fixture(scope="module")
def shared_service(world: Service) -> Service:
    return world


def ready(page: Page, address: str) -> None:
    """The shell listens: its palette is the last thing it makes."""
    page.goto(address)
    expect(page.locator("#theme")).to_have_attribute("aria-haspopup", "menu")


def go(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name=GO)).to_be_focused()
    page.keyboard.type(words)


def kit(page: Page, module: str, script: str) -> object:
    """What a module of the kit does in this page."""
    return page.evaluate(f"async () => {{ const kit = {MODULES}['js/kit/{module}.js']; {script} }}")


def test_the_palette_leads_to_all_three_parts_by_keyboard(page: Page, world: Service) -> None:
    ready(page, "/")
    go(page, "demo trig")
    page.keyboard.press("Enter")
    page.wait_for_url("**/projects/demo/triggers")

    expect(page.locator("#theme")).to_have_attribute("aria-haspopup", "menu")
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    page.route("**/api/places?q=*refunds", hold)
    go(page, "store refunds")
    page.keyboard.press("Enter")  # before there is an answer to these words
    until(lambda: page.evaluate("true") and asked, what="the question")
    asked[0].continue_()
    page.wait_for_url("**/review/p/ledgerline/app/*")

    expect(page.locator("#theme")).to_have_attribute("aria-haspopup", "menu")
    go(page, "tide")
    page.keyboard.press("Enter")
    page.wait_for_url("**/dashboard/#app=tide*")


def test_a_key_counts_as_soon_as_a_dialogue_with_a_field_is_closed(page: Page) -> None:
    ready(page, "/runs")
    go(page, "audit")

    page.evaluate("""() => {
      document.querySelector("dialog[open]").close();
      const key = new KeyboardEvent("keydown", { key: "?", bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(key);
    }""")

    expect(page.get_by_role("dialog", name="Keys and help")).to_be_visible()


def test_a_message_stands_over_a_dialogue_and_its_action_can_be_pressed(page: Page) -> None:
    ready(page, "/runs")
    undo = '{ action: "Undo", act: () => (document.title = "undone") }'
    kit(page, "toast", 'kit.toast("Kept.");')
    go(page, "audit")
    expect(page.get_by_text("Kept.")).to_be_visible()
    kit(page, "toast", f'kit.toast("Gone.", {undo});')

    page.get_by_role("button", name="Undo").click()

    expect(page).to_have_title("undone")
    kit(page, "toast", 'kit.toast("There.");')
    page.keyboard.press("Escape")
    expect(page.locator("body > #toasts")).to_contain_text("There.")


@pytest.mark.slow
def test_the_palette_shows_groups_remembers_choices_and_gives_the_focus_back(page: Page) -> None:
    ready(page, "/runs")
    page.get_by_role("button", name=GO).click()
    for group in ("Workspace", "Review", "Apps", "Everywhere"):
        expect(page.get_by_role("group", name=group)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=GO)).to_be_focused()

    go(page, "audit")
    page.get_by_role("option", name="Audit").click()
    page.wait_for_url("**/audit")
    expect(page.locator("#theme")).to_have_attribute("aria-haspopup", "menu")
    go(page, "")
    first = page.get_by_role("group", name="Recent").get_by_role("option").first
    expect(first).to_contain_text("Audit")
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "false")
    page.keyboard.type("no such thing at all")
    expect(page.get_by_text("Nothing by the name")).to_be_visible()


def test_an_action_of_the_page_stands_first_when_it_matches_and_is_done(page: Page) -> None:
    ready(page, "/runs")
    kit(page, "palette", "kit.action('Demolish the shed', () => (document.title = 'done'))")
    go(page, "demo")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("Demolish")
    expect(page.get_by_role("option", name="Demo: triggers")).to_be_visible()
    page.keyboard.press("Enter")

    expect(page).to_have_title("done")


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), LOOKS, ids=LOOK_IDS)
def test_the_shell_fits_and_has_no_axe_violation_on_every_port(
    browser: Browser, world: Service, axe: str, theme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page, found = context.new_page(), {}
    for url in (world.url, world.review_url, world.dashboard_url):
        ready(page, f"{url}/")
        expect(page.get_by_role("link", name="1 app needs attention")).to_be_visible()
        go(page, "e")
        expect(page.get_by_role("option").first).to_be_visible()
        page.evaluate(axe)
        for violation in page.evaluate("axe.run()")["violations"]:
            found[f"{url} {violation['id']}"] = [node["html"] for node in violation["nodes"][:2]]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[f"{url} scrolls sideways"] = []
        box = page.get_by_role("dialog").bounding_box()
        assert box is not None
        assert (box["width"] == width) == (width < 720), "a full sheet on a phone alone"
        page.keyboard.press("Escape")
    context.close()
    assert found == {}


def test_keys_are_listed_by_group_and_rest_while_someone_types_or_a_dialog_is_open(
    page: Page,
) -> None:
    ready(page, "/projects/demo")
    register = "globalThis.seen = []; kit.key('x', 'Mark it', () => globalThis.seen.push('x'))"
    kit(page, "keys", register)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys and help")
    expect(keys.get_by_role("heading")).to_have_text(["Keys", "This page", "Everywhere"])
    expect(keys).to_contain_text("Mark it")
    page.keyboard.press("x")
    page.keyboard.press("Escape")
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("body > textarea").focus()
    page.keyboard.type("xg r")
    assert page.evaluate("globalThis.seen") == []

    page.locator("#main").focus()
    page.keyboard.press("x")
    assert page.evaluate("globalThis.seen") == ["x"]
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/projects/demo/runs")


def test_a_menu_is_walked_by_arrows_and_letters_and_gives_the_focus_back(page: Page) -> None:
    ready(page, "/runs")
    button = page.get_by_role("button", name="Theme")
    button.focus()
    page.keyboard.press("ArrowDown")
    items = page.get_by_role("menuitemradio")
    expect(items).to_have_text(["As the system", "Light", "Dark"])
    expect(items.nth(0)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.nth(2)).to_be_focused()
    page.keyboard.press("l")
    expect(items.nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(button).to_be_focused()


@pytest.mark.slow
def test_a_chosen_theme_is_there_from_the_first_paint_and_the_system_can_have_it_back(
    page: Page,
) -> None:
    ready(page, "/")
    for name, theme in (("Dark", "dark"), ("Light", "light")):
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("menuitemradio", name=name).click()
        page.goto("/runs", wait_until="commit")
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.locator("#theme")).to_have_attribute("aria-haspopup", "menu")

    go(page, "theme sys")
    page.get_by_role("option", name="Theme: as the system").click()
    page.goto("/", wait_until="commit")
    expect(page.locator("html")).not_to_have_attribute("data-theme", "light")


def test_a_draft_survives_a_reload_until_it_is_sent(page: Page) -> None:
    fill = """
        const field = document.createElement('textarea');
        document.body.append(field);
        globalThis.draft = kit.draft(field, 'note');
        field.focus();
    """
    ready(page, WITH_DRAFTS)
    kit(page, "drafts", fill)
    page.keyboard.type("half a thought")
    ready(page, WITH_DRAFTS)
    kit(page, "drafts", fill)
    expect(page.locator("body > textarea")).to_have_value("half a thought")
    page.evaluate("globalThis.draft.clear()")
    ready(page, WITH_DRAFTS)
    assert kit(page, "drafts", "return kit.draftOf('note')") == ""

    old = "JSON.stringify({ text: 'old', at: Date.now() - 31 * 24 * 3600e3 })"
    page.evaluate(f"localStorage.setItem('svc.draft.old', {old})")
    assert kit(page, "drafts", "return kit.draftOf('old')") == ""


def test_a_full_store_stands_in_nobodys_way(page: Page, watch: Watch) -> None:
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full') }")
    ready(page, WITH_DRAFTS)
    kit(
        page,
        "drafts",
        "const f = document.createElement('textarea'); document.body.append(f);"
        "kit.draft(f, 'n'); f.focus()",
    )
    page.keyboard.type("still typed")
    page.locator("body > textarea").blur()

    expect(page.locator("body > textarea")).to_have_value("still typed")


def test_a_dialogue_gives_the_focus_back_or_to_the_page_when_what_had_it_is_gone(
    page: Page,
) -> None:
    ready(page, "/runs")
    kit(page, "dom", "const b = kit.button('Go', { id: 'go' }); main.append(b); b.focus()")
    kit(page, "dialog", "kit.dialog('Asked', 'Well?'); return null")
    expect(page.get_by_role("dialog", name="Asked")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#go")).to_be_focused()

    kit(page, "dialog", "kit.dialog('Asked', 'Well?'); go.remove(); return null")
    page.keyboard.press("Escape")
    expect(page.locator("#main")).to_be_focused()


def test_a_sheet_borrows_what_stands_in_the_page_and_puts_it_back(page: Page) -> None:
    ready(page, "/runs")
    kit(page, "dialog", "kit.sheet('Files', document.getElementById('page')); return null")
    expect(page.get_by_role("dialog", name="Files").locator("#page")).to_be_visible()
    page.get_by_role("button", name="Close").click()

    expect(page.locator("main #page")).to_be_visible()


def test_a_skeleton_comes_late_and_goes_when_the_node_is_filled(page: Page) -> None:
    ready(page, "/runs")
    kit(
        page,
        "skeleton",
        f"const {{ h, keep }} = {MODULES}['js/kit/dom.js'];"
        "const [none, n] = [h('ul', { id: 'none' }), h('ul', { id: 'slow' })];"
        "document.body.append(none, n); kit.late(none, 'rows'); keep(none, [], String, String);"
        "kit.late(n, 'rows'); await new Promise((go) => setTimeout(go, 190));"
        "globalThis.early = n.childNodes.length",
    )
    assert page.evaluate("globalThis.early") == 0
    expect(page.locator("#slow .skeleton")).to_have_count(6)
    expect(page.locator("#none *")).to_have_count(0)
    page.evaluate("document.getElementById('slow').append(document.createElement('li'))")

    expect(page.locator("#slow .skeleton")).to_have_count(0)
    expect(page.locator("#slow")).not_to_have_attribute("aria-busy", "true")


def test_a_later_message_leaves_an_undo_its_place_and_its_time(
    browser: Browser, world: Service
) -> None:
    context = browser.new_context(base_url=world.url)  # its clock stays as it is driven
    page = context.new_page()
    page.clock.install()
    ready(page, "/runs")
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 1)  # it would go on between steps
    page.evaluate("document.title = 'no undo'")
    undo = "{ action: 'Undo', act: () => (document.title = 'undone') }"
    kit(page, "toast", f"kit.toast('Gone', {undo}); return null")
    page.clock.run_for(4000)
    kit(page, "toast", "for (const n of [1, 2, 2, 3]) kit.toast(`Copied ${n}`); return null")
    toasts = page.locator(".toast")
    expect(toasts).to_have_text(["GoneUndo", "Copied 2", "Copied 3"])
    boxes = [box["y"] for toast in toasts.all() if (box := toast.bounding_box())]
    assert boxes == sorted(set(boxes)), "each stands under the one before it"

    page.get_by_role("button", name="Undo").focus()
    page.clock.run_for(6000)
    expect(toasts).to_have_text(["GoneUndo"])
    page.keyboard.press("Enter")
    expect(page).to_have_title("undone")
    expect(toasts).to_have_count(0)

    kit(page, "toast", f"kit.toast('Gone', {undo}); return null")
    page.clock.run_for(7900)
    expect(toasts).to_have_count(1)
    page.clock.run_for(200)
    expect(toasts).to_have_count(0)
    context.close()


@pytest.mark.parametrize("width", [1440, 760, 360])
def test_a_long_message_stands_within_the_window_with_its_button(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 600})
    ready(page, "/")
    said = "The folder /srv/" + "very-long-name/" * 20 + " is gone. " + "It says why. " * 12
    kit(page, "toast", f"kit.toast({said!r}, {{ bad: true }}); return null")

    for part in (page.locator(".toast"), page.locator(".toast").get_by_role("button")):
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_the_focus_and_where_one_is_are_seen_where_the_system_draws_in_its_own_colours(
    browser: Browser, world: Service
) -> None:
    context = browser.new_context(base_url=world.url, forced_colors="active")
    page = context.new_page()
    ready(page, "/projects/demo")
    outline = "node => getComputedStyle(node).outlineStyle"
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate(outline) == "solid"

    assert page.locator(".part[aria-current]").evaluate(outline) == "solid"
    assert page.locator(".part:not([aria-current])").first.evaluate(outline) == "none"
    context.close()


def test_an_error_that_nobody_caught_says_so_in_the_page(page: Page, watch: Watch) -> None:
    watch.meant += ["the pump is dry"]
    ready(page, "/runs")
    page.evaluate("setTimeout(() => { throw new Error('the pump is dry') })")
    bar = page.get_by_text("Something in this page failed: the pump is dry")
    expect(bar).to_be_visible()
    page.get_by_role("button", name="Close this message").click()
    expect(bar).to_have_count(0)

    page.evaluate("Promise.reject(new Error('the pump is dry')), null")
    expect(bar).to_be_visible()


def test_a_page_whose_script_does_not_come_says_so(page: Page, watch: Watch) -> None:
    watch.meant += ["Failed to load", "/page/js/"]
    page.route("**/page/js/**", lambda route: route.abort())
    page.goto("/runs")

    expect(page.get_by_text("A script of this page did not load")).to_be_visible()


def test_days_ahead_are_counted_for_two_months(page: Page, world: Service) -> None:
    ready(page, "/")
    ahead = "const at = (days) => kit.relative(new Date(Date.now() + days * 864e5).toISOString());"

    assert kit(page, "words", f"{ahead} return [at(11), at(-3)];") == ["in 11 days", "3 days ago"]
    assert "in" not in str(kit(page, "words", f"{ahead} return at(80);"))


def test_a_tab_that_is_a_button_looks_like_one_that_is_a_link(page: Page, world: Service) -> None:
    ready(page, "/")
    look = "(tag) => { const node = document.createElement(tag); node.className = 'btn tab';"
    look += "node.ariaSelected = 'true'; document.body.append(node);"
    look += "const { borderRadius, boxShadow } = getComputedStyle(node);"
    look += "node.remove(); return [borderRadius, boxShadow]; }"

    assert page.evaluate(look, "button") == page.evaluate(look, "a")
    assert page.evaluate(look, "button")[0] == "0px"
