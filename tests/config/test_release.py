"""A data directory knows which version used it last, and an older one leaves it alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from config import __version__
from config.errors import Invalid
from config.options import OptionError
from config.storage import release
from config.storage.backups import restoring
from tests.config.test_backup import archive_of, plan
from tests.promises.rings import few
from tests.service import Service

MAJOR, MINOR, *_ = (int(part) for part in __version__.split("."))
NEXT = f"{MAJOR}.{MINOR + 1}.0"


def used_by(data: Path, version: object) -> Path:
    (data / "state").mkdir(parents=True, exist_ok=True)
    path = data / "state" / "release.json"
    path.write_text(json.dumps({"version": version}))
    return path


@pytest.mark.parametrize(
    ("version", "ours", "is_newer"),
    [
        ("0.50.0", "0.49.0", True),
        ("1.0.0", "0.49.9", True),
        ("0.100.0", "0.99.0", True),
        ("0.49.1", "0.49.0", False),
        ("0.49.0", "0.49.0", False),
        ("0.48.7", "0.49.0", False),
        ("0.50.0rc1", "0.49.0", True),
        ("", "0.49.0", False),
        ("soon", "0.49.0", False),
        ("9" * 100 + ".1", "0.49.0", False),
    ],
)
def test_what_is_newer_is_told_by_the_minor_version(version, ours, is_newer) -> None:
    assert release.newer(version, ours) is is_newer


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 7}', '{"version": null}', "\0"])
def test_a_stamp_that_says_nothing_refuses_nothing_and_is_made_anew(tmp_path, text) -> None:
    used_by(tmp_path, "x").write_text(text)

    release.refuse_newer(tmp_path)
    release.stamp(tmp_path)

    assert release.last_version(tmp_path) == __version__
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["release.json"]


def test_a_newer_stamp_is_refused_with_both_versions_and_the_way_out(tmp_path) -> None:
    used_by(tmp_path, NEXT)

    with pytest.raises(OptionError) as refused:
        release.refuse_newer(tmp_path)

    for part in (str(tmp_path), NEXT, __version__, "install svc", "SVC_DATA_DIR"):
        assert part in str(refused.value)


@pytest.mark.parametrize("command", few(["up", "reindex", "runserver", "qcluster"], 1))
def test_no_command_that_writes_starts_on_what_a_newer_version_used(
    stopped_service: Service, command: str
) -> None:
    service = stopped_service
    stamp = used_by(service.data, NEXT)
    service._use_template()
    before = (service.data / "svc.sqlite3").read_bytes()

    done = service.run(command)

    assert done.returncode == 2
    assert done.stderr.startswith(f"not starting: {service.data} was used by svc {NEXT}")
    assert len(done.stderr.splitlines()) == 1
    assert json.loads(stamp.read_text()) == {"version": NEXT}
    assert (service.data / "svc.sqlite3").read_bytes() == before


def test_a_start_says_which_version_uses_the_data_from_now_on(stopped_service: Service) -> None:
    used_by(stopped_service.data, "0.1.0")

    stopped_service.start()

    assert release.last_version(stopped_service.data) == __version__


def test_a_backup_of_a_newer_version_is_not_restored(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "b.tar", {"projects/a/project.yaml": b"x: 1\n"}, version=NEXT)
    there = plan(tmp_path / "there")

    with pytest.raises(Invalid, match=f"made by svc {NEXT}, restore it with that version or newer"):
        restoring.restore(there, archive)

    assert not (tmp_path / "there").exists()
