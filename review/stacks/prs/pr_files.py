"""The PR record of a commit: its file, what is shown of it, and how it is set.

The rules: docs/design/review.md#pr-records.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypedDict

from config.errors import Conflict
from review import files
from review.files import times
from review.files.fields import Fields, beside, scalar
from review.stacks import status
from review.stacks.prs import rules
from review.stacks.status import Github, Stored
from review.threads import document
from review.threads.carry.carryover import PERSON, CarriedFrom
from review.threads.reading import carried_from, fingerprint
from review.threads.schema import VERSION, Fingerprint
from review.threads.target import Target

FIELDS = ("title", "body", "branch", "status", "status_over", "github")
Source = Literal["commit", "override"]


class Landed(TypedDict):
    sha: str
    at: str | None
    by: str


class ProposedRecord(TypedDict):
    sha: str
    by: str
    title: str | None
    branch: str | None
    number: int | None
    status: Stored | None


class Record(TypedDict):
    """A PR record, from its file and its commit."""

    title: str
    body: str
    title_source: Source
    body_source: Source
    commit_subject: str
    commit_body: str
    branch: str | None
    branch_source: Annotated[
        Literal["recorded", "found"] | None, "found: it points here, and no file says so"
    ]
    github: Github | None
    status: Stored | None
    landed: Landed | None
    file: str
    matched_from: str | None
    matched_by: str | None
    carried_over: bool
    parse_error: str | None


@dataclass(frozen=True, slots=True)
class PrFile:
    """One PR file. None: only the commit, or nothing, gives the value. `github` is normalised."""

    title: str | None = None
    body: str | None = None
    branch: str | None = None
    status: Stored | None = None
    status_over: str | None = None
    github: Mapping[str, Any] | None = None
    landed: Landed | None = None
    carried_from: CarriedFrom | None = None
    commit: Fingerprint | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    parse_error: str | None = None
    version: int = VERSION

    @property
    def empty(self) -> bool:
        """Whether the record adds nothing to what the commit says."""
        said = (*(getattr(self, name) for name in FIELDS), self.landed)
        return all(value is None for value in said) and not self.extra


def parse(value: Any) -> PrFile:
    """Parse a PR file whose scalars are text; values of the wrong type are left out."""
    fields = Fields(value, "the file", [])
    version = fields.number("version") or VERSION
    title, body, branch = fields.text("title"), scalar(fields.raw("body")), fields.text("branch")
    return PrFile(
        title=title.strip() if title else None,
        body=body.replace("\r\n", "\n").strip() if body is not None else None,
        branch=rules.branch_name(branch) if branch else None,
        status=status.stored_status(fields.text("status")),
        status_over=fields.hex("status_over"),
        github=rules.github_of(fields.raw("github")),
        landed=_parse_landed(fields.raw("landed")),
        carried_from=carried_from(fields.raw("carried_from"), []),
        commit=fingerprint(fields.raw("commit"), []),
        extra=fields.extra(),
        version=version,
    )


def read(slug: str, repo: str, sha: str) -> PrFile | None:
    """The file of that name, or None; of a broken file, the last good content."""
    found = files.read(slug, "prs", repo, f"{sha}.yaml")
    if found is None:
        return None
    return replace(parse(found.data), parse_error=found.error or None)


def record(
    target: Target, pr: PrFile, *, source_sha: str | None, branch: str | None = None
) -> Record:
    """The record shown on the commit. `source_sha` is the sha whose file holds `pr`; `branch` is
    the discovered name, for a record without one.
    """
    carried = source_sha is not None and not target.commit.sha.startswith(source_sha)
    said = pr.carried_from
    shown: Record = {
        "title": pr.title or target.commit.subject,
        "body": target.commit.body if pr.body is None else pr.body,
        "title_source": "override" if pr.title else "commit",
        "body_source": "commit" if pr.body is None else "override",
        "commit_subject": target.commit.subject,
        "commit_body": target.commit.body,
        "branch": pr.branch or branch,
        "branch_source": "recorded" if pr.branch else "found" if branch else None,
        "github": status.github(pr.github),
        "status": pr.status,
        "landed": pr.landed,
        "file": str(files.path(*parts(target))),
        "matched_from": source_sha if carried else said.sha if said else None,
        "matched_by": _rung(target, source_sha) if carried else said.by if said else None,
        "carried_over": carried,
        "parse_error": pr.parse_error,
    }
    return beside(pr.extra, shown)


def set_pr(
    target: Target,
    patch: Mapping[str, Any],
    *,
    landed_sha: str | None,
    pr: PrFile,
    source_sha: str | None,
    was: Any = None,
) -> bool:
    """Set the fields of `patch`; return whether anything changed.

    `pr` is the record shown and `source_sha` the sha whose file holds it. Invalid for a bad field,
    Conflict if the file is not valid YAML, or if a field to set is not as it `was`.
    """
    changes = _with_rules(rules.parse_fields(patch), landed_sha)
    own = read(target.slug, target.repo, target.commit.sha)
    change = _Change(target, changes, pr, source_sha, own, rules.read_before(was, patch))
    files.change(parts(target), change.edit, backup=change.may_lose)
    return change.changed


def take(target: Target, pr: PrFile, source_sha: str) -> None:
    """Copy another commit's record to this one, as a person decided. Conflict if it has its own."""

    def edit(data: bytes | None) -> bytes | None:
        if data is not None:
            raise Conflict("This commit has its own PR record now: set its fields instead")
        tree = {"version": VERSION, "commit": document.fingerprint(target)}
        source = CarriedFrom(sha=source_sha, by=PERSON, at=times.now_exact())
        tree["carried_from"] = document.carried_from(source)
        document.put(tree, "landed", pr.landed)
        for name in FIELDS:
            document.put(tree, name, getattr(pr, name))
        return document.text(None, tree | dict(pr.extra))

    files.check_whole(f"prs/{target.repo}/{source_sha}.yaml", pr.parse_error, pr.version)
    files.change(parts(target), edit)


