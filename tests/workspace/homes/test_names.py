"""Two homes with a project of one name: the first to be indexed has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError

from config.errors import Conflict, NotFound
from config.process import nodes
from config.process.doctor import FAULT, OK
from tests.workspace.api.conftest import Api
from tests.workspace.homes.hosts import Host
from tests.workspace.triggers.world import USER
from workspace import doctor, models, palette
from workspace.background import watcher
from workspace.mcp.catalogue import REGISTRY
from workspace.projects import store
from workspace.triggers.schedule import arming

WHERE = "with another projects directory on the same database"
EVERY = """\
name: Notes of %s
triggers:
  every: {trigger: {type: schedule, interval: 60s}, run: {prompt: hi}, enabled: true}
"""


def node(host: Host, *, alive: bool = True) -> nodes.Node:
    url = "http://beta.example:8000"
    return nodes.Node("beta0001", "beta", url, "1", host.home, {}, 0.0, alive)


@pytest.fixture
def both(alpha: Host, beta: Host) -> tuple[Host, Host]:
    """`notes` on both, first on beta; `own` on each."""
    for host in (beta, alpha):
        with host.here():
            host.folder.joinpath("notes").mkdir()
            (host.folder / "notes" / "project.yaml").write_text(EVERY % host.folder.name)
            (host.folder / host.folder.name).mkdir()
            (host.folder / host.folder.name / "project.yaml").write_text("name: Own\n")
            host.ticker()
            watcher.reindex()
    return alpha, beta


@pytest.fixture
def api() -> Api:
    return Api(USER)


def told(api: Api, path: str, **body: Any) -> tuple[int, Any]:
    answer = api.patch(path, body) if body else api.get(path)
    return answer.status_code, answer.json()


def test_the_second_is_shown_with_an_error_and_nothing_of_it_is_touched(both, api):
    alpha, beta = both
    before = (alpha.folder / "notes" / "project.yaml").read_bytes()
    with alpha.here():
        shown = {one["slug"]: one for one in api.get("/api/projects").json()["projects"]}
        assert shown["notes"]["error"] == (
            f"the project notes lives {WHERE} already: rename this directory"
        )
        assert set(shown["notes"]["counts"].values()) == {0}
        for path in ("/api/projects/notes", "/api/projects/notes/chats"):
            assert told(api, path)[0] == 409
        status, answer = told(api, "/api/projects/notes", summary="mine")
        assert (status, answer["code"]) == (409, "taken")
        alpha.clock.step(hours=1)
        ticker = alpha.ticker()
        ticker.step()
        assert [one.slug for one in store.all()] == ["alpha"]
        assert {place.terms for place in palette.destinations()} & {"notes", "alpha"} == {"alpha"}

    assert (alpha.folder / "notes" / "project.yaml").read_bytes() == before
    assert not models.Run.objects.exists()
    row = models.Project.objects.get(slug="notes")
    assert (row.home, row.data["name"]) == (beta.home, "Notes of beta")
    assert models.TriggerState.objects.get().home == beta.home


def test_it_has_the_name_as_soon_as_the_first_one_is_gone(both):
    alpha, beta = both
    with alpha.here():
        ticker = alpha.ticker()
        assert models.TriggerState.objects.get().home == beta.home
        (beta.folder / "notes").rename(beta.folder / "renamed")
    with beta.here():
        watcher.reindex()
        beta.ticker()
    with alpha.here():
        ticker.clock.step(seconds=3)
        ticker.step()

        assert store.get("notes").name == "Notes of alpha"
    homes_of = dict(models.TriggerState.objects.values_list("project", "home"))
    assert homes_of == {"notes": alpha.home, "renamed": beta.home}


def test_projects_of_other_homes_are_listed_with_the_host_they_live_on(both, api, monkeypatch):
    alpha, beta = both
    monkeypatch.setattr(nodes, "others", lambda: [node(beta, alive=False), node(beta)])
    with alpha.here():
        listed = api.get("/api/projects").json()["elsewhere"]
        status, answer = told(api, "/api/projects/beta")
        rendered = REGISTRY.run("list_projects", USER)

    own = {"slug": "beta", "name": "Own", "node": "beta", "url": "http://beta.example:8000"}
    assert listed == rendered["elsewhere"] == [own | {"alive": True}]
    assert (status, answer["code"]) == (404, "elsewhere")
    assert answer["error"] == (
        "The project beta lives on beta (running, http://beta.example:8000), not here"
    )


def test_a_caller_sees_of_other_homes_what_its_scope_reaches(both, monkeypatch):
    alpha, _ = both
    monkeypatch.setattr(type(USER), "reaches", lambda self, slug: slug == "alpha")
    with alpha.here():
        found = REGISTRY.run("list_projects", USER)

    assert [one["slug"] for one in found["projects"]] == ["alpha"]
    assert "elsewhere" not in found


@pytest.mark.parametrize(("fresh", "asked"), [(60.0, 1), (0.0, 2)])
def test_what_lives_elsewhere_is_asked_of_the_database_once_a_while(
    both, fresh: float, asked: int, monkeypatch, django_assert_num_queries
):
    alpha, _ = both
    monkeypatch.setattr(store, "FRESH_S", fresh)
    with alpha.here(), django_assert_num_queries(asked):
        first, second = store.elsewhere(), store.elsewhere()

    assert [one.slug for one in first] == [one.slug for one in second] == ["beta", "notes"]


def test_a_name_that_lives_elsewhere_is_not_given_again(both):
    alpha, _ = both
    with alpha.here(), pytest.raises(Conflict, match=f"already exists {WHERE}: beta"):
        store.create(principal=USER, name="Beta")
    assert not (alpha.folder / "beta").exists()


def test_the_doctor_tells_of_the_name_and_of_the_home(both):
    alpha, _ = both
    with alpha.here():
        found = {(one.level, one.subject): one.text for one in doctor.check()}

    assert "rename this directory" in found[FAULT, "project notes"]
    assert found[OK, "home"] == f"{alpha.home}; 2 projects live with others"


def test_runs_of_every_home_are_listed(both, api):
    alpha, beta = both
    with beta.here():
        beta.clock.step(hours=1)
        beta.ticker()
    with alpha.here():
        listed = api.get("/api/runs").json()["runs"]

    assert [run["project"] for run in listed] == ["notes"]


def test_while_the_database_is_gone_a_missing_project_is_only_missing(both, monkeypatch):
    alpha, _ = both

    def gone() -> Any:
        raise OperationalError("gone")

    monkeypatch.setattr(store, "others", gone)
    with alpha.here():
        assert store.elsewhere() == []
        with pytest.raises(NotFound, match="Project not found: beta") as caught:
            store.get("beta")
        assert caught.value.code == "not_found"


def test_a_directory_that_goes_takes_no_row_of_another_home_along(both):
    alpha, beta = both
    with alpha.here():
        (alpha.folder / "notes").rename(alpha.folder / "renamed")
        store.MIRROR.refresh("notes")

    assert models.Project.objects.get(slug="notes").home == beta.home


def test_of_two_that_write_the_same_name_at_once_the_first_has_it(both, monkeypatch):
    alpha, beta = both
    told = store.MIRROR._rows_as_told
    answers: Iterator[Any] = iter([{}])  # what was there before the other one wrote
    monkeypatch.setattr(store.MIRROR, "_rows_as_told", lambda *keys: next(answers, told(*keys)))
    with alpha.here(), pytest.raises(store.SlugTaken):
        store.get("notes")

    row = models.Project.objects.get(slug="notes")
    assert (row.home, row.data["name"]) == (beta.home, "Notes of beta")


def test_a_project_that_is_taken_is_not_armed(both):
    alpha, _ = both
    with alpha.here(), pytest.raises(store.SlugTaken):
        arming.sync("notes", now=alpha.clock.now())
