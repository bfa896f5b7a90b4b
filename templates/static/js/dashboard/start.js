// The first page of the dashboard: every app with its state, kept up by events.

import { post } from "../kit/api.js";
import { button, fill, h, icon, keep, mark } from "../kit/dom.js";
import { page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { follow } from "../kit/stream.js";
import { attempt, toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { Board } from "./board.js";
import * as bookmarks from "./bookmarks.js";
import { faults } from "./faults.js";
import { Lost } from "./lost.js";
import * as observed from "./observed.js";
import { route } from "./route.js";
import { Tiles } from "./tile.js";
import { needsAttention, ORDER, said, stateOf } from "./words.js";

const GROUPS = [
  ["attention", "Needs attention", needsAttention],
  ["declared", "Apps", ({ source }) => source === "declared"],
  ["found", "Found running", () => true],
];

const at = {
  title: h("h1", {}, "Apps"),
  counts: h("div", { class: "filters", role: "group", "aria-label": "Show only" }),
  notices: h("div", { class: "stack notices" }),
  apps: h("div"),
  observed: h("ul", { class: "card" }),
  unseen: h("p", { class: "tiny quiet spaced" }),
  bookmarks: h("div", { class: "stack" }),
  said: h("p", { class: "sr", role: "status" }),
};
const only = new Set(); // states to show; none chosen: all
let asked = 0; // how often a group changed: its icons are asked for again

const board = new Board({
  changed: draw,
  failed: (error) => error.status !== 503 && fill(at.notices, problem(error.message)),
});
const tiles = new Tiles((app) => {
  if (app) board.put(app);
  draw(board.state);
});
const lost = new Lost(() => {
  draw(board.state);
  board.want("lost");
});

function draw(state) {
  const { title } = state.config;
  at.title.textContent = title;
  document.title = title;
  drawCounts(state.apps);
  const notice = lost.shown(state.lost);
  const notices = [
    state.fileErrors.length && { key: "faults", faults: state.fileErrors },
    notice && { key: "lost", notice },
  ];
  keep(
    at.notices,
    notices.filter(Boolean),
    ({ key }) => key,
    (one) => (one.notice ? lost.draw(one.notice) : faults(one.faults)),
  );
  drawApps(state.apps);
  drawObserved(state);
  drawBookmarks(state.bookmarks);
}

function drawCounts(apps) {
  const counts = ORDER.map((state) => ({
    state,
    count: apps.filter((app) => app.state === state).length,
    on: only.has(state),
  }));
  for (const { state, count } of counts) if (!count) only.delete(state);
  keep(
    at.counts,
    counts.filter(({ count }) => count),
    ({ state }) => state,
    ({ state, count, on }) => {
      const look = stateOf(state);
      return h(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-pressed": String(on),
          onclick: () => {
            if (!only.delete(state)) only.add(state);
            draw(board.state);
          },
        },
        mark(look, false),
        `${count} ${look.word.toLowerCase()}`,
      );
    },
  );
}

function drawApps(apps) {
  const shown = apps.filter(({ state }) => !only.size || only.has(state));
  const left = new Set(shown.toSorted((a, b) => a.name.localeCompare(b.name)));
  const groups = GROUPS.map(([key, title, takes]) => {
    const list = [...left].filter(takes);
    for (const app of list) left.delete(app);
    return { key, title, list };
  }).filter(({ list }) => list.length);
  if (!apps.length) groups.push({ key: "none", list: [] });
  keep(
    at.apps,
    groups.map(({ key, title }) => ({ key, title })),
    ({ key }) => key,
    ({ key, title }) => (key === "none" ? empty() : section(title)),
  );
  for (const { key, list } of groups) {
    if (key === "none") continue;
    const node = at.apps.querySelector(`[data-key="${key}"]`);
    node.querySelector(".count").textContent = String(list.length);
    keep(
      node.querySelector(".tiles"),
      list.map((app) => tiles.shown(app)),
      ({ slug }) => slug,
      (app) => tiles.draw(app),
    );
  }
}

const section = (title) =>
  h(
    "section",
    {},
    h("div", { class: "group" }, h("h2", {}, title), h("span", { class: "count" })),
    h("ul", { class: "tiles" }),
  );

function empty() {
  return h(
    "section",
    { class: "card empty" },
    document.getElementById("art").content.cloneNode(true),
    h("h2", { class: "big" }, "No apps yet"),
    h(
      "p",
      {},
      "Start a development server and it appears here by itself. What should stay, you claim below or write as a file.",
    ),
    h("p", { class: "cmd" }, h("code", {}, "echo 'port: 3000' > ~/.svc/dashboard/apps/shop.yaml")),
  );
}

function drawObserved({ observed: all, config }) {
  const visible = all.filter(({ hidden }) => !hidden);
  const rows = visible.map(observed.shown);
  at.observed.hidden = rows.length === 0;
  keep(at.observed, rows, ({ id }) => id, observed.row);
  const hidden = all.length - visible.length;
  const nothing = config.scan.enabled
    ? "Nothing new is listening."
    : "Scanning is off (scan.enabled in config.yaml).";
  at.unseen.textContent = [
    rows.length ? "" : nothing,
    hidden ? `${plural(hidden, "listener")} of the system not shown.` : "",
  ].join(" ");
}

function drawBookmarks(groups) {
  at.bookmarks.closest("section").hidden = groups.length === 0;
  keep(
    at.bookmarks,
    groups.map(({ group, name, description, collapsed, links }) => ({
      ...{ group, name, description, collapsed, asked },
      links: links.map(({ name: words, url, description: about }) => ({
        ...{ name: words, url, description: about },
      })),
    })),
    ({ group }) => group,
    bookmarks.group,
  );
}

function heard(event) {
  if (event.type === "bookmarks") asked += 1;
  board.heard(event);
  if (event.type !== "state") return;
  const app = board.state?.apps.find(({ slug }) => slug === event.slug);
  at.said.textContent = `${app?.name ?? event.slug}: ${said({ state: event.state })}`;
}

const scan = (event) =>
  attempt(event, async () => {
    const { observed: count, added, gone } = await post(route("scan"));
    toast(`${plural(count, "listener")}, ${added.length} new, ${gone.length} gone.`);
    board.want("observed");
  });

fill(
  page(),
  h("header", { class: "pagehead boardhead" }, h("div", {}, at.title), at.counts),
  at.said,
  at.notices,
  at.apps,
  h(
    "section",
    {},
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Listening, not claimed"),
      button("Scan now", { icon: "scan", kind: "s ghost push", onclick: scan }),
    ),
    at.observed,
    at.unseen,
  ),
  h(
    "section",
    { hidden: true },
    h("div", { class: "group" }, h("h2", {}, "Bookmarks")),
    at.bookmarks,
  ),
  h(
    "p",
    { class: "tiny quiet spaced" },
    "History, logs and an editor on this page come with a later version. Everything is in the ",
    h("a", { class: "link", href: "api/docs" }, "JSON API"),
    " and for agents in the ",
    h("a", { class: "link", href: "llms.txt" }, "guide"),
    " already.",
  ),
);
board.want("state");
follow(route("events"), { hello: () => board.want("state"), change: heard });
