import assert from "node:assert/strict";
import { test } from "node:test";

import { sentence } from "../../../templates/static/js/workspace/home/sentence.js";
import { whenAndZone, whenWords } from "../../../templates/static/js/workspace/schedule.js";

const cron = (text) => whenWords({ type: "schedule", cron: text });

test("a schedule is told in everyday words", () => {
  assert.equal(cron("0 9 * * 1-5"), "at 09:00, Monday to Friday");
  assert.equal(cron("*/15 * * * *"), "every 15 minutes");
  assert.equal(cron("@hourly"), "every full hour");
  assert.equal(cron("30 8,17 * * MON,THU"), "at 08:30 and 17:30, on Monday and Thursday");
  assert.equal(cron("0 0 1 * *"), "at 00:00, on day 1 of the month");
  assert.equal(whenWords({ type: "schedule", interval: "1h" }), "every hour");
  assert.equal(whenWords({ type: "schedule", interval: "90 M" }), "every 90 minutes");
});

test("a pattern without an everyday phrase is shown as it is written", () => {
  assert.equal(cron("5 4 1 6 *"), "cron 5 4 1 6 *");
  assert.equal(cron("1-5 4 * * *"), "cron 1-5 4 * * *");
  assert.equal(cron("not a cron"), "");
});

test("a clock on the wall has its zone, an interval has none", () => {
  const runtime = { timezone: "Asia/Tokyo" };
  const trigger = { type: "schedule", cron: "0 9 * * *" };
  assert.equal(whenAndZone({ trigger, runtime }), "at 09:00, every day, Asia/Tokyo");
  assert.equal(whenAndZone({ trigger: { interval: "2d" }, runtime }), "every 2 days");
});

const NOW = Date.parse("2026-03-10T12:00:00Z");
const NONE = { failed: { runs: [] }, projects: [], next: [] };
const firing = (at) => ({ ...NONE, next: [{ at, runtime: { timezone: "UTC" } }] });

test("the first sentence of the day says what matters, and nothing else", () => {
  assert.equal(sentence(NONE), "Nothing is scheduled.");
  const counts = { running: 1, waiting: 2, unread: 12 };
  assert.equal(
    sentence({ ...NONE, failed: { runs: [1, 2] }, projects: [{ counts }], paused: true }),
    "Two runs failed since yesterday. One turn is running. Two messages wait. 12 chats unread." +
      " No trigger fires: all are paused.",
  );
});

test("the next trigger is told by the clock, the weekday or the day", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const told = (at) => sentence(firing(at)).replace(/^Next trigger |\.$/g, "");
  assert.equal(told("2026-03-10T15:00:00Z"), "at 15:00 UTC");
  assert.equal(told("2026-03-11T02:30:00Z"), "tomorrow at 02:30 UTC");
  assert.equal(told("2026-03-16T09:00:00Z"), "on Monday at 09:00 UTC");
  assert.equal(told("2026-04-03T09:00:00Z"), "on 3 April");
});

test("an event is told in words", () => {
  const event = (on) => whenWords({ type: "event", on });

  assert.equal(event("onArchive"), "after a chat is archived");
  assert.equal(event("onAppDown"), "when an app falls");
});
