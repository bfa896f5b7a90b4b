// Server-sent events for this page. All pages of one browser, also hidden ones, share a connection,
// which the shared worker holds and resumes (stream/hub.js).

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
let since = at; // the last id of EVENTS when the page was rendered: what it reads is no older
let count = 0;
/** @type {MessagePort | null} */
let port = null;
let shares = "SharedWorker" in window;
/** @type {AbortController | null} */
let left = null; // aborts the page's own hub

/**
 * follow("/api/events", {project: (data, id) => …}) returns stop(); `signal` stops it too. `open`
 * is called when the page may have missed events: when the stream begins later than what the page
 * has read, and when it begins again after a loss; `gone` when there is nothing at the URL, which
 * is asked for again. `after`: the id after which to continue, for a
 * stream that is not shared with other pages; `open` is then called at every start.
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
  const joined = shares ? sharedPort(left.signal) : alone(left.signal);
  port = joined;
  joined.onmessage = ({ data }) => port === joined && hearMessage(data);
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
function sharedPort(signal) {
  try {
    const worker = new SharedWorker(SCRIPT, { type: "module", name: `svc ${version}` });
    worker.addEventListener("error", without);
    return worker.port;
  } catch {
    shares = false;
    return alone(signal);
  }
}

/** Do without the worker: its script does not load, or it cannot be a module in this browser. */
function without() {
  if (!shares) return;
  shares = false;
  again();
}

/**
 * @param {{n: number, event: string, data?: string, id?: string, up?: boolean, lost?: boolean,
 *   lives?: string}} message
 */
function hearMessage({ n, event, data, id, up, lost, lives }) {
  if (lives) mourn(lives);
  if (lost) connection.reportLoss();
  if (up) connection.up();
  const one = follows.get(n);
  if (!one) return;
  if (id !== undefined && one.after !== undefined) one.after = id;
  one.handlers[event]?.(data === undefined ? undefined : JSON.parse(data), id);
}

/**
 * Reconnect when the worker dies, as it may with the window whose process it used. Its lock is
 * free then.
 * @param {string} name
 */
async function mourn(name) {
  const its = port;
  await navigator.locks.request(name, { mode: "shared" }, () => {});
  if (port === its) again();
}

/**
 * Take a lock for the life of the page. Resolves to its name; undefined where there are no locks.
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
