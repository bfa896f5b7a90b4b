// What every page has: theme, keys, the palette (Ctrl K), badges of the parts, the live connection,
// and a report of uncaught errors.

import { badges } from "./badges.js";
import { help, key } from "./keys.js";
import { menu } from "./menu.js";
import { nextNeeding } from "./needs.js";
import { item as notifying } from "./notify.js";
import { action, palette } from "./palette.js";
import { partLink } from "./rail.js";
import { follow } from "./stream.js";
import "./faults.js";
import { choices } from "./theme.js";
import { attempt } from "./toast.js";

export const where = {
  project: document.body.dataset.project ?? "",
  chat: document.body.dataset.chat ?? "",
  live: "live" in document.body.dataset,
};

const EVERYWHERE = { group: "Everywhere" };
/** @param {string} place */
const go = (place) => () => location.assign(place);
const workspace = partLink("main");

key("Ctrl+k", "Go anywhere", palette, EVERYWHERE);
key("?", "These keys", help, EVERYWHERE);
key("Escape", "Close, or go back to the list", undefined, EVERYWHERE);
for (const [keys, label, link] of /** @type {const} */ ([
  ["g h", "Workspace", workspace],
  ["g v", "Review", partLink("review")],
  ["g a", "Apps", partLink("dashboard")],
]))
  if (link) key(keys, label, go(link.href), EVERYWHERE);

const next = () => attempt(null, () => nextNeeding(where.chat));
key("g n", "The next chat that needs you", next, EVERYWHERE);
action("Next chat that needs you", next, { icon: "shield", key: "g n", ...EVERYWHERE });

if (where.live) {
  const project = where.project && `/projects/${encodeURIComponent(where.project)}`;
  key("g s", "Search all chats", go("/search"), EVERYWHERE);
  action("Search all chats", go("/search"), { icon: "search", key: "g s", ...EVERYWHERE });
  key("g r", "Runs", go(`${project}/runs`), EVERYWHERE);
  if (project) {
    key("g t", "Triggers of this project", go(`${project}/triggers`), EVERYWHERE);
    key("g c", "Chats of this project", go(`${project}/chats`), EVERYWHERE);
  }
}

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

for (const { label, icon, act } of choices())
  action(`Theme: ${label.toLowerCase()}`, act, { icon, ...EVERYWHERE });
action("Keys and help", help, { icon: "help", key: "?", ...EVERYWHERE });
const settings = workspace
  ? [
      {
        label: "Settings of notifications",
        icon: "out",
        act: () => location.assign(new URL("settings", workspace.href)),
      },
    ]
  : [];
action("Notifications: on or off in this browser", () => notifying().act(), {
  icon: "bell",
  ...EVERYWHERE,
});
menu(byId("bell"), () => [notifying(), ...settings]);
menu(byId("theme"), choices);
menu(byId("more"), () => [
  notifying(),
  ...settings,
  "-",
  ...choices(),
  "-",
  { label: "Keys and help", icon: "help", act: help },
]);
byId("help").addEventListener("click", help);
byId("palette").addEventListener("click", palette);

/** @type {Set<() => unknown>} */
const watchers = new Set();
const refreshAll = () => watchers.forEach((refresh) => refresh());

/**
 * Call `refresh` when something in the service has changed, and when the connection is back.
 * @param {() => unknown} refresh
 */
export const onChange = (refresh) => watchers.add(refresh);

const NEWS = where.live ? ["resync", "project", "chat", "run", "pause"] : ["asks"];
follow("/api/events", Object.fromEntries(["open", ...NEWS].map((name) => [name, refreshAll])));
badges(onChange);
