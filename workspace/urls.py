"""Every HTTP route of the workspace that Django answers.

`/mcp`, discovery, the in-process endpoint and the event streams are ASGI consumers, routed in
config/asgi.py.
"""

from __future__ import annotations

from django.urls import path, re_path
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from workspace import pages
from workspace.api.asks import AskViewSet
from workspace.api.attachments import AttachmentViewSet
from workspace.api.chats import ChatViewSet
from workspace.api.clones import CloneViewSet
from workspace.api.doubted import DoubtedViewSet
from workspace.api.edits import EditViewSet
from workspace.api.folders import FolderViewSet
from workspace.api.instance import InstanceViewSet
from workspace.api.notify import NotifyViewSet
from workspace.api.now import NowViewSet
from workspace.api.projects import ProjectViewSet
from workspace.api.runs import RunViewSet
from workspace.api.servers import ServerViewSet
from workspace.api.sessions import SessionViewSet
from workspace.api.trash import TrashViewSet
from workspace.api.triggers import TriggerViewSet
from workspace.api.worktrees import WorktreeViewSet

READ = ["get", "head"]
P = "api/projects/<str:slug>"
CHAT = f"{P}/chats/<str:session_id>"
TURN = f"{CHAT}/turns/<str:turn>"
TRIGGER = f"{P}/triggers/<str:name>"

instance = InstanceViewSet.as_view
project = ProjectViewSet.as_view
clone = CloneViewSet.as_view
chat = ChatViewSet.as_view
session = SessionViewSet.as_view
edit = EditViewSet.as_view
ask = AskViewSet.as_view
attachment = AttachmentViewSet.as_view
trash = TrashViewSet.as_view
trigger = TriggerViewSet.as_view
run = RunViewSet.as_view
server = ServerViewSet.as_view
notify = NotifyViewSet.as_view
worktree = WorktreeViewSet.as_view

