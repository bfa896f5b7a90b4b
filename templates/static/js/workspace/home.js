// Home: the projects by area, in stable places, and at the right what failed, runs and fires next.

import { get, post } from "../kit/api.js";
import { button, fill, h, settle } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { action } from "../kit/palette.js";
import { page, problem } from "../kit/parts.js";
import { onChange } from "../kit/shell.js";
import { store, storedValue } from "../kit/stored.js";
import { attempt } from "../kit/toast.js";
import { elsewhereList } from "./home/elsewhere.js";
import { welcome } from "./home/first.js";
import { needs } from "./home/needs.js";
import { nowColumn } from "./home/now.js";
import { openFolder } from "./home/openfolder.js";
import { projectList } from "./home/projects.js";
import { sentence } from "./home/sentence.js";
import { trash } from "./home/trash.js";
import { newProject } from "./newproject.js";
import { pause } from "./pausing.js";
import { pausedBanner } from "./triggers/head.js";

const SEEN = "svc.failures.seen"; // the time of the newest failure the user has seen

let seen = storedValue(SEEN); // without localStorage, kept until a reload
const state = { paused: null }; // the switch that pauses all triggers
const form = h("div");
const today = new Date().toLocaleDateString("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
});
const said = h("p", {}, "…");
const banner = h("div", { class: "banners" });
const pauseButton = button("Pause all triggers", {
  icon: "pause",
  onclick: (event) => toggle(event),
});
const openButton = button("Open a folder", {
  icon: "folder",
  kind: "primary",
  onclick: () => chooseFolder(),
});
const makeButton = button("New project", { icon: "plus", onclick: () => make() });
const list = projectList();
const away = elsewhereList();
const needsYou = needs(() => load());
const now = nowColumn(() => {
  seen = new Date().toISOString();
  store(SEEN, seen);
  refresh();
});

const make = () => newProject(form);
const chooseFolder = () => openFolder(make);
const deleted = trash(() => load());
const toggle = (event) => pause(event, { on: !state.paused, after: load });

async function load() {
  const { elsewhere: others, failed: found, busy, next: fires, ...rest } = await get("/api/now");
  const failed = {
    runs: found.runs.filter(({ finishedAt }) => finishedAt > seen),
    more: found.next !== null,
  };
  const names = Object.fromEntries(rest.projects.map(({ slug, name }) => [slug, name]));
  const next = fires.map(({ project, trigger: { name, trigger, runtime } }) => ({
    project,
    name,
    trigger,
    runtime,
    at: runtime.nextRunAt,
  }));
  deleted.update(rest.deleted);
  draw({ ...rest, others, failed, running: busy, next, names });
}

function draw({ projects, others, asks, paused, failed, running, next, names }) {
  if (projects.length + others.length === 0) {
    if (!page().querySelector("#first"))
      fill(page(), welcome(form, { make, opened: chooseFolder }), deleted.node);
    return;
  }
  if (!list.node.isConnected) frame();
  const was = JSON.stringify(state.paused);
  state.paused = paused;
  said.textContent = sentence({ failed, projects, next, paused });
  if (was !== JSON.stringify(paused) || !paused)
    drawPause(
      paused,
      projects.some(({ counts }) => counts.triggers),
    );
  needsYou.update(asks, names);
  list.update(projects);
  away.update(others);
  now.update({ failed, running, next, names, paused });
}

/** Show either the button that pauses or the banner that resumes. */
function drawPause(paused, any) {
  const focused = [pauseButton, banner.querySelector("button")].includes(document.activeElement);
  pauseButton.hidden = Boolean(paused) || !any;
  fill(banner, paused && pausedBanner(paused, toggle));
  if (focused) (banner.querySelector("button") ?? pauseButton).focus();
}

function frame() {
  fill(
    page(),
    h(
      "header",
      { class: "pagehead" },
      h("div", {}, h("h1", {}, today), said),
      h("div", { class: "line wrap" }, pauseButton, makeButton, openButton),
    ),
    form,
    banner,
    needsYou.node,
    h("div", { class: "with-aside" }, h("div", {}, list.node, away.node, deleted.node), now.node),
  );
}

const refresh = settle(150, () =>
  load().catch((error) => {
    if (!page().firstElementChild) fill(page(), problem(error.message));
  }),
);
refresh.now();
deleted.say();
onChange(refresh);

const isShown = () => list.node.isConnected;
key("o", "Open a folder", chooseFolder);
key("n", "New project", make);
key("/", "Filter the projects", list.focus, { when: isShown });
key(["j", "k"], "Next and previous project", (event) => list.step(event.key === "j" ? 1 : -1), {
  when: isShown,
});
key("p", "Pause or resume all triggers", () => toggle(null), { when: isShown });
action("Open a folder", chooseFolder, { icon: "folder", key: "o" });
action("New project", make, { icon: "plus", key: "n" });
action("Pause or resume all triggers", () => toggle(null), { icon: "pause", key: "p" });
action("Mark every chat as read", () => attempt(null, readAll), { icon: "check" });

async function readAll() {
  await post("/api/read");
  await load();
}
