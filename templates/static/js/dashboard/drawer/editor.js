// The text of a YAML file with line numbers: saved with If-Match, errors at their line. What is
// typed is kept as a draft until it is saved; only the user replaces it.

import { call } from "../../kit/api.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { draft } from "../../kit/drafts.js";
import { problem } from "../../kit/parts.js";
import { late } from "../../kit/skeleton.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { conflict } from "../conflict.js";
import { faultsOf } from "./faulty.js";
import { draftName, placeOf } from "./places.js";
import { store, storedValue } from "../../kit/stored.js";

const LINE_PX = 20;
const lf = (text) => text.replace(/\r\n?/g, "\n"); // line ends as in a text field
const endOf = (text) => (/\r\n/.test(text) && !/(?:^|[^\r])\n/.test(text) ? "\r\n" : "\n");

export class Editor {
  etag = null;
  base = "";
  lineEnd = "\n"; // the line end of the file
  ended = false;
  faults = [];
  typed = null;
  place = ""; // where its draft is kept
  told = null;
  loaded = false;

  /**
   * `file` is its name below home, `address` the URL of its text. `saved(record)` receives the
   * answer of a save; `missing()` returns what is shown when there is no file.
   */
  constructor({ file, address, saved, missing }) {
    this.file = file;
    this.address = address;
    this.saved = saved;
    this.missing = missing;
    this.area = h("textarea", {
      class: "yaml",
      wrap: "off",
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      "aria-label": `Text of ${file}`,
      "aria-describedby": "editor-faults",
      onscroll: () => this.alignGutter(),
      onkeydown: (event) => this.onKey(event),
    });
    this.area.readOnly = true; // until the text is loaded, which would replace what is typed
    this.gutter = h("div", { class: "gutter", "aria-hidden": "true" });
    this.bands = h("div", { class: "bands", "aria-hidden": "true" });
    this.notice = h("div", { class: "stack editnotice" });
    this.list = h("ul", { class: "faultlist", id: "editor-faults", "aria-live": "polite" });
    this.said = h("span", { class: "tiny quiet push", role: "status" });
    this.frame = h(
      "div",
      { class: "paper" },
      this.gutter,
      h("div", { class: "written" }, this.bands, this.area),
    );
    this.node = h("div", { class: "in editing" }, this.notice, this.frame, this.list, this.foot());
  }

  foot() {
    return h(
      "div",
      { class: "editbar" },
      button("Save", {
        kind: "primary",
        "aria-keyshortcuts": "Control+S",
        onclick: (event) => attempt(event, () => this.save()),
      }),
      (this.drop = button("Discard changes", {
        kind: "ghost",
        hidden: true,
        onclick: () => this.discard(),
      })),
      this.said,
      button("", {
        icon: "copy",
        kind: "ghost only",
        "aria-label": "Copy the path of the file",
        onclick: () => copy(this.file, "Copied"),
      }),
    );
  }

  // reading

  async load() {
    const stop = late(this.notice, "text");
    try {
      const [found, place] = await Promise.all([this.read(), placeOf(this.file)]);
      if (this.ended) return;
      this.place = place;
      if (found) this.begin(found);
      else this.absent();
    } catch (error) {
      const again = button("Try again", { kind: "s", onclick: () => this.load() });
      fill(this.notice, problem(error.message), h("div", {}, again));
      this.frame.hidden = true;
    }
    stop();
  }

  /** {text, etag}; null when there is no such file. */
  async read() {
    try {
      const { data } = await call("GET", this.address);
      return data;
    } catch (error) {
      if (error.status === 404) return null;
      throw error;
    }
  }

  absent() {
    this.node.classList.add("absent");
    fill(this.notice, this.missing());
  }

  begin({ text, etag }) {
    this.node.classList.remove("absent");
    this.frame.hidden = false;
    fill(this.notice);
    this.rememberFile(text, etag);
    this.loaded = true;
    this.area.value = this.base;
    this.area.readOnly = false;
    if (!this.typed) {
      this.typed = draft(this.area, draftName(this.place));
      this.area.addEventListener("input", () => this.markChanged());
    }
    if (this.dirty) this.resumeDraft(etag);
    this.markChanged();
  }

  /** Remember the file as it is on disk. */
  rememberFile(text, etag) {
    this.base = lf(text);
    this.lineEnd = endOf(text);
    this.etag = etag;
  }

  /** A draft of an earlier visit is back; it was begun on the file as it was at that time. */
  resumeDraft(etag) {
    const begun = storedValue(this.basis);
    if (begun && begun !== etag) {
      this.etag = begun;
      this.stale();
    } else this.tell("Your unsaved text is back.");
  }

  /** The storage key of the etag of the file on which the draft was begun. */
  get basis() {
    return `svc.dashboard.etag.${this.place}`;
  }

  get dirty() {
    return this.loaded && this.area.value !== this.base;
  }

  /** The file has this etag now: read it again, unless something was typed. */
  async update(etag) {
    if (!this.loaded || etag === this.etag || etag === this.told || this.saving) return;
    if (this.dirty) {
      this.told = etag;
      this.stale();
      return;
    }
    const found = await this.read().catch(() => null);
    if (this.ended || this.dirty || !found) return;
    const { scrollTop, selectionStart, selectionEnd } = this.area;
    this.rememberFile(found.text, found.etag);
    this.area.value = this.base;
    this.area.setSelectionRange(selectionStart, selectionEnd);
    this.area.scrollTop = scrollTop;
    this.markChanged();
  }

