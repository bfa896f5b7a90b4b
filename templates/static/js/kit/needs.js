// The chats that need a person: how many stands in the title of every page, and a key goes to the next.

import { base, call } from "./api.js";
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
  const chats = [...new Set(await ("live" in document.body.dataset ? all() : first()))];
  const at = here ? chats.findIndex((url) => url.endsWith(`/${here}`)) : -1;
  const next = chats[(at + 1) % chats.length];
  if (!next) toast("No chat needs you.");
  else if (chats[at] === next) show();
  else location.assign(next);
}

/**
 * Addresses of all chats that ask, the one that is denied first at the top.
 * @returns {Promise<string[]>}
 */
async function all() {
  /** @type {{project: string, sessionId: string}[]} */
  const asks = (await call("GET", "/api/asks")).data.asks;
  return asks.map(
    ({ project, sessionId }) => `/projects/${encodeURIComponent(project)}/chats/${sessionId}`,
  );
}

/**
 * The first of them, as the other parts know them: their ports have no route of chats.
 * @returns {Promise<string[]>}
 */
async function first() {
  /** @type {{kind: string, url: string}[]} */
  const places = (await call("GET", `${base}/api/places`)).data.places;
  return places.filter(({ kind }) => kind === "asks").map(({ url }) => url);
}

/** It is asked on this page. */
function show() {
  const ask = document.querySelector(".ask");
  ask?.scrollIntoView({ block: "center" });
  /** @type {HTMLElement | null | undefined} */ (ask?.querySelector("button"))?.focus();
}
