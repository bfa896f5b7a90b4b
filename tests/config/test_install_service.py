"""`manage.py install-service`: what it writes, and what a real user manager makes of it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from config.errors import Conflict, Invalid
from config.process import units
from config.process.units import Job
from tests.config import user_manager
from tests.config.user_manager import UserManager
from tests.dashboard.served import Served
from tests.service import QUIET, ROOT, Service, until

TELLING = """#!/bin/sh
printf "%s\\n" "$PWD" "$1" "$SVC_DATA_DIR" "$TOKEN" "$PATH" > "$SVC_DATA_DIR/told"
"""
ODD_PROGRAM = "a %h =b ü"  # systemd allows no more in the path of a program
ODD = "a %h b$HOME \"c\" 'd' \\e [x]* ü"


def job(base: Path, *, name: str = "svc") -> Job:
    python = base.parent / ODD_PROGRAM / "python"
    return Job(name, base / "checkout", base / "data", python, f"{base}/bin:/bin")


@pytest.fixture
def command(stopped_service: Service) -> Service:
    """`run` calls manage.py with a HOME that holds no unit yet."""
    for name in ("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
        stopped_service.env.pop(name, None)  # the user manager of whoever runs this is not asked
    return stopped_service


def unit_of(service: Service, name: str = "svc") -> Path:
    return service.home / ".config" / "systemd" / "user" / f"{name}.service"


def test_print_writes_nothing_and_shows_the_unit_of_this_checkout(command: Service) -> None:
    done = command.run("install-service", "--print", "systemd")

    assert done.returncode == 0, done.stderr
    assert f'ExecStart="{sys.executable}" "{ROOT}/manage.py" "up"' in done.stdout
    assert f'Environment="SVC_DATA_DIR={command.data}"' in done.stdout
    assert "KillMode=process" in done.stdout
    assert not unit_of(command).exists()


def test_the_job_of_launchd_leaves_apps_alone_and_reads_the_environment_file(
    command: Service,
) -> None:
    done = command.run("install-service", "--print", "launchd", "--name", "svc-work")

    made = plistlib.loads(done.stdout.encode())
    assert (made["Label"], made["AbandonProcessGroup"]) == ("dev.svc-work", True)
    assert made["EnvironmentVariables"]["SVC_DATA_DIR"] == str(command.data)
    shell, *rest = made["ProgramArguments"]
    assert rest[-1] == f"{command.data}/service.env"
    assert shell == "/bin/sh"


def test_the_shell_of_launchds_job_hands_the_file_on_and_becomes_the_service(
    tmp_path: Path,
) -> None:
    base = tmp_path / ODD
    made = job(base)
    for folder in (made.data_dir, made.python.parent, made.checkout):
        folder.mkdir(parents=True)
    made.environment.write_text("SVC_TOKEN_CI=secret\n")
    made.python.write_text('#!/bin/sh\nprintf "%s " "$SVC_TOKEN_CI" "$@"\n')
    made.python.chmod(0o700)

    argv = plistlib.loads(units.launchd(made).encode())["ProgramArguments"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)

    assert done.stdout == f"secret {made.checkout}/manage.py up "


@pytest.mark.parametrize("render", [units.systemd, units.launchd])
def test_what_somebody_else_wrote_or_changed_is_left_alone(tmp_path: Path, render) -> None:
    path, text = tmp_path / "units" / "svc.service", render(job(tmp_path))
    assert units.write(path, text)
    assert not units.write(path, text)
    assert units.write(path, render(job(tmp_path / "moved")))  # ours, of an earlier place

    for foreign in (
        "",
        "[Service]\nExecStart=/bin/true\n",
        text + "\n",
        text.replace("up", "down"),
    ):
        path.write_text(foreign)
        with pytest.raises(Conflict, match="left alone"):
            units.write(path, text)
        with pytest.raises(Conflict, match="left alone"):
            units.remove(path)
        assert path.read_text() == foreign


@pytest.mark.parametrize("render", [units.systemd, units.launchd])
def test_the_job_of_another_data_directory_is_left_alone_while_that_is_there(
    tmp_path: Path, render
) -> None:
    path, theirs = tmp_path / "units" / "svc.service", job(tmp_path / ODD)
    theirs.data_dir.mkdir(parents=True)
    units.write(path, render(theirs))

    with pytest.raises(Conflict, match="is the job of another data directory") as refused:
        units.write(path, render(job(tmp_path / "mine")))
    assert str(theirs.data_dir)[:100] in str(refused.value)
    moved = dataclasses.replace(theirs, checkout=tmp_path / "elsewhere")
    assert units.write(path, render(moved))
    theirs.data_dir.rmdir()
    assert units.write(path, render(job(tmp_path / "mine")))


def test_a_refusal_is_a_sentence_and_exit_code_2(command: Service) -> None:
    unit = unit_of(command)
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\n")

    for way in ([], ["--remove"]):
        done = command.run("install-service", *way)
        assert done.returncode == 2
        assert f"{unit} was not written by manage.py install-service" in done.stderr
    assert unit.read_text() == "[Service]\n"

    theirs = units.systemd(dataclasses.replace(job(command.home), data_dir=command.home))
    unit.write_text(theirs)
    done = command.run("install-service", "--remove")
    assert (done.returncode, f"another data directory, {command.home}," in done.stderr) == (2, True)
    assert unit.read_text() == theirs


@pytest.mark.parametrize("name", ["", "-x", "a/b", "../x", "ä", "x" * 65, "a b", "a\n"])
def test_a_name_that_is_no_unit_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="name: "):
        units.here(name, ROOT, tmp_path, os.environ)


@pytest.mark.parametrize("place", ["checkout", "data", "path"])
def test_no_line_can_be_slipped_into_the_job(tmp_path: Path, place: str) -> None:
    bad = "/x\nExecStartPre=/bin/false"
    given = {"checkout": str(ROOT), "data": str(tmp_path), "path": "/bin"} | {place: bad}

    with pytest.raises(Invalid, match="control characters"):
        units.here("svc", Path(given["checkout"]), Path(given["data"]), {"PATH": given["path"]})


def test_settings_that_the_job_would_not_know_are_named_without_their_values(
    command: Service,
) -> None:
    if shutil.which("systemctl") is None:
        pytest.skip("no systemctl on this machine")
    command.env["SVC_TOKEN_CI"] = "svc_desk_0123456789abcdef"

    done = command.run("install-service")

    assert done.returncode == 0, done.stderr
    assert "SVC_TOKEN_CI" in done.stdout
    assert "0123456789abcdef" not in done.stdout + unit_of(command).read_text()
    assert f"{command.data}/service.env" in done.stdout
    assert "systemctl --user start svc" in done.stdout


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine")
    base = tmp_path / ODD
    made = job(base)
    (made.checkout).mkdir(parents=True)
    made.python.parent.mkdir(parents=True)
    made.python.symlink_to(sys.executable)
    unit = tmp_path / "svc.service"
    unit.write_text(units.systemd(made))

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", unit],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")


@user_manager.needed
def test_systemd_reads_odd_names_as_they_are(tmp_path: Path) -> None:
    made = job(tmp_path / ODD)
    (made.checkout).mkdir(parents=True)
    made.data_dir.mkdir()
    made.python.parent.mkdir(parents=True)
    made.python.write_text(TELLING)
    made.python.chmod(0o700)
    made.environment.write_text("TOKEN=secret\n")
    units.write(tmp_path / "home/.config/systemd/user/svc.service", units.systemd(made))

    with UserManager(tmp_path / "home", os.environ) as manager:
        manager.systemctl("start", "svc")
        told = until(lambda: (made.data_dir / "told").exists() and
                     (made.data_dir / "told").read_text().splitlines(), what="it ran")  # fmt: skip

    assert told == [str(made.checkout), f"{made.checkout}/manage.py", str(made.data_dir),
                    "secret", made.path]  # fmt: skip


def test_a_program_that_systemd_cannot_name_is_refused(tmp_path: Path) -> None:
    made = dataclasses.replace(job(tmp_path), python=tmp_path / 'a "b"' / "python")

    with pytest.raises(Invalid, match="quotes"):
        units.systemd(made)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A dashboard that is started by somebody else."""
    made = Served(tmp_path, dashboard=QUIET)
    yield made
    made.api.close()
    made.http.close()


