"""A project of two stacks on a real repository, as the pages of review show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx
import yaml

from tests.review.places import put
from tests.review.repos import Repo
from tests.service import Service, until

LINES = "".join(f"line {n}\n" for n in range(1, 21))


@dataclass
class Stacked:
    """Project `slug`: `refunds` (two commits) and the follow-on `payouts` (one), `landed` below."""

    service: Service
    slug: str
    repo: Repo
    shas: dict[str, str] = field(default_factory=dict)

    @property
    def page(self) -> str:
        return f"/review/p/{self.slug}"

    @property
    def file(self) -> Any:
        return self.service.projects / self.slug / "project.yaml"

    def c(self, name: str, below: str = "") -> str:
        sha = self.shas.get(name, name)
        return f"/review/api/projects/{self.slug}/repos/app/commits/{sha}{below}"

    def commit_page(self, name: str) -> str:
        return f"{self.page}/app/{self.shas[name]}"

    def send(self, method: str, path: str, /, **body: Any) -> dict[str, Any]:
        answer = self.service.http.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def get(self, below: str = "") -> dict[str, Any]:
        found: dict[str, Any] = self.service.http.get(
            f"/review/api/projects/{self.slug}{below}"
        ).json()
        return found

    def thread(self, name: str, body: str, /, **place: Any) -> str:
        return str(self.send("POST", self.c(name, "/threads"), body=body, **place)["id"])

    def write(self, **keys: Any) -> None:
        """project.yaml as its owner writes it; what `keys` name in place of the usual."""
        stacks = [
            {
                "title": "Refunds",
                "description": "Read from the *bottom*.",
                "commits": [self.shas[name] for name in ("landed", "money", "store")],
            },
            {"title": "Payouts", "follow_on": True, "commits": [self.shas["payout"]]},
        ]
        text = {
            "title": "Refunds and payouts",
            "description": "Why this exists.",
            "repos": [
                {
                    "name": "app",
                    "path": str(self.repo.path),
                    "range": f"{self.shas['start']}..feature",
                    "trunk": "main",
                    "stacks": stacks,
                }
            ],
        }
        put(self.file, yaml.safe_dump(text | keys, sort_keys=False).encode())


def stacked(service: Service, slug: str) -> Stacked:
    """The project on disk and seen by the service."""
    repo = Repo(service.home / "code" / slug)
    made = Stacked(service, slug, repo)

    def commit(name: str, subject: str, files: dict[str, str]) -> None:
        repo.commit(files, subject)
        made.shas[name] = repo.sha("HEAD")

    commit("start", "Start", {"pay.py": LINES})
    repo.branch("feature")
    commit("landed", "Name currencies", {"currency.py": LINES})
    repo.git("branch", "-f", "main", "HEAD")
    commit("money", "Extract Money", {"money.py": LINES, "pay.py": LINES + "more\n"})
    repo.git("branch", "refunds/money")
    commit("store", "Store refunds", {"store.py": LINES})
    commit("payout", "Schedule payouts", {"payout.py": LINES})
    made.write()
    until(lambda: _listed(made), what="the project is listed")
    return made


def _listed(made: Stacked) -> bool:
    answer: httpx.Response = made.service.http.get(f"/review/api/projects/{made.slug}")
    return answer.status_code == 200 and bool(answer.json()["repos"])
