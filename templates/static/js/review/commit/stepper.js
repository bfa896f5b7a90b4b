// On a phone the rail and the files are sheets; these buttons open them and step between commits.

import { button, fill, h } from "../../kit/dom.js";
import { sheet } from "../../kit/dialog.js";
import { toast } from "../../kit/toast.js";
import { listed, neighbour, onProject, placeOf } from "../rail.js";
import { onOther, pageAt, state } from "../state.js";

const byId = (id) => document.getElementById(id);
const commits = button("Commits", { icon: "menu", onclick: () => sheet("Commits", byId("rail")) });
const files = button("Files", { icon: "file", onclick: () => sheet("Files", byId("tree")) });
const step = (by, icon, label) =>
  button("", { kind: "only", icon, "aria-label": label, onclick: () => move(by) });
const up = step(-1, "up", "Commit above, K");
const down = step(1, "down", "Commit below, J");
const label = (node, words) => (node.lastChild.textContent = words);

export function drawStepper() {
  fill(byId("stepper"), commits, files, h("span", { class: "push line" }, up, down));
  onProject(tellStepper);
  onOther(tellStepper);
}

export function tellStepper() {
  const { viewed, files: all } = state.commit?.progress ?? {};
  label(commits, placeOf() || "Commits");
  label(files, state.commit ? `Files ${viewed}/${all}` : "Files");
}

/** Go to the commit below (1) or above (-1) in the rail. */
export async function move(by) {
  await listed;
  const found = neighbour(by);
  if (found) location.assign(pageAt(found));
  else
    toast(
      by > 0 ? "This is the last commit of the list." : "This is the first commit of the list.",
    );
}
