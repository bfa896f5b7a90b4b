// The diff of one file on the page: hunks, made of chunks of rows, with folded lines between them.
//
// A chunk is its own table, so that the browser lays out and paints only visible chunks.

import { button, fill, h } from "../../kit/dom.js";
import { pace } from "../../kit/pace.js";
import { withCommas, plural } from "../../kit/words.js";
import {
  CONTEXT,
  extent,
  fromBase,
  hunksOf,
  linesOf,
  section,
  slice,
  STEP,
  withoutBlanks,
} from "./model.js";
import { columns, Rows } from "./rows.js";

const CHUNK = 120; // rows of one chunk
const LINE = 20; // px of a row
const BETWEEN = 40; // folded lines that one press unfolds together
const FEW = 400; // lines at most that are put into an existing table

export class Sheet {
  /**
   * `look` = {split, quiet}; `painter` paints the code of chunks when they come near; `talk`: the
   * threads on lines, see along() of view.js.
   */
  constructor(file, look, painter, talk = null) {
    this.talk = talk;
    this.file = file;
    this.look = look;
    this.painter = painter;
    this.old = linesOf(file.old);
    this.fresh = linesOf(file.new);
    this.node = h("div", { class: look.split ? "sheet split" : "sheet" });
    this.node.style.setProperty(
      "--cols",
      String(Math.max(widest(this.old), widest(this.fresh), 20)),
    );
    this.byLine = { LEFT: new Map(), RIGHT: new Map() };
    this.slots = new Map();
    const addCode = (code) => this.chunk.codes.push(code);
    const based = fromBase(file);
    this.rows = new Rows({
      old: this.old,
      fresh: this.fresh,
      split: look.split,
      told: addCode,
      based,
    });
    this.gone = false;
  }

  /** Draw all hunks; resolves to false if the sheet was discarded in the meantime. */
  async draw() {
    const { edits } = this.file;
    const shown = this.look.quiet ? withoutBlanks(edits, this.old, this.fresh) : edits;
    this.unseen = this.look.quiet && count(edits) - count(shown);
    this.hunks = hunksOf(shown, this.file.new === null ? 0 : this.fresh.length);
    for (const [side, line] of this.talk?.lines ?? []) this.uncover(side, line);
    const breathe = pace();
    for (const hunk of this.hunks) {
      hunk.chunks = [];
      this.open(hunk);
      this.mark(hunk);
      for (const part of hunk.parts) {
        await this.fillPart(hunk, part, breathe);
        if (this.gone) return false;
      }
      for (const chunk of hunk.chunks) this.painter.again(chunk);
    }
    this.size();
    return true;
  }

  /** Discard the sheet: hide it at once, and remove its chunks in slices of time. */
  async end() {
    this.gone = true;
    this.node.hidden = true;
    const breathe = pace();
    for (const chunk of (this.hunks ?? []).flatMap(({ chunks }) => chunks ?? [])) {
      this.painter.leave(chunk);
      chunk.node.remove();
      const rest = breathe();
      if (rest) await rest;
    }
    this.node.remove();
  }

  async fillPart(hunk, part, breathe) {
    for (const row of this.rows.of(part)) {
      if (this.chunk.count >= CHUNK) this.open(hunk);
      this.put(this.chunk.body, row);
      if (row.at.old) this.talk?.put("LEFT", row.at.old);
      if (row.at.new) this.talk?.put("RIGHT", row.at.new);
      const rest = breathe();
      if (rest) await rest;
      if (this.gone) return;
    }
  }

  /** Begin a new chunk at the end of a hunk. */
  open(hunk) {
    const chunk = this.makeChunk();
    const last = hunk.chunks.at(-1) ?? this.hunks[this.hunks.indexOf(hunk) - 1]?.chunks.at(-1);
    if (last) last.node.after(chunk.node);
    else this.node.prepend(chunk.node);
    hunk.chunks.push(chunk);
    this.chunk = chunk;
  }

