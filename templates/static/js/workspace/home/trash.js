// Deleted projects: Undo restores the one that was just deleted, a list the others.

import { post } from "../../kit/api.js";
import { button, h, icon, keep } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { time } from "../../kit/words.js";

const JUST = "svc.deleted"; // set by the settings page for this page

/** Remember for the next page that this project was deleted. */
export const rememberDeleted = (slug, name) =>
  sessionStorage.setItem(JUST, JSON.stringify({ slug, name }));

const back = (slug) => post(`/api/projects/${encodeURIComponent(slug)}/restore`);

/** trash(after) → {node, update(projects), say()}; the node is hidden while the trash is empty. */
export function trash(after) {
  const rows = h("ul", { class: "rows" });
  const count = h("span", { class: "count" });
  const node = h(
    "details",
    { class: "archived", hidden: true },
    h("summary", { class: "subhead" }, icon("right"), "Deleted projects", count),
    rows,
  );
  function update(projects) {
    node.hidden = projects.length === 0;
    count.textContent = String(projects.length);
    keep(rows, projects, ({ slug, deletedAt }) => `${slug} ${deletedAt}`, row);
  }
  const restore = (event, slug, name) =>
    attempt(event, async () => {
      await back(slug);
      toast(`${name} is back.`);
      await after();
    });
  const row = ({ slug, name, deletedAt }) =>
    h(
      "li",
      { class: "line row" },
      h("span", { class: "cut" }, name),
      h("span", { class: "tiny quiet nowrap push" }, time(deletedAt)),
      button("Restore", {
        kind: "ghost s",
        "aria-label": `Restore ${name}`,
        onclick: (event) => restore(event, slug, name),
      }),
    );
  function say() {
    const kept = sessionStorage.getItem(JUST);
    sessionStorage.removeItem(JUST);
    if (!kept) return;
    const { slug, name } = JSON.parse(kept);
    const act = () => restore(null, slug, name);
    toast(`${name} is deleted.`, { action: "Undo", act });
  }
  return { node, update, say };
}
