"""What the repository or the disk refuses, as an answer with its own sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from config.errors import SvcError
from config.git.command import GitError
from config.storage.files import CannotWrite


def sentence(error: Exception) -> Exception:
    """A git that cannot answer, or a disk that refuses, as a 500; any other error as it is."""
    return SvcError(error.text) if isinstance(error, GitError | CannotWrite) else error


@contextmanager
def failures_as_500() -> Iterator[None]:
    """The same around what no viewset answers. A decorator, too."""
    try:
        yield
    except (GitError, CannotWrite) as error:
        raise sentence(error) from error
