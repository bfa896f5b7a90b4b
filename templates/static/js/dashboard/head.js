// The head of the page: its title, the counts by state, the search, and the switch of the look.

import { button, fill, h, icon, keep, mark } from "../kit/dom.js";
import { menu } from "../kit/menu.js";
import { store, storedValue } from "../kit/stored.js";
import { ORDER, stateOf } from "./words.js";

const LOOK = "svc.apps.look";

export class Head {
  only = new Set();
  look = storedValue(LOOK) === "list" ? "list" : "tiles";

  /** `changed()` when the filter or the look changed; `down()` moves the focus to the apps. */
  constructor({ changed, down, items }) {
    this.changed = changed;
    this.title = h("h1", {}, "Apps");
    this.counts = h("div", { class: "filters", role: "group", "aria-label": "Show only" });
    this.input = h("input", {
      ...{ class: "input slim", type: "search", placeholder: "Filter", id: "search" },
      ...{ "aria-label": "Filter apps, listeners and bookmarks", autocomplete: "off" },
      ...{ spellcheck: "false", "aria-keyshortcuts": "/" },
      oninput: () => changed({ atOnce: true }),
      onkeydown: (event) => this.onKey(event, down),
    });
    this.looks = h(
      "div",
      { class: "seg", role: "group", "aria-label": "Look" },
      this.choice("tiles", "Tiles", "apps"),
      this.choice("list", "List", "menu"),
    );
    const more = button("", {
      icon: "more",
      kind: "ghost only",
      "aria-label": "More of this page",
    });
    menu(more, items);
    this.node = h(
      "header",
      { class: "pagehead boardhead" },
      h("div", {}, this.title),
      this.counts,
      h(
        "div",
        { class: "line tools" },
        h("span", { class: "find" }, icon("search"), this.input, h("kbd", { class: "kbd" }, "/")),
        this.looks,
        more,
      ),
    );
  }

  choice(look, label, shape) {
    return h(
      "button",
      {
        type: "button",
        "aria-label": label,
        "aria-pressed": String(this.look === look),
        title: label,
        dataset: { look },
        onclick: () => this.choose(look),
      },
      icon(shape),
      h("span", {}, label),
    );
  }

  choose(look) {
    this.look = look;
    for (const one of this.looks.children)
      one.setAttribute("aria-pressed", String(one.dataset.look === look));
    store(LOOK, look);
    this.changed({ atOnce: true });
  }

  onKey(event, down) {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      down();
    } else if (event.key === "Escape" && this.input.value) {
      event.preventDefault();
      event.stopPropagation();
      this.clear();
    } else if (event.key === "Escape") this.input.blur();
  }

  /** Clear the filter; false when there is none. */
  clear() {
    if (!this.words.length && !this.only.size) return false;
    this.input.value = "";
    this.only.clear();
    this.changed({ atOnce: true });
    return true;
  }

  get words() {
    return this.input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  }

  /** Whether every typed word occurs in these texts. */
  fits(...texts) {
    const { words } = this;
    if (!words.length) return true;
    const all = texts.flat().filter(Boolean).join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  }

  draw(title, apps) {
    this.title.textContent = title;
    const count = (state) => apps.filter((app) => app.state === state).length;
    const counts = ORDER.map((state) => [state, count(state)]).filter(([, found]) => found);
    const there = new Map(/** @type {[string, number][]} */ (counts));
    for (const state of this.only) if (!there.has(state)) this.only.delete(state);
    keep(
      this.counts,
      [...there.keys()],
      (state) => state,
      (state) => this.chip(state),
    );
    for (const [state, found] of counts) {
      const node = this.counts.querySelector(`[data-key="${state}"]`);
      node.setAttribute("aria-pressed", String(this.only.has(state)));
      node.lastChild.textContent = `${found} ${stateOf(state).word.toLowerCase()}`;
    }
  }

  chip(state) {
    const press = () => {
      if (!this.only.delete(state)) this.only.add(state);
      this.changed({ atOnce: true });
    };
    const chip = h("button", { type: "button", class: "chip", onclick: press });
    return fill(chip, mark(stateOf(state), false), document.createTextNode(""));
  }
}
