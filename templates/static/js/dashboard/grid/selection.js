// The selected apps, and the bar of actions on all of them.

import { button, fill, h } from "../../kit/dom.js";
import { plural } from "../../kit/words.js";

export class Selection {
  slugs = new Set();
  anchor = "";

  /** `acts`: [{label, icon, act(slugs), key}] of the bar; `changed()` when ticks changed. */
  constructor({ acts, changed }) {
    this.changed = changed;
    this.count = h("span", { class: "strong", role: "status" });
    this.bar = h(
      "div",
      { class: "picked-bar", role: "toolbar", "aria-label": "Selected apps", hidden: true },
      this.count,
      acts.map(({ label, icon: shape, act }) =>
        button(label, { icon: shape, kind: "s", onclick: () => act([...this.slugs]) }),
      ),
      button("", {
        icon: "x",
        kind: "s ghost only",
        "aria-label": "Select none",
        onclick: () => this.clear(),
      }),
    );
  }

  get size() {
    return this.slugs.size;
  }

  has(slug) {
    return this.slugs.has(slug);
  }

  /** Toggle an app; a `range` of several slugs is added to the selection instead. */
  pick(slug, range) {
    if (range.length > 1) for (const one of range) this.slugs.add(one);
    else if (!this.slugs.delete(slug)) this.slugs.add(slug);
    this.anchor = slug;
    this.show();
  }

  clear() {
    this.slugs.clear();
    this.anchor = "";
    this.show();
  }

  /** Deselect apps that are not in `known`. */
  keep(known) {
    const before = this.size;
    for (const slug of this.slugs) if (!known.has(slug)) this.slugs.delete(slug);
    if (this.size !== before) this.show({ quiet: true });
  }

  show({ quiet = false } = {}) {
    this.bar.hidden = this.size === 0;
    fill(this.count, `${plural(this.size, "app")} selected`);
    if (!quiet) this.changed();
  }
}
