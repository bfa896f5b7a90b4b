"""Every HTTP route of the review part that Django answers, on both mounts.

`/mcp`, event streams and uploads are ASGI consumers, routed in config/asgi.py.
"""

from __future__ import annotations

from django.urls import path, re_path
from drf_spectacular.views import SpectacularSwaggerSplitView

from config.web.described import DescriptionView
from review import pages
from review.api.asking import AskViewSet
from review.api.commits import CommitViewSet
from review.api.folding import FoldingViewSet
from review.api.instance import InstanceViewSet
from review.api.projects import ProjectViewSet
from review.api.stacks import StackViewSet
from review.api.threads import DraftViewSet, ThreadViewSet
from review.api.worktree import WorktreeViewSet

P = "api/projects/<str:project>"
C = f"{P}/repos/<str:repo>/commits/<str:sha>"
WORKTREE = f"{P}/repos/<str:repo>/commits/WORKTREE"
STACK = f"{P}/repos/<str:repo>/stacks/<str:n>"
THREAD = f"{C}/threads/<str:thread>"

shown = SpectacularSwaggerSplitView.as_view
instance = InstanceViewSet.as_view
project = ProjectViewSet.as_view
commit = CommitViewSet.as_view
draft = DraftViewSet.as_view
stack = StackViewSet.as_view
thread = ThreadViewSet.as_view
worktree = WorktreeViewSet.as_view
folding = FoldingViewSet.as_view
asking = AskViewSet.as_view

urlpatterns = [
    path("", pages.start, name="review-start"),
    path("p/<str:project>", pages.project, name="review-project"),
    path("p/<str:project>/<str:repo>/WORKTREE", pages.changes, name="review-changes"),
    path("p/<str:project>/<str:repo>/<str:sha>", pages.commit, name="review-commit"),
    path("p/<str:project>/<str:repo>/stacks/<str:n>", pages.stack, name="review-stack"),
    path("api/health", instance({"get": "health"}), name="review-health"),
    path("api/me", instance({"get": "me"})),
    path("api/places", instance({"get": "places"})),
    path("api/badges", instance({"get": "badges"})),
    path("api/examples", instance({"post": "add"})),
    path("api/examples/remove", instance({"post": "remove"})),
    path("api/projects", instance({"get": "projects"})),
    path(P, project({"get": "retrieve"})),
    path(f"{P}/description", project({"put": "describe"})),
    path(f"{P}/repos", project({"post": "add_repo"})),
    path(f"{P}/repos/<str:repo>/path", project({"put": "move_repo"})),
    path(f"{STACK}/description", project({"put": "note"})),
    path(f"{STACK}/diff", stack({"get": "retrieve"})),
    path(f"{STACK}/diff/file", stack({"get": "file"})),
    path(f"{STACK}/search", stack({"get": "search"})),
    path(f"{STACK}/fold", folding({"post": "fold"})),
    path(f"{P}/repos/<str:repo>/fold/undo", folding({"post": "undo"})),
    path(f"{P}/threads", project({"get": "threads"})),
    path(f"{P}/changes", project({"get": "changes"})),
    path(f"{P}/threads.md", project({"get": "threads_text"})),
    path(f"{P}/ask", asking({"get": "offer", "post": "ask"})),
    path(f"{P}/preview", project({"post": "preview"})),
    path(f"{P}/assets/<str:name>", project({"get": "asset"})),
    path(f"{P}/stack.svg", project({"get": "picture"}), {"kind": "svg"}),
    path(f"{P}/stack.png", project({"get": "picture"}), {"kind": "png"}),
    path(WORKTREE, worktree({"get": "retrieve"})),
    path(f"{WORKTREE}/file", worktree({"get": "file"})),
    path(f"{WORKTREE}/image", worktree({"get": "image"})),
    path(f"{WORKTREE}/review", worktree({"get": "review"})),
    path(f"{WORKTREE}/threads.md", worktree({"get": "threads_text"})),
    path(f"{WORKTREE}/commit", worktree({"post": "commit"})),
    path(f"{WORKTREE}/discard", worktree({"post": "discard"})),
    path(f"{WORKTREE}/discarded", worktree({"get": "discarded"})),
    path(f"{WORKTREE}/undo", worktree({"post": "undo"})),
    path(C, commit({"get": "retrieve"})),
    path(f"{C}/file", commit({"get": "file"})),
    path(f"{C}/image", commit({"get": "image"})),
    path(f"{C}/review", commit({"get": "review"})),
    path(f"{C}/pr", commit({"get": "pr", "put": "set_pr"})),
    path(f"{C}/take", commit({"post": "take"})),
    path(f"{C}/apply", folding({"post": "apply"})),
    path(f"{C}/viewed", commit({"put": "viewed"})),
    path(f"{C}/interdiff", commit({"get": "interdiff"})),
    path(f"{C}/search", commit({"get": "search"})),
    path(f"{C}/versions", commit({"get": "versions"})),
    path(f"{C}/since/<str:old>", commit({"get": "since"})),
    path(f"{C}/since/<str:old>/file", commit({"get": "since_file"})),
    path(f"{C}/since/<str:old>/image", commit({"get": "since_image"})),
    path(f"{C}/since/<str:old>/search", commit({"get": "since_search"})),
    path(f"{C}/threads.md", commit({"get": "threads_text"})),
    path(f"{C}/stack.svg", commit({"get": "picture"}), {"kind": "svg"}),
    path(f"{C}/stack.png", commit({"get": "picture"}), {"kind": "png"}),
    path(f"{C}/drafts", draft({"get": "list"})),
    path(f"{C}/drafts/<str:draft>", draft({"patch": "edit", "delete": "remove"})),
    path(f"{C}/verdict", draft({"post": "submit", "delete": "withdraw"})),
    path(f"{C}/threads", thread({"post": "create"})),
    path(THREAD, thread({"patch": "resolve"})),
    path(f"{THREAD}/since", asking({"get": "since"})),
    path(f"{THREAD}/comments", thread({"post": "reply"})),
    path(f"{THREAD}/comments/<str:comment>", thread({"patch": "edit", "delete": "remove"})),
    path("api/schema", DescriptionView.as_view(urlconf="review.urls"), name="review-schema"),
    path("api/docs", shown(url_name="review-schema", http_method_names=("get", "head"))),
    re_path(r"^p(?:/|$)", pages.missing),  # a page of the kind that browsers ask for
]  # fmt: skip
