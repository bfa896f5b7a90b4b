"""Projects over HTTP: list, detail, intro, stack notes, repos, preview."""

from __future__ import annotations

from functools import partial

import pytest

from config import __version__
from tests.described import Api
from tests.review.api.served import Project, Served
from tests.review.repos import Repo
from tests.service import until


def test_health_and_the_reviewer_are_told_exactly(served: Served):
    for api in (served.api, served.mounted):
        assert api.get("/api/health").json() == {"ok": True}
        assert api.get("/api/me").json() == {"id": "ada", "name": "Ada"}


def test_the_list_names_each_project_with_its_counts(api: Api, served: Served, pay: Project):
    listed = api.get("/api/projects").json()

    assert listed["projectsDir"] == str(served.service.projects)
    assert listed["home"] == str(served.service.home)
    (mine,) = [one for one in listed["projects"] if one["slug"] == pay.slug]
    assert mine["title"] == "Pay"
    assert (mine["repos"], mine["repoCount"], mine["commitCount"]) == (["api"], 1, 3)
    assert (mine["archived"], mine["example"], mine["unresolved"]) == (False, False, 0)
    assert mine["lastModified"].endswith("Z")


def test_the_detail_shows_repos_stacks_and_commits(api: Api, pay: Project):
    shown = api.get(pay.p).json()

    assert (shown["slug"], shown["file"]) == (pay.slug, str(pay.file))
    (repo,) = shown["repos"]
    assert repo["range"]["text"] == "main..feature"
    assert [stack["commits"] for stack in repo["stacks"]] == [pay.shas[:2], pay.shas[2:]]
    assert "follow_on" not in repo["stacks"][0]
    assert [commit["sha"] for commit in repo["commits"]] == pay.shas
    first = repo["commits"][0]
    assert (first["additions"], first["deletions"], first["position"]) == (4, 1, 1)
    assert not {"landed", "tip", "parent", "diff"} & first.keys()


def test_an_answer_that_is_known_is_not_sent_again(api: Api, pay: Project):
    for path in (pay.p, pay.c(), pay.c(0, "/review"), pay.c(0, "/pr"), f"{pay.p}/stack.svg"):
        tag = until(partial(settled, api, path))

        again = api.get(path, headers={"If-None-Match": f'"x", W/{tag}'})

        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)


def settled(api: Api, path: str) -> str | None:
    """The tag, once nothing below is so young that it could change unseen."""
    one, other = (api.get(path).headers["ETag"] for _ in range(2))
    return one if one == other else None


def test_a_tag_changes_with_anything_that_is_shown(api: Api, pay: Project):
    def tags() -> list[str]:
        return [api.get(path).headers["ETag"] for path in (pay.p, pay.c(), pay.c(0, "/review"))]

    before = tags()
    api.post(pay.c(0, "/threads"), {"body": "Why?"})
    commented = tags()
    pay.repo.commit({"x": "1\n"}, "One more")
    rebased = tags()

    assert not set(before) & set(commented)
    assert not set(commented) & set(rebased)


def test_head_answers_as_get_does_without_a_body(api: Api, pay: Project):
    for path in ("/api/health", "/api/projects", pay.p, pay.c(), f"{pay.p}/stack.png"):
        answer = api.ask("HEAD", path)

        assert (answer.status_code, answer.content) == (200, b"")


def test_the_intro_is_set_and_removed_and_nothing_else_is_touched(api: Api, pay: Project):
    pay.file.write_text("# mine\n" + pay.file.read_text() + "triggers: {nightly: 'x'} # odd\n")
    before = pay.file.read_text()

    assert api.put(f"{pay.p}/description", {"description": "Why.\n\nHow."}).json() == {
        "description": "Why.\n\nHow."
    }
    assert api.get(pay.p).json()["description"] == "Why.\n\nHow."
    assert api.put(f"{pay.p}/description", {"description": "  "}).json() == {"description": None}

    assert pay.file.read_text() == before


@pytest.mark.parametrize("at", ["/description", "/repos/{repo}/stacks/1/description"])
def test_an_intro_or_a_note_that_another_window_changed_is_not_replaced_unseen(
    api: Api, pay: Project, at: str
):
    repo = api.get(pay.p).json()["repos"][0]["name"]
    path = pay.p + at.format(repo=repo)
    first = api.put(path, {"description": "One", "was": ""})

    late = api.put(path, {"description": "Two", "was": ""})

    assert first.status_code == 200
    assert (late.status_code, late.json()["code"]) == (409, "changed")
    assert api.put(path, {"description": "One\n", "was": ""}).json()["description"] == "One"
    assert api.put(path, {"description": "Two", "was": "One"}).json()["description"] == "Two"


