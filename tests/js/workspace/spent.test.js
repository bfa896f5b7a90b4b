import assert from "node:assert/strict";
import { test } from "node:test";

import {
  dollars,
  facts,
  fullness,
  short,
} from "../../../templates/static/js/workspace/chat/spent.js";
import { progress, todosOf } from "../../../templates/static/js/workspace/chat/todos.js";

test("costs and counts are short and never rounded to nothing", () => {
  const costs = [0, 0.00001, 0.0012, 0.0123, 0.126, 3.4].map(dollars);
  assert.deepEqual(costs, ["$0.00", "under $0.0001", "$0.0012", "$0.012", "$0.13", "$3.40"]);
  const counts = [980, 9999, 12345, 100000, 999_499, 999_900, 1234567].map(short);
  assert.deepEqual(counts, ["980", "9,999", "12.3k", "100k", "999k", "1M", "1.2M"]);
});

test("what no engine reported is not shown", () => {
  assert.deepEqual(facts({ usage: null, cost: null }), []);
  assert.deepEqual(facts({ usage: { totalTokens: 15 }, cost: 0.5 }), ["15 tokens", "$0.50"]);
  assert.equal(fullness({ used: 9, limit: null }), null);
  assert.equal(fullness(null), null);
});

test("a list is one only when it was written and is one", () => {
  const todos = [{ content: "a", status: "completed" }, { content: "b" }, { status: "pending" }];
  const list = todosOf({ name: "TodoWrite", ok: true, input: { todos } });
  assert.equal(progress(list), "1 of 2 done");
  for (const call of [
    { name: "TodoWrite", ok: false, input: { todos } },
    { name: "TodoWrite", ok: true, input: { todos: "a" } },
    { name: "TodoWrite", ok: true, input: null },
    { name: "Bash", ok: true, input: { todos } },
  ])
    assert.equal(todosOf(call), null);
});
