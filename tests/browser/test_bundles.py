"""The modules of a page as one do what they do one by one."""

from __future__ import annotations

from playwright.sync_api import Page, Route

from config.web import bundles
from tests.service import Service

FILES = {
    "js/page.js": """import "./kit/first.js";
import {
  count as counted,
  Kind,
} from "./kit/count.js";
import * as words from "./words.js";
import { again } from "./words.js";

told.push("page", counted(2), new Kind().name, words.said, words.again === again, String(this));
""",
    "js/kit/first.js": 'told.push("first");\nexport {};\n',
    "js/kit/count.js": """import { said } from "../words.js";

told.push("count", typeof later, typeof all);
const own = 6;
export const SIX = own;
export function count(n) {
  return `${n * SIX} ${said}`;
}
export class Kind {
  name = "kind";
}
export async function later() {}
export function* all() {}
""",
    "js/words.js": """told.push(new URL("./near.js", import.meta.url).pathname);
export const said = "words";
const own = 7;
function again() {
  return own;
}
export { again };
""",
}


def told(page: Page, site: str, script: str) -> object:
    """What the modules say that a page with this script runs."""
    page.goto(f"{site}/?{script}")
    return page.evaluate("told")


def test_modules_run_as_one_as_they_do_one_by_one(page: Page, shared_service: Service) -> None:
    site, name = f"{shared_service.url}/joined", "page/js/page.js"
    whole = bundles.script(name, ["js/page.js"], FILES.__getitem__).text
    served = {**FILES, name: whole}

    def serve(route: Route) -> None:
        path, _, script = route.request.url.removeprefix(f"{site}/").partition("?")
        if not path:
            tag = f'<script type="module" src="{site}/{script}"></script>'
            route.fulfill(content_type="text/html", body=f"<script>told = []</script>{tag}")
        else:
            route.fulfill(content_type="text/javascript", body=served[path])

    page.route(f"{site}/**", serve)

    one_by_one = told(page, site, "js/page.js")

    assert one_by_one == [
        *("first", "/joined/js/near.js", "count", "function", "function", "page"),
        *("12 words", "kind", "words", True, "undefined"),
    ]
    assert told(page, site, name) == one_by_one
