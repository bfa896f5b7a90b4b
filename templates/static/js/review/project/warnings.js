// The warnings at the top of a project: files, branches, reviews without a commit.

import { post, put, remove } from "../../kit/api.js";
import { dialog } from "../../kit/dialog.js";
import { button, h, icon } from "../../kit/dom.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { plural, time } from "../../kit/words.js";
import { invalidFileWords, copyPath, tilde } from "../paths.js";
import { commitOf } from "../route.js";
import { titleOf } from "./commitrow.js";
import { giveButton } from "./elsewhere.js";
import { sentence } from "./stacks.js";
import { prose } from "../threads/prose.js";
import { address, short } from "../threads/words.js";

const FEW = 3; // moved branches that get separate lines
const UNKNOWN = /^Unknown revision/; // as when another repository is at this path
const ORPHANS = /^\d+ reviews? match(?:es)? no commit$/;

/** The warnings of a project as items for keep(): {key, tone, …the data for `banner`}. */
export function warningsOf(project, { unreadable, orphaned: all }) {
  const orphaned = all.filter(({ reason }) => !reason); // others are reported with their repository
  const several = project.repos.length > 1;
  const where = (repo) => (several ? `${repo.name}: ` : "");
  return [
    project.parse_error && {
      ...{ key: "file", kind: "file", tone: "bad", file: project.file, error: project.parse_error },
      more: "What you see is how it was last read well; nothing can be changed until it is corrected.",
    },
    ...unreadable.map(({ file, error }) => ({
      ...{ key: file, kind: "file", tone: "bad", file, error },
      more: "Correct it in an editor; until then nothing is written to it.",
    })),
    ...project.repos.flatMap((repo) => [
      ...repo.errors.map((error) => ({
        ...{ key: `${repo.name} ${error}`, kind: "repo", tone: "bad", name: repo.name },
        ...{ text: sentence(error), path: repo.path },
        elsewhere: repo.missing || UNKNOWN.test(error),
        ...{ project: project.slug, kept: total(repo.orphaned.map(({ threads }) => threads)) },
      })),
      ...movedOf(project.slug, repo),
      ...proposedOf(project.slug, repo),
      ...repo.warnings
        .filter((text) => !ORPHANS.test(text))
        .map((text) => ({
          ...{ key: `${repo.name} ${text}`, kind: "text", tone: "warn" },
          text: sentence(where(repo) + text),
        })),
    ]),
    orphaned.length > 0 && {
      ...{ key: "orphans", kind: "orphans", tone: "warn", orphaned, project: project.slug },
      commits: Object.fromEntries(project.repos.map((repo) => [repo.name, repo.commits])),
    },
  ].filter(Boolean);
}

const total = (numbers) => numbers.reduce((sum, one) => sum + one, 0);

/** An item for each moved branch, or one for all if there are many, as after a rebase. */
function movedOf(project, repo) {
  const moved = repo.commits.filter((commit) => commit.branch?.status === "moved");
  const listed = new Map(repo.commits.map((commit) => [commit.sha, commit]));
  const items = moved.map((commit) => {
    const target = listed.get(commit.branch.points_at);
    const free = target && (!target.branch || target.branch.status === "discovered");
    return {
      ...{ project, repo: repo.name, sha: commit.sha, short: commit.short, free: Boolean(free) },
      ...{ name: commit.branch.name, to: commit.branch.points_at },
    };
  });
  if (items.length > FEW)
    return [{ key: `${repo.name} moved`, kind: "many", tone: "warn", items, repo: repo.name }];
  return items.map((item) => ({ key: `moved ${item.sha}`, kind: "moved", tone: "warn", ...item }));
}

/** PR records of missing commits that may belong to commits of this repository. */
const proposedOf = (project, repo) =>
  repo.commits
    .filter((commit) => commit.proposed)
    .map((commit) => ({
      ...{ key: `proposed ${commit.sha}`, kind: "proposed", tone: "warn", project },
      ...{ repo: repo.name, sha: commit.sha, short: commit.short, title: titleOf(commit) },
      proposed: commit.proposed,
    }));

const became = (project, repo, sha, from) => post(commitOf(project, repo, sha, "take"), { from });

