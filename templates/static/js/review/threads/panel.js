// A list of some threads of the commit above its files: the outdated or the answered ones.

import { button, h, refill } from "../../kit/dom.js";
import { toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { worktree } from "../state.js";
import { address, beginning, standing } from "./words.js";

export class Panel {
  /**
   * `what` is "outdated" or "answered"; `wanted(thread)`: whether a thread is in the list; `go(id)`
   * goes to it; `words(thread)` are the first words of a row; `hint` is shown in the head.
   */
  constructor({ what, wanted, go, words, hint = "" }) {
    this.what = what;
    this.wanted = wanted;
    this.go = go;
    this.words = words;
    this.hint = hint;
    this.node = h("section", { class: `card listed ${what}-list`, hidden: true });
  }

  toggle(all) {
    if (!this.node.hidden) {
      this.node.hidden = true;
      return;
    }
    if (!this.open(all)) {
      toast(`No thread ${worktree ? "here" : "of this commit"} is ${this.what}.`);
      return;
    }
    this.node.scrollIntoView({ block: "nearest" });
    this.node.querySelector("li button").focus({ preventScroll: true });
  }

  /** Open the list; whether there is anything to show. */
  open(all) {
    this.node.hidden = false;
    this.draw(all);
    return !this.node.hidden;
  }

  draw(all) {
    if (this.node.hidden) return;
    const found = all.filter(this.wanted);
    this.node.hidden = !found.length;
    const close = button("", {
      icon: "x",
      kind: "ghost s only push",
      "aria-label": "Close the list",
      onclick: () => (this.node.hidden = true),
    });
    const title = h("h2", {}, plural(found.length, `${this.what} thread`));
    const hint = this.hint && h("span", { class: "tiny quiet phone-hide" }, this.hint);
    refill(
      this.node,
      h("header", {}, title, hint, close),
      h(
        "ul",
        {},
        found.map((thread) => h("li", {}, this.row(thread))),
      ),
    );
  }

  row(thread) {
    return h(
      "button",
      { type: "button", class: "row", onclick: () => this.go(thread.id) },
      h("span", { class: "mono cut" }, thread.original_path ?? address(thread)),
      h("span", { class: "cut grow soft" }, beginning(this.words(thread))),
      h("span", { class: "tiny quiet phone-hide" }, standing(thread)),
    );
  }
}
