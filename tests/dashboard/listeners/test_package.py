"""The nearest manifest of eight kinds, however hostile."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path

import pytest

from config.storage import opening
from dashboard.listeners import package, records
from dashboard.listeners.identity import Identity
from dashboard.listeners.package import Package
from dashboard.listeners.processes import Process


def find(*folders: Path) -> Package:
    found = package.find(folders)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("file", "text", "told", "need"),
    [
        (
            "package.json",
            '{"name": "@acme/shop", "version": "1.2.3", "devDependencies": {"vite": "5"}}',
            ("@acme/shop", "1.2.3", "npm"),
            "vite",
        ),
        (
            "pyproject.toml",
            '[project]\nname = "shop"\nversion = "2"\ndependencies = ["Django>=5"]',
            ("shop", "2", "pip"),
            "django",
        ),
        (
            "pyproject.toml",
            '[tool.poetry]\nname = "shop"\nversion = "2"\n[tool.poetry.dependencies]\nFlask = "3"',
            ("shop", "2", "pip"),
            "flask",
        ),
        (
            "Cargo.toml",
            '[package]\nname = "shop"\nversion = "0.1.0"\n[dependencies]\naxum = "0.7"',
            ("shop", "0.1.0", "cargo"),
            "axum",
        ),
        (
            "go.mod",
            "module example.com/acme/shop/v2\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.9.1\n)\n",
            ("example.com/acme/shop/v2", None, "go"),
            "github.com/gin-gonic/gin",
        ),
        (
            "composer.json",
            '{"name": "acme/shop", "require": {"laravel/framework": "^11"}}',
            ("acme/shop", None, "composer"),
            "laravel/framework",
        ),
        ("Gemfile", 'source "x"\ngem "rails", "~> 7"\n', (None, None, "bundler"), "rails"),
        (
            "Gemfile",
            "group :dev do\n  gem 'puma'\nend\n",
            (None, None, "bundler"),
            "puma",
        ),
        (
            "deno.json",
            '{"name": "@acme/shop", "version": "1.0.0", "imports": {"fresh": "x"}}',
            ("@acme/shop", "1.0.0", "deno"),
            "fresh",
        ),
        (
            "mix.exs",
            'def project do\n [app: :shop, version: "0.1.0", deps: [{:phoenix, "~> 1.7"}]]\nend',
            ("shop", "0.1.0", "mix"),
            "phoenix",
        ),
    ],
)
def test_each_manifest_tells_its_name_version_manager_and_needs(
    tmp_path: Path, file: str, text: str, told: tuple[str | None, ...], need: str
):
    (tmp_path / file).write_text(text)

    found = find(tmp_path)

    assert (found.name, found.version, found.manager) == told
    assert need in found.needs
    assert found.whole


@pytest.mark.parametrize(
    ("lock", "manager"),
    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("x", "npm")],
)
def test_the_lock_file_of_a_workspace_names_the_manager(tmp_path: Path, lock: str, manager: str):
    part = tmp_path / "part"
    part.mkdir()
    (part / "package.json").write_text("{}")
    (tmp_path / lock).touch()

    assert find(part, tmp_path).manager == manager


def test_the_package_manager_field_counts_before_lock_files(tmp_path: Path):
    (tmp_path / "package.json").write_text('{"packageManager": "pnpm@9.1.0"}')
    (tmp_path / "yarn.lock").touch()

    assert find(tmp_path).manager == "pnpm"


def test_a_changed_manifest_is_read_again(tmp_path: Path):
    file = tmp_path / "package.json"
    file.write_text('{"name": "one"}')
    assert find(tmp_path).name == "one"

    file.write_text('{"name": "other"}')

    assert find(tmp_path).name == "other"


def test_a_manifest_that_could_not_be_read_for_a_moment_is_read_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "package.json").write_text('{"name": "one"}')

    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as full:
        full.setattr(opening, "regular", refused)
        assert not find(tmp_path).whole

    assert (find(tmp_path).name, find(tmp_path).whole) == ("one", True)


def test_the_nearest_manifest_counts(tmp_path: Path):
    part = tmp_path / "part"
    part.mkdir()
    (tmp_path / "package.json").write_text('{"name": "far"}')
    (part / "Cargo.toml").write_text('[package]\nname = "near"')

    assert find(part, tmp_path).name == "near"


BROKEN = [
    "{",
    "[]",
    "null",
    '"x"',
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"name": "a\\ud800"}',
    '{"name": 1, "version": {}, "dependencies": [], "packageManager": 3}',
    '{"dependencies": "x", "name": ["a"]}',
    "\x00" * 1000,
]


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("file", [*package.MANIFESTS])
def test_a_broken_manifest_says_nothing(tmp_path: Path, file: str, text: str):
    (tmp_path / file).write_text(text)

    found = find(tmp_path)

    assert (found.name, found.version) == (None, None)
    assert json.dumps(records.identity(Identity(Process(None), "", package=found))["package"])


@pytest.mark.parametrize(
    "text",
    [
        "project = 1",
        "[project]\ndependencies = 1",
        "[project]\ndependencies = [1, {}]",
        "[project]\nname = []\nversion = 3",
        "[tool]\npoetry = []",
        "tool = 1",
    ],
)
def test_a_manifest_of_other_types_says_nothing(tmp_path: Path, text: str):
    (tmp_path / "pyproject.toml").write_text(text)

    found = find(tmp_path)

    assert (found.name, found.version, found.needs) == (None, None, frozenset())


@pytest.mark.parametrize("file", [*package.MANIFESTS])
def test_bytes_that_are_no_text_say_nothing(tmp_path: Path, file: str):
    (tmp_path / file).write_bytes(b"\xff\xfe\x00\x01")

    found = find(tmp_path)

    assert (found.name, found.whole) == (None, False)


def test_a_manifest_of_50_mb_is_named_and_not_read(tmp_path: Path):
    with (tmp_path / "package.json").open("wb") as file:
        file.write(b'{"name": "huge"}')
        file.truncate(50_000_000)

    began = time.process_time()
    found = find(tmp_path)

    assert (found.name, found.whole) == (None, False)
    assert time.process_time() - began < 0.2


def test_a_fifo_and_a_loop_of_links_and_a_directory_are_passed_over(tmp_path: Path):
    os.mkfifo(tmp_path / "package.json")
    (tmp_path / "pyproject.toml").symlink_to("pyproject.toml")
    (tmp_path / "Cargo.toml").mkdir()
    (tmp_path / "go.mod").symlink_to("/dev/zero")
    (tmp_path / "mix.exs").write_text("app: :shop")

    assert find(tmp_path).name == "shop"


def test_a_link_into_the_kernels_log_is_not_waited_for(tmp_path: Path):
    (tmp_path / "package.json").symlink_to("/proc/kmsg")

    assert find(tmp_path).name is None


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", "a." * 120_000 + "b = 1"),
        ("pyproject.toml", "".join(f"[{'a.' * 20}x{n}]\n" for n in range(5_000))),
        ("pyproject.toml", "x = " + "[" * 100_000),
        ("pyproject.toml", "x = {" + "a." * 120_000 + "b = 1}"),
        ("pyproject.toml", "\n".join(f"{'a.' * 99}x{n} = 1" for n in range(1_300))),
        ("pyproject.toml", "x = {" + '"=".' * 60_000 + "b = 1}"),
        ("pyproject.toml", "x = " + "{a = " * 40_000),
        ("go.mod", "require " + " " * 250_000),
        ("go.mod", "\t" * 250_000),
        ("Gemfile", " " * 250_000),
        ("mix.exs", "version: " * 25_000),
        ("mix.exs", "version:" + " " * 250_000),
        ("mix.exs", "{:" * 120_000),
    ],
)
def test_a_hostile_manifest_costs_little(tmp_path: Path, file: str, text: str):
    (tmp_path / file).write_text(text[: package.LIMIT])

    began = time.process_time()
    find(tmp_path)

    assert time.process_time() - began < 2.0
