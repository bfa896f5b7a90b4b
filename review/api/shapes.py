"""The JSON shapes of contract 8, as the OpenAPI description shows them.

They describe; the nouns make the values, and the suite checks every answer against these shapes.
"""

from __future__ import annotations

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

from review.reviews.placement import Placement
from review.stacks.prs.rules import STATUSES as STORED

STATUSES = ("draft", "ready", "published", "merged")
FILE_STATUSES = ("added", "modified", "deleted", "renamed", "copied", "mode", "type")
BRANCH_STATUSES = ("ok", "moved", "missing", "discovered", "merged")
SOURCES = ("commit", "override")
SIDES = ("LEFT", "RIGHT")
PLACEMENTS = get_args(Placement)


@extend_schema_serializer(many=False)  # a list is always inside an object
class Shape(s.Serializer[Any]):
    """A JSON object of the answer."""


class Error(Shape):
    """Every refusal, on every route."""

    error = s.CharField()
    code = s.CharField()


class Nothing(Shape):
    """`{}`."""


class Ok(Shape):
    ok = s.BooleanField()


class Reviewer(Shape):
    id = s.CharField()
    name = s.CharField()


class Examples(Shape):
    created = s.ListField(child=s.CharField())
    restored = s.ListField(child=s.CharField())
    existing = s.ListField(child=s.CharField())
    removed = s.ListField(child=s.CharField())


class ProjectItem(Shape):
    slug = s.CharField()
    title = s.CharField()
    repos = s.ListField(child=s.CharField())
    repoCount = s.IntegerField()  # noqa: N815 - the names are the JSON keys of the contract
    commitCount = s.IntegerField()  # noqa: N815
    followOnCount = s.IntegerField()  # noqa: N815
    mergedCount = s.IntegerField()  # noqa: N815
    archived = s.BooleanField()
    example = s.BooleanField()
    unresolved = s.IntegerField()
    lastModified = s.CharField(allow_null=True)  # noqa: N815
    error = s.CharField(allow_null=True)


class ProjectList(Shape):
    projectsDir = s.CharField()  # noqa: N815
    home = s.CharField()
    examples = s.ChoiceField(["present", "removed", "none"])
    projects = ProjectItem(many=True)


class Range(Shape):
    text = s.CharField(allow_null=True)
    base = s.CharField(allow_null=True)
    head = s.CharField(allow_null=True)
    base_sha = s.CharField(allow_null=True)
    head_sha = s.CharField(allow_null=True)


class Candidate(Shape):
    sha = s.CharField()
    by = s.CharField()


class Orphan(Shape):
    sha = s.CharField()
    subject = s.CharField(allow_null=True)
    threads = s.IntegerField()
    unresolved = s.IntegerField()
    file = s.CharField(allow_null=True)
    reason = s.CharField(required=False)
    candidates = Candidate(many=True)


class Stack(Shape):
    n = s.IntegerField()
    title = s.CharField(allow_null=True)
    color = s.CharField()
    description = s.CharField(allow_null=True)
    description_html = s.CharField(required=False, allow_blank=True)
    commits = s.ListField(child=s.CharField())
    warning = s.CharField(allow_null=True)
    follow_on = s.BooleanField(required=False)
    weight = s.IntegerField()


class Progress(Shape):
    threads = s.IntegerField()
    resolved = s.IntegerField()
    files = s.IntegerField()
    viewed = s.IntegerField()


class Proposed(Shape):
    sha = s.CharField()
    by = s.CharField()
    title = s.CharField(allow_null=True)
    branch = s.CharField(allow_null=True)
    number = s.IntegerField(allow_null=True)
    status = s.ChoiceField(STORED, allow_null=True)


class Branch(Shape):
    name = s.CharField()
    status = s.ChoiceField(BRANCH_STATUSES)
    points_at = s.CharField(required=False)
    discovered = s.ListField(child=s.CharField())


class Github(Shape):
    number = s.IntegerField(allow_null=True)
    url = s.CharField(allow_blank=True)
    branch = s.CharField(required=False)
    base = s.CharField(required=False)
    created = s.CharField(required=False)
    stack = s.JSONField(required=False)
    stacked_on = s.IntegerField(required=False)


