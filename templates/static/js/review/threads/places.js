// The places of cards and boxes: below their line, at the top of their file, or above all files.
//
// A file is drawn late, redrawn, folded and unfolded; the nodes in it are put back each time, with
// the focus they had.

import { h } from "../../kit/dom.js";
import { pace } from "../../kit/pace.js";
import { onOther, state } from "../state.js";
import { isOld } from "./words.js";

const views = new Map(); // path → FileView
const items = new Map(); // key → {holder, node, at, order}
const above = h("div", { class: "stack threads", id: "general-threads" });
let held = null; // the element of an item that has the focus

document.addEventListener("focusin", ({ target }) => (held = target));
document.addEventListener("pointerdown", ({ target }) => {
  if (!held?.contains(target)) held = null;
});

/** Add the place above all files, for nodes that belong to no file; once, at the start. */
export const settleAbove = (general) => general.append(above);

/**
 * Put `holder.node` at `at` = {path, side, line}; path null: above all files, line null: at the top
 * of the file. `order` sorts the nodes at one place. A node with a known key moves only if
 * necessary. The node is accessed only once its place exists.
 */
export function stand(key, holder, at, order) {
  const item = items.get(key) ?? { node: null };
  items.set(key, Object.assign(item, { holder, at, order }));
  put(item);
}

export function leave(key) {
  items.get(key)?.node?.remove();
  items.delete(key);
}

onOther(() => {
  for (const { node } of items.values()) node?.remove();
  items.clear();
  views.clear();
  held = null;
});

/**
 * A file is being drawn: put the nodes at its top before its lines are drawn. Nodes on lines come
 * together with the lines, since later they would move visible content: returns those lines, and
 * put(side, line), which adds the nodes of a drawn line.
 */
export async function along(view) {
  const spots = new Map();
  const breathe = pace();
  for (const [key, item] of [...items]) {
    if (item.at.path !== view.path || items.get(key) !== item || !onPage(view.path)) continue;
    const spot = spotOf(item.at);
    if (spot) spots.set(`${spot}`, [...(spots.get(`${spot}`) ?? []), { key, item, spot }]);
    else put(item, view.top);
    const rest = breathe();
    if (rest) await rest;
  }
  const stays = ({ key, item, spot }) =>
    items.get(key) === item && `${spotOf(item.at)}` === `${spot}`;
  return {
    lines: [...spots.values()].map(([{ spot }]) => spot),
    put(side, line) {
      for (const one of spots.get(`${side},${line}`) ?? [])
        if (stays(one)) put(one.item, view.place(side, line));
    },
  };
}

/** A file was drawn or redrawn: put its nodes back, many of them in slices of time. */
export async function putNodesBack(view) {
  views.set(view.path, view);
  const breathe = pace({ early: false });
  for (const [key, item] of [...items]) {
    if (item.at.path !== view.path || items.get(key) !== item) continue;
    put(item);
    const rest = breathe();
    if (rest) await rest;
  }
}

/** A file leaves the page: put its nodes above all files if the file is no longer changed at all. */
export function moveAbove({ path }) {
  if (onPage(path)) return;
  for (const item of items.values()) if (item.node && item.at.path === path) put(item);
}

export const viewOf = (path) => {
  const view = views.get(path);
  return view?.element.isConnected ? view : null;
};

/** Mark the lines a thread is about, or remove the marks. */
export function mark({ path, side, line, start_line: start }, on) {
  const sheet = line ? viewOf(path)?.sheet : null;
  const [column, name] = isOld(side) ? ["LEFT", "about-old"] : ["RIGHT", "about-new"];
  for (let at = start ?? line; sheet && at <= line; at += 1)
    sheet.rowOf(column, at)?.classList.toggle(name, on);
}

/** Whether the commit changes this file, so that it is or will be on the page. */
export const onPage = (path) => state.commit.files.some((file) => file.path === path);

function put(item, slot = slotOf(item.at)) {
  if (!slot) return;
  const { node } = item.holder;
  const { order } = item;
  item.node = node;
  node.dataset.order = order;
  const of = (one) => Number(one.dataset.order);
  const { previousElementSibling: above, nextElementSibling: below } = node;
  if (node.parentNode === slot && !(above && of(above) > order) && !(below && of(below) <= order))
    return;
  let before = null;
  for (let one = slot.lastElementChild; one && (one === node || of(one) > order);) {
    if (one !== node) before = one;
    one = one.previousElementSibling;
  }
  move(node, slot, before);
}

function slotOf(at) {
  if (at.path === null || !onPage(at.path)) return above;
  const view = viewOf(at.path);
  if (!view) return null;
  const spot = spotOf(at);
  return (spot && view.place(...spot)) ?? view.top;
}

/** The spot [side, line]; null for the top of the file. */
function spotOf({ side, line }) {
  const elsewhere = state.compare && (isOld(side) || state.compare.to); // another version's lines
  return line === null || elsewhere ? null : [isOld(side) ? "LEFT" : "RIGHT", line];
}

/** Move a node without losing the focus or the caret in it. */
function move(node, slot, before) {
  const active = held && node.contains(held) ? held : null;
  const caret = active?.matches("textarea") ? [active.selectionStart, active.selectionEnd] : null;
  slot.insertBefore(node, before);
  if (!active || active === document.activeElement) return;
  active.focus({ preventScroll: true });
  if (caret) active.setSelectionRange(...caret);
}
