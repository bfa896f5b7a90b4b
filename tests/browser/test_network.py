"""The network of turns on the pages: what was reached and refused, and where it is set."""

from __future__ import annotations

import re

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.service import Service
from workspace.chats import transcript

REACHED = {"host": "github.com", "port": 443, "refused": False}
PROJECT = """\
name: Reaching
network:  # as it was talked about
  hostPorts: [5432]
  deny: [example.com]
triggers:
  nightly:
    trigger: {type: schedule, interval: 1h}
    run: {prompt: "#!runbook", network: guarded}
"""


@pytest.fixture
def project(shared_service: Service) -> str:
    shared_service.http.post("/api/projects", json={"name": "Reaching"})
    (shared_service.projects / "reaching/project.yaml").write_text(PROJECT)
    return "/projects/reaching"


def stored(service: Service) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(
        (service.projects / "reaching/project.yaml").read_text()
    )
    return found


def chat(service: Service, *hosts: dict[str, object]) -> str:
    """A chat with one turn that asked for these hosts; its address."""
    made = service.http.post("/api/projects/reaching/chats", json={"name": "Told"}).json()
    session = made["chat"]["sessionId"]
    path = service.projects / "reaching/.chats" / f"{session}.jsonl"
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_start", "msg_1", engine="runbook")
        writer.append("user", "msg_1", text="Fetch it", sender={"kind": "user"})
        told = {"hosts": list(hosts)} if hosts else {}
        writer.append("turn_end", "msg_1", status="ok", reason=None, text=None, ms=9, **told)
    return f"/projects/reaching/chats/{session}"


def refused(host: str, port: int) -> dict[str, object]:
    return {"host": host, "port": port, "refused": True}


@pytest.mark.slow
def test_the_facts_of_a_chat_name_its_hosts_and_what_would_open_the_refused_ones(
    page: Page, project: str, shared_service: Service
) -> None:
    asked = (REACHED, refused("127.0.0.1", 8000), refused("localhost", 3000),
             refused("169.254.169.254", 80), refused("2001:db8::1", 22))  # fmt: skip
    page.goto(chat(shared_service, *asked))
    facts = page.get_by_role("complementary", name="About this chat")
    hosts = facts.locator("section", has=page.get_by_role("heading", name="Network"))

    rows = hosts.get_by_role("listitem")
    expect(rows).to_have_count(5)
    expect(rows.filter(has_text="refused")).to_have_text(
        [re.compile(name) for name in
         (r"127\.0\.0\.1:8000", "localhost:3000", r"169\.254\.169\.254:80", r"\[2001:db8::1\]:22")]
    )  # fmt: skip
    expect(rows.last).to_have_text("github.com:443")
    expect(hosts).to_contain_text("network: {hostPorts: [8000, 3000]} in project.yaml")
    expect(hosts).to_contain_text("Link-local and metadata addresses are never opened.")
    expect(hosts).to_contain_text("refused by network.allow, network.deny or network: off of")


def test_a_chat_whose_turns_were_refused_nothing_is_told_no_key(
    page: Page, project: str, shared_service: Service
) -> None:
    page.goto(chat(shared_service, REACHED))
    facts = page.get_by_role("complementary", name="About this chat")
    expect(facts.get_by_text("github.com:443")).to_be_visible()
    expect(facts.get_by_text("project.yaml")).to_have_count(0)

    page.goto(chat(shared_service))
    expect(facts.get_by_text("Last turn")).to_be_visible()
    expect(facts.get_by_role("heading", name="Network")).to_have_count(0)


@pytest.mark.slow
def test_many_hosts_are_folded_and_none_is_left_out(
    page: Page, project: str, shared_service: Service
) -> None:
    page.goto(chat(shared_service, *(REACHED | {"host": f"h{n}.org"} for n in range(40))))
    facts = page.get_by_role("complementary", name="About this chat")
    expect(facts.get_by_text("h29.org:443")).to_be_visible()
    expect(facts.get_by_text("h39.org:443")).to_be_hidden()

    facts.get_by_text("10 more hosts").click()

    expect(facts.get_by_text("h39.org:443")).to_be_visible()
    fork = facts.get_by_role("button", name="Fork")
    fork.focus()
    name = page.url.rpartition("/")[2]
    route = f"/api{project}/chats/{name}"
    shared_service.http.patch(route, json={"permissionMode": "plan"}).raise_for_status()
    expect(
        page.get_by_role("combobox", name="What agents may do unasked in this chat")
    ).to_have_value("plan")
    expect(facts.get_by_text("h39.org:443")).to_be_visible()
    expect(fork).to_be_focused()


def test_a_trigger_is_given_less_than_its_project(
    page: Page, project: str, shared_service: Service
) -> None:
    page.goto(f"{project}/triggers?name=nightly")
    choice = page.get_by_label("Network", exact=True)
    expect(choice).to_have_value("guarded")

    choice.select_option("off")
    page.keyboard.press("Control+s")

    expect(page.get_by_text("Saved.").first).to_be_visible()
    entries = stored(shared_service)["triggers"]
    assert isinstance(entries, dict)
    assert entries["nightly"]["run"]["network"] == "off"


@pytest.mark.slow
def test_another_mode_of_a_project_leaves_its_lists_alone(
    page: Page, project: str, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("400")
    page.goto(f"{project}/settings")
    choice = page.get_by_label("Network of turns")
    expect(
        page.get_by_text("guarded; ports of this machine: 5432; never example.com")
    ).to_be_visible()
    choice.select_option("host")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("only an instance with `engines.network: host`")).to_be_visible()

    choice.select_option("off")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_text("Saved.")).to_be_visible()
    assert stored(shared_service)["network"] == {
        "mode": "off", "hostPorts": [5432], "deny": ["example.com"],
    }  # fmt: skip
    expect(choice).to_have_value("off")
    page.get_by_role("button", name="Undo").click()
    expect(choice).to_have_value("")
    assert stored(shared_service)["network"] == {"hostPorts": [5432], "deny": ["example.com"]}
