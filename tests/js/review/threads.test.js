import assert from "node:assert/strict";
import { test } from "node:test";

import {
  following,
  fromTop,
  isAnswered,
} from "../../../templates/static/js/review/threads/order.js";
import {
  address,
  beginning,
  initials,
  isAgent,
  lines,
  sideOf,
  standing,
  quoteCaption,
} from "../../../templates/static/js/review/threads/words.js";

const THREAD = { path: "pay.py", original_path: "pay.py", original_line: 6, line: 6 };

test("a thread says where it stands and by which rule", () => {
  const told = (placement, more) => standing({ ...THREAD, placement, ...more });
  assert.equal(told("exact"), "line 6");
  assert.equal(told("exact", { side: "old" }), "line 6 of the old text");
  assert.equal(told("moved", { line: 9 }), "line 9, moved from line 6");
  assert.equal(told("moved"), "line 6");
  assert.equal(told("text", { line: 8 }), "line 8, found again by its text, was line 6");
  assert.equal(told("nearest", { original_start_line: 4 }), "The lines were rewritten");
  assert.equal(told("none"), "pay.py is no longer in this commit");
  assert.equal(told("exact", { original_path: "old.py" }), "line 6, from old.py");
});

test("the old side may be spelled in several ways", () => {
  assert.deepEqual(
    ["left", "OLD", "base", "right", undefined].map((side) => sideOf({ side })),
    ["LEFT", "LEFT", "LEFT", "RIGHT", "RIGHT"],
  );
});

test("one line and several have their words", () => {
  assert.deepEqual([lines(6), lines(6, 6), lines(6, 4)], ["line 6", "line 6", "lines 4–6"]);
  assert.equal(address({ path: "a.py", line: 3 }), "a.py:3");
  assert.equal(address({}), "The whole commit");
  assert.equal(
    quoteCaption({ original_line: 6, original_commit: "abcdef0123" }),
    "Written about line 6 of abcdef0",
  );
});

test("people have initials, agents are known by their name", () => {
  assert.deepEqual(["Mara Kjær", "noor", "a b c", "", null].map(initials), [
    ...["MK", "N", "AC", "?", "?"],
  ]);
  assert.deepEqual(["agent", "Agent Smith", "agency", null].map(isAgent), [
    ...[true, true, false, false],
  ]);
});

test("a list shows the first words, without marks", () => {
  assert.equal(beginning("## A **bold**\n  word"), "A bold word");
  assert.equal(beginning("x".repeat(100)).length, 80);
});

test("after an answered thread was resolved the walk goes on to the next one", () => {
  const thread = (id, state, resolved = false) => ({ id, state, resolved });
  const all = [
    thread("a", "answered"),
    thread("b", "resolved", true),
    thread("c", "open"),
    thread("d", "answered", true), // resolved here, not yet told by the service
    thread("e", "answered"),
  ];
  const next = (current) =>
    following(
      all,
      all.find(({ id }) => id === current),
      isAnswered,
    )?.id;

  assert.deepEqual(["b", "c", "d", "e", "a", null, "gone"].map(next), [
    ...["e", "e", "e", "a", "e", "a", "a"],
  ]);
  assert.equal(following(all.slice(1, 3), all[1], isAnswered), null);
});

test("threads stand in the order of the files and of their lines, what is of no file first", () => {
  const at = (id, path, line) => ({ id, path, line });
  const threads = [
    at(1, "b.py", 2),
    at(2, "a.py", 9),
    at(3, null, null),
    at(4, "a.py", null),
    at(5, "gone.py", 1),
    at(6, "a.py", 9),
  ];
  const ids = fromTop(threads, ["a.py", "b.py"]).map(({ id }) => id);
  assert.deepEqual(ids, [3, 5, 4, 2, 6, 1]);
});
