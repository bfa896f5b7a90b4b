"""The five states of a commit's branch, by table."""

from __future__ import annotations

import pytest

from review.stacks.branches import branch


class Refs:
    """Local and remote branches as plain dictionaries."""

    def __init__(self, local: dict[str, str], remote: dict[str, str] | None = None) -> None:
        self.local = local
        self.remote = remote or {}

    def branches_at(self, sha: str) -> list[str]:
        return sorted(name for name, at in self.local.items() if at == sha)

    def branch(self, name: str) -> str | None:
        return self.local.get(name) or self.remote.get(name)


@pytest.mark.parametrize(
    ("recorded", "status", "local", "remote", "expected"),
    [
        ("x", "draft", {"x": "here"}, {}, {"name": "x", "status": "ok", "discovered": []}),
        ("x", "ready", {}, {"x": "here"}, {"name": "x", "status": "ok", "discovered": []}),
        (
            "x", "draft", {"x": "there", "b": "here", "a": "here"}, {},
            {"name": "x", "status": "moved", "points_at": "there", "discovered": ["a", "b"]},
        ),
        ("x", "draft", {"y": "there"}, {}, {"name": "x", "status": "missing", "discovered": []}),
        (
            None, "draft", {"long": "here", "b": "here", "a": "here"}, {},
            {"name": "a", "status": "discovered", "discovered": ["a", "b", "long"]},
        ),
        (None, "draft", {"y": "there"}, {"z": "here"}, None),
        (
            "x", "merged", {"x": "there"}, {},
            {"name": "x", "status": "merged", "points_at": "there", "discovered": []},
        ),
        ("x", "merged", {}, {}, {"name": "x", "status": "merged", "discovered": []}),
        (
            None, "merged", {"b": "here", "a": "here"}, {},
            {"name": "a", "status": "merged", "points_at": "here", "discovered": ["b"]},
        ),
        (None, "merged", {}, {}, None),
    ],
)  # fmt: skip
def test_a_branch_says_where_its_name_points_now(recorded, status, local, remote, expected):
    assert branch(recorded, sha="here", status=status, refs=Refs(local, remote)) == expected


def test_branches_of_the_whole_range_name_a_commit_only_where_it_has_none_of_its_own():
    refs = Refs({"f": "here", "main": "here", "step-1": "here"})

    def name(shared: tuple[str | None, ...]) -> str:
        found = branch(None, sha="here", status="draft", refs=refs, shared=shared)
        assert found is not None
        return str(found["name"])

    assert name(("f", "main")) == "step-1"
    assert name(("step-1", "main")) == "f"
    assert branch(None, sha="s", status="draft", refs=Refs({"f": "s"}), shared=("f", None)) == {
        "name": "f", "status": "discovered", "discovered": ["f"],
    }  # fmt: skip
