"""A chat of 5,000 messages: it opens at its end, unfolds upwards, holds still while one reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_early import SHIFTS
from tests.service import Service
from workspace.chats import transcript

TURNS, CALLS = 500, 8
ANSWER = "Answer {n}.\n\n- one\n- two `code`\n\n```python\ndef f{n}(x):\n    return x + {n}\n```\n"
TOP = "document.querySelector('[data-turn=\"{id}\"]').getBoundingClientRect().top"
TASKS = """() => new Promise((done) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask", buffered: true });
  requestAnimationFrame(() => setTimeout(() => done(Math.max(0, ...found)), 0));
})"""

FIRST_SEEN = """
  const after = window.setTimeout;  // a busy machine draws late, and would not be waited for
  window.setTimeout = (run, ms, ...given) => after(run, ms === 100 ? 60_000 : ms, ...given);
  requestAnimationFrame(function look() {
    window.firstSeen = document.querySelectorAll(".turn-block").length;
    if (!window.firstSeen) requestAnimationFrame(look);
  });
"""


def turn(writer: transcript.Writer, n: int, answer: str = ANSWER) -> None:
    name = f"msg_{n:026}"
    writer.append("turn_start", name, engine="claude", model="sonnet")
    writer.append("user", name, text=f"Question {n}?", sender={"kind": "user"})
    for k in range(CALLS):
        call = f"c{n}x{k}"
        given = {"file_path": f"m{k}.py"}
        writer.append("tool_use", name, tool="Read", call=call, input=given, target=f"m{k}.py")
        writer.append("tool_result", name, call=call, is_error=False, text="1\tx = 1", ms=3)
    writer.append("assistant", name, text=answer.format(n=n), block=f"b{n}")
    writer.append(
        "turn_end", name, status="ok", reason=None, text=None, turns=1, usage=None, cost=None, ms=9
    )


@pytest.fixture(scope="module")
def long_chat(shared_service: Service) -> tuple[str, Path]:
    """The address of the chat, and its transcript."""
    shared_service.http.post("/api/projects", json={"name": "Long"})
    made = shared_service.http.post("/api/projects/long/chats", json={"name": "Long talk"}).json()
    session = made["chat"]["sessionId"]
    path = shared_service.projects / "long" / ".chats" / f"{session}.jsonl"
    with transcript.Writer(str(path)) as writer:
        for n in range(TURNS):
            turn(writer, n)
    return f"/projects/long/chats/{session}", path


def test_five_thousand_messages_open_at_the_end_and_unfold_upwards(
    page: Page, long_chat: tuple[str, Path], record_property: Callable[[str, object], None]
) -> None:
    page.goto(long_chat[0])
    expect(page.get_by_text(f"Answer {TURNS - 1}.", exact=True)).to_be_in_viewport()
    expect(page.locator(".turn-block")).to_have_count(10)
    record_property("longest task in ms", page.evaluate(TASKS))
    first = page.locator(".turn-block").first
    oldest = first.get_attribute("data-turn")

    page.get_by_role("region", name="Transcript").focus()
    page.keyboard.press("Home")

    expect(page.locator(".turn-block")).to_have_count(20)
    expect(page.locator(f'[data-turn="{oldest}"]')).to_be_in_viewport()
    expect(page.get_by_text(f"Question {TURNS - 20}?")).to_have_count(1)
    page.keyboard.press("End")
    expect(page.get_by_text(f"Answer {TURNS - 1}.", exact=True)).to_be_in_viewport()


def test_what_fills_the_window_is_seen_before_older_turns_are_drawn(
    page: Page, long_chat: tuple[str, Path]
) -> None:
    page.add_init_script(SHIFTS)
    page.add_init_script(FIRST_SEEN)

    page.goto(long_chat[0])

    expect(page.locator(".turn-block")).to_have_count(10)
    assert 0 < page.evaluate("firstSeen") < 10
    assert page.evaluate("shifted") < 0.02


@pytest.mark.slow
def test_what_one_reads_does_not_move_when_an_answer_comes(
    page: Page, long_chat: tuple[str, Path]
) -> None:
    address, path = long_chat
    page.goto(address)
    expect(page.get_by_text(f"Answer {TURNS - 1}.", exact=True)).to_be_in_viewport()
    page.get_by_role("region", name="Transcript").focus()
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.get_by_role("button", name="Latest")).to_be_visible()
    read = page.locator(".turn-block").nth(-2).get_attribute("data-turn")
    before = page.evaluate(TOP.format(id=read))

    with transcript.Writer(str(path)) as writer:
        turn(writer, TURNS, "And one more.")

    expect(page.locator("#lines").get_by_text("And one more.")).to_have_count(1)
    assert abs(page.evaluate(TOP.format(id=read)) - before) < 2
    page.get_by_role("button", name="Latest").click()
    expect(page.locator("#lines").get_by_text("And one more.")).to_be_in_viewport()


def test_the_address_of_a_message_shows_it_however_far_up_it_is(
    page: Page, long_chat: tuple[str, Path], shared_service: Service
) -> None:
    address, _ = long_chat
    told = shared_service.http.get(f"/api{address}/messages", params={"limit": 500}).json()
    far = next(one for one in told["messages"] if one["role"] == "assistant")

    page.goto(f"{address}#m{far['offset']}")

    expect(page.locator(".found")).to_be_in_viewport()
    expect(page.locator(".found")).to_contain_text(far["content"].split("\n")[0])
