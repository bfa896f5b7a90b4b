"""The chat page: questions, queue, stop; what is done with a chat; nothing in it acts as markup."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, Route, expect

from tests.browser.conftest import Held, Watch, Windows
from tests.promises.rings import few
from tests.service import Service, until
from tests.workspace.chats.world import FAILS
from workspace.chats import transcript

WAITS = "#!runbook\n```Bash\nsleep 60\n```\n"
HOSTILE = '#!runbook\n<img src=x onerror="document.title=1"> **bold** [x](javascript:alert(1))\n'
GLOB = '```Glob\n{"pattern": "*"}\n```\n'
# An open stream outlives set_offline; that of a hidden page without a shared worker is given back.
ALONE = "delete window.SharedWorker"
BLINK = """for (const hidden of [true, false]) {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def slug(shared_service: Service) -> str:
    shared_service.http.post("/api/projects", json={"name": "Talk"})
    return "talk"


def model_is_there(page: Page) -> None:
    """The page may send plain text: it is told that an engine can answer."""
    there = {"engines": [{"name": "builtin", "available": True, "reason": None}]}
    page.route("**/api/engines", lambda route: route.fulfill(json=there))


def start(page: Page, slug: str, prompt: str) -> None:
    page.goto(f"/projects/{slug}/chats")
    page.get_by_role("textbox", name="Message").fill(prompt)
    page.get_by_role("button", name=re.compile("^Start chat")).click()
    page.wait_for_url(re.compile(r"/chats/[0-9a-f-]{36}$"))


PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a494441"
    "54789c63f80f0001010100b138f6140000000049454e44ae426082"
)
SAID = """# Found

1. first
   - [x] nested and done

| invoice | after |
| --- | ---: |
| INV-2043 | 119.00 |

> quoted <b>text</b>

```python
x = "a"  # note
```
"""


@pytest.fixture
def told(slug: str, shared_service: Service) -> str:
    """The address of a chat with two turns: one that changed a file, and one that failed."""
    made = shared_service.http.post(f"/api/projects/{slug}/chats", json={"name": "Told"}).json()
    session = made["chat"]["sessionId"]
    path = shared_service.projects / slug / ".chats" / f"{session}.jsonl"
    given = {"file_path": "a.py", "old_string": "x = 1\ny = 2\n", "new_string": "x = 1\ny = 3\n"}
    end = {"turns": 1, "usage": None, "cost": None, "ms": 9}
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_start", "msg_1", engine="claude", model="sonnet")
        writer.append("user", "msg_1", text="Why is `x` wrong?", sender={"kind": "user"})
        writer.append("tool_use", "msg_1", tool="Edit", call="c1", input=given, target="a.py")
        writer.append("tool_result", "msg_1", call="c1", is_error=False, text="done", ms=1900)
        writer.append("assistant", "msg_1", text=SAID, block="b1")
        writer.append("turn_end", "msg_1", status="ok", reason=None, text=None, **end)
        writer.append("turn_start", "msg_2", engine="claude", model="sonnet")
        writer.append("user", "msg_2", text="And now?", sender={"kind": "client", "id": "ci"})
        why = "the limit of 40 is reached"
        writer.append("turn_end", "msg_2", status="max_turns", reason="max_turns", text=why, **end)
    return f"/projects/{slug}/chats/{session}"


def more(page: Page, item: str) -> None:
    page.get_by_role("button", name="More for this chat").click()
    page.get_by_role("menuitem", name=re.compile(f"^{item}")).click()


