"""What is not committed, over HTTP: a diff, a commit of chosen files, a discard and its undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser.commits import png
from tests.described import Api
from tests.review.api.served import RETRY, Project, Served

ROUTE = "/repos/api/commits/WORKTREE"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def shown(api: Api, pay: Project, query: str = "") -> dict[str, Any]:
    answer = api.get(f"{pay.p}{ROUTE}{query}")
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def test_a_clean_tree_differs_in_nothing(api: Api, pay: Project):
    found = shown(api, pay)

    assert (found["files"], found["truncated"], found["sha"]) == ([], False, "WORKTREE")
    assert found["head"] == pay.repo.sha()


def test_what_is_staged_changed_new_and_deleted_is_drawn_as_a_commit_would_be(
    api: Api, pay: Project
):
    root = pay.repo.path
    head = pay.repo.sha()
    text = (root / "src/pay.py").read_text()
    (root / "src/pay.py").write_text(f"{text}one more\n")
    (root / "new.txt").write_text("new\n")
    (root / "staged.txt").write_text("staged\n")
    pay.repo.git("add", "staged.txt")
    (root / "staged.txt").write_text("staged, and more\n")
    before = everything(root)

    found = shown(api, pay)

    assert everything(root) == before
    files = {file["path"]: file for file in found["files"]}
    assert {path: file["status"] for path, file in files.items()} == {
        "new.txt": "added",
        "src/pay.py": "modified",
        "staged.txt": "added",
    }
    assert files["src/pay.py"]["old"] == text
    assert files["staged.txt"]["new"] == "staged, and more\n"
    assert (found["head"], found["additions"], found["deletions"]) == (head, 3, 0)
    pay.repo.git("add", "-A")
    pay.repo.git("commit", "-q", "-m", "taken over")
    assert shown(api, pay)["files"] == []


def test_one_file_is_asked_for_alone(api: Api, pay: Project):
    (pay.repo.path / "new.txt").write_text("new\n")

    route = f"{pay.p}{ROUTE}/file"
    file = api.get(route, params={"path": "new.txt"}).json()
    assert (file["new"], file["look"]) == ("new\n", shown(api, pay)["look"])
    assert api.get(route, params={"path": "src/pay.py"}).status_code == 404
    assert api.get(route).status_code == 400
    bare = shown(api, pay, "?contents=none")
    assert (bare["truncated"], bare["files"][0]["new"]) == (True, None)


def test_a_submodule_and_what_a_sparse_checkout_lacks_are_not_shown_as_deleted(
    api: Api, pay: Project
):
    inner = pay.repo.sha()
    pay.repo.git("update-index", "--add", "--cacheinfo", f"160000,{inner},sub")
    pay.repo.git("commit", "-q", "-m", "with a submodule")
    pay.repo.git("sparse-checkout", "set", "--no-cone", "/none")

    assert shown(api, pay)["files"] == []


def test_no_filter_or_hook_of_the_repository_runs(api: Api, pay: Project, tmp_path: Path):
    mark = tmp_path / "ran"
    root = pay.repo.path
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor"):
        pay.repo.git("config", key, f"touch {mark}; cat")
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (root / "src/pay.py").write_text("changed\n")

    paths = [file["path"] for file in shown(api, pay)["files"]]

    assert paths == [".gitattributes", "src/pay.py"]
    assert not mark.exists()


def test_a_commit_and_a_discard_answer_what_they_did_and_events_tell_of_them(
    api: Api, pay: Project, served: Served
):
    root = pay.repo.path
    pay.repo.config("user.name", "Ada")
    pay.repo.config("user.email", "ada@example.org")
    pay.repo.write({"README.md": "read me\n", "new.txt": "new\n", "src/pay.py": "gone\n"})
    at = f"{pay.p}{ROUTE}"
    seen = shown(api, pay)
    assert seen["blocked"] is None

    with served.listening() as events:
        body = {"files": ["new.txt"], "message": "Add it\n", "look": seen["look"]}
        made = api.post(f"{at}/commit", body)
        events.until({"type": "project", "project": pay.slug, "reason": "worktree"})
    assert (made.status_code, made.json()) == (
        201,
        {"sha": pay.repo.sha(), "branch": "feature", "subject": "Add it", "files": ["new.txt"]},
    )
    assert api.get(pay.c(pay.repo.sha())).json()["subject"] == "Add it"
    assert api.post(f"{at}/commit", body | {"files": None}).json()["code"] == "moved"

    done = api.post(f"{at}/discard", {"path": "src/pay.py"})
    assert (done.status_code, done.json()["files"]) == (200, ["src/pay.py"])
    assert (root / "src/pay.py").read_text() == RETRY
    assert [file["path"] for file in shown(api, pay)["files"]] == ["README.md"]
    (kept,) = api.get(f"{at}/discarded").json()["discarded"]
    assert (kept["id"], kept["path"]) == (done.json()["id"], "src/pay.py")
    undone = api.post(f"{at}/undo", {"id": done.json()["id"]})
    assert (undone.status_code, (root / "src/pay.py").read_text()) == (200, "gone\n")

    assert api.post(f"{at}/commit", {"message": " "}).status_code == 400
    assert api.post(f"{at}/discard", {"path": "nowhere"}).status_code == 400
    assert api.post(f"{at}/discard", {}).status_code == 400
    assert api.post(f"{at}/undo", {"id": "20260101T000000Z-00000000"}).status_code == 404
    pay.repo.git("reset", "-q", "--hard")
    assert api.post(f"{at}/commit", {"message": "x"}).json()["code"] == "nothing"


def test_an_image_that_differs_is_shown_on_both_sides(api: Api, pay: Project):
    old, new = png(2, 2), png(3, 3)
    pay.repo.commit({"logo.png": old})
    pay.repo.write({"logo.png": new})

    for side, data in (("LEFT", old), ("RIGHT", new)):
        answer = api.get(f"{pay.p}{ROUTE}/image", params={"path": "logo.png", "side": side})
        assert (answer.status_code, answer.content) == (200, data)
    assert api.get(f"{pay.p}{ROUTE}/image", params={"path": "src/pay.py"}).status_code == 404
