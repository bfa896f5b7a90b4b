// The projects by area, filtered by activity and by name; rows keep their places.

import { button, fill, h, icon, keep, mark, settle } from "../../kit/dom.js";
import { late } from "../../kit/skeleton.js";
import { plural, time } from "../../kit/words.js";
import { steady } from "../steady.js";
import { isUnconfirmed, stateOf } from "../words.js";

const PIECE = 40; // rows drawn at once
const SHOWN =
  "slug name summary group status error workingDirProblem counts paused nextRunAt timezone changedAt".split(
    " ",
  );
const OVER = new Set(["done", "abandoned"]);
const RESTING = new Set(["paused", "blocked"]);
const SEGMENTS = {
  all: { label: "All", holds: (project) => !OVER.has(project.status) },
  running: { label: "Running", holds: ({ counts }) => counts.running + counts.waiting > 0 },
  paused: {
    label: "Paused",
    holds: (project) =>
      RESTING.has(project.status) || (hasPausedTriggers(project) && !OVER.has(project.status)),
  },
  archived: { label: "Archived", holds: (project) => OVER.has(project.status) },
};
const hasPausedTriggers = ({ paused, counts }) => paused !== null && counts.triggers > 0;
const LOOKS = {
  paused: stateOf("paused"),
  blocked: { ...stateOf("paused"), word: "Blocked" },
  done: { ...stateOf("completed"), tone: "stopped", word: "Done" },
  abandoned: { ...stateOf("archived"), word: "Abandoned" },
  idea: { ...stateOf("reserved"), word: "Idea" },
};

