// A stack as one read-only diff: comments belong on its commits.

import { get } from "../kit/api.js";
import { fill, h, icon } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { problem } from "../kit/parts.js";
import "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { plural } from "../kit/words.js";
import { drawFind } from "./commit/find.js";
import { drawToolbar, fileMenu } from "./commit/toolbar.js";
import { size } from "./diff/notes.js";
import { all, current, goTo, sayNothing, serve, show } from "./diff/view.js";
import { live } from "./live.js";
import { pageOf, route } from "./route.js";

const { project, repo, stack } = document.body.dataset;
const node = (id) => document.getElementById(id);
const at = (...below) => route("projects", project, "repos", repo, "stacks", stack, ...below);
const FIRST = 8; // files whose contents come with the first answer
const TRUNK = "A merge between these brought work of the trunk: the diff holds it too.";
let tip = "";

function address(what, query) {
  const below = what === "file" ? at("diff", "file") : at(what);
  return `${below}?${new URLSearchParams(query)}`;
}

async function load() {
  try {
    const found = await get(`${at("diff")}?contents=${FIRST}`);
    if (found.tip === tip) return;
    tip = found.tip;
    tell(found);
    for (const file of found.files) Object.assign(file, { foreign: true, viewed: false });
    await show(found.files);
  } catch (error) {
    fill(node("notices"), problem(error.message));
  }
}

function tell({ title, commits, others, trunk, additions, deletions, files }) {
  node("title").textContent = title ?? `Stack ${stack}`;
  node("here").textContent = title ?? `Stack ${stack}`;
  fill(
    node("facts"),
    h("span", {}, `${plural(commits.length, "commit")} as one diff`),
    h("span", {}, plural(files.length, "file")),
    size(additions, deletions),
    h("a", { class: "link", href: pageOf(project, repo, commits[0]) }, "First commit"),
    h("a", { class: "link", href: pageOf(project, repo, commits.at(-1)) }, "Last commit"),
  );
  const words = `${plural(others.length, "commit")} of other stacks ${others.length === 1 ? "lies" : "lie"} between these: the diff holds them too.`;
  fill(
    node("notices"),
    others.length > 0 && h("div", { class: "banner warn" }, icon("alert"), words),
    trunk && h("div", { class: "banner warn" }, icon("alert"), TRUNK),
  );
}

function file(by) {
  const list = all();
  const next = list[list.indexOf(current()) + by];
  if (next) goTo(next.path);
}

function start() {
  drawToolbar();
  drawFind(address);
  serve({ menu: fileMenu, address });
  sayNothing("The commits of this stack take each other back.");
  key("]", "Next file", () => file(1), { group: "Files" });
  key("[", "Previous file", () => file(-1), { group: "Files" });
  key("u", "Up to the project", () => location.assign(pageOf(project)), { group: "Files" });
  late(node("files"), "rows");
  live(load, (event) => !event.project || event.project === project);
}

start();
