// The first page of review: every project with its stacks as a picture, kept up by events.

import { get, post } from "../kit/api.js";
import { button, fill, h, icon, keep, settle } from "../kit/dom.js";
import { command, page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { follow } from "../kit/stream.js";
import { attempt } from "../kit/toast.js";
import { plural, time } from "../kit/words.js";

const base = document.body.dataset.base; // where the part is mounted: "" or "/review"
const route = (...parts) => `${base}/api/${parts.map(encodeURIComponent).join("/")}`;

const summary = h("p", {}, "…");
const add = button("Add the example projects", {
  icon: "plus",
  onclick: (event) => attempt(event, async () => (await post(route("examples")), load())),
});
const list = h("div", { class: "stack" });
const none = h("div");
const seen = new Map(); // slug → how often its picture was out of date

async function load() {
  const { projects, projectsDir, home, examples } = await get(route("projects"));
  const shown = projects.filter((project) => project.repoCount || project.error);
  const open = shown.reduce((sum, project) => sum + project.unresolved, 0);
  summary.textContent = shown.length
    ? `${plural(shown.length, "project")} under review, ${plural(open, "open thread")}.`
    : "Nothing is under review.";
  add.hidden = examples === "present";
  const folder = projectsDir.replace(home, "~");
  fill(none, shown.length ? null : empty(folder));
  keep(
    list,
    shown.map((project) => ({ ...project, version: seen.get(project.slug) ?? 0 })),
    (project) => project.slug,
    card,
  );
}

const empty = (folder) =>
  h(
    "section",
    { class: "card nothing" },
    h(
      "p",
      { class: "soft" },
      "Add the examples to look around, or name a repository in the project.yaml of a project:",
    ),
    command(`repos: [{path: ~/src/api, range: main..feature}]`, "a repo of project.yaml"),
    h("p", { class: "tiny quiet" }, `Projects are folders in ${folder}.`),
  );

function card(project) {
  const api = route("projects", project.slug);
  const about = [
    plural(project.commitCount, "commit"),
    project.followOnCount && `${project.followOnCount} following on`,
    project.mergedCount && `${project.mergedCount} merged`,
    project.lastModified && time(project.lastModified),
  ].filter(Boolean);
  return h(
    "section",
    { class: "card" },
    h(
      "header",
      {},
      h("h2", {}, project.title),
      h(
        "span",
        { class: "tiny quiet line" },
        about.flatMap((part, n) => (n ? [" · ", part] : [part])),
      ),
      project.unresolved
        ? h("span", { class: "badge warn push" }, `${project.unresolved} unresolved`)
        : h("span", { class: "push" }),
      h("a", { class: "btn s", href: `${api}/stack.png?download=1` }, icon("download"), "PNG"),
    ),
    project.error
      ? problem(project.error)
      : h(
          "a",
          { class: "picture", href: api, "aria-label": `${project.title} in the JSON API` },
          h("img", {
            src: `${api}/stack.svg?title=0&v=${project.version}`,
            alt: `Stacks of ${project.title}`,
            loading: "lazy",
          }),
        ),
  );
}

const refresh = settle(150, () => load().catch((error) => fill(none, problem(error.message))));

fill(
  page(),
  h("header", { class: "pagehead" }, h("div", {}, h("h1", {}, "Review"), summary), add),
  none,
  list,
  h(
    "p",
    { class: "tiny quiet spaced" },
    "Reading diffs and writing comments on a page comes with a later version. Everything is in the ",
    h("a", { class: "link", href: `${base}/api/docs` }, "JSON API"),
    " and at ",
    h("code", {}, `${base}/mcp`),
    " already.",
  ),
);
refresh();
follow(route("events"), {
  open: refresh,
  message: (event) => {
    if (event.project) seen.set(event.project, (seen.get(event.project) ?? 0) + 1);
    refresh();
  },
});