/** One warning as a banner. */
export const banner = (item) =>
  h(
    "div",
    { class: `banner ${item.tone}`, role: item.tone === "bad" ? "alert" : undefined },
    icon("alert"),
    ...DRAWN[item.kind](item),
  );

const strong = (...words) => h("span", { class: "strong" }, ...words);
const code = (text) => h("code", {}, text);

/** A sentence with its path as code, appended if the sentence does not contain it. */
const withPath = (text, path) => {
  const [before, ...after] = text.split(path);
  return after.length
    ? [before, code(tilde(path)), after.join(path)]
    : [text, " ", code(tilde(path))];
};

const DRAWN = {
  file: ({ file, error, more }) => [
    h("div", {}, strong("This file cannot be read. "), invalidFileWords(file, error), more),
    copyPath(file),
  ],
  repo: ({ project, name, text, path, elsewhere, kept }) => [
    h(
      "div",
      {},
      strong(`${name} cannot be shown. `),
      withPath(text, path),
      kept > 0 && ` Its ${plural(kept, "thread")} ${kept > 1 ? "are" : "is"} kept.`,
    ),
    elsewhere && giveButton({ project, name, path }),
    copyPath(path),
  ],
  text: ({ text }) => [h("div", {}, text)],
  moved: (item) => [
    h("div", {}, strong(`Branch ${item.name} moved. `), [
      "It points at ",
      code(short(item.to)),
      "; the commit shown here is ",
      code(item.short),
      ".",
    ]),
    button(item.free ? "Record the new place" : "Forget the branch", {
      kind: "s",
      "aria-label": `${item.free ? "Record the new place of" : "Forget"} ${item.name}`,
      onclick: (event) => attempt(event, () => settle([item])),
    }),
  ],
  many: ({ items, repo }) => [
    h(
      "div",
      {},
      strong(`${items.length} branches of ${repo} moved. `),
      items.map(({ name, to }, n) => [n ? ", " : "", code(name), " to ", code(short(to))]),
      ".",
    ),
    button("Record the new places", {
      kind: "s",
      onclick: (event) => attempt(event, () => settle(items)),
    }),
  ],
  proposed: ({ project, repo, sha, short: name, title, proposed }) => [
    h(
      "div",
      {},
      strong(`Is this the PR record of ${name}? `),
      [proposed.title ?? proposed.branch ?? "It", proposed.number && `#${proposed.number}`]
        .filter(Boolean)
        .join(" "),
      " was kept on ",
      code(short(proposed.sha)),
      `, which is gone; ${title} is like it.`,
    ),
    button("Take it over", {
      kind: "s",
      "aria-label": `Take the PR record over to ${name}`,
      onclick: (event) => attempt(event, () => became(project, repo, sha, proposed.sha)),
    }),
  ],
  orphans: (item) => [orphanWords(item.orphaned), readButton(item)],
};

const record = ({ project, repo }, sha, branch) =>
  put(commitOf(project, repo, sha, "pr"), { branch });

/** Move each name to the commit that the branch points at; if that is not shown, remove it. */
async function settle(items) {
  for (const item of items) {
    if (item.free) await record(item, item.to, item.name);
    await record(item, item.sha, null);
  }
  const act = () =>
    attempt(null, async () => {
      for (const item of items) {
        await record(item, item.sha, item.name);
        if (item.free) await record(item, item.to, null);
      }
    });
  const moved = items.every((item) => item.free);
  toast(moved ? "The new place is recorded" : "The recorded branch was taken off", {
    action: "Undo",
    act,
  });
}

function orphanWords(orphaned) {
  const threads = total(orphaned.map((one) => one.threads.length));
  const drafts = total(orphaned.map((one) => one.drafts.length));
  const held = [
    (threads > 0 || !drafts) && plural(threads, "thread"),
    drafts > 0 && `${plural(drafts, "draft")} of yours`,
  ];
  const what = held.filter(Boolean).join(" and ");
  const holds = `${what}; no commit matches by change-id, patch-id or title.`;
  if (orphaned.length > 1)
    return h(
      "div",
      {},
      strong(`${orphaned.length} reviews have no commit any more. `),
      `They hold ${holds}`,
    );
  const [{ repo, file }] = orphaned;
  const name = `reviews/${repo}/${file.split("/").at(-1)}`.replace(
    /([0-9a-f]{7})[0-9a-f]{33,}/,
    "$1…",
  );
  return h(
    "div",
    {},
    strong("One review has no commit any more. "),
    h("code", { class: "wrap-anywhere" }, name),
    ` holds ${holds}`,
  );
}

