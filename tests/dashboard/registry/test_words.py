"""What each state and reason says to a person: every pair of the table, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.health.judgement import describe_exit
from dashboard.health.record import Reason, State, born
from dashboard.registry import words
from tests.dashboard.registry.world import NOW, listener, shop

MATCHED = "port: 3000\nmatch: {cwd: /src/shop}\n"
STRANGER = listener(3000, "/src/other", exe="ruby", pid=4711)

# state, reason, what health says of it, what a person reads
PAIRS = [
    ("unknown", "new", "", "not asked yet"),
    ("unknown", "paused", "paused", "paused in its file"),
    ("unknown", "no-probe", "", "its file asks for no probe"),
    ("unknown", "resumed", "no result since sleep", "no result since sleep"),
    ("starting", "spawned", "", "started; no answer yet"),
    ("starting", "listener-seen", "", "listens; no answer yet"),
    ("starting", "restarting", "", "started again; no answer yet"),
    ("starting", "backoff", "exited with 1; starts again in 4 s",
     "exited with 1; starts again in 4 s"),
    ("up", "ok", "", ""),
    ("up", "ok", "answers 404", "answers 404"),
    ("up", "resumed", "", "asked again after the machine slept"),
    ("up", "redirect", "answers 302", "answers 302"),
    ("up", "auth-required", "answers 401", "answers 401"),
    ("degraded", "http-5xx", "answers 500", "answers 500"),
    ("degraded", "slow", "answers in 4.0 s; slow is over 3 s",
     "answers in 4.0 s; slow is over 3 s"),
    ("degraded", "body-mismatch", "the body differs", "the body differs"),
    ("degraded", "status-mismatch", "answers 204", "answers 204"),
    ("degraded", "tls", "TLS failed: expired", "TLS failed: expired"),
    ("degraded", "not-http", "speaks no HTTP", "speaks no HTTP"),
    ("down", "refused", "connection refused", "connection refused"),
    ("down", "timeout", "no connection within 2 s", "no connection within 2 s"),
    ("down", "dns", "x.test was not resolved in 5 s", "x.test was not resolved in 5 s"),
    ("down", "no-listener", "connection refused", "nothing listens on its port"),
    ("down", "no-listener", "not running", "nothing listens on its port"),
    ("down", "gateway", "answers 502: nothing behind the gateway",
     "answers 502: nothing behind the gateway"),
    ("down", "exited", "exited with 3", "exited with 3"),
    ("down", "crash-loop", "keeps exiting with code 1", "keeps exiting with code 1"),
    ("down", "wrong-process", "another process listens on its port",
     "port 3000 is held by ruby (pid 4711, /src/other)"),
    ("down", "start-timeout", "no answer within 60 s of the start",
     "no answer within 60 s of the start"),
    ("stopped", "user", "", "stopped by you"),
    ("stopped", "user", "connection refused", "stopped by you"),
    ("stopped", "not-running", "connection refused", "not running"),
    ("stopped", "not-running", "nothing listens on its port", "not running"),
    ("stopped", "exited", "exited with 0", "exited with 0"),
    ("stopping", "user", "", "being stopped"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "reason", "said", "read"), PAIRS)
def test_a_state_and_its_reason_read_well(state: str, reason: str, said: str, read: str):
    app = shop(MATCHED, STRANGER) if reason == "wrong-process" else shop(MATCHED)
    record = replace(born(NOW, app.policy), state=State(state), reason=Reason(reason), message=said)

    assert words.message(app, record) == read


def test_every_state_and_reason_is_among_them():
    assert {state for state, *_ in PAIRS} == {state.value for state in State}
    elsewhere = {Reason.INVALID_FILE.value}  # names the file and the line: test_records
    assert {reason for _, reason, *_ in PAIRS} | elsewhere == {reason.value for reason in Reason}


@pytest.mark.parametrize(
    ("code", "read"),
    [
        (0, "exited with 0"),
        (3, "exited with 3"),
        (137, "ended by SIGKILL"),
        (-15, "ended by SIGTERM"),
        (255, "exited with 255"),
        (None, "ended; nobody saw how"),
    ],
)
def test_how_a_process_ended_is_told_by_the_name_of_its_signal(code: int | None, read: str):
    assert describe_exit(code) == read
