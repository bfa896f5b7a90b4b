// Choosing lines in a diff: by a press on a line number, a drag, Shift, or the keys j and k.

import { button, fill, h } from "../../kit/dom.js";
import { editorLink } from "../../kit/editor.js";
import { onOther, state } from "../state.js";

let chosen = null; // {view, side, from, to}; `from` is where the selection began
let cursor = null; // the row
let marked = [];
let plus = null;
const opener = h("span", { class: "opener" }); // the link of a line to the editor

const span = ({ from, to }) => ({ start: Math.min(from, to), end: Math.max(from, to) });

/** The chosen lines {path, side, start, end}, or null when none are chosen. */
export function selection() {
  if (!chosen || !chosen.view.element.isConnected) return null;
  return { path: chosen.view.path, side: chosen.side, ...span(chosen) };
}

export const cursorRow = () => (cursor?.isConnected ? cursor : null);

export function clear() {
  chosen = null;
  paint();
}

/** Choose lines of one side, from `from` to `line`, where the cursor goes. */
export function select(view, side, line, from = line) {
  chosen = { view, side, from, to: line };
  const row = view.sheet?.rowOf(side, line);
  if (row) point(row);
  paint();
}

/** Put the cursor, from which the keys move, and the focus on a row. */
function point(row) {
  cursor = row;
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
}

function paint() {
  for (const row of marked) row.classList.remove("on", "left", "right");
  marked = [];
  if (!chosen) return;
  const { view, side } = chosen;
  const { start, end } = span(chosen);
  for (let line = start; line <= end; line += 1) {
    const row = view.sheet?.rowOf(side, line);
    if (!row) continue;
    row.classList.add("on", side === "LEFT" ? "left" : "right");
    marked.push(row);
  }
}

/** The side and line that a cell of a row stands for. */
function sideAndLine(cell, row) {
  const { old, new: fresh, kind } = row.at;
  if (kind === "del") return { side: "LEFT", line: old };
  if (row.cells.length === 4) return { side: "RIGHT", line: fresh };
  const left = cell ? cell.cellIndex < 3 : !fresh;
  return left ? { side: "LEFT", line: old } : { side: "RIGHT", line: fresh };
}

onOther(() => {
  [chosen, cursor, marked] = [null, null, []];
  plus.remove();
  opener.remove();
});

/** Listen to the list of files; `comment(selection)` is called by the + of a line. */
export function listen({ list, comment }) {
  plus = button("", {
    icon: "plus",
    kind: "primary only plus",
    "aria-label": "Comment on this line",
  });
  plus.addEventListener("click", (event) => {
    event.stopPropagation();
    const { view, side, line } = lineAt(plus);
    if (!covers(view, side, line)) select(view, side, line);
    comment(selection());
  });
  list.addEventListener("pointerover", (event) => event.pointerType !== "touch" && offer(event));
  list.addEventListener("focusin", offer);
  list.addEventListener("pointerdown", press);
  list.addEventListener("click", tap);
}

function lineAt(node) {
  const row = node.closest("tr.ln");
  const view = row.closest(".file").view;
  return { view, row, ...sideAndLine(node.closest("td"), row) };
}

const covers = (view, side, line) => {
  if (!chosen || chosen.view !== view || chosen.side !== side) return false;
  const { start, end } = span(chosen);
  return line >= start && line <= end;
};

/** Move the + to the line under the pointer or the focus. */
function offer(event) {
  const row = event.target.closest?.("tr.ln");
  if (!row || event.buttons || event.target === plus) return;
  const cell = event.target.closest("td");
  const { side, line } = sideAndLine(cell, row);
  if (!line) return;
  const signs = row.querySelectorAll("td.sign");
  const place = signs.length > 1 && side === "RIGHT" ? signs[1] : signs[0];
  if (plus.parentNode === place) return;
  plus.setAttribute(
    "aria-label",
    `Comment on line ${line}${side === "LEFT" ? " of the old text" : ""}`,
  );
  place.append(plus);
  offerEditor(row, side, line);
}

