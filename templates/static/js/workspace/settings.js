// The settings of a project: those changed often in a form, the others as the file has them.

import { call, get, P, query } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { begunOn, draftOf, keepDraft, offerLeft } from "../kit/drafts.js";
import { key } from "../kit/keys.js";
import { page, problem } from "../kit/parts.js";
import { tabs } from "./parts.js";
import { doubtLink } from "./project/doubt.js";
import { deletion } from "./project/deletion.js";
import "./project/gone.js";
import { servers } from "./project/servers.js";
import { where } from "../kit/shell.js";
import { isUnconfirmed } from "./words.js";
import { attempt, toast } from "../kit/toast.js";

const slug = where.project;
const DRAFT = `settings.${slug}`; // unsaved text: field → text
const STATUSES = ["idea", "active", "paused", "blocked", "done", "abandoned"];
const MODES = ["default", "acceptEdits", "bypassPermissions", "plan"];
const NETWORKS = ["off", "guarded", "host"];
const REQUIRED = new Set(["name", "group", "summary", "status"]); // fields for which "" is a value
const READERS = {
  maxTurns: Number,
  maxSpawnDepth: Number,
  hooksMcpEnabled: (value) => value === "true",
  readInstructions: (value) => value === "true",
};
let etag = null;
let shownProject = null;

const text = (id, value) =>
  h("input", { class: "input", id: `f-${id}`, name: id, value: value ?? "" });
const area = (id, value) =>
  h("textarea", { class: "input", id: `f-${id}`, name: id, rows: "5" }, value ?? "");
const choice = (id, value, options) =>
  h(
    "select",
    { class: "input", id: `f-${id}`, name: id },
    options.map((one) => h("option", { value: one, selected: one === value }, one)),
  );
const number = (id, value) =>
  h("input", { class: "input", id: `f-${id}`, name: id, type: "number", value: value ?? "" });

/** The source of a value that the file lacks: the setting of the instance; others are built in. */
const FROM = {
  engine: "SVC_ENGINE",
  model: "SVC_MODEL",
  maxSpawnDepth: "SVC_MAX_SPAWN_DEPTH",
  hooksMcpEnabled: "SVC_HOOKS_MCP",
  network: "engines.network",
  timezone: "SVC_TIMEZONE, else the host's own",
};

function source(project, name) {
  if (!project.inherited.includes(name)) return "Set in project.yaml. Empty it to inherit.";
  const value = project[name];
  const said =
    value === "" ? "automatic" : typeof value === "boolean" ? (value ? "on" : "off") : value;
  const whence = FROM[name] ? `from the instance (${FROM[name]})` : "the built-in value";
  return `Inherited: ${said}, ${whence}.`;
}

function field(label, given, hint, inherited = false) {
  const [input, list] = [given].flat();
  const why = h("p", { class: "problem", id: `why-${input.name}`, hidden: true });
  input.setAttribute("aria-describedby", `why-${input.name} hint-${input.name}`);
  return h(
    "div",
    { class: inherited ? "field inherited" : "field" },
    h("label", { for: input.id }, label),
    input,
    list,
    why,
    hint && h("p", { class: "hint", id: `hint-${input.name}` }, hint),
  );
}

async function load() {
  const [answer] = await Promise.all([call("GET", P(slug)), look().catch(() => {})]);
  etag = answer.etag;
  shownProject = answer.data.project;
  draw(shownProject);
}

/** A value of the file; "" where it is inherited, so that an untouched field stays inherited. */
function own(project, name) {
  if (project.inherited.includes(name)) return "";
  const value = project[name];
  return String(name === "network" && typeof value === "object" ? (value.mode ?? "") : value);
}

/** The network setting with a new mode; the lists of the file are preserved. */
function networkOf(project, mode) {
  const before = project.inherited.includes("network") ? {} : project.network;
  const { mode: _, ...lists } = typeof before === "object" ? before : {};
  if (!Object.keys(lists).length) return mode || null;
  return { ...(mode && { mode }), ...lists };
}

/** The effective network of the project's turns, in words. */
function reach({ mode, hostPorts, allow, deny }) {
  const listWords = (words, list) => list.length > 0 && `${words} ${list.join(", ")}`;
  return [
    mode,
    ...(mode === "guarded"
      ? [
          listWords("ports of this machine:", hostPorts),
          ...allow.map((list) => `only ${list.join(", ") || "nothing"}`),
          listWords("never", deny),
        ]
      : []),
  ]
    .filter(Boolean)
    .join("; ");
}

