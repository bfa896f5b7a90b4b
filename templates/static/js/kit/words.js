// Durations, times and counts in words.

import { h } from "./dom.js";

/** @param {number} seconds */
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (s < 60) return seconds < 10 ? `${seconds.toFixed(1)} s` : `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m ${String(s % 60).padStart(2, "0")} s`;
  return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} m`;
}

/** @type {Intl.DateTimeFormatOptions} */
const DAY = { weekday: "short", day: "numeric", month: "short" };
/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: "2-digit", minute: "2-digit", hour12: false };

// Formatted by hand in the browser's zone, as the browser would: the first formatter costs a page
// 20 ms, and each later one as much as a row of a list.
const WEEK = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const YEAR = "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec".split(" ");
/** @param {number} count */
const two = (count) => String(count).padStart(2, "0");

/** @type {(at: Date) => string} "5 Sept" */
export const dayOf = (at) => `${at.getDate()} ${YEAR[at.getMonth()]}`;
/** @type {(at: Date) => string} "14:02" */
export const clockOf = (at) => `${two(at.getHours())}:${two(at.getMinutes())}`;
/** @type {(iso: string) => string} "Sat, 5 Sept 2026, 14:02:59" */
export function absolute(iso) {
  const at = new Date(iso);
  const date = `${WEEK[at.getDay()]}, ${dayOf(at)} ${at.getFullYear()}`;
  return `${date}, ${clockOf(at)}:${two(at.getSeconds())}`;
}

/** @type {Map<string | undefined, Intl.DateTimeFormat | null>} */
const clocks = new Map(); // by zone: making a formatter costs as much as using it a hundred times

/**
 * The formatter of a zone; null for a zone that this browser does not know.
 * @param {string} [zone]
 */
function clockIn(zone) {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    try {
      clock = new Intl.DateTimeFormat("en-GB", { ...DAY, ...CLOCK, timeZone: zone });
    } catch {
      clock = null;
    }
    clocks.set(zone, clock);
  }
  return clock;
}

/**
 * The zone to show times in: UTC for an empty name, or a zone that this browser does not know.
 * @param {string} [zone]
 */
export const shownZone = (zone) => (clockIn(zone) ? zone : "UTC");

/**
 * A time as the clock of a zone shows it; UTC for an unknown zone.
 * @type {(iso: string, zone?: string) => string}
 */
export const dayAndTime = (iso, zone) =>
  (clockIn(zone) ?? /** @type {Intl.DateTimeFormat} */ (clockIn("UTC"))).format(new Date(iso));
/**
 * A time as the clock of a zone shows it, with the name of the zone.
 * @type {(iso: string, zone?: string) => string}
 */
export const inZone = (iso, zone) => `${dayAndTime(iso, zone)} ${shownZone(zone)}`;

/** @param {string} iso */
export function relative(iso) {
  const seconds = (new Date(iso).getTime() - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return seconds > 0 ? "in a moment" : "just now";
  const [count, unit] =
    size < 3600
      ? [size / 60, "min"]
      : size < 86400
        ? [size / 3600, "h"]
        : size < (seconds > 0 ? 60 : 8) * 86400
          ? [size / 86400, "d"]
          : [0, ""];
  if (!unit) return dayOf(new Date(iso));
  const words = `${Math.max(1, Math.round(count))} ${unit === "d" ? (Math.round(count) === 1 ? "day" : "days") : unit}`;
  return seconds > 0 ? `in ${words}` : `${words} ago`;
}

/**
 * A relative time that stays current; its title is the absolute time, in `zone` if given.
 * @param {string | null | undefined} iso
 * @param {{words?: (iso: string) => string, zone?: string | null}} [options]
 */
export function time(iso, { words = relative, zone = null } = {}) {
  if (!iso) return "";
  const title = zone ? inZone(iso, zone) : absolute(iso);
  return h(
    "time",
    { datetime: iso, title, dataset: words === relative ? { rel: "" } : {} },
    words(iso),
  );
}

setInterval(() => {
  if (document.hidden) return;
  for (const node of /** @type {NodeListOf<HTMLTimeElement>} */ (
    document.querySelectorAll("time[data-rel]")
  ))
    node.textContent = relative(node.dateTime);
}, 20000);

/**
 * An integer with commas: 12345 as "12,345". By hand: the browser's first formatter takes 10 ms.
 * @param {number} count
 */
export const withCommas = (count) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
/** @type {(count: number, one: string, many?: string) => string} */
export const plural = (count, one, many = `${one}s`) =>
  `${withCommas(count)} ${count === 1 ? one : many}`;
