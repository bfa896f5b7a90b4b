"""Errors of the repository or the disk, as answers with their own text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from config.errors import SvcError
from config.git.command import GitError
from config.storage.files import CannotWrite


def sentence(error: Exception) -> Exception:
    """An error of git or of a disk write as a SvcError (500); any other error as it is."""
    return SvcError(error.text) if isinstance(error, GitError | CannotWrite) else error


@contextmanager
def failures_as_500() -> Iterator[None]:
    """Do as `sentence` for errors raised outside of viewsets. Works as a decorator, too."""
    try:
        yield
    except (GitError, CannotWrite) as error:
        raise sentence(error) from error
