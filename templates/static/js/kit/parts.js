// Parts every page shares: where it is drawn, empty states, a problem, a command to copy.

import { button, h, icon } from "./dom.js";
import { copy } from "./toast.js";
import { absolute } from "./words.js";

export const page = () => document.getElementById("page");

export const empty = (words, ...actions) =>
  h("div", { class: "nothing" }, h("p", { class: "soft" }, words), actions);

export function problem(text) {
  return h("div", { class: "banner bad", role: "alert" }, icon("alert"), h("div", {}, text));
}

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

export const exactly = (iso) => (iso ? absolute(iso) : "–");