@pytest.mark.slow
@user_manager.needed
@pytest.mark.timeout(180)
def test_apps_live_on_while_systemd_restarts_kills_and_stops_the_service(served: Served) -> None:
    served.declare("stays", f"service: {{command: exec sleep 600, cwd: {served.data}}}\n")
    served._settle_dashboard()
    served._use_template()
    settings = {name: value for name, value in served.env.items() if name.startswith("SVC_")}
    environ = {"SVC_DATA_DIR": settings.pop("SVC_DATA_DIR"), "PATH": served.env["PATH"]}
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (served.data / "service.env").write_text("".join(lines))

    with UserManager(served.home, environ) as manager:
        assert "wrote " in manager.manage("install-service")
        assert manager.systemctl("is-enabled", "svc") == "enabled"
        manager.systemctl("start", "svc")
        until(lambda: status(served) is not None, seconds=40, what="the dashboard answers")
        assert served.act("stays", "start")["ok"]
        app = until(lambda: [*filter(partial(mine, served), psutil.process_iter())])[0]

        goes_on(served, app, lambda: manager.systemctl("restart", "svc"))
        main = manager.systemctl("show", "svc", "--property=MainPID", "--value")
        goes_on(served, app, lambda: manager.run("kill", "-KILL", main))
        manager.systemctl("stop", "svc")

        assert manager.systemctl("show", "svc", "--property=Result", "--value") == "success"
        assert not served.facts()
        assert "removed " in manager.manage("install-service", "--remove")
        assert not unit_of(served).exists()
        assert app.is_running()


def goes_on(served: Served, app: psutil.Process, interrupt: Callable[[], object]) -> None:
    """Another server comes up after the interruption, and knows the app that lived on."""
    before = served.facts()["pid"]
    interrupt()
    until(lambda: served.facts().get("pid", before) != before, seconds=40, what="another server")
    until(lambda: status(served) == "running", seconds=30, what="the app is known")
    assert app.is_running()


def status(served: Served) -> str | None:
    with contextlib.suppress(httpx.HTTPError):
        if service := served.app("stays").get("service"):
            return str(service["status"])
    return None  # not up yet, or up and its dashboard is not


def mine(served: Served, process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.cmdline() == ["sleep", "600"] and process.cwd() == str(served.data)
    return False
