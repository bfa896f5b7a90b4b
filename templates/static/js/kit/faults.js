// An uncaught error says so in the page, not only in the console.

import { button, h, icon } from "./dom.js";

const bars = /** @type {HTMLElement} */ (document.getElementById("bars"));
/** @type {HTMLElement | null} */
let bar = null;

/** @param {any} reason */
function say(reason) {
  const lost = reason?.status === 0; // the bar of the connection says that
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

/**
 * Also a script that could not be loaded, which only a listener on the way down hears of.
 * @param {ErrorEvent} event
 */
function heard(event) {
  if (event.target instanceof HTMLScriptElement) say("a script of it did not load.");
  else if (event.target === window) say(event.error ?? event);
}

addEventListener("error", heard, true);
addEventListener("unhandledrejection", (event) => say(event.reason));
