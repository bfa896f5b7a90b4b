// A schedule in words. Patterns without an everyday phrase are shown as they are written.

import { shownZone } from "../kit/words.js";

const DAYS = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
];
const NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const UNITS = { s: "second", m: "minute", h: "hour", d: "day" };
const SHORT = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

const EVENTS = {
  onArchive: "after a chat is archived",
  afterTurn: "after a turn: adds instructions for the overview and changelog",
  onThread: "when a person writes in a thread of a review",
  onCommits: "when a branch under review moves",
  onAppDown: "when an app falls",
  onAppUp: "when an app comes up",
  onRunFailed: "when a run of another trigger fails",
};

export function whenWords(trigger) {
  if (trigger.type === "event") return EVENTS[trigger.on] ?? "";
  if (trigger.type === "webhook") return "saved; webhooks do not fire yet";
  return trigger.interval ? intervalWords(trigger.interval) : cronWords(trigger.cron ?? "");
}

/** A schedule in words; with its time zone if it is a cron pattern. */
export const whenAndZone = ({ trigger, runtime }) =>
  [whenWords(trigger), trigger.cron && runtime?.timezone && shownZone(runtime.timezone)]
    .filter(Boolean)
    .join(", ");

function intervalWords(text) {
  const [, count, unit] = /^\s*([1-9]\d*)\s*([smhd])\s*$/i.exec(text) ?? [];
  if (!count) return "";
  const name = UNITS[unit.toLowerCase()];
  return count === "1" ? `every ${name}` : `every ${count} ${name}s`;
}

function cronWords(text) {
  const fields = (SHORT[text.trim().toLowerCase()] ?? text).trim().split(/\s+/);
  if (fields.length !== 5) return "";
  const [minute, hour, day, month, weekday] = fields;
  const at = clockWords(minute, hour);
  const on = dayWords(day, month, weekday);
  if (!at || on === null) return `cron ${fields.join(" ")}`;
  return at.startsWith("every") && on === "every day" ? at : `${at}, ${on}`;
}

function clockWords(minute, hour) {
  const step = /^\*\/(\d+)$/.exec(minute);
  if (hour === "*" && minute === "*") return "every minute";
  if (hour === "*" && step) return `every ${step[1]} minutes`;
  if (!/^\d+$/.test(minute)) return null;
  const mm = minute.padStart(2, "0");
  if (hour === "*") return minute === "0" ? "every full hour" : `every hour at :${mm}`;
  const every = /^\*\/(\d+)$/.exec(hour);
  if (every) return `every ${every[1]} hours at :${mm}`;
  if (!/^\d+(,\d+)*$/.test(hour)) return null;
  return `at ${joinWords(hour.split(",").map((hh) => `${hh.padStart(2, "0")}:${mm}`))}`;
}

function dayWords(day, month, weekday) {
  if (month !== "*") return null;
  if (day === "*" && weekday === "*") return "every day";
  if (weekday === "*") return /^\d+$/.test(day) ? `on day ${day} of the month` : null;
  if (day !== "*") return null;
  const days = weekday.toUpperCase().replace(/[A-Z]{3}/g, (name) => String(NAMES.indexOf(name)));
  const range = /^([0-7])-([0-7])$/.exec(days);
  if (range) return `${DAYS[range[1]]} to ${DAYS[range[2]]}`;
  return /^[0-7](,[0-7])*$/.test(days)
    ? `on ${joinWords(days.split(",").map((n) => DAYS[n]))}`
    : null;
}

const joinWords = (words) =>
  words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0];
