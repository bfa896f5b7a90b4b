// The state of an app: one word, one shape and one tone, and its reason in plain words.

import { h, mark } from "../kit/dom.js";
import { absolute, clockOf, dayOf, span } from "../kit/words.js";

const STATES = {
  up: { shape: "up", tone: "up", word: "Up", says: "" },
  degraded: { shape: "degraded", tone: "degraded", word: "Degraded", says: "warn" },
  down: { shape: "down", tone: "down", word: "Down", says: "bad" },
  starting: { shape: "starting", tone: "starting", word: "Starting", says: "busy" },
  stopping: { shape: "stopping", tone: "starting", word: "Stopping", says: "busy" },
  stopped: { shape: "stopped", tone: "stopped", word: "Stopped", says: "" },
  unknown: { shape: "unknown", tone: "stopped", word: "Unknown", says: "" },
};
const REASONS = {
  new: "not asked yet",
  paused: "paused in its file",
  "no-probe": "nothing to ask",
  "invalid-file": "its file has an error",
  resumed: "the machine was asleep",
  spawned: "waits for its first answer",
  "listener-seen": "waits for its first answer",
  restarting: "restarting",
  backoff: "ended, is tried again",
  redirect: "redirects",
  "auth-required": "wants a sign-in",
  "http-5xx": "answers with an error",
  slow: "answers slowly",
  "body-mismatch": "answers another text than expected",
  "status-mismatch": "answers another status than expected",
  tls: "its certificate is refused",
  "not-http": "does not speak HTTP",
  refused: "connection refused",
  timeout: "does not answer in time",
  dns: "its name has no address",
  "no-listener": "nothing listens on its port",
  gateway: "the server behind it is gone",
  exited: "its process ended",
  "crash-loop": "keeps exiting; no more automatic restarts",
  "wrong-process": "another process has its port",
  "start-timeout": "did not start in time",
  "not-running": "not running",
  user: "",
  ok: "",
};

/** The order in which states are counted. */
export const ORDER = Object.keys(STATES);
export const stateOf = (name) => STATES[name] ?? { ...STATES.unknown, word: name };

/** Whether an app needs attention; an unclaimed one never does, whatever its state. */
export const needsAttention = ({ source, state, unexpected }) =>
  source === "declared" && (unexpected || state === "down" || state === "degraded");

/** "14:02", or "19 Nov, 14:02" on another day. */
export function clock(iso) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  return today ? clockOf(at) : `${dayOf(at)}, ${clockOf(at)}`;
}

/**
 * The state and its reason in words, like "Down: connection refused", without the time.
 * @param {Record<string, any>} app
 */
export function stateWords({
  state,
  reason,
  message,
  unexpected,
  stale,
  flapping,
  last,
  lastKnown,
}) {
  const { word } = stateOf(state);
  const own = message || REASONS[reason] || "";
  const repeats = own.toLowerCase().startsWith(word.toLowerCase());
  const why = [
    !repeats && !(state === "stopped" && own === "not running") && own,
    state === "unknown" && lastKnown && `was ${stateOf(lastKnown.state).word.toLowerCase()}`,
    unexpected && "should not run",
    flapping && "keeps going up and down",
    stale && "not heard of for a while",
  ].filter(Boolean);
  const first = repeats ? own[0].toUpperCase() + own.slice(1) : word;
  const quick = state === "up" && last?.ok && !stale ? `, ${latency(last.ms)}` : "";
  return `${first}${quick}${why.length ? `: ${why.join(", ")}` : ""}`;
}

/** "6 ms", "1.2 s". */
export const latency = (ms) => (ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : span(ms / 1000));

/** "98.9 %"; "" when nothing is known. */
export const percent = (part) =>
  part === null || part === undefined ? "" : `${(Math.floor(part * 1000) / 10).toFixed(1)} %`;

/** The node with shape, word, reason and since when: never colour alone. */
export function saying(app) {
  const look = stateOf(app.state);
  const since = app.since && app.state !== "up" && app.state !== "unknown";
  return h(
    "p",
    { class: `says ${app.unexpected && !look.says ? "warn" : look.says}` },
    mark(look, false),
    h(
      "span",
      {},
      stateWords(app),
      since && [
        ", since ",
        h("time", { datetime: app.since, title: absolute(app.since) }, clock(app.since)),
      ],
    ),
  );
}

/** "localhost:5173/docs": an address without its scheme and final slash. */
export const shortly = (url) => url.replace(/^https?:\/\//, "").replace(/\/$/, "");

/** The address if its scheme can only navigate and never run code, else null. */
export const safe = (url) => (/^(?:https?|mailto|ssh|file):/i.test(url ?? "") ? url : null);
