// The diff of a commit, for modules that draw into it (threads) and for the page's keys and tree.
//
// onFile(callback)   calls back with a FileView whenever a file is drawn or redrawn, also as a note
//                    or with "Load diff" (place() is then null). FileView = {path, oldPath,
//                    element, top, place(side, line), lineText(side, line)}: `top` is the place
//                    under the file's header, kept over redraws; place() returns the place under
//                    a line, which it creates and unfolds.
// selection()        the lines chosen by click, drag or keys: {path, side, start, end} or null.
// onComment(callback) calls back with such a selection from the + of a line and from `c`; for a
//                    whole file {path, side: null, start: null, end: null}.
// goTo(path, side, line) shows a file (and a line); resolves to its row, element or null.
// general            the place above all files, for threads of the commit.

import { fill, h } from "../../kit/dom.js";
import { pace } from "../../kit/pace.js";
import { diffRoute, onOther, state, worktree } from "../state.js";
import { look } from "./look.js";
import { FileView } from "./file.js";
import { Painter } from "./paint.js";
import { clear, listen, select, selection } from "./select.js";

export { selection };
export const general = document.getElementById("general");

const scroller = document.getElementById("main");
const list = document.getElementById("files");
const FIRST = 8; // files drawn with the page
const NOTHING = worktree ? "Nothing differs from HEAD." : "This commit changes no file.";
const HEADS = 90; // px of the toolbar and a file's header
const callbacks = { file: new Set(), comment: new Set() };
/** @type {Record<string, (...given: any[]) => any>} */
const hooks = {
  viewed: () => {},
  counted: () => {},
  menu: () => {},
  discard: () => {},
  seen: () => {},
  address: diffRoute,
  along: () => null,
  beforeDrop: () => {},
};
const views = new Map();
let nothing = NOTHING;

export const onFile = (callback) => {
  callbacks.file.add(callback);
  for (const view of views.values()) if (view.ready) callback(view);
};
export const onComment = (callback) => callbacks.comment.add(callback);
export const comment = (chosen) => callbacks.comment.forEach((callback) => callback(chosen));

/**
 * Set the hooks of the page: viewed(view, wanted), seen(view, wanted), counted(view), menu(view),
 * discard(view), address(what, query), beforeDrop(view) of a file that is no longer shown, and
 * along(view), which returns what is drawn on the lines of a file, {lines: [[side, line], …],
 * put(side, line)}. */
export const serve = (given) => Object.assign(hooks, given);

/** Set the words shown when there are no files. */
export const sayNothing = (words) => (nothing = words);

export const viewOf = (path) => views.get(path) ?? null;
export const all = () => [...views.values()];

export const painter = new Painter(scroller);

const page = {
  look,
  painter,
  announceDrawn(view) {
    view.ready = true;
    callbacks.file.forEach((callback) => callback(view));
  },
  comment: ({ path }) => comment({ path, side: null, start: null, end: null }),
  viewed: (...given) => hooks.viewed(...given),
  counted: (...given) => hooks.counted(...given),
  address: (...given) => hooks.address(...given),
  along: (...given) => hooks.along(...given),
  menu: (...given) => hooks.menu(...given),
  discard: (...given) => hooks.discard(...given),
  seen: (...given) => hooks.seen(...given),
};

const near = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of /** @type {any[]} */ (seen)) {
      target.view.near = isIntersecting;
      if (isIntersecting) queue(target.view);
    }
  },
  { root: scroller, rootMargin: "600px 0px" },
);

// Files are fetched and drawn a few at a time, the last queued first: they are visible.
const waiting = new Set();
const busy = new Set();

function queue(view) {
  waiting.delete(view);
  waiting.add(view);
  next();
}

async function next() {
  while (busy.size < 3 && waiting.size) {
    const view = [...waiting].at(-1);
    waiting.delete(view);
    if (!view.near) continue;
    busy.add(view);
    view.draw().finally(() => {
      busy.delete(view);
      next();
    });
  }
}

/** Show these files; files already shown are only updated. */
export async function show(files) {
  const { life } = state;
  const paths = new Set(files.map(({ path }) => path));
  for (const view of all().filter(({ path }) => !paths.has(path))) {
    hooks.beforeDrop(view);
    drop(view);
  }
  if (!files.length) return fill(list, h("p", { class: "nothing soft" }, nothing));
  list.querySelector(":scope > .nothing")?.remove();
  const breathe = pace();
  for (const [n, file] of files.entries()) {
    const known = views.get(file.path);
    if (known) update(known, file);
    else {
      const view = new FileView(file, page);
      views.set(file.path, view);
      list.append(view.element);
      near.observe(view.element);
      // One after the other: files below one that grows would move visibly.
      if (n < FIRST && !file.truncated) await view.draw();
    }
    const rest = breathe();
    if (rest) await rest;
    if (life.aborted) break;
  }
  return undefined;
}