/** The button that opens the threads of reviews without a commit, as last stored, with the commits
 * that may be the successors. */
export const readButton = (item, title = "Reviews without a commit") =>
  button(item.orphaned.length > 1 ? "Read them" : "Read it", {
    kind: "s",
    onclick: () => openOrphans(item, title),
  });

function openOrphans({ orphaned, project, commits = {} }, title) {
  const close = button("Close", { onclick: () => node.close() });
  const move = (event, one, sha) =>
    attempt(event, async () => {
      await became(project, one.repo, sha, one.sha);
      node.close();
    });
  const node = dialog(
    title,
    h("h2", { class: "big" }, title),
    orphaned.map((one) =>
      h(
        "section",
        { class: "stack spaced" },
        h("h3", {}, one.subject ?? "No title is known", " ", code(short(one.sha))),
        one.threads.length + one.drafts.length
          ? [one.threads.map(thread), one.drafts.map((draft) => draftNode(project, one, draft))]
          : h("p", { class: "soft" }, "It holds no thread."),
        one.candidates.map(({ sha, by }) =>
          button(`It became ${short(sha)} ${findTitle(commits[one.repo], sha)}`, {
            kind: "s",
            title: WHY[by],
            onclick: (event) => move(event, one, sha),
          }),
        ),
        commits[one.repo]?.length > 0 && anywhere(one, commits[one.repo], move),
        h("p", { class: "line wrap tiny quiet" }, code(tilde(one.file)), copyPath(one.file)),
      ),
    ),
    h("div", { class: "line spaced" }, close),
  );
}

const WHY = {
  "change-id": "Both carry the same Change-Id",
  "patch-id": "Both make the same change",
  "patch-id-u0": "Both change the same lines",
  "author-date": "Same author and the same second",
  branch: "The branch of its PR record points there",
  subject: "Both have the same subject",
  similar: "Some of the changed lines are the same",
};

const findTitle = (commits = [], sha) => {
  const found = commits.find((one) => one.sha === sha);
  return found ? titleOf(found) : "";
};

/** A choice of any commit as the new place of a review: the user may know the successor. */
function anywhere(one, commits, move) {
  const choice = h(
    "select",
    { class: "input", "aria-label": `Commit that is to have the review of ${short(one.sha)}` },
    commits
      .toReversed()
      .map((each) => h("option", { value: each.sha }, `${each.short} ${titleOf(each)}`)),
  );
  const put = button("Put it there", {
    kind: "s",
    onclick: (event) => move(event, one, choice.value),
  });
  return h("div", { class: "line wrap" }, choice, put);
}

/** A draft on a missing commit: it can be read, moved along with the review, and deleted. */
function draftNode(project, { repo, sha }, draft) {
  const [{ body }] = draft.comments;
  const address = commitOf(project, repo, sha, "drafts", draft.id);
  const node = h(
    "div",
    { class: "stack" },
    thread(draft),
    h(
      "div",
      { class: "line wrap" },
      h("span", { class: "badge line" }, icon("pencil"), "Draft, not sent"),
      button("Copy it", {
        kind: "ghost s",
        onclick: (event) => attempt(event, () => copy(body, "The draft is copied")),
      }),
      button("Delete it", {
        kind: "ghost s",
        onclick: (event) =>
          attempt(event, async () => {
            await remove(address);
            node.remove();
          }),
      }),
    ),
  );
  return node;
}

const thread = (one) =>
  h(
    "div",
    { class: "card inside stack" },
    h(
      "p",
      { class: "tiny quiet" },
      address({ ...one, path: one.original_path, line: one.original_line }),
      one.resolved ? " · resolved" : " · open",
    ),
    one.anchor_text && h("pre", { class: "codeblock", tabindex: "0" }, one.anchor_text),
    one.comments.map((comment) =>
      h(
        "div",
        {},
        h(
          "p",
          { class: "tiny soft" },
          comment.author_name ?? "unknown",
          comment.created_at && " · ",
          time(comment.created_at),
        ),
        h("div", { class: "prose" }, prose(comment.body_html)),
      ),
    ),
  );
