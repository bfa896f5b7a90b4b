// Markdown as DOM nodes: paragraphs, headings, nested lists with ticks, quotes, tables, code.
// Text stays text, never HTML. Blocks are parsed line by line, in one pass.

import { h, icon } from "./dom.js";
import { highlight } from "./text/highlight.js";
import { inline } from "./text/inline.js";
import { copy } from "./toast.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*)|[ \t]*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const UNDER = /^ {0,3}(=+|-+)[ \t]*$/;
const TABLE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const TICK = /^\[([ xX])\][ \t]+/;
const NESTED = 12; // levels of quotes and lists at most

/** @typedef {import("./text/inline.js").Resolve} Resolve */
/** @typedef {import("./text/inline.js").Options & {top: number, level: number}} Options */
/** @typedef {{lines: string[], at: number, options: Options, depth: number}} Reader */

/**
 * markdown("# Hi", {breaks, heading, resolve}) → a .prose block.
 * `breaks`: a new line is a line break. `heading`: the level of the highest headings, by default 2.
 * `resolve(path)`: the URL of a link that is not a web address, or undefined.
 * @param {string} text
 * @param {{breaks?: boolean, heading?: number, resolve?: Resolve}} [options]
 */
export function markdown(text, { breaks = false, heading = 2, resolve } = {}) {
  const options = { breaks, resolve, top: heading, level: heading - 1 };
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return h("div", { class: "prose" }, blocks(lines, options, 0));
}

/**
 * @param {string[]} lines
 * @param {Options} options
 * @param {number} depth
 */
function blocks(lines, options, depth) {
  const nodes = [];
  const reader = { lines, at: 0, options, depth };
  while (reader.at < lines.length) {
    const node = block(reader);
    if (node) nodes.push(node);
  }
  return nodes;
}

/** @param {Reader} reader @returns {HTMLElement | null} */
function block(reader) {
  const { lines, options, depth } = reader;
  const line = lines[reader.at];
  if (!line.trim()) {
    reader.at += 1;
    return null;
  }
  const fence = FENCE.exec(line);
  if (fence) return fencedCode(reader, fence);
  const heading = HEADING.exec(line);
  if (heading) {
    reader.at += 1;
    return headingNode(heading[1].length, headingText(heading[2] ?? ""), options);
  }
  if (RULE.test(line)) {
    reader.at += 1;
    return h("hr");
  }
  if (/^(?: {4}|\t)/.test(line)) return indentedCode(reader);
  if (depth < NESTED && QUOTE.test(line)) return quote(reader);
  if (depth < NESTED && ITEM.test(line)) return list(reader);
  if (line.includes("|") && TABLE.test(lines[reader.at + 1] ?? "")) {
    const made = table(reader);
    if (made) return made;
  }
  return paragraph(reader);
}

