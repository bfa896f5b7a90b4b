// The commands of the whole page: its keys, its menus, its entries in the palette.

import { post } from "../kit/api.js";
import { key } from "../kit/keys.js";
import { action } from "../kit/palette.js";
import { attempt, toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import * as drawer from "./drawer/drawer.js";
import { newApp } from "./forms/app.js";
import { newBookmark, newGroup } from "./forms/bookmark.js";
import { each, editAll, report } from "./forms/bulk.js";
import { unable } from "./grid/services.js";
import { showRemovedItems } from "./removed.js";
import { route } from "./route.js";

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];
const DONE = { start: "Started", stop: "Stopped", restart: "Restarted" };
const main = document.getElementById("main");
const aside = document.getElementById("drawer");

export class Commands {
  home = "";

  /** `parts`: board, head, grid, selection, services, pictures, observed, bookmarks, hands. */
  constructor(parts) {
    this.parts = parts;
    this.scan = (event) => attempt(event, () => this.look());
    this.add = () => newApp({ groups: this.groups(), made: (app) => parts.hands.take(app) });
    this.link = () => newBookmark(parts.bookmarks.groups);
    this.every = () => parts.pictures.take(parts.board.state.apps);
    this.gone = () => attempt(null, () => showRemovedItems({ home: this.home }));
    this.other = () => parts.head.choose(parts.head.look === "list" ? "tiles" : "list");
  }

  async look() {
    const { observed, added, gone } = await post(route("scan"));
    toast(`${plural(observed, "listener")}, ${added.length} new, ${gone.length} gone.`);
    this.parts.board.want("observed");
  }

  /** The names of the existing groups of apps. */
  groups() {
    return [...new Set(this.parts.board.state.apps.flatMap(({ group }) => group ?? []))];
  }

  apps(slugs) {
    return [...slugs].map((slug) => this.parts.board.find(slug));
  }

  /** The menu of the page. */
  more() {
    return [
      { label: "Scan now", icon: "scan", act: this.scan },
      { label: "New pictures of all", icon: "restart", act: this.every },
      { label: "Removed items", icon: "trash", act: this.gone },
      "-",
      { label: "Edit ignore.yaml", icon: "pencil", act: () => drawer.edit("ignore") },
      { label: "Settings in config.yaml", icon: "file", act: () => drawer.edit("config") },
      "-",
      { label: "Guide for agents", icon: "file", act: () => location.assign("agent-guide.md") },
    ];
  }

  newItems() {
    return [
      { label: "New app", icon: "apps", key: "n", act: this.add },
      { label: "New bookmark", icon: "out", act: this.link },
      { label: "New group of bookmarks", icon: "folder", act: newGroup },
    ];
  }

  /** The actions of the selection bar. */
  many() {
    const all = (name) => (slugs) => this.all(name, slugs);
    return [
      { label: "Start", icon: "play", act: all("start") },
      { label: "Stop", icon: "stop", act: all("stop") },
      { label: "Restart", icon: "restart", act: all("restart") },
      { label: "Change", icon: "pencil", act: () => this.change() },
      { label: "New pictures", icon: "scan", act: (slugs) => this.parts.hands.picture(slugs) },
    ];
  }

  all(name, slugs) {
    const apps = this.apps(slugs);
    if (name === "stop") this.parts.services.stop(apps, () => this.act(name, apps));
    else this.act(name, apps);
  }

  async act(name, apps) {
    const { services } = this.parts;
    const results = await each(apps, async (app) => {
      const why = unable(name, app) || (await services.act(name, app, { quiet: true }));
      if (why) throw new Error(why);
    });
    report(DONE[name], results);
  }

  change() {
    editAll(this.apps(this.parts.selection.slugs), this.groups());
  }

  /** Esc: clear the selection, else the filter; false when there is neither. */
  back() {
    const { selection, head } = this.parts;
    if (aside.contains(document.activeElement)) return false;
    if (!selection.size) return head.clear();
    selection.clear();
    return true;
  }

  /** The handler of a key that acts on one app: the focused one, else the one in the drawer. */
  about(act) {
    return () => {
      const slug = this.parts.grid.focusedSlug() || drawer.current();
      if (!slug) return false;
      act(slug);
      return true;
    };
  }

  toggle(slug) {
    const app = this.parts.board.find(slug);
    this.parts.hands.act(app.service && unable("start", app) ? "stop" : "start", slug);
  }

  step({ key: name }) {
    const { grid } = this.parts;
    const here = grid.focusedSlug() || [document.body, main].includes(document.activeElement);
    return Boolean(here) && grid.step(name);
  }

  keys() {
    const { parts } = this;
    const { hands } = parts;
    return [
      ["/", "Filter", () => parts.head.input.select()],
      [ARROWS, "Move among the apps", (event) => this.step(event)],
      ["Enter", "Open the app", undefined],
      ["d", "Details in the drawer", this.about((slug) => hands.open(slug))],
      ["l", "Logs", this.about((slug) => hands.open(slug, "Logs"))],
      ["s", "Start or stop", this.about((slug) => this.toggle(slug))],
      ["r", "Restart", this.about((slug) => hands.act("restart", slug))],
      ["x", "Select", this.about((slug) => hands.pick(slug, false))],
      ["X", "Select up to here", this.about((slug) => hands.pick(slug, true))],
      ["c", "Change what is selected", () => parts.selection.size > 0 && this.change()],
      ["o", "Observed: what listens without a file", () => parts.observed.focus()],
      ["n", "New app", this.add],
      ["v", "Tiles or list", this.other],
      ["Escape", "Select none, show all", () => this.back()],
    ];
  }

  register() {
    const keys = this.keys();
    this.letters = new Set(keys.flatMap(([names]) => names));
    for (const [names, meaning, act] of /** @type {[any, any, any][]} */ (keys))
      key(names, meaning, act);
    action("New app", this.add, { icon: "plus", key: "n" });
    action("New bookmark", this.link, { icon: "plus" });
    action("New group of bookmarks", newGroup, { icon: "folder" });
    action("Scan now", this.scan, { icon: "scan" });
    action("New pictures of all apps", this.every, { icon: "restart" });
    action("Show as tiles or as a list", this.other, { icon: "menu", key: "v" });
    action("Removed items", this.gone, { icon: "trash" });
    action("Settings in config.yaml", () => drawer.edit("config"), { icon: "file" });
    action("Edit ignore.yaml", () => drawer.edit("ignore"), { icon: "pencil" });
  }
}
