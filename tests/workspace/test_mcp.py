"""The fourteen operations as tools: their list, and the exact shape of every result."""

from __future__ import annotations

import uuid
from typing import Any

import orjson
import pytest

from config.errors import Conflict, Denied, Invalid, NotFound, Upstream
from config.mcp import arguments, results
from config.mcp.operations import Operation
from config.storage import displaced
from tests.service import free_port
from tests.workspace.access.world import configure
from workspace.access.policy import Bounds, Gates, Scope
from workspace.access.principals import Agent, Client, User
from workspace.chats import actions, files
from workspace.mcp import waiting
from workspace.mcp.catalogue import REGISTRY
from workspace.models import Run, Turn
from workspace.projects import guarded, store
from workspace.triggers.schedule import alive

EVERYTHING = Client("ci", Scope(allow=("*",)))
ORDER = [
    "list_projects",
    "list_chats",
    "read_chat",
    "create_chat",
    "fork_chat",
    "send_message",
    "archive_chat",
    "unarchive_chat",
    "fork_chat_batch",
    "create_project",
    "list_triggers",
    "set_trigger",
    "remove_trigger",
    "run_trigger",
]
T_KEYS = [
    "name",
    "agentName",
    "type",
    "cron",
    "interval",
    "event",
    "path",
    "prompt",
    "promptFile",
    "session",
    "tools",
    "maxSpawnDepth",
    "permissionMode",
    "model",
    "maxTurns",
    "enabled",
    "status",
    "lastRunAt",
    "nextRunAt",
    "lastError",
    "overlap",
    "catchUp",
    "onAsk",
    "network",
    "debounce",
    "match",
    "timezone",
    "nextRuns",
    "nextRunsTimezone",
    "lastRun",
    "warnings",
]


@pytest.fixture
def alpha(db, settings, tmp_path, monkeypatch):
    configure(monkeypatch, ci=EVERYTHING.scope)
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    return store.create(principal=User(), name="Alpha")


def find(name: str) -> Operation:
    operation = REGISTRY.get(name)
    assert operation is not None
    return operation


def call(name: str, principal: Any = EVERYTHING, /, **given: Any) -> Any:
    """As a transport does it: read the arguments, run, render."""
    operation = find(name)
    values = arguments.read(operation, given, principal.defaults)
    return operation.render(REGISTRY.run(name, principal, **values))


def test_the_operations_stand_in_the_order_of_the_tool_list():
    assert [operation.name for operation in REGISTRY] == ORDER


def test_the_whole_tool_list_is_under_ten_kilobytes():
    tools = [results.tool(operation, EVERYTHING) for operation in REGISTRY]

    assert max(len(operation.description) for operation in REGISTRY) <= 240
    assert len(orjson.dumps({"tools": tools})) < 10_000


def test_classes_and_code_execution_are_those_of_the_table():
    groups = {operation.name: operation.group for operation in REGISTRY}
    running = {operation.name for operation in REGISTRY if operation.code_execution}

    assert [name for name in ORDER if groups[name] == "read"] == ORDER[:3]
    assert [name for name in ORDER if groups[name] == "trigger"] == ORDER[10:]
    assert {one.name for one in REGISTRY if one.read_only} == {*ORDER[:3], "list_triggers"}
    assert {one.name for one in REGISTRY if one.destructive} == {"set_trigger", "remove_trigger"}
    assert running == {
        "create_project", "create_chat", "fork_chat", "send_message", "fork_chat_batch",
        "set_trigger", "run_trigger",
    }  # fmt: skip
    assert find("fork_chat_batch").needs == "fork_chat"


def test_every_tool_says_what_it_may_do():
    hints = {one.name: results.tool(one, EVERYTHING)["annotations"] for one in REGISTRY}

    assert hints["read_chat"] == {"readOnlyHint": True, "openWorldHint": False}
    assert hints["create_chat"] == {"destructiveHint": False}
    assert hints["unarchive_chat"] == {
        "destructiveHint": False, "idempotentHint": True, "openWorldHint": False,
    }  # fmt: skip
    assert hints["remove_trigger"] == {**hints["unarchive_chat"], "destructiveHint": True}
    assert results.tool(find("read_chat"), EVERYTHING)["title"] == "Read chat"


