// The line of a turn that says which files it changed in the working directory, with Undo edits and
// its result. Turns that changed nothing, or whose edits are no longer kept, have no such line.

import { plusMinus } from "../../kit/bars.js";
import { get, post } from "../../kit/api.js";
import { button, h, icon } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";

const SIGNS = { added: "new", deleted: "deleted", modified: null };

/** The edits of all turns of one chat; `changed()` is called when a line must be redrawn. */
export class Edits {
  constructor(route, changed) {
    this.route = route;
    this.changed = changed;
    this.known = new Map();
    this.lines = new Map(); // turn → [the data it was drawn from, its node]
    this.told = new Map(); // turn → the files that the last undo left alone
  }

  async load() {
    const { turns } = await get(`${this.route}/edits`);
    this.known = new Map(turns.map((turn) => [turn.turnId, turn]));
    this.changed();
  }

  /** The line of a turn, the same node while its data is the same; null for none. */
  of(id) {
    const turn = this.known.get(id);
    if (!turn) return null;
    const kept = this.told.get(id) ?? [];
    const key = JSON.stringify([turn, kept]);
    if (this.lines.get(id)?.[0] !== key) this.lines.set(id, [key, this.line(turn, kept)]);
    return this.lines.get(id)[1];
  }

  line({ turnId, files, undone }, kept) {
    const svg = icon("right");
    svg.classList.add("turn");
    const many = plural(files, "file");
    const words = undone ? `Edits undone, ${many}` : `${many} changed`;
    const list = h("details", {}, h("summary", {}, svg, h("span", {}, words)));
    const show = () => attempt(null, async () => list.append(await this.files(turnId)));
    list.addEventListener("toggle", show, { once: true });
    const way = undone ? "redo" : "undo";
    return h(
      "div",
      { class: "turn-edits" },
      list,
      button(undone ? "Redo edits" : "Undo edits", {
        icon: "restart",
        kind: "ghost s",
        onclick: (event) => attempt(event, () => this.turn(turnId, way)),
      }),
      kept.length > 0 && drawKept(kept),
    );
  }

  async files(id) {
    const { files } = await get(`${this.route}/turns/${id}/edits`);
    return h("ul", {}, files.map(drawFile));
  }

  /** Undo or redo the edits; the toast offers the opposite. */
  async turn(id, way) {
    const { restored, kept } = await post(`${this.route}/turns/${id}/${way}`);
    this.told.set(id, kept);
    await this.load();
    const back = way === "undo" ? "redo" : "undo";
    const act = () => attempt(null, () => this.turn(id, back));
    toast(resultWords(way, restored, kept), restored.length ? { action: "Undo", act } : {});
  }
}

/** "3 files are as before the turn. 1 file is left alone." */
function resultWords(way, restored, kept) {
  const as = way === "undo" ? "as before the turn" : "as the turn left them";
  const many = (list) => `${plural(list.length, "file")} ${list.length === 1 ? "is" : "are"}`;
  return [
    restored.length || !kept.length ? `${many(restored)} ${as}.` : "",
    kept.length ? `${many(kept)} left alone.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

const drawFile = ({ path, change, added, removed, kept }) =>
  h(
    "li",
    {},
    h("span", { class: "mono cut", title: path }, path),
    SIGNS[change] && h("span", { class: "tiny quiet" }, SIGNS[change]),
    added !== null && plusMinus(added, removed, { bar: false }),
    kept && h("span", { class: "tiny quiet" }, `not its own: ${kept}`),
  );

const drawKept = (kept) =>
  h(
    "ul",
    { class: "says warn", "aria-label": "Files left alone" },
    kept.map(({ path, reason }) =>
      h(
        "li",
        {},
        h("span", { class: "mono cut", title: path }, path),
        h("span", { class: "tiny" }, `left alone: ${reason}`),
      ),
    ),
  );
