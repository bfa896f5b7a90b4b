"""The grid of apps, done by mouse and by keyboard: groups, filter, selection, list, forms."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.test_dashboard import opened, tile, web_server
from tests.browser.toasts import undo
from tests.dashboard.served import NO_PICTURES, Served
from tests.service import free_port, until

PORTS = [free_port() for _ in range(6)]
SCANNED = {**NO_PICTURES, "scan": {"ports": ",".join(map(str, PORTS))}}
APPS = {
    "loom": "name: Loom\ngroup: Weaving\norder: 2\npaused: true\n",
    "yarn": "name: Yarn\ngroup: Weaving\norder: 1\npaused: true\ntags: [wool]\n",
    "shed": "name: Shed\npaused: true\n",
    "barn": "name: Barn\npaused: true\n",
}


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("grid"), dashboard=SCANNED) as running:
        yield running


@pytest.fixture
def apps(shared_service: Served) -> Served:
    """Four apps that ask nobody anything."""
    for slug, text in APPS.items():
        shared_service.declare(slug, text)
    until(lambda: all(shared_service.app(slug) for slug in APPS), what="the apps")
    return shared_service


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def names(where: Locator) -> list[str]:
    return where.get_by_role("heading", level=3).all_inner_texts()


def link(page: Page, name: str) -> Locator:
    return page.get_by_role("link", name=name, exact=True)


def test_a_page_without_apps_tells_the_first_step_and_does_it(
    page: Page, shared_service: Served
) -> None:
    opened(page, f"{shared_service.dashboard_url}/")
    expect(page.get_by_role("heading", name="No apps yet")).to_be_visible()
    page.locator(".empty").get_by_role("button", name="Scan now").click()
    expect(page.get_by_text(re.compile(r"listeners?, \d+ new, \d+ gone"))).to_be_visible()

    page.get_by_role("button", name="describe an app by hand").click()

    expect(
        page.get_by_role("dialog", name="New app").get_by_label("Name", exact=True)
    ).to_be_focused()


def test_apps_stand_by_group_and_what_needs_attention_comes_first(page: Page, apps: Served) -> None:
    apps.declare("alarm", f"name: Alarm\ngroup: Weaving\nexpected: always\nport: {free_port()}\n")
    apps.until_state("alarm", "down")
    opened(page)

    expect(page).to_have_title("Apps: 1 down")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("^data:image/svg"))
    headings = page.get_by_role("heading", level=2)
    expect(headings).to_have_text(
        ["Needs attention", "Weaving", "Other apps", "Listening, not claimed", "Bookmarks"]
    )
    assert names(section(page, "Needs attention")) == ["Alarm"]
    assert names(section(page, "Weaving")) == ["Yarn", "Loom"]
    assert names(section(page, "Other apps")) == ["Barn", "Shed"]

    apps.file("alarm").unlink()
    expect(tile(page, "Alarm")).to_have_count(0)
    expect(page).to_have_title("Apps")


def test_arrows_move_in_two_directions_and_letters_act_on_the_focused_app(
    page: Page, watch: Watch, apps: Served
) -> None:
    watch.meant.append("/favicon.ico")  # which the app that is opened does not have
    port = free_port()
    apps.declare("oven", f"name: Oven\nurl: http://127.0.0.1:{port}/\n{web_server(port)}")
    until(lambda: apps.app("oven"), what="the app")
    opened(page)
    expect(link(page, "Loom")).to_be_visible()
    for key, at in (
        ("ArrowDown", "Yarn"), ("ArrowRight", "Loom"), ("ArrowDown", "Oven"), ("ArrowUp", "Loom"),
        ("ArrowLeft", "Yarn"), ("End", "Shed"), ("Home", "Yarn"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(link(page, at)).to_be_focused()

    page.keyboard.press("d")
    drawer = page.get_by_role("complementary", name="Yarn")
    expect(drawer).to_be_visible()
    page.keyboard.press("Escape")
    expect(link(page, "Yarn")).to_be_focused()

    link(page, "Oven").focus()
    page.keyboard.press("s")
    expect(tile(page, "Oven")).to_contain_text("Up")
    with page.expect_popup() as popup:
        page.keyboard.press("Enter")
    assert popup.value.url == f"http://127.0.0.1:{port}/"
    popup.value.close()
    page.keyboard.press("s")
    expect(tile(page, "Oven")).to_contain_text("Stopped")
    apps.file("oven").unlink()


def test_the_filter_leaves_what_fits_and_esc_shows_all_again(page: Page, apps: Served) -> None:
    links = [{"name": "Woollen", "url": "http://127.0.0.1:9/"}]
    apps.api.put("/api/bookmarks/cloth", json={"name": "Cloth", "links": links})
    opened(page)
    expect(link(page, "Loom")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("wool")

    expect(tile(page, "Loom")).to_have_count(0)
    expect(tile(page, "Yarn")).to_be_visible()
    expect(page.get_by_role("link", name="Woollen")).to_be_visible()
    page.keyboard.press("Enter")
    expect(link(page, "Yarn")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("nothing like it")
    expect(page.get_by_text("No app matches (4 hidden).")).to_be_visible()
    page.keyboard.press("Escape")
    expect(tile(page, "Loom")).to_be_visible()


def test_several_apps_take_one_patch_and_undo_puts_their_files_back(
    page: Page, apps: Served
) -> None:
    opened(page)
    link(page, "Barn").focus()
    page.keyboard.press("x")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("X")
    bar = page.get_by_role("toolbar", name="Selected apps")
    expect(bar).to_contain_text("2 apps selected")
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog", name="Change 2 apps")
    dialog.get_by_label("More keys").fill('{"tags": ')
    dialog.get_by_role("button", name="Change 2 apps").click()
    expect(dialog.get_by_role("alert")).to_contain_text("This is no JSON")
    dialog.get_by_label("More keys").fill('{"tags": ["old"]}')
    dialog.get_by_label("Group").fill("Yard")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Changed 2 apps.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(section(page, "Yard").get_by_role("heading", level=3)).to_have_text(["Barn", "Shed"])
    assert "tags" in apps.file("barn").read_text()
    undo(page, "Changed 2 apps.")
    expect(section(page, "Other apps").get_by_role("heading", level=3)).to_have_text(
        ["Barn", "Shed"]
    )
    assert {slug: apps.file(slug).read_text() for slug in ("barn", "shed")} == {
        slug: APPS[slug] for slug in ("barn", "shed")
    }


@pytest.mark.slow
def test_what_one_app_of_several_refuses_stands_by_its_name(
    page: Page, apps: Served, watch: Watch
) -> None:
    watch.meant.append("409")
    apps.declare("shed", "name: Shed\npaused: true\nport: [\n")
    until(lambda: apps.app("shed")["fileErrors"], what="the error")
    opened(page)
    for name in ("Barn", "Shed"):
        tile(page, name).hover()
        page.get_by_role("checkbox", name=f"Select {name}").click()
    page.get_by_role("toolbar").get_by_role("button", name="Change").click()
    page.get_by_label("Is it expected to run?").select_option("always")
    page.get_by_role("button", name="Change 2 apps").click()

    told = page.get_by_role("dialog", name="Changed 1 app")
    expect(told.get_by_role("listitem").filter(has_text="Shed")).to_contain_text("is not valid")
    expect(told.get_by_role("listitem").filter(has_text="Barn")).to_have_text("Barn")
    assert "expected: always" in apps.file("barn").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
def test_what_is_told_of_several_apps_covers_no_button_of_theirs(
    page: Page, apps: Served, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    opened(page)
    link(page, "Shed").focus()
    page.keyboard.press("x")

    page.get_by_role("toolbar").get_by_role("button", name="New pictures").press("Enter")

    told = page.get_by_text("None of them answers")
    expect(told).to_be_visible()
    below, bar = told.bounding_box(), page.get_by_role("toolbar").bounding_box()
    assert below
    assert bar
    assert below["y"] + below["height"] <= bar["y"] or bar["y"] + bar["height"] <= below["y"]


@pytest.mark.slow
def test_to_stop_several_apps_asks_where_one_should_always_run(page: Page, apps: Served) -> None:
    apps.declare("barn", f"{APPS['barn']}expected: always\n")
    until(lambda: apps.app("barn")["expected"] == "always", what="the change")
    opened(page)
    for name in ("Barn", "Shed"):
        tile(page, name).hover()
        page.get_by_role("checkbox", name=f"Select {name}").click()

    page.get_by_role("toolbar").get_by_role("button", name="Stop").click()

    dialog = page.get_by_role("dialog", name="Stop 2 apps")
    expect(dialog).to_contain_text("Always expected to run, by their files: Barn.")
    dialog.get_by_role("button", name="Keep them running").click()
    expect(dialog).to_be_hidden()


def test_a_new_app_is_described_by_keyboard_and_its_errors_stand_at_their_fields(
    page: Page, apps: Served, watch: Watch
) -> None:
    watch.meant += ["400", "409"]
    opened(page)
    expect(link(page, "Loom")).to_be_visible()
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New app")
    dialog.get_by_label("Name", exact=True).fill("Yarn")
    expect(dialog.get_by_label("Name of its file")).to_have_value("yarn")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("apps/yarn.yaml exists already")
    expect(dialog.get_by_label("Name of its file")).to_be_focused()

    dialog.get_by_label("Name of its file").fill("spindle")
    dialog.get_by_label("Port or address").fill("70000")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Port or address")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.reload()
    expect(link(page, "Loom")).to_be_visible()
    page.keyboard.press("n")
    expect(dialog.get_by_label("Name of its file")).to_have_value("spindle")
    dialog.get_by_role("button", name="Start over").click()
    expect(dialog.get_by_label("Name of its file")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_label("Name of its file")).to_have_value("spindle")
    dialog.get_by_label("Port or address").fill(str(free_port()))
    page.keyboard.press("Enter")

    expect(page.get_by_text("Added: apps/spindle.yaml")).to_be_visible()
    expect(page.get_by_role("heading", name="Yarn")).to_have_count(2)
    assert (apps.data / "dashboard" / "apps" / "yarn.yaml").read_text() == APPS["yarn"]
    apps.file("spindle").unlink()


@pytest.mark.slow
def test_a_removed_app_is_back_by_undo_or_from_the_list_of_what_was_removed(
    page: Page, apps: Served
) -> None:
    file = apps.file("shed")
    file.rename(target := apps.data / "shed.yaml")
    file.symlink_to(target)
    opened(page)
    for way in ("undo", "list"):
        page.get_by_role("button", name="More for Shed").press("Enter")
        page.get_by_role("menuitem", name="Remove").click()
        expect(tile(page, "Shed")).to_have_count(0)
        if way == "undo":
            undo(page, "Moved Shed to")
        else:
            page.get_by_role("button", name="More of this page").press("Enter")
            page.get_by_role("menuitem", name="Removed items").press("Enter")
            page.get_by_role("button", name="Restore shed").first.click()
            expect(page.get_by_text("Restored: apps/shed.yaml")).to_be_visible()
            page.keyboard.press("Escape")
        expect(tile(page, "Shed")).to_be_visible()
        assert (file.is_symlink(), file.read_text()) == (True, APPS["shed"])


def test_a_bookmark_that_another_window_changed_is_told_before_it_is_replaced(
    page: Page, apps: Served
) -> None:
    book = {"url": "http://127.0.0.1:9/", "description": "First", "x-shelf": 3}
    apps.api.put("/api/bookmarks/shelf", json={"links": [book]}).raise_for_status()
    opened(page)
    page.get_by_role("button", name="More for the bookmark 127.0.0.1").click()
    page.get_by_role("menuitem", name="Change").click()
    dialog = page.get_by_role("dialog", name="Change 127.0.0.1")
    dialog.get_by_label("Description").fill("Mine")
    links = [{"url": "http://127.0.0.1:10/"}, book | {"description": "Theirs"}]
    apps.api.put("/api/bookmarks/shelf", json={"links": links}).raise_for_status()
    page.keyboard.press("Enter")

    expect(dialog.get_by_text("changed meanwhile: http://127.0.0.1:9/, Theirs.")).to_be_visible()
    expect(dialog.get_by_label("Description")).to_have_value("Mine")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    kept = apps.api.get("/api/bookmarks/shelf").json()["config"]["links"]
    assert kept[0] == links[0]
    assert (kept[1]["description"], kept[1]["x-shelf"]) == ("Mine", 3)
    (apps.data / "dashboard" / "bookmarks" / "shelf.yaml").unlink()


@pytest.mark.slow
def test_a_form_that_is_left_keeps_its_text_and_what_it_was_begun_on(
    page: Page, apps: Served, context: BrowserContext
) -> None:
    book = {"url": "http://127.0.0.1:9/", "description": "First"}
    apps.api.put("/api/bookmarks/shelf", json={"links": [book]}).raise_for_status()
    dialogs = []
    for window, text in ((context.new_page(), "Elsewhere"), (page, "Mine")):
        opened(window)
        window.get_by_role("button", name="More for the bookmark 127.0.0.1").click()
        window.get_by_role("menuitem", name="Change").click()
        dialogs.append(window.get_by_role("dialog", name="Change 127.0.0.1"))
        dialogs[-1].get_by_label("Description").fill(text)
    dialogs[0].page.goto("about:blank")
    dialogs[0].page.close()
    page.reload()
    theirs = [book | {"description": "Theirs"}]
    apps.api.put("/api/bookmarks/shelf", json={"links": theirs}).raise_for_status()
    page.reload()
    page.get_by_role("button", name="More for the bookmark 127.0.0.1").click()
    page.get_by_role("menuitem", name="Change").click()

    dialog = dialogs[1]
    expect(dialog.get_by_label("Description")).to_have_value("Mine")
    left = dialog.get_by_role("group", name="Text of a window that was closed")
    left.get_by_role("button", name="Put it here").click()
    expect(dialog.get_by_label("Description")).to_have_value("Elsewhere")
    expect(left).to_contain_text("Mine")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("changed meanwhile: http://127.0.0.1:9/, Theirs.")).to_be_visible()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    kept = apps.api.get("/api/bookmarks/shelf").json()["config"]["links"]
    assert kept[0]["description"] == "Elsewhere"
    (apps.data / "dashboard" / "bookmarks" / "shelf.yaml").unlink()


@pytest.mark.slow
def test_an_emoji_or_a_colour_of_its_file_stands_before_a_name(page: Page, apps: Served) -> None:
    apps.declare("loom", f"{APPS['loom']}icon: 🧵\ncolor: teal\n")
    apps.declare("yarn", f"{APPS['yarn']}icon: https://example.com/yarn.png\ncolor: '#ff8800'\n")
    group = {"name": "Looms", "icon": "📚", "links": [{"url": "mailto:a@b.example", "icon": "📮"}]}
    apps.api.put("/api/bookmarks/looms", json=group).raise_for_status()
    until(lambda: apps.app("loom")["icon"] and apps.app("yarn")["icon"], what="the icons")
    opened(page)

    swatch = link(page, "Yarn").locator(".swatch")
    expect(link(page, "Loom").locator(".emblem")).to_have_text("🧵")
    expect(swatch).to_have_css("background-color", "rgb(255, 136, 0)")
    expect(link(page, "Shed").locator(".emblem")).to_have_count(0)
    marks = page.locator(".marks-group").filter(has_text="Looms")
    expect(marks.get_by_role("heading").locator(".emblem")).to_have_text("📚")
    expect(marks.locator(".plate")).to_have_text("📮")
    link(page, "Loom").click()
    expect(page.locator("#drawer h2 .emblem")).to_have_text("🧵")
    apps.declare("loom", f"{APPS['loom']}color: teal\n")
    expect(page.locator("#drawer h2 .swatch")).to_have_css("background-color", "rgb(0, 128, 128)")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    expect(link(page, "Yarn").locator(".swatch")).to_be_visible()

    apps.api.delete("/api/bookmarks/looms").raise_for_status()


def test_bookmarks_are_added_changed_opened_by_their_key_and_taken_out(
    page: Page, apps: Served
) -> None:
    file = apps.data / "dashboard" / "bookmarks" / "wheels.yaml"
    file.parent.mkdir(exist_ok=True)
    before = "# mine\nlinks:\n  - {url: 'http://127.0.0.1:9/', x-shelf: 3}  # first\n"
    file.write_text(before)
    opened(page)
    page.get_by_role("button", name="More for wheels").click()
    page.get_by_role("menuitem", name="New bookmark here").click()
    dialog = page.get_by_role("dialog", name="New bookmark")
    dialog.get_by_label("Address").fill(f"{apps.dashboard_url}/api/health")
    dialog.get_by_label("Name", exact=True).fill("Health")
    dialog.get_by_label("Key").fill("h")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Health")).to_be_visible()
    assert file.read_text().startswith(before)

    with page.expect_popup() as popup:
        page.keyboard.press("h")
    assert popup.value.url.endswith("/api/health")
    popup.value.close()

    page.get_by_role("button", name="More for the bookmark Health").press("Enter")
    page.get_by_role("menuitem", name="Change").press("Enter")
    page.get_by_role("dialog", name="Change Health").get_by_label("Name", exact=True).fill("Well")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Well")).to_be_visible()
    page.get_by_role("button", name="More for the bookmark Well").press("Enter")
    page.get_by_role("menuitem", name="Remove").press("Enter")
    expect(page.get_by_role("link", name="Well")).to_have_count(0)
    undo(page, "Removed Well.")
    expect(page.get_by_role("link", name="Well")).to_be_visible()
    assert "x-shelf: 3" in file.read_text()
    file.unlink()


@pytest.mark.slow
def test_the_list_is_chosen_sorted_and_remembered(page: Page, apps: Served) -> None:
    opened(page)
    expect(link(page, "Loom")).to_be_visible()
    page.keyboard.press("v")
    rows = page.get_by_role("rowheader")
    page.get_by_role("button", name="Name").click()
    expect(rows).to_have_text(["Barn", "Loom", "Shed", "Yarn"])
    page.get_by_role("button", name="Name").press("Enter")
    expect(rows).to_have_text(["Yarn", "Shed", "Loom", "Barn"])
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(link(page, "Shed")).to_be_focused()
    page.reload()
    expect(rows).to_have_count(4)


@pytest.mark.slow
def test_beside_the_drawer_the_head_is_one_line_and_a_phone_has_every_menu_and_column(
    page: Page, apps: Served
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    opened(page, "/dashboard/#app=loom&tab=overview")
    expect(page.get_by_role("complementary", name="Loom")).to_be_visible()
    assert page.locator(".boardhead").bounding_box()["height"] < 48  # type: ignore[index]
    page.keyboard.press("/")
    expect(page.get_by_label("Filter apps")).to_be_focused()
    assert page.get_by_label("Filter apps").bounding_box()["width"] > 120  # type: ignore[index]
    page.locator("#drawer").get_by_role("button", name="Close").click()

    page.set_viewport_size({"width": 360, "height": 780})
    picture = tile(page, "Loom").locator(".thumb").bounding_box()
    more = page.get_by_role("button", name="More for Loom").bounding_box()
    assert picture is not None
    assert more is not None
    assert more["x"] >= picture["x"] + picture["width"]
    assert min(more["width"], more["height"]) >= 44
    page.get_by_role("button", name="List", exact=True).click()
    for column in ("Name", "State", "Address", "24 hours", "Latency", "Since", "Group"):
        page.get_by_role("button", name=column, exact=True).click()
    expect(page.get_by_role("cell", name="Weaving").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.slow
def test_a_site_and_its_worktree_are_told_apart_by_their_branch(page: Page, apps: Served) -> None:
    for branch, port in zip(("main", "try-felt"), PORTS, strict=False):
        root = apps.tmp / "src" / branch
        subprocess.run(["git", "init", "-q", "-b", branch, str(root)], check=True)
        (root / "package.json").write_text(json.dumps({"name": "felt"}))
        apps.dev_server(branch, port)
    opened(page)

    expect(tile(page, "felt main")).to_be_visible()
    expect(tile(page, "felt try-felt")).to_be_visible()
    expect(page.get_by_role("button", name="More for felt, try-felt")).to_have_count(1)


@pytest.mark.slow
def test_what_is_new_waits_while_apps_are_selected_and_changes_are_announced(
    page: Page, apps: Served
) -> None:
    opened(page)
    link(page, "Barn").focus()
    page.keyboard.press("x")
    apps.declare("fresh", f"name: Fresh\n{web_server(free_port())}")
    pill = page.get_by_role("button", name="Show 1 new")
    expect(pill).to_be_visible()
    assert tile(page, "Fresh").count() == 0

    pill.click()
    expect(tile(page, "Fresh")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Select Barn")).to_be_checked()
    page.get_by_role("button", name="Start Fresh").click()
    expect(page.get_by_role("status").filter(has_text="Fresh: ")).to_have_count(1)
    apps.act("fresh", "stop")
    apps.file("fresh").unlink()


@pytest.mark.slow
def test_a_picture_that_cannot_be_taken_says_why(page: Page, apps: Served, watch: Watch) -> None:
    watch.meant.append("409")
    port = free_port()
    apps.declare("lens", f"name: Lens\n{web_server(port)}")
    until(lambda: apps.app("lens"), what="the app")
    apps.act("lens", "start")
    apps.until_state("lens", "up")
    opened(page)
    tile(page, "Lens").hover()
    page.get_by_role("button", name="More for Lens").click()
    page.get_by_role("menuitem", name="New picture").click()
    expect(page.get_by_text("screenshots.enabled is false in config.yaml")).to_be_visible()
    apps.act("lens", "stop")
    apps.file("lens").unlink()