@pytest.mark.slow
def test_a_denied_command_fails_the_turn_and_it_can_be_run_again(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("waits for your answer")
    expect(answer).not_to_contain_text("working")
    page.get_by_role("group", name="Bash asks to run").get_by_role(
        "button", name=re.compile("^Deny")
    ).click()

    expect(page.get_by_text("You denied Bash")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()


@pytest.mark.slow
def test_a_button_that_is_pressed_twice_at_once_acts_once(
    page: Page, slug: str, shared_service: Service
) -> None:
    start(page, slug, FAILS)
    chat = f"/api/projects/{slug}/chats/{page.url.rpartition('/')[2]}"
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))

    page.get_by_role("button", name="Run again").dblclick()

    expect(page.get_by_role("article", name="Message of You")).to_have_count(2)
    until(lambda: not shared_service.http.get(chat).json()["queue"], what="the end of all turns")
    assert len([url for url in sent if url.endswith("/again")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("width", few([360, 1024, 1440], 1))
def test_stop_stands_beside_send_and_each_choice_can_be_read_while_a_turn_runs(
    page: Page, slug: str, width: int
) -> None:
    models = {"models": [{"id": "local:plum", "label": "plum"}], "defaultModel": None}
    page.route("**/api/models*", lambda route: route.fulfill(json=models))
    page.set_viewport_size({"width": width, "height": 800})
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    expect(page.get_by_role("combobox", name="Model of this message")).to_be_visible()

    stop, queue, *choices = (
        one.bounding_box() or pytest.fail("nothing to be seen")
        for one in (
            page.get_by_role("button", name="Stop"),
            page.get_by_role("button", name=re.compile("^Queue")),
            *page.locator(".composer select").all(),
        )
    )
    assert stop["y"] == queue["y"]
    assert stop["x"] + stop["width"] <= queue["x"] < queue["x"] + queue["width"] <= width
    assert min(choice["width"] for choice in choices) > 100


@pytest.mark.slow
def test_a_chat_that_asks_keeps_its_name_in_the_list_on_a_phone(page: Page, slug: str) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    page.goto(f"/projects/{slug}")

    row = page.locator(".chats .row").first
    expect(row).to_contain_text("needs you")
    box = row.get_by_role("link").bounding_box()
    assert box is not None
    assert box["width"] > 100


def test_a_running_command_is_shown_until_it_ends_also_after_a_reload(
    page: Page, slug: str, shared_service: Service
) -> None:
    gate = shared_service.projects / slug / "gate"
    os.mkfifo(gate)
    start(page, slug, f"#!runbook\n{GLOB}```Bash\ncat gate\n```\n")
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    # What is drawn can be answered, whatever else has not been answered yet.
    page.route(f"**/api{urlsplit(page.url).path}", lambda _: None)
    page.reload()
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    running = page.locator(".calls > summary").filter(has=page.get_by_label("Running"))
    expect(running).to_have_count(0)
    with page.expect_response("**/permissions/*"):
        page.keyboard.press("a")
    page.unroute_all()
    for _ in range(2):
        expect(running).to_contain_text("cat gate")
        page.reload()

    gate.write_text("through")

    expect(page.get_by_text("1 tool call", exact=True)).to_have_count(2)
    expect(running).to_have_count(0)
    gate.unlink()


def test_stop_ends_the_turn_and_holds_what_waits(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    page.get_by_role("textbox", name="Message").fill("#!runbook\n" + GLOB)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("list", name="Queue, 1 message")).to_contain_text("next")

    page.get_by_role("button", name="Stop").click()

    expect(
        page.get_by_text("1 message held (the turn before it: stopped by a user)")
    ).to_be_visible()
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_hidden()
    page.get_by_role("button", name="Resume queue").click()
    expect(page.get_by_text("1 tool call", exact=True).last).to_be_visible()
    expect(page.get_by_text("1 message held")).to_be_hidden()


def test_a_waiting_message_is_taken_out_of_the_queue(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    page.get_by_role("textbox", name="Message").fill(f"#!runbook\n{GLOB}")
    page.keyboard.press("Control+Enter")

    page.get_by_role("button", name="Take message 1 out of the queue").click()

    expect(page.get_by_role("list", name=re.compile("^Queue"))).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


@pytest.mark.slow
def test_a_held_message_that_is_put_back_is_held_in_its_place(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    for n in (1, 2):
        page.get_by_role("textbox", name="Message").fill(f"#!runbook\nMessage {n}.\n{GLOB}")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("button", name=f"Take message {n} out")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("2 messages held")).to_be_visible()

    page.get_by_role("button", name="Take message 1 out of the queue").click()
    expect(page.get_by_text("1 message held")).to_be_visible()
    page.get_by_role("button", name="Put back").click()

    expect(
        page.get_by_text("2 messages held (the turn before it: stopped by a user)")
    ).to_be_visible()
    waiting = page.get_by_role("list", name="Queue, 2 messages").get_by_role("listitem")
    expect(waiting.first).to_contain_text("Message 1.")


@pytest.mark.slow
def test_the_runbook_of_a_fork_is_run_again_as_one(
    page: Page, slug: str, shared_service: Service
) -> None:
    api, chats = shared_service.http, f"/api/projects/{slug}/chats"
    made = api.post(chats, json={"prompt": f"#!runbook\n{GLOB}"}).json()["chat"]["sessionId"]
    until(lambda: api.get(f"{chats}/{made}").json()["chat"]["lastTurn"], what="the end")
    prompt = "#!runbook\n```Read file_path=absent.txt\n```\n"
    child = api.post(f"{chats}/{made}/fork", json={"prompt": prompt}).json()["chat"]["sessionId"]
    page.goto(f"/projects/{slug}/chats/{child}")
    failed = page.get_by_text("Failed", exact=True)
    expect(failed).to_have_count(1)

    page.get_by_role("button", name="Run again").click()

    expect(failed).to_have_count(2)
    lines = api.get(f"{chats}/{child}/messages?turns=1").json()["turns"]
    starts = [one["engine"] for one in lines if one["state"] == "started"]
    assert starts == ["runbook"] * 3


def test_fork_rename_and_archive_with_undo(page: Page, slug: str) -> None:
    start(page, slug, "#!runbook\n" + GLOB)
    expect(page.get_by_text("1 tool call", exact=True)).to_be_visible()
    more(page, "Rename")
    page.get_by_role("textbox", name=re.compile("^Name of this chat")).fill("Files here")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=re.compile("Files here"))).to_be_visible()

    box = page.get_by_role("textbox", name="Message")
    box.press_sequentially("fxy")  # are letters in a box
    expect(box).to_have_value("fxy")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.locator("#here")).to_have_text("Fork of Files here")
    expect(page.get_by_text("1 tool call", exact=True)).to_be_visible()

    more(page, "Archive")
    expect(page.locator("#archived")).to_be_visible()
    page.get_by_role("button", name="Undo").last.click()
    expect(page.locator("#archived")).to_be_hidden()


