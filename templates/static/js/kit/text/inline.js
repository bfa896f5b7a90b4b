// The inside of a Markdown line as DOM nodes. Text stays text: no HTML, http(s) and mailto links
// only, pictures as links. Every pattern is bounded, so that hostile text costs little.

import { h } from "../dom.js";

const DEPTH = 6;
const ADDRESS = String.raw`(?:https?:\/\/|mailto:)[^\s<>"]{1,2000}`;
const PIECES = [
  ["escape", String.raw`\\[!-\/:-@\[-${"`"}{-~]`],
  ["code", String.raw`(?<tick>${"`"}{1,8})(?!${"`"})[^]{1,1000}?(?<!${"`"})\k<tick>(?!${"`"})`],
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
  ["bare", String.raw`(?<![\w])https?:\/\/[^\s<>"${"`"}]{1,2000}`],
];
const INLINE = new RegExp(PIECES.map(([name, text]) => `(?<${name}>${text})`).join("|"), "g");

/** inline("a **b**", {breaks}) → nodes; with `breaks` a new line is one, else a space. */
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

function plain(text, { breaks }) {
  if (!text) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, n) => {
    const hard = breaks || / {2}$|\\$/.test(lines[n - 1] ?? "");
    const shown = n < lines.length - 1 ? line.replace(/( +|\\)$/, "") : line;
    return n ? [hard ? h("br") : " ", shown] : [shown];
  });
}

function piece({ 0: all, groups }, options, depth) {
  const within = (cut, end = cut) => inline(all.slice(cut, all.length - end), options, depth + 1);
  const { tick, label, href, target } = groups;
  if (groups.escape) return { node: all[1] };
  if (groups.code) return { node: h("code", {}, unpadded(all.slice(tick.length, -tick.length))) };
  if (groups.strong ?? groups.strongUnder) return { node: h("strong", {}, within(2)) };
  if (groups.em ?? groups.emUnder) return { node: h("em", {}, within(1)) };
  if (groups.strike) return { node: h("s", {}, within(2)) };
  if (groups.link) return { node: link(href, label, all, options, depth) };
  if (groups.angle) return { node: anchor(target, [target.replace(/^mailto:/, "")]) };
  const [address, rest] = trimmed(all);
  return { node: anchor(address, [address]), rest };
}

const unpadded = (text) =>
  (/^ .*\S.* $/s.test(text) ? text.slice(1, -1) : text).replaceAll("\n", " ");

/** What is not a web address is shown as it was written; a link within the page is none. */
function link(href, label, all, options, depth) {
  const words = label ? inline(label, options, depth + 1) : [href];
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) return anchor(href, words);
  const own = options.resolve?.(href);
  return own ? h("a", { class: "link", href: own }, words) : all;
}

const anchor = (href, words) =>
  h("a", { class: "link", href, rel: "noreferrer noopener", target: "_blank" }, words);

/** A full stop or a bracket after an address belongs to the sentence. */
function trimmed(address) {
  let end = address.length;
  for (;;) {
    const last = address[end - 1];
    const open = last === ")" && count(address, "(", end) >= count(address, ")", end);
    if (open || !/[.,;:!?'"*_~)\]]/.test(last)) break;
    end -= 1;
  }
  return [address.slice(0, end), address.slice(end)];
}

const count = (text, letter, end) => text.slice(0, end).split(letter).length;
