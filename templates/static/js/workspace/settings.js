// The settings of a project: those changed often in a form, the rest as it stands in the file.

import { call, P } from "../kit/api.js";
import { fill, h, icon } from "../kit/dom.js";
import { page, problem } from "../kit/parts.js";
import { tabs } from "./parts.js";
import { where } from "../kit/shell.js";
import { toast } from "../kit/toast.js";

const slug = where.project;
const STATUSES = ["idea", "active", "paused", "blocked", "done", "abandoned"];
const MODES = ["default", "acceptEdits", "bypassPermissions", "plan"];
let etag = null;

const text = (id, value) =>
  h("input", { class: "input", id: `f-${id}`, name: id, value: value ?? "" });
const choice = (id, value, options) =>
  h(
    "select",
    { class: "input", id: `f-${id}`, name: id },
    options.map((one) => h("option", { value: one, selected: one === value }, one)),
  );
const number = (id, value) =>
  h("input", { class: "input", id: `f-${id}`, name: id, type: "number", value: value ?? "" });

function field(label, input, hint) {
  return h(
    "div",
    { class: "field" },
    h("label", { for: input.id }, label),
    input,
    h("p", { class: "problem", id: `why-${input.name}`, hidden: true }),
    hint && h("p", { class: "hint" }, hint),
  );
}

async function load() {
  const answer = await call("GET", P(slug));
  etag = answer.etag;
  draw(answer.data.project);
}

function draw(project) {
  const inherited = new Set(project.inherited ?? []);
  const from = (name) =>
    inherited.has(name) ? "Not in the file: the instance's value holds." : undefined;
  const shown = inherited.has("model") ? "" : project.model;
  const form = h(
    "form",
    { class: "form flush", novalidate: true, onsubmit: (event) => save(event, project) },
    h(
      "div",
      { class: "two" },
      field("Name", text("name", project.name)),
      field("Area", text("group", project.group), "Groups projects on the home page."),
    ),
    field("Summary", text("summary", project.summary)),
    h(
      "div",
      { class: "two" },
      field("Status", choice("status", project.status, STATUSES)),
      field(
        "Permission of turns",
        choice("permissionMode", project.permissionMode, MODES),
        from("permissionMode"),
      ),
    ),
    h(
      "div",
      { class: "two" },
      field("Model", text("model", shown), from("model")),
      field("Turns at most", number("maxTurns", project.maxTurns), from("maxTurns")),
    ),
    h(
      "div",
      { class: "line" },
      h("button", { class: "btn primary" }, "Save"),
      h("span", { class: "says bad small", id: "why" }),
    ),
  );
  const facts = [
    ["Folder", h("code", {}, project.dir)],
    ["Works in", h("code", {}, project.workingDir)],
    ["Repository", project.repo || "none"],
    ["Engine", project.engine || "automatic"],
    ["Spawn depth", project.maxSpawnDepth],
    ["Trigger tools", project.hooksMcpEnabled ? "on" : "off"],
    ["Curator", project.curation?.enabled ? "on" : "off"],
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
    project.error &&
      problem(
        `project.yaml: ${project.error}. Writes are refused until the file is fixed by hand.`,
      ),
    (project.warnings ?? []).map((warning) =>
      h("div", { class: "banner warn" }, icon("alert"), h("div", {}, warning)),
    ),
    h(
      "div",
      { class: "with-aside spaced" },
      form,
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
}

async function save(event, project) {
  event.preventDefault();
  const values = Object.fromEntries(new FormData(event.target));
  values.maxTurns = values.maxTurns === "" ? null : Number(values.maxTurns);
  values.model ||= null;
  const changed = Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) =>
        value !== project[name] &&
        !(name === "model" && value === null && project.inherited?.includes("model")),
    ),
  );
  for (const why of event.target.querySelectorAll(".problem")) why.hidden = true;
  if (!Object.keys(changed).length) {
    toast("Nothing to save.");
    return;
  }
  try {
    await call("PATCH", P(slug), changed, { etag });
    toast("Saved.");
    await load();
  } catch (error) {
    document.getElementById("why").textContent =
      error.code === "stale"
        ? "The file changed meanwhile. Reload to see it; nothing was written."
        : error.errors.length
          ? ""
          : error.message;
    for (const { field: name, reason, example } of error.errors) {
      const why = document.getElementById(`why-${name}`);
      if (!why) continue;
      fill(why, icon("alert"), h("span", {}, example ? `${reason}, e.g. ${example}` : reason));
      why.hidden = false;
    }
  }
}

load().catch((error) => fill(page(), problem(error.message)));
