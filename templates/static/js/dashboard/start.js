// The first page of the dashboard: every app with its state, kept current by events.

import { get } from "../kit/api.js";
import { button, fill, h, keep } from "../kit/dom.js";
import { menu } from "../kit/menu.js";
import { page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { follow } from "../kit/stream.js";
import { Announcer } from "./announce.js";
import { Board } from "./board.js";
import { Bookmarks } from "./bookmarks.js";
import { Commands } from "./commands.js";
import * as drawer from "./drawer/drawer.js";
import { faults } from "./faults.js";
import { claim, ignore } from "./forms/observed.js";
import { arrange, sortApps } from "./grid/arrange.js";
import { distinct } from "./grid/distinct.js";
import { Grid } from "./grid/grid.js";
import { items } from "./grid/menu.js";
import { Selection } from "./grid/selection.js";
import { Services, usual } from "./grid/services.js";
import { Head } from "./head.js";
import { Lost } from "./lost.js";
import { Nodes } from "./nodes.js";
import { Observed, listenerData } from "./observed.js";
import { Pictures } from "./pictures.js";
import { route } from "./route.js";
import { tab } from "./tab.js";
import { needsAttention, safe } from "./words.js";
import { welcome } from "./welcome.js";

const at = {
  notices: h("div", { class: "stack notices" }),
  welcome: h("div"),
  none: h("p", { class: "soft spaced line", role: "status", hidden: true }),
};
let sort = { column: "state", down: false };
let states = null; // slug → state when last drawn

const board = new Board({
  changed: () => draw(),
  failed: (error) => error.status !== 503 && fill(at.notices, problem(error.message)),
});
const hands = {
  take,
  visit,
  sort: by,
  open: drawer.open,
  edit: drawer.edit,
  busy: (slug) => services.busy.has(slug),
  act: (action, slug) => services.ask(action, board.find(slug)),
  menu: (slug) => items(board.find(slug), hands),
  pick: (slug, range) =>
    selection.pick(slug, range ? grid.between(selection.anchor || slug, slug) : [slug]),
  picture: (slugs) => pictures.take(slugs.map((slug) => board.find(slug))),
  claim: (app) => claim(listener(app), take),
  ignore: (app) => ignore(listener(app)),
};
const parts = { board, hands };
const commands = new Commands(parts);
const announcer = new Announcer();
const head = new Head({
  changed: draw,
  down: () => grid.focus(grid.order()[0]),
  items: () => commands.more(),
});
const services = new Services({
  changed: take,
  failed: ({ slug }, lines, why) => drawer.open(slug, "Logs", { lines, why }),
});
const selection = new Selection({ acts: commands.many(), changed: draw });
const pictures = new Pictures(draw);
const grid = new Grid({ hands, still: () => selection.size > 0, over: draw });
const observed = new Observed(commands.scan);
const bookmarks = new Bookmarks({
  edit: drawer.edit,
  taken: (letter) => commands.letters.has(letter),
});
const nodes = new Nodes();
const lost = new Lost(() => {
  draw();
  board.want("lost");
});
Object.assign(parts, { head, services, selection, pictures, grid, observed, bookmarks });
commands.register();

const listener = ({ observedId }) =>
  listenerData(board.state.observed.find(({ id }) => id === observedId));

/** Store the app of an answer, if it has one, and redraw. */
function take(app) {
  if (app) board.put(app);
  draw();
}

/** The data shown of an app; tiles and rows redraw the parts that have changed. */
function view(app, hints) {
  const { slug, state, reason, message, since, unexpected, stale, flapping, lastKnown } = app;
  const last = app.last && { ok: app.last.ok, ms: Math.round(app.last.ms) };
  return {
    ...app,
    hint: hints.get(slug) ?? "",
    safe: safe(app.urls?.fronted ?? app.url),
    action: usual(app),
    busy: services.busy.get(slug) ?? "",
    picked: selection.has(slug),
    shown: drawer.current() === slug,
    taking: pictures.at === slug,
    says: { state, reason, message, since, unexpected, stale, flapping, lastKnown, last },
  };
}

/** Whether the search and the chosen states match an app. */
function fitsFilter(app) {
  const { cwd, git, process, title, framework } = app.identity ?? {};
  const known = [cwd, git?.branch, process?.name, title, framework?.name];
  const chosen = !head.only.size || head.only.has(app.state);
  const { name, slug, url, tags, group, description } = app;
  return chosen && head.fits(name, slug, url, tags, group, description, known);
}

function draw({ atOnce = false } = {}) {
  const { state } = board;
  if (!state) return;
  stop();
  const { apps, config } = state;
  head.draw(config.title, apps);
  tab(config.title, { down: count("down"), degraded: count("degraded") });
  const hints = distinct(apps);
  announce(apps, hints);
  notices(state);
  selection.keep(new Set(apps.map(({ slug }) => slug)));
  const views = new Map(apps.map((app) => [app.slug, view(app, hints)]));
  const list = head.look === "list" ? sort : null;
  const fitting = apps.filter(fitsFilter);
  grid
    .draw(list ? sortApps(fitting, list) : arrange(fitting), views, { sort: list, atOnce })
    .then((whole) => whole && (below.hidden = false));
  first(apps.length, fitting.length);
  observed.draw(state, (row) => head.fits(row.name, String(row.port), row.process, row.about));
  bookmarks.draw(state.bookmarks, (link) => head.fits(link.name, link.url, link.group, link.tags));
  nodes.draw(({ name, version }) => head.fits(name, version));
  const open = board.find(drawer.current());
  if (open) drawer.refresh(open);
}

const count = (state) =>
  board.state.apps.filter((app) => needsAttention(app) && app.state === state).length;

function announce(apps, hints) {
  for (const app of apps) {
    const before = states?.get(app.slug);
    if (before && before !== app.state) announcer.tell(app, hints.get(app.slug));
  }
  states = new Map(apps.map(({ slug, state }) => [slug, state]));
}

function notices(state) {
  const { home } = commands;
  const notice = lost.noticeData(state.lost);
  const all = [
    state.fileErrors.length && { key: "faults", list: state.fileErrors, home },
    notice && { key: "lost", notice },
  ];
  keep(
    at.notices,
    all.filter(Boolean),
    ({ key }) => key,
    (one) => (one.notice ? lost.draw(one.notice) : faults(one.list, { home, edit: drawer.edit })),
  );
}

/** Draw the notice in place of apps: the first steps, or that the filter matches none. */
function first(all, fitting) {
  keep(
    at.welcome,
    all ? [] : ["none"],
    (name) => name,
    () => welcome(commands),
  );
  const words = all && !fitting ? `No app matches (${all} hidden).` : "";
  at.none.hidden = !words;
  if (at.none.dataset.said === words) return;
  at.none.dataset.said = words;
  fill(at.none, words, words && button("Show all", { kind: "s", onclick: () => head.clear() }));
}

/** Open the app itself; false when it has no address. */
function visit(slug) {
  const app = board.find(slug);
  const url = safe(app?.urls?.fronted ?? app?.url);
  if (url) open(url, "_blank", "noopener,noreferrer");
  return Boolean(url);
}

function by(column) {
  sort = { column, down: sort.column === column && !sort.down };
  draw({ atOnce: true });
}

function onEvent(event) {
  if (event.type === "nodes") {
    nodes.again();
    return;
  }
  if (event.type === "bookmarks") bookmarks.again();
  board.hearEvent(event);
  drawer.hearEvent(event);
}

async function whereabouts() {
  const { path } = await get(route("config"));
  commands.home = path.replace(/\/[^/]*$/, "");
  draw();
}

function fetchAgain() {
  nodes.again();
  board.want("state");
}

// Hidden until the apps are drawn, which would push these sections down.
const below = h("div", { hidden: true }, observed.node, bookmarks.node, nodes.node);
menu(document.getElementById("new"), () => commands.newItems());
drawer.onMove(() => draw());
fill(
  page(),
  ...[head.node, announcer.node, at.notices, pictures.node, at.welcome, at.none],
  h("div", { class: "waits" }, grid.waiting),
  ...[grid.node, below, selection.bar],
);
const stop = late(grid.node, "tiles");
board.want("state").then(whereabouts);
nodes.again();
follow(route("events"), { open: fetchAgain, change: onEvent });
