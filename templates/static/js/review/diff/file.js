// One changed file on the page: its header, its notes, its diff. See view.js for what other modules
// may do with it.

import { get } from "../../kit/api.js";
import { button, fill, h, icon, visible } from "../../kit/dom.js";
import { problem } from "../../kit/parts.js";
import { showSince } from "../carried.js";
import { counts, tick, worktree } from "../state.js";
import { lacksFinalNewline } from "./model.js";
import { blanksNote, loadNote, instead, notesOf, size, unendedNote } from "./notes.js";
import { Sheet } from "./sheet.js";

const LINE = 20; // px
const AROUND = 8; // context lines of a file, estimated

/** A path with line-break opportunities after each folder. */
const breakablePath = (path) =>
  path.split(/(?<=\/)/).flatMap((part, n) => (n ? [h("wbr"), part] : [part]));

export class FileView {
  sheet = null;
  forced = false;
  drawing = null;
  near = false; // whether it is in or near the viewport
  gone = false; // removed from the page

  /** `page` = {look, painter, announceDrawn(view), comment(view), viewed(view, box)} of view.js. */
  constructor(file, page) {
    this.file = file;
    this.page = page;
    this.folded = file.viewed;
    this.top = h("div", { class: "filetop stack" });
    this.body = h("div", { class: "filebody" });
    this.element = h(
      "section",
      { class: "file", "aria-label": file.path, tabindex: "-1" },
      this.header(),
      this.top,
      this.body,
    );
    this.element.view = this;
    this.fold(this.folded);
    this.guess();
  }

  get path() {
    return this.file.path;
  }

  get oldPath() {
    return this.file.old_path;
  }

  /** Of uncommitted changes: the look at which the file was as it is drawn. */
  get look() {
    return (this.sheet?.file ?? this.file).look;
  }

  // -- header ----------------------------------------------------------------------------------

  header() {
    this.folder = button("", {
      kind: "ghost s only",
      icon: "down",
      onclick: () => (this.fold(!this.folded), this.near && this.draw()),
    });
    this.facts = h("span", { class: "line facts-of" });
    this.box = h("input", {
      type: "checkbox",
      onchange: () => this.page.viewed(this, this.box.checked),
    });
    const { path, old_path: old } = this.file;
    const name =
      old && old !== path
        ? [h("span", { class: "quiet" }, breakablePath(old)), " → ", breakablePath(path)]
        : breakablePath(path);
    const say = button("", {
      kind: "ghost s only file-say",
      icon: "say",
      "aria-label": `Comment on the file ${path}`,
      onclick: () => this.page.comment(this),
    });
    const label = h(
      "label",
      { class: "tick viewed" },
      this.box,
      tick.word,
      h("span", { class: "sr" }, ` ${path}`),
    );
    this.seen = worktree && this.seenButton();
    this.more = button("", {
      kind: "ghost s only",
      icon: "more",
      "aria-label": `More for ${path}`,
    });
    this.page.menu(this);
    const head = h(
      "header",
      {},
      this.folder,
      h(
        "div",
        { class: "named" },
        h("h2", { class: "mono cut", title: path }, h("bdi", {}, name)),
        this.facts,
      ),
      h(
        "span",
        { class: "push line" },
        worktree && this.discarding(),
        say,
        this.seen,
        label,
        this.more,
      ),
    );
    this.say();
    return head;
  }

  /** The button for the viewed mark, on the page where the box ticks the file for a commit. */
  seenButton() {
    return button("", {
      kind: "ghost s only",
      icon: "eye",
      title: "Viewed",
      "aria-label": `Viewed ${this.path}`,
      onclick: () => this.page.seen(this, !this.file.viewed),
    });
  }

  discarding() {
    return button("", {
      kind: "ghost s only file-say",
      icon: "trash",
      title: "Discard",
      "aria-label": `Discard the changes of ${this.path}`,
      onclick: () => this.page.discard(this),
    });
  }

