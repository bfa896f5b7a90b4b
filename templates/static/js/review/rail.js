// The rail beside a commit: the stacks of the project, with the row of the commit marked.

import { get } from "../kit/api.js";
import { meter, plusMinus } from "../kit/bars.js";
import { fill, h, icon, mark, redrawUnpressed } from "../kit/dom.js";
import { problem } from "../kit/parts.js";
import { late } from "../kit/skeleton.js";
import { plural } from "../kit/words.js";
import { pageOf, route } from "./route.js";
import { onOther, state, worktree } from "./state.js";
import { statusOf } from "./statuses.js";

const rail = document.getElementById("rail");
const watchers = new Set();
let order = []; // rows {repo, sha, node} from the top
let heads = []; // heads of stacks: {repo, shas, says}
let known = null;
let place = "";

let drawn;
/** Resolves once the rail is drawn. */
export const listed = new Promise((done) => (drawn = done));

/** Call back with the project after each reading. */
export const onProject = (callback) => watchers.add(callback);

export async function loadRail() {
  if (!known) late(rail, "rows");
  try {
    const project = await get(route("projects", state.project));
    redrawUnpressed(rail, () => draw(project));
  } catch (error) {
    if (!known) fill(rail, problem(error.message));
  }
}

function draw(project) {
  const said = JSON.stringify(project.repos);
  if (known !== said) {
    known = said;
    const held = focusedHref();
    const opened = new Set(
      [...rail.querySelectorAll("details[open]")].map(({ dataset }) => dataset.name),
    );
    [order, heads] = [[], []];
    fill(
      rail,
      project.repos.map((repo) => repository(repo, project.repos.length > 1)),
    );
    for (const node of rail.querySelectorAll("details"))
      if (opened.has(node.dataset.name)) node.open = true;
    const here = locate();
    if (held) rail.querySelector(`[href="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
    else if (!rail.dataset.shown)
      requestAnimationFrame(() => here?.scrollIntoView({ block: "nearest" }));
    rail.dataset.shown = "";
  }
  drawn();
  for (const callback of watchers) callback(project);
}

/** Mark the row of the commit shown, and scroll it into view. */
export const markHere = () => locate()?.scrollIntoView({ block: "nearest" });
onOther(markHere);

/** Mark the row of the commit shown, and show its position in its stack. Returns the row. */
function locate() {
  let here = null;
  for (const { repo, sha, node } of order) {
    const shown = repo === state.repo && sha === state.sha;
    if (shown) node.setAttribute("aria-current", "page");
    else node.removeAttribute("aria-current");
    if (shown) here = node;
  }
  place = "";
  for (const { repo, shas, says } of heads) {
    const count = shas.length;
    const n = repo === state.repo ? shas.indexOf(state.sha) : -1;
    if (n >= 0) place = `${count - n} of ${count}`;
    fill(says, n >= 0 ? place : [String(count), h("span", { class: "sr" }, " commits")]);
  }
  const folded = here?.closest("details");
  if (folded) folded.open = true;
  return here;
}

const focusedHref = () =>
  rail.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;

function repository(repo, several) {
  const byRow = new Map(repo.commits.map((commit) => [commit.sha, commit]));
  const merged = [];
  const stacks = repo.stacks.map((stack) => {
    const commits = stack.commits
      .map((sha) => byRow.get(sha))
      .filter(Boolean)
      .reverse();
    const live = commits.filter(({ status }) => status !== "merged");
    merged.push(...commits.filter(({ status }) => status === "merged"));
    return live.length ? [head(repo, stack, live), rungs(repo, live, stack.follow_on)] : [];
  });
  const name = several && h("h2", { class: "pickhead strong" }, repo.name);
  const errors = repo.errors.map((words) => h("p", { class: "pickhead wrap-anywhere" }, words));
  return [name, errors, stacks, merged.length > 0 && mergedCommits(repo, merged)];
}

function head(repo, stack, commits) {
  const says = h("span", { class: "push count" });
  heads.push({ repo: repo.name, shas: commits.map(({ sha }) => sha), says });
  const name = stack.title ? `Stack ${stack.n} · ${stack.title}` : `Stack ${stack.n}`;
  const words = stack.follow_on ? `${name}, follows on` : name;
  return h(
    "h3",
    { class: "pickhead" },
    icon("branch"),
    h("span", { class: "cut", title: words }, words),
    says,
  );
}

const rungs = (repo, commits, follows) =>
  h(
    "ol",
    { class: "rungs" },
    commits.map((commit) => h("li", {}, rung(repo, commit, follows))),
  );

function mergedCommits(repo, merged) {
  const count = h("span", { class: "count" }, String(merged.length));
  return h(
    "details",
    { class: "archived", dataset: { name: repo.name } },
    h("summary", { class: "pickhead" }, icon("right"), "Merged ", count),
    rungs(repo, merged, false),
  );
}

function rung(repo, commit, follows) {
  const { sha, short, subject, pr_title: title, unresolved, progress } = commit;
  const status = statusOf(commit.status);
  const viewed = `${progress.viewed} of ${plural(progress.files, "file")} viewed`;
  const node = h(
    "a",
    {
      class: follows ? "rung follow" : "rung",
      href: pageOf(state.project, repo.name, sha),
    },
    mark(status),
    h(
      "span",
      { class: "name cut small", title: title || subject },
      title || subject || "(no subject)",
    ),
    unresolved > 0 &&
      h(
        "span",
        { class: "badge warn", title: `${unresolved} unresolved` },
        icon("say"),
        String(unresolved),
        h("span", { class: "sr" }, " unresolved"),
      ),
    h(
      "span",
      { class: "sub" },
      h("span", { class: "mono" }, short),
      plusMinus(commit.additions, commit.deletions),
      h(
        "span",
        { class: "push line", title: viewed },
        meter(progress.viewed, progress.files, viewed),
        h("span", { "aria-hidden": "true" }, `${progress.viewed}/${progress.files}`),
      ),
    ),
  );
  order.push({ repo: repo.name, sha, node });
  return node;
}

/** The row below (1) or above (-1) that of this commit: {repo, sha} or null. */
export function neighbour(by) {
  if (worktree) return (by > 0 && order.find(({ sha }) => sha === state.commit?.head)) || null;
  const here = order.findIndex(({ repo, sha }) => sha === state.sha && repo === state.repo);
  return here < 0 ? null : (order[here + by] ?? null);
}

/** "3 of 5", counted from the bottom of the open commits of the stack; "" for a merged commit. */
export const placeOf = () => place;
