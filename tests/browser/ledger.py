"""A project whose commits hold every kind of change a page of diffs has to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.browser.commits import png
from tests.review.repos import Content, Repo
from tests.service import Service, until

CODE = [f"value_{n} = {n}" for n in range(1, 101)]
REFUND = 'existing = find(payment=payment).last()  # "one"'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="{}"/></svg>\n'
LONG = [f"line {n}" for n in range(1, 1102)]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def edited(changes: dict[int, str], lines: list[str] = CODE) -> str:
    return text([changes.get(n, line) for n, line in enumerate(lines, 1)])


BEFORE: dict[str, Content] = {
    "pay/refunds.py": edited({50: REFUND}),
    "pay/old_name.py": "a = 1\nb = 2\nc = 3\n",
    "pay/blanks.py": "if a:\n  b()\n  c()\nd()\n",
    "pay/gone.py": "gone()\n",
    "logo.png": png(12, 6),
    "icon.svg": SVG.format(4),
    "blob.bin": b"\0\1",
    "run.sh": "echo\n",
    "end.txt": "no end",
    "long.txt": text(LONG),
}
AFTER: dict[str, Content] = {
    "pay/refunds.py": edited({50: REFUND.replace("payment=payment", "key=key"), 90: "last = 90"}),
    "pay/blanks.py": "if a:\n    b()\n    c()\nd(\u202e1)\n",
    "pay/gone.py": None,
    "logo.png": png(20, 6),
    "blob.bin": b"\0\2",
    "end.txt": "no end\n",
    "empty.txt": "",
    "package-lock.json": "{}\n",
    "long.txt": text([f"{line} anew" for line in LONG]),
}


@dataclass
class Ledger:
    """Three commits from the bottom: `store`, `change` (of everything), `wide` (120 files)."""

    service: Service
    repo: Repo
    shas: dict[str, str] = field(default_factory=dict)
    slug: str = "ledger"

    def address(self, name: str = "change", hash_: str = "") -> str:
        return f"/review/p/{self.slug}/api/{self.shas[name]}{hash_}"

    def api(self, name: str = "change", below: str = "") -> str:
        return f"/review/api/projects/{self.slug}/repos/api/commits/{self.shas[name]}{below}"

    def get(self, name: str, below: str = "") -> Any:
        return self.service.http.get(self.api(name, below)).raise_for_status().json()

    def viewed(self, name: str = "change") -> list[str]:
        found: list[str] = self.get(name, "/review")["viewed"]
        return found

    def mark(self, name: str, path: str, viewed: bool = True) -> None:
        answer = self.service.http.put(
            self.api(name, "/viewed"), json={"path": path, "viewed": viewed}
        )
        answer.raise_for_status()

    def amend(self, name: str, files: dict[str, Content]) -> str:
        """Rewrite the head of the range; returns the sha that is gone."""
        gone = self.shas[name]
        self.shas[name] = self.repo.amend(files)
        self.until_listed(name)
        return gone

    def until_listed(self, name: str) -> None:
        until(lambda: self.service.http.get(self.api(name, "/pr")).status_code == 200, what=name)


def ledger(service: Service, folder: Path, slug: str = "ledger") -> Ledger:
    repo = Repo(folder)
    repo.commit(BEFORE, "Base")
    repo.branch("topic")
    made = Ledger(service, repo, slug=slug)
    stored: dict[str, Content] = {"pay/store.py": "store()\n", "icon.svg": SVG.format(3)}
    made.shas["store"] = repo.commit(stored, "Store refunds")
    (repo.path / "run.sh").chmod(0o755)
    repo.git("mv", "pay/old_name.py", "pay/new_name.py")
    made.shas["change"] = repo.commit(
        AFTER, "Make refunds idempotent", body="A key <b>says</b> so."
    )
    wide: dict[str, Content] = {f"d{n % 10}/f{n:03}.py": text(CODE[:30]) for n in range(120)}
    made.shas["wide"] = repo.commit(wide, "A hundred files and more")
    home = service.projects / slug
    home.mkdir(parents=True)
    stacks = [{"title": "refunds", "commits": [made.shas["store"], made.shas["change"]]}]
    entry = {"name": "api", "path": str(repo.path), "range": "main..topic"}
    entry |= {"stacks": [*stacks, {"title": "more", "follow_on": True}]}  # type: ignore[dict-item]
    (home / "project.yaml").write_text(yaml.safe_dump({"title": "Ledger", "repos": [entry]}))
    made.until_listed("change")
    return made
