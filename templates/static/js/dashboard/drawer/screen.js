// A view of very many lines: they are kept in chunks, and only chunks near the view are drawn.

import { h } from "../../kit/dom.js";
import { hits, row } from "./lines.js";

const CHUNK_LINES = 100;
const CHUNK_SIZE = 16_000; // characters
const SPAN_CHARS = 8; // cost of a coloured span
const NEAR = "600px 0px";
const MANY = 10_000; // hits; beyond this they are not counted
const SLICE_MS = 12; // of work before other tasks of the page run
const LINE_PX = 20;
const AT_END_PX = 8;

const turn = () => new Promise((resume) => setTimeout(resume));

export class Screen {
  chunks = [];
  count = 0;
  stuck = true;
  query = "";
  now = null;
  round = 0;

  /** `box` is the scrolling element; `moved(atEnd, atTop)` is called after it scrolled. */
  constructor(box, moved) {
    this.box = box;
    this.list = h("div", { class: "lines" });
    this.last = h("div", { class: "lines" });
    box.append(this.list, this.last);
    this.near = new IntersectionObserver((seen) => this.onIntersection(seen), {
      root: box,
      rootMargin: NEAR,
    });
    this.sized = new ResizeObserver(() => this.pin());
    this.sized.observe(box);
    box.addEventListener("scroll", () => {
      this.stuck = box.scrollHeight - box.clientHeight - box.scrollTop < AT_END_PX;
      moved(this.stuck, box.scrollTop < box.clientHeight);
    });
  }

  end() {
    this.near.disconnect();
    this.sized.disconnect();
    this.round += 1;
  }

  clear() {
    for (const { node } of this.chunks) this.near.unobserve(node);
    this.list.replaceChildren();
    this.last.replaceChildren();
    this.chunks = [];
    this.count = 0;
    this.stuck = true;
    this.now = null;
  }

  /** Append lines; a view at the end stays at the end. Many at once begin their own chunk, so
   * that their `from`, the offset in the log, is the start of that chunk. */
  append(lines) {
    const open = this.chunks.at(-1);
    let left = lines;
    if (open && room(open) && lines.length < CHUNK_LINES) {
      const [more] = cut(lines, open);
      left = lines.slice(more.length);
      this.extend(open, more);
    }
    const fresh = cut(left).map((part) => this.chunk(part));
    this.chunks.push(...fresh);
    this.list.append(...fresh.map(({ node }) => node));
    this.observe(fresh);
    this.count += lines.length;
    this.pin();
  }

  /** Insert older lines at the top; the lines in view stay where they are. */
  prepend(lines) {
    const before = this.box.scrollHeight;
    const fresh = cut(lines).map((part) => this.chunk(part));
    this.chunks.unshift(...fresh);
    this.list.prepend(...fresh.map(({ node }) => node));
    this.count += lines.length;
    this.box.scrollTop += this.box.scrollHeight - before;
    this.observe(fresh);
  }

  /** Drop the oldest lines beyond `most`. Return `start`, or undefined if none were dropped. */
  trim(most) {
    if (this.count <= most) return undefined;
    while (this.chunks.length > 1 && (this.count > most || this.start === undefined)) {
      const { node, lines } = this.chunks.shift();
      this.near.unobserve(node);
      node.remove();
      this.count -= lines.length;
    }
    this.pin();
    return this.start;
  }

  /** The offset in the log at which the first line begins; undefined if unknown. */
  get start() {
    return this.chunks[0]?.lines[0].from;
  }

  /** Show the incomplete last line; null when there is none. */
  partial(line) {
    this.last.replaceChildren(...(line ? [row(line)] : []));
    this.pin();
  }

  pin() {
    if (this.stuck) this.box.scrollTop = this.box.scrollHeight;
  }

  toEnd() {
    this.stuck = true;
    this.pin();
  }