api = [
    path("api/health", instance({"get": "health"})),
    path("api/me", instance({"get": "me"})),
    path("api/places", instance({"get": "places"})),
    path("api/badges", instance({"get": "badges"})),
    path("api/models", instance({"get": "models"})),
    path("api/engines", instance({"get": "engines"})),
    path("api/clients", instance({"get": "clients"})),
    path("api/audit", instance({"get": "audit"})),
    path("api/notify", notify({"get": "list"})),
    path("api/notify/<str:name>/test", notify({"post": "test"})),
    path("api/search", instance({"get": "search"})),
    path("api/now", NowViewSet.as_view({"get": "list"})),
    path("api/asks", ask({"get": "list"})),
    path("api/unread", instance({"get": "unread"})),
    path("api/read", instance({"post": "read"})),
    path("api/demo", instance({"post": "demo"})),
    path("api/folders", FolderViewSet.as_view({"get": "list"})),
    path("api/clones", clone({"get": "list"})),
    path("api/clones/<str:slug>", clone({"delete": "destroy"})),
    path("api/projects", project({"get": "list", "post": "create"})),
    path("api/trash", trash({"get": "list"})),
    path(P, project({"get": "retrieve", "patch": "partial_update", "delete": "destroy"})),
    path(f"{P}/restore", trash({"post": "restore"})),
    path(f"{P}/around", project({"get": "around"})),
    path(f"{P}/read", project({"post": "read"})),
    path(f"{P}/follow", DoubtedViewSet.as_view({"get": "retrieve", "post": "follow"})),
    path(f"{P}/servers", server({"get": "list"})),
    path(f"{P}/servers/use", server({"post": "use", "delete": "stop"})),
    path(f"{P}/chats", chat({"get": "list", "post": "create"})),
    path(CHAT, chat({"get": "retrieve", "patch": "partial_update", "delete": "destroy"})),
    path(f"{CHAT}/export", chat({"get": "export"})),
    path(f"{CHAT}/restore", chat({"post": "restore"})),
    path(f"{P}/attachments", attachment({"post": "create"})),
    path(f"{P}/attachments/<str:name>", attachment({"get": "retrieve"})),
    path(f"{P}/sessions", session({"get": "list"})),
    path(f"{P}/sessions/<str:session_id>", session({"get": "retrieve"})),
    path(f"{P}/sessions/<str:session_id>/continue", session({"post": "proceed"})),
    path(f"{P}/trash", chat({"get": "trash"})),
    path(f"{CHAT}/messages", chat({"get": "messages", "post": "send"})),
    path(f"{CHAT}/stop", chat({"post": "stop"})),
    path(f"{CHAT}/retry", chat({"post": "retry"})),
    path(f"{CHAT}/queue/resume", chat({"post": "resume"})),
    path(f"{CHAT}/queue/<str:message>", chat({"delete": "withdraw"})),
    path(f"{CHAT}/queue/<str:message>/restore", chat({"post": "put_back"})),
    path(f"{TURN}/again", chat({"post": "again"})),
    path(f"{CHAT}/archive", chat({"post": "archive"})),
    path(f"{CHAT}/read", chat({"post": "read"})),
    path(f"{CHAT}/look", notify({"post": "look"})),
    path(f"{CHAT}/fork", chat({"post": "fork"})),
    path(f"{CHAT}/permissions/<str:call>", ask({"post": "answer"})),
    path(f"{CHAT}/permissions/<str:call>/keep", ask({"post": "keep"})),
    path(f"{CHAT}/allow", ask({"delete": "revoke"})),
    path(f"{CHAT}/worktree", worktree({"get": "retrieve", "post": "again"})),
    path(f"{CHAT}/worktree/bring", worktree({"post": "bring"})),
    path(f"{CHAT}/edits", edit({"get": "list"})),
    path(f"{TURN}/edits", edit({"get": "retrieve"})),
    path(f"{TURN}/undo", edit({"post": "undo"})),
    path(f"{TURN}/redo", edit({"post": "redo"})),
    path(f"{P}/triggers", trigger({"get": "list"})),
    path(f"{P}/triggers/runtime", trigger({"get": "runtime", "put": "reserved"})),
    path(TRIGGER, trigger({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path(f"{TRIGGER}/run", trigger({"post": "run"})),
    path(f"{P}/schedules/<str:name>/convert", trigger({"post": "convert"})),
    path(f"{P}/pause", trigger({"post": "pause"})),
    path("api/pause", trigger({"get": "paused", "post": "pause_all"})),
    path("api/triggers/preview", trigger({"get": "preview"})),
    path(f"{P}/runs", run({"get": "of_project"})),
    path("api/runs", run({"get": "list"})),
    path("api/runs/<str:run_id>", run({"get": "retrieve"})),
    path("api/runs/<str:run_id>/cancel", run({"post": "cancel"})),
    path("api/schema", SpectacularJSONAPIView.as_view(http_method_names=READ), name="schema"),
    path(
        "api/docs",
        SpectacularSwaggerSplitView.as_view(url_name="schema", http_method_names=READ),
        name="docs",
    ),
]

shown = [
    path("", pages.home),
    path("search", pages.search),
    path("runs", pages.runs),
    path("audit", pages.audit),
    path("clients", pages.clients),
    path("settings", pages.instance),
    path("projects/<str:slug>", pages.project),
    path("projects/<str:slug>/chats", pages.chats),
    path("projects/<str:slug>/chats/<str:session_id>", pages.chat),
    path("projects/<str:slug>/triggers", pages.triggers),
    path("projects/<str:slug>/runs", pages.project_runs),
    path("projects/<str:slug>/settings", pages.settings),
]

urlpatterns = [
    *api,
    *shown,
    # Machine paths and files get a JSON 404; any other address gets a page.
    re_path(r"^(?!api(?:/|$)|mcp|\.well-known(?:/|$))(?!.*\.[A-Za-z0-9]+$)", pages.missing),
]
