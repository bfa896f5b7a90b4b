// The apps on the page, as tiles by group or as one table: placed, kept in place, and navigated by
// arrow keys.

import { button, h, keep } from "../../kit/dom.js";
import { pace } from "../../kit/pace.js";
import { holdApps, placeApps } from "./arrange.js";
import { Quiet } from "./quiet.js";
import { markSortedColumn, Row, table } from "./row.js";
import { Tile } from "./tile.js";

const NEAR = "600px";

export class Grid {
  faces = new Map();
  sections = [];
  look = "";
  pass = 0;
  at = "";

  /**
   * `hands`: the callbacks of the faces of apps: open(slug), visit(slug), act(action, slug),
   * menu(slug) → items, pick(slug, range), sort(column). `still()`: whether everything must stay in
   * place; `over()` is called when nothing has to be held any more.
   */
  constructor({ hands, still, over }) {
    this.hands = hands;
    this.waiting = button("", { kind: "s waiting", onclick: () => this.release() });
    this.waiting.hidden = true;
    this.node = h("div", { class: "apps" });
    this.quiet = new Quiet(this.node, { also: still, over: () => this.waiting.hidden || over() });
    this.over = over;
    this.eye = new IntersectionObserver((seen) => this.onIntersection(seen), {
      root: document.getElementById("main"),
      rootMargin: NEAR,
    });
    this.node.addEventListener("click", (event) => this.onClick(event));
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.node.addEventListener("focusin", ({ target }) => this.point(keyOf(target)));
  }

  /** Show what waits behind the pill. */
  release() {
    this.quiet.settle();
    this.over({ atOnce: true });
  }

  /**
   * `fresh`: the sections as they should be; `views`: slug → what is shown of the app. `sort` makes
   * the grid a list. `atOnce`: the user asked for another arrangement, so nothing is held.
   */
  draw(fresh, views, { sort = null, atOnce = false } = {}) {
    const look = sort ? "list" : "tiles";
    if (look !== this.look) this.begin(look);
    let waits = { added: 0, moved: 0 };
    if (atOnce || !this.sections.length) this.sections = fresh;
    else if (!this.quiet.busy) this.sections = placeApps(this.sections, fresh, { gaps: !sort });
    else ({ sections: this.sections, ...waits } = holdApps(this.sections, fresh));
    this.tell(waits);
    const focused = document.activeElement;
    keep(
      this.node,
      this.sections.map(({ key, title }) => ({ key, title })),
      ({ key }) => key,
      ({ title }) => (sort ? table(this.hands.sort) : section(title)),
    );
    if (sort && this.sections.length) markSortedColumn(this.node, sort);
    return this.place(views, focused);
  }

  begin(look) {
    this.look = look;
    this.faces.clear();
    this.eye.disconnect();
    this.sections = [];
    this.node.replaceChildren();
  }

  tell({ added, moved }) {
    this.waiting.hidden = !added && !moved;
    const words = [added && `${added} new`, moved && `${moved} to another group`];
    this.waiting.textContent = `Show ${words.filter(Boolean).join(", ")}`;
  }

  /**
   * Place the faces in slices of a few ms, so that 500 apps never delay a key or a scroll; what is
   * already drawn stays in place. Resolves to false if a later drawing took over.
   */
  async place(views, focused) {
    const pass = ++this.pass;
    const breathe = pace();
    const wanted = new Set(this.sections.flatMap(({ slugs }) => slugs));
    for (const [slug, face] of this.faces) if (!wanted.has(slug)) this.drop(slug, face);
    for (const { key, slugs } of this.sections) {
      const slots = this.slots(key, slugs.filter(Boolean).length); // one section at a time
      let next = slots.firstElementChild;
      for (const slug of slugs) {
        const node = slug ? this.showFace(slug, views.get(slug)).node : gapAt(next);
        if (node === next) next = node.nextElementSibling;
        else put(slots, node, next);
        if (slug && next?.matches(".gap")) next = removeNode(next);
        const rest = breathe();
        if (rest) await rest;
        if (pass !== this.pass) return false;
      }
      while (next?.matches(".gap")) next = removeNode(next);
    }
    if (focused !== document.activeElement && this.node.contains(focused))
      focused.focus({ preventScroll: true });
    if (!this.faces.has(this.at)) this.point(this.order()[0] ?? "");
    return true;
  }

  slots(key, size) {
    const node = this.node.querySelector(`:scope > [data-key="${CSS.escape(key)}"]`);
    node.hidden = false;
    const count = node.querySelector(".count");
    if (count) count.textContent = String(size);
    return node.querySelector(".slots");
  }

