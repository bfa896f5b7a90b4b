// The keyboard shortcuts of a page: one listener, sequences, and the list that "?" shows.

import { base } from "./api.js";
import { dialog } from "./dialog.js";
import { h, icon } from "./dom.js";

const FIELD = /^(?!button|checkbox|color|file|radio|range|reset|submit$)/;
const ACTING =
  "a[href], button, summary, select, input, [role=option], [role^=menuitem], [role=tab]";
const PATIENCE = 1500; // ms between the two keys of a sequence
/** @type {Entry[]} */
const keys = [];
/** @type {string[]} */
let begun = [];
let timer = 0;

/**
 * @typedef {{names: string[], meaning: string, act?: (event: KeyboardEvent) => unknown,
 *   group: string, when?: () => unknown, typing: boolean}} Entry
 */

/**
 * Register a key and list it in the help. `name` is "j", "J", "]", "/", "Escape",
 * "Alt+ArrowDown", "Ctrl+Enter" (Cmd on a Mac), a sequence "g h", or an array of names.
 *
 * Keys are off while a dialogue is open. While the user types, only names with Ctrl and keys with
 * `typing: true` are on. `when()` may refuse; `act(event)` may return false to leave the key alone.
 * Without `act` the key is only listed. Returns a function that unregisters it, as `signal` does.
 * @param {string | string[]} name
 * @param {string} meaning
 * @param {Entry["act"]} [act]
 * @param {{group?: string, when?: () => unknown, typing?: boolean, signal?: AbortSignal}} [options]
 */
export function key(
  name,
  meaning,
  act,
  { group = "This page", when, typing = false, signal } = {},
) {
  const names = [name].flat();
  const entry = { names, meaning, act, group, when, typing };
  keys.push(entry);
  const back = () => keys.splice(keys.indexOf(entry), 1);
  signal?.addEventListener("abort", back);
  return back;
}

/**
 * Whether this element receives typed letters.
 * @param {any} node
 */
export const typesInto = (node) =>
  Boolean(
    node?.isContentEditable ||
    node?.matches?.("textarea, select") ||
    (node?.matches?.("input") && FIELD.test(node.type)),
  );

/**
 * "J", "Alt+ArrowDown", "Ctrl+Enter": the name of what was pressed.
 * @param {KeyboardEvent} event
 */
function keyName(event) {
  const third = event.getModifierState?.("AltGraph"); // "]" on many keyboards: no modifier
  const ctrl = !third && (event.ctrlKey || event.metaKey);
  const alt = !third && event.altKey;
  const shift = event.shiftKey && (event.key.length > 1 || ctrl || alt);
  const letter = event.key.length === 1 && ctrl ? event.key.toLowerCase() : event.key;
  return [ctrl && "Ctrl", alt && "Alt", shift && "Shift", letter].filter(Boolean).join("+");
}

/**
 * Whether the target handles the key itself, as a button does Enter.
 * @type {(name: string, target: any) => boolean}
 */
const native = (name, target) =>
  (/^(Enter| )$/.test(name) && target.closest?.(ACTING)) ||
  (/^Arrow/.test(name) && target.matches?.("[type=radio], [type=range]"));

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (["Control", "Shift", "Alt", "Meta", "AltGraph"].includes(event.key)) return;
  const name = keyName(event);
  const target = /** @type {Element} */ (event.target);
  if (document.querySelector("dialog[open]") || native(name, target)) return;
  // A field of a dialogue that has just closed keeps the focus until the next drawing.
  const typing = typesInto(target) && target.checkVisibility();
  const open = keys.filter(
    (one) =>
      (!typing || one.typing || name.startsWith("Ctrl+")) && one.act && (one.when?.() ?? true),
  );
  const said = [...begun, name].join(" ");
  clearTimeout(timer);
  begun = [];
  if (open.some((one) => one.names.some((full) => full.startsWith(`${said} `)))) {
    event.preventDefault(); // the first key of a sequence
    begun = said.split(" ");
    timer = setTimeout(() => (begun = []), PATIENCE);
    return;
  }
  for (const one of open.reverse()) {
    if (!one.names.includes(said) || one.act?.(event) === false) continue;
    event.preventDefault();
    return;
  }
}

const MAC = /mac|iphone|ipad/i.test(navigator.platform);
/** @type {Record<string, string>} */
const CAPS = {
  Ctrl: MAC ? "⌘" : "Ctrl",
  Alt: MAC ? "⌥" : "Alt",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

/**
 * "Ctrl+Enter" → key caps; a letter after Ctrl or Alt is shown as a capital, as on the key.
 * @param {string} name
 */
export const caps = (name) =>
  name.split(" ").flatMap((chord) => {
    const parts = chord.length > 1 ? chord.split("+") : [chord];
    return parts.map((part) =>
      h(
        "kbd",
        { class: "kbd" },
        CAPS[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part),
      ),
    );
  });

/**
 * Two names are joined by "or"; longer rows, such as the four arrows, need no word.
 * @param {string[]} names
 */
const alternatives = (names) =>
  names.map((name, n) => [n && names.length === 2 ? " or " : "", caps(name)]);

/** The dialog that lists every key by group, those of the page first. */
export function help() {
  /** @type {Map<string, Entry[]>} */
  const groups = new Map();
  for (const one of [...keys].reverse())
    groups.set(one.group, [one, ...(groups.get(one.group) ?? [])]);
  const close = h(
    "button",
    {
      type: "button",
      class: "btn ghost only push",
      "aria-label": "Close",
      onclick: () => node.close(),
    },
    icon("x"),
  );
  const node = dialog(
    "Keys and help",
    h("header", { class: "line" }, h("h2", { class: "big" }, "Keys"), close),
    h(
      "div",
      { class: "keygroups" },
      [...groups].map(([group, entries]) => [
        h(
          "section",
          { class: "keygroup" },
          h("h3", {}, group),
          h(
            "dl",
            { class: "facts keys" },
            entries.map((one) => [h("dt", {}, alternatives(one.names)), h("dd", {}, one.meaning)]),
          ),
        ),
      ]),
    ),
    h(
      "p",
      { class: "hint" },
      "Everything here is also in the JSON API: ",
      h("a", { class: "link", href: `${base}/api/docs` }, "its pages"),
      ".",
    ),
  );
}

document.addEventListener("keydown", onKey);
