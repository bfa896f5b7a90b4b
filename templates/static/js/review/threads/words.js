// The words about a thread: its state, its place, and the rule of its placement.

import { plural } from "../../kit/words.js";
import { WORKTREE, worktree } from "../state.js";

/** The subject of a thread without a file. */
export const whole = worktree ? "all that is not committed" : "the whole commit";
const Whole = whole[0].toUpperCase() + whole.slice(1);

export const short = (sha) => (sha ?? "").slice(0, 7);

/** Whether a side is the old one: "left", "old" or "base" in any case, as files may spell it. */
export const isOld = (side) => ["left", "old", "base"].includes((side ?? "").toLowerCase());
export const sideOf = (thread) => (isOld(thread.side) ? "LEFT" : "RIGHT");

/** "line 62", "lines 62–63" */
export const lines = (line, start) =>
  start && start !== line ? `lines ${start}–${line}` : `line ${line}`;

const were = (thread) => lines(thread.original_line, thread.original_start_line);
const stands = (thread) =>
  lines(thread.line, thread.start_line) + (isOld(thread.side) ? " of the old text" : "");

const hasMoved = (thread) => were(thread) !== lines(thread.line, thread.start_line);
const PLACED = {
  general: () => Whole,
  none: (thread) =>
    `${thread.original_path ?? thread.path} is no longer ${worktree ? "there" : "in this commit"}`,
  file: (thread) =>
    thread.original_line ? `Was on ${were(thread)}; the file has no lines now` : "The whole file",
  exact: stands,
  moved: (thread) => stands(thread) + (hasMoved(thread) ? `, moved from ${were(thread)}` : ""),
  text: (thread) =>
    `${stands(thread)}, found again by its text` +
    (hasMoved(thread) ? `, was ${were(thread)}` : ""),
  nearest: (thread) => `The ${/^lines/.test(were(thread)) ? "lines were" : "line was"} rewritten`,
};

/** The place of a thread on this commit, and by which rule. */
export function standing(thread) {
  const said = (PLACED[thread.placement] ?? PLACED.general)(thread);
  const renamed = thread.placement !== "none" && thread.original_path !== thread.path;
  return renamed && thread.original_path ? `${said}, from ${thread.original_path}` : said;
}

/** The caption of the lines on which a thread was written. */
export function quoteCaption(thread) {
  const at = thread.original_line ? `about ${were(thread)}` : "";
  const on = thread.original_commit && !worktree ? `of ${short(thread.original_commit)}` : "";
  return ["Written", at, on].filter(Boolean).join(" ");
}

/** The place of a thread for lists, such as "src/pay.py:62". */
export function address(thread) {
  if (!thread.path) return thread.sha === WORKTREE ? "All of it" : Whole;
  return thread.line ? `${thread.path}:${thread.line}` : thread.path;
}

export const state = (thread) =>
  [thread.resolved ? "resolved" : (thread.state ?? "open"), thread.outdated && "outdated"]
    .filter(Boolean)
    .join(", ");

/** Whether an author is an agent: "agent" signs unsigned comments, and begins agents' names. */
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
