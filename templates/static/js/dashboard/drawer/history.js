// The History tab: a day, a week or 90 days of an app, with its figures and changes of state.

import { get } from "../../kit/api.js";
import { button, fill, h, mark, settle } from "../../kit/dom.js";
import { empty, problem } from "../../kit/parts.js";
import { late } from "../../kit/skeleton.js";
import { plural, time } from "../../kit/words.js";
import { route } from "../route.js";
import { stateWords, stateOf } from "../words.js";
import { Chart, wrong } from "./chart.js";
import { share, took } from "./head.js";

const WINDOWS = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["90d", "90 days"],
];
const REST_MS = 1500; // wait after a change of state before its figures are fetched
const SHOWN = 50; // changes of state at most

export class History {
  window = "24h";
  on = false;
  round = 0;

  constructor(app) {
    this.app = app;
    this.since = app.since;
    this.chart = new Chart();
    this.body = h("div", { class: "stack" });
    this.choices = h(
      "div",
      { class: "seg", role: "group", "aria-label": "How far back" },
      WINDOWS.map(([window, label]) =>
        h(
          "button",
          { type: "button", dataset: { window }, onclick: () => this.choose(window) },
          label,
        ),
      ),
    );
    this.node = h(
      "div",
      { class: "in facets", tabindex: "0", role: "region", "aria-label": "History" },
      this.choices,
      this.body,
    );
    this.soon = settle(REST_MS, () => this.on && this.load());
  }

  show() {
    this.on = true;
    return this.choose(this.window);
  }

  hide() {
    this.on = false;
  }

  end() {
    this.on = false;
    this.round += 1;
  }

  update(app) {
    const changed = app.since !== this.since;
    this.app = app;
    this.since = app.since;
    if (changed) this.soon();
  }

  choose(window) {
    this.window = window;
    for (const choice of this.choices.children)
      choice.setAttribute("aria-pressed", String(choice.dataset.window === window));
    return this.load();
  }

  async load() {
    const round = (this.round += 1);
    const stop = late(this.body, "text");
    try {
      const found = await get(`${route("apps", this.app.slug, "history")}?window=${this.window}`);
      if (round === this.round) this.draw(found);
    } catch (error) {
      const again = button("Try again", { kind: "s", onclick: () => this.load() });
      if (round === this.round) fill(this.body, problem(error.message), h("div", {}, again));
    }
    stop();
  }

  draw(found) {
    const known = found.buckets.some(({ checks, uptime }) => checks || uptime !== null);
    if (!known && !found.transitions.length) {
      fill(
        this.body,
        empty("Nothing is known of this time. Bars appear here as the app is checked."),
      );
      return;
    }
    this.chart.draw(found);
    if (!this.chart.node.isConnected) fill(this.body, this.chart.node, this.chart.told);
    while (this.body.children.length > 2) this.body.lastChild.remove();
    this.body.append(...figures(found), changes(found.transitions));
  }
}

function figures({ uptime, checks, failed, latency: times, seconds }) {
  const spent = Object.entries(seconds).filter(([, count]) => Math.round(count));
  return [
    h(
      "dl",
      { class: "quickstats four" },
      [
        ["Uptime", share(uptime)],
        ["Median", took(times?.p50)],
        ["p95", took(times?.p95)],
        ["p99", took(times?.p99)],
      ].map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))),
    ),
    h(
      "p",
      { class: "soft small" },
      checks ? `${failed} of ${plural(checks, "check")} ${wrong(seconds)}` : "No checks",
      times &&
        `; answers took ${took(times.min)} to ${took(times.max)}, ${took(times.avg)} on average`,
      ".",
    ),
    h(
      "ul",
      { class: "spent" },
      spent.map(([state, count]) =>
        h(
          "li",
          { class: "line" },
          mark(stateOf(state), false),
          `${stateOf(state).word} ${duration(count)}`,
        ),
      ),
    ),
  ];
}

function changes(transitions) {
  const newest = transitions.toReversed();
  return h(
    "section",
    {},
    h("h3", { class: "changes" }, "Changes of state"),
    newest.length
      ? h(
          "ul",
          { class: "card rows" },
          newest.slice(0, SHOWN).map((one, n) => change(one, n)),
        )
      : h("p", { class: "soft small" }, "None in this time."),
    newest.length > SHOWN &&
      h(
        "details",
        {},
        h("summary", { class: "link small" }, `${newest.length - SHOWN} more`),
        h(
          "ul",
          { class: "card rows" },
          newest.slice(SHOWN).map((one) => change(one, SHOWN)),
        ),
      ),
  );
}

function change({ at, from, to, reason, seconds }, n) {
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark(stateOf(to), false),
      h(
        "span",
        { class: "two-lines" },
        h("span", { class: "small" }, stateWords({ state: to, reason })),
        h(
          "span",
          { class: "tiny quiet" },
          time(at),
          `, after ${stateOf(from).word.toLowerCase()}, for ${duration(seconds)}${n ? "" : " until now"}`,
        ),
      ),
    ),
  );
}

/** "2 d 4 h", "3 h 05 m", "40 s". */
function duration(seconds) {
  const all = Math.round(seconds);
  const [days, hours, minutes] = [
    Math.floor(all / 86400),
    Math.floor(all / 3600) % 24,
    Math.floor(all / 60) % 60,
  ];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${String(minutes).padStart(2, "0")} m`;
  return minutes ? `${minutes} m ${String(all % 60).padStart(2, "0")} s` : `${all} s`;
}