def test_projects_are_listed_by_slug_without_empty_keys(alpha):
    call("create_project", name="Beta", area="Home", status="IDEA")

    assert call("list_projects") == {
        "count": 2,
        "projects": [
            {"slug": "alpha", "name": "Alpha", "status": "active"},
            {"slug": "beta", "name": "Beta", "area": "home", "status": "idea"},
        ],
    }


def test_a_created_project_says_where_it_is(alpha):
    result = call("create_project", name="Beta")

    assert result == {
        "created": True,
        "slug": "beta",
        "name": "Beta",
        "status": "active",
        "dir": str(alpha.dir.parent / "beta"),
        "workingDir": str(alpha.dir.parent / "beta"),
        "repoBacked": False,
    }


def test_local_paths_are_not_cloned_for_a_client(alpha):
    with pytest.raises(Invalid, match="paths of this machine are not cloned"):
        call("create_project", name="Beta", repo=str(alpha.dir))


def turn_of(**scopes: Scope) -> Agent:
    """A turn of alpha that these clients caused."""
    gates = Gates(True, True, True, True, lambda _: True)
    return Agent(
        "msg_1", "alpha", "c", "C", 0, 1, client=next(iter(scopes), ""), tools=None, plan=False,
        gates=gates, bounds=Bounds(scopes),
    )  # fmt: skip


@pytest.mark.process
def test_what_turns_do_not_reach_is_not_cloned_for_a_client_or_a_turn(alpha):
    closed = f"http://127.0.0.1:{free_port()}/x"
    for caller in (EVERYTHING, turn_of(ci=EVERYTHING.scope), turn_of()):
        with pytest.raises(Invalid, match="is on this machine: open it with"):
            REGISTRY.run("create_project", caller, name="Beta", repo=closed)

    with pytest.raises(Invalid, match="clone failed: fatal: unable to access"):
        REGISTRY.run("create_project", User(), name="Beta", repo=closed)


def test_a_turn_has_cloned_for_it_what_its_own_project_and_trigger_reach(alpha):
    port = free_port()
    repo = f"http://127.0.0.1:{port}/x"
    store.update("alpha", {"network": {"hostPorts": [port]}})

    with pytest.raises(Invalid, match=guarded.FAILED):
        REGISTRY.run("create_project", turn_of(), name="Beta", repo=repo)
    with pytest.raises(Invalid, match="is on this machine"):
        REGISTRY.run("create_project", EVERYTHING, name="Beta", repo=repo)
    actions.create(principal=User(), project=alpha, prompt="hi")
    Turn.objects.update(id="msg_1", network="off")
    with pytest.raises(Invalid, match="the network is off for this turn"):
        REGISTRY.run("create_project", turn_of(), name="Beta", repo=repo)


def test_local_paths_are_not_cloned_for_a_turn_of_a_client(alpha):
    caller = turn_of(ci=EVERYTHING.scope)

    with pytest.raises(Invalid, match="paths of this machine are not cloned"):
        REGISTRY.run("create_project", caller, name="Beta", repo=str(alpha.dir))


def test_a_chat_made_by_a_client_is_spawned_and_stamped(alpha):
    made = call("create_chat", project="alpha", prompt="hi", name="Greeting")

    assert list(made)[:-1] == [
        "created", "project", "sessionId", "name", "prompt", "messageId", "state",
    ]  # fmt: skip
    (chat,) = call("list_chats", project="alpha", fields="*")["chats"]
    assert (chat["origin"], chat["client"], chat["name"]) == ("spawned", "ci", "Greeting")
    assert Turn.objects.get().sender == {"kind": "client", "id": "ci"}


