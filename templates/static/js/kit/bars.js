// Small drawings as SVG attributes, so that no style attribute is needed.

import { h } from "./dom.js";
import { withCommas } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | null | undefined>} Attributes */

/**
 * @param {string} tag
 * @param {Attributes} props
 * @param {...(Node | string | null | undefined | false | 0)} children
 */
function s(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props))
    if (value !== undefined && value !== null) node.setAttribute(name, String(value));
  for (const child of children) if (child) node.append(child);
  return node;
}

/** @type {(label?: string) => Attributes} */
const spoken = (label) =>
  label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
const FULL = 48; // px of a bar

/**
 * "+1,128 −41" with a bar whose length grows with the logarithm of the change. A side without a
 * change is empty but keeps its width, so that columns stay aligned.
 * @param {number} added
 * @param {number} removed
 */
export function plusMinus(added, removed, { bar = true } = {}) {
  return h(
    "span",
    { class: "pm" },
    h("span", { class: "a" }, added || !removed ? `+${withCommas(added)}` : ""),
    h("span", { class: "d" }, removed ? `−${withCommas(removed)}` : ""),
    bar && plusMinusBar(added, removed),
  );
}

/**
 * @param {number} added
 * @param {number} removed
 */
function plusMinusBar(added, removed) {
  const total = added + removed;
  const long = total ? Math.min(FULL, Math.max(4, Math.round(7 * Math.log2(1 + total / 4)))) : 0;
  const plus = total ? Math.round((long * added) / total) : 0;
  /** @type {(part: number, width: number) => number} */
  const least = (part, width) => (part ? Math.max(2, width) : 0);
  const a = least(added, plus);
  const d = least(removed, long - plus);
  const box = { class: "pmbar", viewBox: `0 0 ${FULL} 6`, preserveAspectRatio: "none" };
  return s(
    "svg",
    { ...box, ...spoken() },
    a > 0 && s("rect", { class: "a", width: a, height: 6, rx: 1 }),
    d > 0 && s("rect", { class: "d", x: a ? a + 1 : 0, width: d, height: 6, rx: 1 }),
  );
}

/**
 * A progress bar; the label says the progress in words ("3 of 7 files viewed").
 * @param {number} part
 * @param {number} whole
 * @param {string} [label]
 */
export function meter(part, whole, label) {
  const width = whole > 0 ? (FULL * Math.min(Math.max(part, 0), whole)) / whole : 0;
  return s(
    "svg",
    { class: "meter", viewBox: `0 0 ${FULL} 4`, preserveAspectRatio: "none", ...spoken(label) },
    s("rect", { class: "bg", width: FULL, height: 4, rx: 2 }),
    width > 0 && s("rect", { class: "fg", width: width.toFixed(1), height: 4, rx: 2 }),
  );
}

const WIDE = 120;
const HIGH = 24;

/**
 * A line through `values` (null leaves a gap). `failures` is a set or an array of the indexes of
 * checks that failed: a red tick each; `poor`, of those that answered badly: a short tick each.
 * @param {(number | null | undefined)[]} values
 * @param {{failures?: Iterable<number>, poor?: number[], label?: string}} [options]
 */
export function sparkline(values, { failures = [], poor = [], label } = {}) {
  const failed = new Set(failures);
  const given = values.flatMap((value) => value ?? []);
  const most = Math.max(...given, 1);
  const step = values.length > 1 ? (WIDE - 4) / (values.length - 1) : 0;
  /** @param {number} n */
  const x = (n) => (2 + n * step).toFixed(1);
  let pen = "M";
  let path = "";
  values.forEach((value, n) => {
    if (value === null || value === undefined || failed.has(n)) pen = "M";
    else {
      path += `${pen}${x(n)} ${(HIGH - 3 - (value / most) * (HIGH - 6)).toFixed(1)}`;
      pen = "L";
    }
  });
  const words =
    label ??
    `Latency of the last ${values.length} checks, ${failed.size || "none"} failed` +
      (poor.length ? `, ${poor.length} answered badly` : "");
  return s(
    "svg",
    {
      class: "spark",
      viewBox: `0 0 ${WIDE} ${HIGH}`,
      preserveAspectRatio: "none",
      ...spoken(words),
    },
    path && s("path", { d: path }),
    ...poor.map((n) =>
      s("line", { class: "poor", x1: x(n), x2: x(n), y1: HIGH - 2, y2: HIGH + 2 }),
    ),
    ...[...failed].map((n) => s("line", { x1: x(n), x2: x(n), y1: 4, y2: HIGH - 2 })),
  );
}

/** @type {Record<string, {word: string, height: number}>} */
const STATES = {
  u: { word: "up", height: 14 },
  g: { word: "degraded", height: 9 },
  d: { word: "down", height: 5 },
  s: { word: "stopped", height: 2 },
};

/** @typedef {{letter: string, title?: string}} Bucket */

/**
 * The last 24 hours: `buckets` is the text "uuug-ds" (up, degraded, down, stopped; anything else
 * is a gap) or an array of such letters or of {letter, title}. Lower means worse.
 * @param {string | (string | Bucket)[]} buckets
 * @param {{label?: string}} [options]
 */
export function bar24(buckets, { label } = {}) {
  /** @type {Bucket[]} */
  const all = [...buckets].map((one) => (typeof one === "string" ? { letter: one } : one));
  const bars = all.map(({ letter, title }, n) => {
    const state = STATES[letter];
    if (!state) return null;
    const size = { x: n * 3, y: 14 - state.height, width: 2, height: state.height };
    return s("rect", { class: letter, ...size }, title && s("title", {}, title));
  });
  const box = { viewBox: `0 0 ${Math.max(1, all.length * 3 - 1)} 14`, preserveAspectRatio: "none" };
  const words = label ?? `Last 24 hours: ${hours(all)}`;
  const base = s("line", { class: "base", x1: 0, x2: all.length * 3, y1: 13.5, y2: 13.5 });
  return s("svg", { class: "bar24", ...box, ...spoken(words) }, base, ...bars);
}

/** @param {Bucket[]} all */
function hours(all) {
  const share = 24 / (all.length || 1);
  const said = Object.entries(STATES)
    .map(([letter, { word }]) => ({
      word,
      count: all.filter((one) => one.letter === letter).length,
    }))
    .filter(({ count }) => count)
    .map(({ count, word }) => `${Number((count * share).toFixed(1))} h ${word}`);
  return said.join(", ") || "nothing known";
}
