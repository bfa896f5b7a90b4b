// Which commit this page shows, what is known of it, and the addresses below it.

import { commitOf, pageOf } from "./route.js";

const { project, repo, sha, root, roots = "{}" } = document.body.dataset;
const trees = JSON.parse(roots); // of every repository of the project
const unknown = { commit: null, review: null, compare: null };

/**
 * `commit` and `review` are the API's records; `sha` is the full sha once the commit is known.
 * `compare` = {from, to, base}: which two versions are shown in place of the whole commit.
 * `root`: the work tree, for an editor. `hash`: the place of it that is asked for at first.
 * `life` ends when another commit is shown: an answer that comes later than that is dropped.
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

/** Call back when another commit is shown, to forget what is known of the former one. */
export const onOther = (forget) => watchers.add(forget);

/**
 * Show this commit until `life` ends; nothing is known of it yet. Returns whether another one was
 * shown before.
 */
export function turnTo({ repo: name, sha: commit, hash }, life) {
  const other = state.life.aborted;
  Object.assign(state, { repo: name, sha: commit, root: trees[name], hash, life, ...unknown });
  if (other) for (const forget of watchers) forget();
  return other;
}

/** Stands where the sha of a commit stands. */
export const WORKTREE = "WORKTREE";

/** Whether this is the page of what is not committed: the same files, ticked for a commit. */
export const worktree = sha === WORKTREE;

/** What the box of a file says, and whether it is ticked. */
export const tick = worktree
  ? { word: "Commit", of: (file) => file.chosen }
  : { word: "Viewed", of: (file) => file.viewed };

/** at() the commit in the API, at("viewed") and so on what hangs below it. */
export const at = (...below) => commitOf(project, state.repo, state.sha, ...below);

/** The address of what is asked of the diff that is shown: asked("file", {path}). */
export function asked(what, query) {
  const { compare } = state;
  const words = new URLSearchParams(query);
  if (compare?.to) words.set("to", compare.to);
  if (compare?.base) words.set("base", "1");
  return `${compare ? at("since", compare.from, what) : at(what)}?${words}`;
}

/** The page of another commit of this project. */
export const pageAt = ({ repo: other = state.repo, sha: commit }, hash = "") =>
  pageOf(project, other, commit) + hash;

/** Unresolved threads by path, as drawn by what draws threads; see threadsOf() in readers.js. */
export const open = { counts: new Map(), watchers: new Set() };

/** How many open threads a file has. */
export const counts = (path) => open.counts.get(path) ?? 0;
