"""Markdown of comments and notes as HTML that is safe to put into a page.

CommonMark with tables, strikethrough and task lists. Raw HTML stays text, and nothing is fetched
from elsewhere: an image from another site becomes a link to it. The result is also passed through a
sanitiser.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from config.jsonio import visible
from review import caches

ASSET = re.compile(
    r"/api/projects/[A-Za-z0-9][A-Za-z0-9._-]{0,127}/assets/[0-9a-f]{64}\.[a-z]{3,4}"
)
WEB = re.compile(r"https?://", re.IGNORECASE)
LINKED = re.compile(rf"(?:https?://|mailto:).|{ASSET.pattern}$", re.IGNORECASE)
BARE = re.compile(r"""(?<!\w)https?://[^\s<>"`.,;:!?'*_~()\]][^\s<>"`]{0,2000}""")
AFTER = ".,;:!?'\"*_~)]"  # after an address, these belong to the sentence
TASK = re.compile(r"\[([ xX])\][ \t]+(?=\S)")
LONGEST = 128 * 1024  # characters; a longer text is shown unrendered
SUGGESTION = "suggestion"  # a block of lines to replace those that the thread is about
COLOURED = 4_000  # characters of code in one text; a lexer's time can grow with the square
LANGUAGES = frozenset({
    "bash", "c", "c++", "console", "cpp", "css", "diff", "docker", "dockerfile",
    "go", "golang", "html", "ini", "java", "javascript", "js", "json", "jsx", "kotlin", "make",
    "makefile", "php", "py", "python", "rb", "rs", "ruby", "rust", "scss", "sh", "shell", "sql",
    "swift", "toml", "ts", "tsx", "typescript", "xml", "yaml", "yml", "zsh",
})  # fmt: skip
TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img",
    "input", "li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead",
    "tr", "ul",
}  # fmt: skip
MOST_KEPT, EACH = 4 << 20, 256  # characters kept; every event makes pages ask for all threads again
_made: caches.Memory[bytes, str] = caches.Memory(
    MOST_KEPT, weigh=lambda made: len(made) + EACH, shared=True
)
CLEANER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags={"script", "style"},
    attributes={
        "a": {"href", "title"},
        "code": {"class"},
        "img": {"src", "alt", "title", "loading"},
        "input": {"checked", "disabled", "type", "aria-label"},
        "li": {"class"},
        "ol": {"start"},
        "span": {"class"},
        "td": {"class"},
        "th": {"class"},
    },
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
)


def html(text: str | None, *, mount: str = "") -> str:
    """The text as HTML. `mount` ("/review") is put before the addresses of images kept here."""
    plain = visible((text or "").encode(errors="replace").decode())
    if len(plain) > LONGEST:
        return f"<pre>{escape(plain)}</pre>"
    key = hashlib.sha256(f"{mount}\0{plain}".encode()).digest()
    if (known := _made.get(key)) is not None:
        return known
    return _made.put(
        key, CLEANER.clean(_parser().render(plain, {"mount": mount, "left": COLOURED}))
    )


def blocks(text: str, language: str) -> list[str]:
    """The contents of the fenced blocks of this language, except those inside lists and quotes."""
    if len(text) > LONGEST:
        return []
    return [
        token.content
        for token in _parser().parse(text, {"mount": "", "left": 0})
        if token.type == "fence" and token.level == 0 and _language(token.info) == language
    ]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = lambda url: bool(LINKED.match(url))  # type: ignore[method-assign]
    parser.core.ruler.push("addresses", _addresses)
    parser.core.ruler.push("bare", _bare)
    parser.core.ruler.push("tasks", _tasks)
    parser.core.ruler.push("alignment", _alignment)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("fence", _fence)
    return parser


def _addresses(state: StateCore) -> None:
    """Put the mount before links to images kept here."""
    for token in state.tokens:
        for child in token.children or ():
            href = str(child.attrs.get("href", ""))
            if child.type == "link_open" and ASSET.fullmatch(href):
                child.attrs["href"] = state.env["mount"] + href