def test_what_nothing_can_run_says_so_at_once(alpha):
    made = call("create_chat", project="alpha", prompt="hi")
    target = {"project": "alpha", "session_id": made["sessionId"]}
    sent = call("send_message", **target, prompt="more")
    forked = call("fork_chat", **target, prompt="again")

    for answer in (made, sent, forked):
        (warning,) = answer["warnings"]
        assert warning.startswith("No engine can run this message: no model is set up")
    book = "#!runbook\nhi"
    assert "warnings" not in call("create_chat", project="alpha", prompt=book)
    named = call("create_chat", project="alpha", prompt=book, model="nonsense-9")
    assert named["warnings"][0].startswith('model "nonsense-9" cannot run now: no model is ')
    assert files.read(alpha, made["sessionId"]).engine == ""


def test_lists_count_what_matches_and_what_was_left_out(alpha):
    ids = [call("create_chat", project="alpha", prompt="x")["sessionId"] for _ in range(3)]
    call("archive_chat", project="alpha", session_id=ids[0])

    result = call("list_chats", limit="1")

    assert (result["count"], result["returned"], result["omittedArchived"]) == (2, 1, 1)
    assert result["project"] is None
    assert len(call("list_chats", project="alpha", include_archived=True)["chats"]) == 3
    (older,) = call("list_chats", before=result["next"])["chats"]
    assert sorted([older["sessionId"], result["chats"][0]["sessionId"]]) == sorted(ids[1:])


def test_a_row_of_a_list_holds_what_matters_or_what_was_asked_for(alpha):
    store.create(principal=User(), name="Beta")
    chat = call("create_chat", project="beta", prompt="x", name="Newest")["sessionId"]

    (row,) = call("list_chats", running=True)["chats"]
    usual = {"project": "beta", "sessionId": chat, "name": "Newest", "running": False, "queued": 1}
    assert {key: row[key] for key in row if key != "updatedAt"} == usual
    assert call("list_chats", fields="name,client")["chats"] == [{"name": "Newest", "client": "ci"}]
    with pytest.raises(Invalid, match="`fields` names `nmae`; there are project, sessionId"):
        call("list_chats", fields="nmae")


def test_a_row_tells_of_archive_and_trigger_only_where_they_are(alpha):
    record = files.ChatRecord(str(uuid.uuid4()), "alpha", files.now(), trigger="nightly")
    files.create(alpha, record)
    plain = call("create_chat", project="alpha", prompt="x")["sessionId"]
    call("archive_chat", project="alpha", session_id=record.id)

    rows = call("list_chats", project="alpha", include_archived=True)["chats"]

    told = {row.pop("sessionId"): row for row in rows}
    keys = ["name", "updatedAt", "running"]
    assert list(told[plain]) == [*keys, "queued"]
    assert list(told[record.id]) == [*keys, "archived", "trigger"]
    asked = "sessionId,name,updatedAt,running,archived,trigger"
    same = call("list_chats", project="alpha", include_archived=True, fields=asked)["chats"]
    assert told[record.id] in [{k: row[k] for k in row if k != "sessionId"} for row in same]


def test_messages_tell_their_place(alpha):
    chat = call("create_chat", project="alpha", prompt="one")["sessionId"]

    sent = call("send_message", project="alpha", session_id=chat, prompt="x" * 3000)

    assert (sent["state"], sent["position"]) == ("queued", 1)
    assert sent["prompt"] == "x" * 2000 + "… [truncated 1000 chars]"
    (chat_row,) = call("list_chats")["chats"]
    assert chat_row["queued"] == 2


def test_archiving_is_idempotent(alpha):
    chat = call("create_chat", project="alpha", prompt="x")["sessionId"]
    target = {"project": "alpha", "sessionId": chat}

    results = [call(name, project="alpha", session_id=chat)
               for name in ("archive_chat", "archive_chat", "unarchive_chat")]  # fmt: skip

    assert results == [
        {"archived": True, **target, "changed": True},
        {"archived": True, **target, "changed": False},
        {"archived": False, **target, "changed": True},
    ]