@pytest.mark.parametrize("body", [{}, {"description": 5}, {"description": ["x"]}])
def test_an_intro_is_text_or_null(api: Api, pay: Project, body: dict[str, object]):
    before = pay.tree()

    answer = api.put(f"{pay.p}/description", body)

    text = '"description" must be a string or null'
    assert (answer.status_code, answer.json()) == (400, {"error": text, "code": "invalid"})
    assert pay.tree() == before


def test_a_stack_note_is_guarded_by_the_title(api: Api, pay: Project):
    note = f"{pay.p}/repos/api/stacks/1/description"

    guarded = api.put(note, {"description": "Money.", "title": "Charging"})
    moved = api.put(note, {"description": "Other.", "title": "Schema"})
    removed = api.put(note, {"description": None})

    assert guarded.json() == {"n": 1, "title": "Charging", "description": "Money."}
    assert (moved.status_code, moved.json()) == (
        409,
        {"error": 'Stack 1 is now titled "Charging", not "Schema"', "code": "changed"},
    )
    assert removed.json()["description"] is None


def test_a_refusal_repeats_no_more_of_what_was_sent_than_a_person_reads(api: Api, pay: Project):
    long, sent = "y" * 70_000, {"path": str(pay.repo.path), "name": "b"}

    refused = [
        api.put(f"{pay.p}/repos/api/stacks/1/description", {"description": "x", "title": long}),
        api.post(f"{pay.p}/repos", sent | {"range": long}),
        api.post(f"{pay.p}/repos", sent | {"path": long}),
        api.put(pay.c(0, "/pr"), {"branch": long}),
        api.put(pay.c(0, "/pr"), {long: 1}),
        api.post(pay.c(0, "/threads"), {"body": "x", "path": long}),
    ]

    assert [answer.status_code for answer in refused] == [409, 400, 400, 400, 400, 400]
    assert [answer.text for answer in refused if len(answer.text) > 400] == []


def test_the_implicit_stack_gets_an_entry_with_its_note(api: Api, pay: Project):
    pay.write(entry={"stacks": [{"title": "Charging", "commits": pay.shas[:2]}]})

    noted = api.put(
        f"{pay.p}/repos/api/stacks/2/description", {"description": "Rest.", "title": None}
    )

    assert noted.json() == {"n": 2, "title": None, "description": "Rest."}
    assert api.get(pay.p).json()["repos"][0]["stacks"][1]["description"] == "Rest."


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/api/projects/nope", "No such project: nope"),
        ("/api/projects/.x%0Ay", "No such project: .xy"),
        ("{p}/repos/nope/commits/abcd123", "No such repo: nope"),
        ("{p}/assets/x.png", "No such asset"),
        ("/api/nope", "Not found"),
        ("/api/projects/", "Not found"),
    ],
)
def test_what_is_not_there_is_named(api: Api, pay: Project, path: str, text: str):
    answer = api.get(path.replace("{p}", pay.p))

    assert (answer.status_code, answer.json()) == (404, {"error": text, "code": "not_found"})


def test_a_stack_that_is_not_there_comes_before_a_bad_field(api: Api, pay: Project):
    for n in ("0", "3", "x", "01"):
        answer = api.put(f"{pay.p}/repos/api/stacks/{n}/description", {"description": 5})

        assert (answer.status_code, answer.json()["error"]) == (404, f"No such stack: {n}")


def test_a_repo_is_opened_for_review(api: Api, pay: Project, tmp_path):
    other = Repo(tmp_path / "web")
    other.commit({"a": "1\n"}, "One")

    made = api.post(
        f"{pay.p}/repos", {"path": str(other.path), "range": {"base": None, "head": "main"}}
    )
    twice = api.post(f"{pay.p}/repos", {"path": str(other.path), "name": "web"})

    assert made.status_code == 201
    assert (made.json()["name"], made.json()["path"]) == ("web", str(other.path))
    assert (twice.status_code, twice.json()) == (
        409,
        {"error": 'A repo named "web" already exists', "code": "exists"},
    )


def test_a_repo_may_be_where_the_workspace_works(api: Api, served: Served, tmp_path):
    made = served.service.http.post("/api/projects", json={"name": f"Works {tmp_path.name}"})
    slug = made.json()["project"]["slug"]
    folder = served.service.projects / slug

    refused = api.post(f"/api/projects/{slug}/repos", {})
    Repo(folder).commit({"a": "1\n"}, "One")
    opened = api.post(f"/api/projects/{slug}/repos", {})

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid")
    assert refused.json()["error"].startswith("Not a git repository: ")
    assert (opened.status_code, opened.json()["name"]) == (201, slug)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"path": "/nowhere/at/all"}, "Not a git repository: /nowhere/at/all"),
        ({"path": 5}, '"path" must be a string'),
        ({"path": "{repo}", "range": "nope..main"}, "Unknown revision: nope"),
        ({"path": "{repo}", "range": 5}, '"range" must be'),
        ({"path": "{repo}", "name": "a/b"}, '"name" must be'),
    ],
)
def test_what_cannot_be_opened_changes_nothing(api: Api, pay: Project, body, text: str):
    before = pay.tree()
    if "{repo}" in str(body["path"]):
        body = body | {"path": str(pay.repo.path)}

    answer = api.post(f"{pay.p}/repos", body)

    assert answer.status_code == 400, answer.text
    assert answer.json()["error"].startswith(text)
    assert pay.tree() == before


