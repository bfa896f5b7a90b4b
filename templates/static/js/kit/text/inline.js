// The inline syntax of Markdown as DOM nodes. Text stays text: no HTML, only http(s) and mailto
// links, images as links. Every pattern is bounded, so that hostile text costs little.

import { h } from "../dom.js";

const DEPTH = 6;
const ADDRESS = String.raw`(?:https?:\/\/|mailto:)[^\s<>"]{1,2000}`;
/** The entities that models write; others stay text. @type {Record<string, string>} */
const ENTITIES = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "\u00a9",
  mdash: "\u2014",
  ndash: "\u2013",
  hellip: "\u2026",
  rarr: "\u2192",
  times: "\u00d7",
};
const PIECES = [
  ["entity", String.raw`&(?:${Object.keys(ENTITIES).join("|")}|#\d{1,7}|#[xX][\da-fA-F]{1,6});`],
  ["escape", String.raw`\\[!-\/:-@\[-${"`"}{-~]`],
  ["code", String.raw`(?<tick>${"`"}{1,8})(?!${"`"})[^]{1,1000}?(?<!${"`"})\k<tick>(?!${"`"})`],
  ["both", String.raw`\*\*\*(?=[^\s*])[^*]{1,1000}?(?<!\s)\*\*\*(?!\*)`],
  ["strong", String.raw`\*\*(?=\S)[^]{1,1000}?\S\*\*|\*\*[^\s*]\*\*`],
  ["strongUnder", String.raw`(?<![\w])__(?=\S)[^]{1,1000}?\S__(?!\w)`],
  ["em", String.raw`\*(?![\s*])(?:[^*\n]|\*\*[^*\n]{1,500}\*\*){0,600}?[^\s*]\*(?!\*)|\*[^\s*]\*`],
  ["emUnder", String.raw`(?<![\w])_(?![\s_])[^_\n]{0,600}[^\s_]_(?!\w)|(?<![\w])_[^\s_]_(?!\w)`],
  ["strike", String.raw`~~(?=\S)[^\n]{1,1000}?\S~~`],
  [
    "link",
    String.raw`!?\[(?<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,500})\]\((?<href>[^\s()<>]{0,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)(?:\s{1,3}"[^"\n]{0,300}")?\)`,
  ],
  ["angle", String.raw`<(?<target>${ADDRESS})>`],
  ["bare", String.raw`(?<![\w])https?:\/\/[^\s<>"${"`"}.,;:!?'*_~()\]][^\s<>"${"`"}]{0,2000}`],
];
const INLINE = new RegExp(PIECES.map(([name, text]) => `(?<${name}>${text})`).join("|"), "g");

/** @typedef {(path: string) => string | undefined} Resolve */
/** @typedef {{breaks?: boolean, resolve?: Resolve}} Options */

/**
 * inline("a **b**", {breaks}) → nodes; with `breaks` a new line is a line break, else a space.
 * @param {string} text
 * @param {Options} [options]
 * @param {number} [depth]
 * @returns {(Node | string)[]}
 */
export function inline(text, options = {}, depth = 0) {
  if (depth > DEPTH) return [text];
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const { node, rest } = piece(found, options, depth);
    nodes.push(...plain(text.slice(end, found.index), options), node, ...plain(rest, options));
    end = found.index + found[0].length;
  }
  return [...nodes, ...plain(text.slice(end), options)];
}

/**
 * @param {string | undefined} text
 * @param {Options} options
 */
function plain(text, { breaks }) {
  if (!text) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, n) => {
    const hard = breaks || / {2}$|\\$/.test(lines[n - 1] ?? "");
    const shown = n < lines.length - 1 ? line.replace(/( +|\\)$/, "") : line;
    return n ? [hard ? h("br") : " ", shown] : [shown];
  });
}

/**
 * @param {RegExpMatchArray} found
 * @param {Options} options
 * @param {number} depth
 * @returns {{node: Node | string, rest?: string}}
 */
function piece({ 0: all, groups = {} }, options, depth) {
  /** @type {(cut: number) => (Node | string)[]} */
  const within = (cut) => inline(all.slice(cut, all.length - cut), options, depth + 1);
  const { tick, label, href, target } = groups;
  if (groups.entity) return { node: character(all.slice(1, -1)) };
  if (groups.escape) return { node: all[1] };
  if (groups.code) return { node: h("code", {}, codeText(all.slice(tick.length, -tick.length))) };
  if (groups.both) return { node: h("em", {}, h("strong", {}, within(3))) };
  if (groups.strong ?? groups.strongUnder) return { node: h("strong", {}, within(2)) };
  if (groups.em ?? groups.emUnder) return { node: h("em", {}, within(1)) };
  if (groups.strike) return { node: h("s", {}, within(2)) };
  if (groups.link) return { node: link(href, label, all, options, depth) };
  if (groups.angle) return { node: anchor(target, [target]) };
  const [address, rest] = splitAddress(all);
  return { node: anchor(address, [address]), rest };
}

/**
 * "amp" → "&", "#65" → "A"; an invalid code becomes U+FFFD.
 * @param {string} name
 */
function character(name) {
  if (!name.startsWith("#")) return ENTITIES[name];
  const number = Number(name.slice(1).replace(/^[xX]/, "0x"));
  const bad = !number || number > 0x10ffff || (number >= 0xd800 && number < 0xe000);
  return bad ? "\ufffd" : String.fromCodePoint(number);
}

/** @param {string} text */
const codeText = (text) =>
  (/^ .*\S.* $/s.test(text) ? text.slice(1, -1) : text).replaceAll("\n", " ");

/**
 * A link; if `href` is neither a web address nor resolved by `options`, the text as written.
 * @param {string} href
 * @param {string} label
 * @param {string} all
 * @param {Options} options
 * @param {number} depth
 */
function link(href, label, all, options, depth) {
  const words = label ? inline(label, options, depth + 1) : [href];
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) return anchor(href, words);
  const own = options.resolve?.(href);
  return own ? h("a", { class: "link", href: own }, words) : all;
}

/** @type {(href: string, words: (Node | string)[]) => HTMLElement} */
const anchor = (href, words) =>
  h("a", { class: "link", href, rel: "noreferrer noopener", target: "_blank" }, words);

/**
 * Split trailing punctuation off a URL: it belongs to the sentence.
 * @param {string} address
 */
function splitAddress(address) {
  let end = address.length;
  for (;;) {
    const last = address[end - 1];
    const open = last === ")" && count(address, "(", end) >= count(address, ")", end);
    if (open || !/[.,;:!?'"*_~)\]]/.test(last)) break;
    end -= 1;
  }
  return [address.slice(0, end), address.slice(end)];
}

/** @type {(text: string, letter: string, end: number) => number} */
const count = (text, letter, end) => text.slice(0, end).split(letter).length;
