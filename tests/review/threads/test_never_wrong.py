"""A review never lands on a commit that did not become its own: real git, the whole chain."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from config.errors import Conflict, Invalid, NotFound
from review.stacks import details, taking, wire
from review.stacks import repo as repos
from review.stacks.prs import pr_files
from review.threads import commenting
from tests.review.places import put
from tests.review.threads.desk import ME, Desk, bodies, source
from tests.review.world import World

pytestmark = pytest.mark.django_db
WHEN = "2026-01-01T10:00:00+00:00"
RETRY = "import time\n\n\ndef retry(f):\n    while True:\n        return f()\n"


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def everywhere(desk: Desk) -> list[str]:
    """What is said on all commits of the range, in their order."""
    listed = desk.listed()
    return [body for item in listed.items for body in bodies(desk.review(item.commit.sha))]


def set_pr(desk: Desk, sha: str, **patch: Any) -> None:
    listed = desk.listed()
    item = repos.find(listed, sha)
    pr_files.set_pr(
        repos.target(listed, item), patch, landed_sha=None, pr=item.pr, source_sha=item.pr_source
    )


def pr(desk: Desk, sha: str) -> dict[str, Any]:
    return dict(details.pr("pay", "api", sha))


def two(desk: Desk) -> tuple[str, str]:
    """A commit whose lines hold those of the tiny one above it, in another file."""
    a = desk.git.commit({"retry.py": RETRY}, "Add retries", date=WHEN)
    b = desk.git.commit({"client.py": "import time\n"}, "Import time in the client")
    return a, b


def test_a_dropped_commit_leaves_nothing_on_the_one_it_stood_on(desk: Desk):
    a, b = two(desk)
    own = desk.comment(a, "own thread of A", "retry.py", 1)
    desk.comment(b, "Blocker", "client.py", 1)
    set_pr(desk, b, title="Client: time", branch="client-time", github=12)
    desk.git.reset(a)

    assert source(desk.review(a)) == (None, None, False)
    assert everywhere(desk) == ["own thread of A"]
    assert [one.sha for one in desk.listed().orphans] == [b]
    assert (pr(desk, a)["title"], pr(desk, a)["github"]) == ("Add retries", None)

    desk.reply(a, own, "a reply on A")
    set_pr(desk, a, status="ready")
    desk.git.commits += 5
    picked = desk.git.cherry_pick(b)

    assert picked != b
    assert source(desk.review(picked)) == (b, "patch-id", True)
    assert everywhere(desk) == ["own thread of A", "a reply on A", "Blocker"]
    assert (pr(desk, picked)["title"], pr(desk, picked)["github"]["number"]) == (
        "Client: time", 12,
    )  # fmt: skip


def test_what_a_weak_likeness_took_over_goes_back_to_the_picked_commit(desk: Desk):
    """As an older release wrote it: A's file holds the review of B, by `similar`."""
    a, b = two(desk)
    tid = desk.comment(b, "Blocker", "client.py", 1)
    desk.comment(a, "own thread of A", "retry.py", 1)
    theirs, own = (yaml.safe_load(desk.world.text(sha)) for sha in (b, a))
    said = {"id": "c-a", "author": ME, "body": "said on A meanwhile"}
    theirs["threads"][0]["comments"].append(said | {"created_at": "2098-01-02T00:00:00Z"})
    own["carried_from"] = {"sha": b, "by": "similar", "at": "2098-01-01T00:00:00.000Z", "also": []}
    desk.world.put(a, yaml.safe_dump(own | {"threads": own["threads"] + theirs["threads"]}))
    desk.git.reset(a)
    assert everywhere(desk) == ["own thread of A"]
    desk.git.commits += 5
    picked = desk.git.cherry_pick(b)

    assert bodies(desk.review(a)) == ["own thread of A"]
    assert bodies(desk.review(picked)) == ["Blocker", "said on A meanwhile"]

    desk.reply(picked, tid, "said on the picked one")
    assert bodies(desk.review(a)) == ["own thread of A"]
    assert bodies(desk.review(picked)) == [
        "Blocker", "said on A meanwhile", "said on the picked one",
    ]  # fmt: skip


def test_commits_of_one_second_are_no_versions_of_each_other(desk: Desk):
    one = desk.git.commit({"s.py": "def f():\n    pass\n"}, "Add f", date=WHEN)
    two = desk.git.commit({"v.py": "a\nb\nc\n"}, "Return early", date=WHEN)
    desk.git.commit({"w.py": "w\n"}, "Above")
    desk.comment(two, "SyntaxError here", "v.py", 2)
    desk.git.git("rebase", "-q", "--onto", one, two)

    assert everywhere(desk) == []
    assert [orphan.sha for orphan in desk.listed().orphans] == [two]


