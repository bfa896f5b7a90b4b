// The page before the first review: what this is, one button, an alternative, a line for the file.

import { button, h } from "../../kit/dom.js";
import { command } from "../../kit/parts.js";
import { partLink } from "../../kit/rail.js";
import { toast } from "../../kit/toast.js";

const LINE = "repos: [{path: ~/src/api, range: main..feature}]";

/** Say that a repository is reviewed in a project, which must be made first. */
export function lead() {
  const main = partLink("main");
  toast(
    "Open its folder as a project first; its page puts it under review.",
    main ? { action: "Go there", act: () => location.assign(main.href) } : {},
  );
}

/** `add()` adds the examples, `open()` leads to opening the user's own repository. */
export function welcome({ folder, add, open }) {
  const art = /** @type {HTMLTemplateElement} */ (document.getElementById("art")).content.cloneNode(
    true,
  );
  const other = h(
    "button",
    {
      type: "button",
      class: "link",
      onclick: open,
    },
    "open one of your repositories",
  );
  return h(
    "section",
    { class: "card empty welcome", "aria-labelledby": "welcome" },
    art,
    h("h2", { class: "big", id: "welcome" }, "See a stack before you make one"),
    h(
      "p",
      {},
      "Two example projects show threads, a follow-on stack and a review that was carried over. ",
      "You can put them away later.",
    ),
    h(
      "div",
      { class: "stack center" },
      button("Add the examples", { kind: "primary", icon: "review", onclick: add }),
      h("p", { class: "tiny" }, "or ", other),
    ),
    command(LINE, "the line for project.yaml"),
    h("p", { class: "tiny quiet" }, `Projects are folders in ${folder}, each with a project.yaml.`),
  );
}
