// Tool calls folded to one line; the input and the result of a call are drawn when it is opened.

import { plusMinus } from "../../kit/bars.js";
import { fill, h, icon, mark } from "../../kit/dom.js";
import { highlight } from "../../kit/text/highlight.js";
import { plural, span } from "../../kit/words.js";
import { stateOf } from "../words.js";
import { clock } from "./clock.js";
import { changeOf, drawChange } from "./edits.js";

const DONE = { ...stateOf("completed"), word: "Done" };
const LINE_NUMBERS = /^(\s*\d+\t)/gm;

/** A run of calls without text between them. */
export class Calls {
  constructor() {
    this.list = [];
    this.running = []; // calls of this run without a result yet
    this.head = h("summary");
    this.node = h("details", { class: "calls" }, this.head);
  }

  /** Draw one more call; returns the change it made to a file, or null. */
  add(call, offset) {
    this.node.dataset.at ??= offset;
    this.list.push(call);
    const change = call.ok ? changeOf(call) : null;
    this.node.append(one(call, offset, change));
    this.draw();
    return change;
  }

  /** Show the running calls in the head, where their results will be counted: nothing moves. */
  showRunning(running) {
    this.running = running;
    this.draw();
  }

  draw() {
    const { list, running } = this;
    const failed = list.filter((one) => !one.ok).length;
    const took = list.reduce((sum, one) => sum + (one.durationMs ?? 0), 0) / 1000;
    fill(
      this.head,
      turner(),
      mark(running.length ? stateOf("running") : failed ? stateOf("failed") : DONE),
      list.length > 0 && h("span", {}, plural(list.length, "tool call")),
      failed > 0 && h("span", { class: "tiny says bad" }, `${failed} failed`),
      running.length > 0
        ? now(running)
        : [
            h("span", { class: "tiny quiet cut names" }, names(list)),
            took > 0 && h("span", { class: "tiny quiet push" }, span(took)),
          ],
    );
  }
}

/** "Bash npm test +1 · 12 s" */
function now(running) {
  const { name, target, startedAt } = running.at(-1);
  return [
    h("span", { class: "strong" }, name || "tool"),
    h("span", { class: "mono soft cut", title: target }, target),
    running.length > 1 && h("span", { class: "tiny quiet" }, `+${running.length - 1}`),
    clock(startedAt, "tiny quiet push"),
  ];
}

/** "Grep, Read ×3, Bash" */
function names(list) {
  const counts = new Map();
  for (const { name } of list) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name)).join(", ");
}

function one(call, offset, change) {
  const node = h(
    "details",
    { dataset: { at: offset } },
    h(
      "summary",
      {},
      turner(),
      mark(call.ok ? DONE : stateOf("failed")),
      h("span", { class: "strong" }, call.name || "tool"),
      h("span", { class: "mono soft cut", title: call.target }, call.target),
      h(
        "span",
        { class: "tiny quiet push line" },
        change && plusMinus(change.added, change.removed, { bar: false }),
        span((call.durationMs ?? 0) / 1000),
      ),
    ),
  );
  node.addEventListener("toggle", () => node.append(...inside(call, change)), { once: true });
  return node;
}

function inside(call, change) {
  const said = call.output || "(no output)";
  const output = block(`Output of ${call.name}`, [
    call.name === "Read" ? numberedLines(call) : said,
    call.truncated && h("span", { class: "c" }, "\n… cut; the whole is in the transcript file"),
  ]);
  if (change) return [drawChange(change), call.name === "Write" ? null : output].filter(Boolean);
  const given = readableInput(call.input);
  return [given && block(`Input of ${call.name}`, given), output].filter(Boolean);
}

/** A file in the output of Read: quiet line numbers, and the text highlighted. */
function numberedLines({ output, input }) {
  const lines = output.split(LINE_NUMBERS);
  if (lines.length < 3 || lines.length > 2000) return output || "(no output)";
  return lines.map((text, n) =>
    n % 2 ? h("span", { class: "quiet" }, text) : highlight(text, input?.file_path),
  );
}

const block = (label, ...content) => h("pre", { tabindex: "0", "aria-label": label }, ...content);

export function turner() {
  const svg = icon("right");
  svg.classList.add("turn");
  return svg;
}

/** The input of a tool in a readable form. */
export function readableInput(input) {
  if (input === null || input === undefined) return "";
  if (typeof input === "string") return input;
  if (typeof input.command === "string") return [h("span", { class: "c" }, "$ "), input.command];
  const lines = Object.entries(input).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return lines.join("\n");
}

/** A message that is a runbook: the number of its steps, and its text folded. */
export function foldedRunbook(content) {
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
      h("span", { class: "quiet" }, plural(steps, "step")),
    ),
    h("pre", { class: "codeblock", tabindex: "0", "aria-label": "Runbook" }, content),
  );
}
