"""Stack pictures over HTTP: sizes, options, headers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.described import Api
from tests.review.api.served import Project
from tests.review.pngs import read, size

SVG = "{http://www.w3.org/2000/svg}"


def test_an_svg_is_680_wide_and_a_png_twice_that(api: Api, pay: Project):
    for path in (pay.p, pay.c(1)):
        svg, png = api.get(f"{path}/stack.svg"), api.get(f"{path}/stack.png")

        assert svg.headers["Content-Type"] == "image/svg+xml"
        assert 'width="680"' in svg.text
        assert png.headers["Content-Type"] == "image/png"
        assert size(png.content)[0] == 1360
        assert {svg.headers["Cache-Control"], png.headers["Cache-Control"]} == {"no-cache"}
        assert svg.headers["ETag"] != png.headers["ETag"]


def test_a_narrow_one_fits_beside_a_page(api: Api, pay: Project):
    svg = api.get(f"{pay.p}/stack.svg?narrow=1").text

    assert 'width="320"' in svg
    assert ">+4<" in api.get(f"{pay.p}/stack.svg").text
    assert ">+4<" not in svg
    drawn = ET.fromstring(svg).iter(f"{SVG}rect")
    assert max(float(one.get("x") or 0) + float(one.get("width") or 0) for one in drawn) <= 320
    assert size(api.get(f"{pay.p}/stack.png?narrow=1").content)[0] == 640


def test_each_option_changes_the_picture(api: Api, pay: Project):
    plain = api.get(pay.c(1, "/stack.svg")).text

    assert "Say so" in plain
    assert "Say so" not in api.get(pay.c(1, "/stack.svg?scope=stack")).text
    assert "Say so" in api.get(pay.c(1, "/stack.svg?scope=repo")).text
    assert api.get(pay.c(1, "/stack.svg?scale=linear")).text != plain
    assert api.get(pay.c(1, "/stack.svg?scale=sqrt&scope=project&title=1")).text == plain
    assert ">Pay<" in plain
    assert ">Pay<" not in api.get(pay.c(1, "/stack.svg?title=0")).text
    assert api.get(f"{pay.p}/stack.svg").text != plain


@pytest.mark.slow
@pytest.mark.parametrize("title", ["<&\"'> ]]>", "漢字かな混じり文"])
def test_any_title_is_drawn_as_text(api: Api, pay: Project, title: str):
    sha = pay.repo.commit({"x": "y\n"}, title)

    svg, png = api.get(pay.c(sha, "/stack.svg")), api.get(pay.c(sha, "/stack.png"))

    (drawn,) = (one for one in ET.fromstring(svg.content).iter(f"{SVG}text") if one.text == title)
    left, base = (2 * int(float(drawn.get(key) or 0)) for key in ("x", "y"))
    assert read(png.content).dark(left, base - 20, left + 80, base) > 20


def test_a_download_has_the_name_of_what_it_shows(api: Api, pay: Project):
    def disposition(path: str) -> str | None:
        found: str | None = api.get(path).headers.get("Content-Disposition")
        return found

    short = pay.shas[1][:7]
    assert disposition(f"{pay.p}/stack.png") is None
    assert disposition(f"{pay.p}/stack.png?download=0") is None
    assert disposition(f"{pay.p}/stack.png?download") == f'attachment; filename="{pay.slug}.png"'
    assert disposition(pay.c(1, "/stack.svg?download=yes")) == (
        f'attachment; filename="{pay.slug}-api-{short}.svg"'
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("scope=all", '"scope" must be project, repo or stack'),
        ("scope=", '"scope" must be project, repo or stack'),
        ("scale=log", '"scale" must be sqrt or linear'),
    ],
)
def test_a_bad_option_is_refused(api: Api, pay: Project, query: str, text: str):
    answer = api.get(pay.c(0, f"/stack.svg?{query}"))

    assert (answer.status_code, answer.json()) == (400, {"error": text, "code": "invalid"})
    assert api.get(pay.c("abcdefa", f"/stack.svg?{query}")).status_code == 404


def test_the_scope_means_nothing_for_a_whole_project(api: Api, pay: Project):
    assert api.get(f"{pay.p}/stack.svg?scope=all").status_code == 200
    assert api.get(f"{pay.p}/stack.svg?scale=log").status_code == 400
    assert api.get("/api/projects/nope/stack.svg?scale=log").status_code == 404


def test_a_png_names_what_it_shows_as_boxes(api: Api, pay: Project, monkeypatch):
    pay.repo.commit({"x": "y\n"}, "Ship \U0010fffc it")

    for _ in range(2):  # drawn, and remembered
        answer = api.get(f"{pay.p}/stack.png")
        assert answer.headers["Missing-Characters"] == "%F4%8F%BF%BC"
    assert "Missing-Characters" not in api.get(f"{pay.p}/stack.svg").headers
