"""A discovered app: a visible dev server that speaks HTTP and that no file names.

How it differs from a declared one: docs/design/dashboard.md#declared-and-found-apps
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from dashboard.files.schema import read_app
from dashboard.health.record import Port
from dashboard.listeners.observed import Sighting
from dashboard.registry import claim, targets
from dashboard.registry.app import App, Facts


def among(
    observed: Iterable[Sighting], slugs: Mapping[str, str], hidden: Container[str]
) -> Iterator[tuple[str, Sighting]]:
    """The listeners that are discovered apps, with their slugs, sorted by slug."""
    found = {
        slugs[one.id]: one
        for one in observed
        if one.kind == "dev"
        and one.answer is not None
        and one.answer.protocol in {"http", "https"}
        and one.id not in hidden
    }
    return iter(sorted(found.items()))


def app(slug: str, facts: Facts) -> App:
    """The app of a listener: with the file that a claim would write, probed where it listens."""
    one = facts.found.own
    assert one is not None
    found = claim.mapping(one, slug)
    found.pop("match", None)  # it is known by its id; reading a match reads the disk
    file, _ = read_app(found, slug=slug)
    asked = targets.probe_plan(
        file, facts.health, port=file.port, process=None, should_run=False
    )  # fmt: skip
    return App(
        slug=slug,
        source="discovered",
        file=file,
        sighting=one,
        port=file.port,
        url=file.address,
        local_url=file.address,
        target=asked.target,
        policy=asked.policy,
        evidence=_evidence(one, facts),
        trouble=asked.trouble,
        facts=facts,
    )


def _evidence(one: Sighting, facts: Facts) -> Port:
    if not facts.scanned:
        return Port.UNSEEN
    return Port.OWN if one.present else Port.EMPTY