/** Put the editor link at the end of a line of the new text; old lines are in no file. */
function offerEditor(row, side, line) {
  const { path } = row.closest(".file").view;
  const link = side === "RIGHT" && editorLink(state.root, path, line);
  fill(opener, link);
  if (link) row.lastElementChild.append(opener);
  else opener.remove();
}

/** A press on a number chooses its line, a drag the lines it passes, Shift the lines between. */
function press(event) {
  const cell = event.target.closest?.("td.n");
  if (!cell || event.button !== 0 || !cell.closest("tr.ln")) return;
  const { view, side, line } = lineAt(cell);
  if (!line) return;
  event.preventDefault();
  const extends_ = event.shiftKey && chosen?.view === view && chosen.side === side;
  select(view, side, line, extends_ ? chosen.from : line);
  const drag = (move) => {
    const row = document.elementFromPoint(move.clientX, move.clientY)?.closest?.("tr.ln");
    if (!row || row.closest(".file")?.view !== view) return;
    const to = side === "LEFT" ? row.at.old : row.at.new;
    if (to && to !== chosen.to) select(view, side, to, chosen.from);
  };
  const end = () => {
    document.removeEventListener("pointermove", drag);
    document.removeEventListener("pointerup", end);
    document.removeEventListener("pointercancel", end);
    if (chosen && cursor)
      offer({ target: cursor.querySelector(side === "LEFT" ? "td" : "td:last-child") });
  };
  document.addEventListener("pointermove", drag);
  document.addEventListener("pointerup", end);
  document.addEventListener("pointercancel", end);
}

/** A tap on the code of a line chooses it, unless text is selected. */
function tap(event) {
  const cell = event.target.closest?.("td.code");
  const row = cell?.closest("tr.ln");
  if (!row || event.target.closest("button, a") || String(getSelection())) return;
  const { view, side, line } = lineAt(cell);
  if (!line) return;
  select(view, side, line);
  offer({ target: cell });
}

// -- by keys -------------------------------------------------------------------------------------

const isVisible = (node) => node.checkVisibility?.() ?? true;

/** All drawn rows of unfolded files, in order. */
function rows() {
  return [...document.querySelectorAll("#files .file:not(.folded) tr.ln")];
}

/** Go one line down or up; `extend` keeps the start of the selection. */
export function step(by, { extend = false, start = null } = {}) {
  const here = cursorRow();
  const row = here ? beside(here, by) : start;
  if (!row) return;
  const cell = chosen?.side === "LEFT" && row.at.old ? row.cells[0] : null;
  let { view, side, line } = { view: row.closest(".file").view, ...sideAndLine(cell, row) };
  if (extend && chosen?.view === view) {
    line = chosen.side === "LEFT" ? row.at.old : row.at.new;
    if (!line) return;
    select(view, chosen.side, line, chosen.from);
  } else select(view, side, line);
  reach(row);
}

function beside(row, by) {
  const way = by > 0 ? "nextElementSibling" : "previousElementSibling";
  for (let next = row[way]; next; next = next[way]) if (next.matches("tr.ln")) return next;
  const list = rows();
  return list[list.indexOf(row) + by] ?? null;
}

/** The first row of the next or previous change. */
export function hunk(by, start) {
  const list = rows();
  let at = cursorRow() ? list.indexOf(cursorRow()) : list.indexOf(start) - (by > 0 ? 1 : 0);
  const same = (row) => row.at.kind === "same";
  const first = (n) =>
    !same(list[n]) && (n === 0 || same(list[n - 1]) || apart(list[n - 1], list[n]));
  do at += by;
  while (at >= 0 && at < list.length && !first(at));
  const row = list[at];
  if (!row) return;
  const { side, line } = sideAndLine(null, row);
  select(row.closest(".file").view, side, line);
  reach(row, "center");
}

const apart = (a, b) => a.closest(".file") !== b.closest(".file");

export function reach(row, block = "nearest") {
  if (isVisible(row)) row.scrollIntoView({ block });
}