/** The area as the home page shows it; it is stored in lower case. */
const areaOf = ({ group }) => group && group[0].toUpperCase() + group.slice(1);

/** The engines and models of this machine that are offered. */
const known = { engines: [], models: [] };

async function look() {
  const asked = query("/api/models", { project: slug });
  const [{ engines }, { models }] = await Promise.all([get("/api/engines"), get(asked)]);
  known.engines = engines.map(({ name }) => name);
  known.models = models.filter(({ engine }) => engine !== "runbook").map(({ id }) => id);
}

/** A field that offers `words` but accepts any other text as well. */
function offering(input, words) {
  const list = h(
    "datalist",
    { id: `known-${input.name}` },
    words.map((value) => h("option", { value })),
  );
  input.setAttribute("list", list.id);
  return [input, list];
}

const FOLDER_HINT =
  "A path from / or ~/ on. Agents work there as it is; nothing of svc is written into it. Empty: the project's own folder.";

function folderOf(project) {
  const input = text("path", project.path);
  input.classList.add("mono");
  return input;
}

/** A path with line-break opportunities between its folders. */
const path = (text) =>
  h(
    "code",
    {},
    text.split(/(?<=\/)/).map((part) => [part, h("wbr")]),
  );

function draw(project) {
  const may = (label, name, input, meaning = "") =>
    field(
      label,
      input,
      [meaning, source(project, name)].filter(Boolean).join(" "),
      project.inherited.includes(name),
    );
  const inheritedText = (name) => (project.inherited.includes(name) ? String(project[name]) : "");
  const asWritten = (name, make) => {
    const input = make(name, own(project, name));
    if (inheritedText(name)) input.placeholder = inheritedText(name);
    return input;
  };
  const inheriting = (name, options) => {
    const select = choice(name, own(project, name), options);
    select.prepend(h("option", { value: "", selected: own(project, name) === "" }, "inherit"));
    return select;
  };
  const foot = h(
    "div",
    { class: "line wrap", tabindex: "-1" },
    h(
      "button",
      { class: "btn primary" },
      "Save",
      h("span", { class: "kbd phone-hide", "aria-hidden": "true" }, "Ctrl ↵"),
    ),
    unsaved,
    h("span", { class: "says bad small", id: "why", role: "alert" }),
  );
  const form = h(
    "form",
    {
      class: "form flush",
      novalidate: true,
      onsubmit: (event) => save(event, project),
      oninput: () => remember(form, project),
    },
    h(
      "div",
      { class: "two" },
      field("Name", text("name", project.name)),
      field("Area", text("group", areaOf(project)), "Groups projects on the home page."),
    ),
    field("Summary", text("summary", project.summary)),
    h(
      "div",
      { class: "two" },
      field("Status", choice("status", project.status, STATUSES)),
      may(
        "What agents may do without asking",
        "permissionMode",
        inheriting("permissionMode", MODES),
      ),
    ),
    h(
      "div",
      { class: "two" },
      may("Model", "model", offering(asWritten("model", text), known.models)),
      may("Engine", "engine", offering(asWritten("engine", text), known.engines)),
    ),
    field(
      "Instructions",
      area("instructions", own(project, "instructions")),
      "What agents in this project are told, as text.",
    ),
    h(
      "div",
      { class: "two" },
      may(
        "Tell agents AGENTS.md and CLAUDE.md",
        "readInstructions",
        inheriting("readInstructions", ["true", "false"]),
        "As text, to the engines that do not read them by themselves.",
      ),
      may("Turn limit", "maxTurns", asWritten("maxTurns", number)),
    ),
    h(
      "div",
      { class: "two" },
      may(
        "Levels of chats started by chats",
        "maxSpawnDepth",
        asWritten("maxSpawnDepth", number),
        "0: a chat starts no other chat.",
      ),
      may(
        "Agents may edit triggers",
        "hooksMcpEnabled",
        inheriting("hooksMcpEnabled", ["true", "false"]),
      ),
    ),
    h(
      "div",
      { class: "two" },
      may("Network of turns", "network", inheriting("network", NETWORKS)),
      may("Time zone of schedules", "timezone", asWritten("timezone", text)),
    ),
    !project.repoBacked && field("Works in a folder of yours", folderOf(project), FOLDER_HINT),
    foot,
  );
  const facts = [
    ["Folder", path(project.dir)],
    ["Works in", [path(project.workingDir), project.workingDirProblem && " (cannot be used)"]],
    ["Repository", project.repo || "none"],
    ["Curator", project.curation?.enabled ? "on" : "off"],
    ["Network", reach(project.effectiveNetwork)],
    ["Turn variables", project.turnEnv?.join(", ") || "none"],
    ["Started", project.started],
    ["Updated", project.updated],
  ];
  fill(
    page(),
    h(
      "header",
      { class: "pagehead" },
      h("div", {}, h("h1", {}, project.name), h("p", {}, project.summary || "No summary yet.")),
    ),
    h(
      "div",
      { class: "tabrow" },
      tabs(slug, "Settings", { chats: project.counts?.chats, triggers: project.counts?.triggers }),
    ),
    fileBanner(project.error),
    (project.warnings ?? []).map((warning) =>
      h("div", { class: "banner warn" }, icon("alert"), h("div", {}, warning)),
    ),
    h(
      "div",
      { class: "with-aside spaced facts-last" },
      h("div", { class: "stack apart" }, form, servers(slug), deletion(project)),
      h(
        "aside",
        { class: "aside", "aria-label": "In project.yaml" },
        h(
          "section",
          { class: "card" },
          h("header", {}, h("h2", {}, "In project.yaml")),
          h(
            "div",
            { class: "inside" },
            h(
              "dl",
              { class: "facts" },
              facts
                .filter(([, value]) => value !== "" && value !== undefined && value !== null)
                .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
            ),
          ),
        ),
      ),
    ),
  );
  recall(form, project);
  const take = (text, was) => swap(form, project, text, was);
  offerLeft(foot, DRAFT, take, (text) => inWords(form, JSON.parse(text)));
}

