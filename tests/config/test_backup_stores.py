"""Backups of a PostgreSQL database: all of one moment, and nothing half done."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.postgres import Cluster, ask, postgres  # noqa: F401 - a fixture
from tests.service import Service, until

COUNT = "SELECT count(*) FROM django_q_ormq"
FILL = "INSERT INTO django_q_ormq (key, payload, lock) SELECT 'k', repeat('x', 100), now()"
FUTURE = "INSERT INTO django_migrations (app, name, applied) VALUES ('workspace', '9999_x', now())"
OURS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'svc'"
WAITING = f"{OURS} AND wait_event_type = 'Lock'"


@pytest.fixture
def here(tmp_path: Path, postgres: Cluster) -> Iterator[Service]:  # noqa: F811
    """A directory with one project, whose database holds a thousand rows."""
    made = Service(tmp_path / "here", env={"SVC_DATABASE_URL": postgres.copy_of_migrated()})
    made.projects.joinpath("alpha").mkdir(parents=True)
    (made.projects / "alpha/project.yaml").write_text("name: Alpha\n")
    ask(url(made), f"{FILL} FROM generate_series(1, 1000)")
    yield made
    made.http.close()


@pytest.fixture
def there(tmp_path: Path, postgres: Cluster) -> Iterator[Service]:  # noqa: F811
    made = Service(tmp_path / "there", env={"SVC_DATABASE_URL": postgres.copy_of_migrated()})
    yield made
    made.http.close()


@pytest.fixture
def archive(here: Service, tmp_path: Path) -> Path:
    path = tmp_path / "b.tar.gz"
    done = here.run("backup", str(path))
    assert done.returncode == 0, done.stderr
    return path


def url(service: Service) -> str:
    return service.env["SVC_DATABASE_URL"]


def rows(service: Service) -> int:
    return int(service.rows(COUNT)[0][0])


def holds_nothing(service: Service) -> bool:
    """Neither files nor rows nor what an end before the end has left."""
    places = (service.data, service.projects, service.data / "dashboard")
    found = [path for place in places if place.is_dir() for path in place.glob(".svc-*")]
    return found == [] and not any(service.projects.glob("[!.]*")) and rows(service) == 0


def limited(service: Service, *command: str) -> subprocess.CompletedProcess[str]:
    """A command for which the disk is full as soon as a file has 64 KiB."""

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    process = service.spawn(*command, preexec_fn=full)
    told, _ = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, told)


def killed_while_it_waits(service: Service, *command: str, mode: str) -> None:
    """kill -9 half-way: in front of a table that somebody else holds."""
    import psycopg

    with psycopg.connect(url(service)) as other:
        other.execute(f"LOCK TABLE django_q_ormq IN {mode} MODE".encode())
        process = service.spawn(*command)
        until(lambda: ask(url(service), WAITING) == [(1,)], seconds=60, what="it waits")
        process.kill()
        process.communicate(timeout=10)
    until(lambda: ask(url(service), OURS) == [(0,)], seconds=30, what="its connection ended")


@pytest.mark.slow
def test_an_archive_holds_the_rows_of_one_moment_and_stops_no_writer(here: Service, tmp_path: Path):
    ended, before = threading.Event(), rows(here)

    def write() -> None:
        while not ended.is_set():
            ask(url(here), FILL)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        until(lambda: rows(here) > before, what="the storm blows")
        done = here.run("backup", str(tmp_path / "b.tar.gz"))
        during = rows(here)
    finally:
        ended.set()
        writer.join()

    assert done.returncode == 0, done.stderr
    assert f"rows of the PostgreSQL database {url(here).split('/')[3].split('?')[0]}" in done.stdout
    assert "the rows of all, the files of this one" in done.stdout
    with tarfile.open(tmp_path / "b.tar.gz") as tar:
        stream = tar.extractfile("database.sqlite3")
        assert stream is not None
        (tmp_path / "copy").write_bytes(stream.read())
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        held = copy.execute(COUNT).fetchone()[0]
    assert before < held < during


@pytest.mark.slow
def test_a_backup_of_an_older_or_newer_database_is_refused_and_writes_nothing(
    here: Service,
    postgres: Cluster,  # noqa: F811
    tmp_path: Path,
):
    ask(url(here), FUTURE)
    newer = here.run("backup", str(tmp_path / "b.tar.gz"))
    here.env["SVC_DATABASE_URL"] = postgres.create("empty")
    older = here.run("backup", str(tmp_path / "b.tar.gz"))

    assert (newer.returncode, older.returncode) == (2, 2)
    assert "was made by a newer version" in newer.stderr
    assert "is not migrated yet; run manage.py migrate first" in older.stderr
    assert [*tmp_path.glob("*.gz"), *tmp_path.glob(".svc-*")] == []
    assert postgres.tables("empty") == 0


@pytest.mark.slow
@pytest.mark.parametrize("state", ["the same", "older"])
def test_a_target_that_holds_rows_is_refused_and_keeps_them(
    archive: Path, there: Service, state: str
):
    ask(url(there), FILL)
    if state == "older":
        there.run("migrate", "workspace", "zero").check_returncode()
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    before = there.rows(tables)

    done = there.run("restore", str(archive))

    assert done.returncode == 2
    assert "holds rows already (django_q_ormq)" in done.stderr
    assert (rows(there), there.rows(tables)) == (1, before)
    assert not any(there.projects.glob("[!.]*"))


@pytest.mark.slow
def test_a_target_of_a_newer_version_is_refused(archive: Path, there: Service):
    ask(url(there), FUTURE)

    done = there.run("restore", str(archive))

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "was made by a newer version" in done.stderr
    assert holds_nothing(there)


@pytest.mark.slow
def test_a_target_that_other_servers_use_is_refused(archive: Path, there: Service):
    import psycopg

    with psycopg.connect(url(there), application_name="svc"):
        done = there.run("restore", str(archive))

    assert done.returncode == 2
    assert "1 connections of other servers are open" in done.stderr
    assert holds_nothing(there)


@pytest.mark.slow
def test_a_database_that_has_no_table_yet_is_restored_into(
    archive: Path,
    there: Service,
    postgres: Cluster,  # noqa: F811
):
    there.env["SVC_DATABASE_URL"] = postgres.create("fresh")

    done = there.run("restore", str(archive))

    assert done.returncode == 0, done.stderr
    assert rows(there) == 1000
    assert (there.projects / "alpha/project.yaml").read_text() == "name: Alpha\n"


@pytest.mark.slow
def test_a_killed_backup_leaves_the_old_archive_and_the_next_one_is_whole(
    here: Service, archive: Path
):
    old = archive.read_bytes()

    killed_while_it_waits(here, "backup", str(archive), mode="ACCESS EXCLUSIVE")

    assert archive.read_bytes() == old
    assert here.run("backup", str(archive)).returncode == 0


@pytest.mark.slow
def test_a_killed_restore_has_restored_nothing_and_is_done_again(archive: Path, there: Service):
    killed_while_it_waits(there, "restore", str(archive), mode="SHARE")

    assert rows(there) == 0
    assert [path.name[:13] for path in there.projects.glob(".svc-*")] == [".svc-restore-"]
    again = there.run("restore", str(archive))
    assert again.returncode == 0, again.stderr
    assert rows(there) == 1000
    assert [path.name for path in there.projects.glob("[!.]*")] == ["alpha"]


@pytest.mark.slow
def test_what_the_database_refuses_leaves_no_file(archive: Path, there: Service):
    ask(url(there), "ALTER TABLE django_q_ormq ADD CONSTRAINT never CHECK (key <> 'k')")

    done = there.run("restore", str(archive))

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert 'violates check constraint "never"' in done.stderr
    assert "nothing was restored" in done.stderr
    assert holds_nothing(there)


@pytest.mark.slow
def test_a_full_disk_ends_a_backup_with_a_sentence_and_keeps_the_old_one(
    here: Service, tmp_path: Path
):
    archive = tmp_path / "b.tar.gz"
    archive.write_bytes(b"old")

    done = limited(here, "backup", str(archive))

    assert done.returncode == 1
    assert done.stdout.startswith(f"CommandError: Cannot write {archive}: ")
    assert done.stdout.count("\n") == 1
    assert archive.read_bytes() == b"old"
    assert [*tmp_path.glob(".svc-*")] == []


@pytest.mark.slow
def test_a_full_disk_ends_a_restore_with_a_sentence_and_nothing_restored(
    archive: Path, there: Service
):
    done = limited(there, "restore", str(archive))

    assert done.returncode == 1
    assert done.stdout.startswith(f"CommandError: Cannot restore {archive}: ")
    assert "nothing was restored" in done.stdout
    assert holds_nothing(there)


@pytest.mark.slow
def test_rows_go_to_the_database_that_the_settings_in_the_archive_name(
    here: Service, there: Service, tmp_path: Path
):
    address = there.env.pop("SVC_DATABASE_URL")
    (here.data / "svc.config.yaml").write_text(f"databaseUrl: {address}\n")
    here.run("backup", str(tmp_path / "b.tar")).check_returncode()

    done = there.run("restore", str(tmp_path / "b.tar"))

    assert done.returncode == 0, done.stderr
    assert ask(address, COUNT) == [(1000,)]
    assert not (there.data / "svc.sqlite3").exists()
