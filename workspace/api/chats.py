"""Chats over REST: list, create, read, rename, send, queue, stop, archive, fork, permissions."""

from __future__ import annotations

from typing import Any, cast

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.logs import timestamp
from config.storage import database
from config.web import rest
from workspace.api import chatbodies as bodies
from workspace.api.answers import documented, principal
from workspace.api.chatview import Chat, view, views
from workspace.chats import (
    actions,
    attachments,
    export,
    files,
    forks,
    index,
    listing,
    messages,
    trash,
    unread,
)
from workspace.chats.messages import Message
from workspace.chats.turns import queue, retries
from workspace.projects import store
from workspace.triggers import events, following
from workspace.worktrees import place

NAMES = {"preloadContext": "preload_context", "permissionMode": "mode"}
WHICH: dict[str, listing.Which] = {"0": "open", "1": "archived", "all": "all"}


@extend_schema(tags=["chats"])
class ChatViewSet(rest.ViewSet):
    """`P/chats` and everything below `P/chats/:id` except its event stream."""

    @documented(bodies.ChatList, query=bodies.ListQuery, errors=(404,))
    def list(self, request: Request, slug: str) -> Response:
        """Chats, newest first; archived ones are only counted, unless asked for."""
        asked = rest.query(request, bodies.ListQuery)
        found = listing.listing(
            [store.get(slug)],
            which=WHICH[asked["archived"]],
            text=asked.get("q", ""),
            limit=asked["limit"],
            before=asked.get("before", ""),
        )
        rows = views(found.rows)
        return Response(bodies.ChatList(chats=rows, next=found.next, omittedArchived=found.omitted))

    @documented(bodies.Started, status=201, errors=(404, 409), body=bodies.NewChat, keyed=True)
    def create(self, request: Request, slug: str) -> Response:
        """Start a chat; without a prompt it stays empty."""
        body = rest.read(request, bodies.NewChat)
        values = {key: value for key, value in body.values.items() if value is not None}
        for key, name in NAMES.items():
            if key in values:
                values[name] = values.pop(key)
        values = _with_files(slug, values, apart=values.get("worktree") or None)
        started = actions.create(
            principal=principal(request),
            project=store.get(slug),
            key=rest.key(request),
            **values,
        )
        answer = bodies.Started(
            chat=_chat(slug, started.chat.id),
            messageId=started.turn.id if started.turn else None,
            state=started.state or None,
        )
        if started.repeated:
            answer["repeated"] = True
        return Response(rest.with_warnings(answer, body.warnings), status=201)

    @documented(bodies.ChatPage, errors=(404,))
    def retrieve(self, request: Request, slug: str, session_id: str) -> Response:
        """One chat, and its running and waiting messages."""
        return Response(
            bodies.ChatPage(chat=_chat(slug, session_id), queue=_queue(slug, session_id))
        )

    @documented(bodies.OneChat, errors=(404, 409), body=bodies.Change)
    def partial_update(self, request: Request, slug: str, session_id: str) -> Response:
        """Change the chat's name or permission mode; null restores the automatic name or the mode
        of the project."""
        body = rest.read(request, bodies.Change, ignored=bodies.CHAT_KEYS)
        project, changes = store.get(slug), body.values
        mode = actions.check_mode(project, changes.get("permissionMode"))
        if "name" in changes:
            actions.rename(project=project, session_id=session_id, name=changes["name"])
        if "permissionMode" in changes:
            actions.set_mode(project=project, session_id=session_id, mode=mode)
        answer = bodies.OneChat(chat=_chat(slug, session_id))
        return Response(rest.with_warnings(answer, body.warnings))

    @documented(bodies.Deleted, errors=(404, 409))
    def destroy(self, request: Request, slug: str, session_id: str) -> Response:
        """Move the chat to the trash of its project; refused while a turn runs or waits in it."""
        gone = trash.delete(project=store.get(slug), session_id=session_id)
        deleted = timestamp(gone.deleted)
        answer = bodies.Deleted(ok=True, sessionId=session_id, deletedAt=deleted)
        if gone.left:
            answer["worktree"] = gone.left
        return Response(answer)

    @documented(bodies.OneChat, errors=(404, 409))
    def restore(self, request: Request, slug: str, session_id: str) -> Response:
        """Restore a deleted chat as it was."""
        trash.restore(project=store.get(slug), session_id=session_id)
        return Response(bodies.OneChat(chat=_chat(slug, session_id)))

    @documented(bodies.Trash, errors=(404,))
    def trash(self, request: Request, slug: str) -> Response:
        """Deleted chats of the project, the latest first; they are kept until restored."""
        rows: list[bodies.TrashedChat] = [
            {
                "sessionId": one.session_id,
                "name": one.name,
                "createdAt": one.created or None,
                "deletedAt": timestamp(one.deleted),
            }
            for one in trash.listing(store.get(slug))
        ]
        return Response(bodies.Trash(chats=rows))

    @documented.binary(*export.TYPES.values(), query=bodies.ExportQuery, errors=(404,))
    def export(self, request: Request, slug: str, session_id: str) -> HttpResponseBase:
        """The chat as a download: Markdown for reading, or the lines of its transcript."""
        form = rest.query(request, bodies.ExportQuery)["format"]
        found = export.export(project=store.get(slug), session_id=session_id, form=form)
        name = content_disposition_header(as_attachment=True, filename=found.name)
        headers = {"Content-Disposition": name}
        return StreamingHttpResponse(found.pieces, content_type=found.type, headers=headers)

    @documented(bodies.MessagePage, query=bodies.MessagesQuery, errors=(404,))
    def messages(self, request: Request, slug: str, session_id: str) -> Response:
        """The newest messages before an offset, oldest first."""
        asked = rest.query(request, bodies.MessagesQuery)
        lines, total, following = messages.page(store.get(slug), session_id, **asked)
        shown = cast("list[Message]", [line for line in lines if "role" in line])
        answer = bodies.MessagePage(messages=shown, total=total, next=following)
        if asked["turns"]:
            answer["turns"] = [{**line} for line in lines if "role" not in line]
        return Response(answer)

    @documented(bodies.Sent, status=202, errors=(404, 409), body=bodies.NewMessage, keyed=True)
    def send(self, request: Request, slug: str, session_id: str) -> Response:
        """Put a message into the chat's queue; it starts at once if the chat is idle."""
        body = rest.read(request, bodies.NewMessage)
        project = store.get(slug)
        apart = place.apart(project, files.read(project, session_id))
        values = _with_files(slug, body.values, apart=apart)
        queued = actions.send(
            principal=principal(request),
            project=project,
            session_id=session_id,
            prompt=values["prompt"],
            model=values.get("model"),
            key=rest.key(request),
        )
        return Response(rest.with_warnings(_receipt(queued), body.warnings), status=202)

    @documented(bodies.Stopped, errors=(404,))
    def stop(self, request: Request, slug: str, session_id: str) -> Response:
        """End the running turn and hold the queue; answers once the turn is gone, or after 10 s."""
        project = store.get(slug)
        stopped = queue.stop(project=project, chat=session_id, on_change=following.follow)
        return Response(bodies.Stopped(ok=True, stopped=stopped))

    @documented(bodies.Retried, errors=(404,))
    def retry(self, request: Request, slug: str, session_id: str) -> Response:
        """Retry at once a turn that waits for its model's provider; false if none waits."""
        retried = retries.try_now(project=store.get(slug), chat=session_id)
        return Response(bodies.Retried(ok=True, retried=retried))

    @documented(bodies.Resumed, errors=(404,))
    def resume(self, request: Request, slug: str, session_id: str) -> Response:
        """Release the held messages, in their order."""
        resumed = queue.resume(project=store.get(slug), chat=session_id)
        return Response(bodies.Resumed(ok=True, resumed=resumed))

    @documented(bodies.Done, errors=(404, 409))
    def withdraw(self, request: Request, slug: str, session_id: str, message: str) -> Response:
        """Take a waiting message out of the queue."""
        queue.remove(
            project=store.get(slug), chat=session_id, message=message, on_change=following.follow
        )
        return Response(bodies.Done(ok=True))

    @documented(bodies.PutBack, errors=(404, 409))
    def put_back(self, request: Request, slug: str, session_id: str, message: str) -> Response:
        """Put a withdrawn message back into its place; held messages stay held."""
        turn = queue.restore(project=store.get(slug), chat=session_id, message=message)
        return Response(bodies.PutBack(ok=True, state=turn.state))

    @documented(bodies.Sent, status=202, errors=(404, 409))
    def again(self, request: Request, slug: str, session_id: str, turn: str) -> Response:
        """Repeat a turn that is over: the same message to the same model."""
        queued = actions.again(
            principal=principal(request), project=store.get(slug), session_id=session_id, turn=turn
        )
        return Response(_receipt(queued), status=202)

    @documented(bodies.Archived, errors=(404, 409), body=bodies.Archive)
    def archive(self, request: Request, slug: str, session_id: str) -> Response:
        """Archive or unarchive; archiving a chat that was not archived fires onArchive triggers."""
        body = rest.read(request, bodies.Archive)
        archived = body.values["archived"]
        done = actions.archive(
            principal=principal(request),
            project=store.get(slug),
            session_id=session_id,
            archived=archived,
            on_archive=events.chat_archived,
        )
        answer = bodies.Archived(ok=True, archived=archived, changed=done.changed)
        if done.left:
            answer["worktree"] = done.left
        if done.problem:
            answer["worktreeProblem"] = done.problem
        return Response(rest.with_warnings(answer, body.warnings))

    @documented(bodies.Read, errors=(404, 409), body=bodies.ReadTo)
    def read(self, request: Request, slug: str, session_id: str) -> Response:
        """Mark the chat as read, whole or up to an offset; the mark never moves back."""
        body = rest.read(request, bodies.ReadTo)
        project = store.get(slug)
        row, changed = unread.mark(project=project, session_id=session_id, **body.values)
        answer = bodies.Read(ok=True, unread=row.unread, changed=changed)
        return Response(rest.with_warnings(answer, body.warnings))

    @documented(bodies.Forked, status=201, errors=(404, 409), body=bodies.Fork)
    def fork(self, request: Request, slug: str, session_id: str) -> Response:
        """Make a new chat that begins with the finished turns of this one."""
        body = rest.read(request, bodies.Fork)
        values = {key: value for key, value in body.values.items() if value is not None}
        forked = forks.fork(
            principal=principal(request),
            project=store.get(slug),
            session_id=session_id,
            **values,
        )
        answer = bodies.Forked(chat=_chat(slug, forked.chat.id))
        if forked.turn:
            answer |= {"messageId": forked.turn.id, "state": forked.state}
        return Response(rest.with_warnings(answer, body.warnings), status=201)


def _receipt(queued: queue.Queued) -> bodies.Sent:
    answer = bodies.Sent(
        sent=True, messageId=queued.turn.id, state=queued.state, position=queued.position
    )
    if queued.repeated:
        answer["repeated"] = True
    return answer


def _chat(slug: str, session_id: str) -> Chat:
    return view(index.get(store.get(slug), session_id))


def _with_files(slug: str, values: dict[str, Any], *, apart: bool | None) -> dict[str, Any]:
    """The values without `attachments`; these are named in the prompt instead."""
    kept = {key: value for key, value in values.items() if key != "attachments"}
    if attached := values.get("attachments"):
        project = store.get(slug)
        prompt = kept.get("prompt") or ""
        kept["prompt"] = attachments.with_files(
            project=project, prompt=prompt, attached=attached, apart=apart
        )
    return kept


def _queue(slug: str, session_id: str) -> list[queue.QueueRow]:
    return queue.view(database.unless_gone(lambda: queue.active_rows(slug, session_id), list))
