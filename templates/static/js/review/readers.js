// What the page of a commit, or of what is not committed, tells those who draw threads into it:
//
// onBegin(cb)  cb(record) with the first record of each commit that is shown, or of all that is not
//              committed. A commit waits a moment for what is done with it: its files are drawn with
//              their threads, which would move them later
// onShown(cb)  then, once its first files stand
// onReload(cb) cb(what) after each later reading: "commit" (with its review) or "project"
// threadsOf(m) open threads by path (a Map), shown in the tree and the headers; counts(path)

import { all } from "./diff/view.js";
import { onOther, open } from "./state.js";
import { tell } from "./tree.js";

const watchers = new Set();
const beginners = new Set();
const arrivals = new Set();
let given = false; // whether someone counts the open threads
let look = async () => {};

export const onBegin = (callback) => beginners.add(callback);
export const onShown = (callback) => arrivals.add(callback);

/** How the page of what is not committed looks again; until the answer is drawn. */
export const looksBy = (again) => (look = again);
export const lookAgain = () => look();

export const onReload = (callback) => watchers.add(callback);

export const begin = (record) => Promise.all([...beginners].map((callback) => callback(record)));
export const shown = () => arrivals.forEach((callback) => callback());

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
  given = false;
  open.counts = new Map();
});
