"""The registry: declared once, checked on every way in."""

from __future__ import annotations

import pytest

from config.errors import Denied
from config.mcp.operations import Registry
from tests.config.mcp_world import REGISTRY, SAY, Caller


def test_an_operation_is_declared_once():
    registry = Registry()
    registry.add(SAY)

    with pytest.raises(ValueError, match="declared twice: say"):
        registry.add(SAY)


def test_a_caller_sees_what_it_is_granted_in_the_declared_order():
    assert [op.name for op in REGISTRY.visible_to(Caller())] == ["say", "look"]
    assert [op.name for op in REGISTRY.visible_to(Caller(frozenset({"say"})))] == ["say"]
    assert REGISTRY.visible_to(Caller(frozenset())) == []


def test_an_operation_that_needs_another_is_hidden_without_it():
    assert REGISTRY.find("look", Caller()) is not None
    assert REGISTRY.find("look", Caller(frozenset({"look"}))) is None
    assert REGISTRY.visible_to(Caller(frozenset({"look"}))) == []


def test_running_asks_the_principal_first():
    with pytest.raises(Denied):
        REGISTRY.run("say", Caller(), project="secret")

    assert REGISTRY.run("say", Caller(), project="a", text="x") == {"project": "a", "text": "x"}
