// Search in the whole diff, including files that are not loaded: the key f opens the field.

import { get } from "../../kit/api.js";
import { button, fill, h, icon, settle } from "../../kit/dom.js";
import { key } from "../../kit/keys.js";
import { action } from "../../kit/palette.js";
import { goTo } from "../diff/view.js";
import { diffRoute, onOther } from "../state.js";

const field = h("input", {
  class: "input",
  type: "search",
  autocomplete: "off",
  placeholder: "Find in the diff",
  "aria-label": "Find in the whole diff",
});
const count = h("span", { class: "tiny soft", role: "status" });
const back = button("", {
  kind: "ghost s only",
  icon: "up",
  "aria-label": "Previous place",
  onclick: () => step(-1),
});
const on = button("", {
  kind: "ghost s only",
  icon: "down",
  "aria-label": "Next place",
  onclick: () => step(1),
});
const close = button("", {
  kind: "ghost s only",
  icon: "x",
  "aria-label": "End the search",
  onclick: () => show(false),
});
const bar = h(
  "span",
  { class: "line finder", hidden: true, role: "search" },
  field,
  count,
  back,
  on,
  close,
);
const opener = button("", {
  kind: "ghost s only",
  "aria-label": "Find in the diff",
  title: "Find in the diff (f)",
  onclick: () => show(true),
});
opener.append(icon("search"));

let address = diffRoute;
let lines = [];
let at = -1;
let query = "";
let more = false;

/** `where(what, query)` returns the URL of the search; by default that of the commit shown. */
export function drawFind(where = diffRoute) {
  address = where;
  fill(document.getElementById("find"), opener, bar);
  key("f", "Find in the whole diff", () => show(true), { group: "Diff" });
  action("Find in the whole diff", () => show(true), { icon: "search", key: "f" });
}

function show(yes) {
  turn(yes);
  if (yes) {
    field.focus();
    field.select();
  } else opener.focus();
}

function turn(yes) {
  bar.hidden = !yes;
  opener.hidden = yes;
}

onOther(() => {
  field.value = query = "";
  [lines, at, more] = [[], -1, false];
  turn(false);
  say();
});

const look = settle(250, () => ask());

async function ask() {
  const wanted = field.value;
  if (wanted === query) return;
  query = wanted;
  [lines, at, more] = [[], -1, false];
  if (wanted.trim()) {
    fill(count, "…");
    try {
      const found = await get(address("search", { q: wanted }));
      if (query !== wanted) return; // a newer query was typed
      [lines, more] = [found.lines, found.truncated];
    } catch (error) {
      if (query === wanted) fill(count, error.message);
      return;
    }
  }
  say();
}

function say() {
  const all = `${lines.length}${more ? "+" : ""}`;
  fill(
    count,
    !query.trim()
      ? ""
      : !lines.length
        ? "Nowhere"
        : at < 0
          ? `${all} lines`
          : `${at + 1} of ${all}`,
  );
  back.disabled = on.disabled = !lines.length;
}

async function step(by) {
  await ask();
  if (!lines.length) return;
  at = at < 0 && by < 0 ? lines.length - 1 : (at + by + lines.length) % lines.length;
  say();
  const { path, side, line } = lines[at];
  const held = document.activeElement;
  await goTo(path, side, line);
  if (held instanceof HTMLElement && bar.contains(held)) held.focus({ preventScroll: true });
}

field.addEventListener("input", look);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") show(false);
  else return;
  event.preventDefault();
  event.stopPropagation();
});
say();
