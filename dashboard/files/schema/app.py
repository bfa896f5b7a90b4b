"""apps/<slug>.yaml: one declared app."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dashboard.files import convert, globs
from dashboard.files.fields import Fields, Issue
from dashboard.files.schema.health import Health, Type, default_type, read_health
from dashboard.files.schema.service import Service, read_service

NAME, DESCRIPTION, NOTES = 80, 500, 8 << 10
TAGS, TAG, LINKS = 20, 40, 20
ThumbKind = Literal["auto", "favicon", "screenshot", "card"]


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Match:
    """How an app is recognised when its port moves; all given conditions must hold."""

    port: int | None = None
    cwd: str | None = None  # a glob of real paths
    process: str | None = None
    command: str | None = None  # a glob

    def fits_cwd(self, cwd: str) -> bool | None:
        """Whether the directory fits; like the next two methods, None when that is required but
        the fact is not known ("")."""
        if self.cwd is None:
            return True
        return globs.fits(self.cwd, cwd) if cwd else None

    def fits_process(self, *names: str) -> bool | None:
        """`names`: that of the program's file, and the one the process gives itself."""
        if self.process is None:
            return True
        return self.process in names if any(names) else None

    def fits_command(self, *argvs: Sequence[str]) -> bool | None:
        """`argvs`: the process's own arguments, and those of the wrapper that was typed."""
        if self.command is None:
            return True
        lines = [" ".join(argv) for argv in argvs if argv]
        return any(globs.fits(self.command, line) for line in lines) if lines else None

    @property
    def only_cwd(self) -> str | None:
        """The only directory that fits; None when there may be several."""
        return None if self.cwd is None else globs.literal(self.cwd)


@dataclass(frozen=True, slots=True)
class Thumb:
    kind: ThumbKind = "auto"
    url: str | None = None
    delay: float | None = None  # seconds after load
    dark: bool = False


@dataclass(frozen=True, slots=True)
class AppFile:
    name: str
    description: str | None = None
    icon: str | None = None
    color: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    order: float | None = None
    links: tuple[Link, ...] = ()
    docs: str | None = None
    url: str | None = None
    port: int | None = None
    host: str | None = None
    match: Match | None = None
    expected: convert.Expected = "sometimes"
    health: Health = field(default_factory=Health)
    service: Service | None = None
    thumb: Thumb = field(default_factory=Thumb)
    paused: bool = False
    notes: str | None = None

    @property
    def address(self) -> str | None:
        """The address that the user opens."""
        if self.url is not None or self.port is None:
            return self.url
        host = self.host or "localhost"
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"http://{host}:{self.port}/"

    @property
    def picture(self) -> str | None:
        """The icon when it is a picture: an address, or `file:` and a path below the dashboard's
        home."""
        icon = self.icon or ""
        return icon if icon.startswith(("http://", "https://", "file:")) else None

    @property
    def health_type(self) -> Type:
        return self.health.type or default_type(
            port=self.port,
            url=self.health.url or self.url,
            service=self.service is not None,
        )


def read_app(
    value: Mapping[str, Any], texts: Mapping[str, Any] | None = None, *, slug: str = ""
) -> tuple[AppFile, list[Issue]]:
    """The app and the issues of its mapping; the name defaults to the slug."""
    fields = Fields.of(value, texts)
    line = convert.text(NAME)
    app = AppFile(
        name=fields.text("name", line) or slug,
        description=fields.text("description", convert.lines(DESCRIPTION)),
        icon=fields.text("icon", convert.icon),
        color=fields.text("color", convert.color),
        group=fields.text("group", line),
        tags=fields.texts_of("tags", convert.text(TAG), most=TAGS),
        order=fields.read("order", convert.number),
        links=read_links(fields),
        docs=fields.text("docs", convert.web),
        url=fields.text("url", convert.web),
        port=fields.read("port", convert.port),
        host=fields.text("host", convert.host),
        match=_match(fields.table("match")),
        expected=fields.read("expected", convert.expected) or "sometimes",
        health=read_health(fields.table("health")),
        service=read_service(fields.table("service")),
        thumb=_thumb(fields.table("thumb")),
        paused=fields.read("paused", convert.flag) or False,
        notes=fields.text("notes", convert.prose(NOTES)),
    )
    fields.finish()
    return app, fields.issues


def read_links(fields: Fields) -> tuple[Link, ...]:
    links = []
    for row in fields.rows("links", most=LINKS):
        row.need("name")
        row.need("url")
        name, url = row.text("name", convert.text(NAME)), row.text("url", convert.web)
        row.finish()
        if name is not None and url is not None:
            links.append(Link(name, url))
    return tuple(links)


def _match(fields: Fields | None) -> Match | None:
    if fields is None:
        return None
    match = Match(
        port=fields.read("port", convert.port),
        cwd=fields.text("cwd", convert.path_glob),
        process=fields.text("process", convert.basename),
        command=fields.text("command", convert.text(4096)),
    )
    if all(fields.value.get(key) is None for key in ("port", "cwd", "process", "command")):
        fields.wrong("must have at least one of port, cwd, process and command")
    fields.finish()
    return match


def _thumb(fields: Fields | None) -> Thumb:
    if fields is None:
        return Thumb()
    kind: Callable[[str], ThumbKind] = convert.word("auto", "favicon", "screenshot", "card")
    thumb = Thumb(
        kind=fields.text("kind", kind) or "auto",
        url=fields.text("url", convert.web),
        delay=fields.read("delay", convert.duration("0s", "10s")),
        dark=fields.read("dark", convert.flag) or False,
    )
    fields.finish()
    return thumb