  makeChunk() {
    const body = h("tbody");
    const half = [h("col", { class: "cn" }), h("col", { class: "cs" }), h("col")];
    const cols = this.look.split
      ? [half, half.map((col) => col.cloneNode())]
      : [h("col", { class: "cn" }), half];
    const caption = h("caption", { class: "sr" }, `Changes in ${this.file.path}`);
    const table = h("table", { class: "diff" }, caption, h("colgroup", {}, cols), body);
    const chunk = { node: h("div", { class: "chunk" }, table), body, codes: [], count: 0 };
    chunk.file = this.file;
    this.painter.meet(chunk);
    return chunk;
  }

  put(body, row, before = null) {
    body.insertBefore(row, before);
    this.chunk.count += 1;
    if (row.at.old) this.byLine.LEFT.set(row.at.old, row);
    if (row.at.new) this.byLine.RIGHT.set(row.at.new, row);
  }

  size(hunks = this.hunks) {
    for (const { chunks } of hunks)
      for (const { node, count } of chunks)
        node.style.containIntrinsicBlockSize = `auto ${count * LINE}px`;
  }

  // -- folded lines ----------------------------------------------------------------------------

  /** Draw the row above a hunk, which shows its position and the folded lines above it. */
  mark(hunk) {
    const { gap } = hunk;
    hunk.row?.remove();
    hunk.row = null;
    if (!gap.count) return;
    const blanks = this.look.split ? ["n", "sign"] : ["n", "n", "sign"];
    const code = h(
      "td",
      { class: "code", colspan: columns(this.look.split) - blanks.length },
      h("span", { class: "where" }, this.title(hunk)),
      this.openers(hunk),
    );
    hunk.row = h(
      "tr",
      { class: "hunk" },
      blanks.map((name) => h("td", { class: name })),
      code,
    );
    hunk.chunks[0].body.prepend(hunk.row);
  }

  title({ parts }) {
    if (!parts.length) return "";
    const { old, oldCount, new: fresh, newCount } = extent(parts);
    const named = section(this.fresh.length ? this.fresh : this.old, fresh || old);
    return `@@ −${old},${oldCount} +${fresh},${newCount} @@ ${named} `;
  }

  openers(hunk) {
    const { gap } = hunk;
    const first = hunk === this.hunks[0];
    const last = !hunk.parts.length;
    const opener = (words, where, count) =>
      button(words, { kind: "ghost s", onclick: () => this.expand(hunk, where, count) });
    if (!gap.count) return [];
    if (gap.count <= (first || last ? STEP : BETWEEN)) {
      const side = first && last ? "" : first ? " above" : last ? " below" : " between";
      return [opener(`Show ${plural(gap.count, "line")}${side}`, "all", gap.count)];
    }
    return [
      !first && opener(`Show ${STEP} lines below`, "down", STEP),
      !last && opener(`Show ${STEP} lines above`, "up", STEP),
      opener(`All ${withCommas(gap.count)}`, "all", gap.count),
    ].filter(Boolean);
  }

  /** Unfold lines of a gap: next to the hunk above ("down"), to that below ("up"), or all. */
  async expand(hunk, where, wanted) {
    const { gap } = hunk;
    const held = hunk.row?.contains(document.activeElement);
    const count = Math.min(wanted, gap.count);
    const above = this.hunks[this.hunks.indexOf(hunk) - 1];
    const run = { same: true, ...gap };
    if (count > FEW) await this.spread(hunk, run);
    else if (where === "down" || (where === "all" && !hunk.parts.length && above)) {
      this.grow(above, slice(run, 0, count), false);
      [gap.old, gap.new, gap.count] = [gap.old + count, gap.new + count, gap.count - count];
    } else {
      this.grow(hunk, slice(run, gap.count - count, count), true);
      gap.count -= count;
    }
    this.mark(hunk);
    if (above) this.retitle(above);
    if (held) this.focusAfter(hunk, where === "down" ? above : hunk);
    this.size();
  }

  grow(hunk, part, top) {
    this.chunk = hunk.chunks.at(top ? 0 : -1);
    const before = top ? (hunk.row?.nextSibling ?? this.chunk.body.firstChild) : null;
    for (const row of this.rows.of(part)) this.put(this.chunk.body, row, before);
    if (top) hunk.parts.unshift(part);
    else hunk.parts.push(part);
    this.painter.again(this.chunk);
  }