/** "Title ##" → "Title" @param {string} text */
function headingText(text) {
  const words = text.trim().split(/[ \t]+/);
  if (/^#+$/.test(words.at(-1) ?? "")) words.pop();
  return words.join(" ");
}

/**
 * A heading, at most one level below the previous one, even if the text skips levels.
 * @param {number} depth
 * @param {string} text
 * @param {Options} options
 */
function headingNode(depth, text, options) {
  const wanted = options.top + depth - 1;
  options.level = Math.min(6, wanted, options.level + 1);
  return h(
    `h${Math.max(options.top, options.level)}`,
    { class: `h${depth}` },
    inline(text, options),
  );
}

/**
 * @param {Reader} reader
 * @param {string[]} found
 */
function fencedCode(reader, [line, marks, words]) {
  const { lines } = reader;
  const indent = line.length - line.trimStart().length;
  const body = [];
  const closing = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`);
  for (reader.at += 1; reader.at < lines.length; reader.at += 1) {
    if (closing.test(lines[reader.at])) break;
    body.push(lines[reader.at].replace(new RegExp(`^ {0,${indent}}`), ""));
  }
  reader.at += 1;
  return code(body.join("\n"), words.trim().split(/\s+/)[0]);
}

/** @param {Reader} reader */
function indentedCode(reader) {
  const body = [];
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at];
    if (line.trim() && !/^(?: {4}|\t)/.test(line)) break;
    body.push(line.replace(/^(?: {1,4}|\t)/, ""));
  }
  return code(body.join("\n").trimEnd(), "");
}

/**
 * A block of code with its language and a button that copies it.
 * @param {string} text
 * @param {string} language
 */
function code(text, language) {
  const label = language ? `Code, ${language}` : "Code";
  return h(
    "div",
    { class: "code" },
    h("pre", { class: "codeblock", tabindex: "0", "aria-label": label }, highlight(text, language)),
    h(
      "button",
      {
        type: "button",
        class: "btn ghost s only copy",
        "aria-label": `Copy ${label.toLowerCase()}`,
        onclick: () => copy(text, "Copied"),
      },
      icon("copy"),
    ),
  );
}

/** @param {Reader} reader */
function quote(reader) {
  const body = [];
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at];
    const quoted = QUOTE.exec(line);
    if (!quoted && (!line.trim() || starts(line))) break;
    body.push(quoted ? quoted[1] : line);
  }
  return h("blockquote", {}, blocks(body, reader.options, reader.depth + 1));
}

/**
 * Whether a line begins another block, so that it does not continue a paragraph.
 * @param {string} line
 */
const starts = (line) =>
  FENCE.test(line) ||
  HEADING.test(line) ||
  RULE.test(line) ||
  QUOTE.test(line) ||
  /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line);

/** @param {string} marker */
const kind = (marker) => marker.slice(-1).replace(/\d/, ".");

/** @param {Reader} reader */
function list(reader) {
  const { lines, options, depth } = reader;
  const [, , first] = ITEM.exec(lines[reader.at]) ?? [];
  const items = [];
  let loose = false;
  while (reader.at < lines.length) {
    const found = ITEM.exec(lines[reader.at]);
    if (!found || kind(found[2]) !== kind(first) || RULE.test(lines[reader.at])) break;
    const item = readItem(reader, found);
    loose ||= item.loose;
    items.push(item.lines);
  }
  const ordered = /\d/.test(first);
  const start = ordered ? Number.parseInt(first, 10) : 0;
  return h(
    ordered ? "ol" : "ul",
    { class: loose ? "loose" : null, start: start > 1 ? start : null },
    items.map((body) => entry(body, options, depth)),
  );
}

/**
 * The lines of one item without its indent; loose when a blank line separates its blocks.
 * @param {Reader} reader
 * @param {string[]} found
 */
function readItem(reader, [, lead, marker, space = " ", text = ""]) {
  const { lines } = reader;
  const indent = lead.length + marker.length + (space.length > 4 ? 1 : space.length);
  const body = [text];
  let blank = false;
  let loose = false;
  for (reader.at += 1; reader.at < lines.length; reader.at += 1) {
    const line = lines[reader.at].replace(/^\t+/, (tabs) => "    ".repeat(tabs.length));
    const inner = line.length - line.trimStart().length;
    if (!line.trim()) {
      blank = true;
      body.push("");
      continue;
    }
    if (inner < Math.min(indent, 2) && (blank || starts(line) || ITEM.test(line))) break;
    if (inner < indent && ITEM.test(line) && inner <= lead.length) break;
    if (blank && inner < indent && inner < 2) break;
    loose ||= blank;
    blank = false;
    body.push(line.slice(Math.min(inner, indent)));
  }
  const next = blank && ITEM.exec(lines[reader.at] ?? "");
  if (next && kind(next[2]) === kind(marker)) loose = true;
  while (body.length && !body[body.length - 1].trim()) body.pop();
  return { lines: body, loose };
}

/**
 * @param {string[]} lines
 * @param {Options} options
 * @param {number} depth
 */
function entry(lines, options, depth) {
  const tick = TICK.exec(lines[0] ?? "");
  const body = tick ? [lines[0].slice(tick[0].length), ...lines.slice(1)] : lines;
  const inside = blocks(body, options, depth + 1);
  const done = tick && tick[1] !== " ";
  const box =
    tick && h("span", { class: `box${done ? " done" : ""}` }, done && icon("check", "Done"));
  if (box && !done) box.append(h("span", { class: "sr" }, "Not done"));
  if (inside[0]?.tagName === "P") inside[0].prepend(box || "");
  else if (box) inside.unshift(box);
  return h("li", { class: tick ? "task" : null }, inside);
}

/** @param {string} line */
const cells = (line) =>
  line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

/** @param {Reader} reader */
function table(reader) {
  const { lines, options } = reader;
  const head = cells(lines[reader.at]);
  const sides = cells(lines[reader.at + 1]).map(
    (rule) => (rule.endsWith(":") && (rule.startsWith(":") ? "middle" : "end")) || null,
  );
  if (head.length !== sides.length) return null;
  const rows = [];
  for (reader.at += 2; reader.at < lines.length; reader.at += 1) {
    const line = lines[reader.at];
    if (!line.trim() || starts(line)) break;
    rows.push(cells(line));
  }
  /** @type {(tag: string, texts: string[]) => HTMLElement} */
  const row = (tag, texts) =>
    h(
      "tr",
      {},
      head.map((_, n) => h(tag, { class: sides[n] }, inline(texts[n] ?? "", options))),
    );
  return h(
    "div",
    { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Table" },
    h(
      "table",
      {},
      h("thead", {}, row("th", head)),
      h(
        "tbody",
        {},
        rows.map((one) => row("td", one)),
      ),
    ),
  );
}

/** @param {Reader} reader */
function paragraph(reader) {
  const { lines, options } = reader;
  const body = [lines[reader.at].trimStart()];
  for (reader.at += 1; reader.at < lines.length; reader.at += 1) {
    const line = lines[reader.at];
    const under = UNDER.exec(line);
    if (under) {
      reader.at += 1;
      return headingNode(under[1][0] === "=" ? 1 : 2, body.join("\n"), options);
    }
    if (!line.trim() || starts(line)) break;
    if (line.includes("|") && TABLE.test(lines[reader.at + 1] ?? "")) break;
    body.push(line.trimStart());
  }
  return h("p", {}, inline(body.join("\n").trimEnd(), options));
}