def _bare(state: StateCore) -> None:
    """Turn addresses in plain text into links."""
    for token in state.tokens:
        if token.type == "inline" and "://" in token.content:
            children: list[Token] = []
            linked = 0
            for child in token.children or ():
                linked += {"link_open": 1, "link_close": -1}.get(child.type, 0)
                plain = child.type == "text" and not linked
                children += _with_links(child.content) if plain else [child]
            token.children = children


def _with_links(text: str) -> Iterator[Token]:
    end = 0
    for found in BARE.finditer(text):
        address = _trim(found[0])
        yield Token("text", "", 0, content=text[end : found.start()])
        yield Token("link_open", "a", 1, attrs={"href": address})
        yield Token("text", "", 0, content=address)
        yield Token("link_close", "a", -1)
        end = found.start() + len(address)
    yield Token("text", "", 0, content=text[end:])


def _trim(address: str) -> str:
    """The address without punctuation at its end; a bracket that was opened in it belongs to it."""
    while address[-1] in AFTER:
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def _tasks(state: StateCore) -> None:
    """Turn `- [x] done` into a ticked box that cannot be changed."""
    for item, paragraph, inline in zip(
        state.tokens, state.tokens[1:], state.tokens[2:], strict=False
    ):
        if (item.type, paragraph.type, inline.type) != (
            "list_item_open", "paragraph_open", "inline",
        ):  # fmt: skip
            continue
        first = inline.children[0] if inline.children else None
        mark = TASK.match(first.content) if first and first.type == "text" else None
        if first and mark:
            first.content = first.content[mark.end() :]
            ticked = ' checked="" aria-label="done"' if mark[1] != " " else ' aria-label="to do"'
            box = Token(
                "html_inline", "", 0, content=f'<input type="checkbox" disabled=""{ticked}> '
            )
            inline.children = [box, *(inline.children or ())]
            item.attrJoin("class", "task")


def _alignment(state: StateCore) -> None:
    """Align columns by class, because pages allow no inline styles."""
    for token in state.tokens:
        if token.type in {"th_open", "td_open"}:
            style = str(token.attrs.pop("style", ""))
            if style:
                token.attrs["class"] = style.replace("text-align:", "align-")


def _image(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """An image kept here; a link to one from elsewhere; the alternative text of any other."""
    token = tokens[place]
    src = str(token.attrs.get("src", ""))
    words = escape(self.renderInlineAsText(token.children or [], options, env))
    if ASSET.fullmatch(src):
        title = token.attrs.get("title")
        hint = f' title="{escape(str(title))}"' if title else ""
        return f'<img src="{escape(env["mount"] + src)}" alt="{words}" loading="lazy"{hint}>'
    if WEB.match(src):
        return f'<a href="{escape(src)}">{words or escape(src)}</a>'
    return words


def _fence(
    _self: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, env: Any
) -> str:
    """A block of code, coloured while the text has not used up its limit of coloured characters."""
    code = tokens[place].content
    language = _language(tokens[place].info)
    if language in LANGUAGES and len(code) <= env["left"]:
        env["left"] -= len(code)
        return f'<pre><code class="language-{language}">{_highlight(code, language)}</code></pre>\n'
    if language == SUGGESTION:
        return f'<pre><code class="language-{language}">{escape(code)}</code></pre>\n'
    return f"<pre><code>{escape(code)}</code></pre>\n"


def _language(info: str) -> str:
    return unescapeAll(info).strip().partition(" ")[0].lower()


def _highlight(code: str, language: str) -> str:
    parts = []
    for kind, words in lex(code, _lexer(language)):
        css = _css(kind)
        parts.append(f'<span class="{css}">{escape(words)}</span>' if css else escape(words))
    return "".join(parts)


@cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _css(kind: Any) -> str:
    """Pygments' short name of the kind, such as `k`, after `hl-`; "" for plain text."""
    while kind not in STANDARD_TYPES:
        kind = kind.parent
    short = STANDARD_TYPES[kind]
    return f"hl-{short}" if short not in {"", "n", "p", "w"} else ""
