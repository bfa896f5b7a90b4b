"""The turn process, as its worker sees it: real processes, exit codes, stops, questions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import BASE, Running, World, book, fence, kinds, only, until
from workspace import ids
from workspace.chats import transcript
from workspace.engines import procs
from workspace.engines.base import Job

COSTLY = {  # what a runbook turn must not pay for (promise S5)
    "ast", "asyncio", "config.settings", "dataclasses", "datetime", "django", "hashlib", "inspect",
    "logging", "orjson", "pathlib", "random", "shutil", "socket", "subprocess", "tempfile",
    "threading", "traceback", "typing", "urllib.parse", "uuid", "workspace.engines.allowing",
    "yaml",
}  # fmt: skip
BASH_FOREVER = fence("Bash", "echo begun > begun; sleep 600")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def begun(world: World) -> None:
    until((world.project / "begun").exists, bool)


def test_a_runbook_turn_leaves_its_records_in_order(world):
    records = world.run(book(fence("Write", "hello", "file_path=out/a.txt"), "All written.\n"))

    assert kinds(records) == [
        "turn_start", "user", "notice", "tool_use", "tool_result", "assistant", "turn_end",
    ]  # fmt: skip
    start, end = records[0], records[-1]
    assert (start["engine"], start["mode"], start["sandbox"]) == (
        "runbook",
        "bypassPermissions",
        "off",
    )
    assert (end["status"], end["reason"], end["turns"], end["usage"]) == ("ok", None, 1, None)
    assert [record["seq"] for record in records] == list(range(1, 8))
    assert (world.project / "out" / "a.txt").read_text() == "hello\n"


@pytest.mark.parametrize(
    ("step", "needed"),
    [
        (fence("Write", "x", "file_path=a.txt"), set()),
        (fence("Bash", "true"), {"subprocess", "threading"}),
    ],
)
def test_a_runbook_turn_loads_nothing_it_can_do_without(world, monkeypatch, step, needed):
    told = {"PYTHONPROFILEIMPORTTIME": "1"}  # the interpreter names each module it loads
    monkeypatch.setattr(world, "environ", lambda job: World.environ(world, job) | told)

    code, log = world.start(world.job(book(step))).end()

    lines = [line for line in log.splitlines() if line.startswith("import time:")]
    loaded = {line.split("|")[-1].strip() for line in lines}
    assert code == 0
    assert {"json", "workspace.engines.runbook", "workspace.engines.tools"} <= loaded
    assert loaded & COSTLY == needed


def test_plain_text_without_an_engine_ends_as_needs_engine(world):
    records = world.run("Fix the bug", engine=None, refusal="only runbooks can run in this version")

    assert kinds(records) == ["turn_start", "user", "notice", "turn_end"]
    start, user, notice, end = records
    assert start["engine"] is None
    assert user["text"] == "Fix the bug"
    assert (notice["level"], notice["code"]) == ("error", "needs_engine")
    assert notice["text"] == (
        "No engine can run this message: only runbooks can run in this version."
    )
    assert (end["status"], end["reason"]) == ("needs_engine", "needs_engine")


def test_a_second_writer_on_a_chat_exits_3_and_changes_no_byte(world):
    with transcript.Writer(str(world.transcript)) as writer:
        writer.append("notice", "msg_0", level="info", code="x", text="held")
        before = world.transcript.read_bytes()
        code, _ = world.start(world.job(book(fence("Bash", "touch ran")))).end()
    assert code == 3
    assert world.transcript.read_bytes() == before
    assert not (world.project / "ran").exists()


def test_a_turn_that_is_in_the_transcript_already_exits_4_and_appends_nothing(world):
    turn = ids.turn_id()
    world.run(book(fence("Bash", "echo x >> ran")), turn=turn)
    before = world.transcript.read_bytes()

    code, _ = world.start(world.job(book(fence("Bash", "echo x >> ran")), turn=turn)).end()

    assert code == 4
    assert world.transcript.read_bytes() == before
    assert (world.project / "ran").read_text() == "x\n"


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"[]\n", b"not json\n", b'{"turn":"x"}\n'])
def test_an_unreadable_job_exits_5(world, line):
    code, _ = world.start(world.job("x"), line=line).end()
    assert code == 5
    assert not world.transcript.exists()


def test_a_job_of_another_turn_exits_5(world):
    job = world.job("x")
    code, _ = world.start(job, line=job._replace(turn=ids.turn_id()).to_json()).end()
    assert code == 5


def test_a_job_survives_its_line():
    job = Job(
        turn="t", chat="c", project="p", cwd="/", chats_dir="/", run_dir="/", worker_pid=1,
        prompt="a\nb\ud800", message="é", sender={"kind": "user"}, engine=None, secrets=("s",),
        engine_cfg={"tools": {}},
    )  # fmt: skip
    assert Job.from_json(job.to_json()) == job


def test_a_process_with_another_parent_than_its_worker_does_nothing(world):
    code, _ = world.start(world.job("x", worker_pid=1)).end()
    assert code == 1
    assert not world.transcript.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="fills a file system of its own, needs root")
def test_a_full_disk_exits_6_and_heals_at_the_next_turn(world):
    small = world.root / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], check=False
    )
    if mounted.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        text = "x" * 5000
        prompt = book(*(f"{text}\n{fence('Bash', 'true')}" for _ in range(20)))
        job = world.job(prompt, message="short", chats_dir=str(small))
        code, log = world.start(job).end()
        path = str(small / f"{world.chat}.jsonl")
        whole = [record["seq"] for _, record in transcript.read(path)]
        assert (code, whole) == (6, list(range(1, len(whole) + 1)))
        assert "the transcript cannot be written" in log

        subprocess.run(["mount", "-o", "remount,size=1m", str(small)], check=True)
        again = world.job(book(fence("Bash", "true")), chats_dir=str(small))
        assert world.start(again).end()[0] == 0
        after = [record["seq"] for _, record in transcript.read(path)]
        assert after == list(range(1, len(after) + 1))
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("user", ("stopped", "user")),
        ("timeout", ("timeout", "timeout")),
        ("shutdown", ("interrupted", "shutdown")),
    ],
)
def test_stop_ends_a_command_and_closes_its_call(world, reason, status):
    running = world.start(world.job(book(BASH_FOREVER, fence("Bash", "touch never"))))
    begun(world)
    running.stop(reason)
    assert running.end()[0] == 0

    records = world.records()
    result, end = only(records, "tool_result"), records[-1]
    assert (result["is_error"], result["text"]) == (True, "stopped")
    assert (end["status"], end["reason"], end["turns"]) == (*status, None)
    assert not (world.project / "never").exists()
    assert procs.pids_by_turn(str(world.root)) == {}


def test_a_stop_line_alone_is_enough(world):
    running = world.start(world.job(book(BASH_FOREVER)))
    begun(world)
    running.stop(signalled=False)
    assert running.end()[0] == 0
    assert world.records()[-1]["status"] == "stopped"


def test_a_signal_alone_is_a_shutdown(world):
    running = world.start(world.job(book(BASH_FOREVER)))
    begun(world)
    running.child.send_signal(signal.SIGTERM)
    assert running.end()[0] == 0
    assert world.records()[-1]["reason"] == "shutdown"


def test_a_worker_that_closes_the_channel_is_lost(world):
    running = world.start(world.job(book(BASH_FOREVER)))
    begun(world)
    assert running.child.stdin
    running.child.stdin.close()
    assert running.end()[0] == 0
    assert (world.records()[-1]["status"], world.records()[-1]["reason"]) == (
        "interrupted",
        "worker_lost",
    )


def test_a_stop_before_the_first_step_runs_nothing(world):
    job = world.job(book(fence("Bash", "touch never")))
    running = world.start(job, line=job.to_json() + b'{"type":"stop","reason":"user"}\n')
    assert running.end()[0] == 0
    assert kinds(world.records())[-1] == "turn_end"
    assert world.records()[-1]["status"] == "stopped"
    assert not (world.project / "never").exists()


def test_the_turn_ends_itself_when_its_time_is_over(world):
    job = world.job(book(BASH_FOREVER), turn_seconds=1)
    assert world.start(job).end()[0] == 0
    assert world.records()[-1]["status"] == "timeout"


def test_a_killed_worker_takes_its_turn_along(world):
    """The worker is a process of its own here; its end is the end of the turn and of all below."""
    lost = "import os,sys; os.write(1, b'x'); os.read(0, 1)"
    code = (
        "import os, subprocess, sys\n"
        "from workspace.engines.base import Job\n"
        "job = Job.from_json(sys.stdin.buffer.readline())._replace(worker_pid=os.getpid())\n"
        "command = [sys.executable, '-m', 'workspace.chats.turns.process', job.chat, job.turn]\n"
        "child = subprocess.Popen(command,"
        " stdin=subprocess.PIPE, start_new_session=True)\n"
        "child.stdin.write(job.to_json()); child.stdin.flush()\n"
        f"exec({lost!r})\n"
    )
    job = world.job(book(fence("Bash", "setsid sleep 600 & echo begun > begun; sleep 600")))
    worker = subprocess.Popen(
        [sys.executable, "-c", code], cwd=BASE, env=world.environ(job), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert worker.stdin
    worker.stdin.write(job.to_json())
    worker.stdin.flush()
    begun(world)

    worker.kill()
    worker.wait()
    worker.stdin.close()

    records = until(world.records, lambda found: kinds(found)[-1] == "turn_end")
    assert (records[-1]["status"], records[-1]["reason"]) == ("interrupted", "worker_lost")
    until(lambda: procs.pids_by_turn(str(world.root)), lambda found: found == {})


ASKING = {"mode": "default", "attended": True}


def asked(running: Running) -> dict[str, Any]:
    found = running.until(lambda records: "permission" in kinds(records))
    return only(found, "permission")


def test_an_allowed_question_runs_the_tool(world):
    running = world.start(world.job(book(fence("Bash", "echo ran")), **ASKING))
    question = asked(running)
    assert (question["state"], question["tool"], question["input"]["command"]) == (
        "asked",
        "Bash",
        "echo ran",
    )
    running.send({"type": "answer", "call": question["call"], "allow": True})
    assert running.end()[0] == 0

    records = world.records()
    assert kinds(records)[2:] == ["tool_use", "permission", "permission", "tool_result", "turn_end"]
    assert (records[4]["state"], records[4]["by"]) == ("allowed", "user")
    assert records[5]["text"] == "ran"


def test_a_question_that_is_open_when_the_turn_is_stopped_is_closed(world):
    running = world.start(world.job(book(fence("Bash", "touch ran")), **ASKING))
    question = asked(running)
    running.stop("user")
    assert running.end()[0] == 0

    closed = [record for record in world.records() if record["type"] == "permission"][1]
    assert (closed["call"], closed["state"], closed["by"]) == (question["call"], "denied", "stop")
    assert kinds(world.records())[-3:] == ["permission", "tool_result", "turn_end"]


def test_a_denied_question_is_the_tools_error(world):
    running = world.start(world.job(book(fence("Bash", "touch ran")), **ASKING))
    question = asked(running)
    running.send({"type": "answer", "call": "another", "allow": True})
    running.send({"type": "answer", "call": question["call"], "allow": False})
    running.end()

    records = world.records()
    assert only(records, "tool_result")["text"] == "Bash was denied by the user"
    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "step_failed")
    assert not (world.project / "ran").exists()


def test_a_question_nobody_answers_is_denied_and_the_turn_goes_on(world):
    steps = fence("Bash", "touch ran", "allow_failure"), fence("Glob", '{"pattern": "*"}')
    records = world.run(book(*steps), **ASKING, ask_seconds=1)

    denial = [record for record in records if record["type"] == "permission"][1]
    assert (denial["state"], denial["by"]) == ("denied", "timeout")
    assert denial["reason"] == "nobody answered within 1 s"
    assert records[-1]["status"] == "ok"
    assert not (world.project / "ran").exists()


def test_a_turn_past_its_time_while_it_waits_for_an_answer_is_a_timeout(world):
    running = world.start(world.job(book(fence("Bash", "touch ran")), **ASKING))
    question = asked(running)
    running.stop("timeout")
    running.send({"type": "answer", "call": question["call"], "allow": True})
    assert running.end()[0] == 0
    assert world.records()[-1]["status"] == "timeout"
    assert not (world.project / "ran").exists()


def run_patched(world: World, patch: str) -> str:
    """One turn by a process with a fault built in; its log."""
    broken = world.root / "broken.py"
    broken.write_text(
        "import os, sys\n"
        "from workspace.chats.turns import process\n"
        "from workspace.engines import base, policy, runbook\n"
        f"{patch}\n"
        "os._exit(process.main(sys.argv))\n"
    )
    job = world.job(book(fence("Bash", "touch ran")))
    child = subprocess.Popen(
        [sys.executable, str(broken), job.chat, job.turn],
        env=world.environ(job) | {"PYTHONPATH": str(BASE)}, stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin
    assert child.stderr
    child.stdin.write(job.to_json())
    child.stdin.flush()
    assert child.wait(20) == 0
    child.stdin.close()
    with child.stderr as log:
        return log.read().decode()


def test_a_gate_that_raises_denies(world):
    log = run_patched(
        world,
        "def decide(self, tool, args): raise KeyError('gate')\npolicy.Gate.decide = decide",
    )
    assert "KeyError" in log
    text = only(world.records(), "tool_result")["text"]
    assert text == "Bash was denied: the permission check failed"
    assert not (world.project / "ran").exists()


def test_code_in_the_project_never_runs_by_itself(world):
    (world.project / ".claude").mkdir()
    (world.project / ".claude/settings.json").write_text(
        '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch hooked"}]}]}}'
    )
    for name in (
        "json.py",
        "sitecustomize.py",
        "workspace/__init__.py",
        "workspace/chats/turns/process.py",
    ):
        path = world.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("open('imported', 'w')\n")

    records = world.run(book(fence("Bash", "true"), fence("Grep", '{"pattern": "x"}')))

    assert records[-1]["status"] == "ok"
    assert not list(world.project.rglob("imported"))
    assert not list(world.project.rglob("hooked"))


def test_secrets_stay_out_of_the_command_line_the_log_and_error_texts(world):
    token = "svct_" + "5ec1e7" * 10
    svc = {"url": "http://127.0.0.1:1/_svc/mcp", "token": token, "ops": {}}
    prompt = book(fence("Bash", "echo begun > begun; sleep 600"))
    running = world.start(world.job(prompt, svc=svc, secrets=(token,)))
    begun(world)
    lines = [
        path.read_bytes()
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.parent.name != str(os.getpid()) and _readable(path)
    ]
    assert not any(token.encode() in line for line in lines)
    below = Path(f"/proc/{running.child.pid}/task/{running.child.pid}/children").read_text().split()
    assert token.encode() not in Path(f"/proc/{below[0]}/environ").read_bytes()
    running.stop()
    _, log = running.end()
    assert token not in log + world.transcript.read_text()

    failing = world.start(world.job("x", engine=None, refusal=f"bad key {token}", secrets=(token,)))
    failing.end()
    assert token not in world.transcript.read_text()
    assert "bad key ***" in world.transcript.read_text()


def _readable(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("raise RuntimeError('no luck')\n    yield", "The engine failed: RuntimeError: no luck"),
        ("yield base.Text('so far', 'b')", "The engine ended without a word."),
        (
            "yield base.ToolUse('Bash', 'c', {}); raise OSError('x')",
            "The engine failed: OSError: x",
        ),
    ],
)
def test_an_engine_that_fails_or_ends_without_an_end_is_a_crash(world, body, text):
    run_patched(world, f"async def run(self, job, io):\n    {body}\nrunbook.Runbook.run = run\n")
    records = world.records()
    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "engine_crashed")
    assert records[-1]["text"] == text
    results = [record["text"] for record in records if record["type"] == "tool_result"]
    assert results == (["stopped"] if "ToolUse" in body else [])


def test_an_unknown_engine_is_refused(world):
    records = world.run("x", engine="nobody")
    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "refused")


def test_bypass_as_root_without_a_sandbox_is_marked(world):
    notes = [r for r in world.run(book(fence("Bash", "true"))) if r["type"] == "notice"]
    assert [note["code"] for note in notes] == (["root_unsandboxed"] if os.geteuid() == 0 else [])
    calm = world.run(book(fence("Bash", "true")), mode="default", tools=["Bash"])
    assert "notice" not in kinds(calm)


def test_children_get_an_empty_stdin_and_no_descriptor_of_the_turn(world):
    records = world.run(book(fence("Bash", "readlink /proc/self/fd/0; ls /proc/self/fd | wc -l")))
    stdin, count = only(records, "tool_result")["text"].split()
    assert stdin == "/dev/null"
    assert int(count) <= 4
