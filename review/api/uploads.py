"""Images over HTTP: refused before their body is read, or as soon as it is too long.

The guard has already checked Host, Origin, type and Content-Length, and counts bytes while the body
streams; the image itself is checked after that.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from config.errors import MethodNotAllowed, SvcError
from config.web.answers import Receive, Send, refusal, refuse, send_json
from config.web.guard import Headers
from config.web.http import threads
from config.web.http.body import Gone, read_body
from review import assets, projects
from review.refusals import failures_as_500


async def upload(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """ASGI: POST /api/projects/:p/assets."""
    slug = scope["url_route"]["kwargs"]["slug"]
    try:
        if scope["method"] != "POST":
            raise MethodNotAllowed("Method not allowed")
        await threads.run(projects.get, slug)
        stored = await threads.run(_store, scope, slug, await read_body(receive))
    except Gone:
        return
    except MethodNotAllowed as error:
        await refuse(send, refusal(error, (b"allow", b"POST")))
    except SvcError as error:
        await refuse(send, refusal(error))
    else:
        await send_json(send, 201 if stored["created"] else 200, stored)


@failures_as_500()
def _store(scope: dict[str, Any], slug: str, body: bytes) -> assets.Stored:
    kind = Headers(scope).only(b"content-type").partition(";")[0].strip().lower()
    alt = parse_qs(scope["query_string"].decode("utf-8", "replace")).get("alt", [""])[-1]
    return assets.store(slug, body, kind, alt)
