// A file that is no app's: a group of bookmarks in the editor; config.yaml and ignore.yaml, which
// are changed by hand, with where they lie and what is wrong with them.

import { get } from "../../kit/api.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { command, empty } from "../../kit/parts.js";
import { route } from "../route.js";
import { Editor } from "./editor.js";

const BY_HAND = {
  config: "Settings are changed in the file itself; what is saved there counts at once.",
  ignore: "A rule is taken back in the file itself; what it hid is then listed again at once.",
};

export class FileView {
  /** `file` is "bookmarks/docs", "ignore" or "config". */
  constructor(file, close) {
    const [kind, name] = file.split("/");
    this.label = `${file}.yaml`;
    this.title = h("h2", { class: "big cut", tabindex: "-1" }, this.label);
    this.panel = h("div", { class: "panel" });
    const shut = { icon: "x", kind: "ghost only push", "aria-label": "Close", onclick: close };
    this.node = h(
      "div",
      { class: "appview" },
      h("header", {}, h("div", { class: "line" }, this.title, button("", shut))),
      this.panel,
    );
    if (BY_HAND[kind]) this.tell(kind);
    else this.edit(route(kind, name ?? ""));
  }

  async edit(address) {
    this.editor = new Editor({
      file: this.label,
      address: `${address}?form=yaml`,
      saved: () => {},
      missing: () => empty(`There is no file ${this.label} any more.`),
    });
    fill(this.panel, this.editor.node);
    await this.editor.load();
    if (this.editor.loaded) this.editor.mistakes(await this.faults());
  }

  async tell(kind) {
    const [faults, { path }] = await Promise.all([
      this.faults(),
      get(route("config")).catch(() => ({ path: "config.yaml" })),
    ]);
    const place = path.replace(/config\.ya?ml$/, this.label);
    fill(
      this.panel,
      h(
        "div",
        { class: "facets" },
        h("p", { class: "soft" }, BY_HAND[kind]),
        command(place, "the path of the file"),
        h("ul", { class: "stack" }, faults.map(fault)),
      ),
    );
  }

  /** What the files' record says is wrong with it. */
  async faults() {
    const { fileErrors } = await get(route("apps")).catch(() => ({ fileErrors: [] }));
    return fileErrors.filter(({ file }) => file === this.label);
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
