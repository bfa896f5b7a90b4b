"""The chat page: thinking while it comes, a to-do list in place, what turns used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.service import Service
from workspace.chats import live, transcript

USED = {"usage": {"totalTokens": 52600}, "cost": 0.1834, "ms": 9, "turns": 1}
END = {"status": "ok", "reason": None, "text": None, "model": "claude-opus-5-5", **USED}


@pytest.fixture
def chat(shared_service: Service) -> str:
    http = shared_service.http
    http.post("/api/projects", json={"name": "Talk"})
    made = http.post("/api/projects/talk/chats", json={"name": "Thinks"}).json()
    return str(made["chat"]["sessionId"])


@pytest.fixture
def writer(shared_service: Service, chat: str) -> Iterator[transcript.Writer]:
    """The transcript of a turn that runs, as its process writes it."""
    path = shared_service.projects / "talk/.chats" / f"{chat}.jsonl"
    told = [{"name": "AGENTS.md", "bytes": 2048, "told": 2048, "why": None}]
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_start", "t1", engine="claude", model=None, instructions=told)
        writer.append("user", "t1", text="Mend it", sender={"kind": "user", "id": "anonymous"})
        yield writer


def todo(writer: transcript.Writer, call: str, *states: str) -> None:
    todos = [{"content": f"Step {n}", "status": state} for n, state in enumerate(states, 1)]
    writer.append("tool_use", "t1", tool="TodoWrite", call=call, input={"todos": todos}, target="")
    writer.append("tool_result", "t1", call=call, is_error=False, text="ok", ms=1)


def end(writer: transcript.Writer, **more: Any) -> None:
    context = {"used": 150_000, "limit": 200_000, "engine": "claude"}
    writer.append("turn_end", "t1", **{**END, "context": context, **more})


def test_thinking_is_shown_while_it_comes_and_folds_when_it_is_done(
    page: Page, chat: str, writer: transcript.Writer
) -> None:
    page.goto(f"/projects/talk/chats/{chat}")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_be_visible()
    text = live.Appender(str(Path(writer.path).with_suffix(".live")), "t1")
    text.add("b1", "thinking", "Where is it **raised**?")
    text.flush()

    expect(answer).to_contain_text("thinking · claude")
    expect(answer.locator(".thought strong")).to_have_text("raised")
    page.reload()  # who joins late sees it too
    expect(answer.locator(".thought strong")).to_be_visible()

    writer.append("thinking", "t1", text="Where is it **raised**? In `a.py`.", block="b1")
    thought = answer.locator("details.thought")
    expect(thought.locator("summary")).to_contain_text("Thought")
    expect(thought).to_have_count(1)
    expect(thought).not_to_have_attribute("open", "")
    thought.locator("summary").click()
    expect(thought.locator("code")).to_have_text("a.py")
    end(writer)
    text.close()
    expect(answer.locator(".origin")).to_contain_text("Agentclaude-opus-5-5 · ")


def test_a_list_is_one_and_kept_in_place_and_what_was_used_is_told(
    look: BrowserContext, chat: str, writer: transcript.Writer
) -> None:
    page = look.new_page()
    page.goto(f"/projects/talk/chats/{chat}")
    plan = page.get_by_role("region", name="To do")
    todo(writer, "c1", "in_progress", "pending")
    expect(plan).to_contain_text("0 of 2 done")
    todo(writer, "c2", "completed", "in_progress")
    expect(plan).to_contain_text("1 of 2 done")
    expect(plan.get_by_role("listitem")).to_have_count(2)
    expect(page.locator(".calls")).to_have_count(0)

    end(writer)

    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("52.6k tokens · $0.18")
    if page.get_by_role("button", name="About").is_visible():
        page.get_by_role("button", name="About").click()
    facts = page.locator("#side")
    expect(facts).to_contain_text("75 %")
    expect(facts).to_contain_text("150k of 200k tokens")
    expect(facts).to_contain_text("To do: 1 of 2 done")
    expect(facts).to_contain_text("AGENTS.md2.0 KiB")
    across = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert across <= 0
