// The rows of a diff table. A row knows its lines: row.at = {old, new, kind}, 0 for none.

import { fill, h } from "../../kit/dom.js";
import { withCommas } from "../../kit/words.js";
import { rowsOf } from "./model.js";
import { signs } from "./signs.js";
import { pairs, wordMarks } from "./words.js";

const ALONE = h(
  "tr",
  { class: "ln" },
  h("td", { class: "n" }),
  h("td", { class: "n" }),
  h("td", { class: "sign" }),
  h("td", { class: "code" }),
);
const half = () => [
  h("td", { class: "n" }),
  h("td", { class: "sign" }),
  h("td", { class: "code" }),
];
const PAIR = h("tr", { class: "ln" }, half(), half());
const SIGNS = { del: "−", add: "+", same: "" };
const LONGEST = 5000; // characters of a line that are shown at first

export const columns = (split) => (split ? 6 : 4);

/** Builds the rows of one file; `told` receives every code cell {cell, side, line, text, marks}. */
export class Rows {
  marked = new Map();

  constructor({
    old,
    fresh,
    split,
    told,
    based = /** @type {(part: any) => boolean} */ (() => false),
  }) {
    this.based = based;
    this.old = old;
    this.fresh = fresh;
    this.split = split;
    this.told = told;
  }

  *of(part) {
    const { old, oldCount, new: fresh, newCount } = part;
    const lines = (side, from, count) => side.slice(from - 1, from - 1 + count);
    const paired = part.same
      ? []
      : pairs(lines(this.old, old, oldCount), lines(this.fresh, fresh, newCount));
    const based = !part.same && this.based(part);
    for (const at of rowsOf(part, this.split, paired)) {
      const row = this.split ? this.pair(at) : this.alone(at);
      if (based) markFromBase(row);
      yield row;
    }
  }

  alone(at) {
    const row = /** @type {HTMLElement} */ (ALONE.cloneNode(true));
    const [left, right, sign, code] = row.children;
    row.at = at;
    if (at.kind !== "same") row.classList.add(at.kind);
    if (at.old) left.textContent = at.old;
    if (at.new) right.textContent = at.new;
    sign.textContent = SIGNS[at.kind];
    if (at.kind === "del") this.code(code, "LEFT", at.old, this.marks(at.twin?.old)?.[0]);
    else this.code(code, "RIGHT", at.new, this.marks(at.twin?.new)?.[1]);
    return row;
  }

  pair(at) {
    const row = /** @type {HTMLElement} */ (PAIR.cloneNode(true));
    row.at = at;
    const cells = [...row.children];
    this.side(cells.slice(0, 3), "LEFT", at, this.marks(at.twin?.old)?.[0]);
    this.side(cells.slice(3), "RIGHT", at, this.marks(at.twin?.new)?.[1]);
    return row;
  }

  side(cells, side, at, marks) {
    const line = side === "LEFT" ? at.old : at.new;
    const kind = at.kind === "same" ? "same" : side === "LEFT" ? "del" : "add";
    if (!line) {
      for (const cell of cells) cell.classList.add("none");
      return;
    }
    if (kind !== "same") for (const cell of cells) cell.classList.add(kind);
    cells[0].textContent = line;
    cells[1].textContent = SIGNS[kind];
    this.code(cells[2], side, line, marks);
  }

  code(cell, side, line, marks) {
    const text = (side === "LEFT" ? this.old : this.fresh)[line - 1] ?? "";
    cell.dataset.side = side;
    if (text.length > LONGEST) cut(cell, text);
    else {
      cell.textContent = text;
      this.told({ cell, side, line, text, marks });
    }
  }

  /** The words that differ between two lines; cached, as the rows of both need them. */
  marks(twin) {
    if (!twin) return null;
    const key = `${twin.left}:${twin.right}`;
    if (!this.marked.has(key))
      this.marked.set(key, wordMarks(this.old[twin.left - 1], this.fresh[twin.right - 1]));
    return this.marked.get(key);
  }
}

/** Mark the row of a change that came with the new base, by style and for screen readers. */
function markFromBase(row) {
  row.classList.add("from-base");
  row.title = "Came with the new base";
  row.querySelector("td.sign").append(h("span", { class: "sr" }, "from the new base"));
}

function cut(cell, text) {
  const more = h(
    "button",
    { type: "button", class: "btn s", onclick: () => fill(cell, signs(text)) },
    `Show all ${withCommas(text.length)} characters of this line`,
  );
  fill(cell, signs(text.slice(0, LONGEST / 5)), "… ", more);
}
