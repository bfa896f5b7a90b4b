// What is said of a thread: its state, where it stands and why there.

import { plural } from "../../kit/words.js";
import { WORKTREE, worktree } from "../state.js";

/** What a thread of no file is about. */
export const whole = worktree ? "all that is not committed" : "the whole commit";
const Whole = whole[0].toUpperCase() + whole.slice(1);

export const short = (sha) => (sha ?? "").slice(0, 7);

/** Files may spell the old side in four ways. */
export const isOld = (side) => ["left", "old", "base"].includes((side ?? "").toLowerCase());
export const sideOf = (thread) => (isOld(thread.side) ? "LEFT" : "RIGHT");

/** "line 62", "lines 62–63" */
export const lines = (line, start) =>
  start && start !== line ? `lines ${start}–${line}` : `line ${line}`;

const were = (thread) => lines(thread.original_line, thread.original_start_line);
const stands = (thread) =>
  lines(thread.line, thread.start_line) + (isOld(thread.side) ? " of the old text" : "");

const moved = (thread) => were(thread) !== lines(thread.line, thread.start_line);
const PLACED = {
  general: () => Whole,
  none: (thread) =>
    `${thread.original_path ?? thread.path} is no longer ${worktree ? "there" : "in this commit"}`,
  file: (thread) =>
    thread.original_line ? `Was on ${were(thread)}; the file has no lines now` : "The whole file",
  exact: stands,
  moved: (thread) => stands(thread) + (moved(thread) ? `, moved from ${were(thread)}` : ""),
  text: (thread) =>
    `${stands(thread)}, found again by its text` + (moved(thread) ? `, was ${were(thread)}` : ""),
  nearest: (thread) => `The ${/^lines/.test(were(thread)) ? "lines were" : "line was"} rewritten`,
};

/** Where a thread stands on this commit, by which rule. */
export function standing(thread) {
  const said = (PLACED[thread.placement] ?? PLACED.general)(thread);
  const renamed = thread.placement !== "none" && thread.original_path !== thread.path;
  return renamed && thread.original_path ? `${said}, from ${thread.original_path}` : said;
}

/** Caption of the text a thread was written on. */
export function written(thread) {
  const at = thread.original_line ? `about ${were(thread)}` : "";
  const on = thread.original_commit && !worktree ? `of ${short(thread.original_commit)}` : "";
  return ["Written", at, on].filter(Boolean).join(" ");
}

/** "src/pay.py:62" and the like, for lists. */
export function address(thread) {
  if (!thread.path) return thread.sha === WORKTREE ? "All of it" : Whole;
  return thread.line ? `${thread.path}:${thread.line}` : thread.path;
}

export const state = (thread) =>
  [thread.resolved ? "resolved" : (thread.state ?? "open"), thread.outdated && "outdated"]
    .filter(Boolean)
    .join(", ");

/** Comments that MCP clients leave unsigned are signed "agent"; agents with a name begin so. */
export const isAgent = (author) => /^agent\b/i.test(author ?? "");

/** "MK" of "Mara Kjær", "N" of "noor". */
export function initials(name) {
  const words = (name ?? "?").split(/[\s._-]+/).filter(Boolean);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.map((word) => word[0].toUpperCase()).join("") || "?";
}

export const comments = (count) => plural(count, "comment");

/** The first words of a text, for a list. */
export const beginning = (text, size = 80) => {
  const line = text
    .replace(/[*`#>]+/g, "")
    .trim()
    .replace(/\s+/g, " ");
  return line.length > size ? `${line.slice(0, size - 1)}…` : line;
};
