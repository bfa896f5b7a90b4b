// Projects that live in another projects directory on the same database, and on which host.

import { fill, h, keep, mark } from "../../kit/dom.js";
import { stateOf } from "../words.js";

/** elsewhereList() → {node, update(projects)}; the node is hidden while there are none. */
export function elsewhereList() {
  const count = h("span", { class: "count" });
  const list = h("ul", { class: "card" });
  const node = h(
    "section",
    { class: "elsewhere", hidden: true, "aria-label": "On other machines" },
    h("div", { class: "group" }, h("h2", {}, "On other machines"), count),
    list,
  );
  const update = (projects) => {
    node.hidden = projects.length === 0;
    fill(count, String(projects.length));
    keep(list, projects, ({ slug }) => slug, row);
  };
  return { node, update };
}

function row({ slug, name, node, url, alive }) {
  const state = alive
    ? { ...stateOf("quiet"), word: "Its machine runs" }
    : { ...stateOf("paused"), word: "Its machine is gone" };
  const to = url && new URL(`/projects/${slug}`, url).href;
  const label = { class: "strong cut", title: name };
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row home-row" },
      mark(state),
      to ? h("a", { ...label, href: to }, name) : h("span", label, name),
      h("span", { class: "soft small cut about" }, node ?? "another projects directory"),
      !alive && h("span", { class: "badge" }, "gone"),
    ),
  );
}
