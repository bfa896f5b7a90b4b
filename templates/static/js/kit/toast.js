// Short messages at the foot of the page, the newest last; one with an action waits 8 s, the time to
// undo. Each has its own time, which rests while the pointer or the focus is on it.

import { h } from "./dom.js";

const place = /** @type {HTMLElement} */ (document.getElementById("toasts"));
const MOST = 3;
const FOOT = 80; // pixels: what ends higher is not covered by one of them

/**
 * Say `text`; with `action` (a word) and `act` it can be undone, `bad` stays longer. What is said
 * of the same thing (`about`) takes the place of what was said of it before.
 * @param {string} text
 * @param {{action?: string, act?: () => unknown, bad?: boolean, about?: string}} [options]
 */
export function toast(text, { action, act, bad = false, about = "" } = {}) {
  if (about)
    shown()
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

/** They stand in the modal dialogue that is on top: beside it nothing is seen, pressed or read out. */
export function overAll() {
  const above = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body;
  if (place.parentElement !== above) above.append(place);
}

/** Where they stand: never over what one writes in or saves with at the foot of the page. */
function overFoot() {
  const foot = place.parentElement?.querySelector(".dock, .savebar")?.getBoundingClientRect();
  return foot && foot.bottom > innerHeight - FOOT ? `${innerHeight - foot.top + 8}px` : "";
}

const shown = () => /** @type {HTMLElement[]} */ ([...place.children]);

/**
 * A message said again takes its own place; the oldest goes first, one with an Undo last.
 * @param {string} text
 */
function makeRoom(text) {
  /** @param {Element} node */
  const undo = (node) => node.querySelector(".btn") && !node.classList.contains("bad");
  shown()
    .find((node) => node.firstChild?.textContent === text && !undo(node))
    ?.remove();
  const left = shown();
  if (left.length >= MOST) (left.find((node) => !undo(node)) ?? left[0]).remove();
}

/**
 * Remove `node` after `ms` without the pointer over it; returns what removes it now.
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
 * Run an action of a button: busy while it runs, a toast with the reason when it fails. A button that
 * is busy with it is not pressed again: who clicks twice means once.
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