def test_what_a_chat_says_is_text_and_never_markup(page: Page, slug: str) -> None:
    start(page, slug, HOSTILE + GLOB)

    expect(page.get_by_text("1 tool call", exact=True)).to_be_visible()
    expect(page.locator("#lines img, #lines a[href^=javascript]")).to_have_count(0)
    expect(page.get_by_text("<img src=x").last).to_be_visible()


@pytest.mark.slow
def test_typed_text_survives_a_reload(page: Page, slug: str) -> None:
    page.goto(f"/projects/{slug}/chats")
    page.get_by_role("textbox", name="Message").fill("half a thought")
    page.reload()

    expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")


def test_without_a_model_plain_text_is_not_sent_and_three_ways_on_are_offered(
    page: Page, slug: str
) -> None:
    page.goto(f"/projects/{slug}/chats")
    write = page.get_by_role("textbox", name="Message")
    ways = page.get_by_role("group", name="No model")
    expect(ways).to_contain_text("plain text gets no answer")
    write.fill("What is in this project?")
    write.press("Control+Enter")
    expect(page.get_by_text("Nothing is sent")).to_be_visible()
    expect(write).to_have_value("What is in this project?")

    ways.get_by_role("button", name="Use a local model").click()
    guide = page.get_by_role("dialog", name="Use a local model")
    guide.get_by_role("button", name="Look again").click()
    expect(guide).to_contain_text("builtin:")
    page.keyboard.press("Escape")
    write.fill("")
    ways.get_by_role("button", name="Try a runbook").click()
    expect(write).to_have_value(re.compile("^#!runbook"))


def test_a_message_that_nothing_can_answer_says_so_in_a_sentence(
    page: Page, slug: str, shared_service: Service
) -> None:
    chats = f"/api/projects/{slug}/chats"
    made = shared_service.http.post(chats, json={"prompt": "What is here?"}).json()
    page.goto(f"/projects/{slug}/chats/{made['chat']['sessionId']}")

    talk = page.get_by_role("region", name="Transcript")
    expect(talk.get_by_text("No engine can run this message: no model is set up")).to_be_visible()
    for way in ("Run again", "Set a key", "Use a local model"):
        expect(talk.get_by_role("button", name=way)).to_be_visible()


@pytest.mark.slow
def test_a_long_chat_starts_at_its_end_and_unfolds_upwards(
    page: Page, slug: str, shared_service: Service
) -> None:
    long = "#!runbook\n" + "".join(f"Line {n}.\n{GLOB}" for n in range(70))
    made = shared_service.http.post(f"/api/projects/{slug}/chats", json={"prompt": long}).json()
    chat = f"/projects/{slug}/chats/{made['chat']['sessionId']}"
    until(lambda: shared_service.http.get(f"/api{chat}").json()["chat"]["lastTurn"], what="the end")

    page.goto(chat)
    talk = page.get_by_role("region", name="Transcript")
    expect(talk.get_by_text("Line 69.", exact=True)).to_be_in_viewport()
    expect(talk.get_by_text("Line 0.", exact=True)).to_have_count(0)
    talk.focus()
    page.keyboard.press("Home")

    expect(talk.get_by_text("Line 0.", exact=True)).to_have_count(1)
    expect(talk.get_by_text("Runbook", exact=True).first).to_be_attached()
    expect(page.get_by_role("button", name="Show earlier messages")).to_be_hidden()
    for n in (1, 35, 69):
        expect(talk.get_by_text(f"Line {n}.", exact=True)).to_have_count(1)


