// Announce changes of state to screen readers: gathered for a moment, then said in one sentence.

import { h } from "../kit/dom.js";
import { plural } from "../kit/words.js";
import { stateWords, stateOf } from "./words.js";

const GATHER_MS = 1000;
const SPOKEN = 3; // apps announced by name; of more than these, only the counts

export class Announcer {
  changes = new Map();
  timer = 0;

  constructor() {
    this.node = h("p", { class: "sr", role: "status" });
  }

  /** `hint` distinguishes apps of the same name. */
  tell(app, hint) {
    this.changes.set(app.slug, { ...app, name: hint ? `${app.name} ${hint}` : app.name });
    this.timer ||= setTimeout(() => this.speak(), GATHER_MS);
  }

  speak() {
    const apps = [...this.changes.values()];
    this.changes.clear();
    this.timer = 0;
    this.node.textContent =
      apps.length <= SPOKEN
        ? apps.map((app) => `${app.name}: ${stateWords({ ...app, last: null })}.`).join(" ")
        : `${plural(apps.length, "app")} changed: ${sums(apps)}.`;
  }
}

function sums(apps) {
  const groups = Object.entries(Object.groupBy(apps, ({ state }) => state));
  return groups
    .map(([state, all]) => `${all.length} ${stateOf(state).word.toLowerCase()}`)
    .join(", ");
}
