import assert from "node:assert/strict";
import { test } from "node:test";

import {
  extent,
  hunksOf,
  linesOf,
  rowsOf,
  section,
  lacksFinalNewline,
  withoutBlanks,
} from "../../../templates/static/js/review/diff/model.js";

const gaps = (hunks) => hunks.map(({ gap }) => gap.count);

test("a last newline ends a line and begins no other", () => {
  assert.deepEqual(linesOf("a\nb\n"), ["a", "b"]);
  assert.deepEqual(linesOf("a\n\n"), ["a", ""]);
  assert.deepEqual(linesOf(""), []);
  assert.deepEqual(
    [lacksFinalNewline("a"), lacksFinalNewline("a\n"), lacksFinalNewline("")],
    [true, false, false],
  );
});

test("three lines stand around a change, and the rest is folded away", () => {
  const hunks = hunksOf([[10, 1, 10, 2]], 41);
  assert.deepEqual(gaps(hunks), [6, 27]);
  assert.deepEqual(extent(hunks[0].parts), { old: 7, oldCount: 7, new: 7, newCount: 8 });
});

test("changes that are near share a hunk, and one line is not folded away", () => {
  assert.deepEqual(
    gaps(
      hunksOf(
        [
          [5, 1, 5, 1],
          [12, 1, 12, 1],
        ],
        16,
      ),
    ),
    [0, 0],
  );
});

test("a new file is one hunk without anything around it", () => {
  const hunks = hunksOf([[0, 0, 1, 3]], 3);
  const rows = hunks.flatMap(({ parts }) => parts.flatMap((part) => [...rowsOf(part, false, [])]));
  assert.deepEqual(
    rows.map((row) => [row.kind, row.old, row.new]),
    [
      ["add", 0, 1],
      ["add", 0, 2],
      ["add", 0, 3],
    ],
  );
});

test("side by side the shorter side of a change has no lines at its end", () => {
  const part = { same: false, old: 4, oldCount: 2, new: 4, newCount: 1 };
  const rows = [...rowsOf(part, true, [[0, 0]])];
  assert.deepEqual(
    rows.map((row) => [row.old, row.new, Boolean(row.twin.old)]),
    [
      [4, 4, true],
      [5, 0, false],
    ],
  );
});

test("a change of white space alone is no change where blanks are left out", () => {
  const old = ["a", "  b", "c", "d"];
  const fresh = ["a", "    b", "c", "e"];
  assert.deepEqual(withoutBlanks([[2, 1, 2, 1]], old, fresh), []);
  assert.deepEqual(withoutBlanks([[2, 3, 2, 3]], old, fresh), [[4, 1, 4, 1]]);
  assert.deepEqual(withoutBlanks([[1, 2, 1, 3]], ["x", "b"], ["x", "y", " b"]), [[1, 0, 2, 1]]);
});

test("a hunk is named by the last line above it that begins with a name", () => {
  const lines = ["def f():", "    one", "", "    two", "    three"];
  assert.equal(section(lines, 5), "def f():");
  assert.equal(section(["  only", "  indented"], 2), "");
});