def test_a_cut_connection_misses_nothing_and_repeats_nothing(
    page: Page, slug: str, shared_service: Service, watch: Watch
) -> None:
    watch.meant += ["ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED"]
    page.add_init_script(ALONE)
    start(page, slug, f"#!runbook\nBefore the cut.\n{GLOB}")
    talk = page.get_by_role("region", name="Transcript")
    expect(talk.get_by_text("Before the cut.", exact=True)).to_be_visible()
    chat = page.url.split("/projects/")[1]

    page.context.set_offline(True)
    page.evaluate(BLINK)
    expect(page.get_by_text("Connection lost")).to_be_visible()
    prompt = f"#!runbook\nWhile it was cut.\n{GLOB}"
    shared_service.http.post(f"/api/projects/{chat}/messages", json={"prompt": prompt})
    page.context.set_offline(False)

    expect(talk.get_by_text("While it was cut.", exact=True)).to_be_visible()
    expect(talk.get_by_text("Before the cut.", exact=True)).to_have_count(1)
    expect(talk.get_by_text("1 tool call", exact=True)).to_have_count(2)


def test_an_answer_is_whole_markdown_and_an_edit_is_drawn_as_lines(page: Page, told: str) -> None:
    page.goto(told)
    answer = page.get_by_role("article", name="Answer").first
    expect(answer.get_by_role("heading", name="Found")).to_be_visible()
    expect(answer.get_by_role("cell", name="119.00")).to_be_visible()
    expect(answer.locator("ol > li > ul > li").get_by_label("Done")).to_be_visible()
    expect(answer.locator("blockquote")).to_have_text("quoted <b>text</b>")
    expect(answer.locator("pre .q")).to_have_text('"a"')

    answer.get_by_text("1 tool call", exact=True).click()
    answer.locator("details details > summary").click()

    change = answer.get_by_role("region", name="Change of a.py")
    expect(change.locator(".add")).to_have_text(re.compile("y = 3"))
    expect(change.locator(".del")).to_have_text(re.compile("y = 2"))
    facts = page.get_by_role("complementary", name="About this chat")
    expect(facts.get_by_text("a.py")).to_be_visible()


def test_a_turn_that_failed_says_why_and_what_to_do_next(page: Page, told: str) -> None:
    page.goto(told)

    expect(page.get_by_text("Failed: the limit of 40 is reached.")).to_be_visible()
    expect(page.get_by_text("sent by a client over")).to_be_visible()
    page.get_by_role("button", name="Edit and send").click()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("And now?")


@pytest.mark.slow
def test_a_press_beside_a_chat_counts_although_its_facts_change_meanwhile(
    page: Page, shared_service: Service, slug: str
) -> None:
    http, chats = shared_service.http, f"/api/projects/{slug}/chats"
    made = http.post(chats, json={"name": "Pressed", "prompt": FAILS}).json()
    chat = f"{chats}/{made['chat']['sessionId']}"
    until(lambda: http.get(chat).json()["chat"]["lastTurn"])
    page.goto(chat.removeprefix("/api"))
    facts = page.get_by_role("complementary", name="About this chat")
    expect(facts.get_by_text("Last turn")).to_be_visible()
    facts.get_by_role("button", name="Fork").hover()
    page.mouse.down()
    http.post(f"{chat}/messages", json={"prompt": FAILS}).raise_for_status()
    expect(page.locator(".turn-block")).to_have_count(2)
    page.mouse.up()

    expect(page.locator("#here")).to_have_text("Fork of Pressed")


@pytest.mark.slow
def test_a_fork_from_an_earlier_turn_ends_there(page: Page, told: str) -> None:
    page.goto(told)
    page.locator('[data-turn="msg_1"]').hover()
    page.locator('[data-turn="msg_1"]').get_by_role("button", name="Fork from here").click()

    expect(page.locator("#here")).to_have_text("Fork of Told")
    expect(page.get_by_role("heading", name="Found")).to_be_visible()
    expect(page.get_by_text("And now?")).to_have_count(0)


