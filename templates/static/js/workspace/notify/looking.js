// Reports that the user is looking at this chat, so that no notification is sent about it.

import { P } from "../../kit/api.js";

const EVERY = 20_000; // ms; a report is valid for 45 s
const page = Math.random().toString(36).slice(2, 12);

/**
 * Report it from now until the signal aborts.
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
      keepalive: true, // the page may be closing
    }).catch(() => {}); // at worst one unneeded notification
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
