import assert from "node:assert/strict";
import { test } from "node:test";

import { rowsOf } from "../../../templates/static/js/review/interdiff.js";

// What git says of two versions of a commit.
const RANGE = `1:  4ce20d5 ! 1:  9be3085 Store refunds
    @@ Metadata
     Author: N <a@b.c>

      ## Commit message ##
    -    Store refunds
    +    Store refunds beside payments

      ## pay.py ##
     @@
      total = 1
    -+count = 2
    ++count = 3
`;

const told = (rows) => rows.map(({ kind, sign, inner, text }) => [kind, sign, inner, text]);

test("the first sign says what happened to a line, the second what the patch does", () => {
  const rows = told(rowsOf(RANGE, { files: true }));
  assert.deepEqual(rows.slice(-2), [
    ["del", "-", "+", "count = 2"],
    ["add", "+", "+", "count = 3"],
  ]);
});

test("what is said of the message is left out where only files are wanted", () => {
  const files = rowsOf(RANGE, { files: true }).map(({ text }) => text);
  const all = rowsOf(RANGE).map(({ text }) => text);
  assert.ok(!files.some((text) => text.includes("beside payments")));
  assert.ok(all.some((text) => text.includes("beside payments")));
});

test("a heading without a changed line below it is left out", () => {
  assert.deepEqual(rowsOf("1:  1111111 = 1:  2222222 Same\n    @@ a.py\n      same\n"), []);
  assert.deepEqual(rowsOf(""), []);
});
