import assert from "node:assert/strict";
import { test } from "node:test";

import { ansi, PLAIN } from "../../../templates/static/js/dashboard/ansi.js";
import { hits, Reader } from "../../../templates/static/js/dashboard/drawer/lines.js";

function read(...lines) {
  let pen = PLAIN;
  return lines.map((line) => {
    const found = ansi(line, pen);
    pen = found.pen;
    return [found.text, found.spans.map(({ from, to, look }) => `${from}-${to} ${look}`).join()];
  });
}

test("codes of a terminal become names of the theme", () => {
  assert.deepEqual(
    read(
      "\x1b[31mred",
      "still\x1b[39m not",
      "10%\r50%\r100%\r",
      "\x1b[38;5;208ma\x1b[48;2;20;40;200mb\x1b[38m\x1b[0mc",
      "\x1b[7minverse\x1b[27m\x1b[999m\x1b[38;5m x\x00\x08y",
      "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\",
    ),
    [
      ["red", "0-3 fg-red"],
      ["still not", "0-5 fg-red"],
      ["100%", ""],
      ["abc", "0-1 fg-yellow,1-2 on-blue"],
      ["inverse xy", "0-7 inverse"],
      ["link", ""],
    ],
  );
});

test("lines have the level of their words, and a trace goes on with that of its error", () => {
  const reader = new Reader();
  const levels = [
    ...["12:00:00 INFO ready", "WARNING: slow", "  of the disk", "plain"],
    ...["Traceback (most recent call last):", '  File "a.py"', "12:00:01 fine", "level=error x"],
  ].map((line) => reader.read(line).level);
  assert.deepEqual(levels, ["info", "warn", "warn", "", "bad", "bad", "", "bad"]);
});

test("a glance at a line that is not whole changes nothing for the next", () => {
  const reader = new Reader();
  reader.glance("\x1b[31mERROR");
  assert.deepEqual(reader.read("next"), { text: "next", spans: [], level: "", time: 0 });
});

test("a search finds a word in any case, one hit after the other", () => {
  assert.deepEqual(hits({ text: "Aa aaa" }, "aa"), [0, 3]);
  assert.deepEqual(hits({ text: "none" }, "x"), []);
});
