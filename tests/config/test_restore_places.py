"""What a restore brings back is where the restored service looks, whatever its settings name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.config.test_backup import archive_of
from tests.service import Service

PROJECT = b"name: Kept\n"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return tmp_path / "outside"


@pytest.fixture
def archive(tmp_path: Path, outside: Path) -> Path:
    """A backup of a service whose svc.config.yaml names a projects directory."""
    here = Service(tmp_path / "here", config={"projectsDir": str(outside)})
    (outside / "kept").mkdir(parents=True)
    (outside / "kept/project.yaml").write_bytes(PROJECT)
    here.run("migrate", "--verbosity", "0").check_returncode()
    here.run("backup", str(tmp_path / "b.tar")).check_returncode()
    here.http.close()
    return tmp_path / "b.tar"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path / "there", scheduler=False)
    yield made
    made.http.close()


def names(service: Service) -> list[str]:
    return [one["slug"] for one in service.http.get("/api/projects").json()["projects"]]


def test_projects_go_where_the_restored_settings_say_and_are_served_from_there(
    archive: Path, outside: Path, there: Service
):
    shutil.rmtree(outside)

    done = there.run("restore", str(archive))

    assert done.returncode == 0, done.stderr
    assert f"restored 3 files from {archive}, projects to {outside}\n" in done.stdout
    assert "set it for the service too" not in done.stdout
    assert (outside / "kept/project.yaml").read_bytes() == PROJECT
    with there as service:
        assert names(service) == ["kept"]


def test_projects_that_are_there_are_not_touched_and_the_refusal_names_both_ways_out(
    archive: Path, outside: Path, there: Service
):
    (outside / "kept/project.yaml").write_bytes(b"name: Newer\n")

    done = there.run("restore", str(archive))

    assert done.returncode == 2
    assert done.stderr == (
        f"CommandError: {outside} already holds data; set SVC_PROJECTS_DIR to an empty directory, "
        "for this command and for the service, or put a svc.config.yaml with another projectsDir "
        f"into {there.data} first\n"
    )
    assert (outside / "kept/project.yaml").read_bytes() == b"name: Newer\n"
    assert not (there.data / "svc.config.yaml").exists()
    assert list(outside.iterdir()) == [outside / "kept"]


def test_a_directory_that_the_environment_names_takes_the_projects_and_must_stay_named(
    archive: Path, outside: Path, there: Service, tmp_path: Path
):
    there.env["SVC_PROJECTS_DIR"] = str(tmp_path / "chosen")

    done = there.run("restore", str(archive))

    assert done.returncode == 0, done.stderr
    assert f", projects to {tmp_path}/chosen\n" in done.stdout
    config = there.data / "svc.config.yaml"
    assert f"SVC_PROJECTS_DIR is not what {config} says: set it for the service too" in done.stdout
    with there as service:
        assert names(service) == ["kept"]


def test_settings_that_are_there_already_decide_and_are_kept(
    archive: Path, there: Service, tmp_path: Path
):
    kept = yaml.safe_dump({"projectsDir": str(tmp_path / "mine")})
    (there.data / "svc.config.yaml").write_text(kept)

    done = there.run("restore", str(archive))

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine/kept/project.yaml").read_bytes() == PROJECT
    assert (there.data / "svc.config.yaml").read_text() == kept


def test_rows_go_to_the_database_that_the_restored_settings_name_or_nothing_is_restored(
    tmp_path: Path, there: Service
):
    there.env.pop("SVC_DATABASE_URL", None)
    config = b"databaseUrl: postgres://svc@127.0.0.1:1/svc\n"
    members: dict[str, bytes | str] = {
        "svc.config.yaml": config,
        "projects/a/project.yaml": PROJECT,
    }

    done = there.run("restore", str(archive_of(tmp_path / "b.tar", members)))

    assert done.returncode == 2, done.stdout
    assert "the PostgreSQL database svc on 127.0.0.1:1 does not answer" in done.stderr
    assert not (there.projects / "a").exists()


@pytest.mark.parametrize("config", [b"projectsDir: [\n", b"projectsDir: {a: 1}\n", b"- 1\n"])
def test_settings_that_cannot_be_read_are_refused_before_anything_is_written(
    tmp_path: Path, there: Service, config: bytes
):
    members: dict[str, bytes | str] = {
        "svc.config.yaml": config,
        "projects/a/project.yaml": PROJECT,
    }
    archive = archive_of(tmp_path / "b.tar", members)

    done = there.run("restore", str(archive))

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{archive} holds settings that cannot be read: " in done.stderr
    assert f"to {there.data}/svc.config.yaml first, they are kept" in done.stderr
    assert not (there.projects / "a").exists()
