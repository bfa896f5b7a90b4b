// The page of a new chat, which its first message creates.

import { P, post } from "../../kit/api.js";
import { fill, h } from "../../kit/dom.js";
import { key } from "../../kit/keys.js";
import { composer } from "../composer.js";
import { modeChoice } from "./mode.js";
import { here, mostOf, place } from "./place.js";
import { worktreeBox } from "./worktree.js";

export class FreshPage {
  over = true; // the page is built again each time

  /** `list`: the list of chats; `project`: the name of the project. */
  constructor(list, slug, project) {
    this.list = list;
    this.project = project;
    this.place = place();
    const tree = worktreeBox(slug);
    this.write = composer({
      key: `new:${slug}`,
      project: slug,
      label: "Start chat",
      send: async (message, options) => {
        const body = {
          ...message,
          ...(mode.node.value && { permissionMode: mode.node.value }),
          ...tree.asked(),
        };
        const started = await post(P(slug, "chats"), body, options);
        location.assign(`/projects/${slug}/chats/${started.chat.sessionId}`);
        return started;
      },
    });
    const mode = modeChoice(() => {});
    mostOf(slug).then(
      (found) => mode.update(null, found),
      () => {}, // then the choice is not offered
    );
    this.write.actions.append(mode.node, tree.node);
    this.write.placeholder("Write a message to start a chat.");
    this.place.dock.append(this.write.node);
    fill(
      this.place.lines,
      h(
        "div",
        { class: "empty" },
        h("h2", { class: "big" }, "A new chat"),
        h("p", {}, "Choose a chat at the left, or write the first message below."),
      ),
    );
  }

  show(life) {
    this.list.at("");
    this.place.put({ facts: false });
    this.place.title.textContent = `Chats · ${this.project}`;
    document.title = `Chats · ${this.project} · Workspace`;
    here.textContent = "Chats";
    key("w", "Write a message", () => this.write.focus(), { signal: life });
    if (!matchMedia("(hover: none)").matches) this.write.focus(); // on a phone the keyboard would open
  }
}