  stale() {
    fill(
      this.notice,
      h(
        "div",
        { class: "banner warn", role: "status" },
        icon("alert"),
        h("div", {}, "The file changed on disk. Your text is kept."),
        button("Compare", { kind: "s", onclick: (event) => attempt(event, () => this.settle()) }),
      ),
    );
  }

  tell(words) {
    this.said.textContent = words;
  }

  // typing

  markChanged() {
    const { dirty } = this;
    if (dirty) store(this.basis, this.etag);
    else this.forget();
    this.drop.hidden = !dirty;
    if (dirty || this.said.textContent === "Not saved yet") this.tell(dirty ? "Not saved yet" : "");
    this.number();
  }

  forget() {
    this.typed?.clear();
    store(this.basis, "");
  }

  onKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    attempt(null, () => this.save());
  }

  /** Draw the line numbers; lines with a mistake are marked by shape and word. */
  number() {
    const count = this.area.value.split("\n").length;
    const wrong = new Set(this.faults.map(({ line }) => line));
    fill(
      this.gutter,
      h(
        "div",
        {},
        Array.from({ length: count }, (_, n) =>
          h("div", { class: wrong.has(n + 1) ? "wrong" : "" }, String(n + 1)),
        ),
      ),
    );
    fill(
      this.bands,
      [...wrong].filter(Boolean).map((line) => {
        const band = h("div", { class: "band" });
        band.style.top = `${(line - 1) * LINE_PX}px`;
        return band;
      }),
    );
    this.alignGutter();
  }

  alignGutter() {
    const { scrollTop } = this.area;
    this.gutter.scrollTop = scrollTop;
    this.bands.style.transform = `translateY(${-scrollTop}px)`;
  }

  /** List mistakes {line, message, level} under the text, each with a link to its line. */
  mistakes(faults) {
    this.faults = faults;
    this.area.toggleAttribute(
      "aria-invalid",
      faults.some(({ level }) => level !== "warning"),
    );
    fill(
      this.list,
      faults.map(({ line, message, level }) =>
        h(
          "li",
          { class: level === "warning" ? "problem mild" : "problem" },
          icon(level === "warning" ? "info" : "alert"),
          line
            ? h(
                "button",
                { type: "button", class: "link", onclick: () => this.goTo(line) },
                `Line ${line}`,
              )
            : null,
          h("span", { class: "wrap-anywhere" }, message),
        ),
      ),
    );
    this.number();
  }

  goTo(line) {
    const lines = this.area.value.split("\n");
    const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(from, from + (lines[line - 1] ?? "").length);
    this.area.scrollTop = Math.max(0, (line - 1) * LINE_PX - this.area.clientHeight / 2);
  }

  // saving

  /**
   * Save on condition that the file is as it was read; if it has changed, the comparison opens.
   * @param {string} [text]
   * @param {import("../../kit/api.js").Conditions} [over]
   */
  async save(text = this.area.value, over = { etag: this.etag }) {
    if (this.saving) return;
    const before = this.base;
    const written = text.replaceAll("\n", this.lineEnd);
    this.saving = true;
    try {
      const { data } = await call("PUT", this.address, { text: written }, over);
      this.finishSave(data, text, before);
    } catch (error) {
      if (error.code === "changed") await this.settle();
      else if (error.status === 400) this.wrong(error, text);
      else throw error;
    } finally {
      this.saving = false;
    }
  }

  finishSave(record, text, before) {
    this.base = text;
    this.etag = record.etag;
    this.told = null;
    fill(this.notice);
    this.mistakes(record.fileErrors ?? []);
    this.markChanged();
    if (!this.dirty) this.tell("Saved");
    this.saved(record);
    const action = before === text ? {} : { action: "Undo", act: () => this.undo(before) };
    toast(`Saved ${this.file}.`, action);
  }

  /** Put the file back as it was before a save; what was typed since then stays. */
  async undo(text) {
    if (!this.dirty) this.area.value = text;
    await attempt(null, () => this.save(text));
  }

  wrong(error, text) {
    const faults = faultsOf(error, text);
    this.mistakes(faults);
    this.tell("Not saved");
    if (faults[0].line) this.goTo(faults[0].line);
  }

  /** The file has changed: show both texts side by side, and let the user decide. */
  async settle() {
    const found = await this.read();
    const mine = this.area.value;
    const theirs = found && lf(found.text);
    const choice = await conflict({ file: this.file, theirs, mine });
    if (choice === "edit") return;
    this.told = null;
    if (choice === "mine") {
      this.saving = false;
      await this.save(mine, found ? { etag: found.etag } : { create: true });
      return;
    }
    this.rememberFile(found.text, found.etag);
    this.replace(this.base, mine, "The text on disk is here now.");
  }

  discard() {
    this.replace(this.base, this.area.value, "Your changes are gone from here.");
  }

  /** Replace the text in the field; for a while Undo brings back what was typed. */
  replace(text, typed, words) {
    this.area.value = text;
    fill(this.notice);
    this.mistakes([]);
    this.markChanged();
    this.area.focus();
    toast(words, {
      action: "Undo",
      act: () => {
        this.area.value = typed;
        this.area.dispatchEvent(new Event("input"));
        this.area.focus();
      },
    });
  }

  end() {
    this.ended = true;
  }
}
