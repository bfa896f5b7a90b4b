// The files of a commit by folder, with a filter, status, size or open threads, and viewed boxes.

import { fill, h, icon, settle } from "../kit/dom.js";
import { plural } from "../kit/words.js";
import { statusLetter } from "./diff/notes.js";
import { pace } from "../kit/pace.js";
import { goTo } from "./diff/view.js";
import { setViewed } from "./commit/marks.js";
import { counts, onOther, state, tick } from "./state.js";

const tree = document.getElementById("tree");
const none = h("p", { class: "nothing tiny soft", hidden: true }, "No file by that name.");
const list = h("ul", { class: "folders" });
const filter = h("input", {
  id: "file-filter",
  class: "input",
  type: "search",
  autocomplete: "off",
});
const BESIDE = 2; // ms of the first slice: the diffs need the rest of the frame
const leaves = new Map(); // path → {file, row, link, box, right, said}
const folders = []; // {name, node, list, box, files}
let shown = "";
let mark = setViewed; // the action of a box: (files, on)

fill(
  tree,
  h(
    "div",
    { class: "treefilter" },
    h("label", { class: "sr", for: "file-filter" }, "Filter files"),
    filter,
  ),
  none,
  list,
);
filter.addEventListener("input", settle(60, narrow));
filter.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && filter.value) {
    event.stopPropagation();
    filter.value = "";
    narrow();
  } else if (event.key === "Escape") filter.blur();
  else if (event.key === "ArrowDown" || event.key === "Enter") {
    narrow(); // apply what was just typed
    const found = visible();
    if (event.key === "ArrowDown") focusOn(found[0]);
    else found.find((node) => node.matches("a"))?.click();
  } else return;
  event.preventDefault();
});
tree.addEventListener("keydown", walk);

/** Set the action of the boxes: act(files, on). */
export const onTick = (act) => (mark = act);

export const focusFilter = () => (filter.focus(), filter.select());

/** Draw the folders if the files have changed, then the facts of each file. */
export async function drawTree() {
  const { files } = state.commit;
  const paths = files.map(({ path }) => path).join("\n");
  filter.placeholder = `Filter ${plural(files.length, "file")}`;
  if (paths !== shown) {
    shown = paths;
    await build(files);
  }
  tell();
}

async function build(files) {
  const { life } = state;
  const groups = Map.groupBy?.(files, folderOf) ?? groupByFolder(files);
  empty();
  const breathe = pace({ first: BESIDE });
  for (const [name, held] of groups) {
    const rows = h("ul");
    for (const file of held) {
      rows.append(leaf(file));
      const rest = breathe();
      if (rest) await rest;
      if (life.aborted) return;
    }
    list.append(folder(name, held, rows));
  }
  roam(list.querySelector("a.leaf"));
}

function empty() {
  leaves.clear();
  folders.length = 0;
  fill(list);
}

onOther(() => {
  empty();
  shown = filter.value = "";
  none.hidden = true;
});

const folderOf = ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

function groupByFolder(files) {
  const groups = new Map();
  for (const file of files) {
    const name = folderOf(file);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(file);
  }
  return groups;
}

function folder(name, files, rows) {
  const words = name || "Top folder";
  const fold = h(
    "button",
    { type: "button", class: "leaf folder", "aria-expanded": "true", tabindex: "-1", title: words },
    icon("down"),
    h("span", { class: "cut soft" }, h("bdi", {}, words)),
  );
  const box = h("input", {
    type: "checkbox",
    tabindex: "-1",
    "aria-label": `${tick.word}: all ${plural(files.length, "file")} of ${words}`,
    onchange: () => mark(files, box.checked),
  });
  fold.addEventListener("click", () => {
    const open = fold.getAttribute("aria-expanded") !== "true";
    fold.setAttribute("aria-expanded", String(open));
    rows.hidden = !open;
  });
  const node = h("li", { class: "branch" }, h("div", { class: "twig" }, fold, box), rows);
  folders.push({ name, node, rows, box, files, fold });
  return node;
}

