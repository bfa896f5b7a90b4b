"""Programs that a person keeps in the home: hidden from turns until `engines.reads` shows them."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from config import options
from config.readers import OptionError
from tests.workspace.chats.turns.world import World, book, fence, only
from tests.workspace.engines.test_sandbox import inside
from workspace import doctor
from workspace.engines import select
from workspace.engines.sandbox import Sandbox
from workspace.engines.tools import unseen
from workspace.projects import folders

WORD = "#!/bin/sh\necho from the home, by ${RUSTUP_HOME:-nobody}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with a program of a tool's own folder in the PATH, and a secret."""
    home = tmp_path / "person"
    folder = home / ".rustup" / "bin"
    folder.mkdir(parents=True)
    (folder / "word").write_text(WORD)
    (folder / "word").chmod(0o755)
    (home / "secret").write_text("mine\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return home


def ran(tmp_path: Path, command: str, walls: Sandbox) -> dict[str, Any]:
    world = World(tmp_path / "world")
    return only(world.run(book(fence("Bash", command)), sandbox=walls), "tool_result")


@inside
def test_a_program_that_is_hidden_with_the_home_is_not_found_and_the_way_out_is_told(
    tmp_path: Path, home: Path
) -> None:
    result = ran(tmp_path, "word", Sandbox("bwrap", hide=(str(home),)))

    assert result["is_error"]
    assert result["text"].endswith(
        "[exit status 127]\n[of the PATH turns do not see ~/.rustup/bin, for your home is hidden "
        "from them: name what these programs need in engines.reads of svc.config.yaml, such as "
        "[~/.rustup]]"
    )


@inside
def test_what_is_shown_is_read_run_and_found_and_nothing_else_of_the_home(
    tmp_path: Path, home: Path
) -> None:
    walls = Sandbox("bwrap", hide=(str(home),), shown=(str(home / ".rustup"),))
    command = f"word; cat {home}/secret; touch {home}/.rustup/x; ls -A {home}"

    text = ran(tmp_path, command, walls)["text"]

    assert f"from the home, by {home}/.rustup\n" in text
    assert "secret: No such file or directory" in text
    assert "Read-only file system" in text
    assert text.endswith("\n.rustup")


@inside
def test_a_link_that_is_shown_is_followed_to_where_it_leads(
    tmp_path: Path, home: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".rustup").rename(home / "really")
    (home / ".rustup").symlink_to(home / "really")
    settings.DATA_DIR = settings.PROJECTS_DIR = tmp_path / "data"
    (tmp_path / "data" / "run").mkdir(parents=True)
    settings.SVC = options.load({"SVC_CONFIG": str(config(tmp_path, "[~/.rustup]"))})
    monkeypatch.setattr(select, "_confined", {})

    assert "from the home" in ran(tmp_path, "word", select.walls(list))["text"]


@pytest.fixture
def known_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home that the system knows while HOME names another one; elsewhere than in /tmp, which
    is hidden anyway."""
    with TemporaryDirectory(dir="/var/tmp") as made:
        live_in(monkeypatch, made)
        yield Path(made)


def live_in(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    me = pwd.getpwuid(os.getuid())
    known = pwd.struct_passwd((*me[:5], home, me.pw_shell))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: known)
    monkeypatch.setattr(select, "_confined", {})


@inside
def test_the_home_that_the_system_knows_is_hidden_where_the_service_has_another(
    tmp_path: Path, home: Path, known_home: Path, settings: Any
) -> None:
    settings.DATA_DIR = settings.PROJECTS_DIR = tmp_path / "data"
    (tmp_path / "data" / "run").mkdir(parents=True)
    (known_home / "secret").write_text("mine\n")
    (known_home / "bin").mkdir()
    (known_home / "bin" / "tool").symlink_to("/bin/echo")
    settings.SVC = options.load({"SVC_CONFIG": str(config(tmp_path, f"[{known_home}/bin]"))})
    command = f"ls {known_home}; ls {home}; {known_home}/bin/tool hello"

    said = ran(tmp_path, command, select.walls(list))["text"]

    assert said.split() == ["bin", "hello"]


def test_that_home_is_no_folder_to_read_and_no_place_for_a_project(
    tmp_path: Path, home: Path, known_home: Path
) -> None:
    with pytest.raises(OptionError, match="folders within your home, not all of it"):
        options.load({"SVC_CONFIG": str(config(tmp_path, f"[{known_home}]"))})
    assert folders.Wall.now().refusal(known_home) == folders.A_HOME
    assert folders.Wall.now().refusal(known_home.parent) == folders.HOLDS_HOME


@pytest.mark.parametrize("system", ["/usr/sbin", "/dev"])
def test_a_home_that_commands_need_is_not_hidden(
    home: Path, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_in(monkeypatch, system)

    assert system not in select.hidden()


def test_what_lies_where_agents_work_is_not_shown_for_a_turn_may_make_a_link_of_it(
    tmp_path: Path, home: Path, settings: Any
) -> None:
    app = home / "app"
    (app / "venv" / "bin").mkdir(parents=True)
    (home / "also").symlink_to(app)
    reads = "[~/app/venv/bin, ~/also/venv, ~/.rustup]"
    settings.SVC = options.load({"SVC_CONFIG": str(config(tmp_path, reads))})
    (app / "venv").rename(app / "away")
    (app / "venv").symlink_to(home)  # by a turn

    assert select.unshown(lambda: [app]) == [app / "venv" / "bin", home / "also" / "venv"]
    assert set(select.walls(lambda: [app]).shown) == {str(home / ".rustup")}


def test_what_is_reached_by_a_link_where_agents_work_is_not_shown_either(
    tmp_path: Path, home: Path, settings: Any
) -> None:
    settings.DATA_DIR, settings.PROJECTS_DIR = tmp_path / "data", tmp_path / "projects"
    for place in (app := home / "app", project := settings.PROJECTS_DIR / "demo", home / "bin"):
        place.mkdir(parents=True)
    (home / "tools").symlink_to("app/tools")
    (app / "tools").symlink_to("../.rustup")  # a turn may lead it elsewhere
    (home / "more").symlink_to(home / "bin/../more-still")
    (home / "more-still").symlink_to(project / "tools")
    (project / "tools").symlink_to(home / ".rustup")
    (home / "round").symlink_to("round")
    (home / "fine").symlink_to("bin/../.rustup")
    reads = "[~/tools, ~/more/bin, ~/round, ~/fine]"
    settings.SVC = options.load({"SVC_CONFIG": str(config(tmp_path, reads))})

    assert select.unshown(lambda: [app]) == [home / "tools", home / "more/bin"]


def test_the_doctor_says_which_folders_of_the_path_turns_do_not_see(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cargo, script = home / ".cargo" / "bin", home / "bin"
    for folder in (cargo, script):
        folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{cargo}:{script}:/usr/bin:/not/there")
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("bwrap", hide=(str(home),)))

    hints = [one.text for one in doctor.engines() if one.subject == "sandbox"]

    assert hints[1].startswith("of the PATH turns do not see ~/.cargo/bin, ~/bin, for your home")
    assert hints[1].endswith("such as [~/.cargo/bin, ~/.rustup, ~/bin]")


def test_without_a_sandbox_or_with_all_shown_there_is_nothing_to_say(home: Path) -> None:
    hide, shown = (str(home),), (str(home / ".rustup"),)
    assert unseen.advice(Sandbox("off", hide=hide)) is None
    assert unseen.advice(Sandbox("bwrap", hide=hide, shown=shown)) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ('["~"]', "folders within your home, not all of it"),
        ("[/]", "folders within your home, not all of it"),
        ("[tools]", "absolute paths, or such that begin with ~/"),
        ("[~/.svc]", "folders apart from the data of the service"),
        ("[~/.svc/projects/x]", "folders apart from the data of the service"),
        ("{a: b}", "a list, or comma-separated text"),
    ],
)
def test_what_would_show_too_much_is_refused(
    tmp_path: Path, home: Path, value: str, told: str
) -> None:
    with pytest.raises(OptionError, match=r"engines\.reads has the value") as refused:
        options.load({"SVC_CONFIG": str(config(tmp_path, value))})
    assert str(refused.value).endswith(f"allowed: {told}")


def config(folder: Path, reads: str) -> Path:
    path = folder / "svc.config.yaml"
    path.write_text(f"engines: {{reads: {reads}}}\n")
    return path
