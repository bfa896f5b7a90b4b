"""The home of a projects directory: one id for all hosts that see it, and for nobody else."""

from __future__ import annotations

import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db.models import Q

from config.readers import OptionError
from config.storage import homes
from config.storage.backups import backup, restoring
from config.storage.backups.copies import SqliteFile
from tests.service import Service

GONE = "postgres://svc@127.0.0.1:1/svc"


def test_many_first_starts_at_once_agree_on_one_id(tmp_path: Path):
    start = threading.Barrier(16)

    def first_start(_: int) -> str:
        start.wait(20)
        return homes.read_or_make(tmp_path)

    with ThreadPoolExecutor(16) as pool:
        found = {*pool.map(first_start, range(16))}

    assert found == {(tmp_path / ".svc" / "home").read_text().strip()}
    assert [path.name for path in (tmp_path / ".svc").iterdir()] == ["home"]


def test_two_directories_have_two_homes(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()

    assert homes.read_or_make(tmp_path / "a") != homes.read_or_make(tmp_path / "b")


@pytest.mark.parametrize("text", [b"", b"short", b"0" * 27, b"0" * 5000, b"\xff" * 26, b"0\n" * 13])
def test_a_file_that_holds_no_id_is_refused_and_left_as_it_is(tmp_path: Path, text: bytes):
    (tmp_path / ".svc").mkdir()
    (tmp_path / ".svc" / "home").write_bytes(text)

    with pytest.raises(OptionError, match=r"\.svc/home must hold one id of 26 letters"):
        homes.read_or_make(tmp_path)

    assert (tmp_path / ".svc" / "home").read_bytes() == text


@pytest.mark.parametrize("command", ["up", "runserver", "qcluster"])
def test_a_home_that_cannot_be_read_ends_the_start_with_one_sentence(tmp_path: Path, command: str):
    service = Service(tmp_path, env={"SVC_DATABASE_URL": GONE})
    (service.projects / ".svc" / "home").mkdir(parents=True)

    done = service.run(command)

    assert done.returncode == 2
    assert done.stderr.startswith(f"not starting: {service.projects}/.svc/home cannot be read")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_on_sqlite_no_file_is_made_and_queues_keep_their_names(settings, stopped_service: Service):
    if "SVC_DATABASE_URL" in stopped_service.env:
        pytest.skip("the store is PostgreSQL")
    stopped_service.run("migrate", "--verbosity", "0").check_returncode()
    settings.SVC_HOME = ""

    assert not (stopped_service.projects / ".svc").exists()
    assert (homes.queue("turns"), homes.mine(), homes.adoptable()) == ("turns", Q(), Q())


def test_a_queue_bears_the_name_of_its_home(settings):
    settings.SVC_HOME = "H" * 26

    assert homes.queue("turns") == "turns-" + "H" * 26
    assert homes.queue_for("svc", "K" * 26) == "svc-" + "K" * 26


def test_rows_that_came_back_to_sqlite_with_a_home_are_its_own(settings):
    settings.SVC_HOME = ""

    assert homes.is_mine("K" * 26)
    assert homes.queue_for("svc", "K" * 26) == "svc"


def test_a_backup_holds_no_home_and_is_restored_beside_the_one_of_the_new_directory(tmp_path: Path):
    def plan(name: str) -> backup.Plan:
        (folder := tmp_path / name).mkdir()
        rows = SqliteFile(tmp_path / f"{name}.sqlite3")
        return backup.Plan({"projects": folder}, tmp_path / f"{name}.yaml", rows)

    old, new = plan("old"), plan("new")
    prompt = tmp_path / "old" / "alpha" / ".svc" / "triggers" / "hello.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("hello")
    homes.read_or_make(tmp_path / "old")
    mine = homes.read_or_make(tmp_path / "new")

    backup.write(old, tmp_path / "b.tar.gz", version="0")
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert "projects/.svc/home" not in archive.getnames()
    restoring.restore(new, tmp_path / "b.tar.gz")

    assert homes.read_or_make(tmp_path / "new") == mine
    assert (tmp_path / "new" / prompt.relative_to(tmp_path / "old")).read_text() == "hello"
