import assert from "node:assert/strict";
import { test } from "node:test";

import { bar24, meter, plusMinus, sparkline } from "../../../templates/static/js/kit/bars.js";

const label = (node) => node.getAttribute("aria-label");

test("drawings say in words what they show", () => {
  assert.equal(
    label(bar24("uugds-")),
    "Last 24 hours: 8 h up, 4 h degraded, 4 h down, 4 h stopped",
  );
  assert.equal(
    label(sparkline([1, null, 3], { failures: [1], poor: [2] })),
    "Latency of the last 3 checks, 1 failed, 1 answered badly",
  );
  assert.equal(label(meter(3, 7, "3 of 7 viewed")), "3 of 7 viewed");
  assert.equal(label(bar24("")), "Last 24 hours: nothing known");
});

test("an hour that is not known leaves a gap", () => {
  const bars = [...bar24("u-d").querySelectorAll("rect")];
  assert.deepEqual(
    bars.map((bar) => [bar.getAttribute("class"), bar.getAttribute("x")]),
    [
      ["u", "0"],
      ["d", "6"],
    ],
  );
});

test("a check that has no answer breaks the line", () => {
  const line = sparkline([1, null, 3, 4]).querySelector("path").getAttribute("d");
  assert.equal(line.match(/M/g).length, 2);
});

test("drawings need no style attribute", () => {
  for (const node of [bar24("ud"), meter(1, 2), sparkline([1, 2]), plusMinus(3, 4)])
    assert.equal(node.querySelector("[style]"), null);
});

test("a change is told by what came and went", () => {
  const told = (added, removed) => plusMinus(added, removed).textContent;
  assert.deepEqual(
    [told(1280, 41), told(2, 0), told(0, 3), told(0, 0)],
    ["+1,280−41", "+2", "−3", "+0"],
  );
});