def test_the_lower_of_two_commits_of_one_second_may_be_dropped_as_well(desk: Desk):
    """The upper one has a new sha: only what stood beside it tells it from the old one."""
    base = desk.git.sha("main")
    for subject in ("wip", "Return early"):
        low = desk.git.commit({"m.py": "def f():\n    pass\n"}, "wip", date=WHEN)
        high = desk.git.commit({"n.py": "def g():\n    return 1\n"}, subject, date=WHEN)
        desk.comment(low, "On the lower one", "m.py", 2)
        desk.git.rebase_todo(base, [f"drop {low}", f"pick {high}"])
        desk.git.amend({"m.py": "x = 1\n", "n.py": "def g():\n    return 2\n"})

        assert everywhere(desk) == []
        desk.git.reset(base)


def test_a_review_does_not_go_to_a_commit_of_other_files(desk: Desk):
    """The computed range, and another branch checked out: lines alike, but of other files."""
    put(
        desk.world.home / "pay" / "project.yaml",
        f"repos: [{{name: api, path: {desk.git.path}}}]\n".encode(),
    )
    desk.git.checkout("main")
    for last in (29, 30, 31, 32):
        desk.git.commit({"a": numbers(last)}, f"To {last}")
    desk.git.checkout("topic")
    for last in (9, 10, 11):
        sha = desk.git.commit({"b": numbers(last)}, f"Count to {last}")
        desk.comment(sha, f"On {last}")
    desk.git.checkout("main")

    assert everywhere(desk) == []
    assert len(desk.listed().orphans) == 3


def numbers(last: int) -> str:
    return "".join(f"{n}\n" for n in range(last + 1))


def test_a_branch_that_still_exists_keeps_its_review_to_itself(desk: Desk):
    put(
        desk.world.home / "pay" / "project.yaml",
        f"repos: [{{name: api, path: {desk.git.path}}}]\n".encode(),
    )
    mine = desk.git.commit({"p.py": "p = 1\nq = 2\n"}, "Fix tests")
    desk.comment(mine, "on t1 p", "p.py", 1)
    set_pr(desk, mine, title="T1 PR", github=7, branch="topic")
    desk.git.checkout("main")
    desk.git.branch("other")
    theirs = desk.git.commit({"p.py": "p = 1\nq = 2\nr = 3\n"}, "Fix tests")

    assert source(desk.review(theirs)) == (None, None, False)
    assert pr(desk, theirs)["title"] == "Fix tests"
    desk.comment(theirs, "on t2 z", "p.py", 3)
    desk.git.checkout("topic")
    assert everywhere(desk) == ["on t1 p"]
    desk.comment(mine, "t1 again", "p.py", 2)
    desk.git.checkout("other")

    assert everywhere(desk) == ["on t2 z"]


def test_a_commit_of_a_worktree_or_of_a_rebase_under_way_is_not_gone(desk: Desk):
    mine = desk.git.commit({"p.py": "p = 1\nq = 2\nr = 3\n"}, "Add p", date=WHEN)
    desk.comment(mine, "Why p?", "p.py", 1)
    linked = desk.git.path.parent / "linked"
    desk.git.git("worktree", "add", "-q", "--detach", str(linked), mine)
    desk.git.amend({"p.py": "p = 1\nq = 2\nr = 4\n"}, "Add all")

    assert everywhere(desk) == []

    desk.git.git("worktree", "remove", str(linked))
    desk.git.git("commit", "-q", "--amend", "--no-edit")  # so that it is looked at again
    assert everywhere(desk) == ["Why p?"]

    under_way = desk.git.path / ".git" / "rebase-merge"
    under_way.mkdir()
    (under_way / "orig-head").write_text(f"{mine}\n")
    desk.git.git("commit", "-q", "--amend", "-m", "Add more of it")
    assert everywhere(desk) == []


def folded(desk: Desk) -> tuple[str, str, str]:
    """Two commits with a thread each, folded into one."""
    a = desk.git.commit({"a": numbers(9)}, "Add a")
    b = desk.git.commit({"b": numbers(19)}, "Add b")
    desk.comment(a, "on a", "a", 3)
    desk.comment(b, "on b", "b", 3)
    desk.git.git("reset", "-q", "--soft", a)
    desk.git.git("commit", "-q", "--amend", "--no-edit")
    return a, b, desk.git.sha()


def test_a_fold_that_is_undone_leaves_each_thread_on_its_own_commit(desk: Desk):
    a, b, fold = folded(desk)
    assert everywhere(desk) == ["on a", "on b"]
    on_b = desk.review(fold)["threads"][1]["id"]
    desk.comment(fold, "on folded", "a", 5)
    desk.reply(fold, on_b, "reply on the fold")

    desk.git.reset(b)

    assert bodies(desk.review(a)) == ["on a", "on folded"]
    assert bodies(desk.review(b)) == ["on b", "reply on the fold"]
    assert desk.review(b)["carried_over"]
    total = details.project("pay")["repos"][0]["commits"]
    assert sum(one["unresolved"] for one in total) == 3


