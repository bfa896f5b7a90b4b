"""Comments that are not sent yet: only their author sees them until they are submitted.

They are in the data directory, not in the project, in the form of a review file with one thread for
each draft: `reply_to` names the thread that a reply is for. The first draft creates the review file
of the commit, so that carry-over finds the commit, and with it its drafts, after a rebase. See
docs/design/review.md#drafts-and-verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from config.errors import Conflict, Invalid, NotFound, SvcError
from config.storage import files as storage
from config.storage import yamlio
from review import files
from review.files import times
from review.threads import commenting, commit_review, document, ids, reading
from review.threads.schema import Thread
from review.threads.target import Target
from review.threads.writing import limits, writes

REPLY = "reply_to"
MOST = 500  # of one version of a commit
Threads = tuple[Thread, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """`thread` has the draft as its one comment; `sha` is the version it was written on."""

    sha: str
    thread: Thread

    @property
    def id(self) -> str:
        return self.thread.id

    @property
    def reply_to(self) -> str | None:
        said = self.thread.extra.get(REPLY)
        return said if isinstance(said, str) else None

    @property
    def author(self) -> str | None:
        return self.thread.comments[0].author


def of(target: Target, author: str) -> list[Draft]:
    """The drafts of this author on any version of the commit, the oldest first."""
    return _mine([Draft(sha, one) for sha in _shas(target) for one in _read(target, sha)], author)


def readable(target: Target, author: str) -> tuple[list[Draft], str | None]:
    """The drafts as far as the files can be read, and why one of them cannot be read."""
    found: list[Draft] = []
    error = None
    for sha in _shas(target):
        try:
            found += [Draft(sha, one) for one in _read(target, sha)]
        except SvcError as why:
            error = error or why.text
    return _mine(found, author), error


def of_gone(slug: str, repo: str, shas: Iterable[str], author: str) -> list[Draft]:
    """The author's drafts on gone commits, as far as files can be read; the oldest first."""
    found: list[Draft] = []
    for sha in shas:
        with suppress(SvcError):
            found += [Draft(sha, one) for one in _in_file(path(slug, repo, sha), sha)]
    return _mine(found, author)


def shas(slug: str, repo: str) -> frozenset[str]:
    """The commits that have drafts."""
    names = files.list_folder(files.drafts(slug, repo))
    return frozenset(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def add(
    target: Target, *, body: Any, author: Any, reply_to: str | None = None, **lines: Any
) -> str:
    """Write a draft about these lines, or a reply to that thread; return its id."""
    comment = commenting.new_comment(body, author)
    comment = replace(comment, id=ids.mint("c", ()))
    if reply_to is not None:
        commit_review.of(target).review.thread(reply_to)
    made = commenting.new_thread(target, comment, **_all(lines))
    extra = {REPLY: reply_to} if reply_to else {}
    made = replace(made, id=ids.mint("t", ()), extra=extra)
    writes.write(target, lambda _page: True)  # creates the file that carry-over follows
    file = path(target.slug, target.repo, target.commit.sha)
    _change(file, target.commit.sha, lambda known: (*known, _check_room(known, made)))
    return made.id


def edit(target: Target, name: str, body: Any, author: str, was: Any = None) -> None:
    text, at = limits.body(body), times.now()
    found = one(target, name, author)

    def anew(thread: Thread) -> Thread:
        if thread.id != name:
            return thread
        (comment,) = thread.comments
        limits.check_unchanged(comment.body, was)
        return replace(thread, comments=(replace(comment, body=text, updated_at=at),))

    file = path(target.slug, target.repo, found.sha)
    _change(file, found.sha, lambda known: tuple(map(anew, known)))


def remove(slug: str, repo: str, gone: Sequence[Draft]) -> None:
    names = {draft.id for draft in gone}
    for sha in {draft.sha for draft in gone}:
        file = path(slug, repo, sha)
        _change(file, sha, lambda known: tuple(one for one in known if one.id not in names))


def one(target: Target, name: str, author: str) -> Draft:
    """The draft. NotFound if there is none, or it is not the author's: no one else learns of it."""
    return _find(of(target, author), name)


def one_of_gone(slug: str, repo: str, shas: Iterable[str], name: str, author: str) -> Draft:
    """As `one`, for drafts of gone commits."""
    return _find(of_gone(slug, repo, shas, author), name)


def _find(found: Iterable[Draft], name: str) -> Draft:
    for draft in found:
        if draft.id == name:
            return draft
    raise NotFound("No such draft")


def _all(lines: dict[str, Any]) -> dict[str, Any]:
    names = ("path", "side", "line", "start_line", "start_side")
    return {name: lines.get(name) for name in names}


def _check_room(known: Threads, made: Thread) -> Thread:
    if len(known) >= MOST:
        raise Invalid(f"A commit holds at most {MOST} drafts: submit or delete some")
    return made


def path(slug: str, repo: str, sha: str) -> Path:
    return files.drafts(slug, repo) / f"{sha}.yaml"


def _mine(found: Sequence[Draft], author: str) -> list[Draft]:
    mine = [one for one in found if one.author == author]
    return sorted(mine, key=lambda one: times.exact(one.thread.created_at))


def _shas(target: Target) -> list[str]:
    """Every version of the commit, and the commits that were folded into it."""
    shown = commit_review.of(target)
    return list(
        dict.fromkeys((*commit_review.past(target, shown), *commit_review.versions(target, shown)))
    )


def _read(target: Target, sha: str) -> Threads:
    """The drafts on one version. Raises Conflict if the file is not valid."""
    return _in_file(path(target.slug, target.repo, sha), sha)


def _in_file(file: Path, sha: str) -> Threads:
    try:
        found = storage.read(file, limit=files.LIMIT)
    except OSError as error:
        raise SvcError(f"Cannot read the drafts of {sha[:12]}: {error.strerror}") from error
    return _parse(found.data, file, sha) if found else ()


def _parse(data: bytes, file: Path, sha: str) -> Threads:
    try:
        texts, _ = files.load(str(file), data)
    except yamlio.YamlError as error:
        text = f"Your drafts in {file} are not valid YAML ({error}). Fix the file by hand."
        raise Conflict(text, code="invalid_file") from error
    return reading.parse(texts, sha).conversations


def _change(file: Path, sha: str, act: Callable[[Threads], Threads]) -> None:
    """Apply `act` to the drafts of one version; without a draft left the file is deleted."""

    def apply(data: bytes | None) -> bytes | None:
        made = act(_parse(data, file, sha) if data else ())
        if not made:
            return None
        return document.text(None, {"threads": [document.thread(thread) for thread in made]})

    with storage.writing("the drafts"):
        files.state_dir()  # a folder for this user alone
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        storage.change(file, apply)