def test_a_batch_forks_once_per_prompt_and_names_them(alpha):
    chat = call("create_chat", project="alpha", prompt="x", name="Source")["sessionId"]

    result = call(
        "fork_chat_batch", project="alpha", session_id=chat, prompts="a\n\nb", name_prefix="try"
    )

    assert (result["count"], result["failed"], result["source"]) == (2, 0, chat)
    assert [fork["name"] for fork in result["forks"]] == ["try 1", "try 2"]
    assert [fork["prompt"] for fork in result["forks"]] == ["a", "b"]


def test_a_fork_without_a_prompt_starts_no_turn(alpha):
    chat = call("create_chat", project="alpha", prompt="x", name="Source")["sessionId"]

    result = call("fork_chat", project="alpha", session_id=chat)

    assert list(result) == ["forked", "project", "sessionId", "from", "name"]
    assert (result["from"], result["name"]) == (chat, "Fork of Source")
    assert Turn.objects.count() == 1


def test_a_transcript_is_read_as_roles_and_texts(alpha):
    chat = call("create_chat", project="alpha", prompt="x")["sessionId"]

    result = call("read_chat", project="alpha", session_id=chat, limit=9999)

    assert result == {
        "project": "alpha", "sessionId": chat, "total": 0, "returned": 0, "running": False,
        "queued": 1, "messages": [], "after": 0,
    }  # fmt: skip
    with pytest.raises(Invalid, match="not both"):
        call("read_chat", project="alpha", session_id=chat, before=1, after=1)


@pytest.mark.parametrize("name", ["read_chat", "archive_chat", "fork_chat", "send_message"])
def test_a_chat_that_is_not_there_is_an_error_everywhere(alpha, name):
    given = {"prompt": "x"} if name == "send_message" else {}
    for session_id in (str(uuid.uuid4()), "../../etc/passwd"):
        with pytest.raises(NotFound, match=f"Chat not found: {session_id} in project alpha"):
            call(name, project="alpha", session_id=session_id, **given)


def test_the_network_of_a_trigger_is_one_of_three_words(alpha):
    made = call("set_trigger", project="alpha", name="t", interval="1h", prompt="hi", network="off")
    assert made["trigger"]["network"] == "off"
    cleared = call("set_trigger", project="alpha", name="t", network=None)
    assert cleared["trigger"]["network"] is None

    with pytest.raises(Invalid, match="network") as error:
        call("set_trigger", project="alpha", name="t", network="open")
    assert "off, guarded, host" in error.value.text


def test_a_trigger_has_every_key_in_order(alpha):
    result = call("set_trigger", project="alpha", name="tidy", interval="1h", prompt="hi")

    assert list(result["trigger"]) == T_KEYS
    assert (result["set"], result["created"], result["project"]) == (True, True, "alpha")
    assert (result["trigger"]["type"], result["trigger"]["status"]) == ("schedule", "disabled")
    listed = call("list_triggers", project="alpha", name="tidy")
    assert listed["count"] == 1
    assert listed["triggers"] == [result["trigger"]]
    assert (listed["legacy"], listed["invalid"]) == ([], [])


def test_a_list_of_triggers_is_brief_and_one_of_them_whole(alpha):
    for name in ("one", "two"):
        call("set_trigger", project="alpha", name=name, interval="1h", prompt="hi " * 100)

    listed = call("list_triggers", project="alpha")
    assert len(orjson.dumps(listed["triggers"][0])) < 500
    assert None not in listed["triggers"][0].values()
    assert listed["triggers"][0]["prompt"].endswith("… [truncated 180 chars]")
    assert (listed["triggers"][0]["enabled"], listed["triggers"][0]["status"]) == (
        False,
        "disabled",
    )
    (whole,) = call("list_triggers", project="alpha", name="two")["triggers"]
    assert (list(whole), whole["prompt"]) == (T_KEYS, "hi " * 100)
    page = call("list_triggers", project="alpha", limit=1, fields=["name"])
    assert (page["count"], page["triggers"]) == (2, [{"name": "one"}])


def test_enabled_alone_flips_an_existing_trigger_only(alpha):
    call("set_trigger", project="alpha", name="tidy", interval="1h", prompt="hi")

    armed = call("set_trigger", project="alpha", name="tidy", enabled="true")["trigger"]

    assert (armed["enabled"], armed["interval"], armed["prompt"]) == (True, "1h", "hi")
    assert len(armed["nextRuns"]) == 3
    with pytest.raises(NotFound, match="No such trigger: other"):
        call("set_trigger", project="alpha", name="other", enabled=True)


