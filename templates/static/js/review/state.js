// Which commit this page shows, what is known of it, and the addresses below it.

import { commitOf, pageOf } from "./route.js";

const { project, repo, sha } = document.body.dataset;

/** `commit` and `review` are the API's records; `sha` is the full sha once the commit is known. */
export const state = { project, repo, sha, commit: null, review: null };

/** Whether this is the page of what is not committed: the same files, ticked for a commit. */
export const worktree = sha === "WORKTREE";

/** What the box of a file says, and whether it is ticked. */
export const tick = worktree
  ? { word: "Commit", of: (file) => file.chosen }
  : { word: "Viewed", of: (file) => file.viewed };

/** at() the commit in the API, at("viewed") and so on what hangs below it. */
export const at = (...below) => commitOf(project, repo, state.sha, ...below);

/** The page of another commit of this project. */
export const pageAt = ({ repo: other = repo, sha: commit }, hash = "") =>
  pageOf(project, other, commit) + hash;

/** Unresolved threads by path, as drawn by what draws threads; see threadsOf() in commit.js. */
export const open = { counts: new Map(), watchers: new Set() };

/** How many open threads a file has. */
export const counts = (path) => open.counts.get(path) ?? 0;
