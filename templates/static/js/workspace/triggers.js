// The triggers of a project: schedules, events, webhooks, legacy schedules, and entries that are
// not valid, each with its line. The chosen one is edited at the right.

import { get, P } from "../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../kit/dom.js";
import { editor } from "./triggers/editor.js";
import { command, problem } from "../kit/parts.js";
import { whenWords } from "./schedule.js";
import { key, onChange, where } from "../kit/shell.js";
import { time } from "../kit/words.js";
import { stateOf, triggerState } from "./words.js";

const slug = where.project;
const route = P(slug, "triggers");
const main = document.getElementById("main");
const duo = document.getElementById("duo");
const state = { listing: null, name: null, open: null };

const search = h("input", {
  id: "ts",
  class: "input",
  type: "search",
  placeholder: "Filter triggers",
});
const groups = h("div");
const wanted = () => new URLSearchParams(location.search).get("name");

async function load() {
  state.listing = await get(route);
  draw();
  const name = wanted();
  if (name === null) {
    if (!state.open) overview();
  } else if (state.open?.name === name) state.open.refresh(find(name));
  else show(name);
}

function find(name) {
  const { triggers, legacy, invalid } = state.listing;
  return (
    [...triggers, ...legacy].find((trigger) => trigger.name === name) ?? invalidOf(invalid, name)
  );
}

const invalidOf = (invalid, name) => {
  const entry = invalid.find((one) => one.name === name);
  return entry && { ...entry, invalid: true };
};

function draw() {
  const { triggers, legacy, invalid } = state.listing;
  const of = (type) => triggers.filter((trigger) => trigger.trigger.type === type);
  const kinds = [
    ["Schedules", of("schedule")],
    ["Events", of("event")],
    ["Webhooks", of("webhook")],
    ["Legacy schedules", legacy],
    ["Not valid", invalid.map((entry) => ({ ...entry, invalid: true }))],
  ];
  const words = search.value.trim().toLowerCase();
  const shown = kinds.map(([title, list]) => ({
    title,
    list: list.filter(({ name }) => name.toLowerCase().includes(words)),
    chosen: state.name,
  }));
  keep(
    groups,
    shown.filter(({ list }) => list.length),
    ({ title }) => title,
    ({ title, list }) =>
      h(
        "section",
        {},
        h("p", { class: "pickhead" }, title, h("span", { class: "count" }, String(list.length))),
        h("ul", { class: "picks" }, list.map(pick)),
      ),
  );
  duo.classList.toggle("some", triggers.length + legacy.length + invalid.length > 0);
  if (!groups.children.length)
    fill(
      groups,
      h("p", { class: "pickhead" }, words ? "No trigger by that name" : "No trigger yet"),
    );
}

function pick(trigger) {
  const { name, invalid, runtime } = trigger;
  const look = invalid ? stateOf("invalid") : triggerState(trigger);
  const aside = invalid
    ? `line ${trigger.line}`
    : runtime?.nextRunAt
      ? time(runtime.nextRunAt)
      : look.word.toLowerCase();
  const sub = invalid ? trigger.error : runtime?.lastError || whenWords(trigger.trigger);
  const bad = invalid || runtime?.lastError;
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(name);
  };
  return h(
    "li",
    {},
    h(
      "a",
      {
        class: "pick",
        href: `?name=${encodeURIComponent(name)}`,
        onclick: go,
        "aria-current": name === state.name && "page",
      },
      mark(look),
      h("span", { class: trigger.enabled || invalid ? "name cut" : "name cut quiet" }, name),
      h("span", { class: "quiet nowrap" }, aside),
      h("span", { class: bad ? "sub cut says bad" : "sub cut", title: sub }, sub),
    ),
  );
}

function choose(name) {
  if (state.open?.dirty?.() && !confirm("Leave without saving the changes of this trigger?"))
    return;
  history.pushState(
    null,
    "",
    name === null ? location.pathname : `?name=${encodeURIComponent(name)}`,
  );
  if (state.listing) show(name); // else the first load shows what the address names
}

function show(name) {
  state.name = name;
  state.open = null;
  duo.classList.toggle("chosen", name !== null);
  draw();
  if (name === null) {
    overview();
    return;
  }
  const found = name === "" ? null : find(name);
  if (name && !found) {
    fill(main, h("div", { class: "form" }, problem(`No such trigger: ${name}`)));
    return;
  }
  state.open = editor(main, {
    slug,
    route,
    name,
    record: found,
    catalogue: state.listing,
    back: () => choose(null),
    saved,
    reload: load,
  });
}

async function saved(name) {
  if (name !== state.name)
    history.replaceState(
      null,
      "",
      name === null ? location.pathname : `?name=${encodeURIComponent(name)}`,
    );
  state.name = name;
  state.open = null;
  duo.classList.toggle("chosen", name !== null);
  await load();
}

function overview() {
  const { triggers, legacy, invalid } = state.listing;
  const none = triggers.length + legacy.length + invalid.length === 0;
  fill(
    main,
    h(
      "div",
      { class: "empty" },
      h("h1", { class: "big" }, none ? "No trigger yet" : "Choose a trigger"),
      h(
        "p",
        {},
        "A trigger starts a turn by itself: at a time, or after something happened. It is stored in project.yaml and starts switched off.",
      ),
      h(
        "div",
        { class: "line wrap center" },
        button("New trigger", { icon: "plus", kind: "primary", onclick: () => choose("") }),
        none && button("Add the nightly check", { icon: "clock", onclick: nightly }),
      ),
      command(`curl ${location.origin}${route}`, "the command that lists these triggers"),
    ),
  );
}

/** The offer of engine.md 9.5: a runbook that works without a model; it fills the form, Save stores it. */
function nightly() {
  choose("");
  state.open.suggest({
    name: "nightly-check",
    trigger: { type: "schedule", cron: "30 2 * * *" },
    run: { prompt: document.body.dataset.nightly, tools: ["Grep", "Bash", "Write"] },
  });
}

fill(
  document.getElementById("list"),
  h("h1", { class: "sr" }, "Triggers"),
  h(
    "div",
    { class: "line pickbar" },
    h("label", { class: "sr", for: "ts" }, "Filter triggers"),
    search,
    button("New", { icon: "plus", onclick: () => choose("") }),
  ),
  groups,
);
search.addEventListener("input", draw);
addEventListener("beforeunload", (event) => state.open?.dirty() && event.preventDefault());
addEventListener("popstate", () => show(wanted()));
key("n", "New trigger", (event) => {
  event.preventDefault();
  choose("");
});
const refresh = settle(150, () =>
  load().catch((error) => {
    if (!state.listing) fill(main, problem(error.message));
  }),
);
refresh();
onChange(refresh);
