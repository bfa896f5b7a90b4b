// The thinking of a model: shown while it is streamed, folded to one line afterwards.

import { fill, h } from "../../kit/dom.js";
import { markdown } from "../../kit/markdown.js";
import { span } from "../../kit/words.js";
import { turner } from "./calls.js";
import { clock } from "./clock.js";

const LONGEST = 50_000; // characters drawn as Markdown; longer text is shown as plain text

/** Finished thinking; `seconds` is its duration, 0 if unknown. */
export function thought({ content, offset }, seconds) {
  const head = h(
    "summary",
    {},
    turner(),
    h("span", {}, seconds >= 1 ? `Thought for ${span(seconds)}` : "Thought"),
    h("span", { class: "tiny cut" }, content.trim().slice(0, 200).replace(/\s+/g, " ")),
  );
  const node = h("details", { class: "thought", dataset: { at: offset } }, head);
  node.addEventListener("toggle", () => node.append(drawText(content)), { once: true });
  return node;
}

/** Thinking being streamed: open, with its newest lines visible, unless the user folds it. */
export class Pondering {
  text = "";

  constructor() {
    this.box = h("div", { class: "prose" });
    this.node = h(
      "details",
      { class: "thought", open: true },
      h(
        "summary",
        {},
        turner(),
        h("span", {}, "Thinking"),
        clock(new Date().toISOString(), "tiny"),
      ),
      h("div", { class: "ponder" }, this.box),
    );
  }

  add(text, again) {
    this.text = again ? text : this.text + text;
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      fill(this.box, ...drawText(this.text).childNodes);
    });
  }
}

function drawText(text) {
  if (text.length > LONGEST) return h("div", { class: "prose asis" }, text);
  return markdown(text, { breaks: true });
}
