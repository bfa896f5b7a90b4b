// The lines of a log as they are shown: their text, colours, level, and search hits.

import { h } from "../../kit/dom.js";
import { ansi, PLAIN } from "../ansi.js";

const NEAR = 120; // characters of a line in which its level is looked for
const TIME =
  /^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?=\s|$)/;
/** @type {[level: string, words: RegExp][]} */
const WORDS = [
  [
    "bad",
    /\b(?:ERROR|ERR|FATAL|CRITICAL|PANIC|EMERG|ALERT)\b|\blevel"?[=:]\s*"?(?:error|fatal|panic)/,
  ],
  [
    "bad",
    /^(?:Traceback \(|panic: |[\w.]*(?:Error|Exception)\b\s*[:(]|Uncaught )|^\s*\[?error\]?\b/i,
  ],
  ["warn", /\bWARN(?:ING)?\b|\blevel"?[=:]\s*"?warn|^\s*\[?warn(?:ing)?\]?\b|^\w*Warning: /],
  ["debug", /\b(?:DEBUG|TRACE)\b|\blevel"?[=:]\s*"?(?:debug|trace)/],
  ["info", /\b(?:INFO|NOTICE)\b|\blevel"?[=:]\s*"?info/],
];
const MORE = /^(?:\s+\S|File "|Caused by|\.\.\. )/; // continues the line before it

/** Reads lines in order: colours and levels carry over from one line to the next. */
export class Reader {
  constructor() {
    this.pen = PLAIN;
    this.level = "";
  }

  /** {text, spans, level, time}: `level` is bad, warn, info, debug or ""; `time` is a length. */
  read(raw) {
    const { text, spans, pen } = ansi(raw, this.pen);
    this.pen = pen;
    const time = TIME.exec(text)?.[0].length ?? 0;
    this.level = levelOf(text.slice(time, time + NEAR), time ? "" : this.level);
    return { text, spans, level: this.level, time };
  }

  /** Read an incomplete line without changing the state: it will be read again when complete. */
  glance(raw) {
    const { pen, level } = this;
    const line = this.read(raw);
    this.pen = pen;
    this.level = level;
    return line;
  }
}

/** `before`: the level of the previous line, which a line without a time may continue. */
function levelOf(text, before) {
  if ((before === "bad" || before === "warn") && MORE.test(text)) return before;
  return WORDS.find(([, words]) => words.test(text))?.[0] ?? "";
}

/** The offsets at which `query` (lower case) occurs in a line. */
export function hits({ text }, query) {
  const found = [];
  const lower = text.toLowerCase();
  const where = lower.length === text.length ? lower : text;
  for (let at = where.indexOf(query); at >= 0; at = where.indexOf(query, at + query.length))
    found.push(at);
  return found;
}

/** The node of a line. `marks`: its marked ranges {from, to, now}, in order. */
export function row(line, marks = []) {
  const { text, spans, level, time } = line;
  const hang = time && time <= 8 ? " at8" : time && time <= 12 ? " at12" : "";
  const node = h("div", { class: `l ${level}${hang}` });
  if (!text) node.append(h("br"));
  else if (!spans.length && !marks.length && !time) node.textContent = text;
  else node.append(...pieces(line, marks));
  return node;
}

/** The text, cut wherever a colour or a mark begins or ends; spans and marks are in order. */
function pieces({ text, spans, time }, marks) {
  const cuts = new Set([0, time, text.length]);
  for (const { from, to } of spans) cuts.add(from).add(to);
  for (const { from, to } of marks) cuts.add(from).add(to);
  const sorted = [...cuts].sort((a, b) => a - b);
  let span = 0;
  let n = 0;
  return sorted.slice(1).map((to, nth) => {
    const from = sorted[nth];
    while (span < spans.length && spans[span].to <= from) span += 1;
    while (n < marks.length && marks[n].to <= from) n += 1;
    const mark = marks[n]?.from <= from ? marks[n] : null;
    const look = [
      from < time && "at",
      spans[span]?.from <= from && spans[span].look,
      mark?.now && "now",
    ]
      .filter(Boolean)
      .join(" ");
    const part = text.slice(from, to);
    if (mark) return h("mark", { class: look }, part);
    return look ? h("span", { class: look }, part) : part;
  });
}
