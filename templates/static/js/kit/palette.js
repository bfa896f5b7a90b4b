// Ctrl/Cmd-K: the palette of all places of the three parts and of this page's actions. It is a
// combobox over a listbox.

import { base, call } from "./api.js";
import { dialog } from "./dialog.js";
import { button, fill, h, icon, settle } from "./dom.js";
import { caps } from "./keys.js";
import { PAGE, rankEntries } from "./ranking.js";
import { store } from "./stored.js";

/** @typedef {import("./ranking.js").Place} Place */
/** @typedef {import("./ranking.js").Action} Action */
/** @typedef {import("./ranking.js").Entry} Entry */

/** @type {Record<string, string>} */
const PART_ICONS = { main: "chat", review: "review", dashboard: "apps" };
/** @type {Record<string, string>} */
const ICONS = {
  ...{ page: "file", project: "folder", chat: "chat", trigger: "bolt" },
  ...{ asks: "shield", review: "review", commit: "branch", app: "apps", bookmark: "out" },
};
const RECENT = "svc.recent";
const REMEMBERED = 6;
const REST = 90; // ms after the last key
/** @type {Action[]} */
const actions = [];

/**
 * Offer an action of this page; actions of every page name a `group`. `key` is only shown: register
 * it with key(). Returns a function that removes the action, as `signal` does.
 * @param {string} label
 * @param {() => unknown} act
 * @param {{icon?: string, hint?: string, key?: string, group?: string, signal?: AbortSignal}} [options]
 */
export function action(
  label,
  act,
  { icon: shape = "right", hint = "", key = "", group = PAGE, signal } = {},
) {
  const entry = { label, act, icon: shape, hint, key, group };
  actions.push(entry);
  const back = () => actions.splice(actions.indexOf(entry), 1);
  signal?.addEventListener("abort", back);
  return back;
}

/** Open the palette; nothing happens while another dialogue is open. */
export function palette() {
  if (!document.querySelector("dialog[open]")) new Palette();
}

class Palette {
  /** @type {Entry[]} */
  shown = [];
  at = 0;
  /** @type {Place[]} */
  places = [];
  problem = "";
  /** @type {{said: string, answer: Promise<void>} | null} */
  asked = null;
  /** @type {string | undefined} the words for which `places` is the answer */
  answered;

  constructor() {
    this.list = h("div", {
      id: "places",
      class: "options",
      role: "listbox",
      "aria-label": "Places",
    });
    this.status = h("p", { class: "hint", role: "status" });
    this.input = h("input", {
      ...{ class: "input", type: "text", role: "combobox", placeholder: "Search or jump to…" },
      ...{ "aria-label": "Search or jump to", "aria-expanded": "true", "aria-controls": "places" },
      ...{ "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" },
    });
    const close = button("Close", { kind: "ghost phone-only", onclick: () => this.node.close() });
    const head = h("div", { class: "line" }, this.input, close);
    this.node = dialog("Go to", head, this.list, this.status);
    this.node.classList.add("goto");
    const later = settle(REST, () => this.ask());
    this.input.addEventListener("input", () => {
      this.at = 0;
      this.draw();
      later();
    });
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.draw();
    this.ask();
    this.input.focus();
  }

  words() {
    return this.input.value.trim();
  }

  /** Fetch the places for the typed words; a second call in the meantime awaits the same answer. */
  ask() {
    const said = this.words();
    if (this.asked?.said !== said) this.asked = { said, answer: this.fetch(said) };
    return this.asked.answer;
  }

  /** @param {string} said */
  async fetch(said) {
    let places = [];
    let problem = "";
    try {
      const path = `${base}/api/places?q=${encodeURIComponent(said)}`;
      places = (await call("GET", path)).data.places;
    } catch (error) {
      problem = error.message;
    }
    if (this.asked?.said !== said) return; // only the newest answer counts
    this.places = places;
    this.problem = problem;
    this.answered = said;
    if (this.node.open) this.draw();
  }

  groups() {
    const words = this.words();
    const { places } = this;
    return rankEntries({
      words,
      kept: recent(),
      actions,
      places,
      answered: this.answered === words,
    });
  }

  draw() {
    const groups = this.groups();
    this.shown = groups.flatMap(([, entries]) => entries);
    this.at = Math.min(this.at, Math.max(0, this.shown.length - 1));
    let n = 0;
    fill(
      this.list,
      groups.map(([label, entries], g) => [
        h(
          "div",
          { role: "group", "aria-labelledby": `places-${g}` },
          h("div", { id: `places-${g}`, class: "options-head", role: "presentation" }, label),
          entries.map((entry) => this.option(entry, n++)),
        ),
      ]),
    );
    this.point();
    const waiting = this.answered !== this.words();
    this.status.textContent =
      this.problem ||
      (this.shown.length || waiting ? "" : `Nothing by the name “${this.words()}”.`);
  }

  /**
   * @param {Entry} entry
   * @param {number} n
   */
  option(entry, n) {
    return h(
      "div",
      {
        id: `place-${n}`,
        role: "option",
        class: "option",
        "aria-selected": "false",
        onclick: (/** @type {MouseEvent} */ event) =>
          this.choose(entry, event.ctrlKey || event.metaKey),
      },
      icon(entry.icon ?? ICONS[entry.kind ?? ""] ?? PART_ICONS[entry.part ?? ""] ?? "right"),
      h("span", { class: "cut" }, entry.label),
      entry.hint && h("span", { class: "hint cut push" }, entry.hint),
      entry.key && h("span", { class: "line" }, caps(entry.key)),
    );
  }

  /** Mark the chosen option without redrawing the others. */
  point() {
    this.list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    const node = document.getElementById(`place-${this.at}`);
    node?.setAttribute("aria-selected", "true");
    node?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", node ? node.id : "");
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const count = this.shown.length || 1;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: (this.at + 1) % count,
      ArrowUp: (this.at - 1 + count) % count,
      PageDown: Math.min(this.at + 8, count - 1),
      PageUp: Math.max(this.at - 8, 0),
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.at = next;
      this.point();
    } else if (event.key === "Enter" && event.target === this.input && !event.isComposing) {
      event.preventDefault();
      this.enter(event.ctrlKey || event.metaKey);
    }
  }

  /**
   * Enter may follow the typing at once: wait for the answer to the typed words, then choose.
   * @param {boolean} aside
   */
  async enter(aside) {
    if (this.answered !== this.words()) await this.ask();
    if (this.node.open && this.shown[this.at]) this.choose(this.shown[this.at], aside);
  }

  /**
   * @param {Entry} entry
   * @param {boolean} aside
   */
  choose(entry, aside) {
    this.node.close();
    if (entry.act) {
      entry.act();
      return;
    }
    const { url = "" } = entry;
    if (!/^(https?:\/)?\//.test(url)) return;
    remember(/** @type {Place} */ (entry));
    if (aside || entry.kind === "bookmark") open(url, "_blank", "noopener");
    else location.assign(url);
  }
}

/** @returns {Place[]} */
function recent() {
  try {
    return JSON.parse(localStorage.getItem(RECENT) ?? "null") ?? [];
  } catch {
    return [];
  }
}

/** @param {Place} place */
function remember({ label, kind, part, url, hint }) {
  const kept = recent().filter((one) => one.url !== url);
  const next = [{ label, kind, part, url, hint }, ...kept].slice(0, REMEMBERED);
  store(RECENT, JSON.stringify(next));
}
