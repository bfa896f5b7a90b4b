// The head of the drawer: an app's present state, its recent history, and its actions.

import { bar24 } from "../../kit/bars.js";
import { button, h, icon, keep } from "../../kit/dom.js";
import { ACTIONS, Services, unable } from "../grid/services.js";
import { latency, percent, safe, saying, shortly } from "../words.js";

const NONE = "–";
const ORDER = ["restart", "start", "stop"];

export class Head {
  app = null;

  /** `failed(app, log, why)` shows why an action failed; `configure()` opens the app's file. */
  constructor({ failed, configure }) {
    this.configure = configure;
    this.services = new Services({ changed: (app) => this.update(app ?? this.app), failed });
    this.node = h("div", { class: "apphead" });
  }

  update(app) {
    this.app = app;
    const busy = this.services.busy.get(app.slug) ?? "";
    const parts = [
      { key: "state", ...stateFields(app) },
      { key: "where", text: whereabouts(app) },
      { key: "stats", uptime: app.uptime, median: median(app.recent) },
      { key: "bar", bar24: app.bar24 },
      { key: "acts", status: app.service?.status ?? null, source: app.source, busy },
    ];
    keep(
      this.node,
      parts.filter(({ key, text }) => key !== "where" || text),
      ({ key }) => key,
      (part) => this.part(part),
    );
  }

  part(part) {
    if (part.key === "state") return saying(part);
    if (part.key === "where") return h("p", { class: "tiny soft wrap-anywhere" }, part.text);
    if (part.key === "stats") return stats(part);
    if (part.key === "bar") return h("div", {}, bar24(part.bar24));
    return this.actions(part);
  }

  actions({ status, busy }) {
    if (!status) return this.unmanagedNotice();
    const { app } = this;
    const can = ORDER.filter((action) => (busy ? busy === action : !unable(action, app)));
    const buttons = can.map((action) => {
      const { label, doing, icon: shape } = ACTIONS[action];
      return h(
        "button",
        {
          type: "button",
          class: action === can[0] ? "btn primary" : "btn",
          "aria-label": label,
          "aria-busy": busy === action ? "true" : null,
          onclick: () => this.services.ask(action, this.app),
        },
        icon(shape),
        busy === action ? doing : label,
      );
    });
    return h(
      "div",
      { class: "acts", role: "group", "aria-label": "Service" },
      h("div", { class: "line wrap" }, buttons),
    );
  }

  unmanagedNotice() {
    const words =
      this.app.source === "declared"
        ? "Not started from here: its file has no start command."
        : "Found running. Give it a file to keep it and to start it from here.";
    return h(
      "div",
      { class: "acts line wrap" },
      h("p", { class: "hint" }, words),
      button("Open Config", { icon: "pencil", kind: "s", onclick: this.configure }),
    );
  }
}

/** The fields of an app that `saying` reads. */
const stateFields = ({
  state,
  reason,
  message,
  since,
  stale,
  flapping,
  unexpected,
  last,
  lastKnown,
}) => ({
  ...{ state, reason, message, since, stale, flapping, unexpected, last, lastKnown },
});

/** Address, directory, branch, and how it ended: the facts that distinguish apps. */
function whereabouts({ identity, config, service, url, urls }) {
  const cwd = identity?.cwd ?? config?.service?.cwd ?? config?.match?.cwd;
  const exit = service?.lastExit;
  const rests = service && service.status !== "running";
  const ended = exit && (exit.signal ? `ended by ${exit.signal}` : `exited with ${exit.code}`);
  return [
    safe(urls?.fronted ?? url) ? shortly(urls?.fronted ?? url) : null,
    cwd,
    identity?.git?.branch && `branch ${identity.git.branch}`,
    rests && ended,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The median latency of the recent checks that succeeded, in ms; null when there is none. */
function median(recent) {
  const times = recent
    .filter(({ ok, ms }) => ok && ms !== null)
    .map(({ ms }) => ms)
    .sort((a, b) => a - b);
  return times.length ? times[Math.floor(times.length / 2)] : null;
}

export const share = (part) => percent(part) || NONE;
export const took = (ms) => (ms === null || ms === undefined ? NONE : latency(ms));

const stats = ({ uptime, median: middle }) =>
  h(
    "dl",
    { class: "quickstats" },
    [
      ["24 hours", share(uptime["24h"])],
      ["90 days", share(uptime["90d"])],
      ["Median", took(middle)],
    ].map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))),
  );
