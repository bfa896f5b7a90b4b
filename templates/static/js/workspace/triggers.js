// The triggers of a project: schedules, events, webhooks, legacy schedules, and invalid entries,
// each with its line. The chosen trigger is edited at the right.

import { get, P } from "../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { menu } from "../kit/menu.js";
import { action } from "../kit/palette.js";
import { problem } from "../kit/parts.js";
import { onChange, where } from "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { toast } from "../kit/toast.js";
import { dayAndTime, inZone, plural, time } from "../kit/words.js";
import { step } from "./chat/list.js";
import { pause, isBySwitch } from "./pausing.js";
import { whenAndZone } from "./schedule.js";
import { Editor } from "./triggers/editor.js";
import { overWords } from "./triggers/head.js";
import "./project/gone.js";
import { isKept } from "./triggers/keeping.js";
import { overview } from "./triggers/overview.js";
import { stateOf, triggerState } from "./words.js";

const DAY_MS = 86_400_000;
const slug = where.project;
const route = P(slug, "triggers");
const nav = document.getElementById("list");
const main = document.getElementById("main");
const duo = document.getElementById("duo");
const here = document.getElementById("here");
const state = { listing: null, name: null, open: null };

const search = h("input", {
  id: "ts",
  class: "input",
  type: "search",
  placeholder: "Filter triggers",
  autocomplete: "off",
});
const groups = h("div");
const paused = h("p", { class: "says small warn pausedline", hidden: true });
const nameInUrl = () => new URLSearchParams(location.search).get("name");
const empty = () => duo.classList.contains("some") === false;

async function load() {
  state.listing = await get(route);
  draw();
  const name = nameInUrl();
  if (name === null) glance();
  else if (state.open?.name === name) state.open.refresh(find(name));
  else show(name);
}

function find(name) {
  const { triggers, legacy, invalid } = state.listing;
  const entry = invalid.find((one) => one.name === name);
  return (
    [...triggers, ...legacy].find((trigger) => trigger.name === name) ??
    (entry && { ...entry, invalid: true })
  );
}

function kinds({ triggers, legacy, invalid }) {
  const of = (type) => triggers.filter((trigger) => trigger.trigger.type === type);
  return [
    ["Schedules", of("schedule")],
    ["Events", of("event")],
    ["Webhooks", of("webhook")],
    ["Legacy schedules", legacy],
    ["Not valid", invalid.map((entry) => ({ ...entry, invalid: true }))],
  ];
}

function draw() {
  const words = search.value.trim().toLowerCase();
  const shown = kinds(state.listing)
    .map(([title, list]) => [title, list.filter(({ name }) => name.toLowerCase().includes(words))])
    .filter(([, list]) => list.length);
  keep(
    groups,
    shown.map(([title]) => title),
    (title) => title,
    () => h("section", {}, h("p", { class: "pickhead" }), h("ul", { class: "picks" })),
  );
  shown.forEach(([title, list], n) => {
    const [head, body] = groups.children[n].children;
    fill(head, title, h("span", { class: "count" }, String(list.length)));
    keep(
      body,
      list.map((trigger) => ({ ...trigger, chosen: trigger.name === state.name })),
      ({ name }) => name,
      pick,
    );
  });
  const total = kinds(state.listing).reduce((sum, [, list]) => sum + list.length, 0);
  duo.classList.toggle("some", total > 0);
  search.placeholder = total ? `Filter ${plural(total, "trigger")}` : "Filter triggers";
  if (!shown.length) {
    const said = words
      ? "No trigger by that name."
      : "Triggers of this project will be listed here.";
    fill(groups, h("p", { class: "pickhead" }, said));
  }
  sayPaused();
}

function sayPaused() {
  const { by, since, status } = state.listing.paused ?? {};
  paused.hidden = !by;
  const whose = {
    instance: "All triggers are paused",
    project: "Paused in this project",
    status: overWords(status),
    file: "Its file is not followed: nothing fires",
    folder: "Its folder cannot be used: nothing fires",
  }[by];
  fill(paused, icon("pause"), h("span", {}, whose, since ? [" since ", time(since)] : ""));
}

function pick(trigger) {
  const { name, invalid, runtime, chosen } = trigger;
  const off = runtime?.paused && trigger.enabled && trigger.trigger.type !== "webhook";
  const look = invalid ? stateOf("invalid") : off ? stateOf("paused") : triggerState(trigger);
  const next = runtime?.nextRunAt;
  const aside = invalid
    ? `line ${trigger.line}`
    : next
      ? soon(next, runtime.timezone)
      : look.word.toLowerCase();
  const failed = runtime?.lastRun?.status === "failed" && runtime.lastRun.reason;
  const why = invalid ? trigger.error : failed || runtime?.lastError;
  const sub = why || whenAndZone(trigger);
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(name);
    if (event.detail === 0) state.open?.focus(); // by Enter: the keyboard goes on in the form
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
        "aria-current": chosen && "page",
      },
      mark(look),
      h("span", { class: trigger.enabled || invalid ? "name cut" : "name cut quiet" }, name),
      h("span", { class: "quiet nowrap", title: threeTimes(runtime) }, aside),
      h("span", { class: why ? "sub cut says bad" : "sub cut", title: sub }, sub),
    ),
  );
}

