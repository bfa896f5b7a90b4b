"""Which tests start a process: read from their code when they are collected, and held by a hook.

A test bears the mark `process` when it or one of its fixtures names what starts one, directly or
through the functions and classes that it names; `service` and `browser` in the same way. `make
unit` is every test without it; one that starts a process all the same fails there, so there is no
list to keep.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import multiprocessing
import os
import pty
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from multiprocessing.context import BaseContext
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from config.process import heap

STARTS = {
    id(what)
    for what in (
        subprocess.Popen, subprocess.run, subprocess.call, subprocess.check_call,
        subprocess.check_output, subprocess.getoutput, os.fork, os.forkpty, os.posix_spawn,
        os.posix_spawnp, os.system, pty.fork, pty.spawn, asyncio.create_subprocess_exec,
        asyncio.create_subprocess_shell, multiprocessing.Process, multiprocessing.Pool,
        multiprocessing.Manager, multiprocessing.get_context,
        concurrent.futures.ProcessPoolExecutor,
    )
}  # fmt: skip
OURS = ("tests", "config", "workspace", "review", "dashboard", "manage", "bench")
EVENTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
PLACES = {
    ("tests.service", "Service"): {"process", "service", "database"},
    ("tests.service", "stores"): {"database"},
    ("playwright.sync_api", "sync_playwright"): {"process", "browser"},
}
# Named by nearly everything, run by few: the sandbox is tried once per process, by the first test
# that asks for it, and a test that clones has a repository, which git made for it.
RARE = {("workspace.engines.select", "confinement"), ("workspace.projects.cloning", "clone")}
UNIT = "not process"  # what `make unit` runs
HELP = "name what starts it in the test or a fixture (tests/starts.py)"


class Started:
    """The commands that were started since a test began, by whatever thread."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        sys.addaudithook(self.see)

    def see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS:
            command = str(arguments[1] if event == "subprocess.Popen" else event)
            if "/bin/true" not in command:  # the sandbox being tried
                self.commands.append(command[:200])


started = Started()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    roots = {item: _roots(item) for item in items}
    marks = come_to(itertools.chain.from_iterable(roots.values()))
    for item, those in roots.items():
        for mark in set().union(*(marks[id(one)] for one in those)):
            item.add_marker(mark)
        asked = {"db", "transactional_db"} & set(vars(item)["fixturenames"])
        if asked or item.get_closest_marker("django_db"):
            item.add_marker("database")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays: to search it for garbage again and again is a fifth of the work."""
    heap.loading()
    try:
        return (yield)
    finally:
        heap.freeze(lasting=False)


def _roots(item: pytest.Item) -> list[Any]:
    """The function of a test, those of its fixtures, and the values of its parameters."""
    assert isinstance(item, pytest.Function)
    fixtures = itertools.chain.from_iterable(item._fixtureinfo.name2fixturedefs.values())
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return [item.function, *(fixture.func for fixture in fixtures), *values]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    started.commands.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    result = yield
    if started.commands and item.config.option.markexpr == UNIT:
        pytest.fail(f"starts {started.commands[0]}, which its code does not show: {HELP}")
    return result


def come_to(roots: Iterable[Any]) -> dict[int, set[str]]:
    """The marks of what is named, and of all that names it, by their ids."""
    known: dict[int, Any] = {}
    by: dict[int, list[int]] = defaultdict(list)
    left = list(roots)
    while left:
        one = left.pop()
        if id(one) not in known:
            known[id(one)] = one
            for other in named(one):
                by[id(other)].append(id(one))
                left.append(other)
    found: dict[int, set[str]] = defaultdict(set)
    for number, one in known.items():
        if given := _marks(one):
            for above in _above(number, by):
                found[above] |= given
    return found


def _above(number: int, by: dict[int, list[int]]) -> set[int]:
    seen: set[int] = set()
    left = [number]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += by[one]
    return seen


def _marks(one: Any) -> set[str]:
    if id(one) in STARTS or isinstance(one, BaseContext):
        return {"process"}
    return PLACES.get(_place(one), set())


def _place(one: Any) -> tuple[Any, Any]:
    return getattr(one, "__module__", None), getattr(one, "__name__", None)


def named(one: Any) -> Iterable[Any]:
    """What a thing of ours names in its code."""
    one = getattr(one, "__wrapped__", one)
    if isinstance(one, list | tuple | set | frozenset):
        return list(one)
    if isinstance(one, dict):
        return list(one.values())
    if isinstance(one, partial):
        return [one.func, *one.args]
    one = getattr(one, "__func__", one)
    module = getattr(one, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in OURS:
        return []
    if _place(one) in RARE:
        return []
    if isinstance(one, FunctionType):
        return _of_function(one)
    if isinstance(one, type):
        return [*_members(one), *one.__bases__]
    return []


def _members(kind: type) -> Iterator[Any]:
    for value in vars(kind).values():
        if isinstance(value, property):
            yield value.fget
        elif callable(value) or isinstance(value, staticmethod | classmethod):
            yield value


def _of_function(function: FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in function.__closure__ or () if _full(cell)]
    return [*_in_code(function.__code__, function.__globals__), *cells]


def _full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _in_code(code: CodeType, known: dict[str, Any]) -> Iterator[Any]:
    """Its globals and what it imports, their attributes, and the same of its inner functions."""
    seen = {name: sys.modules[name] for name in code.co_names if name in sys.modules}
    seen |= {name: known[name] for name in code.co_names if name in known}
    for name, one in seen.items():
        yield one
        if isinstance(one, ModuleType | type):
            others = set(code.co_names) - {name}
            yield from (getattr(one, other) for other in others if hasattr(one, other))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _in_code(inner, known)
