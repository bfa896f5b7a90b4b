// All triggers of a project: when each fires next, how its last run ended and why.

import { button, h, mark } from "../../kit/dom.js";
import { command } from "../../kit/parts.js";
import { dayAndTime, shownZone, span, time } from "../../kit/words.js";
import { whenWords } from "../schedule.js";
import { stateOf } from "../words.js";
import { pausedBanner } from "./head.js";

const ABOUT =
  "A trigger starts a turn by itself: at a time, or after something happened. It is stored in project.yaml and starts switched off.";

/** acts: {create, nightly, resume, choose(name)} */
export function overview({ triggers, legacy, invalid, paused }, route, acts) {
  const all = [...triggers, ...legacy];
  if (!all.length && !invalid.length) return welcome(route, acts);
  return h(
    "div",
    { class: "glance" },
    h("h1", { class: "big" }, "Triggers"),
    h("p", { class: "soft small" }, ABOUT),
    paused && pausedBanner(paused, acts.resume),
    h(
      "div",
      {
        class: "card scroll-x",
        tabindex: "0",
        role: "region",
        "aria-label": "When each fires, and its last run",
      },
      h(
        "table",
        { class: "table" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Trigger", "Next three times", "Last run"].map((name) => h("th", {}, name)),
          ),
        ),
        h(
          "tbody",
          {},
          all.map((trigger) => row(trigger, acts)),
        ),
      ),
    ),
    command(`curl ${location.origin}${route}`, "the command that lists these triggers"),
  );
}

function row(trigger, acts) {
  const { name, runtime } = trigger;
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    acts.choose(name);
  };
  return h(
    "tr",
    {},
    h(
      "td",
      {},
      h("a", { class: "strong", href: `?name=${encodeURIComponent(name)}`, onclick: open }, name),
      h("p", { class: "tiny quiet" }, whenWords(trigger.trigger)),
    ),
    h("td", { class: "tiny" }, next(trigger)),
    h("td", {}, last(runtime?.lastRun)),
  );
}

function next({ enabled, runtime, trigger }) {
  if (trigger.type === "webhook") return "saved; webhooks do not fire yet";
  if (!enabled) return "off";
  if (runtime?.paused) return "paused";
  if (!runtime?.nextRuns?.length) return trigger.type === "event" ? "when it happens" : "never";
  const zone = runtime.timezone;
  return [
    h(
      "ol",
      {},
      runtime.nextRuns.map((iso) => h("li", { class: "nowrap" }, dayAndTime(iso, zone))),
    ),
    h("p", { class: "quiet" }, shownZone(zone)),
  ];
}

function last(run) {
  if (!run) return h("span", { class: "tiny quiet" }, "not run yet");
  const look = stateOf(run.status);
  return [
    h(
      "p",
      { class: "says small" },
      mark(look, false),
      h("span", { class: "nowrap" }, look.word),
      h("span", { class: "tiny quiet nowrap" }, time(run.finishedAt ?? run.queuedAt)),
      run.durationSeconds && h("span", { class: "tiny quiet nowrap" }, span(run.durationSeconds)),
    ),
    run.reason &&
      h(
        "p",
        { class: run.status === "failed" ? "tiny says bad clamp" : "tiny quiet clamp" },
        run.reason,
      ),
  ];
}

const welcome = (route, acts) =>
  h(
    "div",
    { class: "empty" },
    h("h1", { class: "big" }, "No trigger yet"),
    h("p", {}, ABOUT),
    h(
      "div",
      { class: "line wrap center" },
      button("New trigger", { icon: "plus", kind: "primary", onclick: acts.create }),
      button("Add the nightly check", { icon: "clock", onclick: acts.nightly }),
    ),
    command(`curl ${location.origin}${route}`, "the command that lists these triggers"),
  );