  showFace(slug, view) {
    let face = this.faces.get(slug);
    if (!face) {
      face = new (this.look === "list" ? Row : Tile)(slug, this.hands);
      this.faces.set(slug, face);
      if (slug === this.at) face.current(true);
      if (face.onNear) this.eye.observe(face.node);
    }
    face.show(view);
    return face;
  }

  drop(slug, { node }) {
    this.faces.delete(slug);
    this.eye.unobserve(node);
    if (this.look === "list") node.remove();
    else leave(node);
  }

  onIntersection(entries) {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.eye.unobserve(target);
      this.faces.get(target.dataset.key)?.onNear();
    }
  }

  /** Slugs in the order of the page. */
  order() {
    return this.sections.flatMap(({ slugs }) => slugs).filter(Boolean);
  }

  /** The app the focus is in, "" when it is elsewhere. */
  focusedSlug() {
    const node = document.activeElement;
    return this.node.contains(node) ? keyOf(node) : "";
  }

  point(slug) {
    if (!slug || slug === this.at) return;
    this.faces.get(this.at)?.current(false);
    this.at = slug;
    this.faces.get(slug)?.current(true);
  }

  /** Focus an app; by default the one that last had the focus. */
  focus(slug = this.at) {
    const face = this.faces.get(slug) ?? this.faces.get(this.order()[0]);
    face?.over.focus({ preventScroll: true });
    face?.node.scrollIntoView({ block: "nearest" });
    return Boolean(face);
  }

  onClick(event) {
    const over = event.target.closest(".over");
    if (!over || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (event.shiftKey) this.hands.pick(keyOf(over), true);
    else this.hands.open(keyOf(over));
  }

  /** Enter on a name opens the app itself; for an app without an address, the drawer. */
  onKey(event) {
    if (event.key !== "Enter" || !event.target.matches(".over")) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (this.hands.visit(keyOf(event.target))) event.preventDefault();
  }

  /** Move by an arrow key, Home or End, as the apps are laid out; false when there are none. */
  step(key) {
    const slug = this.focusedSlug();
    if (!slug) return this.focus();
    const order = this.order();
    const at = order.indexOf(slug);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    let next = { Home: order[0], End: order.at(-1) }[key];
    if (by) next = order[at + by];
    else if (!next) next = this.beyond(slug, key === "ArrowDown" ? 1 : -1);
    return this.focus(next ?? slug);
  }

  /** The nearest app in the next line of the page, downwards (1) or upwards (-1). */
  beyond(slug, way) {
    const boxes = this.order().flatMap((one) => {
      const node = this.faces.get(one)?.node;
      return node ? [{ one, box: node.getBoundingClientRect() }] : [];
    });
    const here = boxes.find(({ one }) => one === slug).box;
    const middle = here.left + here.width / 2;
    const ahead = boxes.filter(({ box }) => (box.top - here.top) * way > 4);
    const line = Math.min(...ahead.map(({ box }) => box.top * way)) * way;
    const away = ({ box }) => Math.abs(box.left + box.width / 2 - middle);
    return ahead
      .filter(({ box }) => Math.abs(box.top - line) < 4)
      .reduce((best, one) => (best && away(best) <= away(one) ? best : one), null)?.one;
  }

  /** The slugs from one app to the other, both included, in the order of the page. */
  between(one, other) {
    const order = this.order();
    const [from, to] = [order.indexOf(one), order.indexOf(other)].toSorted((a, b) => a - b);
    return from < 0 ? [other] : order.slice(from, to + 1);
  }
}

const keyOf = (node) => node.closest("li[data-key], tr[data-key]")?.dataset.key ?? "";

function put(parent, node, before) {
  if (parent.moveBefore && node.isConnected) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
}

/** The gap node of an app that left: `node` if it is a gap, else a new one. */
const gapAt = (node) =>
  node?.matches(".gap") ? node : h("li", { class: "tile gap", inert: true });

/** Turn the tile of an app that left into an invisible gap, until another app takes the place. */
function leave(node) {
  node.className = "tile gap";
  node.inert = true;
  delete node.dataset.key;
}

function removeNode(node) {
  const next = node.nextElementSibling;
  node.remove();
  return next;
}

const section = (title) =>
  h(
    "section",
    { "aria-label": title, hidden: true },
    h("div", { class: "group" }, h("h2", {}, title), h("span", { class: "count" })),
    h("ul", { class: "tiles slots" }),
  );
