// The fields of a trigger: one input per field of the record, and the conversion both ways.

import { button, fill, h, icon } from "../../kit/dom.js";
import { eventChoices, eventFields, eventNodes, readEvent, writeEvent } from "./events.js";
import { fixOf, nearest } from "./fixes.js";
import { zoneHelp } from "./zone.js";

/** Field of the record → the input that shows its error. */
const PLACES = {
  name: "name",
  "trigger.type": "type",
  trigger: "cron",
  "trigger.cron": "cron",
  "trigger.interval": "interval",
  "trigger.timezone": "timezone",
  timezone: "timezone",
  "trigger.on": "on",
  "trigger.path": "path",
  "trigger.catchUp": "catchUp",
  run: "prompt",
  "run.prompt": "prompt",
  "run.promptFile": "promptFile",
  "run.session": "session",
  "run.tools": "tools",
  "run.model": "model",
  "run.permissionMode": "mode",
  "run.network": "network",
  "run.maxTurns": "maxTurns",
  "run.maxSpawnDepth": "spawn",
  "run.overlap": "overlap",
  "run.backoff": "backoff",
  "run.debounce": "debounce",
  "run.match": "match",
  "run.onAsk": "onAsk",
};
const GROUPS = {
  read: "Read",
  write: "Write",
  web: "Web",
  orchestration: "Orchestration",
  service: "This service",
  servers: "MCP servers",
};
const MODES = {
  default: "Ask before edits",
  acceptEdits: "Edit files unasked",
  bypassPermissions: "Everything unasked",
  plan: "Read only (plan)",
};
const NETWORKS = {
  off: "None",
  guarded: "Through the guarded proxy",
  host: "This machine's own, unguarded",
};

const text = (id, rest = {}) => h("input", { class: "input", id: `f-${id}`, name: id, ...rest });
const choice = (id, options) =>
  h(
    "select",
    { class: "input", id: `f-${id}`, name: id },
    options.map(([value, label]) => h("option", { value }, label)),
  );
const radio = (group, value, label, shape) =>
  h("label", {}, h("input", { type: "radio", name: group, value }), shape && icon(shape), label);

export function fields(catalogue) {
  const gathered = eventFields(catalogue, text);
  const inputs = {
    name: text("name", { class: "input mono", spellcheck: "false" }),
    type: h(
      "div",
      { class: "seg wide" },
      radio("type", "schedule", "Schedule", "clock"),
      radio("type", "event", "Event", "bolt"),
      radio("type", "webhook", "Webhook", "hook"),
    ),
    how: h(
      "div",
      { class: "seg wide" },
      radio("how", "cron", "Cron"),
      radio("how", "interval", "Interval"),
    ),
    cron: text("cron", { class: "input mono", spellcheck: "false" }),
    interval: text("interval", { class: "input mono", spellcheck: "false" }),
    timezone: text("timezone", { placeholder: catalogue.timezone, list: "time-zones" }),
    on: choice("on", eventChoices(catalogue)),
    match: gathered.match,
    debounce: gathered.debounce,
    example: gathered.example,
    follow: gathered.follow,
    path: text("path", { class: "input mono", placeholder: "/deploy" }),
    what: h(
      "div",
      { class: "seg wide" },
      radio("what", "prompt", "Text"),
      radio("what", "promptFile", "File"),
    ),
    prompt: h("textarea", { class: "input mono", id: "f-prompt", rows: "8", spellcheck: "false" }),
    promptFile: text("promptFile", {
      class: "input mono",
      placeholder: "daily.md",
      spellcheck: "false",
      list: "prompt-files",
    }),
    session: choice("session", [
      ["new", "Start a new chat each time"],
      ["resume", "Go on in one chat of its own"],
    ]),
    overlap: choice("overlap", [
      ["", "As usual for its type"],
      ["skip", "Skip this time"],
      ["queue", "Wait behind it"],
      ["parallel", "Run beside it"],
    ]),
    backoff: choice("backoff", [
      ["", "Try at most once an hour"],
      ["false", "Go on as before"],
    ]),
    onAsk: choice("onAsk", [
      ["", "It is denied"],
      ["wait", "It waits for a person"],
    ]),
    catchUp: choice("catchUp", [
      ["once", "Run once after the start"],
      ["skip", "Leave it out"],
    ]),
    mode: choice("mode", [
      ["", "As the project"],
      ...catalogue.permissionModes.map((mode) => [mode, MODES[mode] ?? mode]),
    ]),
    network: choice("network", [
      ["", "As the project"],
      ...catalogue.networks.map((mode) => [mode, NETWORKS[mode] ?? mode]),
    ]),
    model: text("model", { placeholder: "As the project" }),
    maxTurns: text("maxTurns", { type: "number", min: "1", max: "1000", placeholder: "30" }),
    spawn: text("spawn", { type: "number", min: "0", placeholder: "As the project" }),
    tools: h("div", { class: "card grants", id: "f-tools" }, grants(catalogue.grantableTools)),
    extra: text("extra", {
      class: "input mono",
      placeholder: "further names, e.g. mcp__svc_manage__read_chat",
    }),
    errors: new Map(),
    files: catalogue.promptFiles ?? [],
  };
  inputs.nodes = (times) => nodes(inputs, times);
  inputs.swapTool = (old, fresh) => swapTool(inputs, old, fresh);
  inputs.grant = (names) => grant(inputs, names);
  return inputs;
}

