// OVERVIEW.md and CHANGELOG.md of a project, rendered.

import { h } from "../../kit/dom.js";
import { markdown } from "../../kit/markdown.js";

const LONG = 12_000; // characters after which a document is folded

/** A block of both documents; a hint when there is neither. */
export function documents({ overview, changelog, slug }) {
  if (!overview && !changelog)
    return h(
      "p",
      { class: "hint" },
      "OVERVIEW.md and CHANGELOG.md of this project's folder are shown here. The curator can keep them; see ",
      h("a", { class: "link", href: `/projects/${slug}/settings` }, "Settings"),
      ".",
    );
  return h(
    "div",
    { class: "stack parts" },
    overview && card("OVERVIEW.md", overview, overview.length < LONG),
    changelog && card("CHANGELOG.md", changelog, changelog.length < LONG && !overview),
  );
}

/** A document as a card, rendered when it is opened: a changelog may be long. */
function card(name, text, open) {
  const inside = h("div", { class: "inside" });
  const show = () => {
    if (!inside.firstElementChild) inside.append(markdown(text, { heading: 3 }));
  };
  const node = h(
    "details",
    { class: "card folded-card", open, ontoggle: () => node.open && show() },
    h("summary", { class: "subhead" }, h("h2", {}, name)),
    inside,
  );
  if (open) show();
  return node;
}
