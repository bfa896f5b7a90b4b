// The first page of review: every project with its counts, kept current by events.

import { get } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { menu } from "../kit/menu.js";
import { action } from "../kit/palette.js";
import { page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { plural } from "../kit/words.js";
import { lead, welcome } from "./projects/empty.js";
import { addExamples, removeExamples } from "./projects/examples.js";
import { calm, live } from "./live.js";
import { closedRow, projectRow } from "./projects/row.js";
import { route } from "./route.js";

const ADD = "Add the example projects";
const OPEN = "Open a repository";
const REMOVE = "Put the example projects away";
const EXAMPLES = 2;

let last = null;
let busy = false;

const summary = h("p", {}, "…");
const trouble = h("div");
const none = h("div");
const progress = h("div", { role: "status" });
const find = h("input", {
  class: "input find",
  type: "search",
  placeholder: "Filter projects",
  "aria-label": "Filter projects",
  autocomplete: "off",
});
const examples = h("button", { type: "button", class: "btn" }, "Examples", icon("down"));
menu(examples, () => [
  {
    label: last?.examples === "removed" ? "Restore the example projects" : ADD,
    icon: "plus",
    act: () => addExamples(watch),
    disabled: last?.examples === "present",
    why: "They are here already.",
  },
  {
    label: REMOVE,
    icon: "archive",
    act: () => removeExamples(watch),
    disabled: last?.examples !== "present",
    why: "There are none.",
  },
]);
const opener = button(OPEN, { icon: "plus", onclick: openOne });
const tools = h("div", { class: "line wrap", hidden: true }, find, examples, opener);

/** A card of rows under a heading; if `folded`, it is a details element. */
function section(name, build, { folded = false, empty = "" } = {}) {
  const rows = h("ul", { class: "rows" });
  const count = h("span", { class: "count" });
  const nothing = h("p", { class: "nothing soft", hidden: true }, empty);
  const head = [h("h2", {}, name), count];
  const node = folded
    ? h(
        "details",
        { class: "card folded-card" },
        h("summary", { class: "row" }, icon("right"), head),
        rows,
      )
    : h("section", { class: "card", "aria-label": name }, h("header", {}, head), rows, nothing);
  const update = calm(rows, (project) => project.slug, build);
  return {
    node,
    show(projects, hidden) {
      node.hidden = hidden;
      count.textContent = String(projects.length);
      nothing.hidden = projects.length > 0;
      update(projects);
    },
    /** Open the details of a folded section. */
    unfold() {
      /** @type {HTMLDetailsElement} */ (node).open = true;
    },
    rows,
  };
}

const open = section("Under review", projectRow, { empty: "No project by that name." });
const closed = section("Not open for review", (project) => closedRow(project, load), {
  folded: true,
});
const archived = section("Archived", projectRow, { folded: true });
const parts = [open, closed, archived];

const matchesWords = (project, words) =>
  words.every((word) =>
    [project.title, project.slug, ...project.repos].some((text) =>
      text.toLowerCase().includes(word),
    ),
  );

function draw() {
  const { projects, projectsDir, home } = last;
  const folder = projectsDir.startsWith(home) ? `~${projectsDir.slice(home.length)}` : projectsDir;
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = projects
    .filter((project) => matchesWords(project, words))
    .map((project) => ({ ...project, file: `${projectsDir}/${project.slug}/project.yaml` }));
  const isOpen = (project) => project.repoCount > 0 || project.error;
  const unresolved = projects.reduce((sum, project) => sum + project.unresolved, 0);
  const count = projects.filter(isOpen).length;
  const now = projects.filter((project) => isOpen(project) && !project.archived).length;
  summary.textContent = count
    ? `${plural(now, "project")} under review, ${plural(unresolved, "open thread")}.`
    : "Stacked commits of your repositories, read and discussed on this machine.";
  tools.hidden = !projects.some(isOpen);
  const sorted = found.toSorted((a, b) =>
    (b.lastModified ?? "").localeCompare(a.lastModified ?? ""),
  );
  const hidden = sorted.filter((project) => project.archived && isOpen(project));
  const without = sorted.filter((project) => !isOpen(project));
  open.show(
    sorted.filter((project) => isOpen(project) && !project.archived),
    !now,
  );
  closed.show(without, !without.length);
  archived.show(hidden, !hidden.length);
  if (words.length) for (const one of [closed, archived]) one.unfold();
  if (!count && !none.firstChild)
    fill(none, welcome({ folder, open: openOne, add: () => addExamples(watch) }));
  else if (count) fill(none);
  tell();
}

/** Open the form of the first project without a repository; if there is none, lead to a new one. */
function openOne() {
  closed.unfold();
  const first = closed.rows.querySelector("button");
  if (!first) return lead();
  first.scrollIntoView({ block: "center" });
  first.click();
}

function watch(now) {
  busy = now;
  tell();
  if (!now) load();
}

function tell() {
  const there = last?.projects.filter((project) => project.example).length ?? 0;
  const words = `Adding the example projects: ${Math.min(there, EXAMPLES)} of ${EXAMPLES} here.`;
  if (!busy) return fill(progress);
  const bar = h("progress", { max: EXAMPLES, value: there || null, "aria-label": words });
  return fill(progress, h("div", { class: "banner" }, bar, h("div", {}, words)));
}

async function load() {
  try {
    last = await get(route("projects"));
    bones();
    fill(trouble);
    draw();
  } catch (error) {
    bones();
    fill(trouble, problem(error.message));
  }
}

function step(by) {
  const links = [...page().querySelectorAll(".rows .over")].filter((link) =>
    link.checkVisibility(),
  );
  const at = links.indexOf(document.activeElement);
  links.at(at < 0 ? (by > 0 ? 0 : -1) : Math.min(Math.max(at + by, 0), links.length - 1))?.focus();
}

const holder = h(
  "div",
  { class: "stack lists" },
  parts.map((part) => part.node),
);
for (const part of parts) part.node.hidden = true;
fill(
  page(),
  h("header", { class: "pagehead" }, h("div", {}, h("h1", {}, "Review"), summary), tools),
  h("div", { class: "stack banners" }, trouble, progress),
  none,
  holder,
);
const bones = late(none, "rows");
find.addEventListener("input", draw);
find.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  find.value = "";
  draw();
  find.blur();
});
key(["J", "j", "Alt+ArrowDown"], "Next project", () => step(1));
key(["K", "k", "Alt+ArrowUp"], "Project before", () => step(-1));
key("Enter", "Open the project");
key("/", "Filter projects", () => find.focus());
action(OPEN, openOne, { icon: "plus" });
action(ADD, () => addExamples(watch), { icon: "plus" });
action(REMOVE, () => removeExamples(watch), { icon: "archive" });
live(load);
