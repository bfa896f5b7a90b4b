// Says that a person can see this chat, so that nobody is told of what they see end.

import { P } from "../../kit/api.js";

const EVERY = 20_000; // ms; the service believes it for 45 s
const page = Math.random().toString(36).slice(2, 12);

/**
 * Say so from now on, until the signal.
 * @param {string} project
 * @param {string} chat
 * @param {AbortSignal} signal
 */
export function looking(project, chat, signal) {
  /** @param {boolean} looks */
  const say = (looks) => {
    fetch(P(project, "chats", chat, "look"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ page, looking: looks }),
      keepalive: true, // it may be the last thing that this page does
    }).catch(() => {}); // one message too many, at worst
  };
  const timer = setInterval(() => document.hidden || say(true), EVERY);
  document.addEventListener("visibilitychange", () => say(!document.hidden), { signal });
  addEventListener("pagehide", () => say(false), { signal });
  addEventListener("pageshow", ({ persisted }) => persisted && say(!document.hidden), { signal });
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    say(false);
  });
  if (!document.hidden) say(true);
}
