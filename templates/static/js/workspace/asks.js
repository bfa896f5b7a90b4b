// Questions that wait for the user: any page can answer them, and a page that shows them keeps them
// waiting.

import { P, post } from "../kit/api.js";

const EVERY = 30_000; // ms

const route = ({ project, sessionId, call }) => P(project, "chats", sessionId, "permissions", call);

/** `said`: {allow, scope, reason} */
export const answer = (ask, said) => post(route(ask), said);

/**
 * Keep the questions that this page shows, `shown()`, waiting while the page is visible.
 * `later(call, until)` receives the new time at which a question is denied. Returns a function that
 * keeps them at once.
 * @param {() => any[]} shown
 * @param {(call: string, until: string) => unknown} later
 * @param {AbortSignal} [signal] ends the keeping
 */
export function keepWaiting(shown, later, signal) {
  const keep = () => {
    if (document.hidden) return;
    for (const ask of shown())
      post(`${route(ask)}/keep`).then(
        ({ until }) => until && later(ask.call, until),
        () => {}, // the connection bar says it
      );
  };
  const timer = setInterval(keep, EVERY);
  signal?.addEventListener("abort", () => clearInterval(timer));
  document.addEventListener("visibilitychange", keep, { signal });
  return keep;
}
