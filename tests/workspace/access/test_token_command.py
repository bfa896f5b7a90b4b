"""`manage.py token`: what it prints lets a client in, and nothing of it is stored."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import yaml

from tests.promises.rings import few
from tests.service import Service
from workspace.access import clients


def sections(text: str) -> dict[str, str]:
    """The printed lines by the comment above them: 1, 2, and the programs."""
    found: dict[str, str] = {}
    for block in re.split(r"^# +(?=\d\.|\w[\w ]*:$)", text, flags=re.MULTILINE)[1:]:
        head, *lines = block.splitlines()
        key = head.split(".")[0] if head[0].isdigit() else head.rstrip(":")
        found[key] = "\n".join(line for line in lines if not line.startswith("#")).strip()
    return found


def told(service: Service, *arguments: str) -> dict[str, str]:
    done = service.run("token", *arguments)
    assert done.returncode == 0, done.stderr
    return sections(done.stdout)


def token_of(printed: dict[str, str]) -> tuple[str, str]:
    """The variable and what it holds."""
    name, _, value = printed["1"].removeprefix("export ").partition("=")
    return name, value


def pasted(service: Service, text: str) -> None:
    (service.data / "svc.config.yaml").write_text(text)


def test_the_printed_lines_let_the_client_in(stopped_service: Service) -> None:
    service = stopped_service
    printed = told(service, "ci", "--allow", "list_*", "--project", "*")
    name, token = token_of(printed)
    pasted(service, printed["2"])
    (service.data / "service.env").write_text(f"{printed['1']}\n")
    service.start()

    done = subprocess.run(
        ["bash", "-c", printed["curl"].replace("localhost", "127.0.0.1")],
        env=service.env | {name: token}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert '"list_chats"' in done.stdout

    claude = shlex.split(printed["Claude Code"].replace(f"${name}", token))
    cursor = json.loads(printed["Cursor"])["mcpServers"]["svc"]
    header = claude[claude.index("--header") + 1].partition(": ")
    ways = [
        (claude[claude.index("svc") + 1], {header[0]: header[2]}),
        (cursor["url"], {k: v.replace(f"${{env:{name}}}", token)
                         for k, v in cursor["headers"].items()}),
    ]  # fmt: skip
    for url, headers in ways:
        assert listed(url, headers) == 200
        assert listed(url, {"Authorization": "Bearer wrong"}) == 401

    row = service.http.get("/api/clients").json()["clients"][0]
    assert (row["clientId"], row["status"], row["warnings"]) == ("ci", "enabled", [])
    assert "list_projects" in row["operations"]


def listed(url: str, headers: dict[str, str]) -> int:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    return httpx.post(url, json=call, headers=headers | accept, trust_env=False).status_code


def test_the_token_is_bound_to_the_instance_and_long_enough(stopped_service: Service) -> None:
    pasted(stopped_service, "managementApi: {instanceId: my_desk}\n")

    name, token = token_of(told(stopped_service, "lap-top"))

    assert name == "SVC_TOKEN_LAP_TOP"
    assert re.fullmatch(r"svc_my_desk_[0-9a-f]{48}", token)
    assert token_of(told(stopped_service, "lap-top"))[1] != token


def test_nothing_of_the_token_is_stored(stopped_service: Service) -> None:
    before = {path for path in stopped_service.data.rglob("*") if path.is_file()}

    _, token = token_of(told(stopped_service, "ci"))

    made = {path for path in stopped_service.data.rglob("*") if path.is_file()} - before
    secret = token.rpartition("_")[2].encode()
    assert [path for path in before | made if secret in path.read_bytes()] == []
    assert not (stopped_service.data / "svc.config.yaml").exists()


def test_a_client_that_is_there_keeps_its_variable_and_needs_no_paste(
    stopped_service: Service,
) -> None:
    block = {
        "publicUrl": "https://svc.example.com", "instanceId": "desk",
        "clients": {"ci": {"auth": {"type": "token", "ref": "env:ROBOT"}}},
    }  # fmt: skip
    pasted(stopped_service, yaml.safe_dump({"managementApi": block}))

    printed = told(stopped_service, "ci")

    assert token_of(printed)[0] == "ROBOT"
    assert printed["2"] == ""
    assert "https://svc.example.com/mcp" in printed["curl"]
    for option in ("--project", "--allow"):
        done = stopped_service.run("token", "ci", option, "*")
        assert (done.returncode, done.stdout) == (2, "")
        assert "ci is configured already, so --project and --allow cannot set its" in done.stderr
    other = yaml.safe_load(told(stopped_service, "phone")["2"])
    assert list(other["managementApi"]) == ["clients"]


def test_what_is_pasted_is_read_without_a_complaint(stopped_service: Service) -> None:
    printed = told(stopped_service, "ci", "--project", "007", "--project", "no", "--allow", "*")
    name, token = token_of(printed)

    block = yaml.safe_load(printed["2"])["managementApi"]
    found = clients.load(SimpleNamespace(management_api=block, environ={name: token}))

    assert [client.client_id for client in found.clients] == ["ci"]
    assert found.records == ()
    assert found.clients[0].scope.projects == ("007", "no")


@pytest.mark.parametrize("client", few(["a\nb", "", "$(id)", "a b", "ä", "x" * 65, "-x", "a:b"], 1))
def test_a_client_that_no_variable_can_be_named_after_is_refused(
    stopped_service: Service, client: str
) -> None:
    done = stopped_service.run("token", "--", client)

    assert (done.returncode, done.stdout) == (2, "")
    assert "client: must be letters, digits, - and _, e.g. laptop" in done.stderr


@pytest.mark.parametrize("instance", few(['"a b"', '"a\\"b"', '"é"'], 1))
def test_an_instance_that_no_token_can_name_is_refused(
    stopped_service: Service, instance: str
) -> None:
    pasted(stopped_service, f"managementApi: {{instanceId: {instance}}}\n")

    done = stopped_service.run("token", "ci")

    assert (done.returncode, done.stdout) == (2, "")
    assert "managementApi.instanceId: " in done.stderr


def test_the_page_shows_the_same_lines() -> None:
    script = Path(__file__).parents[3] / "templates/static/js/workspace/clients.js"
    shown = script.read_text()

    assert 'claude mcp add --transport http svc ${url}/mcp --header "Authorization: Bearer' in shown
    assert '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' in shown
