// Tool calls folded to one line, a runbook folded to its number of steps.

import { fill, h, icon, mark } from "../kit/dom.js";
import { span } from "../kit/words.js";
import { stateOf } from "./words.js";

export class Calls {
  constructor(node) {
    Object.assign(this, { node, list: [] });
    this.head = h("summary");
    node.append(this.head);
  }

  add(call) {
    this.list.push(call);
    const failed = this.list.filter((one) => !one.ok).length;
    const look = failed ? stateOf("failed") : { ...stateOf("completed"), word: "Done" };
    const took = this.list.reduce((sum, one) => sum + (one.durationMs ?? 0), 0) / 1000;
    fill(
      this.head,
      turner(),
      mark(look),
      h("span", {}, this.list.length === 1 ? "1 tool call" : `${this.list.length} tool calls`),
      failed > 0 && h("span", { class: "tiny says bad" }, `${failed} failed`),
      h("span", { class: "tiny quiet push" }, span(took)),
    );
    this.node.append(
      h(
        "details",
        {},
        h(
          "summary",
          {},
          turner(),
          mark(call.ok ? { ...stateOf("completed"), word: "Done" } : stateOf("failed")),
          h("span", { class: "strong" }, call.name),
          h("span", { class: "mono soft cut" }, call.target),
          h("span", { class: "tiny quiet push" }, span((call.durationMs ?? 0) / 1000)),
        ),
        h("pre", { tabindex: "0", "aria-label": `Input of ${call.name}` }, shown(call.input)),
        h(
          "pre",
          { tabindex: "0", "aria-label": `Output of ${call.name}` },
          call.output || "(no output)",
          call.truncated && "\n… cut; the whole is in the transcript file",
        ),
      ),
    );
  }
}

function turner() {
  const svg = icon("right");
  svg.classList.add("turn");
  return svg;
}

/** What a tool was given, as a person would write it. */
export function shown(input) {
  if (input === null || input === undefined) return "";
  if (typeof input === "string") return input;
  const keys = Object.keys(input);
  if (typeof input.command === "string") return input.command;
  return keys
    .map(
      (name) =>
        `${name}: ${typeof input[name] === "string" ? input[name] : JSON.stringify(input[name])}`,
    )
    .join("\n");
}

export function folded(content) {
  const steps = content
    .split("\n")
    .filter((line) => /^(`{3,}|~{3,})(?:[A-Z]|mcp__)/.test(line)).length;
  return h(
    "details",
    { class: "runbook" },
    h(
      "summary",
      {},
      turner(),
      h("span", { class: "strong" }, "Runbook"),
      h("span", { class: "quiet" }, `${steps} steps`),
    ),
    h("pre", { class: "codeblock", tabindex: "0", "aria-label": "Runbook" }, content),
  );
}