function drop(view) {
  views.delete(view.path);
  near.unobserve(view.element);
  view.end();
}

onOther(() => {
  fill(list);
  for (const view of all()) drop(view);
  waiting.clear();
  busy.clear();
  painter.forget();
  nothing = NOTHING;
});

/** Update the marks of a file that is shown; redraw its diff only if its contents have changed. */
function update(view, file) {
  const { viewed, changed_since_viewed } = file;
  const other = ["old_oid", "new_oid", "new_mode"].some((key) => file[key] !== view.file[key]);
  if (other) view.file = file;
  else Object.assign(view.file, { viewed, changed_since_viewed });
  view.say();
  if (other) view.draw({ again: true });
}

/** Redraw every drawn file, keeping the reader's line in place. */
export async function redraw() {
  const line = atTop();
  const drawn = all().filter((view) => view.sheet);
  clear();
  for (const view of drawn) if (view.near) await view.draw({ again: true });
  for (const view of drawn) if (!view.near) view.drawing = null;
  if (!line) return;
  await frame(); // before that all chunks would be laid out, visible or not
  holdAt(line);
}

/** The first visible row below the sticky heads; only files near the viewport are measured. */
export function firstRow(views = all()) {
  const edge = scroller.getBoundingClientRect().top + HEADS;
  const below = (node) => node.getBoundingClientRect().bottom > edge;
  for (const { near, folded, sheet } of views) {
    if (!near || folded || !sheet || !below(sheet.node)) continue;
    const chunk = [...sheet.node.children].find(below);
    for (const row of chunk?.querySelectorAll("tr.ln") ?? [])
      if (row.getBoundingClientRect().top >= edge) return row;
  }
  return null;
}

function atTop() {
  const row = firstRow();
  if (!row) return null;
  return { view: row.closest(".file").view, at: row.at, top: row.getBoundingClientRect().top };
}

function holdAt({ view, at, top }) {
  const row = view.sheet?.rowOf(at.new ? "RIGHT" : "LEFT", at.new || at.old);
  if (row?.isConnected) scroller.scrollTop += row.getBoundingClientRect().top - top;
}

/** The current file: the one with the focus, else the first visible one. */
export const current = () => document.activeElement?.closest?.(".file")?.view ?? inSight();

function inSight() {
  const edge = scroller.getBoundingClientRect().top + HEADS;
  return all().find(({ element }) => element.getBoundingClientRect().bottom > edge) ?? null;
}

/** The reading place at the top of the viewport, {path, side, line, top}; null without files. */
export function reading() {
  const row = firstRow();
  const view = row?.closest(".file").view ?? inSight();
  if (!view) return null;
  const { top } = (row ?? view.element).getBoundingClientRect();
  const line = row && (row.at.new || row.at.old);
  return { path: view.path, side: row?.at.new ? "RIGHT" : "LEFT", line, top };
}

/** Scroll back to a reading place, if its file is still here. */
export async function stand({ path, side, line, top }) {
  const view = viewOf(path);
  if (!view) return;
  view.near = true;
  await (line ? view.force() : view.draw());
  const target = (line && view.sheet?.reveal(side, line)) || view.element;
  await scrollUntilStill(
    target,
    () => (scroller.scrollTop += target.getBoundingClientRect().top - top),
  );
}

export async function goTo(path, side = null, line = null) {
  const view = viewOf(path) ?? all().find(({ oldPath }) => oldPath === path);
  if (!view) return null;
  const before = document.activeElement;
  view.near = true;
  if (line) await view.force();
  const row = line ? view.sheet?.reveal(side ?? "RIGHT", line) : null;
  const target = row ?? view.element;
  await scrollUntilStill(target, () => target.scrollIntoView({ block: row ? "center" : "start" }));
  if (!target.isConnected) return null;
  const now = document.activeElement; // <body> if the focused line was redrawn
  if (now !== before && now !== document.body) return target; // the reader has moved the focus
  if (row) select(view, side ?? "RIGHT", line);
  else view.element.focus({ preventScroll: true });
  return target;
}

const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

/** Scroll to the target, again and again while content above it is drawn. */
async function scrollUntilStill(target, scroll) {
  const moved = new AbortController(); // by the reader
  const { signal } = moved;
  for (const name of ["wheel", "pointerdown", "keydown"])
    scroller.addEventListener(name, () => moved.abort(), { signal, passive: true });
  for (let n = 0, still = 0; n < 40 && still < 3 && !signal.aborted; n += 1) {
    if (!target.isConnected) break;
    scroll();
    const { top } = target.getBoundingClientRect();
    await frame();
    still = Math.abs(target.getBoundingClientRect().top - top) < 1 ? still + 1 : 0;
  }
  moved.abort();
}

listen({ list, comment });
