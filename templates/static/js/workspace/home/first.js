// What a newcomer sees first: what this is, one button, one other way, one command.

import { post } from "../../kit/api.js";
import { button, h } from "../../kit/dom.js";
import { command } from "../../kit/parts.js";
import { attempt } from "../../kit/toast.js";

/** `form` is where the form of `make()` appears. */
export function welcome(form, make) {
  const demo = button("Make the demo project", {
    icon: "play",
    kind: "primary",
    onclick: (event) =>
      attempt(event, async () => {
        const { project } = await post("/api/demo");
        location.assign(`/projects/${project.slug}`);
      }),
  });
  const own = h("button", { type: "button", class: "link", onclick: make }, "make one of your own");
  return [
    h(
      "header",
      { class: "pagehead" },
      h(
        "div",
        {},
        h("h1", {}, "Nothing here yet"),
        h(
          "p",
          {},
          "A project is a folder on this computer. Chats, triggers and notes are kept in it as plain files.",
        ),
      ),
    ),
    form,
    h(
      "section",
      { class: "card empty", id: "first", "aria-labelledby": "first-title" },
      document.getElementById("art").content.cloneNode(true),
      h("h2", { class: "big", id: "first-title" }, "Start with something that runs"),
      h(
        "p",
        {},
        "The demo is a small package with a nightly check, switched off, and one chat that ran. It works offline, without a model.",
      ),
      h(
        "div",
        { class: "stack center" },
        demo,
        h("p", { class: "tiny" }, "or ", own, " from nothing or a repository"),
      ),
      command(
        `curl -X POST ${location.origin}/api/demo`,
        "the command that makes the demo project",
      ),
    ),
    h(
      "p",
      { class: "after" },
      "Press ",
      h("kbd", { class: "kbd" }, "?"),
      " for the keys of a page, ",
      h("kbd", { class: "kbd" }, "Ctrl K"),
      " to go anywhere.",
    ),
  ];
}
