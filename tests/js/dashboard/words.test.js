import assert from "node:assert/strict";
import { test } from "node:test";

import { lineOf, faultsOf } from "../../../templates/static/js/dashboard/drawer/faulty.js";
import {
  percent,
  safe,
  stateWords,
  shortly,
} from "../../../templates/static/js/dashboard/words.js";

test("a state is said with its reason, once", () => {
  assert.equal(stateWords({ state: "down", reason: "refused" }), "Down: connection refused");
  assert.equal(stateWords({ state: "up", last: { ok: true, ms: 6.2 } }), "Up, 6 ms");
  assert.equal(stateWords({ state: "down", message: "down for good" }), "Down for good");
  assert.equal(stateWords({ state: "stopped", reason: "not-running" }), "Stopped");
  assert.equal(stateWords({ state: "down", reason: "not-running" }), "Down: not running");
  assert.equal(
    stateWords({ state: "up", unexpected: true, flapping: true }),
    ["Up: should not run, keeps going up and down"][0],
  );
});

test("a share is never rounded up to all", () => {
  assert.deepEqual([0.9999, 1, 0.989, null].map(percent), ["99.9 %", "100.0 %", "98.9 %", ""]);
});

test("only an address that leads somewhere is a link", () => {
  const addresses = ["https://a.example", "FILE:///x", "javascript:alert(1)", "data:,x", undefined];
  assert.deepEqual(
    addresses.map((url) => safe(url) !== null),
    [true, true, false, false, false],
  );
  assert.equal(shortly("http://localhost:5173/docs/"), "localhost:5173/docs");
});

const FILE = "name: Tide\nhealth:\n  interval: 1m\n  'path': /up\nlinks:\n  - url: x\n";

test("a mistake is found at its line, or at the nearest key that is there", () => {
  assert.equal(lineOf("health.interval", FILE), 3);
  assert.equal(lineOf("health.path", FILE), 4);
  assert.equal(lineOf("links[0].url", FILE), 6);
  assert.equal(lineOf("health.missing", FILE), 2);
  assert.equal(lineOf("nothing", FILE), null);
});

test("every mistake of a refusal is told with its line", () => {
  const issues = [
    { path: "name", message: "is too long" },
    { path: "text", message: "is no YAML" },
  ];
  assert.deepEqual(faultsOf({ body: { issues, line: 9 } }, FILE), [
    { line: 9, message: "name: is too long" },
    { line: null, message: "is no YAML" },
  ]);
  assert.deepEqual(faultsOf({ message: "Gone." }, FILE), [{ line: null, message: "Gone." }]);
});
