// One app as a tile: picture, name, address, state, the last day. Each part is redrawn only when
// its data has changed, so that focus, selection and menus stay.

import { bar24, sparkline } from "../../kit/bars.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { menu } from "../../kit/menu.js";
import { emblem } from "../emblem.js";
import { route } from "../route.js";
import { latency, saying, shortly } from "../words.js";
import { ACTIONS } from "./services.js";

const OFFERED = { ...ACTIONS, claim: { label: "Claim", icon: "plus" } };
const RUNS = new Set(["up", "degraded", "down"]);

/** What tile and row have in common: the cache of drawn parts, the action, the menu, the tick. */
export class Face {
  app = null;
  drawn = new Map();
  // Each subclass makes its own.
  /** @type {HTMLElement} */
  node;
  /** @type {HTMLElement} */
  address;

  constructor(slug, hands) {
    this.slug = slug;
    this.hands = hands;
    this.over = h("a", { class: "over", tabindex: "-1" });
    this.pick = h("input", {
      type: "checkbox",
      class: "pick",
      tabindex: "-1",
      onclick: (event) => hands.pick(slug, event.shiftKey),
    });
    this.act = h("button", {
      type: "button",
      class: "btn s",
      tabindex: "-1",
      onclick: () => this.press(),
    });
    this.more = button("", { icon: "more", kind: "ghost s only more", tabindex: "-1" });
    menu(this.more, () => hands.menu(slug));
  }

  /** Redraw a part when its `value` has changed. */
  part(name, value, draw) {
    const said = JSON.stringify(value);
    if (this.drawn.get(name) === said) return;
    this.drawn.set(name, said);
    draw();
  }

  show(app) {
    this.app = app;
    const { name, hint, url, icon: sign, color } = app;
    this.part("name", [name, hint, url, sign, color], () => {
      const full = hint ? `${name}, ${hint}` : name;
      this.over.href = `${location.pathname}#app=${this.slug}`;
      this.over.title = full;
      fill(this.over, emblem(app), name, hint && [" ", h("span", { class: "hint-name" }, hint)]);
      this.pick.setAttribute("aria-label", `Select ${full}`);
      this.more.setAttribute("aria-label", `More for ${full}`);
    });
    this.part("act", [name, app.action, app.busy], () => this.action(app));
    this.part("flags", [app.picked, app.shown], () => {
      this.pick.checked = app.picked;
      this.node.classList.toggle("picked", app.picked);
      this.node.classList.toggle("on", app.shown);
    });
  }

  press() {
    if (this.app.action === "claim") this.hands.claim(this.app);
    else this.hands.act(this.app.action ?? this.app.busy, this.slug);
  }

  /** Relabel the same button for every action, so that it keeps the focus. */
  action({ name, action, busy }) {
    const { label, icon: shape, doing } = OFFERED[busy || action] ?? {};
    this.act.hidden = !label;
    if (!label) return;
    const short = !busy && action === "stop";
    this.act.classList.toggle("only", short);
    this.act.classList.toggle("ghost", short);
    this.act.setAttribute("aria-label", `${busy ? doing : label} ${name}`);
    this.act.setAttribute("aria-busy", String(Boolean(busy)));
    this.act.title = label;
    fill(this.act, icon(shape), short ? null : busy ? `${doing}…` : label);
  }

  /** Only the current app is in the tab order; arrow keys lead to the others. */
  current(on) {
    for (const node of [this.over, this.pick, this.act, this.more, this.address])
      if (node) node.tabIndex = on ? 0 : -1;
  }
}

export class Tile extends Face {
  constructor(slug, hands) {
    super(slug, hands);
    this.thumb = h("img", {
      ...{ class: "thumb", alt: "", width: "640", height: "400" },
      ...{ loading: "lazy", decoding: "async" },
    });
    this.address = h("a", {
      class: "mono quiet cut addr",
      target: "_blank",
      rel: "noopener noreferrer",
      tabindex: "-1",
    });
    this.says = h("div");
    this.signs = h("div", { class: "signs" });
    const head = h("h3", { class: "cut" }, this.over);
    this.node = h(
      "li",
      { class: "tile", dataset: { key: slug } },
      this.thumb,
      h(
        "div",
        { class: "in" },
        h("div", { class: "line" }, head, h("span", { class: "push" }, this.act)),
        this.address,
        this.says,
        this.signs,
      ),
      h("div", { class: "corner" }, this.pick, this.more),
    );
  }

  show(app) {
    super.show(app);
    this.part("thumb", [app.thumbKind, app.thumbEtag], () => {
      const etag = encodeURIComponent(app.thumbEtag);
      this.thumb.dataset.kind = app.thumbKind;
      this.thumb.src = `${route("apps", this.slug, "thumb")}?v=${etag}`;
    });
    const off = app.state === "stopped" || app.state === "unknown";
    this.node.classList.toggle("off", off);
    this.node.classList.toggle("taking", app.taking);
    this.part("address", [app.name, app.safe], () => {
      const { address } = this;
      address.hidden = !app.safe;
      if (!app.safe) return;
      address.href = app.safe;
      address.textContent = shortly(app.safe);
      address.setAttribute("aria-label", `Open ${app.name}, ${shortly(app.safe)}, in a new tab`);
    });
    this.part("says", app.says, () => fill(this.says, saying(app)));
    if (this.near) this.sign();
  }

  /** The tile came near the viewport: draw the last day too. */
  onNear() {
    this.near = true;
    this.sign();
  }

  sign() {
    const { bar24: day, recent } = this.app;
    this.part("signs", [day, recent], () => fill(this.signs, bar24(day), trace(recent)));
  }
}

/** The sparkline of the last checks; those of an app that starts or is stopped are gaps. */
function trace(recent) {
  const kinds = recent.map(kindOf);
  const places = (kind) => [...kinds.keys()].filter((n) => kinds[n] === kind);
  const values = recent.map(({ ms }, n) => (kinds[n] ? ms : null));
  const known = kinds.filter(Boolean).length;
  return known > 1 && sparkline(values, { failures: places("failed"), poor: places("poor") });
}

/** The kind of a check: "good", "poor" for a bad answer, "failed" for none, "" if meaningless. */
function kindOf({ ok, ms, state }) {
  if (ok) return "good";
  if (!RUNS.has(state)) return "";
  return state === "degraded" || (state === "up" && ms !== null) ? "poor" : "failed";
}

/** The latency of the last probe; "" unless the app is up and the probe succeeded. */
export const quick = ({ state, last }) => (state === "up" && last?.ok ? latency(last.ms) : "");
