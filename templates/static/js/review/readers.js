// Callbacks of the page of a commit, or of uncommitted changes, for the modules that draw threads:
//
// onBegin(cb)  cb(record) with the first record of each commit shown, or of the uncommitted
//              changes. A commit's page waits a moment for its result, so that files are drawn with
//              their threads, which would move them later
// onShown(cb)  cb() once the first files are drawn
// onReload(cb) cb(what) after each later reading: "commit" (with its review) or "project"
// threadsOf(m) sets the open threads by path (a Map), shown in the tree and the headers: counts()

import { all } from "./diff/view.js";
import { onOther, open } from "./state.js";
import { tell } from "./tree.js";

const watchers = new Set();
const beginners = new Set();
const arrivals = new Set();
let given = false; // whether threadsOf() was called
let look = async () => {};

export const onBegin = (callback) => beginners.add(callback);
export const onShown = (callback) => arrivals.add(callback);

/** Set how the page of uncommitted changes looks again; its promise resolves after the drawing. */
export const looksBy = (again) => (look = again);
export const lookAgain = () => look();

export const onReload = (callback) => watchers.add(callback);

export const begin = (record) => Promise.all([...beginners].map((callback) => callback(record)));
export const announceShown = () => arrivals.forEach((callback) => callback());

/** Notify the watchers that the page has read something. */
export const announceReload = (what) => watchers.forEach((callback) => callback(what));

export function threadsOf(map) {
  given = true;
  open.counts = map;
  tell();
  for (const view of all()) view.say();
}

/** Count the open threads of a review, until threadsOf() provides the counts. */
export function countOpen({ threads }) {
  if (given) return;
  const map = new Map();
  for (const { path, resolved, comments } of threads)
    if (path && !resolved && comments.length) map.set(path, (map.get(path) ?? 0) + 1);
  open.counts = map;
}

onOther(() => {
  given = false;
  open.counts = new Map();
});
