// The transcript: one block per turn, in file order. Each line is drawn once, even after
// reconnections; older turns are loaded while the user scrolls up.

import { button, fill, h } from "../../kit/dom.js";
import { frame, pace } from "../../kit/pace.js";
import { attempt } from "../../kit/toast.js";
import { Turn } from "./turn.js";

const PAGE = 100; // messages

export class Transcript {
  turns = new Map();
  seen = new Set();
  next = null;
  loading = null;
  last = null;

  /** `acts`: the actions of the turns, and `page({before, limit})`, which reads messages. */
  constructor(lines, acts) {
    this.lines = lines;
    this.acts = acts;
    this.top = h("div", { class: "earlier" });
    lines.append(this.top);
    this.scroller = lines.parentElement;
    const options = { root: this.scroller, rootMargin: "800px 0px 0px" };
    this.watch = new IntersectionObserver(
      (seen) => seen.at(-1).isIntersecting && this.more(),
      options,
    );
  }

  /**
   * Request the newest messages at once, and draw them when `ready` resolves. Returns the offset
   * after which the stream continues.
   */
  async open(ready) {
    const [page] = await Promise.all([this.acts.page({ limit: PAGE }), ready]);
    await this.draw(page);
    this.watch.observe(this.top);
    return Math.max(0, ...this.seen);
  }

  /** Load the page before the messages shown. */
  more(limit = PAGE) {
    if (this.next === null) return undefined;
    this.loading ??= this.load(limit).finally(() => (this.loading = null));
    return this.loading;
  }

  /**
   * Load and draw an older page. The text being read stays in place, since scrolling is counted
   * from the end; the browser's scroll anchoring is off, because it fails if its anchor is a turn
   * that is redrawn with its beginning.
   */
  async load(limit) {
    this.watch.unobserve(this.top);
    const page = await this.acts.page({ before: this.next, limit });
    this.scroller.style.overflowAnchor = "none";
    await this.draw(page);
    const laidOut = () => (this.scroller.style.overflowAnchor = "");
    requestAnimationFrame(() => requestAnimationFrame(laidOut));
    this.watch.observe(this.top);
  }

  /** Load older pages until the message at `offset` is shown; returns its node, or null. */
  async reach(offset) {
    while (this.next !== null && this.next > offset) await this.more(500);
    return this.lines.querySelector(`[data-at="${offset}"]`);
  }

  async draw({ messages, turns = [], next }) {
    const all = [...messages, ...turns].sort((one, other) => one.offset - other.offset);
    const fresh = all.filter((line) => !this.seen.has(line.offset));
    const groups = new Map();
    for (const line of fresh) {
      this.seen.add(line.offset);
      groups.set(line.turnId, [...(groups.get(line.turnId) ?? []), line]);
    }
    this.next = next;
    const breathe = pace({ early: false }); // older turns are added above
    let full = this.full();
    for (const [id, lines] of [...groups].reverse()) {
      this.before(id, lines);
      const filled = !full && (full = this.full());
      const rest = filled ? frame() : breathe(); // turns above the window move nothing in it
      if (rest) await rest;
    }
    this.sort();
    this.head();
  }

  /** Whether the turns are higher than the window. */
  full() {
    return this.scroller.scrollHeight > this.scroller.clientHeight;
  }

  /** Add an older turn, or the beginning of a turn whose end is already shown. */
  before(id, lines) {
    const shown = this.turns.get(id);
    const turn = new Turn(id, this.acts);
    for (const line of [...lines, ...(shown?.lines ?? [])]) turn.add(line);
    this.turns.set(id, turn);
    if (!shown) {
      this.top.after(turn.node);
      return;
    }
    for (const node of shown.node.querySelectorAll("details[open]"))
      turn.node.querySelector(`details[data-at="${node.dataset.at}"]`)?.setAttribute("open", "");
    if (shown.text && shown.writing) turn.live(shown.text);
    if (shown.pondering) turn.think(shown.pondering.text);
    if (shown.busy) turn.showRunning(shown.busy.running);
    shown.node.replaceWith(turn.node);
  }

  /** Sort the map of turns in the order of the page. */
  sort() {
    const order = [...this.lines.children].map((node) => node.dataset.turn);
    this.turns = new Map(
      [...this.turns].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other)),
    );
    this.markLast();
  }

  markLast() {
    const last = [...this.turns.values()].at(-1);
    if (last === this.last) return;
    this.last?.setLast(false);
    this.last = last;
    last?.setLast(true);
  }

  head() {
    const act = (event) => attempt(event, () => this.more());
    const older = button("Show earlier messages", { kind: "ghost", onclick: act });
    const begin = h("p", { class: "tiny quiet" }, "The beginning of this chat");
    fill(this.top, this.next === null ? this.turns.size > 0 && begin : older);
  }

  clear() {
    for (const turn of this.turns.values()) turn.node.remove();
    this.turns.clear();
    this.seen.clear();
    this.next = null;
    this.last = null;
    this.head();
  }

  turn(id) {
    if (!this.turns.has(id)) {
      const turn = new Turn(id, this.acts);
      this.turns.set(id, turn);
      this.lines.append(turn.node);
      this.markLast();
    }
    return this.turns.get(id);
  }

  line(data) {
    if (this.seen.has(data.offset)) return;
    this.seen.add(data.offset);
    this.turn(data.turnId).add(data);
  }

  /** The stream begins again, and sends all unfinished text once more. */
  restart() {
    for (const turn of this.turns.values()) turn.again = turn.fresh = true;
  }

  delta({ turnId, text, again }) {
    this.turn(turnId).live(text, again);
  }

  thinking({ turnId, text, again }) {
    this.turn(turnId).think(text, again);
  }

  /** Show the running tool calls, which belong to at most one turn. */
  calls({ turnId, calls }) {
    for (const [id, shown] of this.turns) if (id !== turnId) shown.showRunning([]);
    if (turnId) this.turn(turnId).showRunning(calls);
  }

  running(turn) {
    for (const [id, shown] of this.turns) if (shown.open && id !== turn?.id) shown.settle();
  }

  /** Redraw the edits of the turns, which were read again. */
  drawEdits() {
    for (const turn of this.turns.values()) turn.drawEdits();
  }

  /** The last to-do list of the turns shown; null if there is none. */
  todos() {
    const lists = [...this.turns.values()].map((turn) => turn.todos?.list);
    return lists.filter(Boolean).at(-1) ?? null;
  }

  /** The files that successful calls of the turns shown wrote: path → {added, removed}. */
  changes() {
    const files = new Map();
    for (const turn of this.turns.values())
      for (const { path, added, removed } of turn.changes) {
        const sum = files.get(path) ?? { added: 0, removed: 0 };
        files.set(path, { added: sum.added + added, removed: sum.removed + removed });
      }
    return files;
  }
}