  /** Draw what may change while the file stays the same: counts, open threads, marks. */
  say() {
    const { additions, deletions, viewed, changed_since_viewed: stale, generated } = this.file;
    const ticked = tick.of(this.file);
    const open = counts(this.path);
    const said = JSON.stringify([additions, deletions, ticked, viewed, stale, generated, open]);
    if (said === this.said) return;
    this.said = said;
    this.box.checked = ticked;
    if (this.seen) this.seen.setAttribute("aria-pressed", String(viewed));
    this.box.parentElement?.toggleAttribute("hidden", Boolean(this.file.foreign));
    fill(
      this.facts,
      additions !== null && size(additions, deletions),
      open > 0 && h("span", { class: "badge warn" }, icon("say"), `${open} open`),
      stale && this.since(),
      generated && h("span", { class: "badge phone-hide" }, "Generated"),
      this.file.base && h("span", { class: "badge" }, "From the new base"),
    );
  }

  since() {
    if (worktree) return h("span", { class: "badge warn" }, "Changed since you viewed");
    const words = ["Changed since you viewed", h("span", { class: "sr" }, ` ${this.path}`)];
    const onclick = () => showSince(this.path);
    return h("button", { type: "button", class: "badge warn since", onclick }, words);
  }

  fold(folded) {
    this.folded = folded;
    this.element.classList.toggle("folded", folded);
    this.folder.setAttribute("aria-expanded", String(!folded));
    const name = visible(this.path);
    this.folder.setAttribute("aria-label", `${folded ? "Unfold" : "Fold"} ${name}`);
  }

  /** Reserve the estimated height of the undrawn body, so that little moves when it is drawn. */
  guess() {
    const { additions, deletions } = this.file;
    const lines = loadNote(this.file)
      ? 2
      : Math.min((additions ?? 20) + (deletions ?? 0) + AROUND, 2000);
    this.body.style.minHeight = `${lines * LINE}px`;
    this.element.style.containIntrinsicBlockSize = `auto ${this.folded ? 41 : 41 + lines * LINE}px`;
  }

  // -- body ------------------------------------------------------------------------------------

  /** Fetch missing contents and draw; `again` after a change of the look. Resolves when drawn. */
  draw({ again = false } = {}) {
    if (again) this.drawing = null;
    if (this.folded && !this.forced && !again) return Promise.resolve();
    this.drawing ??= this.drawBody().catch((error) => this.showError(error));
    return this.drawing;
  }

  async drawBody() {
    await this.load();
    const talk = await this.page.along(this);
    if (this.gone) return;
    /** @type {any} */
    const waiting = this.forced ? null : loadNote(this.file, () => this.force());
    /** @type {any} */
    const other = waiting ?? instead(this.file);
    this.sheet?.end();
    const { look, painter } = this.page;
    const bare = waiting || (other && !other.lines);
    const sheet = bare ? null : new Sheet(this.file, look, painter, talk);
    this.sheet = sheet;
    for (const node of [...this.body.children]) if (!node.matches(".sheet")) node.remove();
    this.body.append(
      ...[...notesOf(this.file), waiting ?? other?.node, sheet?.node].filter(Boolean),
    );
    if (sheet) {
      if (!(await sheet.draw())) return;
      if (sheet.unseen) sheet.node.before(blanksNote());
      this.body.append(
        ...unendedNote(lacksFinalNewline(this.file.old), lacksFinalNewline(this.file.new)),
      );
    }
    this.body.style.minHeight = "";
    this.page.announceDrawn(this);
  }

  async load() {
    const { file } = this;
    if (!file.truncated) return;
    const found = await get(this.page.address("file", { path: file.path }));
    if (this.gone) return;
    const { viewed, changed_since_viewed } = this.file; // may have changed during the request
    Object.assign(file, found, { viewed, changed_since_viewed });
    this.say();
    this.page.counted(this);
  }

  showError(error) {
    this.drawing = null;
    this.body.style.minHeight = "";
    fill(
      this.body,
      problem(error.message),
      button("Try again", { kind: "s", onclick: () => this.draw() }),
    );
  }

  /** Draw the file even if it is large, generated or viewed. */
  force() {
    this.forced = true;
    this.fold(false);
    return this.sheet ? this.drawing : this.draw({ again: true });
  }

  /** Remove the file from the page; pending answers for it are dropped. */
  end() {
    this.gone = true;
    this.element.remove();
    this.sheet?.end();
  }

  // -- for threads -----------------------------------------------------------------------------

  place(side, line) {
    return this.sheet?.place(side, line) ?? null;
  }

  lineText(side, line) {
    return this.sheet?.lineText(side, line) ?? null;
  }
}
