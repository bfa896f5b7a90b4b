// How long a page draws before what is there is seen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pace } from "../../../templates/static/js/kit/pace.js";

test("what stands beside the thing itself leaves it most of the first frame", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  globalThis.requestAnimationFrame = () => {};
  const [thing, beside] = [pace(), pace({ first: 2 })];

  now = 4;

  assert.equal(thing(), undefined);
  assert.ok(beside());
});
