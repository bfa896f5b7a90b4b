import assert from "node:assert/strict";
import { test } from "node:test";

import { compare } from "../../../templates/static/js/workspace/chat/edits.js";
import { linesOf, near } from "../../../templates/static/js/workspace/project/doubt.js";

test("of a file that waits the changed lines are shown with the keys that they stand under", () => {
  const nightly = (word) => ["  nightly:", "    run:", "      prompt: |", `        ${word}`];
  const rest = ["    a: 1", "    b: 2", "    c: 3", "    d: 4"];
  const old = ["triggers:", "  hourly:", ...rest, ...nightly("one"), ...rest];
  const now = ["triggers:", "  hourly:", ...rest, ...nightly("two"), ...rest];

  assert.deepEqual(
    near(compare(old, now)).map(([sign, text]) => sign + text),
    [
      ...[" triggers:", "@", "   nightly:", "     run:", "       prompt: |"],
      ...["-        one", "+        two", "     a: 1", "     b: 2", "@"],
    ],
  );
});

test("a file that nobody would read to its end is not shown to be followed", () => {
  const after = (count) => `x: |\n${"  line\n".repeat(count)}`;
  assert.equal(linesOf([{ key: "x", before: null, after: after(300_000) }]), null);
  assert.equal(linesOf([{ key: "x", before: null, after: after(3999) }]).length, 4000);
});
