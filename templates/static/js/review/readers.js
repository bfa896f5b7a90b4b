// What the page of a commit, or of what is not committed, tells those who draw threads into it:
//
// onBegin(cb)  cb(record) with the first record of each commit that is shown, or of all that is not
//              committed; at once where it is there
// onReload(cb) cb(what) after each later reading: "commit" (with its review) or "project"
// threadsOf(m) open threads by path (a Map), shown in the tree and the headers; counts(path)

import { all } from "./diff/view.js";
import { onOther, open } from "./state.js";
import { tell } from "./tree.js";

const watchers = new Set();
const beginners = new Set();
let given = false; // whether someone counts the open threads
let first = null;
let look = async () => {};

export function onBegin(callback) {
  beginners.add(callback);
  if (first) callback(first);
}

/** How the page of what is not committed looks again; until the answer is drawn. */
export const looksBy = (again) => (look = again);
export const lookAgain = () => look();

export const onReload = (callback) => watchers.add(callback);

export function begin(record) {
  first = record;
  for (const callback of beginners) callback(record);
}

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

onOther(() => {
  first = null;
  given = false;
  open.counts = new Map();
});