class Landed(Shape):
    sha = s.CharField()
    at = s.CharField(allow_null=True)
    by = s.CharField()


class Diff(Shape):
    additions = s.IntegerField()
    deletions = s.IntegerField()
    files = s.IntegerField()


class CommitItem(Shape):
    sha = s.CharField()
    short = s.CharField()
    subject = s.CharField(allow_blank=True)
    author = s.CharField(allow_blank=True)
    authored = s.CharField()
    parents = s.ListField(child=s.CharField())
    additions = s.IntegerField()
    deletions = s.IntegerField()
    files = s.IntegerField()
    position = s.IntegerField()
    stack = s.IntegerField()
    pr_title = s.CharField(allow_null=True, allow_blank=True)
    unresolved = s.IntegerField()
    branch = Branch(allow_null=True)
    github = Github(allow_null=True)
    status = s.ChoiceField(STATUSES)
    progress = Progress()
    proposed = Proposed(allow_null=True)
    landed = Landed(required=False, allow_null=True)
    tip = s.CharField(required=False, allow_null=True)
    parent = s.CharField(required=False, allow_null=True)  # type: ignore[assignment]
    diff = Diff(required=False, allow_null=True)


class Repo(Shape):
    name = s.CharField()
    path = s.CharField()
    range = Range()
    trunk = s.CharField(allow_null=True)
    missing = s.BooleanField()
    errors = s.ListField(child=s.CharField())  # type: ignore[assignment]
    warnings = s.ListField(child=s.CharField())
    orphaned = Orphan(many=True)
    stacks = Stack(many=True)
    commits = CommitItem(many=True)


class Project(Shape):
    slug = s.CharField()
    title = s.CharField()
    description = s.CharField(allow_null=True)
    description_html = s.CharField(required=False, allow_blank=True)
    archived = s.BooleanField()
    example = s.BooleanField()
    file = s.CharField()
    parse_error = s.CharField(allow_null=True)
    repos = Repo(many=True)


class Comment(Shape):
    id = s.CharField()
    author = s.CharField(allow_null=True)
    author_name = s.CharField(allow_null=True)
    body = s.CharField()
    body_html = s.CharField(required=False)
    created_at = s.CharField(allow_null=True)
    updated_at = s.CharField(allow_null=True)
    own = s.BooleanField()


class NewComment(Comment):
    thread_id = s.CharField()


class Thread(Shape):
    id = s.CharField()
    path = s.CharField(allow_null=True)
    side = s.CharField(allow_null=True)
    line = s.IntegerField(allow_null=True)
    start_line = s.IntegerField(allow_null=True)
    start_side = s.CharField(allow_null=True)
    outdated = s.BooleanField()
    placement = s.ChoiceField(PLACEMENTS)
    original_path = s.CharField(allow_null=True)
    original_line = s.IntegerField(allow_null=True)
    original_start_line = s.IntegerField(allow_null=True)
    original_commit = s.CharField(allow_null=True)
    anchor_text = s.CharField(allow_null=True, allow_blank=True)
    resolved = s.BooleanField()
    resolved_by = s.CharField(allow_null=True)
    resolved_at = s.CharField(allow_null=True)
    author = s.CharField(allow_null=True)
    created_at = s.CharField(allow_null=True)
    comments = Comment(many=True)
    from_sha = s.CharField(required=False)


class Fingerprint(Shape):
    sha = s.CharField(allow_null=True)
    subject = s.CharField(allow_null=True)
    author = s.CharField(allow_null=True)
    authored = s.CharField(allow_null=True)
    change_id = s.CharField(allow_null=True)
    patch_id = s.CharField(allow_null=True)
    patch_id_u0 = s.CharField(allow_null=True)


class CarriedFrom(Shape):
    sha = s.CharField()
    by = s.CharField()
    at = s.CharField(allow_null=True)
    also = s.ListField(child=s.CharField())
    without = s.ListField(child=s.CharField())


