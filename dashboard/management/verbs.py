"""What each verb of `manage.py dashboard` does, and what it shows people."""

from __future__ import annotations

import webbrowser
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dashboard.management.client import Body, Client, ServiceRefused
from dashboard.management.printing import pairs, plain, table, terminal

AT_ONCE = 8
RUNS = {"running", "starting", "backoff"}
WHOLE = {"ID", "APP", "ADDRESS"}  # columns whose values are typed or opened by the user
Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Output:
    """The answer for programs, the same for people, and the reason if it is not a success."""

    body: Any
    lines: list[str] = field(default_factory=list)
    failure: list[str] = field(default_factory=list)


def ls(client: Client, options: Options) -> Output:
    body = client.get("apps", **{name: options[name] for name in ("state", "tag", "source")})
    rows = [(a["state"], a["slug"], a["url"] or "-", _about(a)) for a in body["apps"]]
    lines = _table(("STATE", "APP", "ADDRESS", "ABOUT"), rows)
    counts = Counter(app["state"] for app in body["apps"])
    summary = ", ".join(f"{count} {state}" for state, count in counts.most_common()) or "No apps."
    return Output(body, [*lines, summary, *_file_errors(body["fileErrors"])])


def show(client: Client, options: Options) -> Output:
    app = client.get("apps", options["slug"])
    identity, service = app["identity"] or {}, app["service"] or {}
    process, git = identity.get("process") or {}, identity.get("git") or {}
    uptime = [f"{span} {share:.2%}" for span, share in app["uptime"].items() if share is not None]
    rows = (
        ("app", f"{app['name']} ({app['slug']}, {app['source']})"),
        ("state", _state(app)),
        ("since", app["since"]),
        ("address", app["url"]),
        ("directory", identity.get("cwd")),
        ("branch", git.get("branch")),
        ("process", f"{process['name']} (pid {process['pid']})" if process else None),
        ("service", service.get("status")),
        ("uptime", ", ".join(uptime)),
        ("tags", ", ".join(app["tags"])),
        ("etag", app["etag"]),
    )
    return Output(app, [*pairs(rows), *_file_errors(app["fileErrors"])])


def act(client: Client, options: Options) -> Output:
    """start, stop or restart of one app; stop of all."""
    if options.get("all"):
        return _stop_all(client)
    return _act(client, options["slug"], options["verb"])


def claim(client: Client, options: Options) -> Output:
    body = {key: options[key] for key in ("slug", "name", "expected") if options[key]}
    app = client.post("observed", options["id"], "claim", body=body)
    return Output(app, [f"{app['slug']} is declared in apps/{app['slug']}.yaml"])


def ignore(client: Client, options: Options) -> Output:
    body = {key: options[key] for key in ("by", "reason") if options[key]}
    answer = client.post("observed", options["id"], "ignore", body=body)
    rule = ", ".join(f"{key} {answer['rule'][key]}" for key in ("port", "process", "dir")
                     if key in answer["rule"])  # fmt: skip
    return Output(answer, [plain(f"{answer['file']} ignores {rule}")])


def scan(client: Client, options: Options) -> Output:
    """Scan, then list what no file declares, with the ids that claim and ignore expect."""
    body = client.post("scan")
    found = [one for one in client.get("observed")["observed"] if not one["hidden"]]
    rows = [(one["id"], one["port"], *_who(one)) for one in found]
    head = ("ID", "PORT", "PROCESS", "DIRECTORY", "TITLE")
    return Output(body, _table(head, rows) or ["Nothing new is listening."])


def lost(client: Client, options: Options) -> Output:
    what, item = options["what"], options["id"]
    if what is None:
        return _lost_output(client.get("lost"))
    if what == "dismiss":
        path = ("lost", item, "dismiss") if item else ("lost", "dismiss")
        return _lost_output(client.post(*path))
    body = {"slug": options["slug"]} if options["slug"] else {}
    answer = client.post("lost", item, what, body=body)
    if answer["ok"]:
        return Output(answer, [plain(f"{answer['slug'] or item} is {answer['state']}")])
    return Output(answer, failure=[plain(f"{item}: {answer['reason']}"), *_log(answer)])


