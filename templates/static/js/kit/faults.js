// Show uncaught errors in the page, not only in the console.

import { button, h, icon } from "./dom.js";

const bars = /** @type {HTMLElement} */ (document.getElementById("bars"));
/** @type {HTMLElement | null} */
let bar = null;

/** @param {any} reason */
function say(reason) {
  const lost = reason?.status === 0; // reported by the bar of the connection
  if (lost || reason?.name === "AbortError") return;
  const words = reason?.message ?? String(reason ?? "no reason was given");
  bar?.remove();
  bar = h(
    "div",
    { class: "bar bad" },
    icon("alert"),
    h("span", { class: "grow" }, `Something in this page failed: ${words}`),
    button("Reload", { kind: "s", onclick: () => location.reload() }),
    button("", {
      icon: "x",
      kind: "ghost s only",
      "aria-label": "Close this message",
      onclick: () => bar?.remove(),
    }),
  );
  bars.append(bar);
}

addEventListener("error", (event) => say(event.error ?? event));
addEventListener("unhandledrejection", (event) => say(event.reason));
