import assert from "node:assert/strict";
import { test } from "node:test";

document.body.dataset.base = "/review";
document.body.dataset.project = "p";
globalThis.location = /** @type {Location} */ (new URL("http://localhost/review/p/p/r/abcd"));
const { commitAt, namedBy } = await import("../../../templates/static/js/review/address.js");

const at = (path) => commitAt(new URL(path, location.href));

test("an address names a commit of the project, and a place of it", () => {
  const named = { repo: "a b", sha: "0123abc", hash: "#f.py:L3" };
  assert.deepEqual(at("/review/p/p/a%20b/0123abc#f.py:L3"), named);
});

test("anything else is no commit of it", () => {
  for (const path of ["/review/p/q/r/abcd", "/review/p/p/r", "/review/p/p/r/abcd/more"])
    assert.equal(at(path), null);
  assert.equal(at("http://elsewhere/review/p/p/r/abcd"), null);
});

test("an address with a broken % is left to the service", () => {
  for (const path of ["/review/p/p/100%/abcd", "/review/p/p/%ff/abcd", "/review/p/p/r/abc%"])
    assert.equal(at(path), null);
});

test("a hash names a file, a line or a thread", () => {
  assert.equal(namedBy("#a%20b/f.py:L3"), "a b/f.py:L3");
  assert.equal(namedBy("#thread-t-1"), "thread-t-1");
  assert.equal(namedBy(""), "");
});

test("a hash with a broken % names nothing", () => {
  for (const hash of ["#%E0%A4", "#100%", "#thread-%ff", "#%"]) assert.equal(namedBy(hash), "");
});
