// One commit in a list: its title and status, its branch, and how much of it was viewed.

import { meter, plusMinus } from "../../kit/bars.js";
import { h, mark } from "../../kit/dom.js";
import { time } from "../../kit/words.js";
import { unresolvedBadge } from "../projects/row.js";
import { pageOf } from "../route.js";
import { statusOf } from "../statuses.js";
import { short } from "../threads/words.js";
import { verdictBadges } from "../verdicts.js";

export const titleOf = (commit) => commit.pr_title || commit.subject || "No message";

/** `{project, repo, commit}` as a row that links to the commit's page. */
export function commitRow({ project, repo, commit }) {
  const status = statusOf(commit.status);
  const { viewed, files } = commit.progress;
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row project-row" },
      mark(status, false),
      h(
        "span",
        { class: "two-lines" },
        h("a", { class: "over", href: pageOf(project, repo, commit.sha) }, titleOf(commit)),
        h("span", { class: "tiny quiet" }, branchLine(commit), " ", verdictBadges(commit.verdicts)),
        h("span", { class: "tiny quiet narrow-line" }, narrowLine(commit, status)),
      ),
      commit.unresolved ? unresolvedBadge(commit.unresolved) : h("span"),
      h("span", { class: "tiny soft" }, status.word, pullRequest(commit.github)),
      plusMinus(commit.additions, commit.deletions),
      h(
        "span",
        { class: "line tiny quiet" },
        meter(viewed, files, `${viewed} of ${files} files viewed`),
        h("span", { "aria-hidden": "true" }, `${viewed}/${files}`),
      ),
      h("span", { class: "tiny quiet when" }, time(commit.authored)),
    ),
  );
}

function pullRequest(github) {
  if (!github?.number && !github?.url) return null;
  const words = github.number ? `#${github.number}` : "PR";
  const web = /^https?:\/\//i.test(github.url);
  const link = { class: "link", href: github.url, rel: "noreferrer noopener", target: "_blank" };
  return [" ", web ? h("a", link, words) : words];
}

/** The content of the columns in one line, for narrow screens. */
const narrowLine = ({ additions, deletions, progress, github }, status) => [
  h("span", {}, status.word, pullRequest(github)),
  plusMinus(additions, deletions, { bar: false }),
  h("span", {}, `${progress.viewed}/${progress.files} viewed`),
];

const BRANCH = {
  moved: (branch) => h("span", { class: "says-inline" }, `moved to ${short(branch.points_at)}`),
  missing: () => h("span", { class: "says-inline" }, "branch is gone"),
  discovered: () => "found",
};

function branchLine({ short: sha, branch, landed }) {
  const name = branch ? [h("span", { class: "mono" }, branch.name), " "] : "no branch";
  return [
    h("span", { class: "mono" }, sha),
    " · ",
    name,
    branch && BRANCH[branch.status]?.(branch),
    landed && [" · landed as ", h("span", { class: "mono" }, short(landed.sha))],
  ];
}
