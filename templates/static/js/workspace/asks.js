// Questions that wait for a person: answered from any page, and kept waiting by one that shows them.

import { P, post } from "../kit/api.js";

const EVERY = 30_000; // ms

const route = ({ project, sessionId, call }) => P(project, "chats", sessionId, "permissions", call);

/** `said`: {allow, scope, reason} */
export const answer = (ask, said) => post(route(ask), said);

/**
 * While somebody looks at this page the questions it shows wait on: `shown()` are those, and
 * `later(call, until)` hears when they are denied now. Returns a function that says so at once.
 * @param {() => any[]} shown
 * @param {(call: string, until: string) => unknown} later
 * @param {AbortSignal} [signal] until then
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
