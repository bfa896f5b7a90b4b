// Which commit this page shows, what is known of it, and the addresses below it.

import { commitOf, pageOf } from "./route.js";

const { project, repo, sha } = document.body.dataset;

/**
 * `commit` and `review` are the API's records; `sha` is the full sha once the commit is known.
 * `compare` = {from, to, base}: which two versions are shown in place of the whole commit.
 */
export const state = { project, repo, sha, commit: null, review: null, compare: null };

/** Stands where the sha of a commit stands. */
export const WORKTREE = "WORKTREE";

/** Whether this is the page of what is not committed: the same files, ticked for a commit. */
export const worktree = sha === WORKTREE;

/** What the box of a file says, and whether it is ticked. */
export const tick = worktree
  ? { word: "Commit", of: (file) => file.chosen }
  : { word: "Viewed", of: (file) => file.viewed };

/** at() the commit in the API, at("viewed") and so on what hangs below it. */
export const at = (...below) => commitOf(project, repo, state.sha, ...below);

/** The address of what is asked of the diff that is shown: asked("file", {path}). */
export function asked(what, query) {
  const { compare } = state;
  const words = new URLSearchParams(query);
  if (compare?.to) words.set("to", compare.to);
  if (compare?.base) words.set("base", "1");
  return `${compare ? at("since", compare.from, what) : at(what)}?${words}`;
}

/** The page of another commit of this project. */
export const pageAt = ({ repo: other = repo, sha: commit }, hash = "") =>
  pageOf(project, other, commit) + hash;

/** Unresolved threads by path, as drawn by what draws threads; see threadsOf() in readers.js. */
export const open = { counts: new Map(), watchers: new Set() };

/** How many open threads a file has. */
export const counts = (path) => open.counts.get(path) ?? 0;
