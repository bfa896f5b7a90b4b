import assert from "node:assert/strict";
import { test } from "node:test";

import { alignedLines } from "../../../templates/static/js/dashboard/conflict.js";
import { mapping } from "../../../templates/static/js/dashboard/forms/app.js";
import { each, patchOf } from "../../../templates/static/js/dashboard/forms/bulk.js";

test("what is left empty in the form of an app is not in its file", () => {
  assert.deepEqual(mapping({ name: "Tide", address: "8080", expected: "sometimes" }), {
    name: "Tide",
    port: 8080,
  });
  assert.deepEqual(
    mapping({ name: "Tide", address: "http://a.example", cwd: "/srv", command: "npm start" }),
    {
      name: "Tide",
      url: "http://a.example",
      match: { cwd: "/srv" },
      service: { command: "npm start", cwd: "/srv" },
    },
  );
});

const AS_IS = { group: "", expected: "", paused: "", more: "" };

test("only what was chosen is changed in many files, and a dash takes the group away", () => {
  assert.deepEqual(patchOf({ ...AS_IS, group: "-", paused: "false" }), {
    group: null,
    paused: null,
  });
  assert.deepEqual(patchOf({ ...AS_IS, expected: "always", more: '{"color": null}' }), {
    color: null,
    expected: "always",
  });
});

test("a patch that changes nothing, or is no object, is refused at its field", () => {
  assert.throws(() => patchOf(AS_IS), /Nothing is to be changed yet/);
  for (const more of ["[1]", "null", "{"])
    assert.throws(
      () => patchOf({ ...AS_IS, more }),
      ({ body }) => body.issues[0].path === "more",
    );
});

test("what each of several apps came to stays in their order, also of one that failed", async () => {
  const work = async (app) => {
    if (app === "bad") throw new Error("refused");
    return app.toUpperCase();
  };
  assert.deepEqual(await each(["a", "bad", "c", "d", "e"], work), [
    { app: "a", value: "A", why: "" },
    { app: "bad", value: null, why: "refused" },
    { app: "c", value: "C", why: "" },
    { app: "d", value: "D", why: "" },
    { app: "e", value: "E", why: "" },
  ]);
});

test("two versions of a file stand side by side, an empty line facing what the other lacks", () => {
  const told = (side) => side.map(({ number, text, same }) => [number ?? 0, text, same]);
  const [left, right] = alignedLines("a\nb\nd", "a\nc\nx\nd");
  assert.deepEqual(told(left), [
    [1, "a", true],
    [2, "b", false],
    [0, "", true],
    [3, "d", true],
  ]);
  assert.deepEqual(told(right), [
    [1, "a", true],
    [2, "c", false],
    [3, "x", false],
    [4, "d", true],
  ]);
});