def parts(target: Target) -> tuple[str, str, str, str]:
    """The path of the record's file, as parts below the projects directory."""
    return (target.slug, "prs", target.repo, f"{target.commit.sha}.yaml")


def _with_rules(changes: dict[str, Any], landed_sha: str | None) -> dict[str, Any]:
    """The changes with those they imply: an explicit status overrules the current landing, and a
    pull request clears the status, since it publishes."""
    if changes.get("status"):
        return changes | ({"status_over": landed_sha} if landed_sha else {})
    if "status" in changes:
        return changes | {"status_over": None}
    return changes | ({"status": None} if changes.get("github") else {})


@dataclass(slots=True)
class _Change:
    """One PUT, applied to whatever the file contains when it is written.

    `own` is the file's content when `pr` was read: if the file still names the same source, the
    other commit's record is still to be taken over.
    """

    target: Target
    changes: Mapping[str, Any]
    pr: PrFile
    source_sha: str | None
    own: PrFile | None
    was: Mapping[str, Any]
    changed: bool = False

    @property
    def may_lose(self) -> bool:
        """Whether the old text may contain something that the new text does not."""
        own = self.own
        return own is not None and (self._foreign or replace(own, **self.changes).empty)

    def edit(self, data: bytes | None) -> bytes | None:
        tree, own = self._read(data)
        take = data is None or (self._foreign and self._unchanged(own))
        before = self.pr if take else own
        self._refuse_changed(before)
        after = replace(before, **self.changes)
        self.changed = after != before
        if not self.changed:
            return data
        if after.empty and data is not None and not self._stands_for(own):
            return None
        if take:
            self._check_source()
            tree = self._complete(tree)
        for name in FIELDS if take else tuple(self.changes):
            document.put(tree, name, getattr(after, name))
        return document.with_fingerprint(document.text(data, tree), tree, self.target)

    def _refuse_changed(self, now: PrFile) -> None:
        """Conflict if a field to set has a value that the caller has not seen."""
        for name, was in self.was.items():
            seen, wanted = (self._comparable(name, value) for value in (was, self.changes[name]))
            if self._comparable(name, getattr(now, name)) not in (seen, wanted):
                raise Conflict(
                    f'"{name}" was changed meanwhile, perhaps in another window.', code="changed"
                )

    def _comparable(self, name: str, value: Any) -> Any:
        """The value as shown: the commit's own title or body where none is set."""
        commit = self.target.commit
        if name in {"title", "body"}:
            own = commit.subject if name == "title" else commit.body
            return (own if value is None else value).replace("\r\n", "\n").strip()
        return status.github(value) if name == "github" else value

    @property
    def _foreign(self) -> bool:
        """Whether the record shown is in the file of another commit."""
        return self.source_sha not in {None, self.target.commit.sha}

    def _unchanged(self, now: PrFile) -> bool:
        return self.own is not None and self.own.carried_from == now.carried_from

    def _read(self, data: bytes | None) -> tuple[dict[str, Any], PrFile]:
        if data is None:
            return {}, PrFile()
        texts, found = files.load("/".join(parts(self.target)), data)
        return copy.deepcopy(found.value or {}), parse(texts)

    def _stands_for(self, own: PrFile) -> bool:
        """Whether another record would be shown again if this file were removed."""
        sha = self.target.commit.sha
        names = files.names(self.target.slug, "prs", self.target.repo)
        return (
            self._foreign
            or own.carried_from is not None
            or any(sha.startswith(name) and name != sha for name in names)
        )

    def _check_source(self) -> None:
        """Refuse to take over a record that cannot be read whole: the rest would be lost."""
        slug, repo = self.target.slug, self.target.repo
        source = self.source_sha or self.target.commit.sha
        stem = files.name_of(slug, "prs", repo, source) or source
        files.check_whole(f"prs/{repo}/{stem}.yaml", self.pr.parse_error, self.pr.version)

    def _complete(self, tree: dict[str, Any]) -> dict[str, Any]:
        """The tree with everything of the record shown except the fields that can be set."""
        made = {"version": VERSION, "commit": document.fingerprint(self.target)} | tree
        if self._foreign and self.source_sha:
            rung = _rung(self.target, self.source_sha)
            source = CarriedFrom(sha=self.source_sha, by=rung, at=times.now_exact())
            made["carried_from"] = document.carried_from(source)
        document.put(made, "landed", self.pr.landed)
        return made | dict(self.pr.extra)


def _rung(target: Target, source_sha: str | None) -> str:
    """The rung by which the record of `source_sha` was carried over."""
    match = target.match
    return match.by if match and source_sha in (match.sha, *match.also) else "lineage"


def _parse_landed(value: Any) -> Landed | None:
    """The mapping `landed`; None without a sha."""
    if value is None:
        return None
    fields = Fields(value, '"landed"', [])
    sha, at, by = fields.hex("sha"), fields.time("at"), fields.text("by")
    return {"sha": sha, "at": at, "by": by or "record"} if sha else None
