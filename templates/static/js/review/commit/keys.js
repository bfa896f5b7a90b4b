// The keys of a commit's page, except those of threads.

import { key } from "../../kit/keys.js";
import { action } from "../../kit/palette.js";
import { look } from "../diff/look.js";
import { cursorRow, hunk, reach, selection, step } from "../diff/select.js";
import { all, comment, current, firstRow } from "../diff/view.js";
import { viewedKey } from "./marks.js";
import { pageOf } from "../route.js";
import { state } from "../state.js";
import { move } from "./stepper.js";
import { setSplit } from "./toolbar.js";
import { focusFilter } from "../tree.js";

const DIFF = { group: "Diff" };
const COMMITS = { group: "Commits and files" };

/** The row where j, k, n and p begin when no line is chosen. */
function start() {
  const view = current();
  return firstRow(view ? [view] : []) ?? view?.element.querySelector("tr.ln") ?? null;
}

function file(by) {
  const list = all();
  const here = list.indexOf(current());
  const inside = by < 0 && here >= 0 && list[here].element.getBoundingClientRect().top < 60;
  const next = list[inside ? here : here + by];
  if (!next) return;
  next.element.scrollIntoView({ block: "start" });
  next.element.focus({ preventScroll: true });
}

async function expand() {
  const view = current();
  const row = cursorRow();
  await view?.sheet?.widen(view.element.contains(row) ? row : start());
  if (row) reach(row);
}

function say() {
  const view = current();
  const chosen = selection();
  if (chosen) comment(chosen);
  else if (view) comment({ path: view.path, side: null, start: null, end: null });
}

/** Register the keys. `ticked(view)`: the action of v in place of the viewed mark. */
export function listKeys(ticked = null) {
  key(["J", "Alt+ArrowDown"], "Commit below", () => move(1), COMMITS);
  key(["K", "Alt+ArrowUp"], "Commit above", () => move(-1), COMMITS);
  key("]", "Next file", () => file(1), COMMITS);
  key("[", "Previous file", () => file(-1), COMMITS);
  key("t", "Filter the files", focusFiles, COMMITS);
  if (ticked) key("v", "For the commit, or not", () => ticked(current()), COMMITS);
  else listMarks();
  key("c", "Comment on the line or lines", say, DIFF);
  key("u", "Up to the project", () => location.assign(pageOf(state.project)), COMMITS);
  key("/", "Search", () => document.getElementById("palette").click(), COMMITS);
  key("n", "Next change", () => hunk(1, start()), DIFF);
  key("p", "Previous change", () => hunk(-1, start()), DIFF);
  key("j", "Next line", () => step(1, { start: start() }), DIFF);
  key("k", "Previous line", () => step(-1, { start: start() }), DIFF);
  key(
    "Shift+ArrowDown",
    "Choose the next line too",
    () => step(1, { extend: true, start: start() }),
    DIFF,
  );
  key(
    "Shift+ArrowUp",
    "Choose the line before too",
    () => step(-1, { extend: true, start: start() }),
    DIFF,
  );
  key("x", "20 lines more around this place", expand, DIFF);
  key("m", "One or two columns", () => setSplit(!look.split), DIFF);
  action("One or two columns", () => setSplit(!look.split), { icon: "menu", key: "m" });
  action("Filter the files of this commit", focusFiles, { icon: "filter", key: "t" });
}

function listMarks() {
  key("v", "Viewed, and on to the next", () => viewedKey(current(), { stay: false }), COMMITS);
  key("V", "Viewed, and stay", () => viewedKey(current(), { stay: true }), COMMITS);
}

function focusFiles() {
  const button = document.querySelector("#stepper button:nth-child(2)");
  if (!document.getElementById("tree").checkVisibility()) button.click();
  focusFilter();
}
