// A schedule being typed: its meaning in words, its next times, and its error.

import { get, query } from "../../kit/api.js";
import { h } from "../../kit/dom.js";
import { dayAndTime, relative, shownZone } from "../../kit/words.js";
import { whenWords } from "../schedule.js";

/**
 * {nodes, error} of a schedule: `error` {field, reason, example} is that of a save, or null.
 * `stored` is the trigger as armed, so that a saved schedule shows the times at which it will fire;
 * `project` is the zone of a schedule that names none. If that zone is unknown to this browser, it
 * is left to the service.
 */
export async function nextTimes(trigger, stored, project) {
  if (trigger.type !== "schedule") return { nodes: [], error: null };
  const { cron, interval } = trigger;
  const timezone = trigger.timezone ?? (shownZone(project) === project ? project : undefined);
  if (!(cron ?? interval ?? "").trim()) return { nodes: [], error: null };
  const armed = same(stored?.trigger, trigger) && stored.runtime?.nextRuns;
  if (armed?.length) {
    const zone = stored.runtime.timezone;
    const said = (stored.warnings ?? []).filter((one) => one.startsWith("trigger.cron: "));
    return { nodes: drawTimes(trigger, armed, zone, "Next three times", said), error: null };
  }
  try {
    const asked = query("/api/triggers/preview", { cron, interval, timezone });
    const { next, timezone: zone, warnings } = await get(asked);
    return { nodes: drawTimes(trigger, next, zone, title(stored), warnings), error: null };
  } catch (error) {
    return { nodes: [], error: error.errors?.[0] ?? { field: "trigger", reason: error.message } };
  }
}

const same = (old, fresh) =>
  Boolean(old) &&
  (old.cron ?? "") === (fresh.cron ?? "") &&
  (old.interval ?? "") === (fresh.interval ?? "") &&
  (old.timezone ?? "") === (fresh.timezone ?? "");

function title(stored) {
  if (stored?.runtime?.paused) return "Would fire next, were triggers not paused";
  return stored?.enabled ? "Would fire next, once saved" : "Would fire next, once enabled";
}

function drawTimes(trigger, next, zone, heading, warnings = []) {
  const words = whenWords(trigger);
  const capital = words && words[0].toUpperCase() + words.slice(1);
  return [
    h(
      "p",
      { class: "small" },
      h("span", { class: "strong" }, capital),
      " ",
      h("span", { class: "quiet" }, shownZone(zone)),
    ),
    warnings.map((text) => h("p", { class: "says small warn" }, text.replace(/^[\w.]+: /, ""))),
    h("h2", { class: "hint" }, next.length ? heading : "It never fires: there is no such time."),
    h(
      "ol",
      { class: "times" },
      next.map((iso) =>
        h(
          "li",
          { class: "time" },
          h("span", { class: "strong small" }, dayAndTime(iso, zone)),
          h("span", { class: "tiny quiet" }, relative(iso)),
        ),
      ),
    ),
  ];
}
