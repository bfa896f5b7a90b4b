// The summary of the home page, in one line under the date.

import { plural, shownZone } from "../../kit/words.js";
import { isUnconfirmed } from "../words.js";

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const countWords = (count, one) => `${NUMBERS[count] ?? count} ${plural(count, one).split(" ")[1]}`;

/** "Two runs failed since yesterday. Three turns are running. Next trigger at 15:00 UTC." */
export function sentence({ failed, projects, next, paused }) {
  const sum = (name) => projects.reduce((all, { counts }) => all + counts[name], 0);
  const [asking, running, waiting, unseen] = ["asking", "running", "waiting", "unread"].map(sum);
  const unread = projects.filter(({ error }) => isUnconfirmed(error)).length;
  const broken = projects.filter(({ error }) => error && !isUnconfirmed(error)).length;
  const many = failed.more
    ? `More than ${failed.runs.length} runs`
    : countWords(failed.runs.length, "run");
  return [
    asking && `${countWords(asking, "chat")} ${asking === 1 ? "needs" : "need"} you.`,
    unread && `${countWords(unread, "file")} ${unread === 1 ? "waits" : "wait"} to be read.`,
    broken && `${countWords(broken, "project")} cannot be read.`,
    failed.runs.length && `${many} failed since yesterday.`,
    running && `${countWords(running, "turn")} ${running === 1 ? "is" : "are"} running.`,
    waiting && `${countWords(waiting, "message")} ${waiting === 1 ? "waits" : "wait"}.`,
    unseen && `${countWords(unseen, "chat")} unread.`,
    firing(next[0], paused),
  ]
    .filter(Boolean)
    .join(" ");
}

function firing(first, paused) {
  if (paused) return "No trigger fires: all are paused.";
  return first
    ? `Next trigger ${when(first.at, first.runtime.timezone)}.`
    : "Nothing is scheduled.";
}

/** "at 15:00 UTC", "tomorrow at 02:30 UTC", "on Monday at 09:00 UTC", "on 3 March" */
function when(iso, zone) {
  const timeZone = shownZone(zone);
  const at = new Date(iso);
  const dayOf = (moment) => Date.parse(moment.toLocaleDateString("sv-SE", { timeZone }));
  const days = Math.round((dayOf(at) - dayOf(new Date())) / 864e5);
  const clock = `at ${at.toLocaleTimeString("en-GB", { ...CLOCK, timeZone })} ${timeZone}`;
  if (days <= 0) return clock;
  if (days === 1) return `tomorrow ${clock}`;
  const day = (parts) => at.toLocaleDateString("en-GB", { ...parts, timeZone });
  if (days < 7) return `on ${day({ weekday: "long" })} ${clock}`;
  return `on ${day({ day: "numeric", month: "long" })}`;
}
