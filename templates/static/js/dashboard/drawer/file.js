// A file that is no app's: a group of bookmarks, ignore.yaml or config.yaml, in the editor.

import { get } from "../../kit/api.js";
import { button, h } from "../../kit/dom.js";
import { empty } from "../../kit/parts.js";
import { route } from "../route.js";
import { Editor } from "./editor.js";

const FIXED =
  "Settings are changed in the file itself, by hand; what is saved there counts at once.";

export class FileView {
  /** `file` is "bookmarks/docs", "ignore" or "config". */
  constructor(file, close) {
    const [kind, name = kind] = file.split("/");
    this.label = `${file}.yaml`;
    this.name = kind === name ? name : file;
    this.editor = new Editor({
      file: this.label,
      address: `${kind === name ? route(kind) : route(kind, name)}?form=yaml`,
      saved: () => {},
      missing: () => empty(`There is no file ${this.label} any more.`),
      fixed: kind === "config" ? FIXED : "",
    });
    this.title = h("h2", { class: "big cut", tabindex: "-1" }, this.label);
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
          button("", { icon: "x", kind: "ghost only push", "aria-label": "Close", onclick: close }),
        ),
      ),
      h("div", { class: "panel" }, this.editor.node),
    );
    this.begin();
  }

  async begin() {
    await this.editor.load();
    await this.faults();
  }

  /** What the files' record says is wrong with it. */
  async faults() {
    const { fileErrors } = await get(route("apps")).catch(() => ({ fileErrors: [] }));
    if (this.editor.loaded)
      this.editor.mistakes(fileErrors.filter(({ file }) => file === this.label));
  }

  /** Its etag may be another one now. */
  changed(etag) {
    this.editor.update(etag);
  }

  focus(out = false) {
    if (out || !this.node.contains(document.activeElement))
      this.title.focus({ preventScroll: true });
  }

  end() {
    this.editor.end();
  }
}
