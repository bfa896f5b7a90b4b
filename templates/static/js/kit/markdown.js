// Markdown as DOM nodes: paragraphs, headings, lists, code, emphasis, http links. Never HTML.

import { h } from "./dom.js";

const FENCE = /^(`{3,}|~{3,})(.*)$/;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/;
const INLINE =
  /(`[^`]+`)|(\*\*[^*]+\*\*)|(\*[^*\s][^*]*\*)|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>)]+[^\s<>).,;:])/g;

export function markdown(text) {
  const lines = text.split("\n");
  const blocks = [];
  while (lines.length) blocks.push(block(lines));
  return h("div", { class: "prose" }, blocks.filter(Boolean));
}

function block(lines) {
  const line = lines.shift();
  if (!line.trim()) return null;
  const fence = FENCE.exec(line);
  if (fence) return code(lines, fence[1], fence[2].trim());
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading) return h("p", { class: "strong" }, inline(heading[2]));
  if (ITEM.test(line)) return list([line, ...takeWhile(lines, (next) => ITEM.test(next))]);
  return h("p", {}, inline([line, ...takeWhile(lines, plain)].join("\n")));
}

const plain = (line) =>
  line.trim() && !FENCE.test(line) && !ITEM.test(line) && !/^#{1,6}\s/.test(line);

function takeWhile(lines, test) {
  const taken = [];
  while (lines.length && test(lines[0])) taken.push(lines.shift());
  return taken;
}

function code(lines, fence, word) {
  const body = takeWhile(
    lines,
    (line) => !(line.startsWith(fence) && !line.slice(fence.length).trim()),
  );
  lines.shift();
  return h(
    "pre",
    { class: "codeblock", tabindex: "0", "aria-label": word ? `Code, ${word}` : "Code" },
    body.join("\n"),
  );
}

const list = (items) =>
  h(
    "ul",
    {},
    items.map((item) => h("li", {}, inline(ITEM.exec(item)[1]))),
  );

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(...broken(text.slice(end, found.index)), piece(found));
    end = found.index + found[0].length;
  }
  return [...nodes, ...broken(text.slice(end))];
}

const broken = (text) => text.split("\n").flatMap((line, n) => (n ? [h("br"), line] : [line]));

function piece([all, mono, bold, italic, label, href]) {
  if (mono) return h("code", {}, mono.slice(1, -1));
  if (bold) return h("strong", {}, bold.slice(2, -2));
  if (italic) return h("em", {}, italic.slice(1, -1));
  return h(
    "a",
    { class: "link", href: href ?? all, rel: "noreferrer noopener", target: "_blank" },
    label ?? all,
  );
}
