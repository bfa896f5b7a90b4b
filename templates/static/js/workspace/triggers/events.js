// The events that start a trigger: their kinds, the facts its turn receives, and the match filter.

import { fill, h } from "../../kit/dom.js";

const EMPTY = "Left empty: each one";
const SAMPLES = {
  apps: "shop, blog-*",
  branches: "feature, fix/*",
  files: "src/*.py",
  triggers: "nightly-*",
};

/** The choices of the field, with the descriptions of the catalogue. */
export const eventChoices = ({ eventKinds }) =>
  eventKinds.map(({ name, description }) => [name, description]);

/** Whether happenings of this kind are gathered for a while and passed on with their facts. */
const gathers = (kind) => Object.keys(kind?.example ?? {}).length > 0;

/** The inputs and nodes that only events have; `follow` shows those of the chosen kind. */
export function eventFields(catalogue, text) {
  const match = text("match", { class: "input mono", spellcheck: "false" });
  const debounce = text("debounce", { class: "input mono", placeholder: "30s" });
  const told = h("pre", { class: "codeblock", tabindex: "0", "aria-label": "Example" });
  const about = h("p", { class: "hint" });
  return {
    match,
    debounce,
    example: h("div", { class: "stack tight", dataset: { show: "event gathers" } }, about, told),
    follow(name) {
      const kind = catalogue.eventKinds.find((one) => one.name === name);
      if (!gathers(kind)) return "";
      match.placeholder = SAMPLES[kind.match] ?? "";
      fill(about, "Its turn receives what happened, in front of the prompt:");
      fill(told, JSON.stringify(kind.example, null, 2));
      return "gathers";
    },
  };
}

export const eventNodes = (field) => [
  field("match", "Only", {
    show: "event gathers",
    hint: `Names with commas between, * stands for any text. ${EMPTY}`,
  }),
  field("debounce", "Gather for", {
    show: "event gathers",
    hint: "What happens meanwhile is one run; 0s starts at once",
  }),
];

/** Fill the inputs from a record; readEvent is the inverse. */
export function writeEvent(inputs, run) {
  inputs.match.value = (run.match ?? []).join(", ");
  inputs.debounce.value = run.debounce ?? "";
}

export function readEvent(inputs, type) {
  const names = inputs.match.value.split(",").map((name) => name.trim());
  const wanted = names.filter(Boolean);
  if (type !== "event" || inputs.follow(inputs.on.value) === "") return [];
  return [
    ["match", wanted.length ? wanted : ""],
    ["debounce", inputs.debounce.value.trim()],
  ];
}
