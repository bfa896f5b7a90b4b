// Search: messages of all projects that contain every word, each a link to its place in the chat.

import { get, query } from "../kit/api.js";
import { button, fill, h, keep, settle } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { empty, page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { attempt } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { hitRow } from "./hits.js";

const PAGE = 30;
const asked = new URLSearchParams(location.search);
const state = { hits: [], next: null, names: {} };

const words = h("input", {
  class: "input",
  id: "words",
  type: "search",
  autocomplete: "off",
  maxlength: "200",
  value: asked.get("q") ?? "",
  "aria-describedby": "how",
});
const project = h("select", {
  class: "input slim",
  "aria-label": "Project",
  onchange: () => again(),
});
const rows = h("ul", { class: "rows" });
const said = h("p", { class: "soft small", role: "status" });
const foot = h("div", { class: "line center foot" });
const trouble = h("div");
const card = h("section", { class: "card", "aria-label": "Messages", hidden: true }, rows);

async function load(before = null) {
  const q = words.value.trim();
  const fields = { q, project: project.value };
  history.replaceState(null, "", query(location.pathname, fields));
  if (!q) {
    state.hits = [];
    draw({ next: null, indexing: false }, "");
    return;
  }
  const answer = await get(query("/api/search", { ...fields, limit: PAGE, before }));
  if (q !== words.value.trim()) return;
  state.hits = before ? [...state.hits, ...answer.hits] : answer.hits;
  draw(answer, q);
}

function draw({ next, indexing }, q) {
  fill(trouble);
  card.hidden = q === "";
  keep(
    rows,
    state.hits,
    (hit) => hit.id,
    (hit) => hitRow(hit, state.names[hit.project] ?? hit.project),
  );
  const many = `${plural(state.hits.length, "message")}${next ? " and more" : ""}`;
  said.textContent =
    q &&
    [`${many}, the newest first.`, indexing && "Some chats are still being read in."]
      .filter(Boolean)
      .join(" ");
  if (q && !state.hits.length) fill(rows, h("li", {}, empty(nothing(q))));
  fill(foot, next && button("Show more", { onclick: (event) => attempt(event, () => load(next)) }));
}

const nothing = (q) =>
  `No message holds ${q.includes(" ") ? "all of these words" : `“${q}”`}. Each word may be part of a longer one; case and accents do not matter.`;

const safely = () => load().catch((error) => fill(trouble, problem(error.message)));
const again = settle(200, safely);

async function offerProjects() {
  const { projects } = await get("/api/projects");
  state.names = Object.fromEntries(projects.map(({ slug, name }) => [slug, name]));
  const wanted = asked.get("project") ?? "";
  const sorted = projects.sort((a, b) => a.name.localeCompare(b.name));
  fill(
    project,
    h("option", { value: "" }, "All projects"),
    sorted.map(({ slug, name }) => h("option", { value: slug, selected: slug === wanted }, name)),
  );
}

function step(by) {
  const links = [...rows.querySelectorAll("a.over")];
  const at = links.indexOf(document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

words.addEventListener("input", again);
words.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown") return;
  event.preventDefault();
  step(1);
});
fill(
  page(),
  h(
    "header",
    { class: "pagehead" },
    h("div", {}, h("h1", {}, "Search"), h("p", {}, "What was said in the chats of all projects.")),
  ),
  h(
    "form",
    {
      class: "searchbar",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        safely();
      },
    },
    h("label", { class: "sr", for: "words" }, "Words"),
    words,
    project,
  ),
  h(
    "p",
    { class: "hint", id: "how" },
    "Parts of words and of code count too; “words in quotes” stand together.",
  ),
  trouble,
  h("div", { class: "line spaced" }, said),
  card,
  foot,
);
words.focus();
offerProjects().then(safely, safely);
key("/", "Search", () => words.focus());
key(["j", "k"], "Next and previous message", (event) => step(event.key === "j" ? 1 : -1));
