"""The values that are written to a file: keys in a fixed order, absent ones left out.

The inverse of reading.py. Shas, ids and times go out in quotes, bodies as blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.errors import Invalid
from config.storage import yamlio
from review import files
from review.git import objects, patches
from review.threads.asked import Asked, Proposed
from review.threads.carry.traces import CarriedFrom
from review.threads.judged import Verdict
from review.threads.schema import VERSION, Anchor, Comment, Mark, ReviewFile, Thread
from review.threads.target import Target

Tree = dict[str, Any]
Path = tuple[str | int, ...]
QUOTED = frozenset({
    "sha", "at", "created", "status_over", "resolved_at", "updated_at",
})  # fmt: skip


def quote(text: str | None) -> yamlio.Quoted | None:
    """A sha, id or time in quotes, so that no reader takes it for a number."""
    return None if text is None else yamlio.Quoted(text)


def text(data: bytes | None, value: Any, path: Path = ()) -> bytes:
    """`data` with `value` at `path`; a new file if `data` is None.

    Raises Invalid if the file would exceed the limit of its kind.
    """
    if data is None:
        made = yamlio.dump(value)
    else:
        made = yamlio.set_entry(
            data, path, value, limit=2 * files.LIMIT, nodes=2 * files.VALUES, shared=True
        )
    if len(made) > files.LIMIT:
        raise Invalid(f"The file would be larger than {files.LIMIT >> 20} MB")
    return made


def put(tree: Tree, name: str, value: Any) -> None:
    """Set a field of a file; None removes it."""
    if value is None:
        tree.pop(name, None)
    elif name in QUOTED:
        tree[name] = quote(value)
    elif name == "body":
        tree[name] = yamlio.Block(value)
    elif isinstance(value, Mapping):
        tree[name] = {key: quote(one) if key in QUOTED else one for key, one in value.items()}
    else:
        tree[name] = value


def review(value: ReviewFile, commit: Tree) -> Tree:
    """The whole review file of a commit that has the fingerprint `commit`."""
    tree = {
        "version": VERSION,
        "commit": commit,
        "carried_from": carried_from(value.carried_from) if value.carried_from else None,
        "viewed": {one.path: mark(one) for one in value.viewed} or None,
        "verdicts": {one.author: verdict(one) for one in value.verdicts} or None,
        "threads": [thread(one) for one in value.threads],
    }
    return _present(tree) | dict(value.extra)


def thread(value: Thread) -> Tree:
    tree = {
        "id": quote(value.id),
        "path": value.path,
        "side": value.side,
        "line": value.line,
        "start_line": value.start_line,
        "start_side": value.start_side if value.start_side != value.side else None,
        "author": value.author,
        "resolved": value.resolved,
        "resolved_by": value.resolved_by,
        "resolved_at": quote(value.resolved_at),
        "created_at": quote(value.created_at),
        "from_sha": quote(value.from_sha),
        "asked": asked(value.asked) if value.asked else None,
        "proposed": proposed(value.proposed) if value.proposed else None,
        "anchor": anchor(value.anchor) if value.path else None,
        "comments": [comment(one) for one in value.comments],
    }
    return _present(tree) | dict(value.extra)


def comment(value: Comment) -> Tree:
    tree = {
        "id": quote(value.id),
        "author": value.author,
        "body": yamlio.Block(value.body),
        "created_at": quote(value.created_at),
        "updated_at": quote(value.updated_at),
    }
    return _present(tree) | dict(value.extra)


def asked(value: Asked) -> Tree:
    return _present(
        {
            "at": quote(value.at),
            "by": value.by,
            "project": value.project,
            "chat": quote(value.chat),
            "sha": quote(value.sha),
            "tip": quote(value.tip),
            "path": value.path,
            "line": value.line,
        }
    )


def proposed(value: Proposed) -> Tree:
    return _present({"by": value.by, "at": quote(value.at)})


def anchor(value: Anchor) -> Tree:
    return _present(
        {
            "commit": quote(value.commit),
            "blob": quote(value.blob),
            "text": value.text,
            "before": value.before,
            "after": value.after,
        }
    )


def mark(value: Mark) -> Tree:
    """A mark. Without a hash it names its commit: the next file with it is of another commit."""
    of = value.of if value.diff is None else None
    return _present({"diff": quote(value.diff), "at": quote(value.at), "of": quote(of)})


def verdict(value: Verdict) -> Tree:
    tree = {
        "verdict": value.word,
        "at": quote(value.at),
        "sha": quote(value.sha),
        "patch_id_u0": quote(value.patch_id),
        "diff": quote(value.diff),
    }
    return _present(tree) | dict(value.extra)


def carried_from(value: CarriedFrom) -> Tree:
    without = {"without": [quote(sha) for sha in value.without]} if value.without else {}
    return {
        "sha": quote(value.sha),
        "by": value.by,
        "at": quote(value.at),
        "also": [quote(sha) for sha in value.also],
    } | without


def fingerprint(target: Target) -> Tree:
    """What identifies the target's commit when its object is gone."""
    commit = target.commit
    patch = patches.of(target.repository, [commit.sha]).get(commit.sha)
    return {
        "sha": quote(commit.sha),
        "subject": commit.subject,
        "author": commit.author_email,
        "authored": quote(commit.authored),
        "change_id": quote(commit.change_id),
        "patch_id": quote(patch.patch_id if patch else None),
        "patch_id_u0": quote(patch.patch_id_u0 if patch else None),
    }


def with_fingerprint(data: bytes, tree: Tree, target: Target) -> bytes:
    """The file with the fingerprint of the target's commit added, unless its `tree` has one
    already, or the commit is gone and it is too late."""
    if tree.get("commit") is not None or objects.missing(target.repository, [target.commit.sha]):
        return data
    head = {"version": VERSION} if tree.get("version") is None else {}
    for name, value in (head | {"commit": fingerprint(target)}).items():
        data = text(data, value, (name,))
    return data


def _present(tree: Mapping[str, Any]) -> Tree:
    return {key: value for key, value in tree.items() if value is not None}
