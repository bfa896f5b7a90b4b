"""Files that cannot be read or written, over HTTP."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.described import Api
from tests.review.api.served import Project, Served
from tests.review.places import aged, put
from tests.service import Service

BOMB = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (n + 1, n + 1, b", ".join([b"*%c" % n] * 9)) for n in range(97, 107)
)
BROKEN = {
    "invalid": b"threads: [\n",
    "a key given twice": b"threads: []\nthreads: []\n",
    "conflict markers": b"<<<<<<< HEAD\nthreads: []\n=======\nthreads: []\n>>>>>>> other\n",
    "100,000 brackets": b"[" * 100_000,
    "100,000 brackets below a key": b"threads: " + b"[" * 100_000,
    "an alias": b"mine: &a [x]\nyours: *a\nthreads: []\n",
    "an alias bomb": BOMB,
    "a bomb of merged keys": b"a: &a {x: 1}\n"
    + b"".join(b"%c: &%c {<<: [%s]}\n" % (n + 1, n + 1, b", ".join([b"*%c" % n] * 9))
               for n in range(97, 107)),
    "no text": b"\xff\xfe\x00\x01",
    "no mapping": b"- 1\n",
    "over 8 MB": b"# " + b"x" * (8 << 20) + b"\nthreads: []\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("known", [True, False], ids=["read before", "never read"])
def test_a_file_that_cannot_be_read_is_told_and_left_as_it_is(
    api: Api, served: Served, pay: Project, kind: str, known: bool
):
    tid, cid = "t-1", "c-1"
    good = b"threads: [{id: t-1, comments: [{id: c-1, author: ada, body: Kept}]}]\n"
    if known:
        put(pay.review(), good)
        put(pay.review(0, "prs"), b"title: Kept\n")
        assert api.get(pay.c()).json()["review"]["parse_error"] is None
    for file in (pay.review(), pay.review(0, "prs")):
        saved(file, BROKEN[kind])
    before, pid = pay.tree(), served.service.pid

    review, pr = api.get(pay.c(0, "/review")).json(), api.get(pay.c(0, "/pr")).json()
    detail, project = api.get(pay.c()), api.get(pay.p)

    assert (detail.status_code, project.status_code) == (200, 200)
    assert (detail.json()["review"], detail.json()["pr"]) == (review, pr)
    told = r"line \d+, column \d+: ." if kind not in ("over 8 MB",) else "cannot be read: ."
    for record in (review, pr):
        assert re.match(told, record["parse_error"])
    assert [one["id"] for one in review["threads"]] == ([tid] if known else [])
    assert pr["title"] == ("Kept" if known else "Try again")
    comments = f"/threads/{tid}/comments"
    writes: list[Callable[[], Any]] = [
        lambda: api.post(pay.c(0, "/threads"), {"body": "x"}),
        lambda: api.post(pay.c(0, comments), {"body": "x"}),
        lambda: api.patch(pay.c(0, f"/threads/{tid}"), {"resolved": True}),
        lambda: api.patch(pay.c(0, f"{comments}/{cid}"), {"body": "x"}),
        lambda: api.delete(pay.c(0, f"{comments}/{cid}")),
        lambda: api.put(pay.c(0, "/viewed"), {"path": "src/pay.py", "viewed": True}),
        lambda: api.put(pay.c(0, "/pr"), {"title": "x"}),
    ]
    for write in writes:
        answer = write()
        assert (answer.status_code, answer.json()["code"]) == (409, "invalid_file"), answer.text
    assert pay.tree() == before
    assert served.service.pid == pid


def saved(path: Path, data: bytes) -> None:
    """By a rename, as editors save: half of a long file may be a good one."""
    aged(put(path.with_name(".draft"), data)).replace(path)


CAPBSET_DROP, DAC_OVERRIDE = 24, 1


@pytest.mark.parametrize(
    "kind", ["invalid", "a key given twice", "conflict markers", "100,000 brackets",
             "an alias bomb", "a bomb of merged keys", "no mapping", "over 8 MB"],
)  # fmt: skip
def test_a_project_file_that_cannot_be_read_goes_on_showing_what_it_said(
    api: Api, served: Served, pay: Project, kind: str
):
    shown, pid = api.get(pay.p).json(), served.service.pid
    saved(pay.file, BROKEN[kind])
    before = pay.tree()

    (listed,) = (one for one in api.get("/api/projects").json()["projects"]
                 if one["slug"] == pay.slug)  # fmt: skip
    project = api.get(pay.p).json()

    assert listed["error"] == project["parse_error"]
    assert re.match(r"line \d+, column \d+: .|cannot be read: .", project["parse_error"])
    assert project | {"parse_error": None} == shown
    assert api.get(pay.c()).status_code == 200
    for answer in (
        api.put(f"{pay.p}/description", {"description": "x"}),
        api.put(f"{pay.p}/repos/api/stacks/1/description", {"description": "x"}),
        api.post(f"{pay.p}/repos", {"path": str(pay.repo.path), "name": "b"}),
        api.post(pay.c(0, "/threads"), {"body": "x"}),
        api.put(pay.c(0, "/pr"), {"title": "x"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "invalid_file"), answer.text
    assert pay.tree() == before
    assert served.service.pid == pid


def bound() -> None:
    """Root writes where modes forbid it by one capability; an ordinary user has none to lose."""
    ctypes.CDLL(None).prctl(CAPBSET_DROP, DAC_OVERRIDE)


def test_a_folder_that_is_read_only_is_told_and_heals_without_a_restart(
    stopped_service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spawn = partial(stopped_service.spawn, preexec_fn=bound)
    monkeypatch.setattr(stopped_service, "spawn", spawn)
    served = Served(stopped_service.start())
    pay = served.project(tmp_path)
    post = partial(served.api.post, pay.c(0, "/threads"), {"body": "x"})
    describe = partial(served.api.put, f"{pay.p}/description", {"description": "x"})
    assert post().status_code == 201
    before, folders = pay.tree(), (pay.review().parent, pay.file.parent)

    for folder in folders:
        folder.chmod(0o555)
    answers = {f"reviews/api/{pay.shas[0]}.yaml": post(), "project.yaml": describe()}

    for name, answer in answers.items():
        told = {"error": f"Cannot write {name}: Permission denied", "code": "internal"}
        assert (answer.status_code, answer.json()) == (500, told)
    assert pay.tree() == before
    for folder in folders:
        folder.chmod(0o755)
    assert (post().status_code, describe().status_code) == (201, 200)
    served.close()


def test_a_review_file_linked_within_its_project_is_written_through_its_link(
    api: Api, pay: Project
):
    target = put(pay.file.with_name("elsewhere.yaml"), b"threads: [] # mine\n")
    pay.review().parent.mkdir(parents=True)
    pay.review().symlink_to(target)

    assert api.post(pay.c(0, "/threads"), {"body": "Through"}).status_code == 201

    assert pay.review().is_symlink()
    assert b"Through" in target.read_bytes()


@pytest.mark.parametrize("linked", ["file", "repo", "kind"])
def test_a_link_out_of_the_project_is_neither_read_nor_written(
    api: Api, pay: Project, tmp_path: Path, linked: str
):
    text = b"threads:\n- id: t1\n  comments:\n  - {id: c1, body: Secret}\n"
    place = pay.review()
    outside = put(tmp_path / "outside" / place.parent.name / place.name, text)
    link = {"file": place, "repo": place.parent, "kind": place.parent.parent}[linked]
    to = {"file": outside, "repo": outside.parent, "kind": outside.parent.parent}[linked]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(to)

    shown = api.get(pay.c(0, "/review"))
    sent = api.post(pay.c(0, "/threads"), {"body": "Through"})

    assert "Secret" not in shown.text
    assert sent.status_code == 409
    assert "leads out of the project" in sent.json()["error"]
    assert outside.read_bytes() == text
