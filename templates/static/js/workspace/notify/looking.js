// Says that a person can see this chat, so that nobody is told of what they see end.

import { P } from "../../kit/api.js";
import { where } from "../../kit/shell.js";

const EVERY = 20_000; // ms; the service believes it for 45 s
const page = Math.random().toString(36).slice(2, 12);

/** @param {boolean} looks */
function say(looks) {
  fetch(P(where.project, "chats", where.chat, "look"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page, looking: looks }),
    keepalive: true, // it may be the last thing that this page does
  }).catch(() => {}); // one message too many, at worst
}

if (where.chat) {
  document.addEventListener("visibilitychange", () => say(!document.hidden));
  addEventListener("pagehide", () => say(false));
  addEventListener("pageshow", ({ persisted }) => persisted && say(!document.hidden));
  setInterval(() => document.hidden || say(true), EVERY);
  if (!document.hidden) say(true);
}
