"""Events: hand edits send one, server writes one alone. How soon: promise F8."""

from __future__ import annotations

import json

import yaml

from tests.review.api.served import Project, Served
from tests.review.places import put
from tests.review.repos import Repo


def test_the_stream_greets_silently_and_names_no_event(served: Served, pay: Project):
    with served.listening() as events:
        served.api.put(f"{pay.p}/description", {"description": "x"})
        events.until({"type": "project", "project": pay.slug, "reason": "description"})
        head, _, text = events.text.partition(b"\r\n\r\n")

    assert b"content-type: text/event-stream" in head.lower()
    assert b"no-cache" in head.lower()
    assert text.startswith(b"retry: 1000\n")
    assert b"\nevent:" not in text
    blocks = [block for block in text.split(b"\n\n") if b"data: " in block]
    ids = [int(block.partition(b"id: ")[2].split(b"\n")[0]) for block in blocks]
    assert ids == sorted(set(ids))


def test_a_stream_of_another_run_is_told_to_fetch_again(served: Served):
    url = f"{served.service.review_url}/api/events"
    with served.api.client.stream("GET", url, headers={"Last-Event-ID": "7"}) as answer:
        lines = answer.iter_lines()
        data = next(line for line in lines if line.startswith("data: "))

    assert json.loads(data[6:]) == {"type": "projects", "reason": "resync"}


def test_each_write_of_the_server_is_told_exactly_once(served: Served, pay: Project):
    api, sha = served.api, pay.shas[0]
    review = {"type": "review", "project": pay.slug, "repo": "api", "sha": sha}
    pr = review | {"type": "pr"}

    def project(reason: str) -> dict[str, str]:
        return {"type": "project", "project": pay.slug, "reason": reason}

    with served.listening() as events:
        events.of(pay.slug)  # the project itself was put there by hand
        events.text = b""
        thread = api.post(pay.c(0, "/threads"), {"body": "x"}).json()
        assert events.of(pay.slug) == [review]
        path = pay.c(0, f"/threads/{thread['id']}")
        reply = api.post(f"{path}/comments", {"body": "y"}).json()
        api.patch(path, {"resolved": True})
        api.patch(f"{path}/comments/{reply['id']}", {"body": "z"})
        api.delete(f"{path}/comments/{reply['id']}")
        api.put(pay.c(0, "/viewed"), {"path": "src/pay.py", "viewed": True})
        assert events.of(pay.slug) == [review] * 6
        api.put(pay.c(0, "/pr"), {"title": "T"})
        api.put(pay.c(0, "/pr"), {"title": None})  # which removes the file
        assert events.of(pay.slug)[6:] == [pr] * 2
        api.put(f"{pay.p}/description", {"description": "x"})
        api.put(f"{pay.p}/repos/api/stacks/1/description", {"description": "y"})
        api.ask("POST", f"{pay.p}/assets", content=b"GIF89a", headers={"Content-Type": "image/gif"})
        api.post(f"{pay.p}/repos", {"path": str(pay.repo.path), "name": "twin"})
        reasons = ("description", "stack", "assets", "config")
        assert events.of(pay.slug)[8:] == [project(reason) for reason in reasons]


def test_what_changes_nothing_is_not_told(served: Served, pay: Project):
    api = served.api
    thread = api.post(pay.c(0, "/threads"), {"body": "x"}).json()
    comment = f"/threads/{thread['id']}/comments/{thread['comments'][0]['id']}"
    image = {"content": b"GIF89a", "headers": {"Content-Type": "image/gif"}}
    api.ask("POST", f"{pay.p}/assets", **image)

    with served.listening() as events:
        events.of(pay.slug)
        events.text = b""
        api.patch(pay.c(0, f"/threads/{thread['id']}"), {"resolved": False})
        api.patch(pay.c(0, comment), {"body": "x"})
        api.put(pay.c(0, "/viewed"), {"path": "src/pay.py", "viewed": False})
        api.put(pay.c(0, "/pr"), {"title": None})
        api.put(f"{pay.p}/description", {"description": None})
        api.ask("POST", f"{pay.p}/assets", **image)
        api.post(pay.c(0, "/threads"), {"body": ""})
        pay.file.write_text(pay.file.read_text() + "triggers: {}\nname: Other\n")

        assert events.of(pay.slug) == []


