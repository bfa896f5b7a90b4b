// The drawer: one app, or one file, beside the grid. It has an address (#app=shop&tab=logs), so
// that reload, Back and a link lead to it.

import { get } from "../../kit/api.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { key, typesInto } from "../../kit/keys.js";
import { problem } from "../../kit/parts.js";
import { late } from "../../kit/skeleton.js";
import { emblem } from "../emblem.js";
import { route } from "../route.js";
import { safe } from "../words.js";
import { Config } from "./config.js";
import { FileView } from "./file.js";
import { Head } from "./head.js";
import { History } from "./history.js";
import { Logs } from "./logs.js";
import { Overview } from "./overview.js";

const TABS = { Overview, History, Logs, Config };
const NAMES = Object.keys(TABS);
const COVERS = matchMedia("(max-width: 720px)"); // the drawer then covers the page
const aside = document.getElementById("drawer");
const under = document.querySelectorAll(".rail, .topbar, #main");
const watchers = new Set();

let shown = null; // the AppView or FileView
let opener = null;

/** @typedef {{lines?: string[], why?: string}} Log */

/**
 * Open an app at a tab. `lines`: the log lines that an action returned; `why`: its reason.
 * @param {string} slug
 * @param {string} [tab]
 * @param {Log} [log]
 */
export function open(slug, tab = "Overview", { lines, why } = {}) {
  const name = NAMES.find((one) => one.toLowerCase() === tab.toLowerCase()) ?? "Overview";
  go(`#${new URLSearchParams({ app: slug, tab: name.toLowerCase() })}`, slug === current());
  show({ app: slug, tab: name }, { lines, why });
}

/** Open the editor of a file: kind "apps", "bookmarks", "ignore" or "config". */
export function edit(kind, name = kind) {
  if (kind === "apps") {
    open(name, "Config");
    return;
  }
  const file = kind === "bookmarks" ? `${kind}/${name}` : kind;
  go(`#${new URLSearchParams({ file })}`);
  show({ file });
}

export function close() {
  if (!shown) return;
  go("");
  show({});
}

/** The slug of the app that is shown, "" for none. */
export const current = () => shown?.slug ?? "";

/** An app changed: draw what the drawer shows of it. */
export function refresh(app) {
  if (shown?.slug === app.slug) shown.update(app);
}

/** An event of the stream came: a file that is open here may have changed. */
export const hearEvent = ({ type }) => shown?.hearEvent(type);

/** Call `told(slug)` whenever the drawer changes to another app, or to none. */
export const onMove = (told) => watchers.add(told);

/** Set the address. `instead`: replace the current one, so that Back does not lead to it. */
function go(hash, instead = false) {
  const address = location.pathname + location.search + hash;
  if (location.hash === hash) return;
  if (instead) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}

function parseHash() {
  const { app, tab = "", file } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return { app, tab: NAMES.find((one) => one.toLowerCase() === tab) ?? "Overview", file };
}

/**
 * @param {{app?: string, tab?: string, file?: string}} place
 * @param {Log} [options]
 */
function show({ app, tab, file }, options = {}) {
  const before = current();
  if (app && app === before) {
    shown.choose(tab, options);
    shown.focus();
    return;
  }
  const had = shown !== null;
  if (!had) opener = document.activeElement;
  shown?.end();
  shown = app ? new AppView(app, tab, options) : file ? new FileView(file, close) : null;
  aside.hidden = shown === null;
  fill(aside, shown ? [shown.node] : []);
  aside.setAttribute("aria-label", shown?.label ?? "Details");
  cover();
  if (shown) shown.focus();
  else if (had) giveBack();
  if (current() !== before) for (const told of watchers) told(current());
}

/** Return the focus to where it came from, or to the node that replaced it. */
function giveBack() {
  const again = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
  const place = again && again !== document.body ? again : document.getElementById("main");
  place.focus({ preventScroll: true });
  opener = null;
}

function cover() {
  for (const node of under) node.inert = shown !== null && COVERS.matches;
}

class AppView {
  app = null;
  entitled = ""; // what the title was drawn from
  tab = null;
  tabs = new Map();
  ended = false;

