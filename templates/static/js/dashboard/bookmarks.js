// Groups of links with their icons; a link shows a letter until its icon is loaded.

import { button, h, icon, keep } from "../kit/dom.js";
import { menu } from "../kit/menu.js";
import { store } from "../kit/stored.js";
import { toast } from "../kit/toast.js";
import { key } from "../kit/keys.js";
import { emblem, isEmoji } from "./emblem.js";
import { editBookmark, newBookmark, newGroup, removeBookmark } from "./forms/bookmark.js";
import { takeAway } from "./forms/text.js";
import { route } from "./route.js";
import { safe } from "./words.js";

const FOLDED = "svc.bookmarks.folded";
const showError = (error) => toast(error.message, { bad: true });

export class Bookmarks {
  groups = [];
  asked = 0;
  keys = [];

  /** `edit(kind, name)` opens the text of a file; `taken(letter)`: whether the page uses it. */
  constructor({ edit, taken }) {
    this.edit = edit;
    this.taken = taken;
    this.list = h("div", { class: "stack" });
    this.empty = h("p", { class: "tiny quiet spaced" }, "Links you open often would be here.");
    this.node = h(
      "section",
      { id: "bookmarks" },
      h(
        "div",
        { class: "group" },
        h("h2", {}, "Bookmarks"),
        button("New bookmark", {
          icon: "plus",
          kind: "s ghost push",
          onclick: () => newBookmark(this.groups),
        }),
      ),
      this.list,
      this.empty,
    );
  }

  /** Request the icons again: one that was missing may exist now. */
  again() {
    this.asked += 1;
  }

  draw(groups, fits) {
    this.groups = groups.toSorted(
      (a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || a.name.localeCompare(b.name),
    );
    const shown = this.groups.map(({ group, name, icon: sign, color, links, ...rest }) => ({
      ...{ group, name, icon: sign, color, description: rest.description },
      ...{ collapsed: rest.collapsed, asked: this.asked },
      links: links
        .map((link, at) => ({ ...link, at }))
        .filter((link) => fits({ ...link, group: name })),
      all: links.length,
    }));
    const left = shown.filter(({ links, all }) => links.length || !all);
    this.empty.hidden = left.length > 0;
    keep(
      this.list,
      left,
      ({ group }) => group,
      (one) => this.group(one),
    );
    this.register();
  }

  group(one) {
    const { group, name, description, collapsed, links } = one;
    const more = button("", {
      icon: "more",
      kind: "ghost s only",
      "aria-label": `More for ${name}`,
    });
    menu(more, () => [
      { label: "New bookmark here", icon: "plus", act: () => newBookmark(this.groups, group) },
      { label: "New group", icon: "folder", act: newGroup },
      { label: "Edit the file", icon: "pencil", act: () => this.edit("bookmarks", group) },
      "-",
      {
        label: "Remove the group",
        icon: "trash",
        act: () => takeAway("bookmarks", group, name).catch(showError),
      },
    ]);
    const summary = h(
      "summary",
      { class: "group" },
      icon("right"),
      h("h3", {}, emblem(one), name),
      h("span", { class: "count" }, String(links.length)),
      description && h("span", { class: "tiny quiet cut" }, description),
    );
    const details = h(
      "details",
      { class: "marks-group", open: foldOf(group) === undefined ? !collapsed : !foldOf(group) },
      summary,
      h(
        "ul",
        { class: "marks" },
        links.map((link) => this.mark(group, link, one.asked)),
      ),
    );
    // Not at "toggle", which comes later: a group redrawn before it would get its old state back.
    summary.addEventListener("click", () => fold(group, details.open));
    return h("div", { class: "marks-box" }, details, more);
  }

  mark(group, link, asked) {
    const { name, url, icon: sign, description, hotkey, at } = link;
    const words = [
      plate(group, { name, url, sign }, asked),
      h("span", { class: "cut small" }, name),
      hotkey && h("kbd", { class: "kbd", "aria-hidden": "true" }, hotkey),
    ];
    const href = safe(url);
    const more = button("", {
      icon: "more",
      kind: "ghost s only",
      "aria-label": `More for the bookmark ${name}`,
    });
    menu(more, () => [
      { label: "Change", icon: "pencil", act: () => editBookmark(group, at, link) },
      {
        label: "Remove",
        icon: "trash",
        act: () => removeBookmark(group, at, link).catch(showError),
      },
    ]);
    const to = {
      ...{ href, target: "_blank", rel: "noopener noreferrer", title: description || url },
      "aria-keyshortcuts": hotkey || null,
    };
    return h(
      "li",
      {},
      href ? h("a", to, words) : h("span", { class: "words", title: url }, words),
      more,
    );
  }

  /** Register the hotkeys; a key that the page itself uses takes precedence. */
  register() {
    for (const take of this.keys) take();
    this.keys = this.groups.flatMap(({ links }) =>
      links
        .filter(({ hotkey, url }) => hotkey && safe(url) && !this.taken(hotkey))
        .map(({ hotkey, name, url }) =>
          key(hotkey, name, () => open(url, "_blank", "noopener,noreferrer"), {
            group: "Bookmarks",
          }),
        ),
    );
  }
}

/** Groups folded or opened on this page, which win over what the file says. */
function folds() {
  try {
    return JSON.parse(localStorage.getItem(FOLDED)) ?? {};
  } catch {
    return {};
  }
}

const foldOf = (group) => folds()[group];

function fold(group, closed) {
  store(FOLDED, JSON.stringify({ ...folds(), [group]: closed }));
}

/** The letter, until the icon is loaded; for a link without one the service answers 204. */
function plate(group, { name, url, sign }, asked) {
  if (isEmoji(sign)) return h("span", { class: "plate", "aria-hidden": "true" }, sign);
  const letter = h("span", { class: "plate", "aria-hidden": "true" }, [...name][0]?.toUpperCase());
  if (/^https?:/i.test(url)) {
    const image = h("img", {
      alt: "",
      width: "20",
      height: "20",
      src: `${route("bookmarks", group, "icon")}?url=${encodeURIComponent(url)}&n=${asked}`,
      onload: () => letter.replaceChildren(image),
    });
  }
  return letter;
}
