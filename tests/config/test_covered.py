"""What a file grants is followed from those who may grant it, not from a turn beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.errors import Conflict
from config.storage import covered, displaced, files
from config.storage.mirror import Mirror, Mirrored
from workspace.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def state(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    folder: Path = settings.DATA_DIR / "state" / "covered"
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "projects" / "project.yaml"
    path.parent.mkdir()
    path.write_bytes(b"name: a\npath: one\n")
    return path


@pytest.fixture
def mirror(path: Path) -> Mirror[Project]:
    return fresh(path)


def fresh(path: Path) -> Mirror[Project]:
    """A mirror as a new process has it."""
    return Mirror(
        model=Project,
        key="slug",
        keys=lambda: iter(["a"]),
        locate=lambda _key: path,
        within=lambda _key: path.parent,
    )


def seen(mirror: Mirror[Project]) -> Mirrored:
    found = mirror.get("a")
    assert found is not None
    return found


def replaced(path: Path, data: bytes) -> None:
    """Another file gets the name."""
    spare = path.with_suffix(".spare")
    spare.write_bytes(data)
    spare.replace(path)


def edited(path: Path, was: bytes, now: bytes) -> None:
    """The service changes the file."""
    files.change(path, lambda data: (data or b"").replace(was, now))


@pytest.fixture
def worked(path: Path, mirror: Mirror[Project]) -> Iterator[None]:
    """A turn works beside the file."""
    seen(mirror)
    with covered.beside(path, "msg_1"):
        yield


@pytest.mark.usefixtures("worked")
def test_a_file_that_was_replaced_grants_what_it_did(path: Path, mirror: Mirror[Project]):
    replaced(path, b"name: a\npath: two\n")

    for one in (mirror, fresh(path)):
        found = seen(one)
        assert found.error == covered.DOUBTED
        assert found.data == {"name": "a", "path": "one"}
        assert found.document is None


@pytest.mark.usefixtures("worked")
def test_a_key_that_nobody_knows_grants_something(path: Path, mirror: Mirror[Project]):
    replaced(path, b"name: a\npath: one\nnew: 1\n")
    assert seen(mirror).error == covered.DOUBTED


def test_a_file_that_was_broken_at_the_start_holds_as_it_was_read_last(
    path: Path, mirror: Mirror[Project]
):
    seen(mirror)
    path.write_bytes(b"name: [\n")
    with covered.beside(path, "msg_1"):
        replaced(path, b"name: a\npath: two\n")
        assert seen(mirror).error == covered.DOUBTED
        assert seen(mirror).data == {"name": "a", "path": "one"}


@pytest.mark.usefixtures("worked")
def test_what_is_written_into_the_covered_file_is_followed(path: Path, mirror: Mirror[Project]):
    path.write_bytes(b"name: a\npath: two\n")
    assert seen(mirror).data == {"name": "a", "path": "two"}
    edited(path, b"two", b"three")
    assert seen(mirror).data == {"name": "a", "path": "three"}


@pytest.mark.usefixtures("worked")
def test_what_is_written_after_the_service_replaced_it_is_not(path: Path, mirror: Mirror[Project]):
    edited(path, b"one", b"two")
    path.write_bytes(b"name: a\npath: three\n")

    assert seen(mirror).data == {"name": "a", "path": "two"}
    with pytest.raises(Conflict, match="cannot be followed: replaced while"):
        edited(path, b"three", b"four")
    assert path.read_bytes() == b"name: a\npath: three\n"


@pytest.mark.usefixtures("worked")
def test_what_the_service_took_back_is_not_brought_again(path: Path, mirror: Mirror[Project]):
    replaced(path, b"name: b\npath: one\n")
    assert seen(mirror).data == {"name": "b", "path": "one"}
    edited(path, b"path: one", b"path: two")

    for before in (b"name: a\npath: one\n", b"name: b\npath: one\n"):
        path.write_bytes(before)
        assert seen(mirror).error == covered.DOUBTED
        assert seen(mirror).data == {"name": "b", "path": "two"}


@pytest.mark.usefixtures("worked")
def test_nor_by_who_has_not_looked_meanwhile(path: Path, mirror: Mirror[Project]):
    edited(path, b"one", b"two")
    path.write_bytes(b"name: a\npath: one\n")

    assert seen(mirror).error == covered.DOUBTED
    assert seen(mirror).data == {"name": "a", "path": "two"}


@pytest.mark.usefixtures("worked")
def test_no_late_save_through_an_old_handle_becomes_the_services_own(
    path: Path, mirror: Mirror[Project]
):
    edited(path, b"one", b"two")
    with path.open("r+b") as handle:
        edited(path, b"name: a", b"name: b")
        handle.write(b"name: a\npath: bad\n")
    displaced.settle()

    assert seen(mirror).data == {"name": "b", "path": "two"}
    (kept,) = path.parent.glob("project.yaml.conflict-*")
    assert kept.read_bytes() == b"name: a\npath: bad\n"


def test_it_is_followed_once_it_is_saved_when_no_turn_works(path: Path, mirror: Mirror[Project]):
    seen(mirror)
    with covered.beside(path, "msg_1"):
        with covered.beside(path, "msg_2"):
            replaced(path, b"name: a\npath: two\n")
        path.touch()
        assert seen(mirror).error == covered.DOUBTED
    assert seen(mirror).error == covered.DOUBTED
    with covered.beside(path, "msg_3"):
        assert seen(mirror).error == covered.DOUBTED
    assert seen(fresh(path)).error == covered.DOUBTED

    path.touch()
    assert seen(mirror).data == {"name": "a", "path": "two"}
    edited(path, b"two", b"three")
    assert seen(mirror).data == {"name": "a", "path": "three"}


def test_after_a_crash_the_turn_counts_until_it_is_known_to_be_over(
    path: Path, mirror: Mirror[Project], state: Path
):
    seen(mirror)
    covered.begin(path, "msg_1")
    edited(path, b"one", b"two")
    path.write_bytes(b"name: a\npath: bad\n")

    assert covered.recorded_files() == [(path, ("msg_1",))]
    covered.end(path, "msg_1")
    covered.end(path, "msg_1")
    assert seen(mirror).data == {"name": "a", "path": "two"}

    replaced(path, b"name: a\npath: three\n")
    assert seen(mirror).data == {"name": "a", "path": "three"}
    with covered.beside(path, "msg_2"):
        pass
    assert list(state.iterdir()) == []


def test_a_service_killed_between_its_note_and_its_save_is_believed_with_both(
    path: Path, mirror: Mirror[Project]
):
    seen(mirror)
    covered.begin(path, "msg_1")
    before = files.read(path)
    assert before is not None
    assert covered.writes(path.resolve(), before.etag, before.stat, b"name: b")
    assert seen(fresh(path)).error == ""


def test_nothing_is_kept_of_a_file_that_is_not_there(tmp_path: Path, state: Path):
    with covered.beside(tmp_path / "absent.yaml", "msg_1"):
        assert not state.exists()
    assert not state.exists()
