"""A review file in the middle of a write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from review.threads import document
from review.threads.document import Path, Tree
from review.threads.schema import Comment, ReviewFile, Thread


@dataclass(slots=True)
class Page:
    """A review file in the middle of a write: its bytes, their content, and their tree of plain
    values, which the operation changes. Nodes that the operation does not ask for stay as they are
    written."""

    data: bytes
    review: ReviewFile
    tree: Tree
    touched: list[Path] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """Every id in the file."""
        threads = self.review.threads
        below = {comment.id for thread in threads for comment in thread.comments}
        return below | {thread.id for thread in threads}

    def tree_of(self, thread: Thread, comment: Comment | None = None) -> Tree:
        """The mapping of a thread or comment, which the caller may change."""
        below = () if comment is None else ("comments", comment.at)
        self.touched.append(("threads", thread.at, *below))
        found: Tree = self.tree["threads"][thread.at]
        return found if comment is None else found["comments"][comment.at]

    def set(self, key: str, value: Any) -> None:
        self.touched.append((key,))
        self.tree[key] = value

    def add(self, thread: Thread) -> None:
        threads = self.tree["threads"] = self.tree.get("threads") or []
        self.touched.append(("threads", len(threads)))
        threads.append(document.thread(thread))

    def reply(self, thread: Thread, comment: Comment) -> None:
        comments = self.tree["threads"][thread.at]["comments"]
        self.touched.append(("threads", thread.at, "comments", len(comments)))
        comments.append(document.comment(comment))

    def remove(self, thread: Thread, comment: Comment | None = None) -> None:
        if comment is None:
            self.touched.append(("threads",))
            del self.tree["threads"][thread.at]
        else:
            self.touched.append(("threads", thread.at, "comments"))
            del self.tree["threads"][thread.at]["comments"][comment.at]

    def text(self) -> bytes:
        """The bytes with the changes spliced in, as one part that contains all of them."""
        if not self.touched:  # only a takeover, which the bytes already have
            return self.data
        path = _common(self.touched)
        value: Any = self.tree
        for part in path:
            value = value[part]
        return document.text(self.data, value, path)


def _common(paths: list[Path]) -> Path:
    """The longest common beginning."""
    first, last = min(paths), max(paths)
    same = (index for index, part in enumerate(first) if part != last[index])
    return first[: next(same, len(first))]
