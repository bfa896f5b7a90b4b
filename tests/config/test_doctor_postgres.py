"""`manage.py doctor` on PostgreSQL: what is wrong with it, and how to mend that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Cluster, ask, postgres  # noqa: F401 - a fixture
from tests.service import Service


@pytest.fixture
def service(tmp_path: Path, postgres: Cluster) -> Iterator[Service]:  # noqa: F811
    made = Service(tmp_path, env={"SVC_DATABASE_URL": postgres.copy_of_migrated()})
    yield made
    made.http.close()


def found(service: Service, subject: str) -> tuple[str, str]:
    """The level and the text of what is said of a subject, last."""
    told = [one for one in service.findings() if one["subject"] == subject]
    return told[-1]["level"], told[-1]["text"]


def pretend(service: Service, function: str, of: str, returns: str) -> None:
    """Have the database call a function of ours instead of its own."""
    url = service.env["SVC_DATABASE_URL"]
    name = url.split("/")[3].split("?")[0]
    ask(url, f"CREATE FUNCTION public.{function} RETURNS {of} LANGUAGE sql AS $$SELECT {returns}$$")
    ask(url, f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog')


@pytest.mark.slow
def test_a_database_that_is_well_is_told_of_in_numbers(service: Service):
    told = {one["subject"]: one for one in service.findings()}

    assert service.faults() == []
    assert {told[one]["level"] for one in ("extension", "connections", "clock")} == {"ok"}
    assert told["database size"]["text"].endswith(" MB")


@pytest.mark.slow
def test_a_database_of_another_encoding_and_order_is_a_fault_with_the_command(
    service: Service,
    postgres: Cluster,  # noqa: F811
):
    postgres.sql("CREATE DATABASE words TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    service.env["SVC_DATABASE_URL"] = postgres.url("words")

    level, text = found(service, "database")

    assert level == "fault"
    assert "LATIN1" in text
    assert "createdb -T template0 -E UTF8 -l C words" in text


@pytest.mark.slow
def test_a_missing_extension_is_a_fault_with_the_statement(service: Service):
    ask(service.env["SVC_DATABASE_URL"], "DROP EXTENSION pg_trgm CASCADE")

    level, text = found(service, "extension")

    assert level == "fault"
    assert text.endswith("CREATE EXTENSION pg_trgm")


@pytest.mark.slow
def test_a_database_that_takes_nothing_is_a_fault(service: Service):
    url = service.env["SVC_DATABASE_URL"]
    name = url.split("/")[3].split("?")[0]
    ask(url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')

    level, text = found(service, "database")

    assert level == "fault"
    assert f"{name} on " in text
    assert "takes nothing: it is a standby" in text


def test_too_few_connections_are_a_hint_that_names_what_bounds_them(service: Service):
    url = service.env["SVC_DATABASE_URL"]
    name = url.split("/")[3].split("?")[0]
    ask(url, f'ALTER DATABASE "{name}" CONNECTION LIMIT 12')

    level, text = found(service, "connections")

    assert level == "hint"
    assert "12 connections for this service" in text
    assert "raise the CONNECTION LIMIT of the database" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("off", "level", "told"),
    [
        ("+ interval '5 s'", "hint", "s ahead of ours"),
        ("- interval '1 h'", "fault", "s behind ours"),
    ],
)
def test_a_clock_that_differs_is_told_with_its_direction(service: Service, off, level, told):
    pretend(service, "clock_timestamp()", "timestamptz", f"pg_catalog.clock_timestamp() {off}")

    assert found(service, "clock")[0] == level
    assert told in found(service, "clock")[1]


@pytest.mark.slow
def test_a_huge_database_is_a_hint_with_what_bounds_it(service: Service):
    pretend(service, "pg_database_size(name)", "bigint", f"{30 * 1024**3}::bigint")

    level, text = found(service, "database size")

    assert (level, text[:6]) == ("hint", "30 GB:")
    assert "retention.runDays" in text