def rm(client: Client, options: Options) -> Output:
    stop = "true" if options["stop"] else None
    answer = client.call("DELETE", "apps", options["slug"], stop=stop)
    return Output(answer, [f"{options['slug']} is in {answer['removed']}"])


def open_page(client: Client, options: Options) -> Output:
    app = client.get("apps", options["slug"])
    url = app["url"]
    if not url:
        raise ServiceRefused(
            {"error": f'App "{app["slug"]}" has no address.', "code": "no_address"}
        )
    answer = {"url": url, "opened": webbrowser.open(url)}
    if answer["opened"]:
        return Output(answer, [plain(url)])
    return Output(answer, failure=[plain(f"No browser could be started; the address is {url}")])


VERBS: dict[str, Callable[[Client, Options], Output]] = {
    "ls": ls, "show": show, "start": act, "stop": act, "restart": act, "claim": claim,
    "ignore": ignore, "scan": scan, "lost": lost, "rm": rm, "open": open_page,
}  # fmt: skip


def _act(client: Client, slug: str, action: str) -> Output:
    answer = client.post("apps", slug, "service", action)
    pid = f" (pid {answer['pid']})" if answer["pid"] else ""
    if answer["ok"]:
        already = "already " if answer["already"] else ""
        return Output(answer, [f"{slug} is {already}{answer['status']}{pid}"])
    why = answer.get("message") or answer["reason"] or answer["status"]
    return Output(answer, failure=[plain(f"{slug} did not {action}: {why}"), *_log(answer)])


def _stop_all(client: Client) -> Output:
    """Stop every running service, several at once, as each may take its stopTimeout."""
    apps = client.get("apps")["apps"]
    slugs = [app["slug"] for app in apps if (app["service"] or {}).get("status") in RUNS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        every = list(pool.map(lambda slug: _stop(client, slug), slugs))
    return Output(
        {"stopped": {slug: one.body for slug, one in zip(slugs, every, strict=True)}},
        [line for one in every for line in one.lines] or ["No service runs."],
        [line for one in every for line in one.failure],
    )


def _stop(client: Client, slug: str) -> Output:
    """Stop one service; a refusal does not keep the others from being stopped."""
    try:
        return _act(client, slug, "stop")
    except ServiceRefused as refused:
        return Output(refused.body, failure=[f"{slug}: {refused}"])


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    """A table that fits the terminal; values that users type or open are never cut."""
    return table(head, rows, width=terminal(), whole=WHOLE) if rows else []


def _lost_output(body: Body) -> Output:
    items = (body["lost"] or {}).get("items", [])
    rows = [(one["id"], one["name"], one["port"], one["blocked"] or one["status"], one["cwd"])
            for one in items]  # fmt: skip
    head = ("ID", "NAME", "PORT", "STATUS", "DIRECTORY")
    return Output(body, _table(head, rows) or ["Nothing is lost."])


def _about(app: Body) -> str:
    return app["message"] or (app["name"] if app["name"] != app["slug"] else "")


def _state(app: Body) -> str:
    details = ", ".join(part for part in (app["reason"], app["message"]) if part)
    return f"{app['state']} ({details})" if details else app["state"]


def _who(one: Body) -> tuple[str, str, str]:
    identity = one["identity"] or {}
    process = identity.get("process") or {}
    return process.get("name") or "-", identity.get("cwd") or "-", identity.get("title") or "-"


def _file_errors(errors: Iterable[Body]) -> list[str]:
    """One line per error, as compilers print theirs."""
    return [
        plain(f"{one['level']}: {one['file']}:{one['line'] or 1}: {one['message']}")
        for one in errors
    ]


def _log(answer: Body) -> list[str]:
    return [f"  {plain(line)}" for line in answer["log"]]
