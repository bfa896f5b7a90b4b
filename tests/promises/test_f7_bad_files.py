"""A bad file hides nothing: last good value, error with its line, others well, writes refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict
from config.storage.yamlio import YamlError, parse
from tests.promises.rings import ring, seeded
from workspace.models import Project
from workspace.projects import store
from workspace.projects.project import FILE

GOOD = b"name: Good\nsummary: kept\n"
BAD: dict[str, tuple[bytes, int]] = {
    "unclosed list": (b"name: x\nlist: [1, 2\n", 3),
    "unclosed quote": (b"name: x\na: 'open\n", 3),
    "tab": (b"name: x\na:\n\tb: 1\n", 3),
    "two values": (b"name: x\na: b: c\n", 2),
    "duplicate key": (b"name: x\nname: y\n", 2),
    "duplicate inner key": (b"t:\n  a: 1\n  a: 2\n", 3),
    "conflict markers": (b"<<<<<<< HEAD\nname: x\n=======\nname: y\n>>>>>>> b\n", 2),
    "second document": (b"name: x\n---\nname: y\n", 2),
    "unknown alias": (b"name: *nobody\n", 1),
    "alias of itself": (b"a: &a\n  b: *a\n", 2),
    "custom tag": (b"name: x\na: !!python/object:os.system x\n", 2),
    "control character": (b"name: x\na: \x07\n", 2),
    "no UTF-8": (b"name: x\na: \xe9\n", 2),
    "not finite": (b"name: x\na: .inf\n", 2),
    "no mapping": (b"- name: x\n", 1),
    "plain text": (b"just text\n", 1),
    "too deep": (b"a: " + b"[" * 100_000 + b"\n", 1),
    "too large": (b"a: " + b"x" * (1 << 20) + b"\n", 1),
    "bomb": (b"a: &a [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 10)) for c in b"bcdefgh"), 5),
    "list as key": (b"? [a, b]\n: c\n", 1),
    "wrong indentation": (b"a:\n    b: 1\n  c: 2\n", 3),
}  # fmt: skip


@pytest.fixture
def world(tmp_path: Path, settings: Any) -> Path:
    settings.PROJECTS_DIR = tmp_path
    for slug in ("bad", "fine"):
        (tmp_path / slug).mkdir()
        (tmp_path / slug / FILE).write_bytes(GOOD)
    store.MIRROR.scan()
    return tmp_path


@pytest.mark.promise("F7")
@pytest.mark.django_db
@pytest.mark.parametrize("kind", BAD)
def test_a_broken_file_shows_its_error_and_hides_nothing(world: Path, kind: str):
    data, line = BAD[kind]
    (world / "bad" / FILE).write_bytes(data)

    bad = store.get("bad")

    assert bad.data == {"name": "Good", "summary": "kept"}
    assert bad.error
    assert bad.error_line == line, bad.error
    assert store.get("fine").error == ""
    assert [p.slug for p in store.all()] == ["bad", "fine"]
    row = Project.objects.get(slug="bad")
    assert (row.data, row.error_line) == (bad.data, line)
    with pytest.raises(Conflict) as refused:
        store.update("bad", {"name": "new"})
    assert refused.value.code == "bad_project_file"
    assert (world / "bad" / FILE).read_bytes() == data


@pytest.mark.promise("F7")
@pytest.mark.django_db
def test_a_file_mended_by_hand_is_writable_again(world: Path):
    (world / "bad" / FILE).write_bytes(b"name: [\n")
    assert store.get("bad").error
    (world / "bad" / FILE).write_bytes(b"name: mended\n")

    store.update("bad", {"name": "written"})

    assert store.get("bad").data["name"] == "written"


@pytest.mark.promise("F7")
def test_mutilated_files_are_read_or_refused_but_never_more():
    rng = seeded()
    base = bytearray(
        b"name: x # c\ntriggers:\n  a: {cron: '0 9 * * *', on: [1, &x 2, *x]}\n  b: |\n    t\n"
    )
    for _ in range(ring(fast=400, slow=100_000)):
        data = bytearray(base)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(3)] = bytes([rng.randrange(256)]) * rng.randrange(3)
        assert line_of_error(bytes(data)) >= 0


def line_of_error(data: bytes) -> int:
    """0 for a file that can be read."""
    try:
        parse(data)
    except YamlError as error:
        return error.line if error.line >= 1 and error.column >= 1 else -1
    return 0