/** projectList() → {node, update(projects), focus(), step(by)} */
export function projectList() {
  const asked = new URLSearchParams(location.search);
  const state = {
    show: asked.get("show") in SEGMENTS ? asked.get("show") : "all",
    all: [],
    later: 0,
  };
  const areas = h("div", { class: "home" });
  const none = h("div");
  const list = steady(areas, (project) => project.slug, draw);
  const search = h("input", {
    class: "input find",
    id: "find-project",
    type: "search",
    placeholder: "Filter by name or area",
    autocomplete: "off",
    value: asked.get("q") ?? "",
  });
  const segments = h("span", { class: "seg" });
  const show = (name) => {
    state.show = name;
    remember();
    update(state.all, { now: true });
  };
  for (const [name, { label }] of Object.entries(SEGMENTS))
    segments.append(
      h(
        "button",
        { type: "button", dataset: { show: name }, onclick: () => show(name) },
        `${label} `,
        h("span", { class: "count" }),
      ),
    );
  const typed = settle(60, () => {
    remember();
    update(state.all, { now: true });
  });
  search.addEventListener("input", typed);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && search.value) {
      search.value = "";
      typed();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      step(areas, 1);
    }
  });

  function remember() {
    const url = new URL(location.href);
    url.searchParams.delete("show");
    url.searchParams.delete("q");
    if (state.show !== "all") url.searchParams.set("show", state.show);
    if (search.value.trim()) url.searchParams.set("q", search.value.trim());
    history.replaceState(null, "", url);
  }

  function update(all, options) {
    state.all = all.map(slim);
    const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const named = state.all.filter((project) => {
      const text =
        `${project.name} ${project.slug} ${project.group} ${project.summary}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    for (const node of segments.children) {
      const { show: name } = node.dataset;
      node.setAttribute("aria-pressed", String(name === state.show));
      node.lastChild.textContent = String(named.filter(SEGMENTS[name].holds).length);
    }
    const rows = named.filter(SEGMENTS[state.show].holds).sort(byName);
    list.update(rows, options);
    fill(none, rows.length === 0 && nothing());
  }

  function nothing() {
    const clear = () => {
      search.value = "";
      show("all");
    };
    const said = search.value.trim()
      ? `No project here is called “${search.value.trim()}”.`
      : ({ all: "Every project is done or abandoned.", running: "Nothing runs and nothing waits." }[
          state.show
        ] ?? `No project is ${state.show}.`);
    return h(
      "div",
      { class: "card nothing line wrap" },
      h("p", { class: "soft grow" }, said),
      (search.value.trim() || state.show !== "all") &&
        button("Show all", { kind: "s", onclick: clear }),
    );
  }

  /** Draw the projects: hundreds of rows in pieces, the number already drawn at once. */
  function draw(projects) {
    clearTimeout(state.later);
    const sorted = [...projects].sort((a, b) => byArea(a.group, b.group));
    const size = Math.max(PIECE, areas.querySelectorAll("li").length);
    drawFirst(sorted, size);
    const more = (upto) => {
      drawFirst(sorted, upto);
      if (upto < sorted.length) state.later = setTimeout(more, 0, upto + PIECE);
    };
    if (size < sorted.length) state.later = setTimeout(more, 0, size + PIECE);
  }

  function drawFirst(sorted, size) {
    const areasOf = Map.groupBy(sorted.slice(0, size), ({ group }) => group);
    const only = new Set(sorted.map(({ group }) => group)).size === 1;
    keep(
      areas,
      [...areasOf.keys()].map((name) => ({ name, only })),
      ({ name }) => name,
      section,
    );
    for (const place of areas.children) {
      const { key } = place.dataset;
      const many = sorted.filter(({ group }) => group === key).length;
      place.querySelector(".count").textContent = String(many);
      keep(place.lastElementChild, areasOf.get(key), (project) => project.slug, row);
    }
  }

  const node = h(
    "div",
    { class: "projects" },
    h(
      "div",
      { class: "line wrap filterbar", role: "group", "aria-label": "Filter projects" },
      segments,
      h("label", { class: "sr", for: search.id }, "Filter by name or area"),
      search,
    ),
    list.chip,
    areas,
    none,
  );
  late(areas);
  return { node, update, focus: () => search.focus(), step: (by) => step(areas, by) };
}

/** The data that a row shows: it is redrawn only when some of it has changed. */
const slim = (project) => Object.fromEntries(SHOWN.map((name) => [name, project[name]]));
const byName = (a, b) => a.name.localeCompare(b.name);
/** Projects without an area come last. */
const byArea = (a, b) => Number(a === "") - Number(b === "") || a.localeCompare(b);

const section = ({ name, only }) =>
  h(
    "section",
    {},
    h(
      "div",
      { class: "group" },
      h("h2", {}, name || (only ? "Projects" : "Other")),
      h("span", { class: "count" }),
    ),
    h("ul", { class: "card" }),
  );

/** Move the focus over the rows. */
function step(areas, by) {
  const rows = [...areas.querySelectorAll("a.over")];
  const at = rows.indexOf(document.activeElement);
  const to = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus();
}

/** Whether an error is about the file; any other means that a project elsewhere has the name. */
const unread = (error) => /^(line|cannot be )/.test(error);

/** The meaning of an error for the project, in a few words. */
const errorWords = (error) => {
  if (isUnconfirmed(error)) return "Its file waits to be read";
  return unread(error) ? "Its file cannot be read" : "It cannot be used here";
};

/** Why no turn can run in an unfinished project; "" if it can. */
const folderProblem = ({ status, workingDirProblem: why }) => (!OVER.has(status) && why) || "";

function lookOf(project) {
  const { error, counts, status } = project;
  if (error)
    return { ...stateOf(isUnconfirmed(error) ? "held" : "invalid"), word: errorWords(error) };
  if (folderProblem(project))
    return { ...stateOf("interrupted"), word: "Its folder cannot be used" };
  if (counts.asking) return stateOf("asks");
  if (counts.running) return stateOf("running");
  if (counts.waiting) return stateOf("queued");
  return LOOKS[status] ?? (hasPausedTriggers(project) ? stateOf("paused") : stateOf("quiet"));
}

function row(project) {
  const { slug, name, summary, error } = project;
  const why = error && !isUnconfirmed(error) && (unread(error) ? `project.yaml, ${error}` : error);
  const waits = isUnconfirmed(error) && "Read what project.yaml would change";
  const mild = waits || (folderProblem(project) && `Its folder ${folderProblem(project)}`);
  const about = why || mild || summary;
  const tone = why ? "small says bad" : mild ? "small says warn" : "soft small";
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row home-row" },
      mark(lookOf(project)),
      h("a", { class: "over strong cut", href: `/projects/${slug}`, title: name }, name),
      h("span", { class: `${tone} cut about`, title: about }, about),
      h("span", { class: "line badges" }, badges(project.counts)),
      h("span", { class: "tiny quiet line next" }, next(project)),
      h("span", { class: "tiny quiet when" }, time(project.changedAt)),
    ),
  );
}

const badges = (counts) => [
  counts.asking > 0 &&
    h(
      "span",
      { class: "badge warn" },
      counts.asking === 1 ? "needs you" : `${counts.asking} need you`,
    ),
  counts.running > 0 && h("span", { class: "badge busy" }, `${counts.running} running`),
  counts.unread > 0 && h("span", { class: "badge accent" }, `${counts.unread} unread`),
  counts.invalidTriggers > 0 &&
    h("span", { class: "badge bad" }, plural(counts.invalidTriggers, "invalid trigger")),
];

function next(project) {
  const { status, nextRunAt, timezone: zone } = project;
  if (OVER.has(status) || RESTING.has(status) || status === "idea") return status;
  if (hasPausedTriggers(project)) return "paused";
  return nextRunAt && [icon("clock"), h("span", { class: "cut" }, time(nextRunAt, { zone }))];
}
