// At the side of a project: its working directory, with the stacks and apps there, wherever they
// were opened; one press puts a repository under review.

import { get, P, post } from "../../kit/api.js";
import { button, h, icon, keep } from "../../kit/dom.js";
import { partLink } from "../../kit/rail.js";
import { attempt } from "../../kit/toast.js";

const ICONS = { changes: "pencil", review: "branch", app: "apps" };

/** aroundCard(slug) → {node, load(project)}; the node is hidden while there is nothing to show. */
export function aroundCard(slug) {
  const rows = h("ul", { class: "rows" });
  const review = button("Review its commits and changes", {
    icon: "review",
    onclick: (event) =>
      attempt(event, async () => {
        const named = encodeURIComponent(slug);
        await post(`/review/api/projects/${named}/repos`, {});
        location.assign(`/review/p/${named}`);
      }),
  });
  const where = h("p", { class: "inside mono tiny quiet wrap-anywhere", hidden: true });
  const offer = h("div", { class: "inside", hidden: true }, review);
  const node = h(
    "section",
    { class: "card", hidden: true },
    h("header", {}, h("h2", {}, "In its folder")),
    where,
    rows,
    offer,
  );
  async function load(project) {
    where.hidden = !project.path;
    where.textContent = project.workingDir;
    const { places } = await get(P(slug, "around"));
    const stacks = places.some(({ part }) => part === "review");
    offer.hidden = Boolean(stacks || !project.repository || !partLink("review"));
    node.hidden = Boolean(places.length === 0 && offer.hidden && where.hidden);
    keep(rows, places, ({ url, label, hint }) => `${url} ${label} ${hint}`, row);
  }
  return { node, load };
}

const row = ({ label, kind, url, hint }) =>
  h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      icon(ICONS[kind] ?? "right"),
      h("a", { class: "over cut", href: url }, label),
      h("span", { class: "tiny quiet nowrap" }, hint),
    ),
  );
