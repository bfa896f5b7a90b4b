// Restrained highlighting of a block of code. Text in an unknown language, and very long text, stay
// plain.

import { h } from "../dom.js";
import { languageOf } from "./languages.js";
import { CLASSES, tokensOf } from "./tokens.js";

const MOST = 60_000; // characters
/** @type {Record<string, string>} */
const CHANGES = { "+": "add", "-": "del", "@": "at" };

/**
 * highlight("x = 1", "python" or "a.py") → nodes and strings.
 * @param {string} text
 * @param {string} [name]
 * @returns {(Node | string)[]}
 */
export function highlight(text, name) {
  if (text.length > MOST) return [text];
  if (/^(?:diff|patch)$|\.(?:diff|patch)$/i.test(name ?? "")) return changes(text);
  const tokens = tokensOf(text, languageOf(name));
  if (!tokens.length) return [text];
  return text.split("\n").flatMap((line, n) => [n ? "\n" : "", ...lineNodes(line, tokens[n])]);
}

/**
 * @param {string} line
 * @param {number[]} tokens
 */
function lineNodes(line, tokens) {
  /** @type {(Node | string)[]} */
  const nodes = [];
  let from = 0;
  for (let n = 0; n < tokens.length; n += 3) {
    const [start, end, kind] = tokens.slice(n, n + 3);
    nodes.push(
      line.slice(from, start),
      h("span", { class: CLASSES[kind] }, line.slice(start, end)),
    );
    from = end;
  }
  return [...nodes, line.slice(from)];
}

/** @param {string} text */
const changes = (text) =>
  text.split("\n").flatMap((line, n) => {
    const kind = /^(?:\+\+\+|---) /.test(line) ? "at" : CHANGES[line[0]];
    return [n ? "\n" : "", kind ? h("span", { class: kind }, line) : line];
  });
