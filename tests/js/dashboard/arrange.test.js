import assert from "node:assert/strict";
import { test } from "node:test";

import {
  arrange,
  holdApps,
  placeApps,
  sortApps,
} from "../../../templates/static/js/dashboard/grid/arrange.js";

const app = (slug, more) => ({ slug, name: slug, source: "declared", state: "up", ...more });
const told = (sections) => sections.map(({ title, slugs }) => [title, ...slugs]);
const of = (...slugs) => [{ key: "declared", title: "Apps", slugs }];

test("what needs attention stands first, then groups, then the rest, then what was found", () => {
  const apps = [
    ...[app("found", { source: "observed", state: "down" }), app("plain")],
    ...[app("b2", { group: "Web" }), app("b10", { group: "Web" }), app("a1", { group: "API" })],
    ...[app("broken", { state: "down", group: "Web" }), app("rogue", { unexpected: true })],
  ];
  assert.deepEqual(told(arrange(apps)), [
    ["Needs attention", "broken", "rogue"],
    ["API", "a1"],
    ["Web", "b2", "b10"],
    ["Other apps", "plain"],
    ["Found running", "found"],
  ]);
});

test("an order of one's own goes before the name", () => {
  const apps = [app("a"), app("b", { order: 2 }), app("c", { order: 1 })];
  assert.deepEqual(told(arrange(apps)), [["Apps", "c", "b", "a"]]);
});

test("a column sorts, and what has no value stands last either way", () => {
  const apps = [
    ...[app("slow", { last: { ms: 90 } }), app("none"), app("quick", { last: { ms: 7 } })],
    app("none2"),
  ];
  const slugs = (down) => sortApps(apps, { column: "latency", down })[0].slugs;
  assert.deepEqual(slugs(false), ["quick", "slow", "none", "none2"]);
  assert.deepEqual(slugs(true), ["slow", "quick", "none", "none2"]);
  assert.deepEqual(sortApps([], { column: "name", down: false }), []);
});

test("what goes leaves a gap, which the next one that comes takes", () => {
  const gone = placeApps(of("a", "b", "c"), of("a", "c"));
  assert.deepEqual(gone[0].slugs, ["a", "", "c"]);
  assert.deepEqual(placeApps(gone, of("a", "c", "new"))[0].slugs, ["a", "new", "c"]);
  assert.deepEqual(placeApps(gone, of("a", "c"), { gaps: false })[0].slugs, ["a", "c"]);
  assert.deepEqual(placeApps(of("a", "b"), of("a"))[0].slugs, ["a"]);
});

test("while someone is busy nothing comes or moves, and both are counted", () => {
  const other = { key: "attention", title: "Needs attention", slugs: ["b"] };
  const { sections, added, moved } = holdApps(of("a", "b", "c"), [other, ...of("a", "new")]);
  assert.deepEqual(told(sections), [["Apps", "a", "b", ""]]);
  assert.deepEqual([added, moved], [1, 1]);
});
