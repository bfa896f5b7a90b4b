"""The environment of a service is the user's, never the server's: case D45."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dashboard.services import dotenv, environment
from dashboard.services.definition import Service
from tests.dashboard.services.world import Scene, log_of


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A login shell of the user's whose start file a test writes."""
    path = tmp_path / "shell"
    monkeypatch.setenv("SHELL", str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return path


def starts_with(shell: Path, profile: str) -> None:
    shell.write_text(f'#!/bin/sh\n[ "$1" = -lc ] || exit 9\n{profile}\neval "$2"\n')
    shell.chmod(shell.stat().st_mode | stat.S_IXUSR)


def test_the_login_shell_is_asked_with_nothing_of_the_servers(
    shell: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "RUN_MAIN", "VIRTUAL_ENV", "SECRET_X"):
        monkeypatch.setenv(name, "the server's")
    starts_with(shell, 'PATH="$HOME/tools:$PATH"; export EDITOR=vi SVC_PORT=1 MANY="a\nb=c"')

    told = environment.login()

    assert told.problem is None
    assert told.variables["EDITOR"] == "vi"
    assert told.variables["MANY"] == "a\nb=c"
    assert told.variables["PATH"].startswith(f"{shell.parent}/tools:")
    assert not [value for value in told.variables.values() if value == "the server's"]
    assert set(told.variables) == {
        "HOME", "SHELL", "LANG", "USER", "LOGNAME", "PATH", "EDITOR", "MANY"
    }  # fmt: skip


def test_the_path_has_not_the_python_the_server_runs_in(
    shell: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VIRTUAL_ENV", "/srv/env")
    monkeypatch.setenv("PATH", "/srv/env/bin:/usr/bin:/bin")
    starts_with(shell, "")

    assert environment.login().variables["PATH"] == "/usr/bin:/bin"


def test_noise_and_processes_of_a_start_file_do_no_harm(shell: Path):
    starts_with(shell, "echo Welcome; printf no-newline; sleep 3 & export A=1")

    told = environment.login()

    assert (told.problem, told.variables["A"]) == (None, "1")


@pytest.mark.parametrize(
    ("profile", "limit", "why"),
    [
        ("sleep 60", 0.5, "did not answer in time"),
        ("exec true", 20, "printed no environment"),
        ("exec cat /dev/zero", 20, "wrote more than 4 MiB"),
    ],
)
def test_a_start_file_that_fails_leaves_the_basics(
    shell: Path, profile: str, limit: float, why: str
):
    starts_with(shell, profile)

    told = environment.login(limit=limit)

    assert why in (told.problem or "")
    assert set(told.variables) == {"HOME", "SHELL", "LANG", "USER", "LOGNAME", "PATH"}


def test_a_shell_that_is_not_there_leaves_the_basics(shell: Path):
    told = environment.login()

    assert "No such file" in (told.problem or "")
    assert told.variables["PATH"]


def test_it_is_asked_once_until_it_is_forgotten(shell: Path):
    starts_with(shell, "echo asked >&3; export N=$(wc -c <$HOME/n 2>/dev/null)")
    (shell.parent / "n").write_text("1")
    login = environment.LoginOnce()

    first = login()["N"]
    (shell.parent / "n").write_text("22")
    second = login()["N"]
    login.forget()

    assert (first, second, login()["N"]) == ("1", "1", "2")


def test_one_that_could_not_be_asked_is_asked_again_after_a_minute(
    shell: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    now = 0.0
    login = environment.LoginOnce(lambda: now)
    monkeypatch.setenv("SHELL", str(tmp_path / "none"))
    assert "N" not in login()
    monkeypatch.setenv("SHELL", str(shell))
    starts_with(shell, "export N=1")

    now = 59.0
    assert "N" not in login()
    now = 60.0
    assert login()["N"] == "1"


def test_each_layer_wins_over_the_one_before(tmp_path: Path):
    file = tmp_path / "env"
    file.write_text("A=file\nB=file\nC=file\nSVC_DATA_DIR=/x\n")
    service = Service(
        "true",
        env={"B": "own", "C": "$HOME", "D": "${A}", "E": "a $HOME", "F": "$HOME/x y"},
        env_file=file,
        port=3000,
    )

    login = {"A": "login", "HOME": "/me", "SVC_PORT": "ours", "SHLVL": "1"}
    made = environment.compose(login, service, slug="shop", run="r")

    assert made == {
        "A": "file", "B": "own", "C": "/me", "D": "file", "E": "a $HOME", "F": "/me/x y",
        "HOME": "/me", "SVC_DATA_DIR": "/x",
        "PORT": "3000", "SVC_APP": "shop", "SVC_RUN": "r",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("env", "port"), [({}, "3000"), ({"PORT": "4000"}, "4000"), ({"PORT": ""}, None)]
)
def test_the_port_of_an_app_is_its_port_variable_unless_env_names_one(
    env: dict[str, str], port: str | None
):
    login = {"PORT": "1"}

    made = environment.compose(login, Service("true", env=env, port=3000), slug="shop", run="r")

    assert made.get("PORT") == port


def test_an_environment_file_is_read_as_people_write_it():
    text = (
        '# comment\n\nA=1\nexport B = two words # why\nC=\'$x # \\n\'\nD="a\\nb \\"q\\" \\$" # c\n'
        "E=\nF=a#b\r\nG='' \nH= # nothing\n"
    )

    assert dotenv.parse(text) == {
        "A": "1", "B": "two words", "C": "$x # \\n", "D": 'a\nb "q" $', "E": "", "F": "a#b",
        "G": "", "H": "",
    }  # fmt: skip


@pytest.mark.parametrize("line", ["no equals", "1A=x", "A-B=x", "A='open", 'A="open', "A='a' b"])
def test_a_line_that_is_none_is_named(line: str):
    with pytest.raises(dotenv.Unreadable, match="line 2 is not NAME=value"):
        dotenv.parse(f"A=1\n{line}\n")


def test_an_environment_file_that_cannot_be_read_is_named(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").write_bytes(b"A=" + b"x" * 300_000)
    (tmp_path / "bytes").write_bytes(b"A=\xff")
    said = {}

    for name in ("missing", "huge", "bytes", "pipe"):
        with pytest.raises(dotenv.Unreadable) as refused:
            dotenv.read(tmp_path / name)
        said[name] = str(refused.value)

    assert "No such file" in said["missing"]
    assert "larger than 256 KiB" in said["huge"]
    assert "not UTF-8" in said["bytes"]
    assert "not a regular file" in said["pipe"]


async def test_a_service_sees_its_own_variables_and_none_of_the_servers(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    for name in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "RUN_MAIN", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "the server's")
    await scene.begin(shop=Service("env; exit 1", port=1, env={"svc_run": "mine", "A": "1"}))

    await scene.supervisor.act("shop", "start")
    seen = dict(line.split("=", 1) for line in log_of().splitlines())

    assert seen.pop("PWD") == str(scene.data)
    seen.pop("LC_CTYPE", None)  # Python's own, where it was started without a locale
    assert seen == {
        "PATH": os.environ["PATH"], "HOME": str(scene.data), "PORT": "1", "A": "1",
        "svc_run": "mine", "SVC_APP": "shop", "SVC_RUN": scene.record().run,
    }  # fmt: skip


async def test_no_file_of_the_server_is_open_in_a_service(scene: Scene, tmp_path: Path):
    with (tmp_path / "lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        await scene.begin(shop=Service("ls -l /proc/self/fd; exit 1"))

        await scene.supervisor.act("shop", "start")

    opened = [line.split(" -> ")[1] for line in log_of().splitlines() if " -> " in line]
    assert len(opened) == 4
    assert opened[0] == "/dev/null"
    assert opened[1] == opened[2] == str(scene.data / "dashboard/logs/shop/current")
    assert opened[3].startswith("/proc/")
