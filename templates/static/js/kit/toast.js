// Short messages at the foot of the page, the newest last; one with an action stays 8 s, the time
// to undo. Each has its own timer, which pauses while the pointer or the focus is on the message.

import { h } from "./dom.js";

const place = /** @type {HTMLElement} */ (document.getElementById("toasts"));
const MOST = 3;
const FOOT = 80; // pixels: a toast does not cover what ends higher

/**
 * Show `text`; with `action` (a word) and `act` it can be undone; `bad` stays longer. A message
 * replaces an earlier one that is `about` the same thing.
 * @param {string} text
 * @param {{action?: string, act?: () => unknown, bad?: boolean, about?: string}} [options]
 */
export function toast(text, { action, act, bad = false, about = "" } = {}) {
  if (about)
    shownToasts()
      .find((one) => one.dataset.about === about)
      ?.remove();
  const label = action ?? (bad ? "Close" : null);
  const node = h("div", { class: bad ? "toast bad" : "toast" }, h("span", {}, text));
  const end = lasting(node, action ? 8000 : bad ? 10000 : 5000);
  if (label) {
    const press = () => {
      end();
      if (action) act?.();
    };
    node.append(h("button", { type: "button", class: "btn s", onclick: press }, label));
  }
  if (about) node.dataset.about = about;
  makeRoom(text);
  overAll();
  place.style.bottom = overFoot();
  place.append(node);
}

/** Move the toasts into the topmost modal dialogue: outside it they are hidden and inert. */
export function overAll() {
  const above = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body;
  if (place.parentElement !== above) above.append(place);
}

/** The `bottom` of the toasts: above the composer or the save bar at the foot of the page. */
function overFoot() {
  const foot = place.parentElement?.querySelector(".dock, .savebar")?.getBoundingClientRect();
  return foot && foot.bottom > innerHeight - FOOT ? `${innerHeight - foot.top + 8}px` : "";
}

const shownToasts = () => /** @type {HTMLElement[]} */ ([...place.children]);

/**
 * A repeated message replaces the earlier one. If there are too many, remove the oldest, but one
 * with an Undo only when all have one.
 * @param {string} text
 */
function makeRoom(text) {
  /** @param {Element} node */
  const undo = (node) => node.querySelector(".btn") && !node.classList.contains("bad");
  shownToasts()
    .find((node) => node.firstChild?.textContent === text && !undo(node))
    ?.remove();
  const left = shownToasts();
  if (left.length >= MOST) (left.find((node) => !undo(node)) ?? left[0]).remove();
}

/**
 * Remove `node` after `ms` without pointer or focus on it; returns a function that removes it now.
 * @param {HTMLElement} node
 * @param {number} ms
 */
function lasting(node, ms) {
  let timer = 0;
  let begun = 0;
  const end = () => {
    clearTimeout(timer);
    node.remove();
  };
  const run = () => {
    clearTimeout(timer);
    begun = Date.now();
    timer = setTimeout(end, ms);
  };
  const rest = () => {
    clearTimeout(timer);
    ms = Math.max(1000, ms - (Date.now() - begun));
    begun = Date.now();
  };
  node.addEventListener("pointerenter", rest);
  node.addEventListener("pointerleave", run);
  node.addEventListener("focusin", rest);
  node.addEventListener("focusout", run);
  run();
  return end;
}

/**
 * @param {string} text
 * @param {string} said
 */
export async function copy(text, said) {
  await navigator.clipboard.writeText(text);
  toast(said);
}

/**
 * Run a button's action: the button is busy while it runs, and a toast says why it failed. Presses
 * of a busy button are ignored, so that a double click acts once.
 * @template T
 * @param {{currentTarget: any} | null | undefined} event
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function attempt(event, work) {
  const control = event?.currentTarget;
  if (control?.matches?.("button[aria-busy=true]")) return undefined;
  control?.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (error) {
    toast(error.message, { bad: true });
    return undefined;
  } finally {
    control?.removeAttribute("aria-busy");
  }
}
