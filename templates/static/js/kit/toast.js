// Short messages at the foot of the page, the newest last; one with an action waits 8 s, the time to
// undo. Each has its own time, which rests while the pointer or the focus is on it.

import { h } from "./dom.js";

const place = document.getElementById("toasts");
const MOST = 3;

/**
 * Say `text`; with `action` (a word) and `act` it can be undone, `bad` stays longer. What is said
 * of the same thing (`about`) takes the place of what was said of it before.
 */
export function toast(text, { action, act, bad = false, about = "" } = {}) {
  if (about) [...place.children].find((one) => one.dataset.about === about)?.remove();
  const label = action ?? (bad ? "Close" : null);
  const node = h("div", { class: bad ? "toast bad" : "toast" }, h("span", {}, text));
  const end = lasting(node, action ? 8000 : bad ? 10000 : 5000);
  if (label) {
    const press = () => {
      end();
      if (action) act();
    };
    node.append(h("button", { type: "button", class: "btn s", onclick: press }, label));
  }
  if (about) node.dataset.about = about;
  makeRoom(text);
  const dock = document.querySelector(".dock")?.getBoundingClientRect();
  place.style.bottom = dock ? `${innerHeight - dock.top + 8}px` : ""; // never over what one writes in
  place.append(node);
}

/** A message said again takes its own place; the oldest goes first, one with an Undo last. */
function makeRoom(text) {
  const shown = [...place.children];
  const undo = (node) => node.querySelector(".btn") && !node.classList.contains("bad");
  shown.find((node) => node.firstChild.textContent === text && !undo(node))?.remove();
  const left = [...place.children];
  if (left.length >= MOST) (left.find((node) => !undo(node)) ?? left[0]).remove();
}

/** Remove `node` after `ms` in which nobody points at it; returns what removes it now. */
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

export async function copy(text, said) {
  await navigator.clipboard.writeText(text);
  toast(said);
}

/** Run an action of a button: busy while it runs, a toast with the reason when it fails. */
export async function attempt(event, work) {
  const control = event?.currentTarget;
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
