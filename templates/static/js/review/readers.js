// What the page of a commit, or of what is not committed, tells those who draw threads into it:
//
// ready        a promise of the first record
// onReload(cb) cb(what) after each reading: "commit" (with its review) or "project"
// threadsOf(m) open threads by path (a Map), shown in the tree and the headers; counts(path)

import { all } from "./diff/view.js";
import { open } from "./state.js";
import { tell } from "./tree.js";

const watchers = new Set();
let given = false; // whether someone counts the open threads
let began;
export const ready = new Promise((done) => (began = done));

export const onReload = (callback) => watchers.add(callback);

export const begin = (record) => began(record);

/** The page has read something. */
export const reloaded = (what) => watchers.forEach((callback) => callback(what));

export function threadsOf(map) {
  given = true;
  open.counts = map;
  tell();
  for (const view of all()) view.say();
}

/** Until somebody draws the threads, the page counts them itself. */
export function countOpen({ threads }) {
  if (given) return;
  const map = new Map();
  for (const { path, resolved, comments } of threads)
    if (path && !resolved && comments.length) map.set(path, (map.get(path) ?? 0) + 1);
  open.counts = map;
}
