// The badges on the rail: how many things in each part wait for the user. No badge for zero.

import { base, call } from "./api.js";
import { h, settle } from "./dom.js";
import { needing } from "./needs.js";
import { partLink } from "./rail.js";

const EVERY = 30_000; // ms, while the page is visible
const REST = 250; // ms after a change

/**
 * Show the badges immediately, after changes (`onChange` is the shell's) and every 30 s.
 * @param {(refresh: () => void) => unknown} onChange
 */
export function badges(onChange) {
  const soon = settle(REST, refresh);
  onChange(soon);
  setInterval(() => document.hidden || refresh(), EVERY);
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  refresh();
}

async function refresh() {
  const answer = await call("GET", `${base}/api/badges`).catch(() => null);
  if (!answer) return;
  /** @type {{part: string, count: number, label: string, urgent: boolean}[]} */
  const all = answer.data.badges;
  for (const { part, count, label, urgent } of all) show(part, count, label, urgent);
  needing(all.reduce((sum, { count, urgent }) => sum + (urgent ? count : 0), 0));
}

/**
 * @param {string} part
 * @param {number} count
 * @param {string} label
 * @param {boolean} urgent
 */
function show(part, count, label, urgent) {
  const place = partLink(part);
  const pip = /** @type {HTMLElement | null | undefined} */ (place?.querySelector(".pip"));
  const words = count > 99 ? "99+" : String(count);
  if (!place || (pip?.dataset.said ?? "0 ") === `${count} ${label}`) return;
  pip?.remove();
  place.querySelector(".pip-label")?.remove();
  if (!count) return;
  place.append(
    h(
      "span",
      {
        class: urgent ? "pip urgent" : "pip",
        "aria-hidden": "true",
        dataset: { said: `${count} ${label}` },
      },
      words,
    ),
    h("span", { class: "sr pip-label" }, `, ${count} ${label}`),
  );
}
