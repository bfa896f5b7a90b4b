// A hub in the page, for browsers without shared workers. It pauses while the page is hidden, and
// takes one of four places, so that connections are left for other requests.

import { Hub } from "./hub.js";

const PLACES = ["svc-stream-1", "svc-stream-2", "svc-stream-3", "svc-stream-4"];

/**
 * A port like that of the worker; it is connected once a place is free, until the signal aborts.
 * @param {AbortSignal} signal
 */
export function alone(signal) {
  const { port1, port2 } = new MessageChannel();
  place(signal).then(() => new Hub().connect(port2));
  return port1;
}

/**
 * Wait for the first place that becomes free, and hold it until the signal aborts.
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function place(signal) {
  if (!navigator.locks) return Promise.resolve();
  const waiting = new AbortController();
  signal.addEventListener("abort", () => waiting.abort());
  return new Promise((done) => {
    const take = () => {
      if (waiting.signal.aborted) return undefined; // another place came first, or the page left
      waiting.abort();
      done();
      return new Promise((free) => signal.addEventListener("abort", free));
    };
    for (const name of PLACES)
      navigator.locks.request(name, { signal: waiting.signal }, take).catch(() => {});
  });
}