@pytest.mark.slow
def test_a_text_that_is_too_long_is_refused_and_kept_whole(
    page: Page, told: str, watch: Watch
) -> None:
    watch.meant.append("400")
    page.goto(told)
    box = page.get_by_role("textbox", name="Message")
    box.click()
    text = "#!runbook\n" + "long " * 20_100

    page.keyboard.insert_text(text)
    box.press("Control+Enter")

    expect(page.locator(".toast")).to_contain_text("100000 characters")
    expect(box).to_have_value(text)


@pytest.mark.slow
def test_a_deleted_chat_leaves_the_list_and_comes_back_with_undo(page: Page, told: str) -> None:
    page.goto(told)
    row = page.get_by_role("navigation", name=re.compile("^Chats of")).locator(f'a[href="{told}"]')
    expect(row).to_be_visible()
    page.goto(told.rsplit("/", 1)[0])
    page.get_by_role("button", name="More for Told").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Delete").press("Enter")
    expect(row).to_be_hidden()

    page.get_by_role("button", name="Undo").last.click()

    expect(row).to_be_visible()


def test_a_chat_is_exported_as_the_file_its_name_says(page: Page, told: str) -> None:
    page.goto(told)
    with page.expect_download() as saved:
        more(page, "Export as Markdown")

    assert saved.value.suggested_filename.endswith(".md")
    assert "And now?" in saved.value.path().read_text()


@pytest.mark.slow
def test_what_nobody_has_seen_is_marked_until_it_is_opened(
    page: Page, told: str, slug: str
) -> None:
    page.goto(f"/projects/{slug}/chats")
    row = page.locator(f'a[href="{told}"]')
    expect(row.get_by_label("Unread")).to_be_visible()
    with page.expect_response("**/read"):
        row.click()
    page.goto(f"/projects/{slug}/chats")

    expect(row).to_be_visible()
    expect(row.get_by_label("Unread")).to_have_count(0)


def test_a_chat_is_used_by_keyboard_alone(page: Page, slug: str, told: str) -> None:
    page.goto(f"/projects/{slug}/chats")
    write = page.get_by_role("textbox", name="Message")
    expect(write).to_be_focused()
    write.fill(WAITS)
    page.keyboard.press("Control+Enter")
    ask = page.get_by_role("group", name="Bash asks to run")
    expect(ask).to_be_visible()
    page.keyboard.press("d")
    expect(page.get_by_text("You denied Bash")).to_be_visible()

    page.keyboard.press("w")
    expect(write).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.get_by_role("textbox", name=re.compile("^Name of this chat"))).to_be_focused()
    page.keyboard.type("By keys")
    page.keyboard.press("Enter")
    expect(page.locator("#here")).to_have_text("By keys")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search chats")).to_be_focused()
    page.keyboard.type("Told")
    expect(page.locator(f'a.pick[href="{told}"]')).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("By keys"))).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("a.pick:focus")).to_have_count(1)


