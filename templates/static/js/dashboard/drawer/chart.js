// A row of bars, one for each span of time: lower means worse, a gap means no data. The pointer or
// the arrow keys choose a bar, whose figures are shown below.

import { fill, h } from "../../kit/dom.js";
import { clockOf, plural, span } from "../../kit/words.js";
import { share, took } from "./head.js";

const SVG = "http://www.w3.org/2000/svg";
const HIGH = 56;
const LEAST = 4;
const STEP = 4; // width of a bar and its gap; 3 of it are drawn
/** @type {Intl.DateTimeFormatOptions} */
const DAY = { weekday: "short", day: "numeric", month: "short" };
const AGO = { "24h": "24 hours ago", "7d": "7 days ago", "90d": "90 days ago" };
const KNOWN = ["up", "degraded", "down", "stopped"];

function s(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const SHARE = 0.05; // of a bucket: a shorter state does not colour it, as in the 24-hour strip
const LETTERS = { down: "d", degraded: "g", up: "u", stopped: "s" };

/** The letter of a bucket: the worst state that lasted for at least SHARE of it; "" for a gap. */
function letterOf({ seconds }) {
  if (!seconds) return "";
  const all = Object.keys(LETTERS).reduce((sum, name) => sum + (seconds[name] ?? 0), 0);
  const worst = Object.keys(LETTERS).find(
    (name) => seconds[name] > 0 && seconds[name] >= SHARE * all,
  );
  return LETTERS[worst] ?? "";
}

/** Lower means worse, whatever the colour; for "down", the height is the uptime. */
function bar(bucket, n) {
  const letter = letterOf(bucket);
  if (!letter) return null;
  const level = { u: 1, g: 0.8, d: 0.6 * (bucket.uptime ?? 0), s: 0 }[letter];
  const height = Math.max(LEAST, Math.round(HIGH * level));
  return s("rect", { class: letter, x: n * STEP, y: HIGH - height, width: STEP - 1, height });
}

/** The path of the p95 latencies, scaled to the largest of them. */
function line(buckets) {
  const most = Math.max(1, ...buckets.map(({ p95 }) => p95 ?? 0));
  let pen = "M";
  let path = "";
  buckets.forEach(({ p95 }, n) => {
    if (p95 === null) pen = "M";
    else {
      path += `${pen}${n * STEP + 1} ${(23 - (p95 / most) * 20).toFixed(1)}`;
      path += pen === "M" ? "h1" : "";
      pen = "L";
    }
  });
  return path;
}

export class Chart {
  constructor() {
    this.at = -1;
    this.told = h("p", { class: "told", role: "status" });
    this.node = h("div", {
      class: "chart",
      tabindex: "0",
      role: "slider",
      "aria-label": "Moment",
      "aria-valuemin": "1",
      onkeydown: (event) => this.onKey(event),
      onfocus: () => this.at < 0 && this.look(this.buckets.length - 1),
      onpointermove: (event) => this.point(event),
      onpointerdown: (event) => this.point(event),
    });
  }

  /** Draw a History record. */
  draw({ buckets, bucketSeconds, window }) {
    const another = window !== this.window;
    this.buckets = buckets;
    this.bucketSeconds = bucketSeconds;
    this.window = window;
    const wide = buckets.length * STEP - 1;
    const box = { preserveAspectRatio: "none", "aria-hidden": "true" };
    this.cursor = s("rect", { class: "cursor", y: 0, width: STEP - 1, height: HIGH });
    const bars = buckets.map(bar).filter(Boolean);
    fill(
      this.node,
      s("svg", { class: "buckets", viewBox: `0 0 ${wide} ${HIGH}`, ...box }, this.cursor, ...bars),
      s(
        "svg",
        { class: "spark", viewBox: `0 0 ${wide} 24`, ...box },
        s("path", { d: line(buckets) }),
      ),
      h(
        "p",
        { class: "axis", "aria-hidden": "true" },
        h("span", {}, AGO[window]),
        h("span", {}, "now"),
      ),
    );
    this.node.setAttribute("aria-valuemax", buckets.length);
    this.look(another ? -1 : Math.min(this.at, buckets.length - 1));
  }

  look(at) {
    this.at = at;
    this.cursor.setAttribute("x", at < 0 ? -STEP : at * STEP);
    this.told.textContent =
      at < 0 ? "Point at a bar, or use the arrow keys, for its figures." : this.words(at);
    this.node.setAttribute("aria-valuenow", at < 0 ? this.buckets.length : at + 1);
    this.node.setAttribute("aria-valuetext", at < 0 ? "none chosen" : this.words(at));
  }

  words(at) {
    const bucket = this.buckets[at];
    const { uptime, checks, failed, p95, seconds } = bucket;
    const when = this.span(bucket.at);
    if (!letterOf(bucket)) return `${when} · nothing known`;
    if (uptime === null) return `${when} · ${KNOWN.find((name) => seconds[name])}`;
    return [
      when,
      `${share(uptime)} up`,
      seconds.down && `down ${span(seconds.down)} of ${span(this.bucketSeconds)}`,
      checks ? `${failed} of ${plural(checks, "check")} ${wrong(seconds)}` : "no checks",
      `p95 ${took(p95)}`,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  span(iso) {
    const from = new Date(iso);
    const to = new Date(from.getTime() + this.bucketSeconds * 1000);
    const day = from.toLocaleDateString("en-GB", DAY);
    if (this.bucketSeconds >= 86400) return `${day}, ${clockOf(from)}, and a day`;
    return `${day}, ${clockOf(from)}–${clockOf(to)}`;
  }

  point({ clientX }) {
    const { left, width } = this.node.getBoundingClientRect();
    const at = Math.floor(((clientX - left) / width) * this.buckets.length);
    this.look(Math.max(0, Math.min(this.buckets.length - 1, at)));
  }

  onKey(event) {
    const last = this.buckets.length - 1;
    const steps = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageUp: -12,
      PageDown: 12,
    };
    const at = { Home: 0, End: last }[event.key] ?? this.at + (steps[event.key] ?? NaN);
    if (Number.isNaN(at)) return;
    event.preventDefault();
    event.stopPropagation();
    this.look(Math.max(0, Math.min(last, at)));
  }
}

/** What the count `failed` of a bucket means: an app that answers badly is not down. */
export const wrong = ({ degraded }) => (degraded ? "failed or answered badly" : "failed");