/** The text that a field shows for the value of the file. */
function before(project, name) {
  if (name === "group") return areaOf(project);
  return REQUIRED.has(name) ? String(project[name]) : own(project, name);
}

/** The fields whose text differs from the file. */
const typedIn = (form, project) =>
  [...new FormData(form)].filter(([name, value]) => value !== before(project, name));

const discard = button("Discard changes", {
  kind: "ghost",
  onclick: () => {
    const [typed, was] = [draftOf(DRAFT), begunOn(DRAFT)];
    const show = (text) => {
      keepDraft(DRAFT, text, was);
      draw(shownProject);
    };
    show("");
    focusSave();
    toast("Changes discarded.", { action: "Undo", act: () => show(typed) });
  },
});
const unsaved = h(
  "span",
  { class: "line wrap", hidden: true },
  discard,
  h("span", { class: "soft small", role: "status" }),
);

let begun = {}; // the file's text when typing began: field → text

function remember(form, project, sent = {}) {
  const typed = typedIn(form, project).filter(([name, value]) => value !== sent[name]);
  begun = Object.fromEntries(typed.map(([name]) => [name, begun[name] ?? before(project, name)]));
  const [text, was] = [Object.fromEntries(typed), begun].map((one) => JSON.stringify(one));
  keepDraft(DRAFT, typed.length ? text : "", was);
  sayUnsaved(typed.length > 0, "Not saved yet");
}

function sayUnsaved(dirty, words) {
  unsaved.hidden = !dirty;
  unsaved.lastChild.textContent = words;
}

/** Restore the draft after a reload; it is not stored again, as it may be another window's. */
function recall(form, project) {
  begun = JSON.parse(begunOn(DRAFT) ?? "{}");
  fillIn(form, JSON.parse(draftOf(DRAFT) || "{}"));
  const typed = typedIn(form, project);
  sayUnsaved(typed.length > 0, "Not saved yet; back from before the reload");
  for (const [name] of typed) tellMeanwhile(form, project, name);
}

function fillIn(form, typed) {
  for (const [name, value] of Object.entries(typed)) {
    const control = form.elements.namedItem(name);
    if (control) control.value = value;
  }
}

