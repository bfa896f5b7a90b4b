"""Projects as the review part sees them: what their project.yaml says now.

The file is shared with the workspace part; each writes only its own keys, through one writer.
"""

from review.projects.entries import RepoEntry, StackEntry
from review.projects.opening import open_at
from review.projects.reading import Project, all, get, repo  # noqa: A004 - projects.all()
from review.projects.writing import (
    UNSET,
    add_repo,
    repository_at,
    set_description,
    set_path,
    set_stack_note,
)

__all__ = [
    "UNSET", "Project", "RepoEntry", "StackEntry",
    "add_repo", "all", "get", "open_at", "repo", "repository_at", "set_description", "set_path",
    "set_stack_note",
]  # fmt: skip
