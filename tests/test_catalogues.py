"""The tools of /mcp of all three parts: none can be called short of what its function requires."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from inspect import Parameter, getclosurevars, signature
from typing import Any

import pytest

from config.mcp.operations import Operation
from dashboard.mcp.catalogue import NAMES
from dashboard.mcp.catalogue import OPERATIONS as DASHBOARD
from review.mcp.catalogue import OPERATIONS as REVIEW
from workspace.mcp.catalogue import OPERATIONS as WORKSPACE


def required(run: Callable[..., Any]) -> Iterator[str]:
    """What the function must be given; for a wrapper, what the function that it wraps must be."""
    fixed: set[str] = {"principal", "agent"}
    if not isinstance(run, partial):
        within = getclosurevars(run).nonlocals
        fixed |= set(within.get("fixed", ()))
        if noun := within.get("noun") or within.get("call"):
            run, fixed = noun, fixed | {"me", "author"}
    for name, parameter in signature(run).parameters.items():
        named = parameter.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
        if named and parameter.default is Parameter.empty and name not in fixed:
            yield name


@pytest.mark.parametrize(
    "operation", [*WORKSPACE, *REVIEW, *DASHBOARD], ids=lambda operation: operation.name
)
def test_what_its_function_requires_is_there_whatever_is_left_out(operation: Operation):
    there = {
        NAMES.get(argument.name, argument.name)
        for argument in operation.arguments
        if argument.default is not None or (argument.required and not argument.as_sent)
    }

    assert not set(required(operation.run)) - there
