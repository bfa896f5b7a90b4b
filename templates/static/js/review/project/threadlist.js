// The open threads of a project, each with a link to its place; all can be copied as Markdown.

import { button, fill, h, keep } from "../../kit/dom.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { calm } from "../live.js";
import { pageOf, route } from "../route.js";
import { WORKTREE } from "../state.js";
import { following } from "../threads/order.js";
import { address, beginning, initials, isAgent } from "../threads/words.js";
import { readButton } from "./warnings.js";

const FIRST = 30; // rows until the user wants all

/**
 * The card. `show(found)` brings it up to date; `jump(by)` and `nextOutdated()` move the focus.
 * `reload()` is called when all threads are wanted and not only the first ones: see `limit`.
 */
export class ThreadList {
  constructor(project, reload) {
    this.project = project;
    this.reload = reload;
    this.limit = FIRST;
    this.rest = button("", {
      kind: "ghost s",
      onclick: (event) => attempt(event, () => this.showAll()),
    });
    this.count = h("span", { class: "badge warn", hidden: true });
    this.copy = h(
      "button",
      { type: "button", class: "push tiny link", onclick: (event) => this.copyAll(event) },
      "Copy as Markdown",
    );
    this.behind = h("div", { class: "nothing", hidden: true }, this.rest);
    this.rows = h("ul", { class: "rows long" });
    this.none = h(
      "p",
      { class: "nothing soft" },
      "No open thread. What is asked on a commit would be listed here.",
    );
    this.unplaced = h("div");
    this.node = h(
      "section",
      { class: "card", id: "threads", "aria-label": "Open threads", tabindex: "-1" },
      h("header", {}, h("h2", {}, "Open threads"), this.count, this.copy),
      this.rows,
      this.behind,
      this.unplaced,
      this.none,
    );
    this.update = calm(
      this.rows,
      (one) => `${one.repo} ${one.id}`,
      (one) => row(project, one),
    );
  }

  show({ threads, more, orphaned }) {
    const hidden = orphaned.filter(
      ({ reason, unresolved, drafts }) => reason && unresolved + drafts.length,
    );
    const count = hidden.reduce((sum, one) => sum + one.unresolved, threads.length + more);
    this.copy.hidden = !threads.length;
    this.threads = threads;
    this.count.hidden = !count;
    this.none.hidden = count > 0 || hidden.length > 0;
    fill(this.count, String(count));
    this.behind.hidden = !more;
    this.rest.textContent = `Show ${plural(more, "more thread")}`;
    this.update(threads);
    keep(
      this.unplaced,
      byRepo(hidden),
      ({ repo }) => repo,
      (one) => unplacedThreads(this.project, one),
    );
  }

  /** Load the threads that were left out. */
  all() {
    this.limit = 0;
    return this.reload();
  }

  /** Load them, and focus the first one that is new in the list. */
  async showAll() {
    const at = this.links().length;
    await this.all();
    this.links()[at]?.focus();
  }

  links(all = "a.over") {
    return [...this.rows.querySelectorAll(all)];
  }

  jump(by) {
    const links = this.links();
    const at = links.indexOf(document.activeElement);
    links.at(at < 0 ? (by > 0 ? 0 : -1) : (at + by + links.length) % links.length)?.focus();
  }

  nextOutdated() {
    const links = this.links(".outdated a.over");
    links[(links.indexOf(document.activeElement) + 1) % links.length]?.focus();
    if (!links.length) this.node.focus();
  }

  /** The thread of the row that has the focus. */
  focusedThread() {
    const link = /** @type {HTMLAnchorElement | null} */ (document.activeElement);
    const id = this.rows.contains(link) && link?.hash?.replace("#thread-", "");
    return this.threads?.find((one) => one.id === id) ?? null;
  }

  /** Focus the next row whose thread was answered, loading all threads if none is in the list. */
  async nextAnswered() {
    const answeredCount = () => this.links(".answered a.over").length;
    if (!this.behind.hidden && !answeredCount()) await this.all();
    const next = following(this.links(), document.activeElement, (link) =>
      link.closest(".answered"),
    );
    if (next) next.focus();
    else toast("No thread is answered yet.");
  }

  copyAll(event) {
    return attempt(event, async () => {
      const answer = await fetch(`${route("projects", this.project, "threads.md")}?unresolved=1`);
      if (!answer.ok) throw new Error((await answer.json()).error);
      await copy(await answer.text(), "The open threads are copied");
    });
  }
}

function byRepo(orphaned) {
  const names = [...new Set(orphaned.map(({ repo }) => repo))];
  return names.map((repo) => ({ repo, orphaned: orphaned.filter((one) => one.repo === repo) }));
}

/** The threads of a repository that cannot be read: how many, why, and their texts. */
function unplacedThreads(project, { repo, orphaned }) {
  const sum = (of) => orphaned.reduce((all, one) => all + of(one), 0);
  const open = sum(({ unresolved }) => unresolved);
  const drafts = sum((one) => one.drafts.length);
  const held = [open > 0 && plural(open, "open thread"), drafts > 0 && plural(drafts, "draft")];
  const what = held.filter(Boolean).join(" and ");
  return h(
    "div",
    { class: "nothing soft stack" },
    h("p", {}, `${what} of ${repo} cannot be placed. `, orphaned[0].reason),
    h("p", {}, readButton({ project, orphaned }, `Threads of ${repo}`)),
  );
}

function row(project, one) {
  const [first] = one.comments;
  const author = first.author_name ?? "unknown";
  const moved = one.state !== "open" && one.state;
  const on = one.sha === WORKTREE ? "on what is not committed" : one.short;
  const place = [moved, on, one.outdated && "outdated", address(one)].filter(Boolean).join(" · ");
  return h(
    "li",
    { class: [one.outdated && "outdated", moved].filter(Boolean).join(" ") },
    h(
      "div",
      { class: "row" },
      h(
        "span",
        { class: isAgent(first.author) ? "face agent" : "face", title: author },
        h("span", { "aria-hidden": "true" }, initials(author)),
      ),
      h(
        "div",
        {},
        h(
          "a",
          { class: "over cut", href: `${pageOf(project, one.repo, one.sha)}#thread-${one.id}` },
          beginning(plain(first.body)),
        ),
        h("span", { class: "tiny quiet cut", title: place }, place),
        h("span", { class: "sr" }, `by ${author}`),
      ),
    ),
  );
}

/** Markdown as plain text for one line. */
const plain = (text) =>
  text
    .replace(/^\s*(```|~~~).*$/gm, "")
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[>#\s]+/gm, "")
    .replace(/[*`]/g, "") || "An image";
