"""How a route is described to readers of the API: its body, its answers, its refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s

Handler = TypeVar("Handler", bound=Callable[..., Any])
Shape = type[s.Serializer[Any]]


@dataclass(frozen=True, slots=True)
class Described:
    """What the routes of one part have in common: the one shape of a refusal, and who gives which.

    `always`: statuses any route may refuse with; `asked` those of a route with a query, `sent`
    those of one with a body.
    """

    error: Shape
    always: tuple[int, ...]
    asked: tuple[int, ...] = (400,)
    sent: tuple[int, ...] = (400, 413, 415)

    def __call__(
        self,
        answer: Shape | None,
        *,
        status: int = 200,
        also: int | None = None,
        errors: Iterable[int] = (),
        query: Shape | None = None,
        body: Shape | None = None,
    ) -> Callable[[Handler], Handler]:
        """The entry of one handler. `also`: another status with the same answer."""
        good = dict.fromkeys((status, also or status), answer)
        return self._entry(good, errors, query, body)

    def binary(
        self, *types: str, errors: Iterable[int] = (), query: Shape | None = None
    ) -> Callable[[Handler], Handler]:
        """The entry of a handler whose answer is no JSON but of one of these types."""
        good = dict.fromkeys(((200, kind) for kind in types), OpenApiTypes.BINARY)
        return self._entry(good, errors, query, None)

    def _entry(
        self,
        good: dict[Any, Any],
        errors: Iterable[int],
        query: Shape | None,
        body: Shape | None,
    ) -> Callable[[Handler], Handler]:
        told = (*self.always, *(self.asked if query else ()), *(self.sent if body else ()))
        return extend_schema(
            request=body,
            responses={**good, **dict.fromkeys((*told, *errors), self.error)},
            parameters=[query] if query else None,
        )
