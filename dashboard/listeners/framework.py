"""Which framework a server uses, judged by its arguments, its package and its answers.

Confidence is 0 to 1: highest for a command that only starts one framework, lowest for a mere
dependency of a package. `evidence` is the sentence that explains it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from dashboard.listeners.package import Package, installed_version

BY_ARGV, BY_ANSWER, BY_PACKAGE, BY_RUNNER = 0.9, 0.8, 0.6, 0.4
MOST_WORDS, MOST_BEFORE, HEADER, MARKUP = 40, 5, 500, 64 * 1024


@dataclass(frozen=True, slots=True)
class Framework:
    id: str
    name: str
    version: str | None
    confidence: float
    evidence: str


class Rule(NamedTuple):
    """How to recognise one framework. `command`: consecutive words of the command line.

    `needs`: a package it always depends on; `header`: of an answer, `name: value`; `markup`: text
    in a page it serves; `runner`: the command also runs other frameworks.
    """

    id: str
    name: str
    command: str = ""
    needs: str = ""
    header: str = ""
    markup: str = ""
    runner: bool = False


RULES = (
    Rule("django", "Django", "manage.py runserver", "django", "set-cookie: csrftoken"),
    Rule("nextjs", "Next.js", "next-server", "next", "x-powered-by: next.js", 'id="__next"'),
    Rule("nextjs", "Next.js", "next"),
    Rule("nuxt", "Nuxt", "nuxt", "nuxt", "x-powered-by: nuxt", 'id="__nuxt"'),
    Rule("sveltekit", "SvelteKit", "", "@sveltejs/kit", "x-sveltekit-page", "__sveltekit_"),
    Rule("astro", "Astro", "astro", "astro", "", 'content="astro v'),
    Rule("remix", "Remix", "remix", "@remix-run/dev", "", "__remixcontext"),
    Rule("gatsby", "Gatsby", "gatsby", "gatsby", "", 'id="___gatsby"'),
    Rule("storybook", "Storybook", "storybook", "", "", "storybook-root"),
    Rule("angular", "Angular", "ng serve", "@angular/core", "", "<app-root"),
    Rule("cra", "Create React App", "react-scripts", "react-scripts"),
    Rule("eleventy", "Eleventy", "eleventy", "@11ty/eleventy", "", 'content="eleventy v'),
    Rule("vite", "Vite", "vite", "", "", "/@vite/client", runner=True),
    Rule("webpack", "webpack", "webpack serve", runner=True),
    Rule("parcel", "Parcel", "parcel"),
    Rule("fastapi", "FastAPI", "fastapi", "fastapi"),
    Rule("flask", "Flask", "flask run", "flask", "server: werkzeug"),
    Rule("streamlit", "Streamlit", "streamlit", "streamlit", "", "<title>streamlit</title>"),
    Rule("jupyter", "Jupyter", "jupyter", "", "server: tornadoserver", "data-jupyter"),
    Rule("mkdocs", "MkDocs", "mkdocs serve", "mkdocs", "", 'content="mkdocs-'),
    Rule("starlette", "Starlette", "", "starlette"),
    Rule("rails", "Ruby on Rails", "rails s", "rails", "x-runtime", "csrf-param"),
    Rule("rails", "Ruby on Rails", "rails server"),
    Rule("jekyll", "Jekyll", "jekyll", "jekyll", "", 'content="jekyll v'),
    Rule("laravel", "Laravel", "artisan serve", "laravel/framework", "set-cookie: laravel_session"),
    Rule("symfony", "Symfony", "symfony", "symfony/framework-bundle", "x-debug-token"),
    Rule("phoenix", "Phoenix", "mix phx.server", "phoenix", "", "phx-main"),
    Rule("hugo", "Hugo", "hugo", "", "", 'content="hugo '),
    Rule("express", "Express", "", "express", "x-powered-by: express"),
    Rule("fastify", "Fastify", "fastify", "fastify"),
    Rule("nest", "NestJS", "nest start", "@nestjs/core"),
    Rule("gin", "Gin", "", "github.com/gin-gonic/gin"),
    Rule("axum", "axum", "", "axum"),
    Rule("actix", "Actix Web", "", "actix-web"),
    Rule("http.server", "Python http.server", "http.server", "", "server: simplehttp"),
    Rule("uvicorn", "Uvicorn", "uvicorn", "", "server: uvicorn", runner=True),
    Rule("gunicorn", "Gunicorn", "gunicorn", "", "server: gunicorn", runner=True),
    Rule("daphne", "Daphne", "daphne", "", "server: daphne", runner=True),
    Rule("hypercorn", "Hypercorn", "hypercorn", "", "server: hypercorn", runner=True),
    Rule("puma", "Puma", "puma", "", "", runner=True),
    Rule("php", "PHP", "php -S", "", "x-powered-by: php", runner=True),
)

_SUFFIX = re.compile(r"\.(?:[cm]?js|py|rb|exe|cmd|phar)$")
_GENERATOR = re.compile(
    r"""<meta\s[^>]{0,200}?name=["']generator["']\s[^>]{0,200}?content=["']([^"'>]{1,80})""", re.I
)
_VERSION = re.compile(r"\bv?(\d+(?:\.\d+){0,3}[\w.\-]{0,20})")


def by_files(argv: Sequence[str], package: Package | None) -> Framework | None:
    """The framework by the command line, else by the package's dependencies, else by a runner."""
    words = _words(argv)
    started = next((rule for rule in RULES if _starts(rule, words)), None)
    if started and not started.runner:
        return _framework(started, BY_ARGV, f"started as {started.command}")
    needs = package.needs if package else frozenset()
    needed = next((rule for rule in RULES if rule.needs and rule.needs in needs), None)
    if needed and package:
        evidence = f"{package.file.name} needs {needed.needs}"
        return _framework(needed, BY_PACKAGE, evidence, installed_version(package, needed.needs))
    if started:
        return _framework(started, BY_RUNNER, f"started as {started.command}")
    return None


def by_answer(headers: Mapping[str, str], markup: str) -> Framework | None:
    """The framework by an answer's headers (lower-case names) and the start of its page."""
    lines = [f"{name}: {value[:HEADER]}".lower() for name, value in headers.items()]
    for rule in RULES:
        if rule.header and (line := next((x for x in lines if x.startswith(rule.header)), None)):
            version = _VERSION.search(line, len(rule.header)) if rule.runner else None
            certain = BY_RUNNER if rule.runner else BY_ANSWER
            return _framework(rule, certain, f"header {rule.header}", version and version[1])
    page = markup[:MARKUP]
    lower = page.lower()
    for rule in RULES:
        if rule.markup and rule.markup in lower:
            generator = _GENERATOR.search(page)
            version = _VERSION.search(generator[1]) if generator else None
            return _framework(rule, BY_ANSWER, f"page has {rule.markup}", version and version[1])
    return None


def surer(one: Framework | None, other: Framework | None) -> Framework | None:
    """The one with more confidence; of the same framework, with whichever version is known."""
    if one is None or other is None:
        return one or other
    best, rest = (other, one) if other.confidence > one.confidence else (one, other)
    if best.id == rest.id and best.version is None:
        return Framework(best.id, best.name, rest.version, best.confidence, best.evidence)
    return best


def _framework(
    rule: Rule, confidence: float, evidence: str, version: str | None = None
) -> Framework:
    return Framework(rule.id, rule.name, version, confidence, evidence)


def _words(argv: Sequence[str]) -> list[str]:
    """The words of a command line without directories and suffixes, but "manage.py" as it is."""
    words = [word for argument in argv[:MOST_WORDS] for word in argument[:HEADER].split()[:8]]
    return [_word(word) for word in words]


def _word(text: str) -> str:
    name = PurePath(text).name.removesuffix(":")
    return name if name == "manage.py" else _SUFFIX.sub("", name)


def _starts(rule: Rule, words: list[str]) -> bool:
    """Whether the words run the rule's command, perhaps after an interpreter and its options."""
    wanted = rule.command.split()
    size = len(wanted)
    return bool(wanted) and any(words[at : at + size] == wanted for at in range(MOST_BEFORE))
