"""Which commits a repository's `range` means, and its trunk.

The table: docs/design/review.md#range-and-trunk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config.errors import printable
from config.git import command
from config.git.command import GitError
from review import caches
from review.git.output import SHA
from review.git.refs import HEADS, REMOTES, Refs, upstream
from review.git.repository import Repository

LAST = 20  # commits shown if nothing says where the work began
ORIGIN_HEAD = "refs/remotes/origin/HEAD"
SHOWN = 200  # characters of a name that an error quotes
HEAD = re.compile(r"(?:HEAD|@)(?=$|[~^])")  # or an ancestor, as HEAD~2
FOLLOWED = re.compile(r"(?:HEAD)?(?=@\{(?:u|upstream|push)\})", re.IGNORECASE)  # via HEAD's branch


@dataclass(frozen=True, slots=True)
class Range:
    """`base_sha`..`head_sha`, or the whole history if base is None; at most `limit` commits.

    `text` is the range as written, None for a computed one. `trunk_shas` are the tips on which
    commits may have landed: the trunk and its counterpart on origin. If the range's head is the
    trunk itself, that tip does not count: being there is no landing.
    """

    text: str | None
    base: str | None
    head: str
    base_sha: str | None
    head_sha: str
    trunk: str | None
    trunk_shas: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    limit: int | None = None


_immutable: caches.Memory[tuple[Any, ...], str] = caches.Memory(4096)  # results for fixed shas


def resolve(
    repository: Repository, refs: Refs, wanted: str | Mapping[str, Any] | None, trunk: str | None
) -> Range:
    """Resolve the range against the current refs. GitError revision `Unknown revision: x`."""
    return _Resolver(repository, refs, trunk).range(wanted)


def of_head(wanted: str | Mapping[str, Any] | None) -> bool:
    """Whether the range moves with HEAD."""
    match wanted:
        case str():
            ends = [end.strip() for end in re.split(r"\.{2,3}", wanted)]
        case Mapping():
            ends = [str(wanted.get("base") or "-"), str(wanted.get("head") or "")]
        case _:
            return True
    return any(not end or HEAD.match(end) or FOLLOWED.match(end) for end in ends)


def revision(repository: Repository, refs: Refs, text: str) -> str:
    """The commit that a revision names, with HEAD as in `refs`. GitError revision."""
    if text == "HEAD":
        if refs.head is None:
            raise unknown("HEAD (the repository has no commits yet)")
        return refs.head
    if (full := refs.full_name(text)) is not None:
        return refs.shas[full]
    if not text.isprintable() or text.startswith("-"):
        raise unknown(text)
    asked = f"{_without_head(refs, text)}^{{commit}}"
    try:
        told = command.run(
            repository.path, "rev-parse", "--verify", "-q", "--end-of-options", asked
        )
    except GitError as error:
        if error.kind in ("failed", "revision"):
            raise unknown(text) from None
        raise
    sha = told.decode().strip()
    if not SHA.fullmatch(sha):  # such as ^main
        raise unknown(text)
    return sha


def _without_head(refs: Refs, text: str) -> str:
    """The revision with HEAD as in `refs`: git itself knows only the current HEAD."""
    if refs.head and (found := HEAD.match(text)):
        return refs.head + text[found.end() :]
    if refs.head_ref and (found := FOLLOWED.match(text)):
        return refs.head_ref.removeprefix(HEADS) + text[found.end() :]
    return text


def merge_base(repository: Repository, one: str, other: str) -> str | None:
    """The best common ancestor of two commits; None when they have no common history."""
    if one == other:
        return one
    key = ("merge-base", repository.common_dir, repository.shallow, one, other)
    known = _immutable.get(key)
    if known is None:
        told = repository.run("merge-base", "--end-of-options", one, other, accepted=(0, 1))
        known = _immutable.put(key, told.decode().partition("\n")[0])
    return known or None


def unknown(text: str) -> GitError:
    return GitError("revision", f"Unknown revision: {name_text(text)}")


def name_text(text: str) -> str:
    """A path, revision or range from a caller or from git, made printable for a message."""
    return printable(text, SHOWN, instead="\ufffd")


class _Resolver:
    def __init__(self, repository: Repository, refs: Refs, trunk: str | None) -> None:
        self.repository = repository
        self.refs = refs
        self.wanted_trunk = trunk.strip() if trunk else None

    def range(self, wanted: str | Mapping[str, Any] | None) -> Range:
        match wanted:
            case None:
                return self._default()
            case str() if wanted.strip():
                return self._parse(wanted.strip())
            case Mapping():
                return self._from_mapping(wanted)
        raise GitError("revision", "range: must be a text such as main..feature, or {base, head}")

    def _parse(self, text: str) -> Range:
        base, dots, head = text.partition("...")
        if dots:
            return self._since_merge_base(text, base or "HEAD", head or "HEAD")
        base, dots, head = text.partition("..")
        if dots:
            return self._between(text, base or "HEAD", head or "HEAD")
        trunk = self._trunk(None)
        if trunk is None:
            return self._between(text, None, text)
        return self._since_merge_base(text, trunk, text)

    def _from_mapping(self, wanted: Mapping[str, Any]) -> Range:
        base, head = wanted.get("base"), wanted.get("head")
        for name, value in (("base", base), ("head", head)):
            if value is not None and not (isinstance(value, str) and value.strip()):
                raise GitError("revision", f"range: {name} must be a revision such as main")
        base, head = base and base.strip(), head.strip() if head else "HEAD"
        return self._between(f"{base}..{head}" if base else head, base, head)

    def _between(self, text: str | None, base: str | None, head: str) -> Range:
        base_sha = None if base is None else self._sha(base)
        return self._range(text, base, head, base_sha, trunk=self._trunk(base))

    def _since_merge_base(self, text: str, base: str, head: str) -> Range:
        base_sha = merge_base(self.repository, self._sha(base), self._sha(head))
        warning = f"{name_text(base)} and {name_text(head)} have no common history"
        return self._range(
            text, base, head, base_sha, trunk=self._trunk(base),
            warning=warning if base_sha is None else "",
        )  # fmt: skip

    def _default(self) -> Range:
        """trunk..HEAD; on the trunk upstream..HEAD; else the last commits, with a warning."""
        trunk = self._trunk(None)
        if trunk is not None and not self._is_trunk(self.refs.head_ref, trunk):
            return self._between(None, trunk, "HEAD")
        head = self._sha("HEAD")
        followed = upstream(self.repository, self.refs)
        followed_sha = self.refs.shas.get(followed)
        if followed_sha is None:
            why = f"{trunk or 'HEAD'} has no upstream"
        elif merge_base(self.repository, head, followed_sha) == head:
            why = f"nothing is ahead of {short(followed)}"
        else:
            return self._range(None, short(followed), "HEAD", followed_sha, trunk=trunk)
        warning = f"The last {LAST} commits are shown: {name_text(why)}"
        return self._range(None, None, "HEAD", None, trunk=trunk, warning=warning, limit=LAST)

    def _range(
        self,
        text: str | None,
        base: str | None,
        head: str,
        base_sha: str | None,
        *,
        trunk: str | None,
        warning: str = "",
        limit: int | None = None,
    ) -> Range:
        return Range(
            text=text, base=base, head=head, base_sha=base_sha, head_sha=self._sha(head),
            trunk=trunk, trunk_shas=self._trunk_shas(trunk, head),
            warnings=(warning,) if warning else (), limit=limit,
        )  # fmt: skip

    def _sha(self, text: str) -> str:
        return revision(self.repository, self.refs, text)

    def _trunk(self, base: str | None) -> str | None:
        """The trunk's short name: as configured, else the base if a branch, else a usual one."""
        if self.wanted_trunk is not None:
            self._sha(self.wanted_trunk)
            return self.wanted_trunk
        if base is not None and self._full(base).startswith((HEADS, REMOTES)):
            return base
        if (target := self.refs.symbolic.get(ORIGIN_HEAD)) in self.refs.shas:
            return short(str(target))
        usual = ("main", "origin/main", "master", "origin/master")
        return next((name for name in usual if self._full(name).startswith((HEADS, REMOTES))), None)

    def _trunk_shas(self, trunk: str | None, head: str) -> tuple[str, ...]:
        if trunk is None:
            return ()
        full = self._full(trunk)
        local, remote = _pair(full)
        own = self._full(self.refs.head_ref or "" if head == "HEAD" else head)
        names = [name for name in (full, local, remote) if name and name != own]
        shas = [self.refs.shas[name] for name in names if name in self.refs.shas]
        if not full:  # configured as a sha or an expression
            shas.append(self._sha(trunk))
        return tuple(dict.fromkeys(shas))

    def _is_trunk(self, ref: str | None, trunk: str) -> bool:
        return ref is not None and ref in (self._full(trunk), _pair(self._full(trunk))[0])

    def _full(self, name: str) -> str:
        return self.refs.full_name(name) or ""


def short(full: str) -> str:
    """A ref's name as people write it."""
    return full.removeprefix(HEADS).removeprefix(REMOTES)


def _pair(full: str) -> tuple[str, str]:
    """The full names of the local branch and of origin's branch of that name."""
    name = full.removeprefix(HEADS).removeprefix(f"{REMOTES}origin/")
    if name == full:
        return "", ""
    return HEADS + name, f"{REMOTES}origin/{name}"