/** The further tool names; text in parentheses, which is invalid, stays whole for the error. */
const further = ({ extra }) => extra.value.match(/[^\s,(]*\([^)]*\)?|[^\s,]+/g) ?? [];

/** Grant the tool `fresh` in place of an unknown name. */
function swapTool(inputs, old, fresh) {
  inputs.extra.value = further(inputs)
    .filter((name) => name !== old)
    .join(", ");
  grant(inputs, [fresh]);
}

/** Tick these tools; a tool without a box is added to the further names. */
function grant(inputs, names) {
  const ticks = [...inputs.tools.querySelectorAll("input")];
  for (const name of names) {
    const tick = ticks.find((one) => one.value === name);
    if (tick) tick.checked = true;
    else inputs.extra.value = [inputs.extra.value, name].filter(Boolean).join(", ");
  }
}

function grants(tools) {
  const there = (entry) => tools.some((tool) => tool.group === entry[0]);
  return Object.entries(GROUPS)
    .filter(there)
    .map(([group, label]) => [
      h("span", { class: "small quiet", id: `g-${group}` }, label),
      h(
        "div",
        { class: "line wrap", role: "group", "aria-labelledby": `g-${group}` },
        tools
          .filter((tool) => tool.group === group)
          .map((tool) =>
            h(
              "label",
              { class: "tick", title: tool.description },
              h("input", { type: "checkbox", name: "tools", value: tool.name }),
              h(
                "span",
                {},
                h("span", { class: tool.name.startsWith("mcp") ? "mono" : "" }, tool.name),
                tool.name === "Bash" && h("span", { class: "quiet" }, " the broadest grant"),
              ),
            ),
          ),
      ),
    ]);
}