/** Show the file's text of a field under it, if it has changed since the typing began. */
function tellMeanwhile(form, project, name) {
  const now = before(project, name);
  if ((begun[name] ?? now) === now) return;
  const why = document.getElementById(`why-${name}`);
  const take = () => {
    delete begun[name];
    why.hidden = true;
    fillIn(form, { [name]: now });
    remember(form, project);
    form.elements.namedItem(name).focus();
  };
  const words = now ? `changed meanwhile to “${now}”` : "taken out of the file meanwhile";
  fill(
    why,
    icon("alert"),
    h("span", {}, `It was ${words}. Saving replaces it with yours.`),
    button("Take theirs", { kind: "s", onclick: take }),
  );
  why.hidden = false;
}

const inWords = (form, typed) =>
  Object.entries(typed)
    .map(([name, value]) => `${form.querySelector(`[for=f-${name}]`)?.textContent}: ${value}`)
    .join(", ");

/** Fill in the draft of a closed window; returns the text of the fields it replaced. */
function swap(form, project, text, was) {
  const theirs = JSON.parse(text);
  const mine = typedIn(form, project).filter(([name]) => name in theirs);
  const before = { text: JSON.stringify(Object.fromEntries(mine)), was: JSON.stringify(begun) };
  Object.assign(begun, JSON.parse(was ?? "{}"));
  fillIn(form, theirs);
  remember(form, project);
  for (const name of Object.keys(theirs)) tellMeanwhile(form, project, name);
  return mine.length ? before : null;
}

/** The changes of the form against the file; null removes a key from the file. */
function changes(form, project) {
  const changed = {};
  for (const [name, value] of typedIn(form, project)) {
    const read = READERS[name] ?? ((given) => given);
    if (name === "network") changed[name] = networkOf(project, value);
    else changed[name] = value === "" && !REQUIRED.has(name) ? null : read(value);
  }
  return changed;
}

async function save(event, project) {
  event.preventDefault();
  const form = event.target;
  const changed = changes(form, project);
  for (const why of form.querySelectorAll(".problem")) why.hidden = true;
  for (const wrong of form.querySelectorAll("[aria-invalid]"))
    wrong.removeAttribute("aria-invalid");
  document.getElementById("why").textContent = "";
  if (!Object.keys(changed).length) {
    toast("Nothing to save.");
    return;
  }
  try {
    const back = Object.fromEntries(
      Object.keys(changed).map((name) => [
        name,
        project.inherited.includes(name) ? null : project[name],
      ]),
    );
    const sent = Object.fromEntries(typedIn(form, project));
    await write(changed, () => remember(form, project, sent)); // the file may spell it differently
    toast("Saved.", { action: "Undo", act: () => attempt(null, () => write(back)) });
  } catch (error) {
    remember(form, project);
    explain(form, error);
  }
}

async function write(changed, done = () => {}) {
  await call("PATCH", P(slug), changed, { etag });
  done();
  await load();
}

function explain(form, error) {
  const place = document.getElementById("why");
  if (error.code === "stale")
    fill(
      place,
      "The file has changed since; nothing was written. What you typed stays. ",
      h(
        "button",
        { type: "button", class: "link", onclick: overtake },
        "Take the new state of the file",
      ),
    );
  else if (!error.errors.length) place.textContent = error.message;
  for (const { field: name, reason, example } of error.errors) {
    const why = document.getElementById(`why-${name}`);
    if (!why) {
      place.textContent = `${name}: ${reason}`;
      continue;
    }
    fill(why, icon("alert"), h("span", {}, example ? `${reason}, e.g. ${example}` : reason));
    why.hidden = false;
    form.elements[name].setAttribute("aria-invalid", "true");
  }
  form.querySelector("[aria-invalid]")?.focus();
}

/** Read the file again; only fields that were changed keep their typed text. */
async function overtake() {
  await load();
  focusSave();
}

const focusSave = () =>
  /** @type {HTMLElement} */ (document.querySelector("form.flush .primary")).focus();

key("Ctrl+Enter", "Save", () =>
  /** @type {HTMLFormElement | null} */ (document.querySelector("form.flush"))?.requestSubmit(),
);
/** The banner that says why nothing can be saved: the file is unreadable or waits for consent. */
function fileBanner(error) {
  if (isUnconfirmed(error)) return doubtLink(slug);
  const why = "Writes are refused until the file is fixed by hand.";
  return error && problem(`project.yaml, ${error}. ${why}`);
}

load().catch((error) => fill(page(), problem(error.message)));
