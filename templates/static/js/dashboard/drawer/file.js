// A file that belongs to no app: a group of bookmarks or ignore.yaml, shown in the editor, or
// config.yaml, which is changed by hand and shown by its path and its errors.

import { get } from "../../kit/api.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { command, empty } from "../../kit/parts.js";
import { route } from "../route.js";
import { textOf } from "./config.js";
import { Editor } from "./editor.js";

const EVENT = { bookmarks: "bookmarks", ignore: "observed" }; // which reports a change of the file
const BY_HAND = "Settings are changed in the file itself; what is saved there counts at once.";

export class FileView {
  /** `file` is "bookmarks/docs", "ignore" or "config". */
  constructor(file, close) {
    const [kind, name] = file.split("/");
    this.label = `${file}.yaml`;
    this.event = EVENT[kind];
    this.title = h("h2", { class: "big cut", tabindex: "-1" }, this.label);
    this.panel = h("div", { class: "panel" });
    const shut = { icon: "x", kind: "ghost only push", "aria-label": "Close", onclick: close };
    this.node = h(
      "div",
      { class: "appview" },
      h("header", {}, h("div", { class: "line" }, this.title, button("", shut))),
      this.panel,
    );
    if (kind === "config") this.tell();
    else this.edit(name ? textOf(kind, name) : route(kind));
  }

  async edit(address) {
    this.editor = new Editor({
      file: this.label,
      address,
      saved: () => {},
      missing: () => empty(`There is no file ${this.label} any more.`),
    });
    fill(this.panel, this.editor.node);
    await this.editor.load();
    if (this.editor.loaded) this.editor.mistakes(await this.faults());
  }

  async tell() {
    const [faults, { path }] = await Promise.all([
      this.faults(),
      get(route("config")).catch(() => ({ path: "config.yaml" })),
    ]);
    fill(
      this.panel,
      h(
        "div",
        { class: "facets" },
        h("p", { class: "soft" }, BY_HAND),
        command(path, "the path of the file"),
        h("ul", { class: "stack" }, faults.map(fault)),
      ),
    );
  }

  /** The errors of this file, as the list of apps reports them. */
  async faults() {
    const { fileErrors } = await get(route("apps")).catch(() => ({ fileErrors: [] }));
    return fileErrors.filter(({ file }) => file === this.label);
  }

  /** Read the file again, unless something was typed. */
  async hearEvent(type) {
    if (type !== this.event || !this.editor?.loaded) return;
    const found = await this.editor.read().catch(() => null);
    if (found) await this.editor.update(found.etag);
    if (!this.editor.dirty) this.editor.mistakes(await this.faults());
  }

  focus(out = false) {
    if (out || !this.node.contains(document.activeElement))
      this.title.focus({ preventScroll: true });
  }

  end() {
    this.editor?.end();
  }
}

const fault = ({ line, message }) =>
  h("li", { class: "problem" }, icon("alert"), h("span", {}, line && `Line ${line}: `, message));
