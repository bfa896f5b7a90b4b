// The commit that this page shows, its records, and the URLs below it.

import { commitOf, pageOf } from "./route.js";

const { project, repo, sha, root, roots = "{}" } = document.body.dataset;
const trees = JSON.parse(roots); // of every repository of the project
const unknown = { commit: null, review: null, compare: null };

/**
 * `commit` and `review` are the API's records; `sha` is the full sha once the commit is read.
 * `compare` = {from, to, base}: the two versions that are shown in place of the whole commit.
 * `root`: the work tree, for an editor. `hash`: the place to show at first. `life` aborts when
 * another commit is shown: later answers are dropped.
 */
export const state = {
  project,
  repo,
  sha,
  root,
  hash: "",
  life: new AbortController().signal,
  ...unknown,
};

const watchers = new Set();

/** Call back when another commit is shown, to forget the data of the previous one. */
export const onOther = (forget) => watchers.add(forget);

/**
 * Show this commit until `life` aborts, with no records yet. Returns whether another commit was
 * shown before.
 */
export function turnTo({ repo: name, sha: commit, hash }, life) {
  const other = state.life.aborted;
  Object.assign(state, { repo: name, sha: commit, root: trees[name], hash, life, ...unknown });
  if (other) for (const forget of watchers) forget();
  return other;
}

/** Used in place of a commit's sha for uncommitted changes. */
export const WORKTREE = "WORKTREE";

/** Whether this is the page of uncommitted changes, where files are ticked for a commit. */
export const worktree = sha === WORKTREE;

/** The label of a file's box, and whether it is ticked. */
export const tick = worktree
  ? { word: "Commit", of: (file) => file.chosen }
  : { word: "Viewed", of: (file) => file.viewed };

/** The URL of the commit in the API: at(), or of a route below it: at("viewed"). */
export const at = (...below) => commitOf(project, state.repo, state.sha, ...below);

/** The URL of a route about the diff shown, which may be a comparison: diffRoute("file", {path}). */
export function diffRoute(what, query) {
  const { compare } = state;
  const words = new URLSearchParams(query);
  if (compare?.to) words.set("to", compare.to);
  if (compare?.base) words.set("base", "1");
  return `${compare ? at("since", compare.from, what) : at(what)}?${words}`;
}

/** The URL of the page of another commit of this project. */
export const pageAt = ({ repo: other = state.repo, sha: commit }, hash = "") =>
  pageOf(project, other, commit) + hash;

/** The number of unresolved threads by path; see threadsOf() in readers.js. */
export const open = { counts: new Map(), watchers: new Set() };

/** The number of open threads of a file. */
export const counts = (path) => open.counts.get(path) ?? 0;
