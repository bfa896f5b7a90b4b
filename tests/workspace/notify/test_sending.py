"""One message to one channel: what it gets, and what is said when it does not take it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.service import until
from tests.stubs.receiver import Receiver, receiving
from workspace.access import reach
from workspace.notify import sending, setting
from workspace.notify.setting import Channel

MESSAGE: dict[str, Any] = {
    "id": "1", "event": "failed", "title": "Trigger nightly failed", "text": "it broke",
    "url": "http://localhost:8000/runs", "at": "2026-03-29T00:30:00.000Z", "count": 1, "node": "",
}  # fmt: skip
ALL = ["failed"]


def channel(**entry: Any) -> Channel:
    found = setting.read([{"events": ALL, **entry}])
    assert not found.bad
    return found.channels[0]


def python(code: str, *args: str, **entry: Any) -> Channel:
    return channel(command=[sys.executable, "-c", code, *args], **entry)


def test_a_command_gets_the_message_on_its_input_and_its_words_as_they_are(tmp_path):
    got = tmp_path / "got"
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read() + sys.argv[2])"

    assert sending.send(python(code, str(got), "$(touch x); a b"), MESSAGE) == ""

    text, words = got.read_text().split("\n")
    assert (json.loads(text), words) == (MESSAGE, "$(touch x); a b")


def test_a_command_sees_nothing_of_the_services_environment_but_what_it_names(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("DESK_KEY", "mine")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    got = tmp_path / "got"
    code = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"

    assert sending.send(python(code, str(got), env=["DESK_KEY"]), MESSAGE) == ""

    seen = json.loads(got.read_text())
    assert seen["DESK_KEY"] == "mine"
    assert {name for name in seen if name.startswith(("SVC_", "ANTHROPIC_"))} == set()


def test_a_command_that_fails_is_told_by_its_code_and_its_last_words():
    why = sending.send(python("import sys; print('no desktop', file=sys.stderr); exit(3)"), MESSAGE)

    assert why == "exit code 3: no desktop"


def test_a_program_that_is_not_there_is_named():
    why = sending.send(channel(command=["/nowhere/notify-me"]), MESSAGE)

    assert why == "/nowhere/notify-me cannot be started: No such file or directory"


def test_a_command_without_an_end_is_killed_with_all_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "COMMAND_S", 1.0)
    left = tmp_path / "pid"
    code = f"sleep 600 & echo $! > {left}; sleep 600"

    began = time.monotonic()
    why = sending.send(channel(command=["bash", "-c", code]), MESSAGE)

    assert why == "bash did not end within 1 s"
    assert time.monotonic() - began < 10
    until(lambda: gone(int(left.read_text())), what="killed")


def test_what_a_command_leaves_behind_goes_with_it(tmp_path):
    left = tmp_path / "pid"

    assert (
        sending.send(channel(command=["bash", "-c", f"sleep 600 & echo $! > {left}"]), MESSAGE)
        == ""
    )

    until(lambda: gone(int(left.read_text())), what="killed")


def gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_url_gets_the_message_as_json_with_the_headers_of_the_environment(
    receiver: Receiver, monkeypatch
):
    monkeypatch.setenv("HOOK_TOKEN", "s3cret-token")
    headers = {"Authorization": "Bearer env:HOOK_TOKEN"}

    assert sending.send(channel(url=f"{receiver.url}/hook", headers=headers), MESSAGE) == ""

    assert receiver.got == [MESSAGE]
    assert receiver.headers[0]["authorization"] == "Bearer s3cret-token"
    assert receiver.headers[0]["content-type"] == "application/json"


def test_an_address_may_stand_in_a_variable(receiver: Receiver, monkeypatch):
    hook = channel(url="env:HOOK_URL")
    missing = "it needs the variable HOOK_URL, which the service does not have"
    assert sending.send(hook, MESSAGE) == missing
    monkeypatch.setenv("HOOK_URL", "gopher://x")
    assert sending.send(hook, MESSAGE).startswith("HOOK_URL: must be one http or https URL")

    monkeypatch.setenv("HOOK_URL", receiver.url)

    assert sending.send(hook, MESSAGE) == ""


def test_a_refusal_of_a_url_is_told_without_the_secret_in_its_path(receiver: Receiver):
    receiver.status = 500

    why = sending.send(channel(url=f"{receiver.url}/hooks/s3cret-path"), MESSAGE)

    assert why == "it answered 500"


def test_a_redirect_is_not_followed(receiver: Receiver):
    with receiving() as other:
        receiver.status, receiver.location = 307, other.url

        why = sending.send(channel(url=receiver.url), MESSAGE)

        assert why == "it redirects (307), which is not followed: write where it leads"
        assert other.asked == 0


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]"])
def test_the_addresses_that_nothing_of_the_service_reaches_are_refused_here_too(host):
    why = sending.send(channel(url=f"http://{host}/latest"), MESSAGE)

    assert "nothing is sent there" in why


def test_the_service_itself_is_no_channel(monkeypatch):
    monkeypatch.setattr(reach, "own_ports", lambda: {8123: "main"})

    why = sending.send(channel(url="http://localhost:8123/api/pause"), MESSAGE)

    assert why == "localhost:8123 is this service: nothing is sent there"


def test_a_receiver_that_says_nothing_is_given_up(receiver: Receiver, monkeypatch):
    monkeypatch.setattr(sending, "URL_S", 0.5)
    receiver.free.clear()

    assert sending.send(channel(url=receiver.url), MESSAGE) == "no answer within 0 s"


def test_a_url_where_nobody_listens_is_told():
    why = sending.send(channel(url="http://127.0.0.1:9"), MESSAGE)

    assert why.startswith("no connection: ")


def test_apprise_that_is_not_installed_is_told_with_what_installs_it(monkeypatch):
    monkeypatch.setattr(sending, "has_apprise", lambda: False)

    assert sending.send(channel(apprise="ntfy://topic"), MESSAGE) == sending.NOT_INSTALLED


def test_apprise_takes_its_address_and_the_message_on_its_input(tmp_path, monkeypatch):
    """A library of the same surface: what the real one does with it is its own."""
    (tmp_path / "apprise.py").write_text(
        "import json\n"
        "class Apprise:\n"
        "    def add(self, address):\n"
        "        self.address = address\n"
        "        return address.startswith('ntfy://')\n"
        "    def notify(self, **given):\n"
        f"        open({str(tmp_path / 'got')!r}, 'w').write(json.dumps([self.address, given]))\n"
        "        return given['title'] != 'refused'\n"
    )
    monkeypatch.setenv("PHONE", "ntfy://s3cret-topic")
    monkeypatch.setattr(sending, "has_apprise", lambda: True)
    monkeypatch.setattr(sending, "PASSED", (*sending.PASSED, "PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    phone = channel(apprise="env:PHONE")

    assert sending.send(phone, MESSAGE) == ""

    address, given = json.loads((tmp_path / "got").read_text())
    assert (address, given["title"]) == ("ntfy://s3cret-topic", "Trigger nightly failed")
    assert given["body"] == "it broke\nhttp://localhost:8000/runs"
    assert sending.send(phone, {**MESSAGE, "title": "refused"}) == "exit code 1"
    monkeypatch.setenv("PHONE", "nosuch://s3cret-topic")
    assert sending.send(phone, MESSAGE) == "exit code 1: Apprise knows no service at this address"


def test_the_real_apprise_sends_json_to_a_stub(receiver: Receiver, tmp_path):
    pytest.importorskip("apprise", reason="needs make apprise")
    address = receiver.url.replace("http://", "json://")

    assert sending.send(channel(apprise=address), MESSAGE) == ""

    assert receiver.got[0]["title"] == "Trigger nightly failed"


def test_a_message_of_a_command_lies_in_no_file_that_others_see(tmp_path):
    """Standard input is a file without a name."""
    code = "import os, sys; open(sys.argv[1], 'w').write(os.readlink('/proc/self/fd/0'))"
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")

    assert sending.send(python(code, str(tmp_path / "got")), MESSAGE) == ""

    assert (tmp_path / "got").read_text().endswith("(deleted)")
