// The chats that need a person: how many stands in the title of every page, and a key goes to the next.

import { call } from "./api.js";
import { toast } from "./toast.js";

const COUNT = /^\(\d+\+?\) /;
let count = 0;

/**
 * So many things stand still until somebody acts: "(2) Home".
 * @param {number} many
 */
export function needing(many) {
  count = many;
  entitle();
}

/** The page names itself as it likes; the number stays in front of that. */
function entitle() {
  const said = document.title.replace(COUNT, "");
  const title = count ? `(${count > 99 ? "99+" : count}) ${said}` : said;
  if (title !== document.title) document.title = title;
}

const title = document.querySelector("title");
if (title) new MutationObserver(entitle).observe(title, { childList: true });

/**
 * Go to the next chat that asks, behind the one that is shown (`here`, its id).
 * @param {string} here
 */
export async function nextNeeding(here) {
  const { asks } = (await call("GET", "/api/asks")).data;
  /** @type {{project: string, sessionId: string}[]} */
  const chats = asks.filter(
    (/** @type {{sessionId: string}} */ one, /** @type {number} */ n) =>
      asks.findIndex((/** @type {any} */ other) => other.sessionId === one.sessionId) === n,
  );
  const at = chats.findIndex(({ sessionId }) => sessionId === here);
  const next = chats[(at + 1) % chats.length];
  if (!next) toast("No chat needs you.");
  else if (next.sessionId === here) show();
  else location.assign(`/projects/${encodeURIComponent(next.project)}/chats/${next.sessionId}`);
}

/** It is asked on this page. */
function show() {
  const ask = document.querySelector(".ask");
  ask?.scrollIntoView({ block: "center" });
  /** @type {HTMLElement | null | undefined} */ (ask?.querySelector("button"))?.focus();
}
