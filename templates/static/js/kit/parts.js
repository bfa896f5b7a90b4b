// Parts that pages share: the container, empty states, a problem, a command to copy.

import { button, h, icon } from "./dom.js";
import { copy } from "./toast.js";
import { absolute } from "./words.js";

/** @typedef {import("./dom.js").Child} Child */

export const page = () => /** @type {HTMLElement} */ (document.getElementById("page"));

/** @type {(words: Child, ...actions: Child[]) => HTMLElement} */
export const empty = (words, ...actions) =>
  h("div", { class: "nothing" }, h("p", { class: "soft" }, words), actions);

/** @param {Child} text */
export function problem(text) {
  return h("div", { class: "banner bad", role: "alert" }, icon("alert"), h("div", {}, text));
}

/** @type {(text: string, label: string) => HTMLElement} */
export const command = (text, label) =>
  h(
    "p",
    { class: "cmd" },
    h("code", {}, text),
    button("", {
      icon: "copy",
      kind: "ghost s only",
      "aria-label": `Copy: ${label}`,
      onclick: () => copy(text, "Copied"),
    }),
  );

/** @type {(iso?: string | null) => string} */
export const exactly = (iso) => (iso ? absolute(iso) : "–");
