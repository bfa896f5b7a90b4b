"""How a route is described to readers of the API: its body, its answers, its refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast, is_typeddict

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web.shapes import serializer

Handler = TypeVar("Handler", bound=Callable[..., Any])
Serializer = type[s.Serializer[Any]]
Shape = Serializer | type[Mapping[str, Any]]  # a serializer or a TypedDict

KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Any word of yours, at most 255 characters: the same request sent again with it "
    "makes nothing and gets the answer of the first, with `repeated`. Each message needs its own.",
)


@dataclass(frozen=True, slots=True)
class Described:
    """Describes the routes of one part, which share the shape of a refusal.

    `always`: statuses that any route may refuse with; `asked`: further ones of a route with a
    query; `sent`: further ones of a route with a body.
    """

    error: Shape
    always: tuple[int, ...]
    asked: tuple[int, ...] = (400,)
    sent: tuple[int, ...] = (400, 413, 415)

    def __call__(
        self,
        *answers: Shape,
        status: int = 200,
        also: int | None = None,
        bare: Iterable[int] = (),
        errors: Iterable[int] = (),
        query: Serializer | None = None,
        body: Serializer | OpenApiTypes | None = None,
        keyed: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Describe one handler; of several `answers` it gives one.

        `also`: another status with the same answer; `bare`: statuses without a body; `keyed`: the
        request may be repeated under its `rest.key`.
        """
        answer = _any_of(tuple(_serializer(one) for one in answers))
        good = dict.fromkeys((status, also or status), answer) | dict.fromkeys(bare)
        return self._entry(good, errors, query, body, KEY if keyed else None)

    def binary(
        self,
        *types: str,
        bare: Iterable[int] = (),
        errors: Iterable[int] = (),
        query: Serializer | None = None,
    ) -> Callable[[Handler], Handler]:
        """Describe a handler whose answer is not JSON but one of these media types."""
        good: dict[Any, Any] = dict.fromkeys(((200, kind) for kind in types), OpenApiTypes.BINARY)
        return self._entry(good | dict.fromkeys(bare), errors, query, None)

    def _entry(
        self,
        good: dict[Any, Any],
        errors: Iterable[int],
        query: Serializer | None,
        body: Serializer | OpenApiTypes | None,
        header: OpenApiParameter | None = None,
    ) -> Callable[[Handler], Handler]:
        refused = (*self.always, *(self.asked if query else ()), *(self.sent if body else ()))
        error = _serializer(self.error)
        return extend_schema(
            request=body,
            responses={**good, **dict.fromkeys((*refused, *errors), error)},
            parameters=[one for one in (query, header) if one] or None,
        )


def _serializer(shape: Shape) -> Serializer:
    return serializer(shape) if is_typeddict(shape) else cast("Serializer", shape)


def _any_of(answers: tuple[Serializer, ...]) -> Any:
    if len(answers) == 1:
        return answers[0]
    name = "Or".join(answer.__name__ for answer in answers)
    return PolymorphicProxySerializer(name, [*answers], resource_type_field_name=None)


class DescriptionView(SpectacularJSONAPIView):
    """/api/schema of the part with the given `urlconf`; it names the mount as the server."""

    http_method_names = ("get", "head")

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        if mount := request.META.get("SCRIPT_NAME"):
            response.data["servers"] = [{"url": mount}]
        return response