def test_going_back_and_forth_over_a_fold_with_writes_doubles_and_loses_nothing(desk: Desk):
    _a, b, fold = folded(desk)
    on_b = desk.review(fold)["threads"][1]["id"]
    desk.reply(fold, on_b, "one")

    desk.git.reset(b)
    desk.reply(b, on_b, "two")
    commenting.resolve(desk.target(b), on_b, True, ME)
    assert everywhere(desk) == ["on a", "on b", "one", "two"]

    desk.git.reset(fold)
    assert everywhere(desk) == ["on a", "on b", "one", "two"]
    desk.reply(fold, on_b, "three")

    desk.git.reset(b)
    assert everywhere(desk) == ["on a", "on b", "one", "two", "three"]
    (thread,) = desk.review(b)["threads"]
    assert (thread["resolved"], "from_sha" in thread) == (True, False)

    (comment,) = [one for one in thread["comments"] if one["body"] == "two"]
    commenting.delete(desk.target(b), on_b, comment["id"], ME)
    assert everywhere(desk) == ["on a", "on b", "one", "three"]
    desk.git.reset(fold)
    assert everywhere(desk) == ["on a", "on b", "one", "three"]


def test_a_fold_that_is_taken_apart_by_a_rebase_gives_each_commit_its_thread(desk: Desk):
    _a, b, fold = folded(desk)
    on_b = desk.review(fold)["threads"][1]["id"]
    desk.reply(fold, on_b, "one")
    desk.git.reset(b)
    low, high = desk.moves_on({"z": "z\n"})

    assert bodies(desk.review(low)) == ["on a"]
    assert bodies(desk.review(high)) == ["on b", "one"]


def test_what_was_said_on_a_fold_stays_in_sight_when_a_part_without_a_file_comes_back(desk: Desk):
    a, b, c = (desk.git.commit({name: numbers(9)}, f"Add {name}") for name in "abc")
    set_pr(desk, a, title="A")
    desk.comment(b, "on b", "b", 3)
    desk.git.git("reset", "-q", "--soft", f"{a}~1")
    desk.git.git("commit", "-q", "-m", "All")
    desk.comment(desk.git.sha(), "on the fold", "b", 5)
    desk.git.reset(c)
    low, *_ = desk.moves_on({"z": "z\n"})

    desk.comment(low, "on a", "a", 3)

    assert everywhere(desk) == ["on a", "on b", "on the fold"]


def test_a_pr_record_is_proposed_where_a_likeness_is_weak_and_a_person_takes_it(desk: Desk):
    old = desk.git.commit({"m.py": numbers(9)}, "Count", date=WHEN)
    desk.comment(old, "Why count?", "m.py", 3)
    set_pr(desk, old, title="Counting", branch="count", github=7)
    desk.git.reset("main")
    new = desk.git.commit({"m.py": numbers(10)}, "Say numbers")

    assert source(desk.review(new)) == (old, "similar", True)
    proposal = pr(desk, new)["proposed"]
    assert (proposal["sha"], proposal["title"], proposal["number"]) == (old, "Counting", 7)
    assert (pr(desk, new)["title"], pr(desk, new)["github"]) == ("Say numbers", None)
    (listed,) = details.project("pay")["repos"][0]["commits"]
    assert (listed["proposed"], listed["status"], listed["github"]) == (proposal, "draft", None)

    taken = taking.take("pay", "api", new, old=old)

    assert taken == {"review": True, "pr": True}
    assert source(desk.review(new)) == (old, "person", False)
    record = pr(desk, new)
    assert (record["title"], record["github"]["number"], record["proposed"]) == (
        "Counting",
        7,
        None,
    )


def test_what_cannot_be_told_apart_is_listed_with_what_it_may_have_become(desk: Desk):
    old = desk.git.commit({"m.py": numbers(9)}, "wip", date=WHEN)
    desk.comment(old, "Why count?", "m.py", 3)
    set_pr(desk, old, title="Counting")
    desk.git.reset("main")
    new = [desk.git.commit({f"{n}.py": f"new {n}\n"}, "wip") for n in (1, 2)]

    (orphan,) = desk.listed().orphans
    assert {one["sha"]: one["by"] for one in wire.orphan(orphan)["candidates"]} == dict.fromkeys(
        new, "subject"
    )
    taken = taking.take("pay", "api", new[1], old=old[:9])
    assert taken == {"review": True, "pr": True}
    assert everywhere(desk) == ["Why count?"]
    assert bodies(desk.review(new[1])) == ["Why count?"]
    assert pr(desk, new[1])["title"] == "Counting"
    assert desk.listed().orphans == ()
    with pytest.raises(NotFound):
        taking.take("pay", "api", new[0], old="abcdef0")
    with pytest.raises(Invalid, match='"from" must be the sha'):
        taking.take("pay", "api", new[0], old=None)
    with pytest.raises(Conflict, match="is in the range"):
        taking.take("pay", "api", new[0], old=new[1])