def test_hand_edits_are_told(served: Served, pay: Project):
    sha = pay.shas[0]
    review = {"type": "review", "project": pay.slug, "repo": "api", "sha": sha}

    with served.listening() as events:
        put(pay.review(), b"threads: [{comments: [{author: x, body: y}]}]\n")
        events.until(review)
        put(pay.review(0, "prs"), b"title: By hand\n")
        events.until(review | {"type": "pr"})
        pay.file.write_text(pay.file.read_text().replace("Pay", "Payments"))
        events.until({"type": "project", "project": pay.slug, "reason": "config"})
        events.text = b""
        draft = pay.file.with_name(".project.yaml.swp")
        draft.write_text(pay.file.read_text() + "archived: true\n")
        draft.replace(pay.file)
        events.until({"type": "project", "project": pay.slug, "reason": "config"})
        pay.file.unlink()
        events.until({"type": "projects", "reason": "removed"})


def test_a_hand_edit_that_is_taken_back_is_told_too(served: Served, pay: Project):
    """The file then holds what the server once wrote."""
    review = {"type": "review", "project": pay.slug, "repo": "api", "sha": pay.shas[0]}
    served.api.put(f"{pay.p}/description", {"description": "x"})
    served.api.post(pay.c(0, "/threads"), {"body": "x"})
    described, reviewed = pay.file.read_bytes(), pay.review().read_bytes()

    with served.listening() as events:

        def told(wanted: dict[str, str]) -> None:
            events.until(wanted)
            events.of(pay.slug)
            events.text = b""

        events.of(pay.slug)
        pay.review().write_bytes(reviewed + b"by: hand\n")
        told(review)
        pay.review().write_bytes(reviewed)
        told(review)
        pay.review().unlink()
        told(review)
        put(pay.review(), reviewed)
        told(review)
        pay.file.write_bytes(described.replace(b"Pay", b"Payments"))
        told({"type": "project", "project": pay.slug, "reason": "config"})
        pay.file.write_bytes(described)
        told({"type": "project", "project": pay.slug, "reason": "config"})
        away = pay.file.rename(pay.file.with_suffix(".away"))
        told({"type": "projects", "reason": "removed"})
        away.rename(pay.file)
        told({"type": "projects", "reason": "added"})


def test_a_new_project_is_told_of_however_it_is_made(served: Served):
    folder = served.service.projects / "by-hand"
    with served.listening() as events:
        folder.mkdir()
        events.of("by-hand")
        put(folder / "project.yaml", b"title: By hand\n")
        events.until({"type": "projects", "reason": "added"})
        events.text = b""
        served.service.http.post("/api/projects", json={"name": "By the workspace"})
        events.until({"type": "projects", "reason": "added"})


def test_refs_that_move_are_told_packed_ones_and_those_of_a_linked_worktree(
    served: Served, pay: Project, tmp_path
):
    linked = pay.repo.worktree(tmp_path / "linked", "topic")
    entries = [
        {"name": "api", "path": str(pay.repo.path), "range": "main..feature"},
        {"name": "linked", "path": str(linked.path), "range": "main..HEAD"},
    ]
    moved = {"type": "project", "project": pay.slug, "reason": "git"}

    def moves(repo: Repo, *command: str) -> None:
        events.of(pay.slug)
        events.text = b""
        repo.git(*command)
        events.until(moved)

    with served.listening() as events:
        events.of(pay.slug)
        put(pay.file, yaml.safe_dump({"repos": entries}).encode())
        events.until({"type": "project", "project": pay.slug, "reason": "config"})
        moves(pay.repo, "commit", "-q", "--allow-empty", "-m", "loose")
        moves(linked, "commit", "-q", "--allow-empty", "-m", "linked")
        moves(linked, "checkout", "-q", "--detach")
        moves(pay.repo, "update-ref", "refs/heads/deep/er", "HEAD")
        pay.repo.git("pack-refs", "--all")
        moves(pay.repo, "update-ref", "-d", "refs/heads/deep/er")


def test_a_file_of_the_commit_it_is_matched_from_is_told_as_the_one_shown(
    served: Served, pay: Project
):
    old = pay.shas[2]
    new = pay.repo.amend({"README.md": "Pay\n\nRetries!\n"})
    orphan = "f" * 40

    with served.listening() as events:
        events.of(pay.slug)
        put(pay.review(old), b"threads: [{comments: [{author: x, body: y}]}]\n")
        events.until({"type": "review", "project": pay.slug, "repo": "api", "sha": new})
        put(pay.review(orphan), b"threads: [{comments: [{author: x, body: y}]}]\n")
        events.until({"type": "project", "project": pay.slug, "reason": "reviews"})


def test_examples_are_told_once(served: Served):
    with served.listening() as events:
        events.of("")
        events.text = b""
        for route in ("/api/examples", "/api/examples/remove", "/api/examples"):
            assert served.api.post(route).status_code in (200, 201)
        told = [one for one in events.of("example-search") if "sha" not in one]

    assert told == [{"type": "projects", "reason": "examples"}] * 3