def test_markdown_is_shown_for_the_mount_it_is_asked_on(served: Served, pay: Project):
    image = f"![a]({pay.p}/assets/{'0' * 64}.png) <script>alert(1)</script>"

    here = served.api.post(f"{pay.p}/preview", {"text": image}).json()["html"]
    mounted = served.mounted.post(f"{pay.p}/preview", {"text": image}).json()["html"]

    assert f'src="{pay.p}/assets/' in here
    assert f'src="/review{pay.p}/assets/' in mounted
    assert "<script" not in here
    assert served.api.post(f"{pay.p}/preview", {"text": ""}).json() == {"html": ""}
    assert served.api.post(f"{pay.p}/preview", {}).json()["error"] == '"text" must be a string'


def test_a_broken_project_is_listed_and_read_but_not_written(api: Api, pay: Project):
    api.get(pay.p)
    pay.file.write_text(pay.file.read_text() + "title: again\n")
    before = pay.tree()

    listed = {one["slug"]: one for one in api.get("/api/projects").json()["projects"]}
    shown = api.get(pay.p).json()
    writes = [
        api.put(f"{pay.p}/description", {"description": "x"}),
        api.post(pay.c(0, "/threads"), {"body": "x"}),
        api.put(pay.c(0, "/pr"), {"title": "x"}),
        api.put(pay.c(0, "/viewed"), {"path": "src/pay.py", "viewed": True}),
        api.post(f"{pay.p}/repos", {"path": str(pay.repo.path), "name": "b"}),
    ]

    assert listed[pay.slug]["error"].startswith("line 12")
    assert shown["parse_error"] == listed[pay.slug]["error"]
    assert len(shown["repos"][0]["commits"]) == 3
    assert api.get(pay.c(0, "/review")).status_code == 200
    assert {(one.status_code, one.json()["code"]) for one in writes} == {(409, "invalid_file")}
    assert pay.tree() == before


def test_the_description_is_that_of_this_part_alone(served: Served):
    schema = served.api.get("/api/schema").json()

    assert schema["info"]["version"] == __version__
    assert "/api/projects/{project}" in schema["paths"]
    assert not any("chats" in path for path in schema["paths"])
    assert served.mounted.get("/api/docs").status_code == 200
    assert "servers" not in schema
    assert served.mounted.get("/api/schema").json()["servers"] == [{"url": "/review"}]


def test_a_moved_repository_is_told_and_given_its_new_path(api: Api, served: Served, pay: Project):
    api.post(pay.c(0, "/threads"), {"body": "Why?"})
    old, new = pay.repo.path, pay.repo.path.with_name("elsewhere")
    before = api.get(pay.p).json()["repos"]
    route = f"{pay.p}/repos/api/path"
    old.rename(new)

    (gone,) = api.get(f"{pay.p}/threads").json()["orphaned"]
    assert gone["reason"] == f"No such directory: {old}"
    assert "cannot be read" in api.get(f"{pay.p}/threads.md").text
    for below in ("", "/review", "/pr", "/interdiff"):
        answer = api.get(pay.c(0, below))
        assert (answer.status_code, answer.json()["code"]) == (404, "unreadable")
        assert f"No such directory: {old}." in answer.json()["error"]
    assert api.put(route, {"path": str(old)}).status_code == 400
    assert api.put(route, {}).json()["error"].startswith('"path" is required')
    assert api.put(f"{pay.p}/repos/web/path", {"path": str(new)}).status_code == 404
    other = Repo(new.with_name("other"))
    other.commit({"a": "1\n"}, "Something else")
    refused = api.put(route, {"path": str(other.path)})
    assert (refused.status_code, refused.json()["code"]) == (409, "other_repository")
    with served.listening() as events:
        answer = api.put(route, {"path": str(new)})
        api.put(route, {"path": str(new)})  # says nothing new
        told = events.of(pay.slug)

    assert [answer.json()] == [one | {"path": str(new)} for one in before]
    assert [one["reason"] for one in told if one["reason"] != "git"] == ["config"]
