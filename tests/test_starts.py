"""The marks of tests that start a process, and what becomes of one that hides it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from config.git import command
from tests import service, starts
from tests.promises.rings import SLOW
from tests.review.repos import Repo
from tests.service import ROOT, Service, stores, until

FORK = get_context("fork")
HIDDEN = """
def test_that_hides_what_it_starts():
    getattr(__import__("sub" + "process"), "run")(["true"])
"""
WAITS = """
import os, subprocess, pytest
@pytest.fixture
def child():
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child
        child.kill()
def test_that_waits(child):
    with open("pid", "w") as file:
        file.write(str(child.pid))
    os.rename("pid", "child")
    child.wait()
"""


def directly() -> object:
    return subprocess.run(["true"], check=True)


def by_import() -> None:
    from subprocess import Popen  # noqa: F401


def inside() -> Callable[[], object]:
    return lambda: [directly()]


def by_product() -> None:
    command.run(Path(), "version")


def by_context() -> None:
    FORK.Process(target=print)


def by_class(tmp_path: Path) -> Repo:
    return Repo(tmp_path)


def by_service(tmp_path: Path) -> Service:
    return Service(tmp_path)


def by_stores() -> dict[str, str]:
    return stores()


def nothing() -> str:
    return str(subprocess.TimeoutExpired) + os.sep


@pytest.mark.parametrize(
    "one",
    [directly, by_import, inside, by_product, by_context, by_class, partial(by_class, Path())],
)
def test_who_names_what_starts_a_process_bears_the_mark(one: Callable[..., object]):
    assert starts.come_to([one])[id(one)] == {"process"}


def test_a_service_has_a_mark_of_its_own():
    assert starts.come_to([by_service])[id(by_service)] == {"process", "service", "database"}


def test_who_asks_for_stores_uses_a_database():
    assert "database" in starts.come_to([by_stores])[id(by_stores)]


def test_names_that_start_nothing_give_no_mark():
    assert starts.come_to([nothing])[id(nothing)] == set()


def nested(folder: Path, text: str, *more: str) -> subprocess.Popen[str]:
    """pytest, with what every test run here has, on one file."""
    (folder / "test_it.py").write_text(text)
    argv = [
        sys.executable, "-m", "pytest", "-q", "-p", "tests.isolation", "-p", "tests.starts",
        "-c", "/dev/null", "--rootdir", str(folder), "-p", "no:django", "test_it.py", *more,
    ]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def test_a_test_that_hides_what_it_starts_fails_and_says_so(tmp_path: Path):
    with nested(tmp_path, HIDDEN, "-m", starts.UNIT) as run:
        said = run.communicate(timeout=60)[0]

    assert run.returncode == 1
    assert "starts ['true'], which its code does not show" in said


def test_a_service_that_does_not_come_up_in_time_is_not_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(service, "START_S", 0.0)
    slow = Service(tmp_path, scheduler=False)

    with pytest.raises(AssertionError, match="healthy"), slow:
        pass

    assert slow.process is None


JOBS = {"one process": (), **({"a worker": ("-n", "1")} if SLOW else {})}


@pytest.mark.parametrize("jobs", JOBS.values(), ids=JOBS)
def test_a_run_that_is_ended_by_sigterm_ends_what_it_started(tmp_path: Path, jobs: tuple[str, ...]):
    with nested(tmp_path, WAITS, *jobs) as run:
        until((tmp_path / "child").exists, seconds=60)
        os.killpg(run.pid, signal.SIGTERM)  # as `timeout` and CI do
        run.communicate(timeout=60)

    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert not Path("/proc", (tmp_path / "child").read_text()).exists()
