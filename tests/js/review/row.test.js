import assert from "node:assert/strict";
import { test } from "node:test";

document.body.dataset.base = "";
globalThis.location = /** @type {Location} */ (new URL("http://localhost/"));
document.body.innerHTML = "<div id=bars></div><span id=live></span><div id=toasts></div>";
const { projectRow } = await import("../../../templates/static/js/review/projects/row.js");

const PROJECT = { slug: "pay", title: "Pay", repos: ["api"], repoCount: 1, unreadable: [] };
const GONE = { repo: "api", error: "No such directory: /src/api" };

test("a repository that is gone is said to be, with a way out, and not to have no commits", () => {
  const row = projectRow({ ...PROJECT, commitCount: 0, unreadable: [GONE] });

  assert.match(row.textContent, /No such directory: \/src\/api\./);
  assert.doesNotMatch(row.textContent, /0 commits/);
  assert.equal(row.querySelector(".banner a").getAttribute("href"), "/p/pay");
  assert.match(projectRow({ ...PROJECT, commitCount: 0 }).textContent, /0 commits/);
});