function nodes(inputs, times) {
  /** @type {(id: string, label: string, more?: {hint?: any, show?: any, extra?: any}) => any} */
  const field = (id, label, { hint, show, extra } = {}) => {
    const why = h("p", { class: "problem", id: `why-${id}`, hidden: true });
    inputs.errors.set(id, why);
    const input = inputs[id];
    const labelled = input.matches(".seg, .card")
      ? h("span", { class: "legend", id: `l-${id}` }, label)
      : h("label", { for: input.id }, label);
    if (input.matches(".seg, .card")) {
      input.setAttribute("role", "group");
      input.setAttribute("aria-labelledby", `l-${id}`);
    }
    return h(
      "div",
      { class: "field", dataset: show ? { show } : {} },
      labelled,
      input,
      extra,
      why,
      hint && h("p", { class: "hint" }, hint),
    );
  };
  const two = (...children) => h("div", { class: "two" }, children);
  const twoWhen = (show, ...children) => h("div", { class: "two", dataset: { show } }, children);
  const list = [
    h("div", { class: "two starts" }, field("name", "Name"), field("type", "Starts")),
    twoWhen(
      "schedule",
      field("how", "Repeat by", { show: "schedule" }),
      field("cron", "Cron", {
        show: "schedule cron",
        hint: "Five fields: minute, hour, day, month, weekday; or @daily",
      }),
      field("timezone", "Time zone", zoneHelp(inputs.timezone.placeholder)),
      field("interval", "Interval", {
        show: "schedule interval",
        hint: "A whole number and s, m, h or d, e.g. 30m",
      }),
    ),
    field("path", "Path", {
      show: "webhook",
      hint: "Stored only; nothing reaches it from outside",
    }),
    field("on", "Event", { show: "event" }),
    twoWhen("event gathers", ...eventNodes(field)),
    inputs.example,
    h("div", { dataset: { show: "schedule" } }, times),
    field("what", "Instruction from"),
    field("prompt", "Prompt", {
      show: "prompt",
      hint: "A prompt whose first line is #!runbook runs without a model",
    }),
    field("promptFile", "Prompt file", {
      show: "promptFile",
      hint: inputs.files.length
        ? "Below .svc/triggers/, read at each firing"
        : "Below .svc/triggers/, read at each firing; there is no such file yet",
      extra: h(
        "datalist",
        { id: "prompt-files" },
        inputs.files.map((value) => h("option", { value })),
      ),
    }),
    two(
      field("session", "Chat"),
      field("overlap", "If the last run is still going"),
      field("catchUp", "If its time passed while stopped", { show: "schedule" }),
      field("backoff", "After three failures in a row", { show: "schedule" }),
      field("mode", "Permission"),
      field("onAsk", "What needs a person's yes"),
      field("network", "Network", { hint: "Never more than the project's" }),
    ),
    two(
      field("model", "Model"),
      field("maxTurns", "Turn limit"),
      field("spawn", "May start chats, levels"),
    ),
    field("tools", "Tools it may use", {
      extra: inputs.extra,
      hint: "None ticked: a schedule runs as the project's own agent with all its tools, an event hook without any.",
    }),
  ];
  inputs.extra.setAttribute("aria-label", "Further tool names");
  inputs.root = list;
  for (const node of list)
    node.addEventListener("input", () => {
      arrange(inputs);
      clearError(inputs, document.activeElement);
    });
  inputs.promptFile.addEventListener("input", () => missingFile(inputs));
  return list;
}

const pickedValue = (seg) => seg.querySelector("input:checked")?.value ?? "";
const pickValue = (seg, value) => {
  for (const input of seg.querySelectorAll("input")) input.checked = input.value === value;
};

/** Show the fields that apply to the chosen options. */
function arrange(inputs) {
  const on = new Set([pickedValue(inputs.type), pickedValue(inputs.how), pickedValue(inputs.what)]);
  on.add(inputs.follow(inputs.on.value));
  for (const root of inputs.root) {
    for (const node of [root, ...root.querySelectorAll("[data-show]")]) {
      if (node.dataset.show)
        node.hidden = !node.dataset.show.split(" ").every((word) => on.has(word));
    }
  }
}

export function writeForm(inputs, { name, trigger, run }) {
  inputs.name.value = name;
  pickValue(inputs.type, trigger.type);
  pickValue(inputs.how, trigger.interval ? "interval" : "cron");
  pickValue(inputs.what, run.promptFile ? "promptFile" : "prompt");
  inputs.cron.value = trigger.cron ?? "";
  inputs.interval.value = trigger.interval ?? "";
  inputs.timezone.value = trigger.timezone ?? "";
  inputs.on.value = trigger.on ?? "onArchive";
  inputs.path.value = trigger.path ?? "";
  inputs.catchUp.value = trigger.catchUp ?? "once";
  for (const id of ["prompt", "promptFile", "model", "overlap", "maxTurns"])
    inputs[id].value = run[id] ?? "";
  inputs.session.value = run.session ?? "new";
  inputs.mode.value = run.permissionMode ?? "";
  inputs.backoff.value = run.backoff === false ? "false" : "";
  inputs.onAsk.value = run.onAsk === "wait" ? "wait" : "";
  inputs.network.value = run.network ?? "";
  inputs.spawn.value = run.maxSpawnDepth ?? "";
  writeEvent(inputs, run);
  const ticks = [...inputs.tools.querySelectorAll("input")];
  for (const tick of ticks) tick.checked = run.tools?.includes(tick.value) ?? false;
  inputs.extra.value = (run.tools ?? [])
    .filter((tool) => !ticks.some((tick) => tick.value === tool))
    .join(", ");
  inputs.prompt.rows = Math.min(20, Math.max(6, inputs.prompt.value.split("\n").length));
  arrange(inputs);
  missingFile(inputs);
}

