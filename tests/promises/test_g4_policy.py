"""G4: a client does what its scope grants and nothing else; every cell of the table is tried."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from config.errors import Denied
from config.mcp.endpoint import Call, McpConsumer
from config.mcp.operations import Operation, Registry
from tests.config.mcp_world import ask, call
from tests.promises import permissions
from tests.promises.permissions import PROJECTS, SCOPES, SWITCHES
from tests.workspace.access.world import CATALOGUE
from workspace.mcp.catalogue import REGISTRY

pytestmark = pytest.mark.promise("G4")
NAMES = list(CATALOGUE)
BASE = Path(__file__).resolve().parents[2]


class Recorder:
    """The real operations, except that what they would do is only noted."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.registry = Registry()
        for operation in REGISTRY:
            self.registry.add(dataclasses.replace(operation, run=self._run(operation), render=dict))

    def _run(self, operation: Operation) -> Any:
        def run(principal: Any, **arguments: Any) -> dict[str, Any]:
            if operation.name == "create_project":  # its project is the one it is about to make
                principal.check_project(operation.name, arguments["slug"])
            self.ran.append((operation.name, arguments))
            return {}

        return run

    def endpoint(self, principal: Any) -> type[McpConsumer]:
        class Endpoint(McpConsumer):
            registry = self.registry

            async def admit(self) -> Any:
                return principal

            def record(self, call: Call) -> None:
                """Nobody reads it."""

        return Endpoint


def arguments(name: str, project: str) -> dict[str, Any]:
    """Enough for the arguments to be accepted."""
    fixed: dict[str, Any] = {"prompts": ["x"], "name": "n", "prompt": "p", "session_id": "s"}
    operation = REGISTRY.get(name)
    assert operation is not None
    wanted = {argument.name for argument in operation.arguments if argument.required}
    given = {key: value for key, value in fixed.items() if key in wanted}
    if name == "create_project":
        return given | {"slug": project}
    takes_project = any(argument.name == "project" for argument in operation.arguments)
    return given | ({"project": project} if takes_project else {})


async def text_of(recorder: Recorder, principal: Any, name: str, project: str) -> str | None:
    """The error the call got over MCP, or None."""
    body = call(name, **arguments(name, project))
    answer = await ask(body, endpoint=recorder.endpoint(principal))
    result = json.loads(answer.body.split(b"data: ")[1])["result"]
    return result["content"][0]["text"] if result.get("isError") else None


def test_the_catalogue_is_the_one_of_the_contract():
    assert [op.name for op in REGISTRY] == NAMES
    assert {op.name: (op.group, op.read_only, op.code_execution) for op in REGISTRY} == CATALOGUE
    assert {op.name: op.needs for op in REGISTRY if op.needs} == {"fork_chat_batch": "fork_chat"}
    assert sum(len(op.description) > 240 for op in REGISTRY) == 0


def test_the_page_of_permissions_is_what_the_code_decides():
    assert permissions.PAGE.read_text() == permissions.render(REGISTRY), (
        "run python -m tests.promises.permissions"
    )


@pytest.mark.parametrize("page", ["permissions", "tool-list"])
def test_a_page_is_made_by_the_command_that_it_names(page: str, tmp_path: Path):
    """In a copy, so that a page that differs stays as it is."""
    shutil.copytree(BASE / "tests" / "promises", tmp_path / "tests" / "promises")
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "docs").mkdir()
    text = (BASE / "docs" / f"{page}.md").read_text()
    command = re.search(r"`python (-m \S+)`", text)
    assert command
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": str(BASE)}

    subprocess.run([sys.executable, *command[1].split()], cwd=tmp_path, env=env, check=True)

    assert (tmp_path / "docs" / f"{page}.md").read_text() == text


@pytest.mark.parametrize("scope", SCOPES)
async def test_every_cell_of_a_client_holds_over_mcp(scope: str):
    for name in NAMES:
        for project in PROJECTS:
            recorder, principal = Recorder(), permissions.client(scope)
            operation = recorder.registry.get(name)
            assert operation is not None
            cell = permissions.client_cell(recorder.registry, scope, operation)
            text = await text_of(recorder, principal, name, project)

            if cell == permissions.HIDDEN:
                assert (text, recorder.ran) == (f"Unknown tool: {name}", [])
            elif name == "list_projects" or cell == "every project" or project in cell:
                assert text is None
                assert len(recorder.ran) == 1
            else:
                assert text == (
                    f"not permitted: operation {name} is outside this client's scope"
                    f" (project {project})"
                )
                assert recorder.ran == []


@pytest.mark.parametrize("scope", SCOPES)
def test_a_denied_cell_is_refused_by_the_layer_for_any_transport(scope: str):
    recorder, principal = Recorder(), permissions.client(scope)
    for name in NAMES:
        if principal.scope.permits(name):
            continue
        with pytest.raises(Denied) as caught:
            recorder.registry.run(name, principal, **arguments(name, "alpha"))

        assert caught.value.text == (
            f"not permitted: operation {name} is outside this client's scope"
        )
    assert recorder.ran == []


@pytest.mark.parametrize("switches", SWITCHES)
async def test_every_cell_of_a_turn_holds(switches: str):
    for name in NAMES:
        recorder, principal = Recorder(), permissions.agent(switches)
        visible = recorder.registry.find(name, principal) is not None
        text = await text_of(recorder, principal, name, "alpha")

        assert (text is None) is visible
        assert len(recorder.ran) == int(visible)
        if not visible:
            assert text == f"Unknown tool: {name}"
            if not principal.grants(REGISTRY.get(name)):  # type: ignore[arg-type]
                with pytest.raises(Denied):
                    recorder.registry.run(name, principal, project="alpha")


async def test_a_turn_may_leave_its_own_project_and_chat_out():
    recorder, principal = Recorder(), permissions.agent("all on")
    endpoint = recorder.endpoint(principal)

    await ask(call("archive_chat"), endpoint=endpoint)

    assert recorder.ran == [("archive_chat", {"project": "alpha", "session_id": "c"})]
