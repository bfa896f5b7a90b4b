"""The YAML files of the review part: project.yaml, review files, PR files.

The one place that knows their paths, reads them with every scalar as text, and changes them through
the kernel's writer. What a file means is decided in projects/, threads/ and stacks/.
"""

from review.files.backups import keep
from review.files.layout import (
    KINDS,
    PROJECT,
    SLUG,
    WORKTREE,
    Kind,
    drafts,
    has_worktree,
    listed,
    name_of,
    names,
    path,
    root,
    slugs,
    state_dir,
)  # fmt: skip
from review.files.reading import (
    LIMIT,
    MIRROR,
    VALUES,
    load,
    read,
    read_all,
    read_many,
    remembered,
    stamp,
)  # fmt: skip
from review.files.writing import arrived, change, check_whole, expect

__all__ = [
    "KINDS", "LIMIT", "MIRROR", "PROJECT", "SLUG", "VALUES", "WORKTREE", "Kind", "arrived",
    "change", "check_whole", "drafts", "expect", "has_worktree", "keep", "listed", "load",
    "name_of", "names", "path", "read", "read_all", "read_many", "remembered", "root", "slugs",
    "stamp", "state_dir",
]  # fmt: skip
