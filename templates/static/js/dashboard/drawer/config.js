// The Config tab: the file of an app, or a way to create one for an app that was found running.

import { patch } from "../../kit/api.js";
import { button } from "../../kit/dom.js";
import { empty } from "../../kit/parts.js";
import { attempt } from "../../kit/toast.js";
import { route } from "../route.js";
import { Editor } from "./editor.js";

export const textOf = (kind, name) => `${route(kind, name)}?form=yaml`;

export class Config {
  constructor(app, { changed }) {
    this.app = app;
    this.editor = new Editor({
      file: `apps/${app.slug}.yaml`,
      address: textOf("apps", app.slug),
      saved: changed,
      missing: () =>
        empty(
          "This app was found running and has no file. One keeps it on the page when it stops, and says how to start it.",
          button("Make its file", {
            icon: "plus",
            kind: "primary",
            onclick: (event) => attempt(event, () => this.make()),
          }),
        ),
    });
    this.node = this.editor.node;
  }

  async make() {
    await patch(route("apps", this.app.slug), {});
    await this.editor.load();
    this.editor.area.focus();
  }

  async show() {
    if (this.editor.loaded) return;
    if (this.app.source === "declared") await this.editor.load();
    else this.editor.absent();
    this.faults(this.app);
  }

  hide() {}

  update(app) {
    const { etag } = this.app;
    this.app = app;
    if (!this.editor.loaded) return;
    if (app.etag && app.etag !== etag) this.editor.update(app.etag);
    if (!this.editor.dirty) this.faults(app);
  }

  faults({ fileErrors }) {
    if (this.editor.loaded) this.editor.mistakes(fileErrors);
  }

  end() {
    this.editor.end();
  }
}
