import assert from "node:assert/strict";
import { test } from "node:test";

import { compare } from "../../../templates/static/js/workspace/chat/edits.js";
import { near } from "../../../templates/static/js/workspace/project/doubt.js";

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