/** Say at once that a prompt file does not exist, and suggest a similar one. */
function missingFile(inputs) {
  const name = inputs.promptFile.value.trim();
  const missing = name !== "" && inputs.files.length > 0 && !inputs.files.includes(name);
  const close = missing && nearest(name, inputs.files);
  const fix = close && { label: `Use ${close}`, apply: () => (inputs.promptFile.value = close) };
  showProblem(
    inputs,
    "promptFile",
    missing
      ? `There is no .svc/triggers/${name} yet.${close ? ` Close to it: ${close}.` : ""}`
      : "",
    fix || null,
  );
}

const withoutEmpty = (entries) =>
  Object.fromEntries(entries.filter(([, value]) => value !== "" && value !== undefined));
const number = (input) => (input.value === "" ? "" : Number(input.value));

/** The full record, as PUT takes it. */
export function readForm(inputs) {
  const type = pickedValue(inputs.type);
  const when =
    {
      schedule: [
        [pickedValue(inputs.how), inputs[pickedValue(inputs.how) || "cron"].value.trim()],
        ["catchUp", inputs.catchUp.value === "once" ? "" : inputs.catchUp.value],
        ["timezone", pickedValue(inputs.how) === "cron" ? inputs.timezone.value.trim() : ""],
      ],
      event: [["on", inputs.on.value]],
      webhook: [["path", inputs.path.value.trim()]],
    }[type] ?? [];
  const what = pickedValue(inputs.what) || "prompt";
  const ticks = [...inputs.tools.querySelectorAll("input:checked")].map((tick) => tick.value);
  return {
    trigger: { type, ...withoutEmpty(when) },
    run: {
      [what]: inputs[what].value,
      ...withoutEmpty([
        ["session", inputs.session.value],
        ["model", inputs.model.value.trim()],
        ["permissionMode", inputs.mode.value],
        ["network", inputs.network.value],
        ["maxTurns", number(inputs.maxTurns)],
        ["maxSpawnDepth", number(inputs.spawn)],
        ["overlap", inputs.overlap.value],
        ["onAsk", inputs.onAsk.value],
        ["backoff", inputs.backoff.value && type === "schedule" ? false : ""],
        ...readEvent(inputs, type),
      ]),
      tools: [...ticks, ...further(inputs)],
    },
  };
}

/** Put each error under its field; returns the sentences of errors without a visible field. */
export function showErrors(inputs, errors) {
  for (const id of inputs.errors.keys()) showProblem(inputs, id, "");
  const left = [];
  for (const error of errors) {
    const id = PLACES[error.field];
    const why = inputs.errors.get(id);
    if (!why || why.closest("[hidden].field")) left.push(`${error.field}: ${sentence(error)}`);
    else showErrorAt(inputs, id, error);
  }
  return left;
}

/** The input at which an error of a schedule being typed is shown. */
/** @type {(error: {field?: string}, trigger: any) => string} */
export const placeOf = ({ field }, { interval }) =>
  PLACES[field] === "timezone" ? "timezone" : interval === undefined ? "cron" : "interval";

export const showErrorAt = (inputs, id, error) =>
  showProblem(inputs, id, sentence(error), fixOf(error, inputs));

const sentence = ({ reason, example }) => (example ? `${reason}, e.g. ${example}` : reason);

/** Show a sentence under a field, with a button for the fix if there is one; "" removes it. */
export function showProblem(inputs, id, sentence, fix = null) {
  const why = inputs.errors.get(id);
  const bad = sentence !== "";
  const mend = () => {
    fix.apply();
    showProblem(inputs, id, "");
    inputs[id].dispatchEvent(new Event("input", { bubbles: true }));
    (inputs[id].matches("input") ? inputs[id] : inputs.extra).focus();
  };
  fill(
    why,
    bad && [icon("alert"), h("span", {}, sentence)],
    bad && fix && button(fix.label, { kind: "s", onclick: mend }),
  );
  why.hidden = !bad;
  why.closest(".field").classList.toggle("invalid", bad);
  if (bad) {
    inputs[id].setAttribute("aria-invalid", "true");
    inputs[id].setAttribute("aria-describedby", why.id);
  } else {
    inputs[id].removeAttribute("aria-invalid");
    inputs[id].removeAttribute("aria-describedby");
  }
}

/** Clear the error of a save when the user types in its field. */
function clearError(inputs, typed) {
  const id = typed?.name ?? typed?.id?.replace(/^f-/, "");
  if (inputs.errors.has(id) && !["cron", "interval", "timezone", "promptFile"].includes(id))
    showProblem(inputs, id, "");
}
