// A text of project.yaml that is edited in place: the intro, or the note of a stack.

import { post } from "../../kit/api.js";
import { draft, draftOf } from "../../kit/drafts.js";
import { button, fill, h, icon, visible } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { route } from "../route.js";
import { prose } from "../threads/prose.js";

/**
 * `what` names the text ("intro", "note of Refunds"); `draftName` is the name of its draft.
 * `write(text, seen, was)` saves the text over `was`; `seen` is what was shown when editing began.
 * A refusal of code "changed" can be overruled: `now()` is the present state, {seen, words}.
 * `compact`: the edit button is a pencil, which the caller places.
 */
export class Note {
  text = "";
  was = ""; // the text that the writer has seen
  seen = null;

  /** @param {Record<string, any>} what */
  constructor({ project, what, draftName, write, now, compact = false }) {
    this.project = project;
    this.what = what;
    this.draftName = draftName;
    this.write = write;
    this.now = now;
    this.compact = compact;
    this.said = h("div", { class: "prose soft grow" });
    this.edit = button("", {
      icon: "pencil",
      kind: compact ? "ghost s only" : "ghost s push",
      onclick: () => this.open(),
    });
    this.view = h("div", { class: "line noteview" }, this.said, !compact && this.edit);
    this.node = h("div", { class: "notebox" }, this.view);
    this.form = null;
  }

  /** Show the text of the file. Text being typed stays, with a notice of the change. */
  show({ text, html, seen = null }) {
    const before = this.text;
    this.text = text ?? "";
    this.latest = seen;
    if (this.said.dataset.said !== html) {
      this.said.dataset.said = html;
      fill(this.said, html ? prose(html) : null);
    }
    this.label();
    if (this.form && before !== this.text && !this.saving) this.tellChange();
    if (!this.form && !this.asked && draftOf(this.draftName)) this.open(false);
    this.asked = true;
  }

  label() {
    const verb = draftOf(this.draftName) ? "Go on editing" : this.text ? "Edit" : "Add";
    fill(this.edit, icon("pencil"), !this.compact && (verb === "Add" ? `Add ${this.what}` : verb));
    const name = visible(`${verb} ${this.what}`);
    this.edit.setAttribute("aria-label", name);
    this.edit.title = this.compact ? name : "";
    this.node.classList.toggle("bare", !this.text);
  }

  open(focus = true) {
    if (this.form) return;
    this.seen = this.latest;
    this.area = h("textarea", {
      class: "input",
      rows: 5,
      "aria-label": `Text of the ${this.what}`,
    });
    this.area.value = this.text;
    this.draft = draft(this.area, this.draftName, this.text);
    this.was = this.draft.was;
    this.says = h("div", { role: "alert" });
    this.glance = h("div", { class: "prose preview", hidden: true });
    this.form = h(
      "form",
      { class: "stack noteform", "aria-label": `Edit ${this.what}` },
      this.tabs(),
      this.area,
      this.glance,
      this.says,
      this.buttons(),
    );
    this.form.addEventListener("submit", (event) => (event.preventDefault(), this.save()));
    this.form.addEventListener("keydown", (event) => this.onKey(event));
    this.view.hidden = true;
    this.node.append(this.form);
    if (this.draft.restored && this.was !== this.text) this.tellChange();
    if (focus) this.area.focus();
  }

  buttons() {
    return h(
      "div",
      { class: "line wrap" },
      button("Save", { kind: "primary s", type: "submit" }),
      button("Cancel", { kind: "ghost s", onclick: () => this.cancel() }),
      h("span", { class: "tiny quiet push phone-hide" }, "Markdown. Ctrl Enter saves."),
    );
  }

  tabs() {
    const tab = (label, preview) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(!preview), onclick: () => this.look(preview) },
        label,
      );
    this.seg = h("div", { class: "seg", role: "group" }, tab("Write", false), tab("Preview", true));
    this.seg.setAttribute("aria-label", "Write or preview");
    return h("div", {}, this.seg);
  }

  /** Show the preview, rendered by the service so that it matches the result, or the text area. */
  async look(preview) {
    [...this.seg.children].forEach((tab, n) =>
      tab.setAttribute("aria-pressed", String(Boolean(n) === preview)),
    );
    this.area.hidden = preview;
    this.glance.hidden = !preview;
    if (!preview) return this.area.focus();
    return attempt(null, async () => {
      const { html } = await post(route("projects", this.project, "preview"), {
        text: this.area.value,
      });
      fill(this.glance, html ? prose(html) : h("p", { class: "quiet" }, "Nothing to show."));
    });
  }

  onKey(event) {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async save(seen = this.seen) {
    const before = this.text;
    const text = this.area.value;
    const submit = this.form.querySelector("[type=submit]");
    this.saving = this.area.readOnly = true; // text typed from here would be lost
    submit.setAttribute("aria-busy", "true");
    try {
      await this.write(text, seen, this.was);
      this.draft.clear();
      this.close();
      const made = this.text;
      const act = () => attempt(null, () => this.write(before, this.latest, made));
      toast(text.trim() ? "Saved" : "Removed", { action: "Undo", act });
    } catch (error) {
      this.showRefusal(error);
    } finally {
      this.saving = this.area.readOnly = false;
      submit.removeAttribute("aria-busy");
    }
  }

  /** Show why saving was refused, with a button to go on; the text stays in the box. */
  showRefusal(error) {
    const changed = error.code === "changed";
    const now = changed ? this.now?.() : null;
    const moved = now && now.seen !== this.seen;
    const theirs = changed && !moved && ` It says: “${this.text}”`;
    const verb = changed ? "Save mine over it" : "Try again";
    const retry = moved
      ? button(`Save it to ${now.words}`, { kind: "s", onclick: () => this.save(now.seen) })
      : button(verb, { kind: "s", onclick: () => this.save() });
    this.was = this.text;
    fill(
      this.says,
      h("div", { class: "banner bad" }, icon("alert"), h("div", {}, error.message, theirs), retry),
    );
  }

  tellChange() {
    this.was = this.text;
    const take = button("Take theirs", {
      kind: "s",
      onclick: () => {
        const mine = this.area.value;
        this.area.value = this.text;
        this.draft.clear();
        fill(this.says);
        toast("Your text was dropped", { action: "Undo", act: () => this.type(mine) });
      },
    });
    const now = this.text ? ` It says: “${this.text}”` : " It is empty.";
    const words = `The text in the file has changed since. Saving replaces it with yours.${now}`;
    fill(this.says, h("div", { class: "banner warn" }, icon("alert"), h("div", {}, words), take));
  }

  /** Close the form; typed text is kept as a draft. */
  close() {
    this.area.dispatchEvent(new Event("blur"));
    this.form?.remove();
    this.form = null;
    this.view.hidden = false;
    this.label();
    this.edit.focus();
  }

  cancel() {
    const text = this.area.value;
    this.draft.clear();
    this.close();
    if (text === this.text) return;
    toast("Your text was dropped", { action: "Undo", act: () => this.type(text) });
  }

  /** Open the form with a text, as if the user typed it. */
  type(text) {
    this.open();
    this.area.value = text;
    this.area.dispatchEvent(new Event("input"));
  }
}