def test_null_clears_and_left_out_stays(alpha):
    call("set_trigger", project="alpha", name="tidy", interval="1h", prompt="hi", max_turns=5)

    kept = call("set_trigger", project="alpha", name="tidy", session="resume")["trigger"]
    cleared = call("set_trigger", project="alpha", name="tidy", max_turns=None)["trigger"]

    assert (kept["maxTurns"], cleared["maxTurns"]) == (5, None)
    assert cleared["session"] == "resume"


def test_a_blank_list_leaves_the_wall_of_a_trigger_as_it_is(alpha):
    words = {"project": "alpha", "name": "t"}
    call("set_trigger", **words, interval="1h", prompt="hi", tools=["Read"])

    left = call("set_trigger", **words, prompt="ho", tools="")["trigger"]
    cleared = call("set_trigger", **words, tools="[]")["trigger"]

    assert (left["prompt"], left["tools"], cleared["tools"]) == ("ho", ["Read"], [])


def test_a_mistake_names_the_argument(alpha):
    with pytest.raises(Invalid, match=r'^cron: "not a cron" '):
        call("set_trigger", project="alpha", name="tidy", cron="not a cron", prompt="hi")


def test_removing_what_is_absent_is_no_error(alpha):
    call("set_trigger", project="alpha", name="tidy", interval="1h", prompt="hi")

    assert call("remove_trigger", project="alpha", name="tidy")["removed"] is True
    assert call("remove_trigger", project="alpha", name="tidy") == {
        "removed": False,
        "project": "alpha",
        "name": "tidy",
    }


def test_running_a_trigger_answers_with_its_chat(alpha, monkeypatch):
    monkeypatch.setattr(alive, "scheduler_alive", lambda: True)
    call(
        "set_trigger",
        project="alpha",
        name="tidy",
        interval="1h",
        prompt="#!runbook\n```Glob\n{}\n```",
    )

    result = call("run_trigger", project="alpha", name="tidy")

    assert list(result) == ["ran", "project", "name", "sessionId", "runId", "state"]
    assert result["state"] == "started"


def test_a_firing_that_starts_no_chat_names_its_trigger_and_the_reason(alpha, monkeypatch):
    monkeypatch.setattr(alive, "scheduler_alive", lambda: True)
    call("set_trigger", project="alpha", name="tidy", interval="1h", prompt_file="gone.md")

    with pytest.raises(Upstream) as refused:
        call("run_trigger", project="alpha", name="tidy")

    assert refused.value.tool_text.startswith('Trigger "tidy" started no chat: ')
    assert str(alpha.dir) not in refused.value.tool_text


def test_a_webhook_is_stored_and_never_run(alpha, monkeypatch):
    monkeypatch.setattr(alive, "scheduler_alive", lambda: True)
    call("set_trigger", project="alpha", name="hook", type="webhook", path="/x", prompt="hi")

    with pytest.raises(Conflict, match='Trigger "hook" is a webhook trigger: stored, never fired'):
        call("run_trigger", project="alpha", name="hook")


def test_a_scoped_client_sees_its_projects_and_is_refused_the_others_alike(alpha):
    store.create(principal=User(), name="Beta")
    scoped = Client("ci", Scope(projects=("alpha",), allow=("*",)))

    listed = call("list_projects", scoped)

    assert [row["slug"] for row in listed["projects"]] == ["alpha"]
    for slug in ("beta", "nope"):
        text = f"operation list_triggers is outside this client's scope \\(project {slug}\\)"
        with pytest.raises(Denied, match=text):
            call("list_triggers", scoped, project=slug)
        with pytest.raises(Denied):
            call("create_project", scoped, name=slug)


def test_a_client_with_the_default_scope_changes_nothing(alpha):
    reader = Client("ci", Scope())

    assert {one.name for one in REGISTRY.visible_to(reader)} == {*ORDER[:3], "list_triggers"}
    with pytest.raises(Denied):
        call("create_chat", reader, project="alpha", prompt="x")