def test_on_a_phone_list_and_facts_are_sheets(look: BrowserContext, told: str) -> None:
    page = look.new_page()
    page.goto(told)
    expect(page.get_by_text("Failed: the limit of 40 is reached.")).to_be_visible()
    if page.viewport_size and page.viewport_size["width"] > 1000:
        expect(page.get_by_role("complementary", name="About this chat")).to_be_visible()
        return
    page.get_by_role("button", name="About", exact=True).click()
    sheet = page.get_by_role("dialog", name="About this chat")
    expect(sheet.get_by_text("Last turn")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Chats", exact=True).click()
    expect(page.get_by_role("dialog", name="Chats").get_by_role("link").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Chats", exact=True)).to_be_focused()
    page.mouse.click(20, 26)  # on the sign of the way back
    page.wait_for_url(re.compile(r"/projects/[\w-]+$"))


@pytest.mark.slow
def test_by_touch_nothing_opens_the_keyboard_and_all_buttons_are_there(
    windows: Windows, shared_service: Service, slug: str, told: str
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    context = windows.of(shared_service, **phone)
    try:
        page = context.new_page()
        page.goto(f"/projects/{slug}/chats")
        expect(page.get_by_role("button", name="Runbook", exact=True)).to_be_visible()
        expect(page.get_by_role("textbox", name="Message")).not_to_be_focused()
        page.goto(told)
        page.get_by_role("button", name="Chats", exact=True).tap()
        more = page.get_by_role("dialog", name="Chats").locator(".pick-more").first
        expect(more).to_have_css("opacity", "1")
        expect(more).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    finally:
        windows.forget(context)


@pytest.mark.slow
def test_what_is_known_late_moves_no_button_under_the_pointer(
    page: Page, slug: str, shared_service: Service
) -> None:
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    for n in range(20):
        body = {"name": f"One of many {n}"}
        shared_service.http.post(f"/api/projects/{slug}/chats", json=body).raise_for_status()
    page.route("**/api/engines", hold)
    with page.expect_request("**/api/engines"):
        page.goto(f"/projects/{slug}/chats")
    attach = page.get_by_role("button", name="Attach files")
    expect(page.get_by_role("link", name="One of many 0")).to_be_attached()
    expect(attach).to_be_in_viewport()
    before = attach.bounding_box()
    asked[0].continue_()
    expect(page.get_by_text("No model is set up, so plain")).to_be_visible()

    assert before == attach.bounding_box()


def test_a_picture_goes_with_a_message_and_is_shown_in_it(page: Page, slug: str) -> None:
    model_is_there(page)
    page.goto(f"/projects/{slug}/chats")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    shot = FilePayload(name="shot.png", mimeType="image/png", buffer=PICTURE)
    chooser.value.set_files([shot])
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("shot")
    page.get_by_role("textbox", name="Message").fill("What is on it?")
    shown = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(shown).not_to_have_attribute("aria-busy", "true")
    page.reload()  # what was attached stays with what was written
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("shot")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("What is on it?")
    page.get_by_role("button", name=re.compile("^Start chat")).click()

    image = page.get_by_role("img", name=re.compile(r"shot.*\.png"))
    expect(image).to_be_visible()
    expect(image).to_have_js_property("naturalWidth", 1)


@pytest.mark.slow
def test_a_message_waits_for_its_files_and_is_not_sent_without_one(
    page: Page, slug: str, watch: Watch
) -> None:
    watch.meant.append("Failed to load resource")
    model_is_there(page)
    page.goto(f"/projects/{slug}/chats")
    shot = FilePayload(name="late.png", mimeType="image/png", buffer=PICTURE)
    attach, start = page.locator("input[type=file]"), page.get_by_role("button", name="Start chat")
    page.get_by_role("textbox", name="Message").fill("What is on it?")

    upload = Held(page, "**/attachments?name=*")
    attach.set_input_files([shot])
    start.click()
    expect(start).to_have_attribute("aria-busy", "true")
    for route in upload.routes:
        route.abort()
    expect(page.get_by_text("late.png: the service did not answer")).to_be_visible()
    expect(start).not_to_have_attribute("aria-busy", "true")
    upload.routes.clear()
    attach.set_input_files([shot])
    start.click()
    expect(start).to_have_attribute("aria-busy", "true")
    assert page.url.endswith("/chats")
    upload.release()

    expect(page.get_by_role("img", name=re.compile(r"late.*\.png"))).to_be_visible()
    expect(page.get_by_role("article", name="Message of You")).to_contain_text("What is on it?")


@pytest.mark.slow
def test_a_file_that_is_attached_while_a_message_goes_waits_for_the_next(
    page: Page, told: str
) -> None:
    model_is_there(page)
    page.goto(told)
    attach, files = (
        page.locator("input[type=file]"),
        page.get_by_role("list", name="Attached files"),
    )
    page.get_by_role("textbox", name="Message").fill("What is on it?")
    attach.set_input_files([FilePayload(name="one.png", mimeType="image/png", buffer=PICTURE)])
    expect(files.get_by_role("listitem")).not_to_have_attribute("aria-busy", "true")

    message = Held(page, "**/messages")
    page.get_by_role("button", name=re.compile("^Send")).click()
    until(lambda: page.evaluate("true") and message.routes, what="the message")
    attach.set_input_files([FilePayload(name="two.png", mimeType="image/png", buffer=PICTURE)])
    expect(files.get_by_role("listitem")).to_have_count(2)
    message.release()

    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    expect(files.get_by_role("listitem")).to_have_count(1)
    expect(files).to_contain_text("two")


@pytest.mark.slow
def test_words_in_messages_are_found_and_lead_to_their_message(page: Page, told: str) -> None:
    page.goto(told.rsplit("/", 1)[0])
    page.get_by_role("searchbox", name="Search chats").fill("nested done")
    hit = page.locator(f'a.hit[href^="{told}#m"]').first
    expect(hit.locator("mark").first).to_be_visible()
    hit.click()

    expect(page.locator(".found")).to_contain_text("nested and done")
