"""The choices that have a name of their own in /api/schema, given by config/settings.py."""

from __future__ import annotations

from typing import get_args

from review.git.commits import FileStatus
from review.stacks.branches import BranchStatus
from review.stacks.prs.pr_files import Source
from review.stacks.status import STORED, Status
from review.threads.judged import Word
from review.threads.placement.follow import Side

__all__ = ["BRANCH_STATUSES", "FILE_STATUSES", "SIDES", "SOURCES", "STATUSES", "STORED", "VERDICTS"]

STATUSES = get_args(Status)
FILE_STATUSES = get_args(FileStatus)
BRANCH_STATUSES = get_args(BranchStatus)
SOURCES = get_args(Source)
SIDES = get_args(Side)
VERDICTS = get_args(Word)
