"""Projects over REST."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from workspace.api.projects import Project
from workspace.models import Chat, TriggerState


def test_a_project_is_created_listed_and_read(api, projects_dir):
    made = api.post("/api/projects", {"name": "Field Notes", "group": "Home", "status": "Idea"})

    assert made.status_code == 201
    project = made.json()["project"]
    assert (project["slug"], project["group"], project["status"]) == ("field-notes", "home", "idea")
    assert project["dir"] == str(projects_dir / "field-notes")
    assert [one["slug"] for one in api.get("/api/projects").json()["projects"]] == ["field-notes"]
    page = api.get("/api/projects/field-notes").json()
    assert page["project"] == project
    assert (page["overview"], page["changelog"]) == (None, None)


def test_the_curated_documents_come_with_the_project(api, alpha):
    (alpha / "OVERVIEW.md").write_text("# Alpha\n")

    page = api.get("/api/projects/alpha").json()

    assert page["overview"] == "# Alpha\n"
    assert page["project"]["hasOverview"] is True


def test_an_existing_slug_is_a_conflict(api, alpha):
    answer = api.post("/api/projects", {"name": "alpha"})

    assert answer.status_code == 409
    assert answer.json() == {"error": "Project already exists: alpha", "code": "exists"}


def test_an_unknown_project_is_not_found_by_its_name(api):
    answer = api.get("/api/projects/nope")

    assert answer.status_code == 404
    assert answer.json() == {"error": "Project not found: nope", "code": "not_found"}


def test_an_unknown_key_of_a_body_is_a_warning_naming_the_nearest(api):
    answer = api.post("/api/projects", {"name": "Alpha", "sumary": "x"})

    assert answer.status_code == 201
    assert answer.json()["warnings"] == ['unknown key "sumary" ignored (did you mean "summary"?)']


def test_a_patch_changes_only_what_it_names(api, alpha):
    text = "# mine\nname: Alpha # keep\nstatus: active\nextra: {a: 1}\n"
    (alpha / "project.yaml").write_text(text)

    answer = api.patch("/api/projects/alpha", {"status": "done"})

    assert answer.json()["project"]["status"] == "done"
    stored = (alpha / "project.yaml").read_text()
    assert stored.startswith("# mine\nname: Alpha # keep\nstatus: done\nextra: {a: 1}\n")


def test_an_engine_that_is_not_known_is_refused_and_in_a_file_it_is_a_warning(api, alpha):
    told = (
        '"claud" names no engine; use runbook, claude, builtin, acp, '
        'or one with its model, as claude:opus (did you mean "claude"?)'
    )

    answer = api.patch("/api/projects/alpha", {"engine": "claud"})
    assert (answer.status_code, answer.json()["error"]) == (400, f"engine: {told}")
    assert [one["field"] for one in answer.json()["errors"]] == ["engine"]
    assert api.patch("/api/projects/alpha", {"engine": "acp:nope"}).status_code == 200

    (alpha / "project.yaml").write_text("name: Alpha\nengine: claud\n")
    project = api.get("/api/projects/alpha").json()["project"]
    assert project["engine"] == "claud"
    assert project["warnings"] == [f"engine: {told}: messages that name no other engine cannot run"]


def test_null_removes_a_key_and_the_default_holds_again(api, alpha):
    api.patch("/api/projects/alpha", {"maxTurns": 12})

    project = api.patch("/api/projects/alpha", {"maxTurns": None}).json()["project"]

    assert project["maxTurns"] == 200
    assert "maxTurns" in project["inherited"]


def test_every_mistake_of_a_patch_is_named_with_its_field(api, alpha):
    answer = api.patch("/api/projects/alpha", {"status": "x", "maxTurns": 0, "slug": "beta"})

    assert answer.status_code == 400
    body = answer.json()
    assert {problem["field"] for problem in body["errors"]} == {"status", "maxTurns", "slug"}
    assert body["error"].endswith("(and 2 more)")


def test_a_project_sent_back_whole_changes_nothing_and_warns_of_nothing(api, alpha):
    before = (alpha / "project.yaml").read_bytes()
    project = api.get("/api/projects/alpha").json()["project"]
    sent = {key: value for key, value in project.items() if value is not None}

    answer = api.patch(
        "/api/projects/alpha",
        {
            key: sent[key]
            for key in sent
            if key in {"slug", "name", "status", "counts", "dir", "inherited", "repoBacked"}
        },
    )

    assert answer.status_code == 200
    assert "warnings" not in answer.json()
    assert (alpha / "project.yaml").read_bytes() == before


def test_a_write_bound_to_an_old_tag_is_refused(api, alpha):
    tag = api.get("/api/projects/alpha").headers["ETag"]
    api.patch("/api/projects/alpha", {"summary": "first"})

    answer = api.patch("/api/projects/alpha", {"summary": "second"}, **{"If-Match": tag})

    assert answer.status_code == 412
    assert answer.json()["code"] == "stale"
    assert api.get("/api/projects/alpha").json()["project"]["summary"] == "first"


def test_a_write_bound_to_the_current_tag_goes_through(api, alpha):
    tag = api.get("/api/projects/alpha").headers["ETag"]

    answer = api.patch("/api/projects/alpha", {"summary": "mine"}, **{"If-Match": tag})

    assert answer.status_code == 200
    assert answer.headers["ETag"] != tag


def test_a_broken_file_is_listed_with_its_error_and_refuses_writes(api, alpha):
    api.patch("/api/projects/alpha", {"summary": "before"})
    (alpha / "project.yaml").write_text("name: [\n")

    (project,) = api.get("/api/projects").json()["projects"]
    refused = api.patch("/api/projects/alpha", {"summary": "after"})

    assert project["summary"] == "before"
    assert project["error"]
    assert project["errorLine"] == 2
    assert refused.status_code == 409
    assert refused.json()["code"] == "bad_project_file"
    assert (alpha / "project.yaml").read_text() == "name: [\n"


def test_counts_say_what_a_project_holds(api, chat):
    api.post(f"{chat}/archive")
    api.post("/api/projects/alpha/chats")

    counts = api.get("/api/projects/alpha").json()["project"]["counts"]

    assert (counts["chats"], counts["archived"], counts["running"]) == (1, 1, 0)


def test_a_project_says_when_it_changed_and_when_its_next_trigger_fires(api, alpha):
    made = api.get("/api/projects/alpha").json()["project"]
    soon = datetime(2031, 5, 1, 9, 0, tzinfo=UTC)
    for name, enabled, when in (("late", True, soon + timedelta(days=1)), ("soon", True, soon)):
        TriggerState.objects.create(project="alpha", name=name, enabled=enabled, next_at=when)
    TriggerState.objects.create(project="alpha", name="off", next_at=soon - timedelta(days=1))
    chat = api.post("/api/projects/alpha/chats").json()["chat"]
    Chat.objects.filter(id=chat["sessionId"]).update(updated=soon)

    then = api.get("/api/projects").json()["projects"][0]
    api.post("/api/projects/alpha/pause")
    held = api.get("/api/projects/alpha").json()["project"]

    assert made["nextRunAt"] is None
    assert made["changedAt"].startswith(str(datetime.now(UTC).year))
    assert then["nextRunAt"] == then["changedAt"] == "2031-05-01T09:00:00.000Z"
    assert held["nextRunAt"] is None


def test_hostile_slugs_are_not_found_and_never_touch_a_file(api, tmp_path):
    for slug in ("..", "%2e%2e", "a%00b", "%2Fetc", "x" * 300, "A", str(uuid.uuid4()) + "!"):
        assert api.get(f"/api/projects/{slug}").status_code == 404


def test_the_network_of_a_project_is_changed_shown_and_refused_by_name(api, alpha):
    path = "/api/projects/alpha"
    before = api.get(path).json()["project"]
    assert (before["network"], before["effectiveNetwork"]["mode"]) == ("guarded", "guarded")
    assert "network" in before["inherited"]

    answer = api.patch(path, {"network": {"hostPorts": [5432], "allow": ["*.GitHub.com"]}})

    assert answer.status_code == 200
    project = answer.json()["project"]
    assert project["network"] == {"hostPorts": [5432], "allow": ["*.github.com"]}
    assert project["effectiveNetwork"] == {
        "mode": "guarded", "hostPorts": [5432], "allow": [["*.github.com"]], "deny": [],
    }  # fmt: skip
    refused = api.patch(path, {"network": "host"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "network"
    assert "engines.network: host" in refused.json()["error"]
    sent_back = api.patch(path, project).json()
    assert "warnings" not in sent_back
    assert sent_back["project"]["network"] == project["network"]


def test_a_project_has_the_keys_that_its_description_names(api, alpha):
    shown = api.get("/api/projects/alpha").json()["project"]

    faults = {"error", "errorLine", "warnings"}
    assert shown.keys() | faults == Project.__annotations__.keys()


def test_a_folder_becomes_a_project_goes_to_the_trash_and_comes_back(api, projects_dir, tmp_path):
    notes = tmp_path / "notes"
    (notes / ".git").mkdir(parents=True)

    made = api.post("/api/projects", {"name": "Notes", "path": str(notes)})
    twin = api.post("/api/projects", {"name": "Twin", "path": str(notes)}).json()["project"]

    project = made.json()["project"]
    assert made.status_code == 201
    assert (project["path"], project["workingDir"]) == (str(notes), str(notes))
    assert (project["workingDirProblem"], project["repository"]) == (None, True)
    assert twin["sharedWith"] == ["notes"]
    assert twin["warnings"] == ["path: notes works there as well; their turns may meet in a file"]
    listed = {one["slug"]: one for one in api.get("/api/projects").json()["projects"]}
    assert listed["notes"]["sharedWith"] == ["twin"]

    gone = api.delete("/api/projects/notes")
    assert (gone.status_code, gone.json()["name"]) == (200, "Notes")
    assert api.get("/api/projects/notes").status_code == 404
    assert api.delete("/api/projects/notes").status_code == 404
    (one,) = api.get("/api/trash").json()["projects"]
    assert (one["slug"], one["deletedAt"]) == ("notes", gone.json()["deletedAt"])

    back = api.post("/api/projects/notes/restore")
    assert (back.status_code, back.json()["project"]["workingDir"]) == (200, str(notes))
    assert api.post("/api/projects/notes/restore").status_code == 404
    assert [path.name for path in notes.iterdir()] == [".git"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"path": "/"}, "the root of the disk"),
        ({"path": "notes"}, "must be a whole path"),
        ({"path": "/nowhere/at/all"}, "is not there"),
        ({"path": "/usr", "repo": "https://example.com/a.git"}, "not both"),
    ],
)
def test_a_path_that_is_refused_says_field_reason_and_fix(api, projects_dir, body, reason):
    answer = api.post("/api/projects", {"name": "Notes", **body})

    (problem,) = answer.json()["errors"]
    assert answer.status_code == 400
    assert (problem["field"], problem["example"]) == ("path", '"~/code/notes"')
    assert reason in problem["reason"]
    assert [*projects_dir.iterdir()] == []


def test_a_folder_that_went_is_shown_and_pauses(api, projects_dir, tmp_path):
    (tmp_path / "notes").mkdir()
    api.post("/api/projects", {"name": "Notes", "path": str(tmp_path / "notes")})
    (tmp_path / "notes").rmdir()

    project = api.get("/api/projects/notes").json()["project"]

    assert project["workingDirProblem"].startswith("is not there")
    assert (project["paused"]["by"], project["repository"]) == ("folder", False)
    assert project["warnings"] == [f"path: {project['workingDirProblem']}"]
