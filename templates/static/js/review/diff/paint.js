// Colours for code: word marks, the tokens of the highlighter, visible blanks. A chunk is painted
// when it comes near the viewport; until then, and without a worker, it is plain text.

import { pace } from "../../kit/pace.js";
import { CLASSES } from "../../kit/text/tokens.js";
import { deceives, signs } from "./signs.js";

const LARGEST = 2 << 20; // characters of a file that is highlighted, at most

export class Painter {
  /** @type {Worker | undefined} */
  worker;

  constructor(root) {
    this.chunks = new Map();
    this.asked = new Map();
    this.spaces = false;
    this.next = 0;
    this.known = new WeakMap();
    this.near = new IntersectionObserver(
      (seen) => {
        for (const { target, isIntersecting } of seen)
          if (isIntersecting) this.approach(this.chunks.get(target));
      },
      { root, rootMargin: "800px 0px" },
    );
  }

  meet(chunk) {
    this.chunks.set(chunk.node, chunk);
    this.near.observe(chunk.node);
  }

  leave(chunk) {
    this.chunks.delete(chunk.node);
    this.near.unobserve(chunk.node);
  }

  /** Forget all files: none of them will be shown again. */
  forget() {
    this.worker?.postMessage({ forget: true });
  }

  /** Paint a chunk again after rows were added to it. */
  again(chunk) {
    this.near.unobserve(chunk.node);
    this.near.observe(chunk.node);
  }

  /** Show blanks as signs, or not. */
  show(spaces) {
    this.spaces = spaces;
    for (const chunk of this.chunks.values()) this.again(chunk);
  }

  async approach(chunk) {
    if (!chunk || (chunk.painted === chunk.codes.length && chunk.spaces === this.spaces)) return;
    chunk.painted = chunk.codes.length;
    chunk.spaces = this.spaces;
    await this.paint(chunk, chunk.tokens ?? []); // marks and blanks need no worker
    const tokens = await this.tokens(chunk);
    if (tokens && this.chunks.has(chunk.node)) await this.paint(chunk, tokens);
  }

  async paint(chunk, tokens) {
    const breathe = pace();
    for (const [n, code] of chunk.codes.entries()) {
      paintLine(code, tokens[n] ?? [], this.spaces);
      const rest = breathe();
      if (rest) await rest;
    }
  }

  /** The worker's tokens for the lines of a chunk, in the order of its codes. */
  tokens(chunk) {
    const { file, codes } = chunk;
    const size = (file.old?.length ?? 0) + (file.new?.length ?? 0);
    if (size > LARGEST || !codes.length) return null;
    this.worker ??= this.startWorker();
    if (!this.known.has(file)) {
      this.known.set(file, (this.next += 1));
      const { path, old_path: oldPath, old, new: fresh } = file;
      this.worker.postMessage({ open: this.next, path, oldPath, old, fresh });
    }
    const ask = (this.next += 1);
    const lines = codes.map(({ side, line }) => (side === "LEFT" ? -line : line));
    this.worker.postMessage({ ask, of: this.known.get(file), lines });
    return new Promise((done) => this.asked.set(ask, done));
  }

  startWorker() {
    const worker = new Worker(new URL("./highlight.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data: { ask, tokens } }) => {
      this.asked.get(ask)?.(tokens);
      this.asked.delete(ask);
    });
    return worker;
  }
}

/** tokens: [start, end, class, …] without overlaps; marks: [[start, end], …]. */
function paintLine({ cell, text, marks }, tokens, spaces) {
  const odd = deceives(text);
  if (!tokens.length && !marks?.length && !odd && !spaces) {
    if (cell.childElementCount) cell.textContent = text;
    return;
  }
  const pieces = document.createDocumentFragment();
  let token = 0;
  let mark = null;
  for (const [start, end, marked] of ranges(text.length, marks ?? [])) {
    const into = marked ? (mark = document.createElement("mark")) : pieces;
    let from = start;
    while (from < end) {
      while (token < tokens.length && tokens[token + 1] <= from) token += 3;
      const inside = token < tokens.length && tokens[token] <= from;
      const stop = inside ? tokens[token + 1] : (tokens[token] ?? end);
      const to = Math.min(end, stop);
      const name = inside ? CLASSES[tokens[token + 2]] : "";
      into.append(...tokenNodes(text.slice(from, to), name, spaces, odd));
      from = to;
    }
    if (marked) pieces.append(mark);
  }
  cell.replaceChildren(pieces);
}

function* ranges(length, marks) {
  let from = 0;
  for (const [start, end] of marks) {
    if (start > from) yield [from, start, false];
    yield [start, end, true];
    from = end;
  }
  if (from < length) yield [from, length, false];
}

function tokenNodes(text, name, spaces, odd) {
  const inner = signs(text, spaces, odd);
  if (!name) return inner;
  const span = document.createElement("span");
  span.className = name;
  span.append(...inner);
  return [span];
}