@pytest.mark.parametrize("seconds", [0, 5])
def test_what_chats_are_waited_for_after_is_a_time_of_theirs(alpha, seconds):
    call("create_chat", project="alpha", prompt="#!runbook\n")
    (row,) = call("list_chats")["chats"]

    with pytest.raises(Invalid, match="`after` must be an updatedAt of an earlier answer"):
        waiting.for_list(EVERYTHING, after="yesterday", wait_seconds=seconds)

    assert waiting.for_list(EVERYTHING, after=row["updatedAt"]) is None
    assert call("list_chats", after=row["updatedAt"])["chats"] == [row]


def test_a_scoped_client_lists_the_chats_of_its_projects_alone(alpha):
    store.create(principal=User(), name="Beta")
    for slug in ("alpha", "beta"):
        call("create_chat", project=slug, prompt="x")
    scoped = Client("ci", Scope(projects=("alpha",), allow=("*",)))

    listed = call("list_chats", scoped)

    assert (listed["count"], [chat["project"] for chat in listed["chats"]]) == (1, ["alpha"])


def test_a_slug_outside_the_scope_is_not_created(alpha):
    scoped = Client("ci", Scope(projects=("alpha",), allow=("*",)))

    with pytest.raises(Denied, match=r"create_project is outside .* \(project beta\)"):
        call("create_project", scoped, name="Anything", slug="beta")

    assert [one.slug for one in store.all()] == ["alpha"]


@pytest.mark.parametrize("name", ["read_chat", "archive_chat", "fork_chat", "send_message"])
def test_an_id_that_names_no_chat_here_touches_no_file_and_fires_nothing(alpha, name):
    beta = store.create(principal=User(), name="Beta")
    elsewhere = call("create_chat", project="beta", prompt="x")["sessionId"]
    for slug in ("alpha", "beta"):
        call("set_trigger", project=slug, name="hook", event="onArchive", prompt="x", enabled=True)
    given = {"prompt": "x"} if name == "send_message" else {}
    displaced.settle()
    before = {path: path.stat().st_mtime_ns for path in beta.dir.parent.rglob("*")}

    for session_id in (str(uuid.uuid4()), "../../etc/passwd", f"../../beta/.chats/{elsewhere}"):
        with pytest.raises(NotFound, match="Chat not found: "):
            call(name, project="alpha", session_id=session_id, **given)
    with pytest.raises(NotFound, match=f"Chat not found: {elsewhere} in project alpha"):
        call(name, project="alpha", session_id=elsewhere, **given)

    assert {path: path.stat().st_mtime_ns for path in beta.dir.parent.rglob("*")} == before
    assert (Run.objects.count(), Turn.objects.count()) == (0, 1)


@pytest.mark.parametrize(("words", "waits"), [({}, False), ({"on_ask": "wait"}, True)])
def test_a_client_may_have_its_questions_wait_for_a_person(alpha, words, waits):
    made = call("create_chat", project="alpha", prompt="#!runbook\n", **words)
    sent = call("send_message", project="alpha", session_id=made["sessionId"], prompt="x", **words)

    turns = Turn.objects.filter(id__in=[made["messageId"], sent["messageId"]])
    assert [turn.waits for turn in turns] == [waits, waits]


@pytest.mark.parametrize("name", ["create_chat", "send_message"])
def test_what_a_person_must_approve_is_one_of_two_words(alpha, name):
    chat = call("create_chat", project="alpha", prompt="#!runbook\n")["sessionId"]
    where = {"session_id": chat} if name == "send_message" else {}

    with pytest.raises(Invalid) as caught:
        call(name, project="alpha", prompt="x", on_ask="Wait", **where)

    assert caught.value.text == 'on_ask: "Wait" is not one of deny, wait'
    assert Turn.objects.count() == 1


def test_no_operation_answers_a_question(alpha):
    assert not [name for name in ORDER if "permission" in name or "answer" in name]