  /** Make a change of layout, keeping the first visible line first. */
  relaid(change) {
    const first = this.chunks.find(
      ({ node }) => node.offsetTop + node.offsetHeight > this.box.scrollTop,
    );
    const share =
      first && (this.box.scrollTop - first.node.offsetTop) / (first.node.offsetHeight || 1);
    change();
    for (const chunk of this.chunks) if (!chunk.drawn) this.guess(chunk);
    if (first && !this.stuck)
      this.box.scrollTop = first.node.offsetTop + share * first.node.offsetHeight;
    this.pin();
  }

  text() {
    const last = this.last.textContent;
    const all = this.chunks.flatMap(({ lines }) => lines.map(({ text }) => text));
    return [...all, ...(last ? [last] : [])].join("\n");
  }

  /** The last occurrence of `lines` in sequence, as an array of {chunk, n, line}; or null. */
  place(lines) {
    const flat = this.chunks.flatMap((chunk) => chunk.lines.map((line, n) => ({ chunk, n, line })));
    for (let at = flat.length - lines.length; at >= 0; at -= 1)
      if (lines.every((text, n) => flat[at + n].line.text === text))
        return flat.slice(at, at + lines.length);
    return null;
  }

  show({ chunk, n }) {
    this.stuck = false;
    this.draw(chunk);
    chunk.node.children[n].scrollIntoView({ block: "center" });
  }

  // search

  /**
   * Search for a text from the newest line up, until there are `MANY` hits; older chunks are
   * searched when they scroll into view. Resolves to false if a newer search has begun.
   */
  async search(query) {
    const round = (this.round += 1);
    this.query = query.toLowerCase();
    this.now = null;
    for (const chunk of this.chunks) chunk.found = null;
    let since = performance.now();
    let total = 0;
    for (const chunk of this.chunks.toReversed()) {
      if (total < MANY) total += this.look(chunk).length;
      if (chunk.drawn) this.paint(chunk);
      if (performance.now() - since < SLICE_MS) continue;
      await turn();
      if (round !== this.round) return false;
      since = performance.now();
    }
    return true;
  }

  /** The number of known hits, and whether there may be more. */
  get tally() {
    const total = this.chunks.reduce((sum, { found }) => sum + (found?.length ?? 0), 0);
    return { total, more: this.chunks.some(({ found }) => found === null) };
  }

  /** Go to the next (1) or previous (-1) hit; returns its number, 0 if there is none. */
  go(step) {
    const before = this.now;
    this.now = this.next(step);
    if (!this.now) return 0;
    const { chunk, n } = this.now;
    this.stuck = false;
    for (const place of [before, this.now]) if (place?.chunk.drawn) this.mark(place);
    this.draw(chunk);
    chunk.node.querySelector("mark.now").scrollIntoView({ block: "center", inline: "nearest" });
    return this.numberOf(chunk) + n + 1;
  }

  /** The hit after (1) or before (-1) the current one, cyclic; without one, the first or last. */
  next(step) {
    const { chunks } = this;
    let at = this.now ? chunks.indexOf(this.now.chunk) : -1;
    let n = at < 0 ? -1 : this.now.n + step;
    for (let tries = 0; tries <= chunks.length; tries += 1) {
      const chunk = chunks[at];
      if (chunk && this.look(chunk)[n]) return { chunk, n };
      at = (Math.max(at, step > 0 ? -1 : 0) + step + chunks.length) % chunks.length;
      n = step > 0 ? 0 : this.look(chunks[at]).length - 1;
    }
    return null;
  }

  /** The number of hits before a chunk. */
  numberOf(chunk) {
    const before = this.chunks.slice(0, this.chunks.indexOf(chunk));
    return before.reduce((sum, { found }) => sum + (found?.length ?? 0), 0);
  }

  /** Redraw the line of a hit. */
  mark({ chunk, n }) {
    const { line } = chunk.found[n];
    const old = chunk.node.children[line];
    const fresh = row(chunk.lines[line], this.marks(chunk)[line]);
    fresh.classList.toggle("told", old.classList.contains("told"));
    old.replaceWith(fresh);
  }

  /** The hits of a chunk: {line, at}, in order. */
  look(chunk) {
    chunk.found ??= this.query
      ? chunk.lines.flatMap((line, n) => hits(line, this.query).map((at) => ({ line: n, at })))
      : [];
    return chunk.found;
  }

