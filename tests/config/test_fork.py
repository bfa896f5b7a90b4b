"""A forked child is a process of its own: its signals, its descriptors, its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service import ROOT, Service, until

START = """
import atexit, os, signal, socket, sys, time
from config.options import OptionError
from config.process import fork
"""


def output(code: str) -> subprocess.CompletedProcess[str]:
    """What a program prints and how it ends."""
    command = [sys.executable, "-c", START + code]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_signal_ends_a_child_however_early_and_reaches_its_parent_never():
    code = """
told, heard = socket.socketpair()
for end in (told, heard):
    end.setblocking(False)
signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
signal.signal(signal.SIGTERM, lambda *_: None)
codes = []
for _ in range(100):
    child = fork.start("child", signal.pause)
    os.kill(child.pid, signal.SIGTERM)
    child.join(10)
    codes.append(child.exitcode)
try:
    said = set(heard.recv(4096)) - {signal.SIGCHLD}
except BlockingIOError:
    said = set()
print(set(codes), said)
"""
    assert output(code).stdout == "{-15} set()\n"


def test_a_child_ends_as_a_program_does_with_the_code_of_what_it_ran():
    code = """
atexit.register(lambda: os.write(1, b"settled "))
def refused():
    raise OptionError("as asked")
def exits():
    sys.exit(7)
def raises():
    raise ValueError
for run in (int, refused, exits, raises):
    child = fork.start("child", run)
    child.join(20)
    os.write(1, b"%d\\n" % child.exitcode)
os._exit(0)
"""
    done = output(code)

    assert done.stdout.splitlines() == ["settled 0", "settled 2", "settled 7", "settled 1"]
    assert "not starting: as asked\n" in done.stderr


def test_a_child_reads_nothing_writes_where_it_is_told_and_leads_a_session():
    code = """
got, into = os.pipe()
def run():
    print(sys.stdin.read(), os.read(0, 10), os.getsid(0) == os.getpid(), flush=True)
    print("to stderr", file=sys.stderr)
child = fork.start("child", run, lambda: os.close(got), into)
os.close(into)
child.join(20)
print("child:", os.read(got, 4096).decode())
"""
    done = output(code)

    assert done.stdout.split() == ["child:", "b''", "True", "to", "stderr"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what a process has open, on Linux")
def test_server_and_qcluster_hold_nothing_of_each_other(tmp_path: Path):
    with Service(tmp_path) as running:
        children = {one.name(): one.pid for one in running.family()[0].children()}
        server, qcluster = children["svc-server"], children["svc-qcluster"]

        assert output_of(server) not in opened(qcluster)
        assert output_of(qcluster) not in opened(server)


def output_of(pid: int) -> str:
    """The pipe that its stdout and stderr lead to."""
    out, err = (os.readlink(f"/proc/{pid}/fd/{number}") for number in (1, 2))  # noqa: PTH115
    assert out == err
    return out


def opened(pid: int) -> set[str]:
    """What its descriptors lead to."""
    found = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.add(str(one.readlink()))
    return found


LOADING = """
import os, random, secrets, sys, time, uuid
asked = set()

def watched(module, name):
    real = getattr(module, name)
    def watching(*args, **kwargs):
        frame = sys._getframe(1)
        while frame is not None:
            path = frame.f_code.co_filename.removeprefix(os.getcwd() + "/")
            if path.split("/")[0] in ("config", "workspace", "review", "dashboard"):
                asked.add(path)
                break
            frame = frame.f_back
        return real(*args, **kwargs)
    setattr(module, name, watching)

for module, names in (
    (time, "time time_ns monotonic monotonic_ns perf_counter"),
    (secrets, "token_hex token_bytes token_urlsafe"), (random, "random getrandbits randrange"),
    (uuid, "uuid1 uuid4"), (os, "getpid urandom"),
):
    for name in names.split():
        watched(module, name)

import django
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()
from django.conf import settings
from django.utils.module_loading import import_string
from config.web.http import serving
serving.load_all()
import_string(settings.SVC_SCHEDULER[0])()
print(len(os.listdir("/proc/self/task")), *asked)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="what threads there are, on Linux")
def test_what_is_loaded_before_the_fork_runs_no_thread_and_is_no_run_s_own(
    stopped_service: Service,
):
    stopped_service._use_template()

    command = [sys.executable, "-c", LOADING]
    done = subprocess.run(
        command, cwd=ROOT, env=stopped_service.env, capture_output=True, text=True, check=True
    )

    excused = {
        "config/logs.py": "a record names its process",
        "config/secret.py": "makes a file, once",
        "config/web/events.py": "begins anew in each fork",
        "dashboard/events.py": "begins anew in each fork",
    }
    threads, *asked = done.stdout.split()
    assert threads == "1"
    assert "dashboard/events.py" in asked
    assert set(asked) - excused.keys() == set()


@pytest.mark.slow
def test_a_server_that_is_started_again_is_another_run(stopped_service: Service):
    with stopped_service as running:
        first = runs(running)
        os.kill(running.pid, signal.SIGKILL)
        until(lambda: running.facts().get("pid") not in (None, first["pid"]), seconds=20)
        until(running._healthy)
        second = runs(running)

    assert [name for name in first if first[name] == second[name]] == []
    assert second["main"] > first["main"]  # so that no event has an id of the former run


def runs(running: Service) -> dict[str, Any]:
    """What each part tells of the run that answers; review tells no more than an id."""
    said: dict[str, Any] = {
        "main": json.loads(first_of(running.http, running.url, "data: "))["boot"],
        "review": first_of(running.http, running.review_url, "id: "),
        "dashboard": json.loads(first_of(running.http, running.dashboard_url, "data: "))["boot"],
    }
    said["etag"] = running.http.get(f"{running.dashboard_url}/api/state").headers["etag"]
    return said | {"pid": running.pid}


def first_of(http: httpx.Client, url: str, kind: str) -> str:
    """The first line of its stream that begins so."""
    with http.stream("GET", f"{url}/api/events") as stream:
        return next(
            line.removeprefix(kind) for line in stream.iter_lines() if line.startswith(kind)
        )
