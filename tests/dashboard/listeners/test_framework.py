"""Which framework: by command line, then package, then answer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dashboard.listeners import records
from dashboard.listeners.framework import Framework, by_answer, by_files, surer
from dashboard.listeners.identity import Identity
from dashboard.listeners.package import Package
from dashboard.listeners.processes import Process


def needing(*names: str) -> Package:
    return Package(Path("/x/pyproject.toml"), "shop", None, "pip", frozenset(names))


@pytest.mark.parametrize(
    ("argv", "needs", "expected"),
    [
        ("python manage.py runserver 8001", (), ("django", 0.9)),
        ("/venv/bin/python /home/me/shop/manage.py runserver", (), ("django", 0.9)),
        ("node /x/node_modules/.bin/vite --port 5173", (), ("vite", 0.4)),
        ("node /x/node_modules/vite/bin/vite.js", ("@sveltejs/kit", "vite"), ("sveltekit", 0.6)),
        ("next-server (v14.2.3)", (), ("nextjs", 0.9)),
        ("node /x/node_modules/.bin/next dev", (), ("nextjs", 0.9)),
        ("/venv/bin/python /venv/bin/uvicorn app:app --reload", (), ("uvicorn", 0.4)),
        ("/venv/bin/python /venv/bin/uvicorn app:app", ("fastapi",), ("fastapi", 0.6)),
        ("python -m http.server 8000", ("django",), ("http.server", 0.9)),
        ("python -m flask run", (), ("flask", 0.9)),
        ("gunicorn: master [shop.wsgi]", ("django",), ("django", 0.6)),
        ("puma 6.4.0 (tcp://localhost:3000) [shop]", ("rails",), ("rails", 0.6)),
        ("php -S 127.0.0.1:8000 server.php", ("laravel/framework",), ("laravel", 0.6)),
        ("php artisan serve", (), ("laravel", 0.9)),
        ("/usr/bin/hugo server", (), ("hugo", 0.9)),
        ("beam.smp -- -root x", ("phoenix",), ("phoenix", 0.6)),
        ("node server.js --with a b c d next", (), None),
        ("", (), None),
    ],
)
def test_a_command_line_and_the_packages_needs_name_the_framework(
    argv: str, needs: tuple[str, ...], expected: tuple[str, float] | None
):
    found = by_files(argv.split(), needing(*needs) if needs else None)

    assert (found and (found.id, found.confidence)) == expected


@pytest.mark.parametrize(
    ("headers", "markup", "expected"),
    [
        ({"x-powered-by": "Next.js"}, "", ("nextjs", None)),
        ({"x-powered-by": "PHP/8.2.1"}, "", ("php", "8.2.1")),
        ({"x-powered-by": "Express"}, "", ("express", None)),
        ({"server": "Werkzeug/3.0.1 Python/3.11"}, "", ("flask", None)),
        ({"server": "uvicorn"}, "", ("uvicorn", None)),
        ({"set-cookie": "csrftoken=1.2"}, "", ("django", None)),
        ({}, '<script type="module" src="/@vite/client"></script>', ("vite", None)),
        ({}, '<meta name="generator" content="Astro v4.1.2">', ("astro", "4.1.2")),
        ({}, '<META name="generator" CONTENT="Hugo 0.123.7">', ("hugo", "0.123.7")),
        ({"server": "nginx"}, "<p>vite</p>", None),
    ],
)
def test_headers_and_markers_of_an_answer_name_the_framework(
    headers: dict[str, str], markup: str, expected: tuple[str, str | None] | None
):
    found = by_answer(headers, markup)

    assert (found and (found.id, found.version)) == expected


def test_the_surer_one_counts_and_learns_the_version():
    started = Framework("astro", "Astro", None, 0.9, "started as astro")
    answered = Framework("astro", "Astro", "4.1", 0.8, "page")
    weak = Framework("uvicorn", "Uvicorn", None, 0.4, "started as uvicorn")

    both = surer(started, answered)

    assert both is not None
    assert (both.version, both.confidence, both.evidence) == ("4.1", 0.9, "started as astro")
    assert surer(weak, answered) is answered
    assert surer(None, weak) is surer(weak, None) is weak


@pytest.mark.parametrize("text", ["<meta ", "<meta name='generator' ", "v1.", "generator", "<" * 9])
def test_a_hostile_page_costs_little(text: str):
    began = time.process_time()

    by_answer({"server": text * 10_000}, '"astro v' + text * 100_000 + 'content="astro v')

    assert time.process_time() - began < 1.0


def test_the_evidence_tells_no_values_of_strangers():
    found = by_answer({"set-cookie": "csrftoken=s3cret", "server": "x\x1b[31m"}, "")

    assert found is not None
    record = records.identity(Identity(Process(None), "", framework=found))["framework"]
    assert record is not None
    assert record["evidence"] == "header set-cookie: csrftoken"
