import assert from "node:assert/strict";
import { test } from "node:test";

import { changeOf, compare } from "../../../templates/static/js/workspace/chat/edits.js";

const signs = (lines) => lines.map(([sign, text]) => sign + text);

test("the shortest way from one text to the other is shown", () => {
  assert.deepEqual(signs(compare(["a", "b", "c", "d"], ["a", "c", "x", "d"])), [
    ...[" a", "-b", " c", "+x", " d"],
  ]);
  assert.deepEqual(signs(compare([], ["a"])), ["+a"]);
  assert.deepEqual(signs(compare(["a"], ["a"])), [" a"]);
});

test("a very long change is all that went, then all that came", () => {
  const old = Array.from({ length: 500 }, (_, n) => `old ${n}`);
  const lines = compare([...old, "same"], ["new", "same"]);
  assert.deepEqual(signs(lines.slice(-3)), ["-old 499", "+new", " same"]);
});

test("several edits of one file are told as one change", () => {
  const edits = [
    { old_string: "a\n", new_string: "b\n" },
    { old_string: "", new_string: "c" },
  ];
  const { added, removed, lines } = changeOf({
    name: "MultiEdit",
    input: { file_path: "x.py", edits },
  });
  assert.deepEqual([added, removed], [2, 1]);
  assert.deepEqual(signs(lines), ["-a", "+b", "@", "+c"]);
});

test("a written file is all new, and another call changes no file", () => {
  const call = { name: "Write", input: { file_path: "x.py", content: "a\nb\n" } };
  assert.deepEqual(signs(changeOf(call).lines), ["+a", "+b"]);
  assert.equal(changeOf({ name: "Read", input: { file_path: "x.py" } }), null);
  assert.equal(changeOf({ name: "Edit", input: { file_path: "x.py", old_string: 1 } }), null);
});
