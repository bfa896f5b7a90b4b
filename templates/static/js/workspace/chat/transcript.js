// The transcript: one block per turn, in file order. Each line is drawn once, whatever reconnects;
// older turns come while one scrolls up.

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

  /** `acts`: what the turns can ask for, and `page({before, limit})` of messages. */
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
   * Draw the newest messages, which are asked for at once, when `ready` is: returns the offset the
   * stream goes on behind.
   */
  async open(ready) {
    const [page] = await Promise.all([this.acts.page({ limit: PAGE }), ready]);
    await this.draw(page);
    this.watch.observe(this.top);
    return Math.max(0, ...this.seen);
  }

  /** The page before what is shown. */
  more(limit = PAGE) {
    if (this.next === null) return undefined;
    this.loading ??= this.load(limit).finally(() => (this.loading = null));
    return this.loading;
  }

  /**
   * What is read stands still by itself, for it is counted from the end: a browser that held on to
   * a turn which is drawn anew, for its beginning came, would go elsewhere.
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

  /** Show older pages until the message at `offset` is there; its node, if there is one. */
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
    const breathe = pace({ early: false }); // older turns come above
    let full = this.full();
    for (const [id, lines] of [...groups].reverse()) {
      this.before(id, lines);
      const filled = !full && (full = this.full());
      const rest = filled ? frame() : breathe(); // what is above the window moves nothing in it
      if (rest) await rest;
    }
    this.sort();
    this.head();
  }

  /** Whether the turns reach beyond the window. */
  full() {
    return this.scroller.scrollHeight > this.scroller.clientHeight;
  }

  /** A turn, or the beginning of one of which the end is shown already. */
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
    if (shown.busy) turn.run(shown.busy.running);
    shown.node.replaceWith(turn.node);
  }

  /** The map in the order of the page, so that the last turn is the last one. */
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

  /** The stream begins again: with all that is still being written. */
  restart() {
    for (const turn of this.turns.values()) turn.again = turn.fresh = true;
  }

  delta({ turnId, text, again }) {
    this.turn(turnId).live(text, again);
  }

  thinking({ turnId, text, again }) {
    this.turn(turnId).think(text, again);
  }

  /** The tool calls that run now: of at most one turn. */
  calls({ turnId, calls }) {
    for (const [id, shown] of this.turns) if (id !== turnId) shown.run([]);
    if (turnId) this.turn(turnId).run(calls);
  }

  running(turn) {
    for (const [id, shown] of this.turns) if (shown.open && id !== turn?.id) shown.settle();
  }

  /** What the turns changed is known anew. */
  edited() {
    for (const turn of this.turns.values()) turn.edited();
  }

  /** Why messages are held, in words. */
  whyHeld() {
    const ended = [...this.turns.values()].reverse().find((turn) => turn.end);
    return ended?.end.state === "stopped" ? "the last turn was stopped" : "the last turn failed";
  }

  /** The to-do list that was written last, of what is shown; null without one. */
  todos() {
    const lists = [...this.turns.values()].map((turn) => turn.todos?.list);
    return lists.filter(Boolean).at(-1) ?? null;
  }

  /** The files that successful calls of what is shown wrote: path → {added, removed}. */
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
