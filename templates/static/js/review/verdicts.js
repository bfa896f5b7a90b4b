// The verdicts on a commit as badges: on its page and in lists.

import { h, icon } from "../kit/dom.js";

const WORDS = {
  approve: ["approved", "check", "ok"],
  changes: ["asks for changes", "alert", "bad"],
  comment: ["commented", "say", ""],
};

/** A badge for each verdict; one on an earlier version of the change says so. */
export const verdictBadges = (verdicts = []) =>
  verdicts.map(({ author_name: who, verdict, changed, sha }) => {
    const [words, sign, kind] = WORDS[verdict] ?? WORDS.comment;
    const since = changed ? ", changed since" : "";
    const title = `${who} ${words}${changed ? `; the change differs since ${(sha ?? "").slice(0, 7)}` : ""}`;
    return h(
      "span",
      { class: `badge line ${changed ? "" : kind}`, title },
      icon(sign),
      `${who} ${words}${since}`,
    );
  });
