import assert from "node:assert/strict";
import { test } from "node:test";

import { pairs, wordMarks } from "../../../templates/static/js/review/diff/words.js";

/** The words that are marked, on either side. */
function marked(old, fresh) {
  const marks = wordMarks(old, fresh);
  const cut = (line, side) => side.map(([start, end]) => line.slice(start, end));
  return marks && [cut(old, marks[0]), cut(fresh, marks[1])];
}

test("the words that differ are marked, as whole words", () => {
  assert.deepEqual(marked("total = price * count", "total = price * counted"), [
    ["count"],
    ["counted"],
  ]);
  assert.deepEqual(marked("return a", "return a, b"), [[], [", b"]]);
});

test("neighbours become one mark", () => {
  assert.deepEqual(marked("keep this and one two three here", "keep this and four five here"), [
    ["one two three"],
    ["four five"],
  ]);
});

test("lines with too little in common have no marks", () => {
  assert.equal(marked("import os", "return False, None"), null);
  assert.equal(marked("x".repeat(1001), "x".repeat(1001)), null);
});

test("a changed indent is marked only when nothing else differs", () => {
  assert.deepEqual(marked("  return total", "    return totals"), [["total"], ["totals"]]);
  assert.deepEqual(marked("  return total", "    return total"), [["  "], ["    "]]);
});

test("letters of any script are words", () => {
  assert.deepEqual(marked("name = 'größe alt'", "name = 'größen alt'"), [["größe"], ["größen"]]);
});

test("as many old as new lines stand for each other in order", () => {
  assert.deepEqual(pairs(["a", "b"], ["c", "d"]), [
    [0, 0],
    [1, 1],
  ]);
});

test("of more new lines than old ones the likest stands for the old one", () => {
  assert.deepEqual(pairs(["total = price"], ["# a comment", "total = price * 2"]), [[0, 1]]);
  assert.deepEqual(pairs(["one two", "three four"], ["three four five"]), [[1, 0]]);
});

test("a very large change is paired line by line, without a search", () => {
  const many = Array.from({ length: 400 }, (_, n) => `line ${n}`);
  assert.equal(pairs(many, [...many, "more"]).length, 400);
});
