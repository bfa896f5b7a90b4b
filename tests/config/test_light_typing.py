"""The light NamedTuple does what the one of `typing` does."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from config.process import light_typing


class Real(typing.NamedTuple):
    name: str
    size: int = 1
    tags: tuple[str, ...] = ()


class Light(light_typing.NamedTuple):
    name: str
    size: int = 1
    tags: tuple[str, ...] = ()

    @property
    def double(self) -> int:
        return self.size * 2

    @classmethod
    def of(cls, name: str) -> Light:
        return cls(name)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("a",), {}),
        (("a", 2), {"tags": ("x",)}),
        (("a", 2, ("x",)), {}),
        ((), {"tags": ("x",), "name": "a"}),
    ],
)
def test_a_value_is_made_from_places_names_and_defaults(given, named):
    real, light = Real(*given, **named), Light(*given, **named)

    assert [light.name, light.size, light.tags] == [*light] == [*real]
    assert hash(light) == hash(real)
    assert light._asdict() == real._asdict()
    assert repr(light) == repr(real).replace("Real", "Light")


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), (("a", 1, (), 9), {}), (("a",), {"name": "b"}), (("a",), {"colour": "red"})],
)
def test_a_missing_spare_double_or_unknown_value_is_refused(given, named):
    with pytest.raises(TypeError):
        Real(*given, **named)
    with pytest.raises(TypeError, match="Light takes name, size, tags"):
        Light(*given, **named)


def test_a_changed_copy_leaves_the_value_as_it_is():
    light = Light("a")

    assert light._replace(size=3) == Light("a", 3)
    assert light == Light("a")
    with pytest.raises(ValueError, match="Light has no colour"):
        light._replace(colour="red")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        light.size = 5  # type: ignore[misc]


def test_a_value_unpacks_matches_and_keeps_its_methods():
    name, size, _ = Light("a", 4)
    match Light.of("b"):
        case Light(found, number):
            assert (found, number) == ("b", 1)
    assert (name, size, Light("a", 4).double) == ("a", 4, 8)


def test_a_value_survives_copies_and_pickles():
    light = Light("a", 2, ("x",))

    for again in (copy.copy(light), copy.deepcopy(light), pickle.loads(pickle.dumps(light))):
        assert type(again) is Light
        assert again == light
