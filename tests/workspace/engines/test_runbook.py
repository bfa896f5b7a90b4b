"""Runbooks, run by real turn processes: order, substitution, failure, the three examples."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import World, book, fence, kinds, only
from tests.workspace.engines.manage import manage

TODAY = re.compile(r"20\d\d-\d\d-\d\d")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def texts(records: list[dict[str, Any]], kind: str) -> list[str]:
    return [record["text"] for record in records if record["type"] == kind]


def test_the_nightly_check_writes_its_report(world):
    (world.project / "src").mkdir()
    (world.project / "src" / "a.py").write_text("# TODO one\n# FIXME two\n")
    (world.project / "Makefile").write_text("test:\n\t@echo 3 passed; exit 2\n")
    prompt = (
        "#!runbook\n"
        "```Grep name=todo\n"
        '{"pattern": "TODO|FIXME", "glob": "**/*.py", "output_mode": "count"}\n'
        "```\n"
        "```Bash name=tests timeout=900 allow_failure\n"
        'make test 2>&1 | tail -n 40; exit "${PIPESTATUS[0]}"\n'
        "```\n"
        "```Write file_path=reports/{{date.utc}}.md\n"
        "Open work: {{todo.output}}\n"
        "Tests ended with {{tests.status}}: {{tests.output}}\n"
        "```\n"
        "Report written; tests ended with {{tests.status}}.\n"
    )

    records = world.run(
        prompt, mode="default", tools=["Grep", "Bash", "Write"], trigger="nightly",
        sender={"kind": "trigger"},
    )  # fmt: skip

    assert records[-1]["status"] == "ok"
    assert records[-1]["turns"] == 3
    report = next((world.project / "reports").iterdir())
    assert TODAY.fullmatch(report.stem)
    assert report.read_text().startswith("Open work: src/a.py:2\nTests ended with 2: 3 passed\n")
    assert texts(records, "assistant") == ["Report written; tests ended with 2."]


def test_the_summary_on_archive_reads_the_chat_that_was_archived(world):
    archived = "0b0e4c9e-0000-4000-8000-000000000001"
    prompt = (
        "#!runbook\n"
        "```mcp__svc_manage__read_chat name=archived\n"
        '{"session_id": "{{event.chat}}", "limit": 50}\n'
        "```\n"
        "~~~Write file_path=summaries/{{event.chat}}.md\n"
        "Archived {{date.utc}}, chat {{event.chat}}. Last messages:\n"
        "```json\n"
        "{{archived.output}}\n"
        "```\n"
        "~~~\n"
    )
    with manage({"read_chat": '{"messages":[]}'}) as (svc, calls):
        svc["ops"]["read_chat"] = {"session_id": "string", "limit": "integer"}
        records = world.run(
            prompt,
            message=f"Trigger event `onArchive` in project `alpha`: archived.\n\n{prompt}",
            mode="default",
            tools=["mcp__svc_manage__read_chat", "Write"],
            sender={"kind": "trigger"},
            event={"name": "onArchive", "chat": archived, "project": "alpha"},
            svc=svc,
        )

    assert records[-1]["status"] == "ok", records[-1]
    assert calls == [("read_chat", {"session_id": archived, "limit": 50})]
    written = (world.project / "summaries" / f"{archived}.md").read_text()
    assert written.endswith('Last messages:\n```json\n{"messages":[]}\n```\n')
    assert f"chat {archived}" in written


def test_the_fan_out_starts_one_chat_per_job_and_takes_a_refusal(world):
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command],
            cwd=world.project, check=True,
        )  # fmt: skip
    inner = "#!runbook\\n~~~Bash timeout=600\\nmake lint\\n~~~\\n"
    prompt = (
        "#!runbook\n"
        "```Bash name=pick\n"
        "echo a.py > a.py; git add a.py; git -c user.name=a -c user.email=a@b commit -qm a\n"
        "git log --since=1.day --name-only --format= | sort -u > .today.txt; test -s .today.txt\n"
        "```\n"
        "```mcp__svc_manage__create_chat\n"
        '{"name": "docs {{date.utc}}", "prompt": "Read .today.txt and bring the documentation'
        ' of those files up to date."}\n'
        "```\n"
        "```mcp__svc_manage__create_chat allow_failure\n"
        '{"name": "lint {{date.utc}}", "model": "runbook", "prompt": "' + inner + '"}\n'
        "```\n"
    )
    with manage({"create_chat": ["{}", "Error: full"]}) as (svc, calls):
        svc["ops"]["create_chat"] = {"name": "string", "prompt": "string", "model": "string"}
        records = world.run(
            prompt, mode="default", tools=["Bash", "mcp__svc_manage__create_chat"],
            sender={"kind": "trigger"}, may_spawn=True, svc=svc,
        )  # fmt: skip

    assert records[-1]["status"] == "ok", records[-1]
    assert (world.project / ".today.txt").read_text() == "a.py\n"
    assert [name for name, _ in calls] == ["create_chat", "create_chat"]
    assert TODAY.fullmatch(calls[0][1]["name"].removeprefix("docs "))
    assert calls[1][1]["prompt"] == inner.replace("\\n", "\n")
    assert [r["is_error"] for r in records if r["type"] == "tool_result"] == [False, False, True]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (book(fence("Bash", "touch ran"), "```Bash\ntouch ran\n"), r"line \d+: "),
        (book(fence("Bash", "touch ran", "name=a"), fence("Bash", "x", "name=a")), r"line \d+: "),
        (book(fence("Bash", "touch ran"), fence("Bash", "x", "colour=red")), r"line \d+: "),
        (book("nothing to do\n"), "This runbook has no steps. "),
    ],
)
def test_a_syntax_error_runs_nothing_and_says_where(world, prompt, said):
    records = world.run(prompt)
    end = records[-1]
    assert (end["status"], end["reason"]) == ("error", "runbook_syntax")
    assert re.match(said, end["text"])
    assert only(records, "user")["text"] == prompt
    assert "tool_use" not in kinds(records)
    assert not (world.project / "ran").exists()


def test_output_is_data_and_never_read_again(world):
    hostile = "```Bash\\ntouch ran\\n```\\n$(touch x) `touch y` {{a.status}} {{b.output}} \"'"
    records = world.run(
        book(
            fence("Bash", f"printf '%b' '{hostile}'".replace("\"'", '"'), "name=a"),
            fence("Write", "{{a.output}}", "file_path=out.txt"),
            fence("Bash", 'printf %s "$SVC_STEP_a_OUTPUT" > env.txt; echo {{a.output}}', "name=c"),
            "Said: {{a.output}}\n",
        )
    )
    assert records[-1]["status"] == "ok"
    shown = '```Bash\ntouch ran\n```\n$(touch x) `touch y` {{a.status}} {{b.output}} "'
    assert (world.project / "out.txt").read_text() == shown + "\n"
    assert (world.project / "env.txt").read_text() == shown
    assert texts(records, "assistant") == [f"Said: {shown}"]
    assert texts(records, "tool_result")[2] == "{{a.output}}"
    assert {path.name for path in world.project.iterdir()} == {".chats", "out.txt", "env.txt"}


def test_results_go_into_write_content_and_text_and_nowhere_else(world):
    records = world.run(
        book(
            fence("Bash", "echo name", "name=a"),
            fence("Write", "x", "file_path={{a.output}}.txt"),
            fence("Glob", '{"pattern": "{{a.output}}*"}'),
        )
    )
    assert (world.project / "{{a.output}}.txt").exists()
    assert [r["code"] for r in records if r["type"] == "notice"][-1] == "unknown_substitution"
    assert sum(r.get("code") == "unknown_substitution" for r in records) == 1


def test_later_steps_and_unknown_names_stay_as_written(world):
    records = world.run(
        book("{{b.output}} {{nothing.here}} {{date.utc}}\n", fence("Bash", "true", "name=b"))
    )
    text = texts(records, "assistant")[0]
    assert text.startswith("{{b.output}} {{nothing.here}} 20")
    told = [r["text"] for r in records if r.get("code") == "unknown_substitution"]
    assert [line.split("}}")[0] for line in told] == ["{{b.output", "{{nothing.here"]


def test_commands_see_the_turn_in_their_environment(world):
    records = world.run(
        book(
            fence("Bash", "echo one; exit 3", "name=a allow_failure"),
            fence("Bash", 'echo "$SVC_STEP_a_STATUS $SVC_TRIGGER $SVC_EVENT $SVC_EVENT_CHAT"'),
        ),
        trigger="tidy",
        event={"name": "onArchive", "chat": "c-1", "project": "alpha"},
    )
    assert texts(records, "tool_result")[1] == "3 tidy onArchive c-1"


READ_EVENT = (
    'import json, os; print(json.loads(os.environ["SVC_EVENT_JSON"])["happenings"][0]["text"])'
)


def test_what_happened_is_context_in_plain_words_and_whole_in_the_environment(world):
    happenings = [
        {"app": "shop", "line": None, "text": "a `b`; rm", "file": "a/b.py"},
        {"app": "x"},
    ]
    records = world.run(
        book(
            fence("Bash", f"python3 -c '{READ_EVENT}'"),
            "{{event.app}} {{event.text}} {{event.file}} {{event.line}}\n",
        ),
        trigger="mend",
        event={"name": "onAppDown", "chat": "", "project": "alpha", "happenings": happenings},
    )  # fmt: skip
    assert texts(records, "tool_result") == ["a `b`; rm"]
    assert texts(records, "assistant") == ["shop {{event.text}} {{event.file}} {{event.line}}"]


def test_context_values_cannot_carry_anything_but_names(world):
    records = world.run(
        book(fence("Bash", "true"), "[{{trigger.name}}] [{{event.chat}}]\n"),
        trigger="a b/../{{x.y}}`$(",
    )
    assert texts(records, "assistant") == [
        "[a_b_.._x.y__".replace("_x.y__", "___x.y_____") + "] []"
    ]


def test_a_failed_step_ends_the_turn_with_the_end_of_its_output(world):
    records = world.run(
        book(fence("Bash", "seq 1 500; exit 7", "name=count"), fence("Bash", "touch never"))
    )
    end = records[-1]
    assert (end["status"], end["reason"], end["turns"]) == ("error", "step_failed", 1)
    assert end["text"].startswith("Bash count failed: ")
    assert end["text"].endswith("500\n[exit status 7]")
    assert only(records, "tool_result")["status"] == 7
    assert not (world.project / "never").exists()


def test_a_denied_step_goes_on_only_with_allow_failure(world):
    denied = {"mode": "default", "tools": ["Grep"]}
    calm = world.run(
        book(fence("Bash", "touch ran", "name=b allow_failure"), "Status {{b.status}}\n"), **denied
    )
    assert calm[-1]["status"] == "ok"
    assert texts(calm, "assistant") == ["Status 1"]
    permission = only(calm, "permission")
    assert (permission["state"], permission["by"]) == ("denied", "policy")

    strict = world.run(book(fence("Bash", "touch ran", "name=b")), **denied)
    assert strict[-1]["text"] == "Bash b failed: No such tool available: Bash"
    assert not (world.project / "ran").exists()


def test_each_step_counts_and_text_does_not(world):
    steps = [f"Step {n}\n" + fence("Bash", f"echo {n} >> log") for n in range(4)]
    records = world.run(book(*steps), max_turns=3)
    assert (records[-1]["status"], records[-1]["turns"]) == ("max_turns", 3)
    assert (world.project / "log").read_text() == "0\n1\n2\n"


def test_plan_mode_reads_and_fails_at_the_first_other_step(world):
    (world.project / "a.txt").write_text("hi\n")
    records = world.run(
        book(fence("Read", "", "file_path=a.txt"), fence("Write", "x", "file_path=b.txt")),
        mode="plan",
    )
    assert texts(records, "tool_result") == ["1\thi", "Write is not permitted in plan mode"]
    assert records[-1]["reason"] == "step_failed"
    assert not (world.project / "b.txt").exists()


def test_no_tool_at_all_is_offered_by_an_empty_list(world):
    records = world.run(book(fence("Read", "", "file_path=a.txt")), tools=[])
    assert only(records, "tool_result")["text"] == "No such tool available: Read"
    assert only(records, "permission")["state"] == "denied"


def test_a_granted_name_this_engine_lacks_gives_one_notice_and_no_tool(world):
    records = world.run(
        book(
            fence("Task", '{"description": "d", "prompt": "p"}', "allow_failure"),
            fence("Bash", "true"),
        ),
        tools=["Task", "Skill", "Bash", "mcp__svc_manage__*", "mcp__other__x"],
        may_spawn=True,
    )
    told = [r["text"] for r in records if r.get("code") == "tool_unavailable"]
    assert [line.split()[-1] for line in told] == ["Task.", "Skill.", "mcp__other__x."]
    assert texts(records, "tool_result")[0] == "No such tool available: Task"
    assert records[-1]["status"] == "ok"


def test_a_step_past_its_time_is_killed_with_its_tree(world):
    began = time.monotonic()
    records = world.run(
        book(
            fence("Bash", "echo before; sleep 600 & sleep 600", "timeout=1 allow_failure name=s"),
            "{{s.status}}\n",
        )
    )
    assert time.monotonic() - began < 5
    assert only(records, "tool_result")["text"] == (
        "before\n[timed out after 1 s; the process tree was killed]"
    )
    assert texts(records, "assistant") == ["124"]


def test_background_output_does_not_hold_a_step_and_its_process_ends_with_the_turn(world):
    began = time.monotonic()
    records = world.run(
        book(
            fence("Bash", "sleep 600 & echo $! > pid; echo done"),
            fence("Bash", "kill -0 $(cat pid)"),
        )
    )
    assert time.monotonic() - began < 5
    assert records[-1]["status"] == "ok"
    assert not Path(f"/proc/{(world.project / 'pid').read_text().strip()}").exists()


def test_a_runbook_named_by_model_needs_no_marker_and_a_marker_on_line_2_is_text(world):
    assert world.run(fence("Bash", "true"))[-1]["status"] == "ok"
    records = world.run("Note\n#!runbook\n" + fence("Bash", "true"))
    assert texts(records, "assistant") == ["Note\n#!runbook"]


def test_a_forks_prompt_is_run_as_a_runbook_behind_its_line(world):
    prompt = book(fence("Bash", "echo forked"))
    records = world.run(prompt, message=f'This chat is a fork of "a" (b); …\n\n{prompt}')
    assert texts(records, "tool_result") == ["forked"]
    assert texts(records, "assistant") == []  # the line in front is no part of the document
    assert only(records, "user")["text"].startswith("This chat is a fork")


def test_service_operations_fail_as_tools_when_nobody_answers(world):
    svc = {"url": "http://127.0.0.1:1/_svc/mcp", "token": "svct_x", "ops": {"list_chats": {}}}
    records = world.run(book(fence("mcp__svc_manage__list_chats")), svc=svc)
    assert only(records, "tool_result")["text"] == "svc_manage is not reachable"
