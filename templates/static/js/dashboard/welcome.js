// The page without any app: what would be here, a first step, an alternative, and one command.

import { button, h } from "../kit/dom.js";
import { command } from "../kit/parts.js";

export const welcome = ({ scan, add }) =>
  h(
    "section",
    { class: "card empty" },
    /** @type {HTMLTemplateElement} */ (document.getElementById("art")).content.cloneNode(true),
    h("h2", { class: "big" }, "No apps yet"),
    h(
      "p",
      {},
      "Start a dev server and it appears here within two seconds, with its name, folder and branch.",
    ),
    h(
      "div",
      { class: "stack center" },
      button("Scan now", { icon: "scan", kind: "primary", onclick: scan }),
      h(
        "p",
        { class: "tiny" },
        "or ",
        h("button", { type: "button", class: "link", onclick: add }, "describe an app by hand"),
      ),
    ),
    command(".venv/bin/python manage.py dashboard ls", "the command that lists apps"),
  );
