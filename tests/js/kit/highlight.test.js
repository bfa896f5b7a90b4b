import assert from "node:assert/strict";
import { test } from "node:test";

import { highlight } from "../../../templates/static/js/kit/text/highlight.js";
import { languageOf } from "../../../templates/static/js/kit/text/languages.js";
import { tokensOf } from "../../../templates/static/js/kit/text/tokens.js";

const coloured = (text, name) =>
  highlight(text, name)
    .filter((one) => one.nodeType)
    .map((one) => `${one.className}:${one.textContent}`);

test("code is coloured by its language or by the name of its file", () => {
  assert.deepEqual(coloured("if x:  # why", "python"), ["k:if", "c:# why"]);
  assert.deepEqual(coloured('port: "1" # so', "apps/shop.yaml"), ["k:port", 'q:"1"', "c:# so"]);
  assert.deepEqual(coloured('{"a": "b", "c": 1}', "JSON"), ['k:"a"', 'q:"b"', 'k:"c"', "num:1"]);
  assert.deepEqual(coloured("FROM base", "web/Dockerfile"), ["k:FROM"]);
  assert.deepEqual(coloured("+new\n-old", "diff"), ["add:+new", "del:-old"]);
});

test("what is not known, and what is very long, stays as it is", () => {
  assert.deepEqual(highlight("plain", "x.constructor"), ["plain"]);
  assert.deepEqual(highlight("a <b>", ""), ["a <b>"]);
  assert.deepEqual(highlight("if ".repeat(30_000), "python").length, 1);
});

test("colouring loses no character of the text", () => {
  const text = "def f(a):\n    '''x\n    y'''\n\n    return 0x1F + 1.5e3  # done\n";
  const shown = highlight(text, "py").map((one) => (one.nodeType ? one.textContent : one));
  assert.equal(shown.join(""), text);
});

test("a long string and a comment go on in the next line", () => {
  const lines = (text, name) => tokensOf(text, languageOf(name));
  assert.deepEqual(lines('x = """a\nb\nc""" if y', "a.py"), [
    [4, 8, 2],
    [0, 1, 2],
    [...[0, 4, 2], ...[5, 7, 1]],
  ]);
  assert.deepEqual(lines("/* a\nif */ if", "a.c"), [
    [0, 4, 3],
    [...[0, 5, 3], ...[6, 8, 1]],
  ]);
});

test("a sign that is escaped does not end a string", () => {
  assert.deepEqual(coloured(String.raw`"a\"b" if`, "a.py"), [String.raw`q:"a\"b"`, "k:if"]);
});