  /** Draw many lines as separate chunks above the hunk, without blocking the page. */
  async spread(hunk, run) {
    const made = { gap: { ...run, count: 0 }, parts: [run], chunks: [] };
    this.hunks.splice(this.hunks.indexOf(hunk), 0, made);
    hunk.gap.count = 0;
    this.open(made);
    await this.fillPart(made, run, pace());
    for (const chunk of made.chunks) this.painter.again(chunk);
  }

  retitle(hunk) {
    const where = hunk.row?.querySelector(".where");
    if (where) fill(where, this.title(hunk));
  }

  focusAfter(hunk, near) {
    const next = hunk.row?.querySelector("button") ?? near?.chunks[0].body.querySelector("tr.ln");
    if (next?.matches("tr")) next.tabIndex = -1;
    next?.focus({ preventScroll: true });
  }

  /** Unfold every line of the file. */
  async whole() {
    for (const hunk of [...this.hunks])
      if (hunk.gap.count) await this.expand(hunk, "all", hunk.gap.count);
  }

  /** Unfold 20 lines above and below the open lines that contain a row, by default the first. */
  async widen(row) {
    const chunk = row?.closest(".chunk");
    const holds = ({ chunks }) => chunks.some(({ node }) => node === chunk);
    const here = Math.max(0, this.hunks.findIndex(holds));
    const hasFoldedLines = ({ gap }) => gap.count > 0;
    const above = this.hunks.slice(0, here + 1).findLast(hasFoldedLines);
    const below = this.hunks.slice(here + 1).find(hasFoldedLines);
    if (below) await this.expand(below, "down", STEP);
    if (above) await this.expand(above, "up", STEP);
  }

  // -- lines -----------------------------------------------------------------------------------

  lineText(side, line) {
    return (side === "LEFT" ? this.old : this.fresh)[line - 1] ?? null;
  }

  rowOf(side, line) {
    return this.byLine[side].get(line) ?? null;
  }

  /** The row of a line, unfolded if necessary; null when the file has no such line. */
  reveal(side, line) {
    if (this.lineText(side, line) === null) return null;
    const open = this.rowOf(side, line);
    if (open) return open;
    const made = this.uncover(side, line);
    if (made) this.drawUncovered(made);
    return this.rowOf(side, line);
  }

  /** Take the lines around a folded line out of its gap, splitting the gap if necessary. */
  uncover(side, line) {
    const key = side === "LEFT" ? "old" : "new";
    const hunk = this.hunks.find(({ gap }) => line >= gap[key] && line < gap[key] + gap.count);
    if (!hunk) return null;
    const { gap } = hunk;
    const n = line - gap[key];
    const from = Math.max(0, n - CONTEXT);
    const to = Math.min(gap.count, n + CONTEXT + 1);
    const made = { gap: { ...gap, count: from }, parts: [slice(gap, from, to - from)], chunks: [] };
    this.hunks.splice(this.hunks.indexOf(hunk), 0, made);
    Object.assign(gap, { old: gap.old + to, new: gap.new + to, count: gap.count - to });
    return made;
  }

  /** Draw the lines that uncover() took out of a gap. */
  drawUncovered(made) {
    this.open(made);
    for (const row of this.rows.of(made.parts[0])) this.put(this.chunk.body, row);
    this.painter.again(this.chunk);
    this.mark(made);
    this.mark(this.hunks[this.hunks.indexOf(made) + 1]);
    this.size([made]);
  }

  /** A full-width place under a line. */
  place(side, line) {
    const row = this.reveal(side, line);
    if (!row) return null;
    if (!this.slots.has(row)) {
      const slot = h("div", { class: "slot" });
      const cell = h("td", { colspan: columns(this.look.split) }, slot);
      row.after(h("tr", { class: "talk" }, cell));
      this.slots.set(row, slot);
    }
    return this.slots.get(row);
  }
}

const WIDEST = 2000; // characters

const widest = (lines) =>
  lines.reduce((most, { length }) => Math.min(WIDEST, Math.max(most, length)), 0);

const count = (edits) => edits.reduce((sum, [, old, , fresh]) => sum + old + fresh, 0);
