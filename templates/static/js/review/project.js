// The page of one project: warnings, the intro, its stacks, its open threads.

import { get, patch, put, query } from "../kit/api.js";
import { plusMinus } from "../kit/bars.js";
import { button, fill, h, icon, keep, visible } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { pace } from "../kit/pace.js";
import { action } from "../kit/palette.js";
import { page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { attempt, toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { askAgent } from "./ask.js";
import { Picture, Repositories } from "./project/about.js";
import { live } from "./live.js";
import { Note } from "./project/note.js";
import { commitOf, pageOf, route } from "./route.js";
import { Stacks } from "./project/stacks.js";
import { tilde } from "./paths.js";
import { ThreadList } from "./project/threadlist.js";
import { banner, warningsOf } from "./project/warnings.js";

const slug = document.body.dataset.project;
const at = route("projects", slug);

const title = h("h1", { class: "wrap-anywhere" }, document.getElementById("here").textContent);
const summary = h("p", {}, "…");
const toThreads = h(
  "button",
  { type: "button", class: "btn", hidden: true, onclick: () => threads.node.focus() },
  icon("say"),
  h("span"),
);
const asks = button("Ask an agent", {
  icon: "send",
  hidden: true,
  "aria-label": "Ask an agent about all open threads",
  onclick: (event) => askAgent(event, slug, {}, load),
});
const onward = h("a", { class: "btn primary", hidden: true });
const warnings = h("div", { class: "banners stack" });
const trouble = h("div", { class: "stack banners" });
const threads = new ThreadList(slug, load);
const picture = new Picture(slug);
const repositories = new Repositories(slug, load);
const intro = new Note({
  project: slug,
  what: "intro",
  draftName: `intro:${slug}`,
  write: async (text, _seen, was) => {
    try {
      await put(route("projects", slug, "description"), { description: text, was });
    } finally {
      await load();
    }
  },
});
const repos = h("div", { class: "repos" });
const stacks = new Map();

function headline(project) {
  const commits = project.repos.flatMap((repo) => repo.commits);
  const open = commits.filter((commit) => commit.status !== "merged");
  const sum = (of) => open.reduce((total, commit) => total + of(commit), 0);
  const full = project.repos.flatMap((repo) => repo.stacks).filter((stack) => stack.commits.length);
  title.textContent = visible(project.title);
  if (!open.length)
    return fill(
      summary,
      commits.length
        ? `All ${plural(commits.length, "commit")} merged.`
        : project.repos.some((repo) => repo.errors.length)
          ? "The commits cannot be shown."
          : "No commit is in review.",
    );
  const size = plusMinus(
    sum((one) => one.additions),
    sum((one) => one.deletions),
    { bar: false },
  );
  size.classList.add("inl");
  const [viewed, files] = [sum((one) => one.progress.viewed), sum((one) => one.progress.files)];
  return fill(
    summary,
    `${open.length} open ${open.length === 1 ? "commit" : "commits"} in ${plural(full.length, "stack")} · `,
    size,
    ` · ${viewed} of ${plural(files, "file")} viewed`,
  );
}

/** The first unmerged commit, in reading order, with unviewed files. */
function next(project) {
  for (const repo of project.repos) {
    const bySha = new Map(repo.commits.map((commit) => [commit.sha, commit]));
    for (const sha of repo.stacks.flatMap((stack) => stack.commits)) {
      const commit = bySha.get(sha);
      const { viewed, files } = commit.progress;
      if (commit.status !== "merged" && viewed < files) return { repo: repo.name, commit };
    }
  }
  return null;
}

async function draw(project, found) {
  headline(project);
  const here = next(project);
  onward.hidden = !here;
  if (here) {
    const begun = project.repos.some((repo) => repo.commits.some((one) => one.progress.viewed));
    onward.textContent = `${begun ? "Continue" : "Start"} at ${here.commit.short}`;
    onward.href = pageOf(slug, here.repo, here.commit.sha);
  }
  const open = found.threads.length + found.more;
  toThreads.hidden = asks.hidden = !open;
  toThreads.lastChild.textContent = plural(open, "open thread");
  keep(warnings, warningsOf(project, found), (item) => item.key, banner);
  intro.show({ text: project.description, html: project.description_html });
  threads.show(found);
  picture.show(project);
  repositories.show(project.repos);
  if (!stacks.size) repos.ariaBusy = "true"; // hides what is below, which would move
  await drawRepos(project.repos).finally(() => (repos.ariaBusy = null));
}

/** Draw the repositories in slices of time, since there may be hundreds of commits. */
async function drawRepos(list) {
  const several = list.length > 1;
  for (const name of stacks.keys())
    if (!list.some((repo) => repo.name === name)) {
      stacks.get(name).place.remove();
      stacks.delete(name);
    }
  const breathe = pace();
  for (const repo of list) {
    if (!stacks.has(repo.name)) {
      const shown = new Stacks(slug, load);
      const head = h("header", { class: "group" });
      stacks.set(repo.name, { shown, head, place: h("section", {}, head, shown.node) });
      repos.append(stacks.get(repo.name).place);
    }
    const { shown, head, place } = stacks.get(repo.name);
    head.hidden = !several;
    place.setAttribute("aria-label", visible(`Stacks of ${repo.name}`));
    fill(
      head,
      h("h2", { class: "reponame" }, repo.name),
      h(
        "span",
        { class: "tiny quiet cut" },
        tilde(repo.path),
        repo.range.text && ` · ${repo.range.text}`,
      ),
    );
    shown.show(repo);
    const rest = breathe();
    if (rest) await rest;
  }
}

let asking = null;
let again = false;

/** Read everything and draw it. Calls during a run cause one more run after it. */
function load() {
  if (asking) again = true;
  asking ??= ask().finally(() => {
    asking = null;
    if (again) {
      again = false;
      load();
    }
  });
  return asking;
}

async function ask() {
  try {
    const [project, found] = await Promise.all([
      get(`${at}?html=1`),
      get(
        query(route("projects", slug, "threads"), {
          unresolved: 1,
          html: 1,
          limit: threads.limit || null,
        }),
      ),
    ]);
    fill(trouble);
    content.hidden = false;
    waiting.remove();
    await draw(project, found);
    tellChanges().catch(() => {}); // the page works without
  } catch (error) {
    fill(trouble, problem(error.message));
    waiting.remove();
  }
}

/** Show uncommitted changes above the stack that they are on. */
async function tellChanges() {
  const { repos: changed } = await get(route("projects", slug, "changes"));
  for (const [name, { shown }] of stacks)
    shown.tell(changed.find(({ repo, files }) => repo === name && files) ?? null);
}

function step(by) {
  const links = [...repos.querySelectorAll("a.over")].filter((link) => link.checkVisibility());
  const now = links.indexOf(document.activeElement);
  links
    .at(now < 0 ? (by > 0 ? 0 : -1) : Math.min(Math.max(now + by, 0), links.length - 1))
    ?.focus();
}

/** The thread on which the keys e and a act: that of the row with the focus. */
function chosenThread() {
  const one = threads.focusedThread();
  if (!one) toast("Choose a thread first: A goes to the next answered one, N to the next.");
  return one;
}

function askAbout() {
  const one = chosenThread();
  if (one) askAgent(null, slug, { repo: one.repo, sha: one.sha, thread: one.id }, load);
}

async function settle() {
  const one = chosenThread();
  if (!one) return;
  const at = commitOf(slug, one.repo, one.sha, "threads", one.id);
  const set = (resolved) =>
    attempt(null, async () => {
      await patch(at, { resolved });
      await load();
    });
  threads.jump(1);
  await set(true);
  toast("Resolved.", { action: "Undo", act: () => set(false) });
}

const content = h(
  "div",
  { class: "with-aside about-last", hidden: true },
  h("div", {}, h("section", { class: "intro", "aria-label": "Intro" }, intro.node), repos),
  h(
    "aside",
    { class: "aside", "aria-label": "About this project" },
    threads.node,
    picture.node,
    repositories.node,
  ),
);
const waiting = h("div");
fill(
  page(),
  h(
    "header",
    { class: "pagehead" },
    h("div", {}, title, summary),
    h("div", { class: "line wrap" }, toThreads, asks, onward),
  ),
  trouble,
  warnings,
  waiting,
  content,
);
late(waiting, "rows");

key(["J", "j", "Alt+ArrowDown"], "Next commit", () => step(1));
key(["K", "k", "Alt+ArrowUp"], "Commit before", () => step(-1));
key("Enter", "Open the commit");
key("N", "Next open thread", () => threads.jump(1));
key("P", "Open thread before", () => threads.jump(-1));
key("A", "Next answered thread", () => threads.nextAnswered());
key("a", "Ask an agent about the thread", () => askAbout());
key("e", "Resolve the thread", () => settle());
key("o", "Outdated threads", () => threads.nextOutdated());
key("/", "Search", () => document.getElementById("palette").click());
key("u", "All projects", () => location.assign(pageOf()));
action("Ask an agent about all open threads", () => askAgent(null, slug, {}, load), {
  icon: "send",
});
action("Copy all open threads as Markdown", () => threads.copyAll(), { icon: "copy" });
action("Edit the intro", () => intro.open(), { icon: "pencil" });
action("Add a repository", () => repositories.toggle(true), { icon: "plus" });
addEventListener("focus", () => tellChanges().catch(() => {}));
live(load, (event) => event.type === "projects" || event.project === slug);