/** A coming time: relative within a day, else the day and the time in the trigger's zone. */
function soon(iso, zone) {
  if (new Date(iso).getTime() - Date.now() < DAY_MS) return time(iso, { zone });
  return time(iso, { words: (at) => dayAndTime(at, zone), zone });
}

const threeTimes = (runtime) =>
  runtime?.nextRuns?.length
    ? runtime.nextRuns.map((iso) => inZone(iso, runtime.timezone)).join("\n")
    : null;

/** Open a trigger; unsaved text of the previous one is kept, and restored when the user returns. */
function choose(name) {
  const leaving = state.open?.dirty() && state.open.name;
  const place = name === null ? location.pathname : `?name=${encodeURIComponent(name)}`;
  history.pushState(null, "", place);
  if (state.listing) show(name); // else the first load shows the trigger of the URL
  if (leaving !== undefined && leaving !== false)
    toast(`What you typed in ${leaving || "the new trigger"} is kept, not saved.`, {
      action: "Back to it",
      act: () => choose(leaving),
    });
}

function show(name) {
  Object.assign(state, { name, open: null });
  duo.classList.toggle("chosen", name !== null);
  here.textContent = name || "Triggers";
  draw();
  if (name === null) {
    glance();
    return;
  }
  const record = name === "" ? null : find(name);
  if (name && !record && !isKept(slug, name)) {
    fill(
      main,
      h("div", { class: "form" }, problem(`There is no trigger ${name} in this project.`)),
    );
    return;
  }
  state.open = new Editor(main, {
    slug,
    route,
    name,
    record,
    catalogue: state.listing,
    back: () => choose(null),
    saved: reopen,
    reload: load,
    resume: (event) => hold(event, false),
  });
}

async function reopen(name) {
  const place = name === null ? location.pathname : `?name=${encodeURIComponent(name)}`;
  if (name !== state.name) history.replaceState(null, "", place);
  Object.assign(state, { name, open: null });
  duo.classList.toggle("chosen", name !== null);
  await load();
}

const glance = () =>
  fill(
    main,
    overview(state.listing, route, {
      create: () => choose(""),
      nightly,
      choose,
      resume: (event) => hold(event, false),
    }),
  );

/** Pause or resume this project's triggers; if the instance is paused, resume the instance. */
const hold = (event, on) => {
  const whole = !on && state.listing.paused?.by === "instance";
  return pause(event, { slug: whole ? "" : slug, on, after: load });
};

/** Fill in the example offered without a model: a runbook, which needs none. Save stores it. */
function nightly() {
  choose("");
  state.open.suggest({
    name: "nightly-check",
    trigger: { type: "schedule", cron: "30 2 * * *" },
    run: { prompt: document.body.dataset.nightly, tools: ["Grep", "Bash", "Write"] },
  });
}

const more = button("", {
  icon: "more",
  kind: "ghost only",
  "aria-label": "More for all triggers",
});
menu(more, () => [
  isBySwitch(state.listing?.paused)
    ? { label: "Resume triggers", icon: "play", act: () => hold(null, false) }
    : {
        label: "Pause triggers of this project",
        icon: "pause",
        act: () => hold(null, true),
        disabled: state.listing && empty(),
        why: "There is none yet.",
      },
  { label: "Add the nightly check", icon: "clock", act: nightly },
  { label: "All runs", icon: "clock", act: () => location.assign(`/projects/${slug}/runs`) },
]);
fill(
  nav,
  h(
    "div",
    { class: "line pickbar" },
    h("label", { class: "sr", for: "ts" }, "Filter triggers"),
    search,
    button("New", { icon: "plus", onclick: () => choose("") }),
    more,
  ),
  paused,
  groups,
);
search.addEventListener("input", () => state.listing && draw());
addEventListener("popstate", () => state.listing && show(nameInUrl()));

const TRIGGERS = { group: "Triggers" };
const by = (event) => step(nav, event.key === "j" ? 1 : -1);
key(["j", "k"], "The next trigger, the trigger before", by, TRIGGERS);
key("/", "Filter triggers", () => search.focus(), TRIGGERS);
key("n", "New trigger", () => choose(""), TRIGGERS);
const press = (selector) => () => {
  const control = main.querySelector(selector);
  control?.click();
  return control !== null;
};
key("x", "Run the chosen trigger now", press(".run-now"), TRIGGERS);
key("e", "Enable or disable the chosen trigger", press("[role=switch]"), TRIGGERS);
key(
  "p",
  "Pause or resume the triggers",
  () => state.listing && hold(null, !isBySwitch(state.listing.paused)),
  TRIGGERS,
);
key("Ctrl+s", "Save", () => (state.open ? void state.open.save() : false), TRIGGERS);
key("Escape", "Leave the field, then the trigger", leave, { ...TRIGGERS, typing: true });
action("New trigger", () => choose(""), { icon: "plus", key: "n" });

function leave({ target }) {
  if (target === search && search.value) {
    search.value = "";
    draw();
  } else if (main.contains(target) && target !== main && target.matches("input, textarea, select"))
    target.blur();
  else if (state.name !== null) {
    const name = state.name;
    choose(null);
    [...nav.querySelectorAll("a.pick")].find((row) => row.textContent.includes(name))?.focus();
  } else /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
}

const rest = late(groups, "rows");
const refresh = settle(150, () =>
  load().then(rest, (error) => {
    rest();
    if (!state.listing) fill(main, problem(error.message));
  }),
);
refresh.now();
onChange(refresh);
