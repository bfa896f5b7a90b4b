"""Names of `typing` for modules that a turn process loads, at a tenth of the price (promise S5).

`typing` costs as much as a third of a bare interpreter, and each of its NamedTuples is compiled
from text. A type checker sees the real names; a running process gets these, which do the same.
"""

from __future__ import annotations

from operator import itemgetter

__all__ = ["IO", "Any", "NamedTuple", "Protocol"]

TYPE_CHECKING = False  # every type checker treats this name as true

if TYPE_CHECKING:
    from typing import IO, Any, NamedTuple, Protocol
else:
    IO = Any = object  # used only in annotations, which are never evaluated

    class Protocol:
        """What a value must offer; nothing is checked at run time."""

    class NamedTuple(tuple):
        """An unchangeable value with named, ordered fields: see typing.NamedTuple."""

        __slots__ = ()

        def __init_subclass__(cls) -> None:
            fields = tuple(cls.__annotations__)
            cls._fields = cls.__match_args__ = fields
            cls._field_defaults = {name: vars(cls)[name] for name in fields if name in vars(cls)}
            for place, name in enumerate(fields):
                setattr(cls, name, property(itemgetter(place)))

        def __new__(cls, *given: Any, **named: Any) -> NamedTuple:
            fields = cls._fields
            if len(given) != len(fields) or named:
                values = {**cls._field_defaults, **dict(zip(fields, given)), **named}  # noqa: B905
                twice = named.keys() & fields[: len(given)]
                if twice or len(given) > len(fields) or values.keys() != set(fields):
                    raise TypeError(f"{cls.__name__} takes {', '.join(fields)}")
                given = (values[name] for name in fields)
            return super().__new__(cls, given)

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            shown = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(shown)})"

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes: Any) -> NamedTuple:
            unknown = changes.keys() - set(self._fields)
            if unknown:
                raise ValueError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
            return type(self)(**(self._asdict() | changes))
