"""What may be done: REST, pages and the MCP endpoint call the same functions (contract 13).

Each takes the caller first and flat arguments as they were sent, finds what they name, leaves
their checking to the nouns, and returns the record of section 8 of the contract. After a change
it tells the clients (events.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

from config.kernel.errors import Invalid, NotFound, SvcError, printable
from config.kernel.jsonio import text_or_null
from config.kernel.mcp.operations import Unrestricted
from config.kernel.storage.files import CannotWrite
from review import assets, events, examples, projects
from review.git.command import GitError
from review.projects import UNSET
from review.reviews import records, threads, threads_text
from review.reviews import viewed as marks
from review.reviews.target import Target
from review.stacks import contents as texts
from review.stacks import conversations, details, listing, moving, prs, taking
from review.stacks import repo as repos
from review.stacks.values import Item, Repo, Stack

P = ParamSpec("P")
T = TypeVar("T")
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Local(Unrestricted):
    """A caller on this machine; there is no credential. `author` signs what it writes unsigned."""

    author: str
    defaults: Mapping[str, str] = field(default_factory=dict)


def told(call: Callable[P, T]) -> Callable[P, T]:
    """A git that cannot answer, or a disk that refuses, is told in its own sentence (500)."""

    @wraps(call)
    def telling(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except (GitError, CannotWrite) as error:
            raise SvcError(error.text) from error

    return telling


def find(slug: str, name: str, sha: str) -> tuple[Repo, Item]:
    """One commit of one repo as both are now."""
    project = projects.get(slug)
    found = repos.load(project, projects.repo(project, name))
    return found, repos.find(found, sha)


def target(slug: str, name: str, sha: str) -> Target:
    return repos.target(*find(slug, name, sha))


# -- reads ---------------------------------------------------------------------------------------


@told
def list_projects(caller: Local) -> Record:
    return listing.project_list()


@told
def get_project(caller: Local, *, project: str, html: bool = False, mount: str = "") -> Record:
    """The project; with `html`, its intro and stack notes rendered for pages under `mount`."""
    found = details.project(project)
    return details.rendered(found, mount) if html else found


@told
def get_threads(
    caller: Local,
    *,
    project: str,
    unresolved_only: bool = False,
    html: bool = False,
    mount: str = "",
) -> Record:
    """Every thread of the project, with the reviews no commit stands for and unreadable files."""
    return conversations.conversations(
        project, unresolved_only=unresolved_only, html=html, mount=mount
    )


@told
def get_project_text(caller: Local, *, project: str, unresolved_only: bool = False) -> str:
    return conversations.markdown(project, unresolved_only=unresolved_only)


@told
def get_commit(
    caller: Local,
    *,
    project: str,
    repo: str,
    sha: str,
    contents: Any = "none",
    path: str | None = None,
) -> Record | Iterator[bytes]:
    """One commit, or one of its files; a big one as pieces of its JSON."""
    if path is not None:
        return details.file(project, repo, sha, path)
    try:
        wanted = texts.wanted(contents)
    except Invalid:
        find(project, repo, sha)  # a commit that is not there comes first
        raise
    return details.commit(project, repo, sha, contents=wanted)


@told
def get_review(
    caller: Local,
    *,
    project: str,
    repo: str,
    sha: str,
    unresolved_only: bool = False,
    html: bool = False,
    mount: str = "",
) -> Record:
    """The review; with `html`, each comment rendered for pages under `mount`."""
    shown = target(project, repo, sha)
    return records.review(shown, html=html, mount=mount, unresolved_only=unresolved_only)


@told
def get_pr(caller: Local, *, project: str, repo: str, sha: str) -> Record:
    return details.pr(project, repo, sha)


@told
def get_image(
    caller: Local, *, project: str, repo: str, sha: str, path: str | None, side: str | None
) -> tuple[bytes, str]:
    """Bytes and content type of an image before (LEFT) or after (RIGHT) the commit."""
    if path is None:
        find(project, repo, sha)
        raise Invalid('"path" is required')
    if side not in (None, "LEFT", "RIGHT"):
        raise Invalid('"side" must be LEFT or RIGHT')
    return details.image(project, repo, sha, path, side or "RIGHT")


@told
def get_interdiff(
    caller: Local,
    *,
    project: str,
    repo: str,
    sha: str,
    old: str | None = None,
    path: str | None = None,
) -> Record:
    return details.interdiff(project, repo, sha, old, path)


@told
def get_threads_text(
    caller: Local,
    *,
    project: str,
    repo: str,
    sha: str,
    unresolved_only: bool = False,
    path: str | None = None,
    thread: str | None = None,
) -> str:
    shown = target(project, repo, sha)
    return threads_text.markdown(shown, unresolved_only=unresolved_only, path=path, thread=thread)


# -- threads, marks, PR record -------------------------------------------------------------------


@told
def add_thread(
    caller: Local,
    *,
    project: str,
    repo: str,
    sha: str,
    body: Any = None,
    author: Any = None,
    **place: Any,
) -> Record:
    before = target(project, repo, sha)
    tid = threads.create(before, body=body, author=_signed(caller, author), **place)
    events.review(project, repo, before.commit.sha)
    return records.thread(target(project, repo, sha), tid)


@told
def reply(
    caller: Local,
    *,
    project: str,
    repo: str,
    sha: str,
    thread: str,
    body: Any = None,
    author: Any = None,
) -> Record:
    before = target(project, repo, sha)
    cid = threads.reply(before, thread, body=body, author=_signed(caller, author))
    events.review(project, repo, before.commit.sha)
    return records.comment(target(project, repo, sha), thread, cid) | {"thread_id": thread}


@told
def resolve_thread(
    caller: Local, *, project: str, repo: str, sha: str, thread: str, resolved: Any = True
) -> Record:
    before = target(project, repo, sha)
    if threads.resolve(before, thread, resolved, by=caller.author):
        events.review(project, repo, before.commit.sha)
    return records.thread(target(project, repo, sha), thread)


@told
def edit_comment(
    caller: Local, *, project: str, repo: str, sha: str, thread: str, comment: str, body: Any
) -> Record:
    before = target(project, repo, sha)
    if threads.edit(before, thread, comment, body, me=caller.author):
        events.review(project, repo, before.commit.sha)
    return records.comment(target(project, repo, sha), thread, comment)


@told
def delete_comment(
    caller: Local, *, project: str, repo: str, sha: str, thread: str, comment: str
) -> Record:
    before = target(project, repo, sha)
    gone = threads.delete(before, thread, comment, me=caller.author)
    events.review(project, repo, before.commit.sha)
    left = None if gone else records.thread(target(project, repo, sha), thread)
    return {"ok": True, "deleted": comment, "thread": left}


@told
def set_viewed(
    caller: Local, *, project: str, repo: str, sha: str, path: Any = None, viewed: Any = None
) -> Record:
    before = target(project, repo, sha)
    if marks.set_viewed(before, path, viewed):
        events.review(project, repo, before.commit.sha)
    return {"path": path, "viewed": viewed, "progress": details.progress(project, repo, sha)}


@told
def set_pr(caller: Local, *, project: str, repo: str, sha: str, patch: Mapping[str, Any]) -> Record:
    """Set the fields of `patch`; null clears one."""
    found, item = find(project, repo, sha)
    changed = prs.set_pr(
        repos.target(found, item),
        patch,
        landed_sha=item.landed.sha if item.landed else None,
        pr=item.pr,
        source_sha=item.pr_source,
    )
    if changed:
        events.pr(project, repo, item.commit.sha)
    return details.pr(project, repo, sha)


@told
def take_over(caller: Local, *, project: str, repo: str, sha: str, old: Any = None) -> Record:
    """Take over the review and the PR record of a gone commit that became this one."""
    return taking.take(*find(project, repo, sha), old)


def _signed(caller: Local, author: Any) -> Any:
    return caller.author if author is None else author


# -- projects, examples, images ------------------------------------------------------------------


@told
def describe(caller: Local, *, project: str, description: Any = UNSET) -> Record:
    """Set the intro; null or blank removes it."""
    before = projects.get(project).description
    after = projects.set_description(project, text_or_null("description", description))
    if after != before:
        events.project(project, "description")
    return {"description": after}


@told
def annotate(
    caller: Local,
    *,
    project: str,
    repo: str,
    n: str,
    description: Any = UNSET,
    title: Any = UNSET,
) -> Record:
    """Set the note of a stack; a `title` must still be the stack's."""
    before = _stack(project, repo, n)
    guard = {} if title is UNSET else {"title": text_or_null("title", title)}
    found = projects.get(project)
    projects.set_stack_note(
        found,
        repo,
        before.n,
        [(one.n, one.title, one.entry_index) for one in _stacks(project, repo)],
        description=text_or_null("description", description),
        **guard,
    )
    if (after := _stack(project, repo, n)).description != before.description:
        events.project(project, "stack")
    return {"n": after.n, "title": after.title, "description": after.description}