  constructor(slug, tab, options) {
    this.slug = slug;
    this.label = slug;
    this.title = h("h2", { class: "big cut", tabindex: "-1" }, slug);
    this.found = h("span", { class: "badge line", hidden: true }, "Found");
    this.away = h("span", { class: "line" });
    this.head = new Head({
      failed: (app, lines, why) => open(app.slug, "Logs", { lines, why }),
      configure: () => open(slug, "Config"),
    });
    this.list = h(
      "div",
      {
        class: "tabs",
        role: "tablist",
        "aria-label": "About this app",
        onkeydown: (event) => this.onKey(event),
      },
      NAMES.map((name) => this.tabOf(name)),
    );
    this.panel = h("div", { class: "panel", role: "tabpanel", id: "drawer-panel" });
    this.node = h(
      "div",
      { class: "appview" },
      h(
        "header",
        {},
        h(
          "div",
          { class: "line" },
          this.title,
          this.found,
          h("span", { class: "line push" }, this.away, closer(close)),
        ),
        this.head.node,
      ),
      this.list,
      this.panel,
    );
    this.choose(tab, options);
    this.load();
  }

  tabOf(name) {
    return h(
      "button",
      {
        type: "button",
        class: "tab",
        role: "tab",
        id: `drawer-${name.toLowerCase()}`,
        "aria-controls": "drawer-panel",
        onclick: () => open(this.slug, name),
      },
      name,
    );
  }

  async load() {
    const stop = late(this.panel, "text");
    try {
      const app = await get(route("apps", this.slug));
      if (!this.ended) this.update(app);
    } catch (error) {
      const again = button("Try again", { kind: "s", onclick: () => this.load() });
      const words =
        error.status === 404 ? `There is no app "${this.slug}" any more.` : error.message;
      if (!this.app)
        fill(
          this.panel,
          h(
            "div",
            { class: "facets stack" },
            problem(words),
            error.status !== 404 && h("div", {}, again),
          ),
        );
    }
    stop();
  }

  update(app) {
    this.app = { ...app, config: app.config ?? this.app?.config ?? null };
    this.label = app.name;
    aside.setAttribute("aria-label", app.name);
    const entitled = JSON.stringify([app.icon, app.color, app.name]);
    if (this.entitled !== entitled) fill(this.title, emblem(app), app.name);
    this.entitled = entitled;
    this.found.hidden = app.source === "declared";
    this.reach(safe(app.urls?.fronted ?? app.url));
    this.head.update(this.app);
    for (const tab of this.tabs.values()) tab.update(this.app);
    if (!this.tabs.has(this.tab)) this.fillPanel();
  }

  reach(url) {
    if (this.url === url) return;
    this.url = url;
    const label = `Open ${this.app.name} in a new tab`;
    const link = {
      class: "btn ghost only",
      href: url,
      target: "_blank",
      rel: "noopener noreferrer",
    };
    fill(this.away, url && h("a", { ...link, "aria-label": label }, icon("out")));
  }

  hearEvent() {} // apps are refreshed through update()

  choose(name, options) {
    this.options = options;
    if (this.tab !== name) this.tabs.get(this.tab)?.hide();
    this.tab = name;
    for (const tab of this.list.children) {
      const on = tab.textContent === name;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `drawer-${name.toLowerCase()}`);
    if (this.app) this.fillPanel();
  }

  fillPanel() {
    const again = this.tabs.get(this.tab);
    const tab = again ?? new TABS[this.tab](this.app, this.means());
    this.tabs.set(this.tab, tab);
    if (this.panel.firstElementChild !== tab.node) fill(this.panel, tab.node);
    tab.show(this.options);
    this.options = {};
  }

  means() {
    return { configure: () => open(this.slug, "Config"), changed: (app) => this.update(app) };
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(step);
  }

  step(by) {
    const at = (NAMES.indexOf(this.tab) + by + NAMES.length) % NAMES.length;
    open(this.slug, NAMES[at]);
  }

  /** Focus the chosen tab. `out`: also when the focus is inside the panel. */
  focus(out = false) {
    const active = document.activeElement;
    if (!out && aside.contains(active) && !this.list.contains(active)) return;
    this.list.querySelector("[aria-selected=true]").focus({ preventScroll: true });
  }

  end() {
    this.ended = true;
    for (const tab of this.tabs.values()) tab.end();
  }
}

const closer = (act) =>
  button("", { icon: "x", kind: "ghost only", "aria-label": "Close", onclick: act });

const inApp = { group: "Drawer", when: () => current() !== "" };
key("[", "Tab before", () => shown.step(-1), inApp);
key("]", "Tab after", () => shown.step(1), inApp);
key("Escape", "Leave the field, then close the drawer", escape, {
  group: "Drawer",
  when: () => shown !== null,
  typing: true,
});

function escape() {
  const field = document.activeElement;
  if (aside.contains(field) && typesInto(field)) shown.focus(true);
  else close();
}

COVERS.addEventListener("change", cover);
addEventListener("popstate", () => {
  const place = parseHash();
  if (place.app || place.file || !location.hash) show(place); // not the hash of "Skip to content"
});
show(parseHash());
