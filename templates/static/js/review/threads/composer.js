// The box in which a comment is written: draft, preview, images, sending. The text is removed only
// after the service has stored it.

import { button, fill, h, icon } from "../../kit/dom.js";
import { draft } from "../../kit/drafts.js";
import { toast } from "../../kit/toast.js";
import { takesImages } from "./images.js";
import { prose } from "./prose.js";
import { preview } from "./review.js";
import { suggestionBlock } from "./suggest.js";

const EMPTY = "Nothing to send yet: write something first.";

/**
 * `name` of the draft, `label` for screen readers, `verb` of the button, `send(text)`, `keep(text)`
 * to save the text as a draft of the review, and `leave()` when Esc or Cancel closes the box.
 * `small`: one line until it is used. `text`: the initial text. `lines()`: the lines the comment is
 * about, if a replacement can be suggested.
 */
export class Composer {
  /** @type {(() => void) | undefined} */
  onRestore;
  /** @type {(() => void) | undefined} called after it has closed */
  after;

  /** @param {Record<string, any>} what */
  constructor({ name, label, placeholder, verb, send, keep, leave, ...more }) {
    const { small = false, text = "", note, lines } = more;
    this.lines = lines;
    this.send = send;
    this.keep = keep;
    this.leave = leave;
    this.small = small;
    this.verb = verb;
    this.box = h("textarea", {
      class: "input",
      rows: small ? 1 : 3,
      placeholder,
      "aria-label": label,
      value: text,
    });
    this.kept = draft(this.box, name, text);
    this.first = this.kept.was; // for a draft of an earlier visit, the text may have differed
    this.note = h("p", { class: "tiny quiet", hidden: !note }, note ?? "");
    this.trouble = h("div", { class: "trouble", role: "alert" });
    this.status = h("span", { class: "tiny quiet", role: "status" });
    this.shown = h("div", {
      class: "preview",
      hidden: true,
      "aria-label": "Preview",
      role: "group",
    });
    this.node = h(
      "form",
      { class: "say", onsubmit: (event) => this.submit(event) },
      this.note,
      this.trouble,
      this.box,
      this.shown,
      this.tools(),
    );
    this.box.addEventListener("focus", () => this.open());
    this.box.addEventListener("input", ({ isTrusted: typed }) => {
      this.open();
      if (typed) fill(this.trouble);
      this.follow();
    });
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    if (!small || this.kept.restored) this.open();
  }

  tools() {
    const pick = takesImages(this.box, {
      say: (words) => (this.status.textContent = words),
      fail: (words) => this.fail(words),
    });
    this.look = button("Preview", {
      icon: "eye",
      kind: "ghost s more",
      "aria-pressed": "false",
      onclick: () => this.preview(),
    });
    return h(
      "div",
      { class: "line tools" },
      this.look,
      this.lines &&
        button("Suggest", {
          icon: "pencil",
          kind: "ghost s more suggest",
          title: "Write what should stand there instead",
          onclick: () => this.suggest(),
        }),
      button("Image", { icon: "clip", kind: "ghost s more", title: "Or paste one", onclick: pick }),
      this.status,
      h(
        "span",
        { class: "push line" },
        button("Discard", {
          kind: "ghost s more",
          title: "Esc leaves and keeps what you typed",
          onclick: () => this.discard(),
        }),
        this.keep &&
          button("Save as a draft", {
            kind: "ghost s more",
            title: "Only you see it until you submit your review (Ctrl+Shift+Enter)",
            onclick: (event) => this.submit(event, this.keep),
          }),
        h(
          "button",
          { type: "submit", class: "btn primary send" },
          `${this.verb} `,
          h("span", { class: "kbd phone-hide" }, "Ctrl ↵"),
        ),
      ),
    );
  }

  /** Change the label and the note: the subject of the comment has moved. */
  name(label, note) {
    this.box.setAttribute("aria-label", label);
    this.note.hidden = !note;
    this.note.textContent = note ?? "";
  }

  get text() {
    return this.box.value;
  }

  /** The edited text has changed elsewhere: warn that saving replaces that change. */
  meanwhile(text) {
    if (text === this.first) return;
    if (this.text === this.first) this.box.value = this.kept.was = text;
    else {
      this.note.hidden = false;
      this.note.textContent = `Changed meanwhile to: “${text}”. Saving replaces it with yours.`;
    }
    this.first = text;
  }

  open() {
    this.node.classList.add("open");
  }

  /** Keep the buttons visible after the box has grown. */
  follow() {
    const { offsetHeight } = this.node;
    if (offsetHeight > this.height) this.node.scrollIntoView({ block: "nearest" });
    this.height = offsetHeight;
  }

  focus() {
    this.open();
    this.box.focus();
    this.node.scrollIntoView({ block: "nearest" });
  }

  onKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
      this.submit(event, event.shiftKey && this.keep ? this.keep : this.send);
    else if (event.key === "Escape" && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }

  /** Leave the box; the text stays in it, and in this browser. */
  close() {
    if (!this.text.trim() && this.small) this.node.classList.remove("open");
    this.box.blur();
    this.leave?.(this.text.trim() !== "");
  }

  discard() {
    const text = this.text;
    this.empty();
    this.leave?.(false);
    if (text.trim() && text !== this.first)
      toast("Text discarded.", { action: "Undo", act: () => this.restore(text) });
  }

  restore(text) {
    this.box.value = text;
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
    this.onRestore?.();
    this.focus();
  }

  empty() {
    this.kept.clear();
    this.box.value = "";
    fill(this.trouble);
    this.write();
    if (this.small) this.node.classList.remove("open");
  }

  async submit(event, send = this.send) {
    event?.preventDefault();
    event?.stopPropagation();
    if (this.box.readOnly) return;
    if (!this.text.trim()) {
      this.fail(EMPTY);
      this.focus();
      return;
    }
    this.busy(true);
    try {
      await send(this.text);
      this.busy(false);
      this.empty();
    } catch (error) {
      this.busy(false);
      this.fail(error.message, "Retry", send);
    }
  }

  busy(yes) {
    this.box.readOnly = yes;
    this.node.toggleAttribute("aria-busy", yes);
  }

  /** Show an error above the text, which stays. */
  fail(words, verb, send) {
    fill(
      this.trouble,
      h(
        "div",
        { class: "banner bad" },
        icon("alert"),
        h("div", {}, words, verb && " Your text is kept."),
        verb && button(verb, { kind: "s", onclick: () => this.submit(null, send) }),
      ),
    );
  }

  /** Clear the error. */
  well() {
    fill(this.trouble);
  }

  async preview() {
    if (!this.shown.hidden) {
      this.write();
      this.box.focus();
      return;
    }
    try {
      const html = await preview(this.text);
      fill(this.shown, html ? prose(html) : h("p", { class: "quiet" }, "Nothing to preview yet."));
      this.turn(true);
    } catch (error) {
      this.fail(error.message);
    }
  }

  /** Append the lines as a suggestion block, selected so that they can be typed over. */
  suggest() {
    const before = this.text.trimEnd();
    const [open, lines, close] = suggestionBlock(this.lines());
    this.write();
    this.box.value = `${before}${before && "\n\n"}${open}${lines}${close}`;
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
    this.focus();
    const end = this.box.value.length - close.length;
    this.box.setSelectionRange(end - lines.length, end);
  }

  write() {
    this.turn(false);
  }

  turn(previewing) {
    this.shown.hidden = !previewing;
    this.box.hidden = previewing;
    this.look.setAttribute("aria-pressed", String(previewing));
  }
}
