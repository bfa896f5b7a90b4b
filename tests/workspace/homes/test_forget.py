"""`manage.py forget`: what a machine left that will not come back."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django_q.models import OrmQ

from config.process import nodes
from config.storage import homes
from dashboard.history import scope
from dashboard.models import Slug
from review import models as review
from tests.workspace.homes.hosts import Host
from tests.workspace.homes.test_scopes import lived, rows  # noqa: F401 - a fixture
from workspace import models
from workspace.projects import store

NODE = "beta0001"


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("forget", *arguments, stdout=out)
    return out.getvalue()


def refused(one: str) -> str:
    with pytest.raises(CommandError) as found:
        run(one)
    return str(found.value)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is heard."""
    monkeypatch.setattr(nodes, "others", list)


def test_it_lists_what_others_have_and_deletes_all_of_it(alpha: Host, beta: Host, lived: Any):  # noqa: F811
    OrmQ.objects.create(key=homes.queue("turns", alpha.home), payload="", lock=None)
    with beta.here():
        beta.write("name: Mine\n", "mine")
        store.get("mine")
        before = rows()
        assert re.search(
            rf"{alpha.home}  not heard of for a week  1 project \(notes\), 1 file of reviews", run()
        )

        assert re.fullmatch(r"\d+ rows deleted\n", run(alpha.home))

        assert run() == "no rows of other machines\n"
        left = {name: found for name, found in rows().items() if found}
        assert left == {"Project": [row for row in before["Project"] if row["slug"] == "mine"]}
        assert not OrmQ.objects.exists()
    assert (alpha.folder / "notes" / "project.yaml").exists()


def test_a_name_is_free_then(alpha: Host, beta: Host, lived: Any):  # noqa: F811
    with beta.here():
        with pytest.raises(store.SlugTaken):
            beta.write("name: Notes of beta\n", "notes")

        run(alpha.home)

        assert store.get("notes").name == "Notes of beta"


@pytest.mark.parametrize("heard", ["id", "home"])
def test_nothing_that_somebody_alive_serves_is_forgotten(
    alpha: Host, beta: Host, lived: Any, heard: str, monkeypatch: Any  # noqa: F811
):  # fmt: skip
    there = nodes.Node(NODE, "desk", "", "1", alpha.home, {}, 0.0, alive=True)
    monkeypatch.setattr(nodes, "others", lambda: [there])
    monkeypatch.setattr(scope, "here", lambda: "mine0001")
    Slug.objects.create(node=NODE, slug="shop")
    before = rows()
    with beta.here():
        one = {"id": NODE, "home": alpha.home}[heard]
        assert refused(one) == "desk is alive and serves it; stop it there first"
    assert (rows(), Slug.objects.count()) == (before, 1)


def test_while_the_redis_is_away_nobody_is_forgotten(
    alpha: Host, beta: Host, lived: Any, monkeypatch: Any  # noqa: F811
):  # fmt: skip
    monkeypatch.setattr(nodes, "can_hear", lambda: False)
    with beta.here():
        assert "Redis does not answer" in refused(alpha.home)
    assert models.Project.objects.filter(home=alpha.home).exists()


def test_neither_what_is_here_nor_what_is_unknown_is_forgotten(alpha: Host, lived: Any):  # noqa: F811
    with alpha.here():
        for one in (alpha.home, "nobody"):
            assert refused(one) == f"no rows of another machine: {one}; `forget` alone lists them"
    assert review.FileRow.objects.filter(home=alpha.home).exists()


def test_the_history_of_another_node_goes_and_ours_stays(db: Any, monkeypatch: Any):
    monkeypatch.setattr(scope, "here", lambda: "mine0001")
    for node in ("mine0001", NODE):
        Slug.objects.create(node=node, slug="shop")

    assert f"{NODE}  not heard of for a week  the history of 1 app" in run()
    assert run(NODE) == "1 row deleted\n"

    assert [*Slug.objects.values_list("node", flat=True)] == ["mine0001"]
