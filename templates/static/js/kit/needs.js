// Chats that need the user: the title of every page shows how many, and a key goes to the next one.

import { base, call } from "./api.js";
import { toast } from "./toast.js";

const COUNT = /^\(\d+\+?\) /;
let count = 0;

/**
 * Show in the title how many things wait for the user: "(2) Home".
 * @param {number} many
 */
export function needing(many) {
  count = many;
  entitle();
}

/** Put the number before the title, also after the page has changed its title. */
function entitle() {
  const said = document.title.replace(COUNT, "");
  const title = count ? `(${count > 99 ? "99+" : count}) ${said}` : said;
  if (title !== document.title) document.title = title;
}

const title = document.querySelector("title");
if (title) new MutationObserver(entitle).observe(title, { childList: true });

/**
 * Go to the next chat that asks, after the one shown (`here`, its id).
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
 * The URLs of all chats that ask, ordered by when their question is denied, the earliest first.
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
 * The first of these URLs, for pages of the other parts, whose ports have no routes of chats.
 * @returns {Promise<string[]>}
 */
async function first() {
  /** @type {{kind: string, url: string}[]} */
  const places = (await call("GET", `${base}/api/places`)).data.places;
  return places.filter(({ kind }) => kind === "asks").map(({ url }) => url);
}

/** Scroll to the question on this page, and focus its first button. */
function show() {
  const ask = document.querySelector(".ask");
  ask?.scrollIntoView({ block: "center" });
  /** @type {HTMLElement | null | undefined} */ (ask?.querySelector("button"))?.focus();
}
