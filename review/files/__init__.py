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
    list_folder,
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
    index_row,
    load,
    read,
    read_all,
    read_many,
    stamp,
)  # fmt: skip
from review.files.writing import change, check_whole, expect, is_own_write

__all__ = [
    "KINDS", "LIMIT", "MIRROR", "PROJECT", "SLUG", "VALUES", "WORKTREE", "Kind", "change",
    "check_whole", "drafts", "expect", "has_worktree", "index_row", "is_own_write", "keep",
    "list_folder", "load", "name_of", "names", "path", "read", "read_all", "read_many", "root",
    "slugs", "stamp", "state_dir",
]  # fmt: skip