  // chunks

  chunk(lines) {
    const node = h("div", { class: "chunk" });
    const chunk = { node, lines, drawn: false, found: null, size: sizeOf(lines) };
    node.chunk = chunk;
    if (this.tally.total < MANY) this.look(chunk);
    this.guess(chunk);
    return chunk;
  }

  observe(chunks) {
    for (const { node } of chunks) this.near.observe(node);
  }

  extend(chunk, lines) {
    chunk.lines.push(...lines);
    chunk.size += sizeOf(lines);
    chunk.found = null;
    if (this.tally.total < MANY) this.look(chunk);
    if (chunk.drawn) chunk.node.append(...this.rows(chunk).slice(-lines.length));
    else this.guess(chunk);
  }

  rows(chunk) {
    const at = this.marks(chunk);
    return chunk.lines.map((line, n) => row(line, at[n]));
  }

  /** The marks {from, to, now} of each line of a chunk. Adjacent hits are one mark. */
  marks(chunk) {
    const all = chunk.lines.map(() => []);
    this.look(chunk).forEach(({ line, at }, n) => {
      const now = this.now?.chunk === chunk && this.now.n === n;
      const last = all[line].at(-1);
      if (last?.to === at && !now && !last.now) last.to += this.query.length;
      else all[line].push({ from: at, to: at + this.query.length, now });
    });
    return all;
  }

  paint(chunk) {
    chunk.node.replaceChildren(...this.rows(chunk));
    chunk.node.style.height = "";
    chunk.drawn = true;
  }

  /** Draw a chunk; one above the view must not shift the lines in view. */
  draw(chunk) {
    if (chunk.drawn) return;
    const { node } = chunk;
    const before = node.offsetHeight;
    const above = node.offsetTop < this.box.scrollTop;
    this.paint(chunk);
    if (above && !this.stuck) this.box.scrollTop += node.offsetHeight - before;
  }

  /** Replace a chunk with a space of the same height, unless something in it is selected. */
  hollow(chunk) {
    if (!chunk.drawn || getSelection()?.containsNode(chunk.node, true)) return;
    chunk.node.style.height = `${chunk.node.offsetHeight}px`;
    chunk.node.replaceChildren();
    chunk.drawn = false;
  }

  guess(chunk) {
    const wide = this.box.classList.contains("wrapped") ? this.columns() : Infinity;
    const rows = chunk.lines.reduce(
      (sum, { text }) => sum + Math.max(1, Math.ceil(text.length / wide)),
      0,
    );
    chunk.node.style.height = `${rows * LINE_PX}px`;
  }

  columns() {
    if (this.width !== this.box.clientWidth) {
      this.width = this.box.clientWidth;
      const probe = h("span", { class: "probe" }, "0".repeat(100));
      this.list.append(probe);
      this.wide = Math.max(20, Math.floor((this.width - 40) / (probe.offsetWidth / 100 || 7.2)));
      probe.remove();
    }
    return this.wide;
  }

  onIntersection(entries) {
    if (!this.box.clientHeight) return; // another tab is shown
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) this.draw(target.chunk);
      else this.hollow(target.chunk);
    this.pin();
  }
}

/** The cost of drawing a line, in characters. */
const weight = ({ text, spans }) => text.length + SPAN_CHARS * spans.length;
const sizeOf = (lines) => lines.reduce((sum, line) => sum + weight(line), 0);
const room = ({ lines, size }) => lines.length < CHUNK_LINES && size < CHUNK_SIZE;

/** Cut lines into parts of one chunk each; the first part continues the chunk `open`. */
function cut(lines, open = { lines: [], size: 0 }) {
  const parts = [[]];
  let { size } = open;
  let count = open.lines.length;
  for (const line of lines) {
    if (!room({ lines: { length: count }, size })) {
      parts.push([]);
      size = count = 0;
    }
    parts.at(-1).push(line);
    count += 1;
    size += weight(line);
  }
  return parts.filter((part) => part.length);
}
