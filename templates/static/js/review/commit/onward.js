// Below the files of a commit, once all are viewed: a link to the next commit to read.

import { fill, h } from "../../kit/dom.js";
import { neighbour, onProject } from "../rail.js";
import { pageOf } from "../route.js";
import { onOther, pageAt, state } from "../state.js";
import { onMarks } from "./marks.js";

const node = h("div", { class: "onward line wrap", hidden: true });
let said = "";

/** The key that leads to that commit, by its position in the rail; undefined if none does. */
const keyTo = ({ sha }) => ["K", "J"].find((_, n) => neighbour(n ? 1 : -1)?.sha === sha);

function tell() {
  if (!state.commit) return;
  const { progress, next } = state.commit;
  node.hidden = progress.viewed < progress.files || !progress.files;
  const letter = next && keyTo(next);
  const now = JSON.stringify([next, letter]);
  if (now === said) return; // redrawing would lose a press on the link
  said = now;
  fill(
    node,
    h("span", { class: "soft" }, "All files viewed."),
    next
      ? h(
          "a",
          { class: "btn primary", href: pageAt(next) },
          h("span", { class: "cut" }, `Next: ${next.title}`),
          letter && h("span", { class: "kbd phone-hide" }, letter),
        )
      : h(
          "a",
          { class: "btn", href: pageOf(state.project) },
          "This was the last commit: to the project",
        ),
  );
}

export function drawOnward() {
  document.getElementById("files").after(node);
  onMarks(tell);
  onProject(tell);
  onOther(() => (node.hidden = true));
}
