// Server-sent events for this page. All pages of one browser share one connection, also those that
// are hidden: the shared worker has it and resumes it (stream/hub.js).

import { connection } from "./connection.js";
import { alone } from "./stream/alone.js";

// Pages of two releases do not share a worker.
const { version, at, events: EVENTS } = document.body.dataset;
const SCRIPT = new URL(`./stream/hub.js?v=${version}`, import.meta.url);

/** @typedef {Record<string, (data?: any, id?: string) => unknown>} Handlers */
/** @typedef {{n: number, url: string, handlers: Handlers, after?: string}} Follow */

/** @type {Map<number, Follow>} */
const follows = new Map();
const living = lock(`svc-page-${Math.random()}`);
/** @type {string | undefined} */
let since = at; // the last of EVENTS when this page was made: what it reads is no older
let count = 0;
/** @type {MessagePort | null} */
let port = null;
let shares = "SharedWorker" in window;
/** @type {AbortController | null} */
let left = null; // ends what this page has of its own

/**
 * follow("/api/events", {project: (data, id) => …}); returns stop(), as `signal` does. `open` is
 * called when the stream begins later than what the page has read, and when it does so again after
 * a loss. `after`: the place to go on behind, of a stream whose places are the page's own; `open`
 * comes at each new beginning of that.
 * @param {string} url
 * @param {Handlers} handlers
 * @param {{after?: string, signal?: AbortSignal}} [options]
 */
export function follow(url, handlers, { after, signal } = {}) {
  const n = (count += 1);
  const one = { n, url: new URL(url, document.baseURI).pathname, handlers, after };
  follows.set(n, one);
  if (port) ask(port, one);
  else join();
  const stop = () => {
    follows.delete(n);
    port?.postMessage({ end: n });
  };
  signal?.addEventListener("abort", stop);
  return stop;
}

/**
 * @param {MessagePort} port
 * @param {Follow} one
 */
function ask(port, { n, url, after }) {
  port.postMessage({ follow: n, url, after, ...(url === EVENTS && { since }) });
}

function join() {
  if (port || !follows.size || (!shares && document.hidden)) return;
  left = new AbortController();
  const joined = shares ? shared(left.signal) : alone(left.signal);
  port = joined;
  joined.onmessage = ({ data }) => port === joined && heard(data);
  for (const one of follows.values()) ask(joined, one);
  living?.then((name) => joined.postMessage({ lives: name }));
}

function leave() {
  port?.postMessage({ bye: true });
  port?.close();
  left?.abort();
  port = null;
  since = undefined;
}

function again() {
  leave();
  join();
}

/** @param {AbortSignal} signal */
function shared(signal) {
  try {
    const worker = new SharedWorker(SCRIPT, { type: "module", name: `svc ${version}` });
    worker.addEventListener("error", without);
    return worker.port;
  } catch {
    shares = false;
    return alone(signal);
  }
}

/** Its script does not load, or the browser does not take a module. */
function without() {
  if (!shares) return;
  shares = false;
  again();
}

/**
 * @param {{n: number, event: string, data?: string, id?: string, up?: boolean, lost?: boolean,
 *   lives?: string}} message
 */
function heard({ n, event, data, id, up, lost, lives }) {
  if (lives) mourn(lives);
  if (lost) connection.lost();
  if (up) connection.up();
  const one = follows.get(n);
  if (!one) return;
  if (id !== undefined && one.after !== undefined) one.after = id;
  one.handlers[event]?.(data === undefined ? undefined : JSON.parse(data), id);
}

/**
 * The worker dies with the window whose process it had: its lock is free then.
 * @param {string} name
 */
async function mourn(name) {
  const its = port;
  await navigator.locks.request(name, { mode: "shared" }, () => {});
  if (port === its) again();
}

/**
 * The name of a lock, once this page has it; nothing where there are no locks.
 * @param {string} name
 * @returns {Promise<string> | undefined}
 */
function lock(name) {
  return (
    navigator.locks &&
    new Promise((done) => {
      navigator.locks.request(name, () => {
        done(name);
        return new Promise(() => {});
      });
    })
  );
}

addEventListener("pagehide", leave);
addEventListener("pageshow", join);
document.addEventListener("visibilitychange", () => {
  if (!shares) (document.hidden ? leave : join)();
});
