// A failed action: its reason and the last lines of the log.

import { button, h, icon } from "../kit/dom.js";

export function trouble({ reason, log }, about, close) {
  return h(
    "div",
    { class: "trouble", role: "group", "aria-label": about },
    h(
      "p",
      { class: "problem" },
      icon("alert"),
      h("span", {}, reason),
      button("", {
        icon: "x",
        kind: "ghost s only push",
        "aria-label": `Close: ${about}`,
        onclick: close,
      }),
    ),
    log?.length > 0 &&
      h("pre", { tabindex: "0", "aria-label": `Last lines of the log: ${about}` }, log.join("\n")),
  );
}
