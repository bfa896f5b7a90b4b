"""Markdown of comments: what it shows, and that nothing in it acts."""

from __future__ import annotations

import json
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from review import markdown
from tests.promises.rings import few
from tests.review.outline import outline

ASSET = f"/api/projects/pay/assets/{'a' * 64}.png"
REL = 'rel="noopener noreferrer nofollow"'


class Elements(HTMLParser):
    """Every element of a text with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "<p>plain</p>\n"),
        ("a\u202eb `c\u2066`", "<p>a«U+202E»b <code>c«U+2066»</code></p>\n"),
        ("*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>\n"),
        ("# Title", "<h1>Title</h1>\n"),
        ("a\\\nb", "<p>a<br>\nb</p>\n"),
        ("3. x", '<ol start="3">\n<li>x</li>\n</ol>\n'),
        ("> x\n\n---", "<blockquote>\n<p>x</p>\n</blockquote>\n<hr>\n"),
        ("<b>x</b> & <!-- y -->", "<p>&lt;b&gt;x&lt;/b&gt; &amp; &lt;!-- y --&gt;</p>\n"),
        ("[x](https://a.test/ 'y')", f'<p><a href="https://a.test/" title="y" {REL}>x</a></p>\n'),
        ("<b@a.test>", f'<p><a href="mailto:b@a.test" {REL}>b@a.test</a></p>\n'),
        ("", ""),
        (None, ""),
    ],
)  # fmt: skip
def test_markdown_is_shown(text: str | None, shown: str):
    assert markdown.html(text) == shown


def test_tables_are_aligned_by_class():
    shown = markdown.html("| a | b |\n| --- | --: |\n| 1 | 2 |")

    assert "<th>a</th>" in shown
    assert '<td class="align-right">2</td>' in shown
    assert "style" not in shown


def test_tasks_are_boxes_that_cannot_be_changed():
    shown = markdown.html("- [x] done\n- [ ] to *do*\n- [y] no\n- `[x]` no\n\n[x] no")

    assert shown.count("<input") == 2
    assert shown.count('disabled=""') == 2
    assert shown.count("checked") == 1
    assert shown.count('<li class="task">') == 2


def test_code_is_coloured_by_classes_alone():
    shown = markdown.html('```python\ndef f(x): return "<b>"\n```')

    assert '<code class="language-python"><span class="hl-k">def</span>' in shown
    assert "&lt;b&gt;" in shown
    assert "style" not in shown


@pytest.mark.parametrize("info", ["", "unknown", 'x"onclick="y', "<script>", "PYTHON", "python x"])
def test_code_of_any_language_is_shown_as_it_is(info: str):
    shown = markdown.html(f"```{info}\n<b> &amp;\n```")

    assert "&amp;amp;" in shown.replace('<span class="hl-o">', "").replace("</span>", "")
    assert {tag for tag, _ in Elements(shown).found} <= {"pre", "code", "span"}
    assert all(set(attrs) <= {"class"} for _, attrs in Elements(shown).found)


def test_every_language_that_is_offered_has_a_lexer():
    for language in markdown.LANGUAGES:
        assert "hl-" in markdown.html(
            f"```{language}\nif x = \"y\" /* z */ # 1 <a b='c'>\n+ d\n```"
        )


@pytest.mark.parametrize("mount", ["", "/review"])
def test_images_kept_here_are_shown_below_this_mount(mount: str):
    shown = markdown.html(f'![a "b"]({ASSET} "t")', mount=mount)

    assert Elements(shown).found == [
        ("p", {}),
        ("img", {"src": mount + ASSET, "alt": 'a "b"', "loading": "lazy", "title": "t"}),
    ]
    assert f'href="{mount}{ASSET}"' in markdown.html(f"[x]({ASSET})", mount=mount)


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("![a](https://a.test/x)", f'<p><a href="https://a.test/x" {REL}>a</a></p>\n'),
        ("![](http://a.test/x)", f'<p><a href="http://a.test/x" {REL}>http://a.test/x</a></p>\n'),
    ],
)
def test_an_image_from_elsewhere_is_a_link(image: str, shown: str):
    assert markdown.html(image) == shown


@pytest.mark.parametrize(
    "target",
    [
        "//localhost/x.png",
        "x.png",
        "data:image/png;base64,AAAA",
        f"{ASSET}?x",
        f"/other{ASSET}",
        "/api/projects/pay/assets/../../x.png",
    ],
)
@pytest.mark.parametrize("mark", ["!", ""])
def test_what_is_no_address_stays_as_it_was_written(mark: str, target: str):
    assert markdown.html(f"{mark}[a]({target})") == f"<p>{mark}[a]({target})</p>\n"


TEXTS = json.loads((Path(__file__).parents[1] / "fixtures/markdown.json").read_text())


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_the_nodes_that_pages_give_it(name: str):
    assert outline(markdown.html(TEXTS[name]["text"])) == TEXTS[name]["nodes"]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("(https://a.test/x_(y)).", ["https://a.test/x_(y)"]),
        ("**https://a.test/x**, https://b.test!", ["https://a.test/x", "https://b.test"]),
        ("[https://a.test](https://b.test)", ["https://b.test"]),
        ("xhttps://a.test `https://a.test`", []),
        ("https://) https://_", []),
    ],
)
def test_a_bare_address_is_a_link_to_its_end(text: str, addresses: list[str]):
    found = Elements(markdown.html(text)).found
    assert [given["href"] for tag, given in found if tag == "a"] == addresses


HOSTILE = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#1;javascript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](vbscript:x) [x](data:text/html,<script>alert(1)</script>) [x](file:///etc/passwd)",
    "[x](data:image/svg+xml,<svg onload=alert(1)>) [x](blob:x) [x](about:blank) [x](ws://x)",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    '[x](https://localhost/"onmouseover="alert(1))',
    '[x](https://localhost "\\" onclick=\\"alert(1)")',
    '![x" onerror="alert(1)](https://localhost/y)',
    f'![x]({ASSET} "\\" onerror=\\"alert(1)")',
    f'![" onerror="alert(1)]({ASSET})',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<style>*{background:url(http://localhost)}</style>",
    "<a href='javascript:x'>y</a>",
    "<form><button formaction=javascript:x>",
    "<math><mtext></p><style><!--</style><img title='--&gt;&lt;img src=x onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "    <script>alert(1)</script>",
    "`<script>`",
    "| <script> |\n| --- |\n| <img src=x onerror=alert(1)> |",
    "# <script>alert(1)</script>",
    "- [x] <script>alert(1)</script>",
    "&lt;script&gt; &#60;script&#62; &#x3c;img src=x onerror=alert(1)&#x3e;",
    "\0<\0script>",
    "<!-- --!><script>alert(1)</script> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php <script>?>",
    "\udcff \ud800<script>",
    "[a](<javascript:alert(1)>) [b](<  javascript:alert(1)>)",
    "[![x](https://localhost/a)](https://localhost/b)",
    "[x](# 'y') [x](?q) [x](../..)",
]

ATTRIBUTES = {
    "a": {"href", "title", "rel"}, "img": {"src", "alt", "title", "loading"},
    "input": {"type", "disabled", "checked", "aria-label"}, "ol": {"start"},
    **{tag: {"class"} for tag in ("code", "li", "span", "td", "th")},
}  # fmt: skip
PIECES = [
    "[", "]", "(", ")", "!", "<", ">", '"', "'", "`", "```html\n", "javascript:", "https://a.test",
    ASSET, "onerror=x", "<script>", "</a>", "<img src=x>", "\\", "&#106;", "\n", "\n\n", " ",
    "    ", "|", "|-|\n", "- ", "[x] ", "~~", "**", "_", "#", "x", "\t", "&lt;", "<!--", "-->",
]  # fmt: skip


def harmless(shown: str) -> None:
    for tag, attributes in Elements(shown).found:
        assert tag in markdown.TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set())
        if tag == "img":
            assert (attributes["src"] or "").startswith("/api/projects/")
        if tag == "a" and "href" in attributes:
            assert urlsplit(attributes["href"] or "").scheme in {"", "http", "https", "mailto"}
            assert attributes["rel"] == "noopener noreferrer nofollow"


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_comes_through(text: str):
    harmless(markdown.html(text))


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example("[a](<https://localhost\n>)")
def test_no_mixture_of_pieces_comes_through(text: str):
    harmless(markdown.html(text))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_at_all_comes_through(text: str):
    harmless(markdown.html(text))


N = 64 * 1024
SLOW = {
    "brackets": "[" * N,
    "links": "[a](" * (N // 4),
    "images": "![" * (N // 2),
    "stars": "*a " * (N // 3),
    "mixed": "*a_" * (N // 3),
    "ticks": " ".join("`" * n for n in range(1, 360)),
    "quotes": ">" * N,
    "lists": "- " * (N // 2),
    "wide table": "|" + "a|" * 10_000 + "\n|" + "-|" * 10_000 + "\n" + "a\n" * 10_000,
    "references": "".join(f"[a{n}]: /x\n" for n in range(4000)) + "[a1] " * 3000,
    "open fence": "```python\n" + "(" * N,
    "newlines of c": ("```c\n" + "\n" * 3_000 + "```\n") * 20,
    "too long": "*a " * N,
}


@pytest.mark.promise("G7")
@pytest.mark.parametrize("kind", few([*SLOW], 6))
def test_the_longest_comment_is_shown_within_seconds(kind: str):
    start = time.process_time()
    harmless(markdown.html(SLOW[kind]))

    assert time.process_time() - start < 5


def test_a_text_far_too_long_is_shown_as_it_was_written():
    text = "*a* <b>" * 40_000

    assert markdown.html(text) == "<pre>" + "*a* &lt;b&gt;" * 40_000 + "</pre>"


def test_a_text_that_was_rendered_is_not_rendered_again_for_the_same_mount(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = f"![a]({ASSET}) once"
    first, mounted = markdown.html(text), markdown.html(text, mount="/review")
    monkeypatch.setattr(markdown, "_parser", lambda: pytest.fail("it was rendered again"))

    assert markdown.html(text) == first
    assert markdown.html(text, mount="/review") == mounted
    assert f'src="/review{ASSET}"' in mounted
    assert f'src="{ASSET}"' in first
