import assert from "node:assert/strict";
import { mock, test } from "node:test";

import {
  absolute,
  clockOf,
  dayOf,
  withCommas,
  inZone,
  plural,
  relative,
  shownZone,
  span,
  time,
} from "../../../templates/static/js/kit/words.js";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const after = (seconds) => new Date(NOW + seconds * 1000).toISOString();
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

test("a duration is told in its two largest units", () => {
  assert.deepEqual([0.0204, 4.25, 59.4, 61, 3599, 3600, 90_061].map(span), [
    ...["20 ms", "4.3 s", "59 s"],
    ...["1 m 01 s", "59 m 59 s", "1 h 00 m", "25 h 01 m"],
  ]);
});

test("a time is told by its distance, and by its day once that is far", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const told = (...seconds) => seconds.map((one) => relative(after(one)));
  assert.deepEqual(told(-10, 10, -50, 5 * MINUTE), [
    ...["just now", "in a moment", "1 min ago", "in 5 min"],
  ]);
  assert.deepEqual(told(-3 * HOUR, 2 * HOUR, -DAY, 3 * DAY), [
    ...["3 h ago", "in 2 h", "1 day ago", "in 3 days"],
  ]);
  assert.deepEqual(told(-9 * DAY, 50 * DAY, 61 * DAY), ["1 Mar", "in 50 days", "10 May"]);
});

test("the absolute time is that of the zone of the browser, to the second", () => {
  const at = new Date(2026, 8, 5, 4, 3, 2);
  assert.equal(absolute(at.toISOString()), "Sat, 5 Sept 2026, 04:03:02");
  assert.deepEqual([dayOf(at), clockOf(at)], ["5 Sept", "04:03"]);
});

test("a time in a zone names the zone, and UTC for one that is not known", () => {
  assert.equal(inZone("2026-03-10T12:00:00Z", "Asia/Tokyo"), "Tue 10 Mar, 21:00 Asia/Tokyo");
  assert.equal(shownZone("Middle/Earth"), "UTC");
  assert.equal(inZone("2026-03-10T12:00:00Z", "Middle/Earth"), "Tue 10 Mar, 12:00 UTC");
});

test("a relative time keeps itself true, one in other words does not change", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const node = time(after(-5 * MINUTE));
  assert.equal(node.textContent, "5 min ago");
  assert.equal(node.getAttribute("title"), absolute(after(-5 * MINUTE)));
  assert.ok("rel" in node.dataset);
  const said = mock.fn(() => "noon");
  const other = time(after(0), { words: said });
  assert.equal(other.textContent, "noon");
  assert.ok(!("rel" in other.dataset));
  assert.equal(time(null), "");
});

test("counts are grouped and have their word", () => {
  assert.deepEqual([0, 999, 1000, 1_234_567].map(withCommas), ["0", "999", "1,000", "1,234,567"]);
  assert.deepEqual(
    [plural(1, "run"), plural(0, "run"), plural(1200, "reply", "replies")],
    [...["1 run", "0 runs", "1,200 replies"]],
  );
});
