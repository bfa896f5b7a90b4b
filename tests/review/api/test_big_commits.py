"""A commit of 2,000 files and a file of 20,000 lines, held against git."""

from __future__ import annotations

import random

from tests.described import Api
from tests.review.api.served import Project

FILES, LINES, CHANGES = 2_000, 20_000, 2_000


def test_a_commit_of_2000_files_is_whole_and_its_first_screen_small(api: Api, pay: Project):
    old = {f"d{n % 40}/f{n}.txt": f"{n}\n" + "old\n" * (n % 300) for n in range(FILES)}
    pay.repo.commit(old, "Before")
    new = {path: f"{text}new\n".replace("old", "odd", 1) for path, text in old.items()}
    sha = pay.repo.commit(new, "Wide")
    counts = numstat(pay, sha)

    first, whole = api.get(pay.c(sha, "?contents=8")), api.get(pay.c(sha))

    assert len(first.content) < len(whole.content) / 2
    shown, everything = first.json(), whole.json()
    assert (shown["truncated"], everything["truncated"]) == (True, False)
    assert [one["truncated"] for one in shown["files"]] == [False] * 8 + [True] * (FILES - 8)
    assert shown["files"][:8] == everything["files"][:8]
    assert [one["path"] for one in shown["files"]] == list(counts)
    found = {
        one["path"]: (one["additions"], one["deletions"], one["old"], one["new"])
        for one in everything["files"]
    }
    assert found == {path: (*counts[path], old[path], new[path]) for path in counts}
    assert len(found) == FILES
    assert not any(one["truncated"] for one in everything["files"])
    total = tuple(sum(pair[side] for pair in counts.values()) for side in (0, 1))
    assert (everything["additions"], everything["deletions"]) == total
    last = everything["files"][-1]
    assert api.get(pay.c(sha, f"/file?path={last['path']}")).json() == last


def test_a_file_of_20000_lines_is_shown_with_the_edits_of_git_and_its_threads(
    api: Api, pay: Project
):
    rng = random.Random(49)
    before = [f"line {n} of {rng.random()}" for n in range(LINES)]
    after = list(before)
    for n in rng.sample(range(LINES), CHANGES):
        after[n] = f"changed {n}"
    pay.repo.commit({"long.txt": text(before)}, "Long")
    old = pay.repo.commit({"long.txt": text(after)}, "Scattered")
    for number in range(20):
        place = {"path": "long.txt", "line": number * 1_000 + 1}
        assert api.post(pay.c(old, "/threads"), {"body": f"{number}", **place}).status_code == 201

    (file,) = api.get(pay.c(old)).json()["files"]
    none = api.get(pay.c(old, "?contents=none")).json()

    assert (file["old"], file["new"], file["truncated"]) == (text(before), text(after), False)
    assert [file["additions"], file["deletions"]] == list(numstat(pay, old)["long.txt"])
    assert rebuilt(file["edits"], before, after) == after
    assert file["edits"] == hunks(pay, old)
    assert (none["truncated"], none["files"][0]["new"]) == (True, None)
    new = pay.repo.amend({"long.txt": text(["top", *after])})
    threads = api.get(pay.c(new, "/review")).json()["threads"]
    assert [one["line"] for one in threads] == [n * 1_000 + 2 for n in range(20)]
    assert {one["placement"] for one in threads} == {"moved"}


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def numstat(pay: Project, sha: str) -> dict[str, tuple[int, int]]:
    """Lines added and deleted by path, as git counts them and in its order."""
    rows = pay.repo.git("diff-tree", "-r", "--numstat", "--no-commit-id", sha).splitlines()
    split = [row.split("\t") for row in rows]
    return {path: (int(added), int(deleted)) for added, deleted, path in split}


def hunks(pay: Project, sha: str) -> list[list[int]]:
    """The numbers of git's own hunk headers."""
    found: list[list[int]] = []
    for line in pay.repo.git("diff-tree", "-p", "-U0", "--no-commit-id", sha).splitlines():
        if line.startswith("@@ "):
            pairs = [part[1:].partition(",") for part in line.split()[1:3]]
            found.append([int(n) for start, _, count in pairs for n in (start, count or 1)])
    return found


def rebuilt(edits: list[list[int]], before: list[str], after: list[str]) -> list[str]:
    """The new text, made of the old one and what the edits say."""
    made: list[str] = []
    at = 0
    for old, gone, new, come in edits:
        start = old - 1 if gone else old
        made += before[at:start]
        made += after[new - 1 : new - 1 + come]
        at = start + gone
    return made + before[at:]