function leaf(file) {
  const name = file.path.slice(file.path.lastIndexOf("/") + 1);
  const right = h("span", { class: "right" });
  const box = h("input", {
    type: "checkbox",
    tabindex: "-1",
    "aria-label": `${tick.word}: ${file.path}`,
    onchange: () => mark([file], box.checked),
  });
  const link = h(
    "a",
    {
      class: "leaf d2",
      href: `#${encodeURI(file.path)}`,
      tabindex: "-1",
      title: file.path,
      onclick: (event) => open(event, file),
    },
    statusLetter(file),
    h("span", { class: "cut" }, h("bdi", {}, name)),
    right,
  );
  const row = h("li", { class: "twig" }, link, box);
  leaves.set(file.path, { file, row, link, box, right, said: "" });
  return row;
}

function open(event, { path }) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.replaceState(null, "", `#${encodeURI(path)}`);
  tree.closest("dialog")?.close();
  goTo(path);
}

/** Update marks, counts and sizes of every file, touching only what has changed. */
export function tell() {
  for (const one of leaves.values()) {
    const { file, link, box, right } = one;
    const open = counts(file.path);
    const { viewed, changed_since_viewed: stale, additions, deletions } = file;
    const now = JSON.stringify([viewed, tick.of(file), stale, additions, deletions, open]);
    if (now === one.said) continue;
    one.said = now;
    link.classList.toggle("seen", viewed);
    box.checked = tick.of(file);
    fill(right, open > 0 ? badge(open) : stale ? changedMark() : size(file));
  }
  for (const { box, files } of folders) {
    const seen = files.filter(tick.of).length;
    box.checked = seen === files.length;
    box.indeterminate = seen > 0 && seen < files.length;
  }
}

const badge = (open) =>
  h("span", { class: "badge warn" }, String(open), h("span", { class: "sr" }, " unresolved"));
const changedMark = () =>
  h(
    "span",
    { class: "stale", title: "Changed since you viewed" },
    icon("restart", "Changed since you viewed"),
  );

function size({ additions, deletions, viewed }) {
  if (additions === null || viewed) return null;
  const words = `${additions} added, ${deletions} deleted`;
  return h(
    "span",
    { class: "tiny quiet", title: words },
    String(additions + deletions),
    h("span", { class: "sr" }, " lines changed"),
  );
}

function narrow() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const { rows, node, fold, files } of folders) {
    let here = 0;
    for (const { path } of files) {
      const fits = words.every((word) => path.toLowerCase().includes(word));
      leaves.get(path).row.hidden = !fits;
      here += Number(fits);
    }
    node.hidden = !here;
    if (words.length && here) {
      rows.hidden = false;
      fold.setAttribute("aria-expanded", "true");
    }
    left += here;
  }
  none.hidden = left > 0 || !folders.length;
  roam(visible()[0]);
}

/** Mark the file that the reader is in. */
export function markCurrent(path) {
  const old = list.querySelector("[aria-current]");
  const link = leaves.get(path)?.link;
  if (old === link) return;
  old?.removeAttribute("aria-current");
  if (!link) return;
  link.setAttribute("aria-current", "true");
  if (!tree.contains(document.activeElement)) {
    roam(link);
    const box = tree.getBoundingClientRect();
    const { top, bottom } = link.getBoundingClientRect();
    if (top < box.top || bottom > box.bottom) tree.scrollTop += top - box.top - box.height / 3;
  }
}

// -- one stop for Tab, arrow keys within ---------------------------------------------------------

const visible = () => [...list.querySelectorAll(".leaf")].filter((node) => node.checkVisibility());

function roam(link) {
  for (const node of list.querySelectorAll('.leaf[tabindex="0"]')) node.tabIndex = -1;
  if (link) link.tabIndex = 0;
}

function focusOn(node) {
  if (!node) return;
  roam(node);
  node.focus();
}

function walk(event) {
  const node = event.target.closest?.(".leaf");
  if (!node) return;
  const all = visible();
  const at = all.indexOf(node);
  const fold =
    node.matches(".folder") &&
    (node.getAttribute("aria-expanded") === "true" ? "ArrowLeft" : "ArrowRight");
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
  if (event.key === fold) node.click();
  else if (event.key === "ArrowLeft") focusOn(node.closest(".branch").querySelector(".folder"));
  else if (event.key === " " && !node.matches(".folder"))
    node.parentNode.querySelector("input").click();
  else if (event.key === "ArrowUp" && at === 0) filter.focus();
  else if (event.key in steps) focusOn(all[steps[event.key]]);
  else return;
  event.preventDefault();
}