def _stacks(slug: str, name: str) -> tuple[Stack, ...]:
    project = projects.get(slug)
    return repos.load(project, projects.repo(project, name)).stacks


def _stack(slug: str, name: str, n: str) -> Stack:
    for one in _stacks(slug, name):
        if str(one.n) == n:
            return one
    raise NotFound(f"No such stack: {printable(n, 20)}")


@told
def add_repo(
    caller: Local,
    *,
    project: str,
    path: Any = None,
    range: Any = None,  # noqa: A002 - the word of the file
    name: Any = None,
) -> Record:
    """Open a repository for review; without a path, the one the workspace works in."""
    working_dir: Callable[[str], Path | None] = import_string(settings.SVC_WORKING_DIR)
    added = projects.add_repo(
        project, path=path, range=range, name=name, working_dir=working_dir(project)
    )
    events.project(project, "config")
    return details.repo_of(project, added.name)


@told
def move_repo(
    caller: Local, *, project: str, repo: str, path: Any = None, confirm: Any = None
) -> Record:
    """Say where the repository is now; with `confirm`, even one without the reviewed commits."""
    if moving.move(project, repo, path, confirm=confirm):
        events.project(project, "config")
    return details.repo_of(project, repo)


@told
def add_examples(caller: Local) -> Record:
    done = examples.add()
    if done["created"] or done["restored"]:
        events.projects("examples")
    return done


@told
def remove_examples(caller: Local) -> Record:
    done = examples.remove()
    if done["removed"]:
        events.projects("examples")
    return done


@told
def add_asset(caller: Local, *, project: str, data: bytes, kind: str, alt: str) -> Record:
    """Keep an image; `kind` is its content type."""
    if (stored := assets.store(project, data, kind, alt))["created"]:
        events.project(project, "assets")
    return stored
