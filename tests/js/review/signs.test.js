import assert from "node:assert/strict";
import { test } from "node:test";

import { deceives, signs } from "../../../templates/static/js/review/diff/signs.js";

const UNSEEN = [
  0x00, 0x1b, 0x85, 0xad, 0x034f, 0x061c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x202e, 0x2028, 0x2029,
  0x2060, 0x206a, 0x3164, 0xfeff, 0xffa0, 0xe0041,
];

const JOINED = ["👩🏽\u200d💻", "🏳\ufe0f\u200d🌈", "1\ufe0f\u20e3", "می\u200cخواهم", "क्\u200dष"];

test("whatever is not seen stands out", () => {
  for (const code of UNSEEN) {
    const text = `a${String.fromCodePoint(code)}b`;
    assert.ok(deceives(text), code.toString(16));
    const [before, odd, after] = signs(text);
    assert.deepEqual([before, odd.className, after], ["a", "odd", "b"]);
    assert.equal(odd.dataset.code, `U+${code.toString(16).toUpperCase().padStart(4, "0")}`);
  }
  assert.ok(deceives("x\ufe0f"));
  assert.ok(deceives("a\rb"));
});

test("what asks for colours stands out behind a digit, and what joins behind a letter", () => {
  for (const text of ["user1\ufe0f", "#\ufe0f", "ad\u200dmin", "ad\u200cmin", "👩\u200dx"])
    assert.ok(deceives(text), text);
});

test("a return between two parts of a line stands out in the first", () => {
  const [, end] = signs("a\r", false, deceives("a\rb"));
  assert.equal(end.dataset.code, "CR");
});

test("what people write does not: blanks, accents, the end of a line, emoji", () => {
  for (const text of ["a\tb  c", "naïve", "été", "end\r", "❤\ufe0f", "日本語", ...JOINED])
    assert.ok(!deceives(text), text);
});