class Review(Shape):
    version = s.IntegerField()
    commit = Fingerprint(allow_null=True)
    carried_from = CarriedFrom(allow_null=True)
    file = s.CharField(allow_null=True)
    target_file = s.CharField()
    matched_from = s.CharField(allow_null=True)
    matched_by = s.CharField(allow_null=True)
    carried_over = s.BooleanField()
    parse_error = s.CharField(allow_null=True)
    warnings = s.ListField(child=s.CharField())
    viewed = s.ListField(child=s.CharField())
    viewed_stale = s.ListField(child=s.CharField())
    threads = Thread(many=True)


class Pr(Shape):
    title = s.CharField(allow_blank=True)
    body = s.CharField(allow_blank=True)
    title_source = s.ChoiceField(SOURCES)
    body_source = s.ChoiceField(SOURCES)
    commit_subject = s.CharField(allow_blank=True)
    commit_body = s.CharField(allow_blank=True)
    branch = s.CharField(allow_null=True)
    github = Github(allow_null=True)
    status = s.ChoiceField(STORED, allow_null=True)
    landed = Landed(allow_null=True)
    file = s.CharField()
    matched_from = s.CharField(allow_null=True)
    matched_by = s.CharField(allow_null=True)
    carried_over = s.BooleanField()
    parse_error = s.CharField(allow_null=True)
    proposed = Proposed(allow_null=True)


class File(Shape):
    path = s.CharField()
    old_path = s.CharField(allow_null=True)
    status = s.ChoiceField(FILE_STATUSES)
    additions = s.IntegerField(allow_null=True)
    deletions = s.IntegerField(allow_null=True)
    binary = s.BooleanField()
    generated = s.BooleanField()
    old = s.CharField(allow_null=True, allow_blank=True)
    new = s.CharField(allow_null=True, allow_blank=True)
    old_oid = s.CharField(allow_null=True)
    new_oid = s.CharField(allow_null=True)
    old_mode = s.CharField(allow_null=True)
    new_mode = s.CharField(allow_null=True)
    encoding = s.CharField(allow_null=True)
    truncated = s.BooleanField()
    edits = s.ListField(child=s.ListField(child=s.IntegerField()))
    viewed = s.BooleanField()
    changed_since_viewed = s.BooleanField()


class Neighbour(Shape):
    repo = s.CharField()
    sha = s.CharField()
    short = s.CharField()
    title = s.CharField(allow_blank=True)


class CommitStack(Shape):
    n = s.IntegerField()
    title = s.CharField(allow_null=True)
    color = s.CharField()
    position = s.IntegerField()
    count = s.IntegerField()


class Person(Shape):
    name = s.CharField(allow_blank=True)
    email = s.CharField(allow_blank=True)


class Commit(Shape):
    sha = s.CharField()
    short = s.CharField()
    subject = s.CharField(allow_blank=True)
    body = s.CharField(allow_blank=True)
    author = Person()
    authored = s.CharField()
    committed = s.CharField()
    parents = s.ListField(child=s.CharField())
    parent = s.CharField(allow_null=True)  # type: ignore[assignment]
    additions = s.IntegerField(allow_null=True)
    deletions = s.IntegerField(allow_null=True)
    branch = Branch(allow_null=True)
    github = Github(allow_null=True)
    status = s.ChoiceField(STATUSES)
    progress = Progress()
    landed = Landed(allow_null=True)
    tip = s.CharField(allow_null=True)
    stack = CommitStack()
    prev = Neighbour(allow_null=True)
    next = Neighbour(allow_null=True)
    files = File(many=True)
    truncated = s.BooleanField()
    pr = Pr()
    review = Review()


class Deleted(Shape):
    ok = s.BooleanField()
    deleted = s.CharField()
    thread = Thread(allow_null=True)


class Viewed(Shape):
    path = s.CharField()
    viewed = s.BooleanField()
    progress = Progress()


class Description(Shape):
    description = s.CharField(allow_null=True, allow_blank=True)


class StackNote(Shape):
    n = s.IntegerField()
    title = s.CharField(allow_null=True)
    description = s.CharField(allow_null=True)


class Html(Shape):
    html = s.CharField(allow_blank=True)
